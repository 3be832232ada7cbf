//! Bringing files back, without touching what somebody else has changed.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::changes::{Difference, path_of};
use super::hands::{Folder, Found, wide};
use super::scan::{IGNORE_FILES, is_rule};
use super::tree::Entry;
use super::{SnapshotError, SnapshotId, Snapshots};
use crate::store::ContentId;

/// What is done with a file that somebody else has changed since.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnConflict {
    /// It stays as it is.
    Leave,
    /// It is replaced; what it held is put into the store first.
    Force,
}

/// What was brought back. All paths are from the workspace on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Restored {
    /// Files and links that are as they were.
    pub restored: Vec<PathBuf>,
    /// Files and links that were not there before, and are gone.
    pub removed: Vec<PathBuf>,
    /// What somebody else has changed since; left alone.
    pub conflicts: Vec<PathBuf>,
    /// The same, but replaced by force, with what it held.
    pub overwritten: Vec<(PathBuf, ContentId)>,
    /// What could not be brought back or removed, and was left alone.
    pub left: Vec<Left>,
}

/// Something that was left as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Left {
    /// Its path.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

impl Snapshots {
    /// Brings the files that differ between two snapshots to what they were in the second one. A file that is neither as in
    /// the one nor as in the other was changed by somebody else: it is a conflict.
    ///
    /// Files are replaced at once, but not forced to the disk: a crash of the machine in this moment is mended by doing it
    /// again. A file is looked at just before it is replaced or removed; who writes between the two is not seen. Times of files are not brought
    /// back, so that programs that build see that something has changed.
    ///
    /// # Errors
    /// A snapshot is not there or damaged, or the workspace can't be looked at; then nothing was changed. What fails for a
    /// single file is told in the answer.
    pub fn restore(
        &self,
        from: SnapshotId,
        to: SnapshotId,
        how: OnConflict,
    ) -> Result<Restored, SnapshotError> {
        let differences = self.differences(from, to)?;
        if differences.is_empty() {
            return Ok(Restored::default());
        }
        let root = self.root_for(&differences)?;
        let ignored = if differences.iter().any(|one| is_rule(&one.path)) { Some(to) } else { None };
        let mut work = Work {
            snapshots: self,
            root,
            how,
            told: Restored::default(),
            modes: Vec::new(),
            rules: BTreeMap::new(),
        };
        // What goes, from the inside out; then what comes, from the outside in.
        for difference in differences.iter().rev() {
            work.remove(difference, ignored);
        }
        for difference in &differences {
            work.bring(difference);
        }
        work.set_modes();
        let mut told = work.told;
        told.removed.reverse();
        Ok(told)
    }

    /// The workspace, held open; it is made again if it is gone and something belongs in it.
    fn root_for(&self, differences: &[Difference]) -> Result<Folder, SnapshotError> {
        let fault = |cause| SnapshotError::Workspace { path: self.workspace.clone(), cause };
        match Folder::root(&self.workspace) {
            Err(cause)
                if cause.kind() == io::ErrorKind::NotFound
                    && differences.iter().any(|one| one.new.is_some()) =>
            {
                std::fs::DirBuilder::new()
                    .recursive(true)
                    .mode(0o755)
                    .create(&self.workspace)
                    .map_err(fault)?;
                Folder::root(&self.workspace).map_err(fault)
            }
            root => root.map_err(fault),
        }
    }

    /// What is at a path in a snapshot.
    fn entry_at(&self, snapshot: SnapshotId, path: &[u8]) -> Option<Entry> {
        let mut entry = Entry::Folder { id: snapshot.0, mode: 0 };
        for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            let Entry::Folder { id, .. } = entry else { return None };
            entry = self.load(&id).ok()?.remove(name)?;
        }
        Some(entry)
    }
}

struct Work<'a> {
    snapshots: &'a Snapshots,
    root: Folder,
    how: OnConflict,
    told: Restored,
    /// Modes of folders, set when everything in them is done: they may forbid to write.
    modes: Vec<(Vec<u8>, u32)>,
    /// What is left out, folder by folder, in the snapshot that is wanted.
    rules: BTreeMap<Vec<u8>, Vec<Gitignore>>,
}

/// What a place turned out to be.
enum Place {
    /// As it is wanted.
    Wanted,
    /// As expected, or to be replaced by force.
    Free(Found),
    /// To be left alone; it is told already.
    Taken,
}

impl Work<'_> {
    /// Removes what is not wanted, or is wanted as something that can't just replace it.
    fn remove(&mut self, difference: &Difference, ignored: Option<SnapshotId>) {
        let Difference { path, old: Some(old), new } = difference else { return };
        let folder = matches!(old, Entry::Folder { .. });
        match new {
            None => {}
            Some(Entry::Folder { .. }) if !folder => {}
            Some(Entry::File { .. } | Entry::NotKept { .. } | Entry::Link(_)) if folder => {}
            Some(_) => return,
        }
        // A folder above it may be gone, or be a link now: then nothing that we know is there.
        let Ok((parent, name)) = self.root.parent_of(path) else { return };
        if folder {
            return self.remove_folder(path, &parent, name);
        }
        if new.is_none() && ignored.is_some_and(|to| self.is_ignored(to, path)) {
            // It did not come with the step: it was there, and ignored.
            return;
        }
        if matches!(old, Entry::NotKept { .. }) {
            return self.leave_unless_gone(path, &parent, name);
        }
        match self.place(path, (&parent, name), Some(old), None) {
            Place::Wanted | Place::Taken => {}
            Place::Free(found) => match parent.remove(name, found.stamp()) {
                Ok(()) => self.told.removed.push(path_of(path.clone())),
                Err(cause) => self.fault(path, &cause),
            },
        }
    }

    fn remove_folder(&mut self, path: &[u8], parent: &Folder, name: &[u8]) {
        let Err(cause) = parent.remove_folder(name) else { return };
        match cause.kind() {
            io::ErrorKind::NotFound => {}
            io::ErrorKind::NotADirectory => self.told.conflicts.push(path_of(path.to_owned())),
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => {
                let path = path_of(path.to_owned());
                // What was left alone in it says enough.
                let left = self.told.left.iter().map(|left| &left.path);
                if !self.told.conflicts.iter().chain(left).any(|below| below.starts_with(&path)) {
                    self.told
                        .left
                        .push(Left { path, why: "it holds files that no snapshot knows".to_owned() });
                }
            }
            _ => self.fault(path, &cause),
        }
    }

    /// A file that is not kept can't be brought back, so it is not removed.
    fn leave_unless_gone(&mut self, path: &[u8], parent: &Folder, name: &[u8]) {
        if parent.stat(name).is_ok() {
            let why =
                "it is not removed, because its content is not kept and could not be brought back".to_owned();
            self.told.left.push(Left { path: path_of(path.to_owned()), why });
        }
    }

    /// Makes what is wanted.
    fn bring(&mut self, difference: &Difference) {
        let Difference { path, old, new: Some(new) } = difference else { return };
        let (parent, name) = match self.root.parent_of(path) {
            Ok(place) => place,
            // Somebody put something else where a folder was.
            Err(_) => return self.told.conflicts.push(path_of(path.clone())),
        };
        if let Entry::Folder { mode, .. } = new {
            return self.bring_folder(path, (&parent, name), old.as_ref(), *mode);
        }
        let old = old.as_ref().filter(|old| !matches!(old, Entry::Folder { .. }));
        let found = match self.place(path, (&parent, name), old, Some(new)) {
            Place::Wanted | Place::Taken => return,
            Place::Free(found) => found,
        };
        let written = match new {
            Entry::File { mode, .. } | Entry::NotKept { mode, .. } if found.holds(&parent, name, new) => {
                parent.set_mode(name, *mode)
            }
            Entry::File { id, mode, .. } => {
                self.snapshots.store.get(id).and_then(|bytes| parent.write(name, &bytes, *mode, &found))
            }
            Entry::Link(to) => parent.write_link(name, to, &found),
            Entry::NotKept { .. } => {
                Err(io::Error::other("its content was not kept: it was too large, or could not be read"))
            }
            Entry::Folder { .. } => Ok(()),
        };
        match written {
            Ok(()) => self.told.restored.push(path_of(path.clone())),
            Err(cause) => self.fault(path, &cause),
        }
    }

    fn bring_folder(
        &mut self,
        path: &[u8],
        (parent, name): (&Folder, &[u8]),
        old: Option<&Entry>,
        mode: u32,
    ) {
        match (parent.make_folder(name), old) {
            (Ok(()), _) => self.modes.push((path.to_owned(), mode)),
            (Err(cause), Some(Entry::Folder { mode: old, .. }))
                if cause.kind() == io::ErrorKind::AlreadyExists =>
            {
                match parent.stat(name) {
                    Ok(stat) if wide(stat.st_mode) & 0o7777 == *old => {
                        self.modes.push((path.to_owned(), mode))
                    }
                    Ok(stat) if wide(stat.st_mode) & 0o7777 == mode => {}
                    Ok(_) | Err(_) => self.told.conflicts.push(path_of(path.to_owned())),
                }
            }
            (Err(cause), _) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            (Err(cause), _) => self.fault(path, &cause),
        }
    }

    /// Looks at what is at a place now, and whether it may be replaced.
    fn place(
        &mut self,
        path: &[u8],
        (parent, name): (&Folder, &[u8]),
        old: Option<&Entry>,
        new: Option<&Entry>,
    ) -> Place {
        let found = parent.found(name);
        let is = |entry: Option<&Entry>| match entry {
            None => found == Found::Nothing,
            Some(entry) => found.has_mode(entry) && found.holds(parent, name, entry),
        };
        if is(new) {
            return Place::Wanted;
        }
        if is(old) {
            return match self.keep_again(old, (parent, name)) {
                Ok(()) => Place::Free(found),
                Err(cause) => {
                    self.fault(path, &cause);
                    Place::Taken
                }
            };
        }
        if matches!(found, Found::Folder(_) | Found::Special) {
            let why = "something else is in its place, which no snapshot knows".to_owned();
            self.told.left.push(Left { path: path_of(path.to_owned()), why });
            return Place::Taken;
        }
        let forced = match self.how {
            OnConflict::Leave => None,
            OnConflict::Force => Some(self.keep(&found, parent, name)),
        };
        match forced {
            None => self.told.conflicts.push(path_of(path.to_owned())),
            Some(Err(cause)) => self.fault(path, &cause),
            Some(Ok(None)) => return Place::Free(found),
            Some(Ok(Some(id))) => {
                self.told.overwritten.push((path_of(path.to_owned()), id));
                return Place::Free(found);
            }
        }
        Place::Taken
    }

    /// What goes must be in the store, or it could not be brought back.
    fn keep_again(&self, old: Option<&Entry>, (parent, name): (&Folder, &[u8])) -> io::Result<()> {
        if let Some(Entry::File { id, .. }) = old
            && !self.snapshots.store.has(id)
        {
            self.snapshots.store.put_from(parent.open(name)?.0)?;
        }
        Ok(())
    }

    /// Puts what is replaced by force into the store.
    fn keep(&self, found: &Found, parent: &Folder, name: &[u8]) -> io::Result<Option<ContentId>> {
        let store = &self.snapshots.store;
        Ok(match found {
            Found::Nothing => None,
            Found::File(_) => Some(store.put_from(parent.open(name)?.0)?.id),
            Found::Link(_) => Some(store.put(&parent.link(name)?)?),
            Found::Folder(_) | Found::Special => return Err(io::ErrorKind::IsADirectory.into()),
        })
    }

    fn set_modes(&mut self) {
        for (path, mode) in std::mem::take(&mut self.modes).into_iter().rev() {
            let set = self.root.parent_of(&path).map_err(io::Error::from);
            if let Err(cause) = set.and_then(|(parent, name)| parent.enter(name)?.set_own_mode(mode)) {
                self.fault(&path, &cause);
            }
        }
    }

    fn fault(&mut self, path: &[u8], cause: &io::Error) {
        let path = path_of(path.to_owned());
        match cause.kind() {
            // It was changed in the moment between the look and the writing.
            io::ErrorKind::AlreadyExists | io::ErrorKind::StaleNetworkFileHandle => {
                self.told.conflicts.push(path)
            }
            _ => self.told.left.push(Left { path, why: cause.to_string() }),
        }
    }

    /// Whether files in the wanted snapshot say that a path is left out: then it was not missing there, but not looked at.
    fn is_ignored(&mut self, to: SnapshotId, path: &[u8]) -> bool {
        let whole = path_of(path.to_owned());
        for folder in whole.ancestors().skip(1) {
            let Ok(below) = whole.strip_prefix(folder) else { continue };
            let key = folder.as_os_str().as_encoded_bytes().to_owned();
            let snapshots = self.snapshots;
            let rules = self.rules.entry(key).or_insert_with_key(|folder| rules_in(snapshots, to, folder));
            for rules in rules.iter() {
                let matched = rules.matched_path_or_any_parents(below, false);
                if !matched.is_none() {
                    return matched.is_ignore();
                }
            }
        }
        false
    }
}

/// The files of a folder in a snapshot that say what is left out, those that count more first.
fn rules_in(snapshots: &Snapshots, to: SnapshotId, folder: &[u8]) -> Vec<Gitignore> {
    let rules = |name: &&str| {
        let mut path = folder.to_owned();
        super::scan::push(&mut path, name.as_bytes());
        let Some(Entry::File { id, .. }) = snapshots.entry_at(to, &path) else { return None };
        let text = String::from_utf8_lossy(&snapshots.store.get(&id).ok()?).into_owned();
        let mut builder = GitignoreBuilder::new(Path::new(""));
        for line in text.lines() {
            // A line that is no pattern leaves nothing out.
            let _ = builder.add_line(None, line);
        }
        builder.build().ok()
    };
    IGNORE_FILES.iter().rev().filter_map(rules).collect()
}
