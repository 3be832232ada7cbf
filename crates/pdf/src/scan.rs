//! A look at the raw bytes, before anything unpacks them.

use memchr::memmem;

use crate::chain::{Step, unpacked};

/// How far from the beginning the mark of a PDF may stand.
const MARK_WITHIN: usize = 1024;
/// How long a dictionary before a stream is looked at.
const DICTIONARY: usize = 64 << 10;

/// Whether the mark of a PDF stands where readers look for it.
pub(crate) fn begins_like_a_pdf(bytes: &[u8]) -> bool {
    memmem::find(&bytes[..bytes.len().min(MARK_WITHIN)], b"%PDF-").is_some()
}

/// Whether a stream in these bytes unpacks to more than this. Tables of objects are unpacked as soon as a file is opened, so every
/// stream is looked at; what is encrypted can't be seen here.
pub(crate) fn unpacks_beyond(bytes: &[u8], most: u64) -> bool {
    let mut at = 0;
    while let Some(found) = memmem::find(&bytes[at..], b"stream") {
        let begin = at + found + b"stream".len();
        let dictionary = &bytes[at.max((at + found).saturating_sub(DICTIONARY))..at + found];
        at = begin;
        if dictionary.ends_with(b"end") {
            continue;
        }
        let data = &bytes[begin..];
        let data = data.strip_prefix(b"\r").unwrap_or(data);
        let data = data.strip_prefix(b"\n").unwrap_or(data);
        let data = &data[..memmem::find(data, b"endstream").unwrap_or(data.len())];
        if unpacked(data, &steps(dictionary), most).is_err() {
            return true;
        }
    }
    false
}

/// The steps that a dictionary names, as far as it says so itself.
fn steps(dictionary: &[u8]) -> Vec<Step> {
    // Only the dictionary of this object.
    let begin = memmem::rfind(dictionary, b"obj").unwrap_or(0);
    let names = names(&dictionary[begin..]);
    let steps: Vec<Step> = names.iter().filter_map(|name| step(name)).collect();
    let has_filter = names.iter().any(|name| matches!(name.as_slice(), b"Filter" | b"F"));
    // The name may stand elsewhere.
    if steps.is_empty() && has_filter { vec![Step::Flate] } else { steps }
}

/// The step that a name stands for.
pub(crate) fn step(name: &[u8]) -> Option<Step> {
    Some(match name {
        b"FlateDecode" | b"Fl" => Step::Flate,
        b"LZWDecode" | b"LZW" => Step::Lzw,
        b"RunLengthDecode" | b"RL" => Step::RunLength,
        b"ASCII85Decode" | b"A85" => Step::Ascii85,
        b"ASCIIHexDecode" | b"AHx" => Step::AsciiHex,
        b"DCTDecode" | b"DCT" | b"JPXDecode" | b"JBIG2Decode" | b"CCITTFaxDecode" | b"CCF" => Step::Other,
        _ => return None,
    })
}

/// All names in a dictionary, with their escapes undone.
fn names(dictionary: &[u8]) -> Vec<Vec<u8>> {
    let parts = dictionary.split(|byte| *byte == b'/').skip(1);
    parts
        .map(|part| {
            let end = part.iter().position(|byte| byte.is_ascii_whitespace() || b"<>[]()/%\0".contains(byte));
            unescaped(&part[..end.unwrap_or(part.len())])
        })
        .collect()
}

fn unescaped(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let [byte, after @ ..] = rest {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (byte, digit(0), digit(1)) {
            (b'#', Some(high), Some(low)) => {
                out.push(u8::try_from(high << 4 | low).unwrap_or_default());
                rest = &after[2..];
            }
            _ => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_of_a_stream_are_read_from_its_dictionary() {
        let cases: [(&[u8], &[Step]); 6] = [
            (b"1 0 obj <</Length 5/Filter/FlateDecode>>\n", &[Step::Flate]),
            (b"1 0 obj <</Filter [ /ASCII85Decode /FlateDecode ] /Length 5>>", &[Step::Ascii85, Step::Flate]),
            (b"1 0 obj <</Filter /#46late#44ecode>>", &[Step::Flate]),
            (b"/FlateDecode endobj 2 0 obj <</Length 3>>", &[]),
            (b"1 0 obj <</Filter 7 0 R>>", &[Step::Flate]),
            (b"1 0 obj <</Subtype/Image/Filter/DCTDecode>>", &[Step::Other]),
        ];
        for (dictionary, expected) in cases {
            assert_eq!(steps(dictionary), expected, "{}", String::from_utf8_lossy(dictionary));
        }
    }
}
