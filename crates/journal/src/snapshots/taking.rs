//! Taking a snapshot: what has changed is read and kept, and with it the folders above it.

use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use super::hands::{Folder, narrow, wide};
use super::scan::{Branch, IGNORE_FILES, Leaf, Leaves, Node, Reach, Scan, Stamp, VERSION_CONTROL, is_rule};
use super::tree::{self, Entries, Entry};
use super::{SnapshotError, SnapshotId, Snapshots, State, Taken};
use crate::store::{Batch, ContentId, Store};

/// New contents from which on they are written into one file.
const MANY: usize = 32;

/// What is left out, as far as files outside of the tree say it: a change of any of them means to list everything again.
pub(super) type Rules = Vec<Option<(u64, i64, i64)>>;

/// Where new contents go.
enum Sink<'a> {
    Alone(&'a Store),
    Together(Batch<'a>),
}

impl<'a> Sink<'a> {
    fn of(store: &'a Store, contents: usize) -> io::Result<Self> {
        Ok(if contents < MANY { Self::Alone(store) } else { Self::Together(store.batch()?) })
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<ContentId> {
        match self {
            Self::Alone(store) => store.put(bytes),
            Self::Together(batch) => batch.put(bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Alone(_) => Ok(()),
            Self::Together(batch) => batch.finish(),
        }
    }
}

impl Snapshots {
    /// Takes a snapshot of the workspace as it is now. A workspace that is not there is one without files.
    ///
    /// # Errors
    /// It is too large, which is said once, or it can't be looked at, or the store can't be written.
    pub fn take(&self) -> Result<Taken, SnapshotError> {
        self.taking(&mut self.state(), |snapshots, state| snapshots.take_all(state))
    }

    /// Takes a snapshot for a step that says which files it writes: only those are looked at, all others are as they were in
    /// the snapshot before. They are kept even if they are ignored, in this snapshot and in all later ones.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn take_files(&self, paths: &[PathBuf]) -> Result<Taken, SnapshotError> {
        let (mut named, mut outside) = (Vec::new(), Vec::new());
        for path in paths {
            match self.below(path) {
                Some(below) => named.push(below),
                None => outside.push(path.clone()),
            }
        }
        let mut state = self.state();
        state.named.extend(named.iter().cloned());
        let taken = self.taking(&mut state, |snapshots, state| match state.tree {
            // Trees that hold only what was named can't be compared with whole ones.
            None => snapshots.take_all(state),
            Some(_) => snapshots.take_named(state, &named),
        })?;
        Ok(Taken { outside, ..taken })
    }

    /// A failure forgets what is known: it may name contents that were never written.
    fn taking(
        &self,
        state: &mut State,
        take: impl FnOnce(&Self, &mut State) -> Result<usize, SnapshotError>,
    ) -> Result<Taken, SnapshotError> {
        if state.off {
            return Err(SnapshotError::Off);
        }
        let taken = take(self, state).and_then(|read| self.seal(state, read));
        if let Err(error) = &taken {
            state.tree = None;
            state.off =
                matches!(error, SnapshotError::TooManyFiles { .. } | SnapshotError::TooManyBytes { .. });
        }
        taken
    }

    fn take_all(&self, state: &mut State) -> Result<usize, SnapshotError> {
        let root = match Folder::root(&self.workspace) {
            Ok(root) => root,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                state.tree = Some(Branch::default());
                return Ok(0);
            }
            Err(cause) => return Err(SnapshotError::Workspace { path: self.workspace.clone(), cause }),
        };
        let began = now();
        let rules = rules(&self.workspace);
        let mut listed = state.tree.is_none() || rules != state.rules;
        state.rules = rules;
        let mut read = 0;
        loop {
            let mut scan = self.scan(&root, began);
            if listed {
                let mut known = match state.tree.take() {
                    Some(tree) => leaves_of(tree),
                    None => self.saved(),
                };
                state.tree = Some(scan.deep(b"", &mut known)?);
            }
            let State { tree: Some(tree), named, .. } = state else { return Ok(read) };
            let stat = rustix::fs::fstat(&root.0).map_err(io::Error::from)?;
            scan.refresh(tree, &mut Vec::new(), Stamp::of(&stat))?;
            for path in named.iter() {
                if tree.at(path).is_none() && !scan.unread.contains(path) {
                    scan.unread.push(path.clone());
                }
            }
            let unread = std::mem::take(&mut scan.unread);
            read += unread.len();
            let rules_changed = self.read(&scan, tree, &unread)? | scan.rules_gone;
            if listed || !rules_changed {
                state.unsaved += read;
                return Ok(read);
            }
            // A file that says what is left out is another one now.
            listed = true;
        }
    }

    fn take_named(&self, state: &mut State, named: &[Vec<u8>]) -> Result<usize, SnapshotError> {
        let Ok(root) = Folder::root(&self.workspace) else { return self.take_all(state) };
        let Some(tree) = &mut state.tree else { return Ok(0) };
        let scan = self.scan(&root, now());
        let known = |tree: &mut Branch, path: &[u8]| match (tree.at(path), root.parent_of(path)) {
            (Some(Node::Leaf(leaf)), Ok((folder, name))) => {
                leaf.stamp.is_some() && folder.stat(name).ok().map(|stat| Stamp::of(&stat)) == leaf.stamp
            }
            _ => false,
        };
        let unread: Vec<_> = named.iter().filter(|path| !known(tree, path)).cloned().collect();
        self.read(&scan, tree, &unread)?;
        state.unsaved += unread.len();
        Ok(unread.len())
    }

    fn scan<'a>(&'a self, root: &'a Folder, began: i128) -> Scan<'a> {
        let (path, limits) = (self.workspace.as_path(), &self.limits);
        Scan { path, root, limits, began, files: 0, bytes: 0, unread: Vec::new(), rules_gone: false }
    }

    /// Reads files and keeps them; whether one that says what is left out has changed.
    fn read(&self, scan: &Scan<'_>, tree: &mut Branch, unread: &[Vec<u8>]) -> Result<bool, SnapshotError> {
        let mut sink = Sink::of(&self.store, unread.len())?;
        let mut rules_changed = false;
        let mut open: Option<(&[u8], Folder)> = None;
        for path in unread {
            let (above, name) = split(path);
            if open.as_ref().is_none_or(|(last, _)| *last != above) {
                open = scan.root.parent_of(path).ok().map(|(folder, _)| (above, folder));
            }
            let leaf = match &open {
                Some((_, folder)) => self.leaf(folder, name, scan.began, &mut sink)?,
                None => None,
            };
            let there = leaf.is_some();
            rules_changed |= tree.set(path, leaf) && is_rule(path);
            if there {
                modes(scan.root, tree, above);
            }
        }
        sink.finish()?;
        Ok(rules_changed)
    }

    /// What an entry is now; nothing if it is neither a file nor a link.
    fn leaf(
        &self,
        folder: &Folder,
        name: &[u8],
        began: i128,
        sink: &mut Sink<'_>,
    ) -> Result<Option<Leaf>, SnapshotError> {
        let (mut file, stamp) = match folder.open(name) {
            Ok(opened) => opened,
            Err(_) => return Ok(unopened(folder, name, began)),
        };
        let not_kept = |stamp: Stamp| {
            let entry = Entry::NotKept { mode: stamp.mode & 0o777, size: stamp.size, mtime: stamp.modified };
            Ok(Some(Leaf { stamp: stamp.settled(began), entry: Some(entry) }))
        };
        if stamp.size > self.limits.file_bytes {
            return not_kept(stamp);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0) + 1);
        // One byte more tells whether it grew while it was read.
        let read = (&mut file).take(self.limits.file_bytes + 1).read_to_end(&mut bytes);
        let size = bytes.len() as u64;
        if read.is_err() || size > self.limits.file_bytes {
            return not_kept(stamp);
        }
        let entry = Entry::File { id: sink.put(&bytes)?, mode: stamp.mode & 0o777, size };
        // What grew or shrank under our eyes is read again the next time.
        let stamp = if size == stamp.size { stamp.settled(began) } else { None };
        Ok(Some(Leaf { stamp, entry: Some(entry) }))
    }

    /// Keeps the folders that have changed.
    fn seal(&self, state: &mut State, read: usize) -> Result<Taken, SnapshotError> {
        let Some(tree) = &mut state.tree else { return Err(SnapshotError::Off) };
        let mut count = Count::default();
        count.add(tree);
        let mut sink = Sink::of(&self.store, count.unsealed)?;
        let id = SnapshotId(seal(tree, &mut sink)?);
        sink.finish()?;
        if state.unsaved >= MANY {
            self.save(state);
        }
        Ok(Taken { id, files: count.files, not_kept: count.not_kept, read, outside: Vec::new() })
    }

    /// The path of a file from the workspace on, if it can be in a snapshot.
    fn below(&self, path: &Path) -> Option<Vec<u8>> {
        let path = match path.is_absolute() {
            true => path.to_owned(),
            false => self.workspace.join(path),
        };
        let below = match path.strip_prefix(&self.workspace) {
            Ok(below) => below.to_owned(),
            // The same place may have several names; that of the file itself is not resolved, for it may be a link.
            Err(_) => {
                let folder = path.parent()?.canonicalize().ok()?;
                folder.strip_prefix(&self.workspace).ok()?.join(path.file_name()?)
            }
        };
        let mut names = below.components().peekable();
        names.peek()?;
        let plain = |name: Component<'_>| match name {
            Component::Normal(name) => !VERSION_CONTROL.iter().any(|other| name == *other),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => false,
        };
        names.all(plain).then(|| below.as_os_str().as_bytes().to_owned())
    }
}

#[derive(Default)]
struct Count {
    files: usize,
    not_kept: usize,
    unsealed: usize,
}

impl Count {
    fn add(&mut self, branch: &Branch) {
        self.unsealed += usize::from(branch.id.is_none());
        for node in branch.children.values() {
            match node {
                Node::Branch(branch) => self.add(branch),
                Node::Leaf(leaf) => {
                    self.files += 1;
                    self.not_kept += usize::from(matches!(leaf.entry, Some(Entry::NotKept { .. })));
                }
            }
        }
    }
}

fn seal(branch: &mut Branch, sink: &mut Sink<'_>) -> io::Result<ContentId> {
    if let Some(id) = branch.id {
        return Ok(id);
    }
    let mut entries = Entries::new();
    for (name, node) in &mut branch.children {
        let entry = match node {
            Node::Branch(below) => Entry::Folder { id: seal(below, sink)?, mode: below.mode },
            Node::Leaf(Leaf { entry: Some(entry), .. }) => entry.clone(),
            Node::Leaf(Leaf { entry: None, .. }) => continue,
        };
        entries.insert(name.clone(), entry);
    }
    let id = sink.put(&tree::encode(&entries))?;
    branch.id = Some(id);
    Ok(id)
}

/// A link, or a file that can't be opened.
fn unopened(folder: &Folder, name: &[u8], began: i128) -> Option<Leaf> {
    let stamp = Stamp::of(&folder.stat(name).ok()?);
    let entry = match rustix::fs::FileType::from_raw_mode(narrow(stamp.mode)) {
        rustix::fs::FileType::Symlink => Entry::Link(folder.link(name).ok()?),
        rustix::fs::FileType::RegularFile => {
            Entry::NotKept { mode: stamp.mode & 0o777, size: stamp.size, mtime: stamp.modified }
        }
        _ => return None,
    };
    Some(Leaf { stamp: stamp.settled(began), entry: Some(entry) })
}

/// Folders that were made for a named file have their real modes.
fn modes(root: &Folder, tree: &mut Branch, above: &[u8]) {
    let ends = above.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    for end in ends.chain((!above.is_empty()).then_some(above.len())) {
        let path = above.get(..end).unwrap_or_default();
        let Some(Node::Branch(branch)) = tree.at(path) else { continue };
        if let (Reach::Named, Ok(stat)) = (branch.reach, root.stat(path)) {
            branch.mode = wide(stat.st_mode) & 0o7777;
        }
    }
}

fn leaves_of(tree: Branch) -> Leaves {
    let mut leaves = Leaves::new();
    tree.into_leaves(&mut Vec::new(), &mut leaves);
    leaves
}

/// The folder of a path, and its last name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default()),
        None => (b"", path),
    }
}

/// What says from outside of the tree what is left out. The user's own file for all repositories is read once in a session.
fn rules(workspace: &Path) -> Rules {
    let stamp =
        |path: PathBuf| fs::metadata(path).ok().map(|meta| (meta.ino(), meta.ctime(), meta.ctime_nsec()));
    let mut rules = Rules::new();
    for (level, folder) in workspace.ancestors().enumerate() {
        // What is in `.git` changes all the time; whether there is one counts.
        rules.push(folder.join(".git").exists().then_some((0, 0, 0)));
        rules.push(stamp(folder.join(".git/info/exclude")));
        if level > 0 {
            rules.extend(IGNORE_FILES.iter().map(|name| stamp(folder.join(name))));
        }
    }
    rules
}

#[expect(
    clippy::disallowed_methods,
    reason = "whether a file may change at the same time again, only the clock tells"
)]
fn now() -> i128 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i128::try_from(since.as_nanos()).unwrap_or(i128::MAX)
}
