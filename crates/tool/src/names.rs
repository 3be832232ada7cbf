//! Names of files as texts, and back: a name may hold any bytes, a text for a model may not.

use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// A path as a text that a tool takes back: bytes that are no text and control characters are written `\xNN`.
pub fn shown(path: &Path) -> String {
    let mut out = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        let text = chunk.valid();
        for (at, c) in text.char_indices() {
            // What already looks like an escape is escaped, so that it is not taken for one.
            let looks_escaped =
                c == '\\' && text.get(at..).is_some_and(|rest| escaped(rest.as_bytes()).is_some());
            if looks_escaped || c.is_ascii_control() {
                escape(u32::from(c), &mut out);
            } else {
                out.push(c);
            }
        }
        for byte in chunk.invalid() {
            escape(u32::from(*byte), &mut out);
        }
    }
    out
}

/// The name that a text of [`shown`] stands for.
pub(crate) fn meant(written: &str) -> OsString {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.as_bytes();
    while let [first, after @ ..] = rest {
        match escaped(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = rest.get(4..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes)
}

/// The byte that stands escaped at the beginning; only those that are ever escaped, and never a zero, which no name holds.
fn escaped(text: &[u8]) -> Option<u8> {
    let [b'\\', b'x', high, low, ..] = text else { return None };
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    let byte = digit(*high)? * 16 + digit(*low)?;
    matches!(byte, 1..=0x1f | b'\\' | 0x7f..).then_some(byte)
}

fn escape(byte: u32, out: &mut String) {
    // A text takes whatever is written to it.
    let _ = write!(out, "\\x{byte:02x}");
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_shown_as_texts() {
        let cases: [(&[u8], &str); 6] = [
            (b"/a/b.rs", "/a/b.rs"),
            ("/a/ä b.rs".as_bytes(), "/a/ä b.rs"),
            (b"/a/caf\xe9.txt", "/a/caf\\xe9.txt"),
            (b"/a/two\nlines\x1b", "/a/two\\x0alines\\x1b"),
            (b"/a/back\\slash\\x41", "/a/back\\slash\\x41"),
            (b"/a/\\xe9", "/a/\\x5cxe9"),
        ];
        for (bytes, text) in cases {
            assert_eq!(shown(Path::new(OsStr::from_bytes(bytes))), text);
            assert_eq!(meant(text).as_bytes(), bytes);
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_taken_back(bytes in prop::collection::vec(1_u8.., 0..40)) {
            prop_assert_eq!(meant(&shown(Path::new(OsStr::from_bytes(&bytes)))).into_vec(), bytes);
        }

        #[test]
        fn so_are_names_that_look_like_escapes(name in "[\\\\x0-9a-fA-F\u{e9}]{0,12}") {
            prop_assert_eq!(meant(&shown(Path::new(&name))), OsString::from(&name));
        }
    }
}
