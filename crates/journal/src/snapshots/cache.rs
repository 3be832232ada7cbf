//! What was last seen of a workspace, on the disk, so that the next session need not read every file.

use std::collections::BTreeMap;
use std::path::Path;

use super::scan::{Leaf, Leaves, Stamp};
use super::tree::{escape, number, put, take, unescape};
use crate::store::ContentId;

/// The first word of the file; another shape gets another.
const HEAD: &str = "scan1";

/// Leaves as they are written: the hash of all lines, then a line for each. What must be read again is left out.
pub(crate) fn encode(leaves: &BTreeMap<Vec<u8>, &Leaf>) -> Vec<u8> {
    let mut lines = Vec::new();
    for (path, leaf) in leaves {
        let (Some(stamp), Some(entry)) = (leaf.stamp, &leaf.entry) else { continue };
        let Stamp { inode, size, mode, modified, changed } = stamp;
        let (modified, changed) =
            (format!("{} {}", modified.0, modified.1), format!("{} {}", changed.0, changed.1));
        lines.extend_from_slice(format!("{inode} {size} {mode} {modified} {changed} ").as_bytes());
        put(&mut lines, entry);
        escape(path, &mut lines);
        lines.push(b'\n');
    }
    let mut out = format!("{HEAD} {}\n", ContentId::of(&lines)).into_bytes();
    out.append(&mut lines);
    out
}

/// Reads leaves; nothing if they are not exactly what was written.
pub(crate) fn decode(bytes: &[u8]) -> Option<Leaves> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (head, lines) = (bytes.get(..end)?, bytes.get(end + 1..)?);
    let id = ContentId::read(head.strip_prefix(HEAD.as_bytes())?.strip_prefix(b" ")?)?;
    if ContentId::of(lines) != id {
        return None;
    }
    let Some(lines) = lines.strip_suffix(b"\n") else { return Some(Leaves::new()) };
    lines.split(|byte| *byte == b'\n').map(line).collect()
}

fn line(line: &[u8]) -> Option<(Vec<u8>, Leaf)> {
    let mut words = line.split(|byte| *byte == b' ');
    let stamp = Stamp {
        inode: number(words.next()?)?,
        size: number(words.next()?)?,
        mode: number(words.next()?)?,
        modified: (number(words.next()?)?, number(words.next()?)?),
        changed: (number(words.next()?)?, number(words.next()?)?),
    };
    let entry = take(&mut words)?;
    Some((unescape(words.next()?)?, Leaf { stamp: Some(stamp), entry: Some(entry) }))
}

/// The name of the file for a workspace.
pub(crate) fn name(workspace: &Path) -> String {
    ContentId::of(workspace.as_os_str().as_encoded_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tree::Entry;
    use super::*;

    proptest! {
        #[test]
        fn leaves_come_back_and_damage_is_seen(
            paths in prop::collection::btree_map(prop::collection::vec(any::<u8>(), 1..9), any::<(u64, i64, bool)>(), 0..5),
            at in any::<prop::sample::Index>(),
        ) {
            let leaf = |(size, time, kept): (u64, i64, bool)| Leaf {
                stamp: kept.then_some(Stamp { inode: size, size, mode: 0o644, modified: (time, 1), changed: (1, time) }),
                entry: Some(Entry::NotKept { mode: 0o644, size, mtime: (time, 0) }),
            };
            let leaves: Leaves = paths.into_iter().map(|(path, values)| (path, leaf(values))).collect();
            let mut bytes = encode(&leaves.iter().map(|(path, leaf)| (path.clone(), leaf)).collect());
            let settled: Leaves = leaves.into_iter().filter(|(_, leaf)| leaf.stamp.is_some()).collect();
            prop_assert_eq!(decode(&bytes), Some(settled));
            let at = at.index(bytes.len());
            bytes[at] ^= 1;
            prop_assert_eq!(decode(&bytes), None);
        }

        #[test]
        fn any_bytes_are_leaves_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode(&bytes);
            let mut with_hash = format!("{HEAD} {}\n", ContentId::of(&bytes)).into_bytes();
            with_hash.extend_from_slice(&bytes);
            let _ = decode(&with_hash);
        }
    }
}
