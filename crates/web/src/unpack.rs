//! Takes packed bodies apart, within bounds.

use std::io::Read;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

/// What is asked for.
pub(crate) const ACCEPTED: &str = "gzip, deflate, br, zstd";
/// So much may come of any body, whatever its ratio: a short page of blanks packs well.
const ALWAYS: usize = 1 << 20;
/// RFC 9659: what a sender may ask a reader of HTTP to keep.
const MAX_WINDOW: u64 = 8 << 20;
/// Nobody packs an answer more than twice.
const MAX_LAYERS: usize = 3;

/// How much may come of a packed body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    pub(crate) bytes: usize,
    /// Times the packed bytes.
    pub(crate) ratio: usize,
}

/// Whether a body is here whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    Whole,
    /// It was longer than we read.
    Cut,
}

/// Why a packed body can't be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Damage {
    /// The bytes are not what the header says, or end too early.
    #[error("its {0} compression is damaged or was cut short")]
    Broken(&'static str),
    /// It unpacks to more than is read.
    #[error("it unpacks to more than {0} bytes, far more than was sent")]
    TooLarge(usize),
    /// An encoding that we have no decoder for.
    #[error("it is compressed in a way that was not asked for and can't be read")]
    Unknown,
}

/// The body without what the value of its `content-encoding` header says.
pub(crate) fn unpack(header: &str, bytes: Vec<u8>, extent: Extent, room: Room) -> Result<Vec<u8>, Damage> {
    let names: Vec<String> = header
        .split(',')
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !matches!(name.as_str(), "" | "identity"))
        .collect();
    if names.len() > MAX_LAYERS {
        return Err(Damage::Unknown);
    }
    // An empty body is no damage, whatever it claims to be packed with.
    if bytes.is_empty() {
        return Ok(bytes);
    }
    let most = room.bytes.min(bytes.len().saturating_mul(room.ratio).max(ALWAYS));
    names.iter().rev().try_fold(bytes, |bytes, name| layer(name, &bytes, extent, most))
}

fn layer(name: &str, bytes: &[u8], extent: Extent, most: usize) -> Result<Vec<u8>, Damage> {
    match name {
        "gzip" | "x-gzip" => drained("gzip", MultiGzDecoder::new(bytes), extent, most),
        // `deflate` should mean zlib, and is raw deflate with some servers; the first two bytes tell.
        "deflate" => match bytes {
            [first, second, ..]
                if first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0 =>
            {
                drained("deflate", ZlibDecoder::new(bytes), extent, most)
            }
            _ => drained("deflate", DeflateDecoder::new(bytes), extent, most),
        },
        "br" => brotli(bytes, extent, most),
        "zstd" => zstd(bytes, extent, most),
        _ => Err(Damage::Unknown),
    }
}

fn drained(name: &'static str, mut from: impl Read, extent: Extent, most: usize) -> Result<Vec<u8>, Damage> {
    let mut out = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(out),
            Ok(read) => out.extend(buffer.iter().take(read)),
            // What we cut ourselves ends in the middle of something.
            Err(_) if extent == Extent::Cut => return Ok(out),
            Err(_) => return Err(Damage::Broken(name)),
        }
        if out.len() > most {
            return Err(Damage::TooLarge(most));
        }
    }
}

fn brotli(bytes: &[u8], extent: Extent, most: usize) -> Result<Vec<u8>, Damage> {
    let alloc = StandardAlloc::default;
    // Strict is the window of RFC 7932, at most 16 MiB; the large one would let a header ask for a gigabyte.
    let mut state = BrotliState::new_strict(alloc(), alloc(), alloc());
    let (mut left, mut at, mut total) = (bytes.len(), 0, 0);
    let mut buffer = vec![0; 64 << 10];
    let mut out = Vec::new();
    loop {
        let (mut room, mut given) = (buffer.len(), 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut at,
            bytes,
            &mut room,
            &mut given,
            &mut buffer,
            &mut total,
            &mut state,
        );
        out.extend(buffer.iter().take(given));
        if out.len() > most {
            return Err(Damage::TooLarge(most));
        }
        match (result, extent) {
            (BrotliResult::ResultSuccess, _) => return Ok(out),
            (BrotliResult::NeedsMoreOutput, _) => {}
            (BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure, Extent::Cut) => return Ok(out),
            (BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure, Extent::Whole) => {
                return Err(Damage::Broken("br"));
            }
        }
    }
}

fn zstd(mut bytes: &[u8], extent: Extent, most: usize) -> Result<Vec<u8>, Damage> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        if let Some(rest) = behind_skippable(bytes) {
            bytes = rest;
            continue;
        }
        let mut decoder = match StreamingDecoder::new_with_max_window_size(bytes, MAX_WINDOW) {
            Ok(decoder) => decoder,
            Err(_) if extent == Extent::Cut => return Ok(out),
            Err(_) => return Err(Damage::Broken("zstd")),
        };
        let room = most.saturating_sub(out.len());
        out.append(&mut drained("zstd", &mut decoder, extent, room)?);
        bytes = decoder.into_inner();
    }
    Ok(out)
}

/// What stands behind a frame that is for somebody else (RFC 8878, 3.1.2).
fn behind_skippable(bytes: &[u8]) -> Option<&[u8]> {
    let (magic, rest) = bytes.split_first_chunk::<4>()?;
    if u32::from_le_bytes(*magic) & 0xFFFF_FFF0 != 0x184D_2A50 {
        return None;
    }
    let (size, rest) = rest.split_first_chunk::<4>()?;
    Some(rest.get(usize::try_from(u32::from_le_bytes(*size)).ok()?..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;

    use super::*;

    const ROOM: Room = Room { bytes: 4 << 20, ratio: 200 };

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd_of(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn what_was_packed_comes_back() {
        let text = "Straße, schön. ".repeat(500).into_bytes();
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(&text).unwrap();
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
        raw.write_all(&text).unwrap();
        let twice = [zstd_of(&text[..100]), zstd_of(&text[100..])].concat();
        let mut skipped = vec![0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        skipped.extend(zstd_of(&text));
        for (header, bytes) in [
            ("", text.clone()),
            ("identity", text.clone()),
            ("gzip", gzip(&text)),
            ("X-GZip", gzip(&text)),
            ("gzip, gzip", gzip(&gzip(&text))),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", raw.finish().unwrap()),
            ("zstd", zstd_of(&text)),
            ("zstd", twice),
            ("zstd", skipped),
        ] {
            assert!(unpack(header, bytes, Extent::Whole, ROOM).unwrap() == text, "{header}");
        }
        // `Hello, brotli!` as the reference encoder has it.
        let brotli = b"\x8b\x06\x80Hello, brotli!\x03".to_vec();
        assert_eq!(unpack("br", brotli, Extent::Whole, ROOM).unwrap(), b"Hello, brotli!");
        assert_eq!(unpack("br", Vec::new(), Extent::Whole, ROOM).unwrap(), b"");
    }

    #[test]
    fn what_is_broken_says_so() {
        let mut packed = gzip(&b"abc".repeat(1000));
        packed.truncate(packed.len() - 10);
        assert_eq!(unpack("gzip", packed.clone(), Extent::Whole, ROOM), Err(Damage::Broken("gzip")));
        assert!(unpack("gzip", packed, Extent::Cut, ROOM).unwrap().starts_with(b"abcabc"));
        let mut packed = zstd_of(&b"abc".repeat(1000));
        packed.truncate(packed.len() - 6);
        assert_eq!(unpack("zstd", packed, Extent::Whole, ROOM), Err(Damage::Broken("zstd")));
        assert_eq!(unpack("br", b"\x8b\x06\x80Hel".to_vec(), Extent::Whole, ROOM), Err(Damage::Broken("br")));
        assert_eq!(unpack("compress", vec![1], Extent::Whole, ROOM), Err(Damage::Unknown));
        assert_eq!(unpack("gzip,gzip,gzip,gzip", vec![1], Extent::Whole, ROOM), Err(Damage::Unknown));
    }

    #[test]
    fn bombs_end_at_the_limit() {
        let zeros = vec![0; 8 << 20];
        assert_eq!(
            unpack("gzip", gzip(&zeros), Extent::Whole, ROOM),
            Err(Damage::TooLarge(gzip(&zeros).len() * 200))
        );
        let twice = gzip(&gzip(&vec![0; 64 << 20]));
        assert_eq!(unpack("gzip, gzip", twice, Extent::Whole, ROOM), Err(Damage::TooLarge(1 << 20)));
        let packed = zstd_of(&zeros);
        assert!(matches!(unpack("zstd", packed, Extent::Whole, ROOM), Err(Damage::TooLarge(_))));
        let room = Room { bytes: 5, ratio: 200 };
        let brotli = b"\x8b\x06\x80Hello, brotli!\x03".to_vec();
        assert_eq!(unpack("br", brotli, Extent::Whole, room), Err(Damage::TooLarge(5)));
    }

    proptest! {
        #[test]
        fn any_bytes_end_within_the_room(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            header in prop::sample::select(vec!["gzip", "deflate", "br", "zstd", "br, gzip"]),
            head in prop::sample::select(vec![&b""[..], b"\x1f\x8b\x08\0\0\0\0\0\0\x03", b"\x28\xb5\x2f\xfd", b"\x78\x9c"]),
        ) {
            let bytes = [head, &bytes].concat();
            for extent in [Extent::Whole, Extent::Cut] {
                if let Ok(out) = unpack(header, bytes.clone(), extent, ROOM) {
                    prop_assert!(out.len() <= ROOM.bytes);
                }
            }
        }
    }
}
