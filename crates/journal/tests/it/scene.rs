use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rail_journal::snapshots::{ChangeKind, Limits, OnConflict, Restored, SnapshotId, Snapshots};
use rail_journal::store::Store;

/// A workspace and its snapshots.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
    pub(crate) workspace: PathBuf,
    pub(crate) snapshots: Snapshots,
}

/// A file, a link or a folder: its mode, and what it holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Thing {
    File(u32, Vec<u8>),
    Link(PathBuf),
    Folder(u32),
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().canonicalize().unwrap().join("work");
        fs::create_dir(&workspace).unwrap();
        let snapshots = Snapshots::open(Store::at(folder.path().join("store")), &workspace, limits);
        Self { folder, workspace, snapshots }
    }

    /// Another session in the same place.
    pub(crate) fn again(&mut self, limits: Limits) {
        // The old one writes down what it saw when it ends.
        let store = || Store::at(self.folder.path().join("store"));
        drop(std::mem::replace(&mut self.snapshots, Snapshots::open(store(), Path::new("/nowhere"), limits)));
        self.snapshots = Snapshots::open(store(), &self.workspace, limits);
    }

    pub(crate) fn store(&self) -> Store {
        Store::at(self.folder.path().join("store"))
    }

    /// A place beside the workspace.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.workspace.join(Path::new(name.as_ref()))
    }

    pub(crate) fn write(&self, name: impl AsRef<OsStr>, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: impl AsRef<OsStr>) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn chmod(&self, name: impl AsRef<OsStr>, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn link(&self, name: impl AsRef<OsStr>, to: impl AsRef<Path>) {
        symlink(to, self.path(name)).unwrap();
    }

    pub(crate) fn remove(&self, name: impl AsRef<OsStr>) {
        let path = self.path(name);
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    pub(crate) fn take(&self) -> SnapshotId {
        self.snapshots.take().unwrap().id
    }

    pub(crate) fn restore(&self, from: SnapshotId, to: SnapshotId) -> Restored {
        self.snapshots.restore(from, to, OnConflict::Leave).unwrap()
    }

    /// Brings everything back; there must be nothing in the way.
    pub(crate) fn back(&self, from: SnapshotId, to: SnapshotId) {
        let told = self.restore(from, to);
        assert!(told.conflicts.is_empty() && told.left.is_empty(), "{told:?}");
        assert_eq!(self.take(), to);
    }

    /// The changes between two snapshots: a sign and the path.
    pub(crate) fn changes(&self, old: SnapshotId, new: SnapshotId) -> Vec<String> {
        let changes = self.snapshots.changes(old, new).unwrap();
        let said = changes.iter().map(|change| {
            let sign = match change.kind {
                ChangeKind::Added => '+',
                ChangeKind::Removed => '-',
                ChangeKind::Modified => '~',
                ChangeKind::Mode => 'm',
            };
            format!("{sign}{}", String::from_utf8_lossy(change.path.as_os_str().as_bytes()))
        });
        said.collect()
    }

    /// All that is in the workspace.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, Thing> {
        tree(&self.workspace)
    }
}

pub(crate) fn tree(root: &Path) -> BTreeMap<PathBuf, Thing> {
    let mut things = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            let mode = meta.permissions().mode() & 0o7777;
            let thing = if meta.is_symlink() {
                Thing::Link(fs::read_link(&path).unwrap())
            } else if meta.is_dir() {
                folders.push(path.clone());
                Thing::Folder(mode)
            } else {
                Thing::File(mode, fs::read(&path).unwrap_or_default())
            };
            things.insert(path.strip_prefix(root).unwrap().to_owned(), thing);
        }
    }
    things
}

/// Paths as text, sorted.
pub(crate) fn names(paths: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    names.sort();
    names
}
