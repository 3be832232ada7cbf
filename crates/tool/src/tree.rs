use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rail_permit::Grant;
use rustix::fs::{Mode, OFlags};

use crate::files::path_of;
use crate::{FileFault, Files, Opened};

/// What stands at a path.
#[derive(Debug)]
pub enum Stands {
    /// A file, open for reading.
    File(Opened),
    /// A folder, held open.
    Folder(Tree),
}

/// A folder that is held open, and what is under it, as far as a grant goes. For those who walk it by themselves.
///
/// A path under it is followed from the folder that is open, and through no link: one that is swapped in leads nowhere.
#[derive(Debug)]
pub struct Tree {
    dir: OwnedFd,
    real: PathBuf,
    grant: Grant,
}

impl Files {
    /// What stands at a path, be it a file or a folder.
    ///
    /// # Errors
    /// It is missing, a device, or not what was allowed.
    pub fn look(&self, path: &Path) -> Result<Stands, FileFault> {
        match self.open(path) {
            Ok(opened) => Ok(Stands::File(opened)),
            Err(FileFault::Folder { .. }) => self.tree(path).map(Stands::Folder),
            Err(fault) => Err(fault),
        }
    }

    fn tree(&self, path: &Path) -> Result<Tree, FileFault> {
        let dir = self.folder(path)?;
        let real = path_of(&dir).map_err(|cause| FileFault::System { path: path.to_owned(), cause })?;
        if !self.may_read(&real) {
            return Err(FileFault::Denied { path: path.to_owned(), real });
        }
        Ok(Tree { dir, real, grant: self.grant.clone() })
    }
}

impl Tree {
    /// The folder's path, links resolved.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// Whether what is in a file under the folder may be shown.
    pub fn may_read(&self, path: &Path) -> bool {
        self.grant.reads(path)
    }

    /// Opens a file under the folder by its whole path, to look into it: before anything of it is shown,
    /// [`may_read`](Self::may_read) must be asked.
    ///
    /// # Errors
    /// The system refused, or there is a link on the way.
    pub fn open(&self, path: &Path) -> io::Result<File> {
        let below = self.below(path).ok_or(io::ErrorKind::NotFound)?;
        // Without waiting: a pipe that was swapped in would hold the call for ever.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        self.open_below(below, flags)
    }

    /// Whether a path under the folder still leads to something without any link on the way; the last name may be one.
    pub fn holds(&self, path: &Path) -> bool {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
        let Some(below) = self.below(folder) else { return false };
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let Ok(folder) = self.open_below(below, flags) else { return false };
        rustix::fs::statat(&folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// A path from the folder. It is cut as bytes, since a walk does this for every file.
    fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        use std::os::unix::ffi::OsStrExt;

        let rest = path.as_os_str().as_bytes().strip_prefix(self.real.as_os_str().as_bytes())?;
        let rest = match rest.strip_prefix(b"/") {
            Some(rest) => rest,
            // The root folder ends with the slash itself.
            None if rest.is_empty() || self.real.as_os_str().as_bytes().ends_with(b"/") => rest,
            None => return None,
        };
        Some(Path::new(std::ffi::OsStr::from_bytes(rest)))
    }

    #[cfg(target_os = "linux")]
    fn open_below(&self, below: &Path, flags: OFlags) -> io::Result<File> {
        use rustix::fs::{ResolveFlags, openat2};
        use rustix::io::Errno;

        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(&self.dir, below, flags, Mode::empty(), resolve) {
            Ok(fd) => Ok(File::from(fd)),
            // A kernel before 5.6, or a sandbox around us that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => self.open_and_compare(below, flags),
            Err(errno) => Err(errno.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_below(&self, below: &Path, flags: OFlags) -> io::Result<File> {
        self.open_and_compare(below, flags)
    }

    /// Opens it, and sees afterwards whether it is where it should be.
    fn open_and_compare(&self, below: &Path, flags: OFlags) -> io::Result<File> {
        let file = File::from(rustix::fs::openat(&self.dir, below, flags, Mode::empty())?);
        // By components, so that `.` is the folder itself.
        if path_of(&file)? == path_of(&self.dir)?.join(below) {
            Ok(file)
        } else {
            Err(io::Error::new(io::ErrorKind::NotFound, "a link is on the way"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rail_permit::{Asked, Facet, Level, Policy, Verdict, judge};
    use tempfile::TempDir;

    use super::*;
    use crate::Disk;

    /// A folder `open` with `open/in/a`, a folder `shut` with `shut/a` beside it, and files as far as `open` goes.
    fn scratch() -> (TempDir, PathBuf, Files) {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("open/in")).unwrap();
        std::fs::create_dir(real.join("shut")).unwrap();
        std::fs::write(real.join("open/in/a"), "mine").unwrap();
        std::fs::write(real.join("shut/a"), "theirs").unwrap();
        let policy = Policy { folders: vec![real.join("open")], ..Policy::default() };
        let facets = [Facet::Read(real.join("open"))];
        let asked = Asked { tool: "grep", level: Level::Read, facets: &facets };
        let Verdict::Allow(grant) = judge(&policy, &asked, &Disk) else { panic!("it is in the workspace") };
        (root, real, Files::new(grant))
    }

    fn tree(files: &Files, path: &Path) -> Tree {
        match files.look(path).unwrap() {
            Stands::Folder(tree) => tree,
            Stands::File(_) => panic!("a folder"),
        }
    }

    fn both(tree: &Tree, path: &Path) -> [bool; 2] {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let compared = tree.open_and_compare(path.strip_prefix(tree.real()).unwrap(), flags);
        [tree.open(path).is_ok(), compared.is_ok()]
    }

    #[test]
    fn what_is_there_is_opened() {
        let (_root, real, files) = scratch();
        let tree = tree(&files, &real.join("open"));
        assert_eq!(both(&tree, &real.join("open/in/a")), [true, true]);
        assert!(tree.holds(&real.join("open/in/a")) && tree.holds(&real.join("open/in")));
        assert!(!tree.holds(&real.join("open/in/b")) && !tree.holds(&real.join("shut/a")));
        assert!(tree.open(&real.join("shut/a")).is_err());
        assert!(matches!(files.look(&real.join("open/in/a")), Ok(Stands::File(_))));
    }

    #[test]
    fn paths_are_cut_behind_the_folder() {
        let (_root, real, files) = scratch();
        let tree = tree(&files, &real.join("open"));
        let check = |path: PathBuf, expected: Option<&str>| {
            assert_eq!(tree.below(&path), expected.map(Path::new), "{}", path.display());
        };
        check(real.join("open/in/a"), Some("in/a"));
        check(real.join("open"), Some(""));
        check(real.join("opened/a"), None);
        check(real.join("shut/a"), None);
    }

    #[test]
    fn a_link_that_is_swapped_in_leads_nowhere() {
        let (_root, real, files) = scratch();
        let tree = tree(&files, &real.join("open"));
        std::fs::rename(real.join("open/in"), real.join("open/old")).unwrap();
        symlink(real.join("shut"), real.join("open/in")).unwrap();
        symlink(real.join("shut/a"), real.join("open/link")).unwrap();
        assert_eq!(both(&tree, &real.join("open/in/a")), [false, false]);
        assert_eq!(both(&tree, &real.join("open/link")), [false, false]);
        assert!(!tree.holds(&real.join("open/in/a")));
        assert!(tree.holds(&real.join("open/link")));
    }

    #[test]
    fn a_folder_that_is_swapped_for_a_link_stays_the_one_that_was_opened() {
        let (_root, real, files) = scratch();
        let tree = tree(&files, &real.join("open"));
        std::fs::rename(real.join("open"), real.join("old")).unwrap();
        symlink(real.join("shut"), real.join("open")).unwrap();
        assert!(tree.open(&real.join("open/a")).is_err());
        assert!(matches!(files.look(&real.join("open")), Err(FileFault::Denied { .. })));
    }
}
