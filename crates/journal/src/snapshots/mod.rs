//! Snapshots of the workspace: what its files were before and after a step, so that steps can be undone.

mod cache;
mod changes;
mod hands;
mod history;
mod restore;
mod scan;
mod taking;
mod tree;

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

pub use self::changes::{Change, ChangeKind};
pub use self::history::{History, Plan, Restore, Step};
pub use self::restore::{Left, OnConflict, Restored};
use self::scan::{Branch, Leaves};
use self::taking::Rules;
pub use self::tree::Entry;
use crate::store::{BadContentId, ContentId, Pruned, Store};

/// The folder of what was last seen of each workspace, in the store's folder.
const SCANS: &str = "scans";

/// The name of a snapshot: the hash of the tree, so equal trees have equal names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SnapshotId(ContentId);

/// How much is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of a file beyond which its content is not kept.
    pub file_bytes: u64,
    /// Files of a workspace beyond which there are no snapshots of it.
    pub files: usize,
    /// Bytes of all files that would be kept beyond which there are no snapshots.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_bytes: 10 << 20, files: 200_000, bytes: 1 << 30 }
    }
}

/// A snapshot that was taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Its name.
    pub id: SnapshotId,
    /// How many files and links it has.
    pub files: usize,
    /// How many of them are only named: too large, or not to be read.
    pub not_kept: usize,
    /// How many were read for it; all others were known.
    pub read: usize,
    /// Files that were named but are not below the workspace, or belong to version control: they are in no snapshot.
    pub outside: Vec<PathBuf>,
}

/// Why there is no snapshot, or why one can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The workspace has too many files. Said once; then snapshots are off.
    #[error(
        "the workspace has more than {limit} files, so steps can't be undone in this session; name folders that need no \
         undo in a .gitignore or .ignore file"
    )]
    TooManyFiles {
        /// How many there may be.
        limit: usize,
    },
    /// The workspace has too many bytes. Said once; then snapshots are off.
    #[error(
        "the workspace has more than {limit} bytes, so steps can't be undone in this session; name folders that need no \
         undo in a .gitignore or .ignore file"
    )]
    TooManyBytes {
        /// How many there may be.
        limit: u64,
    },
    /// Snapshots are off for this session; why, was said before.
    #[error("snapshots are off in this session: the workspace is too large")]
    Off,
    /// The workspace can't be looked at.
    #[error("the workspace `{}` can't be looked at: {cause}", .path.display())]
    Workspace {
        /// The workspace.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The store can't be read or written.
    #[error("the store of snapshots can't be used: {0}")]
    Store(#[from] io::Error),
    /// What is kept under a name is no folder of a snapshot.
    #[error("{0} is no snapshot, or it is damaged; what it held can't be brought back")]
    NoSnapshot(ContentId),
}

/// Snapshots of one workspace.
///
/// One that nothing has changed since costs a look at each file and no more. Files that ignore files name are left out, and
/// so is what belongs to version control; large files are named, but not kept.
#[derive(Debug)]
pub struct Snapshots {
    store: Store,
    workspace: PathBuf,
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The tree as it was last seen.
    tree: Option<Branch>,
    /// What is left out.
    rules: Rules,
    /// Files that steps have named; they are looked at even if they are ignored.
    named: BTreeSet<Vec<u8>>,
    off: bool,
    /// Files that were read since what was seen was last written down.
    unsaved: usize,
}

impl fmt::Display for SnapshotId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl FromStr for SnapshotId {
    type Err = BadContentId;

    fn from_str(text: &str) -> Result<Self, BadContentId> {
        text.parse().map(Self)
    }
}

impl SnapshotId {
    /// The content that the snapshot is kept as.
    pub fn content(&self) -> &ContentId {
        &self.0
    }
}

impl From<ContentId> for SnapshotId {
    fn from(id: ContentId) -> Self {
        Self(id)
    }
}

impl Snapshots {
    /// Snapshots of this workspace in this store. Nothing is looked at yet.
    pub fn open(store: Store, workspace: &Path, limits: Limits) -> Self {
        // Links are resolved once: the folder that is meant now is meant later.
        let workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
        Self { store, workspace, limits, state: Mutex::default() }
    }

    /// Where the contents are.
    pub fn folder(&self) -> &Path {
        self.store.folder()
    }

    /// Throws away what no snapshot in the list holds, nobody else wants, and was last used before a time.
    ///
    /// # Errors
    /// A snapshot in the list is damaged, or the store can't be written. A snapshot that is not there holds nothing.
    pub fn prune(
        &self,
        keep: &[SnapshotId],
        also: &dyn Fn(&ContentId) -> bool,
        older_than: SystemTime,
    ) -> Result<Pruned, SnapshotError> {
        let mut state = self.state();
        let mut kept = BTreeSet::new();
        for id in keep {
            self.reach(&id.0, &mut kept)?;
        }
        self.save(&mut state);
        // What is known may name what is thrown away now: it is looked at again.
        state.tree = None;
        let scans = self.store.folder().join(SCANS);
        for entry in fs::read_dir(scans).into_iter().flatten().flatten() {
            let old = entry.metadata().and_then(|meta| meta.modified()).is_ok_and(|time| time < older_than);
            if old {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(self.store.prune(&|id| kept.contains(id) || also(id), older_than)?)
    }

    /// All that a folder of a snapshot holds.
    fn reach(&self, id: &ContentId, kept: &mut BTreeSet<ContentId>) -> Result<(), SnapshotError> {
        if !kept.insert(*id) {
            return Ok(());
        }
        let entries = match self.load(id) {
            Err(SnapshotError::Store(cause)) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries.values() {
            match entry {
                Entry::File { id, .. } => {
                    kept.insert(*id);
                }
                Entry::Folder { id, .. } => self.reach(id, kept)?,
                Entry::NotKept { .. } | Entry::Link(_) => {}
            }
        }
        Ok(())
    }

    /// The entries of a folder that is kept.
    fn load(&self, id: &ContentId) -> Result<tree::Entries, SnapshotError> {
        tree::decode(&self.store.get(id)?).ok_or(SnapshotError::NoSnapshot(*id))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn scan_file(&self) -> PathBuf {
        self.store.folder().join(SCANS).join(cache::name(&self.workspace))
    }

    /// Writes down what was seen. It only saves time, so a failure is no trouble.
    fn save(&self, state: &mut State) {
        let (Some(tree), true) = (&state.tree, state.unsaved > 0) else { return };
        let mut leaves = std::collections::BTreeMap::new();
        tree.leaves(&mut Vec::new(), &mut leaves);
        let _ = self.store.write_beside(&self.scan_file(), &cache::encode(&leaves));
        state.unsaved = 0;
    }

    /// What was written down, as far as its contents are still there.
    fn saved(&self) -> Leaves {
        let mut leaves =
            fs::read(self.scan_file()).ok().and_then(|bytes| cache::decode(&bytes)).unwrap_or_default();
        leaves.retain(|_, leaf| match &leaf.entry {
            Some(Entry::File { id, size, .. }) => self.store.freshen(id, *size),
            Some(Entry::Link(_) | Entry::NotKept { .. }) => true,
            Some(Entry::Folder { .. }) | None => false,
        });
        leaves
    }
}

impl Drop for Snapshots {
    fn drop(&mut self) {
        let mut state = std::mem::take(&mut *self.state());
        self.save(&mut state);
    }
}
