use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Who may read a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Its owner only (0600).
    Owner,
    /// As the system's mask has it.
    Usual,
}

/// Replaces a file at once: a reader sees the old bytes or the new, and a crash leaves one of them.
///
/// Folders on the way are made. The new bytes are on disk before the name changes, and the folder is synced after it.
pub fn replace(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let draft = draft(path);
    let written = write(&draft, bytes, access).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The first error says what went wrong; a draft that can't be removed says nothing new.
        let _ = fs::remove_file(&draft);
        return written;
    }
    File::open(folder)?.sync_all()
}

/// A name beside the file that no other writer has.
fn draft(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

fn write(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if access == Access::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = access;
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_made_and_replaced_with_its_access() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/file");
        replace(&path, b"one", Access::Owner).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        replace(&path, b"two", Access::Owner).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let names: Vec<_> =
            fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["file"], "no draft is left");
    }

    #[test]
    fn a_failed_replacement_leaves_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("full"), "").unwrap();
        assert!(replace(&path, b"x", Access::Usual).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
