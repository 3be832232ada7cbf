//! What differs between two snapshots. Folders that are equal are not looked into.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rail_edit::diff::{FileDiff, file_diff, moved_diff};

use super::scan::push;
use super::tree::{Entries, Entry};
use super::{SnapshotError, SnapshotId, Snapshots};
use crate::store::ContentId;

/// A file or a link that differs between two snapshots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Its path from the workspace on.
    pub path: PathBuf,
    /// What became of it.
    pub kind: ChangeKind,
    /// What it was; nothing if it is new.
    pub old: Option<Entry>,
    /// What it is; nothing if it is gone.
    pub new: Option<Entry>,
}

/// What became of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It holds something else, or is a link instead of a file.
    Modified,
    /// Others may read, write or run it; what it holds is the same.
    Mode,
}

/// An entry that differs, folders included; a folder comes before what is in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Difference {
    pub(super) path: Vec<u8>,
    pub(super) old: Option<Entry>,
    pub(super) new: Option<Entry>,
}

impl Snapshots {
    /// The files and links that differ between two snapshots, by the bytes of their names, folder by folder.
    ///
    /// # Errors
    /// One of them is not there, or damaged.
    pub fn changes(&self, old: SnapshotId, new: SnapshotId) -> Result<Vec<Change>, SnapshotError> {
        Ok(self.differences(old, new)?.into_iter().filter_map(Change::of).collect())
    }

    /// What differs between two snapshots, line by line. A file that has another name and the same content is one change.
    /// Of files that are no text, or whose content is not kept, there is only the name.
    ///
    /// # Errors
    /// One of them is not there, or damaged.
    pub fn diff(&self, old: SnapshotId, new: SnapshotId) -> Result<Vec<FileDiff>, SnapshotError> {
        let changes = self.changes(old, new)?;
        let mut moved = moves(&changes);
        let gone: Vec<PathBuf> = moved.values().cloned().collect();
        let mut diffs = Vec::new();
        for change in changes {
            if change.kind == ChangeKind::Removed && gone.contains(&change.path) {
                continue;
            }
            diffs.push(match moved.remove(&change.path) {
                Some(from) => moved_diff(from, &change.path, "", ""),
                None => self.diff_of(&change)?,
            });
        }
        Ok(diffs)
    }

    fn diff_of(&self, change: &Change) -> Result<FileDiff, SnapshotError> {
        let (old, new) = (self.text(change.old.as_ref())?, self.text(change.new.as_ref())?);
        Ok(match (old, new) {
            (Some(old), Some(new)) => file_diff(&change.path, &old, &new),
            (None, _) | (_, None) => file_diff(&change.path, "", ""),
        })
    }

    /// The text of a file; nothing if it is none, or not kept.
    fn text(&self, entry: Option<&Entry>) -> Result<Option<String>, SnapshotError> {
        Ok(match entry {
            None => Some(String::new()),
            Some(Entry::Link(to)) => Some(String::from_utf8_lossy(to).into_owned()),
            Some(Entry::File { id, .. }) => {
                String::from_utf8(self.store.get(id)?).ok().filter(|text| !text.contains('\0'))
            }
            Some(Entry::NotKept { .. } | Entry::Folder { .. }) => None,
        })
    }

    /// All entries that differ.
    pub(super) fn differences(
        &self,
        old: SnapshotId,
        new: SnapshotId,
    ) -> Result<Vec<Difference>, SnapshotError> {
        let mut found = Vec::new();
        self.compare(Some(&old.0), Some(&new.0), &mut Vec::new(), &mut found)?;
        Ok(found)
    }

    fn compare(
        &self,
        old: Option<&ContentId>,
        new: Option<&ContentId>,
        path: &mut Vec<u8>,
        found: &mut Vec<Difference>,
    ) -> Result<(), SnapshotError> {
        if old == new {
            return Ok(());
        }
        let load = |id: Option<&ContentId>| id.map_or(Ok(Entries::new()), |id| self.load(id));
        let (mut old, new) = (load(old)?, load(new)?);
        let mut pairs: BTreeMap<Vec<u8>, (Option<Entry>, Option<Entry>)> = BTreeMap::new();
        for (name, entry) in new {
            let before = old.remove(&name);
            pairs.insert(name, (before, Some(entry)));
        }
        pairs.extend(old.into_iter().map(|(name, entry)| (name, (Some(entry), None))));
        for (name, (old, new)) in pairs {
            if old == new {
                continue;
            }
            let len = push(path, &name);
            let (inside_old, inside_new) = (inside(old.as_ref()), inside(new.as_ref()));
            // Of a folder that stays, only its mode is its own.
            if mode(old.as_ref()) != mode(new.as_ref()) || inside_old.is_none() || inside_new.is_none() {
                found.push(Difference { path: path.clone(), old, new });
            }
            self.compare(inside_old.as_ref(), inside_new.as_ref(), path, found)?;
            path.truncate(len);
        }
        Ok(())
    }
}

impl Change {
    fn of(difference: Difference) -> Option<Self> {
        let leaf = |entry: Option<Entry>| entry.filter(|entry| inside(Some(entry)).is_none());
        let (old, new) = (leaf(difference.old), leaf(difference.new));
        let kind = match (&old, &new) {
            (None, None) => return None,
            (None, Some(_)) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Removed,
            (Some(old), Some(new)) if old.holds_same(new) => ChangeKind::Mode,
            (Some(_), Some(_)) => ChangeKind::Modified,
        };
        Some(Self { path: path_of(difference.path), kind, old, new })
    }
}

impl Entry {
    /// Whether two entries hold the same, whoever may read them.
    pub(super) fn holds_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { id, .. }, Self::File { id: other, .. }) => id == other,
            (Self::NotKept { size, mtime, .. }, Self::NotKept { size: other, mtime: then, .. }) => {
                (size, mtime) == (other, then)
            }
            (Self::Link(to), Self::Link(other)) => to == other,
            (Self::Folder { .. }, Self::Folder { .. }) => true,
            (Self::File { .. } | Self::NotKept { .. } | Self::Link(_) | Self::Folder { .. }, _) => false,
        }
    }
}

fn inside(entry: Option<&Entry>) -> Option<ContentId> {
    match entry? {
        Entry::Folder { id, .. } => Some(*id),
        Entry::File { .. } | Entry::NotKept { .. } | Entry::Link(_) => None,
    }
}

fn mode(entry: Option<&Entry>) -> Option<u32> {
    match entry? {
        Entry::Folder { mode, .. } | Entry::File { mode, .. } | Entry::NotKept { mode, .. } => Some(*mode),
        Entry::Link(_) => None,
    }
}

/// New names with the old names of the same content. Empty files say nothing of where they come from.
fn moves(changes: &[Change]) -> BTreeMap<PathBuf, PathBuf> {
    let content = |entry: &Option<Entry>| match entry {
        Some(Entry::File { id, size, .. }) if *size > 0 => Some(*id),
        Some(_) | None => None,
    };
    let mut gone: BTreeMap<ContentId, Vec<&Path>> = BTreeMap::new();
    for change in changes.iter().rev().filter(|change| change.kind == ChangeKind::Removed) {
        if let Some(id) = content(&change.old) {
            gone.entry(id).or_default().push(&change.path);
        }
    }
    let added = changes.iter().filter(|change| change.kind == ChangeKind::Added);
    let pair = |change: &Change| {
        let from = gone.get_mut(&content(&change.new)?)?.pop()?;
        Some((change.path.clone(), from.to_owned()))
    };
    added.filter_map(pair).collect()
}

/// A path of its bytes.
pub(super) fn path_of(path: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(path))
}
