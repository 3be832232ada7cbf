use image::ImageFormat;
use rail_image::{Format, ImageError, Size, measure};

use crate::pictures::{animation, encode, halves, jpeg_turned, noise, noise_with_alpha, png_claim};

fn check(bytes: &[u8], format: Format, width: u32, height: u32) {
    assert_eq!(measure(bytes), Ok((format, Size { width, height })));
}

#[test]
fn size_and_format_come_from_the_header() {
    check(&encode(noise(31, 7), ImageFormat::Png), Format::Png, 31, 7);
    check(&encode(noise(31, 7), ImageFormat::Jpeg), Format::Jpeg, 31, 7);
    check(&encode(noise(31, 7), ImageFormat::WebP), Format::WebP, 31, 7);
    check(&encode(noise_with_alpha(300, 2, 9), ImageFormat::WebP), Format::WebP, 300, 2);
    check(&animation(31, 7), Format::Gif, 31, 7);
    check(&encode(noise(31, 7), ImageFormat::Bmp), Format::Bmp, 31, 7);
    // As stored: the orientation does not swap the edges here.
    check(&jpeg_turned(halves(40, 20), 6), Format::Jpeg, 40, 20);
}

#[test]
fn the_other_kinds_of_bmp() {
    let upside_down = b"BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0\x2c\x01\0\0\xfd\xff\xff\xff";
    check(upside_down, Format::Bmp, 300, 3);
    let oldest = b"BM\0\0\0\0\0\0\0\0\0\0\0\0\x0c\0\0\0\x2c\x01\x03\0";
    check(oldest, Format::Bmp, 300, 3);
    let text = b"BM is how this text begins, and it is long enough";
    assert_eq!(measure(text), Err(ImageError::NotAnImage { length: text.len() }));
}

#[test]
fn the_other_kinds_of_webp() {
    let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x2c\x41\x03\x80";
    check(lossy, Format::WebP, 300, 3);
    let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\x2b\x01\x00\x02\0\0";
    check(extended, Format::WebP, 300, 3);
}

#[test]
fn a_claimed_size_costs_nothing() {
    check(&png_claim(u32::MAX, u32::MAX), Format::Png, u32::MAX, u32::MAX);
}

#[test]
fn jpeg_filling_and_stray_bytes_are_skipped() {
    let plain = encode(noise(31, 7), ImageFormat::Jpeg);
    check(&[&plain[..2], b"\xff\xff\xff", &plain[2..]].concat(), Format::Jpeg, 31, 7);
    check(&[&plain[..2], b"\xff\xd8\0\0\0", &plain[2..]].concat(), Format::Jpeg, 31, 7);
}

#[test]
fn every_cut_is_an_error_that_names_the_format() {
    for (format, bytes) in [
        (Format::Png, encode(noise(3, 3), ImageFormat::Png)),
        (Format::Jpeg, encode(noise(3, 3), ImageFormat::Jpeg)),
        (Format::WebP, encode(noise(3, 3), ImageFormat::WebP)),
        (Format::Gif, animation(3, 3)),
        (Format::Bmp, encode(noise(3, 3), ImageFormat::Bmp)),
    ] {
        for end in 0..bytes.len() {
            match measure(&bytes[..end]) {
                Ok(measured) => assert_eq!(measured, (format, Size { width: 3, height: 3 })),
                Err(ImageError::NotAnImage { length }) => {
                    assert!(length == end && end < 18, "{format} {end}")
                }
                Err(ImageError::BrokenHeader { format: named, .. }) => assert_eq!(named, format),
                Err(other) => panic!("{format} cut at {end}: {other}"),
            }
        }
    }
}

#[test]
fn what_is_no_image_is_refused() {
    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(measure(bytes).unwrap_err().to_string(), expected);
    }
    check(
        b"%PDF-1.7",
        "not an image: 8 bytes that start like none of PNG, JPEG, WebP, GIF and BMP; send it as a file or text instead",
    );
    check(
        b"",
        "not an image: 0 bytes that start like none of PNG, JPEG, WebP, GIF and BMP; send it as a file or text instead",
    );
    check(
        &png_claim(0, 5),
        "broken PNG header: an edge of 0 pixels; save the image again with another program",
    );
    check(
        b"\xff\xd8\xff\xda\0\x02",
        "broken JPEG header: its content starts before its size; save the image again with another program",
    );
    check(
        b"\xff\xd8\xff\xe0\0\x01",
        "broken JPEG header: a segment shorter than its own length field; save the image again with another program",
    );
    check(
        b"GIF89a\x01",
        "broken GIF header: cut short before its size; save the image again with another program",
    );
    check(
        b"RIFF\0\0\0\0WEBPALPH",
        "broken WebP header: its first chunk is none of VP8, VP8L and VP8X; save the image again with another program",
    );
}
