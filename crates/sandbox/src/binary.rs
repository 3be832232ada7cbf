//! Output that is not text: where it is, and what is said instead of it.

use std::ops::Range;

use crate::screen::shown;

/// Fewer odd bytes than this are a slip in a text.
const SLIPS: usize = 4;
/// A stretch of this many bytes can be binary in the middle of a text.
const STRETCH: usize = 64;

/// The text of some output; what is binary in it is described.
pub(crate) fn text(bytes: &[u8]) -> String {
    let Some(binary) = binary(bytes) else { return shown(bytes) };
    let part = |range: Range<usize>| bytes.get(range).unwrap_or_default();
    let mut text = shown(part(0..binary.start));
    text.push_str(&describe(part(binary.clone())));
    let after = shown(part(binary.end..bytes.len()));
    if !after.is_empty() {
        text.push('\n');
        text.push_str(&after);
    }
    text
}

fn describe(bytes: &[u8]) -> String {
    let kind = KINDS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| *kind);
    let kind = kind.map(|kind| format!(", {kind}")).unwrap_or_default();
    let first: Vec<String> = bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!(
        "[{} bytes of binary output{kind}, beginning {}; write it to a file, or look at it with `file` or `xxd`]",
        bytes.len(),
        first.join(" ")
    )
}

/// How files of some kinds begin.
const KINDS: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "an ELF program"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"SQLite format 3\0", "an SQLite database"),
];

/// The lines that are not text, if there are so many odd bytes in them that nobody could read them.
fn binary(bytes: &[u8]) -> Option<Range<usize>> {
    let (mut odd, mut first, mut last) = (0, None, 0);
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        for (offset, byte) in chunk.valid().bytes().enumerate() {
            if is_odd(byte) {
                odd += 1;
                first.get_or_insert(at + offset);
                last = at + offset;
            }
        }
        at += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            odd += chunk.invalid().len();
            first.get_or_insert(at);
            at += chunk.invalid().len();
            last = at - 1;
        }
    }
    let first = first?;
    let stretch = last + 1 - first;
    let dense = odd * 10 > bytes.len() || (stretch >= STRETCH && odd * 10 > stretch);
    if odd < SLIPS || !dense {
        return None;
    }
    let before = bytes.get(..first).unwrap_or_default();
    let after = bytes.get(last..).unwrap_or_default();
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let end = after.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| last + at + 1);
    Some(start..end)
}

/// A byte that no text for a terminal has.
fn is_odd(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x07 | 0x08 | 0x0b | 0x0c | 0x1b)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn binary_output_is_described_and_text_around_it_kept() {
        for (bytes, expected) in [
            (&b"text\n"[..], "text\n"),
            (b"one \xff slip\n", "one \u{fffd} slip\n"),
            (
                b"A=1\0B=2\0C=3 and a long value\0D=some more text\0",
                "A=1␀B=2␀C=3 and a long value␀D=some more text␀",
            ),
            (
                b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01",
                "[24 bytes of binary output, a PNG image, beginning 89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52; write it to a file, or look at it with `file` or `xxd`]",
            ),
            (
                b"before\n\0\x01\x02\x03\x04 x\nafter\n",
                "before\n[8 bytes of binary output, beginning 00 01 02 03 04 20 78 0a; write it to a file, or look at it with `file` or `xxd`]\nafter\n",
            ),
        ] {
            assert_eq!(text(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_picture_in_a_long_text_is_found() {
        let line = b"a line of text that is quite long\n".repeat(200);
        let picture: Vec<u8> = (0..=255).cycle().skip(128).take(400).collect();
        let all = [line.clone(), picture, b"\n".to_vec(), line.clone()].concat();
        let said = text(&all);
        assert!(said.len() < 2 * line.len() + 300, "{}", said.len());
        assert!(said.contains("bytes of binary output"));
    }

    proptest! {
        #[test]
        fn anything_has_a_text(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(text(&bytes).chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
        }
    }
}
