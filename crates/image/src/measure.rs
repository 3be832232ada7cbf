//! Format and size from the header alone.

use crate::{Format, ImageError, Size};

/// Format and size as the header tells them; nothing is decoded and nothing allocated.
///
/// The size is the stored one: an EXIF orientation may still swap its edges.
pub fn measure(bytes: &[u8]) -> Result<(Format, Size), ImageError> {
    let format = sniff(bytes).ok_or(ImageError::NotAnImage { length: bytes.len() })?;
    let size = match format {
        Format::Png => png(bytes),
        Format::Jpeg => jpeg(bytes),
        Format::WebP => webp(bytes),
        Format::Gif => gif(bytes),
        Format::Bmp => bmp(bytes),
    };
    match size {
        Ok(Size { width: 0, .. } | Size { height: 0, .. }) => {
            Err(ImageError::BrokenHeader { format, fault: "an edge of 0 pixels" })
        }
        Ok(size) => Ok((format, size)),
        Err(fault) => Err(ImageError::BrokenHeader { format, fault }),
    }
}

const CUT: &str = "cut short before its size";

fn sniff(bytes: &[u8]) -> Option<Format> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some(Format::Png)
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some(Format::Jpeg)
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some(Format::Gif)
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some(Format::WebP)
    } else if is_bmp(bytes) {
        Some(Format::Bmp)
    } else {
        None
    }
}

fn png(bytes: &[u8]) -> Result<Size, &'static str> {
    if array::<4>(bytes, 12)? != *b"IHDR" {
        return Err("its first chunk is not IHDR");
    }
    Ok(Size { width: u32::from_be_bytes(array(bytes, 16)?), height: u32::from_be_bytes(array(bytes, 20)?) })
}

fn gif(bytes: &[u8]) -> Result<Size, &'static str> {
    Ok(Size {
        width: u16::from_le_bytes(array(bytes, 6)?).into(),
        height: u16::from_le_bytes(array(bytes, 8)?).into(),
    })
}

/// Two letters begin many a text: the reserved bytes and the length of the header must be right as well.
fn is_bmp(bytes: &[u8]) -> bool {
    let header = |length: &[u8]| matches!(length, [12 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0]);
    bytes.starts_with(b"BM") && bytes.get(6..10) == Some(&[0; 4]) && bytes.get(14..18).is_some_and(header)
}

fn bmp(bytes: &[u8]) -> Result<Size, &'static str> {
    // The oldest header has edges of two bytes.
    if array::<4>(bytes, 14)? == [12, 0, 0, 0] {
        return Ok(Size {
            width: u16::from_le_bytes(array(bytes, 18)?).into(),
            height: u16::from_le_bytes(array(bytes, 20)?).into(),
        });
    }
    // Rows that go from top to bottom are a negative height.
    Ok(Size {
        width: i32::from_le_bytes(array(bytes, 18)?).unsigned_abs(),
        height: i32::from_le_bytes(array(bytes, 22)?).unsigned_abs(),
    })
}

fn webp(bytes: &[u8]) -> Result<Size, &'static str> {
    match &array::<4>(bytes, 12)? {
        b"VP8 " => {
            if array::<3>(bytes, 23)? != [0x9d, 0x01, 0x2a] {
                return Err("its VP8 chunk does not start with a key frame");
            }
            // The two high bits of each are a scaling hint for the display, not part of the size.
            let edge = |at| array(bytes, at).map(|raw| u32::from(u16::from_le_bytes(raw) & 0x3fff));
            Ok(Size { width: edge(26)?, height: edge(28)? })
        }
        b"VP8L" => {
            let [signature, packed @ ..] = array::<5>(bytes, 20)?;
            if signature != 0x2f {
                return Err("its VP8L chunk lacks the signature");
            }
            let packed = u32::from_le_bytes(packed);
            Ok(Size { width: (packed & 0x3fff) + 1, height: ((packed >> 14) & 0x3fff) + 1 })
        }
        b"VP8X" => {
            let edge = |at| {
                array(bytes, at).map(|[low, middle, high]| u32::from_le_bytes([low, middle, high, 0]) + 1)
            };
            Ok(Size { width: edge(24)?, height: edge(27)? })
        }
        _ => Err("its first chunk is none of VP8, VP8L and VP8X"),
    }
}

fn jpeg(bytes: &[u8]) -> Result<Size, &'static str> {
    let mut at = 2;
    loop {
        // Bytes between segments are skipped, and 0xff may be repeated as filling, as decoders do.
        at += rest(bytes, at)?.iter().position(|byte| *byte == 0xff).ok_or(CUT)?;
        at += rest(bytes, at)?.iter().position(|byte| *byte != 0xff).ok_or(CUT)?;
        let [marker] = array(bytes, at)?;
        at += 1;
        match marker {
            0x00 | 0x01 | 0xd0..=0xd8 => {}
            0xd9 => return Err("it ends before its size"),
            0xda => return Err("its content starts before its size"),
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Ok(Size {
                    width: u16::from_be_bytes(array(bytes, at + 5)?).into(),
                    height: u16::from_be_bytes(array(bytes, at + 3)?).into(),
                });
            }
            _ => {
                let length = u16::from_be_bytes(array(bytes, at)?);
                if length < 2 {
                    return Err("a segment shorter than its own length field");
                }
                at += usize::from(length);
            }
        }
    }
}

fn rest(bytes: &[u8], at: usize) -> Result<&[u8], &'static str> {
    bytes.get(at..).ok_or(CUT)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], &'static str> {
    rest(bytes, at)?.first_chunk().copied().ok_or(CUT)
}
