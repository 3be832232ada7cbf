//! The tree as it was last seen, and how it is brought up to date: one look at each file and folder, and no more.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ignore::WalkBuilder;
use rustix::fs::{FileType, Stat};

use super::hands::{Folder, wide};
use super::tree::Entry;
use super::{Limits, SnapshotError};
use crate::store::ContentId;

/// Folders of version control: they have a history of their own.
pub(crate) const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".jj", ".svn"];

/// Files that say what is left out.
pub(crate) const IGNORE_FILES: &[&str] = &[".gitignore", ".ignore", ".rgignore"];

/// Nanoseconds in which the clock of a file system may stand still; those without parts of a second have one of two seconds.
const TICK: i128 = 20_000_000;
const SLOW_TICK: i128 = 2_000_000_000;

/// What tells that a file or a folder was changed without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) modified: (i64, i64),
    /// The time of the last change of anything; nobody can set it back.
    pub(crate) changed: (i64, i64),
}

/// A folder as it was last seen.
#[derive(Debug, Default)]
pub(crate) struct Branch {
    /// Nothing if it must be listed again.
    pub(crate) stamp: Option<Stamp>,
    pub(crate) mode: u32,
    pub(crate) children: BTreeMap<Vec<u8>, Node>,
    /// What is kept of it; nothing if something below it has changed.
    pub(crate) id: Option<ContentId>,
    pub(crate) reach: Reach,
}

/// How a folder is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Reach {
    /// All that is not ignored.
    #[default]
    Listed,
    /// The same, and it was listed in this very scan.
    ListedNow,
    /// Only the files that were named: the folder itself is ignored, or not yet known.
    Named,
}

#[derive(Debug)]
pub(crate) enum Node {
    Branch(Branch),
    Leaf(Leaf),
}

/// A file or a link as it was last seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Leaf {
    /// Nothing if it must be read again.
    pub(crate) stamp: Option<Stamp>,
    /// Nothing before it is read.
    pub(crate) entry: Option<Entry>,
}

/// Leaves by their paths.
pub(crate) type Leaves = BTreeMap<Vec<u8>, Leaf>;

/// One look at the workspace.
pub(crate) struct Scan<'a> {
    pub(crate) path: &'a Path,
    pub(crate) root: &'a Folder,
    pub(crate) limits: &'a Limits,
    /// When it began, in nanoseconds.
    pub(crate) began: i128,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    /// The paths of what must be read, in the order of the tree.
    pub(crate) unread: Vec<Vec<u8>>,
    /// Whether a file that says what is left out has gone.
    pub(crate) rules_gone: bool,
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mode: wide(stat.st_mode),
            modified: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
            changed: (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        }
    }

    /// The stamp, unless the file could be changed once more at what looks like the same time.
    pub(crate) fn settled(self, began: i128) -> Option<Self> {
        let (seconds, nanos) = self.changed;
        let tick = if nanos == 0 { SLOW_TICK } else { TICK };
        let changed = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        (changed < began - tick).then_some(self)
    }
}

impl Branch {
    /// Takes all leaves out, with their paths.
    pub(crate) fn into_leaves(self, path: &mut Vec<u8>, leaves: &mut Leaves) {
        for (name, node) in self.children {
            let len = push(path, &name);
            match node {
                Node::Branch(branch) => branch.into_leaves(path, leaves),
                Node::Leaf(leaf) => {
                    leaves.insert(path.clone(), leaf);
                }
            }
            path.truncate(len);
        }
    }

    /// All leaves with their paths.
    pub(crate) fn leaves<'b>(&'b self, path: &mut Vec<u8>, leaves: &mut BTreeMap<Vec<u8>, &'b Leaf>) {
        for (name, node) in &self.children {
            let len = push(path, name);
            match node {
                Node::Branch(branch) => branch.leaves(path, leaves),
                Node::Leaf(leaf) => {
                    leaves.insert(path.clone(), leaf);
                }
            }
            path.truncate(len);
        }
    }

    /// What is at a path.
    pub(crate) fn at(&mut self, path: &[u8]) -> Option<&mut Node> {
        match path.iter().position(|byte| *byte == b'/') {
            None => self.children.get_mut(path),
            Some(at) => match self.children.get_mut(path.get(..at)?)? {
                Node::Branch(branch) => branch.at(path.get(at + 1..)?),
                Node::Leaf(_) => None,
            },
        }
    }

    /// Puts a leaf at a path, or takes it away; whether something has changed by that.
    pub(crate) fn set(&mut self, path: &[u8], leaf: Option<Leaf>) -> bool {
        let changed = match path.iter().position(|byte| *byte == b'/') {
            Some(at) => {
                let (name, rest) =
                    (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default());
                self.set_below(name, rest, leaf)
            }
            None => match (leaf, self.children.get_mut(path)) {
                (None, Some(Node::Leaf(_))) => self.children.remove(path).is_some(),
                (None, Some(Node::Branch(_)) | None) => false,
                (Some(leaf), Some(Node::Leaf(old))) => {
                    let changed = old.entry != leaf.entry;
                    *old = leaf;
                    changed
                }
                (Some(leaf), _) => {
                    self.children.insert(path.to_owned(), Node::Leaf(leaf));
                    true
                }
            },
        };
        if changed {
            self.id = None;
        }
        changed
    }

    fn set_below(&mut self, name: &[u8], rest: &[u8], leaf: Option<Leaf>) -> bool {
        match (self.children.get_mut(name), leaf) {
            (Some(Node::Branch(branch)), leaf) => {
                let changed = branch.set(rest, leaf);
                if branch.reach == Reach::Named && branch.children.is_empty() {
                    self.children.remove(name);
                }
                changed
            }
            (_, None) => false,
            (_, leaf) => {
                let mut branch = Self { reach: Reach::Named, mode: 0o755, ..Self::default() };
                branch.set(rest, leaf);
                self.children.insert(name.to_owned(), Node::Branch(branch));
                true
            }
        }
    }
}

impl Scan<'_> {
    /// The whole tree below a folder, with what is known of its leaves.
    pub(crate) fn deep(&self, path: &[u8], known: &mut Leaves) -> Result<Branch, SnapshotError> {
        let mut top = Branch { reach: Reach::ListedNow, ..Branch::default() };
        for (below, kind) in self.list(path, None)? {
            let node = match kind {
                Kind::Leaf => Node::Leaf(known.remove(&below).unwrap_or_default()),
                Kind::Folder => Node::Branch(Branch { reach: Reach::ListedNow, ..Branch::default() }),
            };
            let rest = match path.len() {
                0 => below.as_slice(),
                len => below.get(len + 1..).unwrap_or_default(),
            };
            graft(&mut top, rest, node);
        }
        Ok(top)
    }

    /// Brings a folder up to date; whether something has changed. What is still to be read is noted.
    pub(crate) fn refresh(
        &mut self,
        branch: &mut Branch,
        path: &mut Vec<u8>,
        stamp: Stamp,
    ) -> Result<bool, SnapshotError> {
        let mode = stamp.mode & 0o7777;
        let mut changed = branch.id.is_none() || branch.mode != mode;
        branch.mode = mode;
        match branch.reach {
            Reach::Named => {}
            Reach::ListedNow => branch.stamp = stamp.settled(self.began),
            Reach::Listed if branch.stamp == Some(stamp) => {}
            Reach::Listed => {
                self.relist(branch, path)?;
                branch.stamp = stamp.settled(self.began);
                changed = true;
            }
        }
        if branch.reach == Reach::ListedNow {
            branch.reach = Reach::Listed;
        }
        let mut gone = Vec::new();
        for (name, node) in &mut branch.children {
            let len = push(path, name);
            match self.look(node, path)? {
                Look::Same => {}
                Look::Changed => changed = true,
                Look::Gone => gone.push(name.clone()),
            }
            path.truncate(len);
        }
        for name in gone {
            self.rules_gone |= is_rule(&name);
            branch.children.remove(&name);
            branch.stamp = None;
            changed = true;
        }
        if changed {
            branch.id = None;
        }
        Ok(changed)
    }

    fn look(&mut self, node: &mut Node, path: &mut Vec<u8>) -> Result<Look, SnapshotError> {
        let Ok(stat) = self.root.stat(path) else { return Ok(Look::Gone) };
        let (stamp, kind) = (Stamp::of(&stat), FileType::from_raw_mode(stat.st_mode));
        match (node, kind) {
            (Node::Branch(branch), FileType::Directory) => {
                let changed = self.refresh(branch, path, stamp)?;
                let empty = branch.reach == Reach::Named && branch.children.is_empty();
                Ok(if empty {
                    Look::Gone
                } else if changed {
                    Look::Changed
                } else {
                    Look::Same
                })
            }
            (Node::Leaf(leaf), FileType::RegularFile | FileType::Symlink) => {
                self.count(&stamp)?;
                if leaf.entry.is_none() || leaf.stamp != Some(stamp) {
                    self.unread.push(path.clone());
                }
                Ok(Look::Same)
            }
            (Node::Branch(_) | Node::Leaf(_), _) => Ok(Look::Gone),
        }
    }

    fn count(&mut self, stamp: &Stamp) -> Result<(), SnapshotError> {
        self.files += 1;
        if stamp.size <= self.limits.file_bytes {
            self.bytes += stamp.size;
        }
        if self.files > self.limits.files {
            return Err(SnapshotError::TooManyFiles { limit: self.limits.files });
        }
        if self.bytes > self.limits.bytes {
            return Err(SnapshotError::TooManyBytes { limit: self.limits.bytes });
        }
        Ok(())
    }

    /// Looks what stands in a folder now; what is known of what stays is kept.
    fn relist(&mut self, branch: &mut Branch, path: &[u8]) -> Result<(), SnapshotError> {
        let mut old = std::mem::take(&mut branch.children);
        for (below, kind) in self.list(path, Some(1))? {
            let name = below.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            let node = match (kind, old.remove(name)) {
                (Kind::Leaf, Some(Node::Leaf(leaf))) => Node::Leaf(leaf),
                (Kind::Leaf, _) => Node::Leaf(Leaf::default()),
                (Kind::Folder, Some(Node::Branch(branch))) if branch.reach != Reach::Named => {
                    Node::Branch(branch)
                }
                (Kind::Folder, _) => Node::Branch(self.deep(&below, &mut Leaves::new())?),
            };
            branch.children.insert(name.to_owned(), node);
        }
        for (name, node) in old {
            self.rules_gone |= is_rule(&name);
            // Named files are no part of the listing, and stay as long as they are there.
            if matches!(&node, Node::Branch(branch) if branch.reach == Reach::Named) {
                branch.children.insert(name, node);
            }
        }
        Ok(())
    }

    /// What is not ignored below a folder, folders before what is in them.
    fn list(&self, path: &[u8], depth: Option<usize>) -> Result<Vec<(Vec<u8>, Kind)>, SnapshotError> {
        let mut builder = WalkBuilder::new(self.path.join(OsStr::from_bytes(path)));
        builder.standard_filters(true).hidden(false).follow_links(false).max_depth(depth);
        // Without a repository too: what `git init` does must not look like files that went away.
        builder.require_git(false).current_dir(self.path).add_custom_ignore_filename(".rgignore");
        builder.filter_entry(|entry| {
            entry.depth() == 0 || !VERSION_CONTROL.iter().any(|name| entry.file_name() == *name)
        });
        let (mut found, mut files) = (Vec::new(), 0);
        // What can't be looked at has nothing in it that we could keep.
        for entry in builder.build().flatten().filter(|entry| entry.depth() > 0) {
            let Ok(below) = entry.path().strip_prefix(self.path) else { continue };
            let kind = match entry.file_type() {
                Some(kind) if kind.is_dir() => Kind::Folder,
                Some(kind) if kind.is_file() || kind.is_symlink() => Kind::Leaf,
                Some(_) | None => continue,
            };
            files += usize::from(kind == Kind::Leaf);
            if files > self.limits.files {
                return Err(SnapshotError::TooManyFiles { limit: self.limits.files });
            }
            found.push((below.as_os_str().as_bytes().to_owned(), kind));
        }
        Ok(found)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Leaf,
    Folder,
}

enum Look {
    Same,
    Changed,
    Gone,
}

/// Puts a node in its place below a folder that has all folders on the way.
fn graft(branch: &mut Branch, path: &[u8], node: Node) {
    match path.iter().position(|byte| *byte == b'/') {
        None => {
            branch.children.insert(path.to_owned(), node);
        }
        Some(at) => {
            let (name, rest) = (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default());
            if let Some(Node::Branch(below)) = branch.children.get_mut(name) {
                graft(below, rest, node);
            }
        }
    }
}

/// Whether a path's last name is that of a file that says what is left out.
pub(crate) fn is_rule(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    IGNORE_FILES.iter().any(|rule| rule.as_bytes() == name)
}

/// Goes into a folder by its name; gives what the path is to be cut to afterwards.
pub(crate) fn push(path: &mut Vec<u8>, name: &[u8]) -> usize {
    let len = path.len();
    if len > 0 {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_within_a_tick_of_the_clock_is_looked_at_again() {
        let began = 1_000_000_000_000;
        let cases =
            [((999, 979_999_999), true), ((999, 980_000_000), false), ((1_001, 5), false), ((997, 0), true)];
        for (changed, settled) in cases.into_iter().chain([((998, 0), false), ((998, 1), true)]) {
            let stamp = Stamp { inode: 1, size: 1, mode: 0, modified: (0, 0), changed };
            assert_eq!(stamp.settled(began).is_some(), settled, "{changed:?}");
        }
    }
}
