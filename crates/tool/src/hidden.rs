use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use rail_permit::Hidden;

/// How deep a folder outside the workspace is looked into that has something hidden in it, such as `~/.ssh`.
const OUTSIDE_DEPTH: usize = 2;

/// The files that commands of this session may not see. Folders that did not change are not read again.
#[derive(Debug, Default)]
pub(crate) struct HiddenFiles {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// What it was looked for by.
    hidden: Option<Hidden>,
    folders: BTreeMap<PathBuf, Folder>,
}

/// A folder as it was when it was last read.
#[derive(Clone, Debug)]
struct Folder {
    modified: Option<SystemTime>,
    /// The folders in it that are not hidden.
    inner: Vec<PathBuf>,
    /// What in it is hidden.
    hidden: Vec<PathBuf>,
}

impl HiddenFiles {
    /// What is there of what is hidden, in these folders and wherever it is named.
    pub(crate) fn find(&self, hidden: &Hidden, folders: &[&Path]) -> Vec<PathBuf> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.hidden.as_ref() != Some(hidden) {
            *known = Known { hidden: Some(hidden.clone()), folders: BTreeMap::new() };
        }
        let mut found = Vec::new();
        for path in &hidden.paths {
            let Ok(real) = path.canonicalize() else { continue };
            match (hidden.hides(&real), real.is_dir()) {
                (true, _) => found.push(real),
                (false, true) => known.walk(hidden, &real, OUTSIDE_DEPTH, &mut found),
                (false, false) => {}
            }
        }
        for folder in folders {
            known.walk(hidden, folder, usize::MAX, &mut found);
        }
        found.sort();
        found.dedup();
        found
    }
}

impl Known {
    fn walk(&mut self, hidden: &Hidden, folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
        let mut open = vec![(folder.to_owned(), depth)];
        // All of it, however large: what is not looked for is not hidden, and nobody would know.
        while let Some((path, depth)) = open.pop() {
            let folder = self.folder(hidden, path);
            found.extend(folder.hidden.iter().cloned());
            if depth > 1 {
                open.extend(folder.inner.iter().map(|inner| (inner.clone(), depth - 1)));
            }
        }
    }

    fn folder(&mut self, hidden: &Hidden, path: PathBuf) -> &Folder {
        let modified = fs::symlink_metadata(&path).and_then(|meta| meta.modified()).ok();
        let entry = self.folders.entry(path.clone());
        let folder = entry.or_insert_with(|| Folder::read(hidden, &path, modified));
        if modified.is_none() || folder.modified != modified {
            *folder = Folder::read(hidden, &path, modified);
        }
        folder
    }
}

impl Folder {
    /// What can't be read has nothing that a command could see either.
    fn read(hidden: &Hidden, path: &Path, modified: Option<SystemTime>) -> Self {
        let mut folder = Self { modified, inner: Vec::new(), hidden: Vec::new() };
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            // What a link leads to is hidden where it is.
            if kind.is_symlink() {
                continue;
            }
            let path = entry.path();
            match hidden.hides(&path) {
                true => folder.hidden.push(path),
                false if kind.is_dir() => folder.inner.push(path),
                false => {}
            }
        }
        folder
    }
}

#[cfg(test)]
mod tests {
    use rail_permit::{Asked, Exec, Facet, Held, Level, Policy, Verdict, judge};

    use super::*;

    /// What a command in this folder may not see.
    fn hidden(workspace: &Path) -> Hidden {
        let policy = Policy { folders: vec![workspace.to_owned()], ..Policy::default() };
        let exec = Exec { command: "ls".to_owned(), cwd: workspace.to_owned(), held: Held::Sandbox };
        let asked = Asked { tool: "bash", level: Level::Execute, facets: &[Facet::Exec(exec)] };
        match judge(&policy, &asked, &crate::Disk) {
            Verdict::Allow(grant) => grant.hidden(),
            Verdict::Ask(_) | Verdict::Deny(_) => panic!("`ls` needs no question"),
        }
    }

    #[test]
    fn what_is_new_or_moved_since_the_last_command_is_found() {
        let root = tempfile::tempdir().unwrap();
        let workspace = root.path().canonicalize().unwrap();
        fs::create_dir_all(workspace.join("a/deep")).unwrap();
        fs::write(workspace.join("a/deep/.env"), "x").unwrap();
        fs::write(workspace.join("a/plain"), "x").unwrap();
        let (files, hidden) = (HiddenFiles::default(), hidden(&workspace));
        let find = || {
            let found = files.find(&hidden, &[&workspace]);
            let in_it = found.iter().filter_map(|path| path.strip_prefix(&workspace).ok());
            in_it.map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(find(), ["a/deep/.env"]);
        fs::write(workspace.join("a/id_rsa"), "x").unwrap();
        assert_eq!(find(), ["a/deep/.env", "a/id_rsa"]);
        fs::rename(workspace.join("a"), workspace.join("b")).unwrap();
        assert_eq!(find(), ["b/deep/.env", "b/id_rsa"]);
        std::os::unix::fs::symlink(workspace.join("b"), workspace.join("link")).unwrap();
        assert_eq!(find(), ["b/deep/.env", "b/id_rsa"], "a link is not followed");
        fs::remove_file(workspace.join("b/deep/.env")).unwrap();
        assert_eq!(find(), ["b/id_rsa"]);
    }
}
