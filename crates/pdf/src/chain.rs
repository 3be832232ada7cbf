//! How much the packed bytes of a stream come to, without keeping them.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::bufread::DeflateDecoder;

/// One step of unpacking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Deflate, with or without the frame of zlib.
    Flate,
    /// LZW.
    Lzw,
    /// Bytes that are repeated.
    RunLength,
    /// Base 85.
    Ascii85,
    /// Base 16.
    AsciiHex,
    /// A picture, which is judged by its pixels, or encryption, which packs nothing.
    Other,
}

/// A stream unpacks to more than was allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Beyond;

/// Deflate packs no better than this.
pub(crate) const FLATE_RATIO: u64 = 1032;
/// A full table of LZW, each entry one byte longer than the one before, comes to no more.
const LZW_RATIO: u64 = 1400;

/// How many bytes a stream unpacks to, step by step, if no step gives more than `most`.
pub(crate) fn unpacked(data: &[u8], steps: &[Step], most: u64) -> Result<u64, Beyond> {
    let mut data = Cow::Borrowed(data);
    for (index, step) in steps.iter().enumerate() {
        let last = index + 1 == steps.len();
        let length = data.len() as u64;
        let next = match step {
            Step::Flate if last && length.saturating_mul(FLATE_RATIO) <= most => {
                return Ok(length * FLATE_RATIO);
            }
            Step::Flate if last => return inflated(&data, most, &mut io::sink()),
            Step::Flate => {
                let mut out = Vec::new();
                inflated(&data, most, &mut out)?;
                out
            }
            // Old files have it, and none of them packs anything twice.
            Step::Lzw if last => return lzw(&data, most),
            Step::Lzw if length.saturating_mul(LZW_RATIO).saturating_mul(FLATE_RATIO) <= most => {
                return Ok(most);
            }
            Step::Lzw => return Err(Beyond),
            Step::RunLength => repeated(&data, most)?,
            Step::Ascii85 => base85(&data),
            Step::AsciiHex => base16(&data),
            Step::Other => return Ok(length),
        };
        data = Cow::Owned(next);
        if data.len() as u64 > most {
            return Err(Beyond);
        }
    }
    Ok(data.len() as u64)
}

/// Unpacks deflate as far as it goes.
fn inflated(data: &[u8], most: u64, out: &mut dyn io::Write) -> Result<u64, Beyond> {
    let framed =
        data.len() >= 2 && data[0] & 0x0f == 8 && (u16::from(data[0]) << 8 | u16::from(data[1])) % 31 == 0;
    let body = if framed { &data[2..] } else { data };
    let mut decoder = DeflateDecoder::new(body).take(most.saturating_add(1));
    let mut buffer = vec![0; 64 << 10];
    let mut length = 0;
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                length += read as u64;
                let _ = out.write_all(&buffer[..read]);
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            // A reader that is more patient with errors may find anything behind this one.
            Err(_) if (data.len() as u64).saturating_mul(FLATE_RATIO) > most => return Err(Beyond),
            Err(_) => break,
        }
    }
    if length > most { Err(Beyond) } else { Ok(length) }
}

/// The length that LZW comes to; what it says is of no interest.
fn lzw(data: &[u8], most: u64) -> Result<u64, Beyond> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    let mut lengths: Vec<u64> = Vec::new();
    let (mut bits, mut held, mut width) = (0_u64, 0_u32, 9_u32);
    let (mut total, mut before) = (0_u64, 0_u64);
    for byte in data {
        bits = (bits << 8 | u64::from(*byte)) & 0xff_ffff;
        held += 8;
        if held < width {
            continue;
        }
        held -= width;
        let code = (bits >> held) as usize & ((1 << width) - 1);
        match code {
            CLEAR => {
                lengths.clear();
                before = 0;
            }
            END => break,
            _ => {
                let length = match code.checked_sub(END + 1) {
                    None => 1,
                    Some(entry) => lengths.get(entry).copied().unwrap_or(before + 1),
                };
                total += length;
                if before > 0 && lengths.len() < 4096 - END {
                    lengths.push(before + 1);
                }
                before = length;
            }
        }
        // Some writers change the width one code early; the length is the same within a few bytes.
        width = match lengths.len() + END + 2 {
            0..=511 => 9,
            512..=1023 => 10,
            1024..=2047 => 11,
            _ => 12,
        };
        if total > most {
            return Err(Beyond);
        }
    }
    Ok(total)
}

fn repeated(data: &[u8], most: u64) -> Result<Vec<u8>, Beyond> {
    let mut out = Vec::new();
    let mut rest = data;
    while let [length, after @ ..] = rest {
        let length = usize::from(*length);
        match length {
            128 => break,
            0..=127 => {
                let taken = (length + 1).min(after.len());
                out.extend_from_slice(&after[..taken]);
                rest = &after[taken..];
            }
            _ => {
                let [byte, after @ ..] = after else { break };
                out.extend(std::iter::repeat_n(*byte, 257 - length));
                rest = after;
            }
        }
        if out.len() as u64 > most {
            return Err(Beyond);
        }
    }
    Ok(out)
}

fn base85(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    let (mut group, mut count) = (0_u32, 0_u32);
    for byte in data {
        match byte {
            b'z' if count == 0 => out.extend([0; 4]),
            b'!'..=b'u' => {
                group = group.wrapping_mul(85).wrapping_add(u32::from(byte - b'!'));
                count += 1;
                if count == 5 {
                    out.extend(group.to_be_bytes());
                    (group, count) = (0, 0);
                }
            }
            b'~' => break,
            _ => {}
        }
    }
    if count > 1 {
        let group = (count..5).fold(group, |group, _| group.wrapping_mul(85).wrapping_add(84));
        out.extend(group.to_be_bytes().into_iter().take(count as usize - 1));
    }
    out
}

fn base16(data: &[u8]) -> Vec<u8> {
    let digits =
        data.iter().take_while(|byte| **byte != b'>').filter_map(|byte| char::from(*byte).to_digit(16));
    let digits: Vec<u8> = digits.filter_map(|digit| u8::try_from(digit).ok()).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn packed(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn what_a_stream_unpacks_to_is_known_before_it_is() {
        let zeros = vec![0; 3_000_000];
        let once = packed(&zeros);
        let twice = packed(&once);
        type Case<'a> = (&'a [u8], &'a [Step], Result<u64, Beyond>);
        let cases: [Case<'_>; 9] = [
            (b"abc", &[], Ok(3)),
            (&once, &[Step::Flate], Err(Beyond)),
            (&twice, &[Step::Flate, Step::Flate], Err(Beyond)),
            (b"9jqo^~>", &[Step::Ascii85], Ok(4)),
            (b"9jqo^BlbD-~>", &[Step::Ascii85], Ok(8)),
            (b"4a 4B4>", &[Step::AsciiHex], Ok(3)),
            (&[4, 1, 2, 3, 4, 5, 253, 9, 128], &[Step::RunLength], Ok(9)),
            (&[129, 0].repeat(20_000), &[Step::RunLength], Err(Beyond)),
            // The specification's own example.
            (&[0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01], &[Step::Lzw], Ok(10)),
        ];
        for (data, steps, expected) in cases {
            assert_eq!(unpacked(data, steps, 2_000_000), expected, "{steps:?}");
        }
        // What can't be more than is allowed is not looked at.
        assert_eq!(unpacked(&once, &[Step::Flate], 3_000_000), Ok(3_000_000));
        assert!(unpacked(&twice, &[Step::Flate, Step::Flate], 3_100_000).is_ok());
    }

    #[test]
    fn an_error_at_the_beginning_hides_nothing() {
        let mut bomb = packed(&vec![0; 30_000_000]);
        bomb[2] = 0xff;
        assert_eq!(unpacked(&bomb, &[Step::Flate], 1_000_000), Err(Beyond));
    }
}
