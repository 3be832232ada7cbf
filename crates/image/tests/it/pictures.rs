//! Pictures to test with.

use std::io::Cursor;

use image::codecs::gif::{GifEncoder, Repeat};
use image::{Delay, DynamicImage, Frame, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};

/// Pixels that no encoder can make small.
pub(crate) fn noise(width: u32, height: u32) -> RgbImage {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    RgbImage::from_fn(width, height, |_, _| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let [red, green, blue, ..] = state.to_le_bytes();
        Rgb([red, green, blue])
    })
}

/// The same noise with an alpha channel of one value.
pub(crate) fn noise_with_alpha(width: u32, height: u32, alpha: u8) -> RgbaImage {
    let opaque = noise(width, height);
    RgbaImage::from_fn(width, height, |x, y| {
        let Rgb([red, green, blue]) = *opaque.get_pixel(x, y);
        Rgba([red, green, blue, alpha])
    })
}

/// Red on the left, blue on the right.
pub(crate) fn halves(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, _| if x < width / 2 { RED } else { BLUE })
}

pub(crate) const RED: Rgb<u8> = Rgb([255, 0, 0]);
pub(crate) const BLUE: Rgb<u8> = Rgb([0, 0, 255]);

pub(crate) fn encode(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A GIF whose frames are red, then blue.
pub(crate) fn animation(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = GifEncoder::new(&mut bytes);
    encoder.set_repeat(Repeat::Infinite).unwrap();
    for color in [RED, BLUE] {
        let Rgb([red, green, blue]) = color;
        let picture = RgbaImage::from_pixel(width, height, Rgba([red, green, blue, 255]));
        encoder.encode_frame(Frame::from_parts(picture, 0, 0, Delay::from_numer_denom_ms(100, 1))).unwrap();
    }
    drop(encoder);
    bytes
}

/// A JPEG with an EXIF segment that says how to turn it.
pub(crate) fn jpeg_turned(picture: RgbImage, orientation: u8) -> Vec<u8> {
    let plain = encode(picture, ImageFormat::Jpeg);
    let mut exif = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01".to_vec();
    exif.extend([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]);
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    [&plain[..2], b"\xff\xe1", &length, &exif, &plain[2..]].concat()
}

/// The start of a PNG that claims a size; nothing follows.
pub(crate) fn png_claim(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}
