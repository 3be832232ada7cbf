//! Names around a file that may be read: for those who asked for one that is not there.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::files::{path_of, split};
use crate::{Entry, EntryKind, Files};

/// Folders that nobody means, and that hold more names than all others.
const PASSED_OVER: [&str; 4] = ["node_modules", "target", "__pycache__", "venv"];

/// How far names are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// In the nearest folder that is there.
    Folder,
    /// In folders below it as well, so many levels.
    Below(usize),
}

/// Where a link leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// What is written in it.
    pub to: PathBuf,
    /// What is there.
    pub end: LinkEnd,
}

/// What stands where a link leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkEnd {
    /// Nothing: it is broken.
    Nothing,
    /// Something that may not be read.
    Outside,
    /// Something of this kind.
    Within(EntryKind),
}

impl Files {
    /// What stands around a path that may be read, nearest folders first, hidden ones after others: names, not what they hold.
    ///
    /// Looks at no more than so many entries, and follows no link.
    pub fn around(&self, path: &Path, reach: Reach, at_most: usize) -> Vec<(PathBuf, EntryKind)> {
        let Some(parent) = path.parent() else { return Vec::new() };
        let (there, missing) = split(parent);
        let (Ok(dir), Some(name)) = (self.folder(&there), path.file_name()) else { return Vec::new() };
        let Ok(real) = path_of(&dir) else { return Vec::new() };
        // Whoever may read a file may know what stands beside it.
        let meant = missing.iter().fold(real, |at, name| at.join(name)).join(name);
        if !self.may_read(&meant) {
            return Vec::new();
        }
        let depth = match reach {
            Reach::Folder => 0,
            Reach::Below(levels) => levels,
        };
        walk(self, &there, depth, at_most)
    }

    /// Where a link leads; nothing if it is no link.
    pub fn link(&self, path: &Path) -> Option<Link> {
        let to = path.read_link().ok()?;
        let end = match (path.canonicalize(), path.metadata()) {
            (Ok(real), Ok(_)) if !self.may_read(&real) => LinkEnd::Outside,
            (Ok(_), Ok(meta)) if meta.is_dir() => LinkEnd::Within(EntryKind::Folder),
            (Ok(_), Ok(meta)) if meta.is_file() => LinkEnd::Within(EntryKind::File),
            (Ok(_), Ok(_)) => LinkEnd::Within(EntryKind::Other),
            (Err(_), _) | (_, Err(_)) => LinkEnd::Nothing,
        };
        Some(Link { to, end })
    }
}

fn walk(files: &Files, from: &Path, depth: usize, at_most: usize) -> Vec<(PathBuf, EntryKind)> {
    let mut found = Vec::new();
    let mut looked = 0_usize;
    let mut folders = VecDeque::from([(from.to_owned(), 0)]);
    while let Some((folder, level)) = folders.pop_front() {
        let Ok(dir) = files.folder(&folder) else { continue };
        let Ok(mut entries) = Entry::all(&dir, at_most.saturating_sub(looked)) else { continue };
        looked += entries.len();
        let hidden = |entry: &Entry| entry.name.as_encoded_bytes().starts_with(b".");
        entries.sort_by(|a, b| (hidden(a), &a.name).cmp(&(hidden(b), &b.name)));
        for entry in entries {
            let passed_over = PASSED_OVER.iter().any(|name| entry.name == *name) || hidden(&entry);
            let path = folder.join(&entry.name);
            if entry.kind == EntryKind::Folder && level < depth && !passed_over {
                folders.push_back((path.clone(), level + 1));
            }
            found.push((path, entry.kind));
        }
        if looked >= at_most {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rail_permit::{Asked, Facet, Level, Mode, Policy, Verdict, World, judge};

    use super::*;

    struct Disk;

    impl World for Disk {
        fn real(&self, path: &Path) -> PathBuf {
            crate::files::real(path)
        }
    }

    fn may_read(path: &Path) -> Files {
        let policy = Policy { mode: Mode::Bypass, ..Policy::default() };
        let facets = [Facet::Read(path.to_owned())];
        let asked = Asked { tool: "read_file", level: Level::Read, facets: &facets };
        match judge(&policy, &asked, &Disk) {
            Verdict::Allow(grant) => Files::new(grant),
            Verdict::Ask(_) | Verdict::Deny(_) => panic!("it is allowed"),
        }
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["a/.hidden/deep.txt", "a/b/c/d.txt", "a/one.txt", "a/.two", "a/node_modules/x.txt", "z/far.txt"]
        {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        folder
    }

    fn names(files: &Files, root: &Path, asked: &str, reach: Reach, at_most: usize) -> Vec<String> {
        let found = files.around(&root.join(asked), reach, at_most);
        found.iter().map(|(path, _)| path.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn names_around_a_file_come_nearest_first() {
        let folder = folder();
        let root = folder.path().canonicalize().unwrap();
        let files = may_read(&root.join("a/gone.txt"));
        let here = ["a/b", "a/node_modules", "a/one.txt", "a/.hidden", "a/.two"];
        assert_eq!(names(&files, &root, "a/gone.txt", Reach::Folder, 100), here);
        let below = [here.as_slice(), &["a/b/c", "a/b/c/d.txt"]].concat();
        assert_eq!(names(&files, &root, "a/gone.txt", Reach::Below(2), 100), below);
        assert_eq!(names(&files, &root, "a/gone.txt", Reach::Below(2), 5), here);
        // A folder that is not there: the nearest one that is.
        let files = may_read(&root.join("a/no/gone.txt"));
        assert_eq!(names(&files, &root, "a/no/gone.txt", Reach::Folder, 100), here);
    }

    #[test]
    fn nobody_is_told_names_beside_what_they_may_not_read() {
        let folder = folder();
        let root = folder.path().canonicalize().unwrap();
        let files = may_read(&root.join("a/gone.txt"));
        assert_eq!(files.around(&root.join("z/gone.txt"), Reach::Folder, 100), []);
        // A link that was swapped in after the judgement leads elsewhere.
        symlink(root.join("z"), root.join("link")).unwrap();
        let files = may_read(&root.join("other/gone.txt"));
        std::fs::rename(root.join("link"), root.join("other")).unwrap();
        assert_eq!(files.around(&root.join("other/gone.txt"), Reach::Folder, 100), []);
    }

    #[test]
    fn links_say_where_they_lead() {
        let folder = folder();
        let root = folder.path().canonicalize().unwrap();
        let files = may_read(&root.join("a"));
        let end = |to: &str| {
            let path = root.join("a/link");
            let _ = std::fs::remove_file(&path);
            symlink(to, &path).unwrap();
            files.link(&path).map(|link| (link.to.display().to_string(), link.end))
        };
        assert_eq!(end("one.txt"), Some(("one.txt".to_owned(), LinkEnd::Within(EntryKind::File))));
        assert_eq!(end("b"), Some(("b".to_owned(), LinkEnd::Within(EntryKind::Folder))));
        assert_eq!(end("../z"), Some(("../z".to_owned(), LinkEnd::Outside)));
        assert_eq!(end("gone"), Some(("gone".to_owned(), LinkEnd::Nothing)));
        assert_eq!(files.link(&root.join("a/one.txt")), None);
    }
}
