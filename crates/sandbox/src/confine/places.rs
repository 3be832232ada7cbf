//! Which places of this machine a shape means.

use std::ffi::CString;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::ConfineError;
use super::child::{Cover, Keep};

/// The writable places that exist, by their true names, none inside of another. A place inside of another one is left out
/// before it is looked at: an earlier command could have made it a link to anywhere.
pub(super) fn writable(asked: &[PathBuf]) -> Vec<PathBuf> {
    outermost(outermost(asked.to_vec()).iter().filter_map(|path| path.canonicalize().ok()).collect())
}

/// What is kept inside of the writable places, by its true name, with the folders on the way to it, the outer ones first. What
/// leads out of them by a link is read-only there already.
pub(super) fn kept(asked: &[PathBuf], writable: &[PathBuf]) -> Vec<(PathBuf, Keep)> {
    let inside = |path: &Path| writable.iter().any(|place| path.starts_with(place) && path != place);
    let real: Vec<PathBuf> = asked.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let real = outermost(real.into_iter().filter(|path| inside(path)).collect());
    let mut found: Vec<(PathBuf, Keep)> = Vec::new();
    for path in &real {
        let around = path.ancestors().skip(1).filter(|folder| inside(folder));
        found.extend(around.map(|folder| (folder.to_owned(), Keep::There)));
        found.push((path.clone(), Keep::ReadOnly));
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found.dedup();
    found
}

/// The hidden files and folders that exist, by their true names, none inside of another.
pub(super) fn hidden(asked: &[PathBuf]) -> Result<Vec<(PathBuf, Cover)>, ConfineError> {
    let mut found = Vec::new();
    for path in asked {
        let cant_hide = |why: String| ConfineError::CantHide { path: path.clone(), why };
        match reachable(path) {
            Ok(Some(real)) if real == Path::new("/") => {
                return Err(cant_hide(String::from("it is everything")));
            }
            Ok(real) => found.extend(real),
            Err(error) => return Err(cant_hide(error.to_string())),
        }
    }
    let cover = |path: &Path| if path.is_dir() { Cover::Folder } else { Cover::File };
    Ok(outermost(found).into_iter().map(|path| (path.clone(), cover(&path))).collect())
}

/// The path as the kernel wants it; one with a zero in it names nothing.
pub(super) fn c_path(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

/// The true name of what is to be hidden; nothing if it is not there. Where a closed folder is in the way, that folder: to
/// hide it takes nothing from anybody, and opening it later does not help.
fn reachable(path: &Path) -> io::Result<Option<PathBuf>> {
    for ancestor in path.ancestors() {
        match ancestor.canonicalize() {
            Ok(real) => return Ok(Some(real)),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput => return Ok(None),
                ErrorKind::PermissionDenied => {}
                _ => return Err(error),
            },
        }
    }
    Ok(None)
}

fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup();
    let all = paths.clone();
    paths.retain(|path| !path.ancestors().skip(1).any(|above| all.iter().any(|other| other == above)));
    paths
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_exists_by_its_true_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::write(at("a/.env"), "").unwrap();
        std::fs::write(at("ab"), "").unwrap();
        symlink("a/.env", at("link")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("/", at("a/everything")).unwrap();

        assert_eq!(
            writable(&[at("ab"), at("a/b"), at("a"), at("none"), at("a/everything"), at("ab/../a")]),
            [at("a"), at("ab")],
            "sorted, once, the outermost"
        );
        let asked = [at("link"), at("none"), at("ab/below-a-file"), at("a/b"), PathBuf::from("with\0zero")];
        assert_eq!(hidden(&asked).unwrap(), [(at("a/.env"), Cover::File), (at("a/b"), Cover::Folder)]);
        std::fs::create_dir_all(at("a/b/c")).unwrap();
        let asked = [at("a/b/c"), at("a/.env"), at("link"), at("a/everything"), at("none"), at("a")];
        assert_eq!(
            kept(&asked, &[at("a")]),
            [(at("a/.env"), Keep::ReadOnly), (at("a/b"), Keep::There), (at("a/b/c"), Keep::ReadOnly),],
            "inside of what is writable, with the folders around"
        );
        assert!(matches!(hidden(&[at("loop")]), Err(ConfineError::CantHide { .. })));
        assert!(matches!(hidden(&[PathBuf::from("/")]), Err(ConfineError::CantHide { .. })));
    }
}
