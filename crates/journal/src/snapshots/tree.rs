//! A folder as it is kept: one line for each entry, sorted by the bytes of its name.
//!
//! Folders are kept by content as well, so equal trees have equal names, and a changed file costs only the folders above it.

use std::collections::BTreeMap;

use crate::store::ContentId;

/// One entry of a folder in a snapshot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    /// A file whose content is kept.
    File {
        /// Its content.
        id: ContentId,
        /// Who may read, write and run it.
        mode: u32,
        /// Its length in bytes.
        size: u64,
    },
    /// A file whose content is not kept, because it is too large or could not be read.
    NotKept {
        /// Who may read, write and run it.
        mode: u32,
        /// Its length in bytes.
        size: u64,
        /// When it was last changed: seconds and nanoseconds. Nothing else tells whether it is still the same.
        mtime: (i64, i64),
    },
    /// A link, with the bytes of what it leads to.
    Link(Vec<u8>),
    /// A folder.
    Folder {
        /// Its own entries, as they are kept.
        id: ContentId,
        /// Who may look into it and change it.
        mode: u32,
    },
}

/// The entries of a folder by the bytes of their names.
pub(crate) type Entries = BTreeMap<Vec<u8>, Entry>;

/// What is kept of a folder.
pub(crate) fn encode(entries: &Entries) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, entry) in entries {
        put(&mut out, entry);
        escape(name, &mut out);
        out.push(b'\n');
    }
    out
}

pub(crate) fn put(out: &mut Vec<u8>, entry: &Entry) {
    match entry {
        Entry::File { id, mode, size } => {
            out.extend_from_slice(format!("file {mode:o} {size} {id} ").as_bytes());
        }
        Entry::NotKept { mode, size, mtime: (seconds, nanos) } => {
            out.extend_from_slice(format!("large {mode:o} {size} {seconds} {nanos} ").as_bytes());
        }
        Entry::Link(to) => {
            out.extend_from_slice(b"link ");
            escape(to, out);
            out.push(b' ');
        }
        Entry::Folder { id, mode } => out.extend_from_slice(format!("folder {mode:o} {id} ").as_bytes()),
    }
}

/// Reads what was kept of a folder. Nothing, if it is not exactly what [`encode`] writes: a name with a slash would lead
/// out of its folder.
pub(crate) fn decode(bytes: &[u8]) -> Option<Entries> {
    let mut entries = Entries::new();
    let Some(body) = bytes.strip_suffix(b"\n") else { return bytes.is_empty().then_some(entries) };
    for line in body.split(|byte| *byte == b'\n') {
        let mut words = line.split(|byte| *byte == b' ');
        let entry = take(&mut words)?;
        let name = unescape(words.next()?)?;
        let in_order = entries.last_key_value().is_none_or(|(last, _)| *last < name);
        if words.next().is_some() || !in_order || !is_name(&name) {
            return None;
        }
        entries.insert(name, entry);
    }
    Some(entries)
}

pub(crate) fn take<'a>(words: &mut impl Iterator<Item = &'a [u8]>) -> Option<Entry> {
    Some(match words.next()? {
        b"file" => {
            let (mode, size) = (mode(words.next()?)?, number(words.next()?)?);
            Entry::File { mode, size, id: ContentId::read(words.next()?)? }
        }
        b"large" => {
            let (mode, size) = (mode(words.next()?)?, number(words.next()?)?);
            Entry::NotKept { mode, size, mtime: (number(words.next()?)?, number(words.next()?)?) }
        }
        b"link" => Entry::Link(unescape(words.next()?)?),
        b"folder" => Entry::Folder { mode: mode(words.next()?)?, id: ContentId::read(words.next()?)? },
        _ => return None,
    })
}

/// Whether these bytes can be the name of an entry.
pub(crate) fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name != b"." && name != b".." && !name.contains(&b'/') && !name.contains(&0)
}

pub(crate) fn number<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

pub(crate) fn mode(word: &[u8]) -> Option<u32> {
    let mode = u32::from_str_radix(std::str::from_utf8(word).ok()?, 8).ok()?;
    (mode <= 0o7777).then_some(mode)
}

/// Writes bytes without spaces and line ends; all others stay as they are, also those that are no UTF-8.
pub(crate) fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        match byte {
            0..=b' ' | b'%' => out.extend_from_slice(format!("%{byte:02x}").as_bytes()),
            _ => out.push(*byte),
        }
    }
}

pub(crate) fn unescape(word: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' {
            let (digits, after) = rest.split_first_chunk::<2>()?;
            out.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            out.push(*byte);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_folder_is_kept_as_sorted_lines() {
        let id = ContentId::of(b"abc");
        let entries = Entries::from([
            (b"b c\n%".to_vec(), Entry::File { id, mode: 0o755, size: 3 }),
            (b"B\xff".to_vec(), Entry::NotKept { mode: 0o600, size: 11, mtime: (-1, 5) }),
            (b"a".to_vec(), Entry::Folder { id, mode: 0o2775 }),
            (b"z".to_vec(), Entry::Link(b"../to here".to_vec())),
        ]);
        let mut wanted = b"large 600 11 -1 5 B\xff\n".to_vec();
        let rest = format!("folder 2775 {id} a\nfile 755 3 {id} b%20c%0a%25\nlink ../to%20here z\n");
        wanted.extend_from_slice(rest.as_bytes());
        assert_eq!(encode(&entries), wanted);
        assert_eq!(decode(&wanted), Some(entries));
        assert_eq!(decode(b""), Some(Entries::new()));
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["..", ".", "a/b", "/a", "%2e%2e", "a%2fb", "%00", "", "a b", "%2", "%zz"] {
            assert_eq!(decode(format!("link x {name}\n").as_bytes()), None, "{name}");
        }
        for bad in
            ["link x a", "link x b\nlink x a\n", "link x a\nlink x a\n", "\n", "link x a\n\n", "what x a\n"]
        {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(decode(format!("file 10000 1 {} a\n", ContentId::of(b"")).as_bytes()), None);
    }

    fn entry() -> impl Strategy<Value = Entry> {
        let id = any::<u8>().prop_map(|byte| ContentId::of(&[byte]));
        prop_oneof![
            (id.clone(), 0..=0o777_u32, any::<u64>()).prop_map(|(id, mode, size)| Entry::File {
                id,
                mode,
                size
            }),
            (0..=0o777_u32, any::<u64>(), any::<(i64, i64)>())
                .prop_map(|(mode, size, mtime)| Entry::NotKept { mode, size, mtime }),
            prop::collection::vec(any::<u8>(), 0..9).prop_map(Entry::Link),
            (id, 0..=0o7777_u32).prop_map(|(id, mode)| Entry::Folder { id, mode }),
        ]
    }

    proptest! {
        #[test]
        fn folders_come_back(entries in prop::collection::btree_map(prop::collection::vec(any::<u8>(), 1..6), entry(), 0..6)) {
            let entries: Entries = entries.into_iter().filter(|(name, _)| is_name(name)).collect();
            prop_assert_eq!(decode(&encode(&entries)), Some(entries));
        }

        #[test]
        fn any_bytes_are_a_folder_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..80), lines in "((file|large|link|folder)[ 0-9a%./\n-]{0,30}\n){0,4}") {
            let _ = decode(&bytes);
            // What is read is all there is: nothing is dropped.
            if let Some(entries) = decode(lines.as_bytes()) {
                prop_assert_eq!(decode(&encode(&entries)), Some(entries));
            }
        }
    }
}
