use image::{DynamicImage, ImageFormat, Rgb};
use rail_image::{Bounds, ImageError, Shrunk, Size, measure, shrink, shrink_smallest};

use crate::pictures::{
    BLUE, RED, animation, encode, halves, jpeg_turned, noise, noise_with_alpha, png_claim,
};

const WIDE: Bounds = Bounds { max_bytes: usize::MAX, max_edge: u32::MAX, max_pixels: u64::MAX };

/// Shrinks and checks what holds of every answer: within bounds, as measured, decodable.
fn shrunk(bytes: &[u8], bounds: Bounds) -> Shrunk {
    let shrunk = shrink(bytes, &bounds).unwrap();
    assert!(shrunk.bytes.len() <= bounds.max_bytes, "{} bytes", shrunk.bytes.len());
    assert!(shrunk.size.edge() <= bounds.max_edge && shrunk.size.pixels() <= bounds.max_pixels);
    let (format, size) = measure(&shrunk.bytes).unwrap();
    assert_eq!((format.mime(), size), (shrunk.mime, shrunk.size));
    assert_eq!(shrunk.changed, shrunk.bytes != bytes);
    decoded(&shrunk);
    shrunk
}

fn decoded(shrunk: &Shrunk) -> DynamicImage {
    image::load_from_memory(&shrunk.bytes).unwrap()
}

fn close(left: Rgb<u8>, right: Rgb<u8>) -> bool {
    left.0.iter().zip(right.0).all(|(left, right)| left.abs_diff(right) < 40)
}

#[test]
fn within_bounds_is_handed_back() {
    for bytes in [
        encode(noise(20, 10), ImageFormat::Png),
        encode(noise(20, 10), ImageFormat::Jpeg),
        encode(noise(20, 10), ImageFormat::WebP),
        animation(20, 10),
        jpeg_turned(halves(20, 10), 6),
    ] {
        let exact = Bounds { max_bytes: bytes.len(), max_edge: 20, max_pixels: 200 };
        let same = shrunk(&bytes, exact);
        assert!(!same.changed);
        assert_eq!(same.size, Size { width: 20, height: 10 });
    }
}

#[test]
fn a_bitmap_becomes_what_providers_take() {
    let same_size = shrunk(&encode(halves(20, 10), ImageFormat::Bmp), WIDE);
    assert_eq!((same_size.mime, same_size.size), ("image/png", Size { width: 20, height: 10 }));
    assert_eq!(decoded(&same_size).into_rgb8(), halves(20, 10));
    let broken = b"BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0\x2c\x01\0\0\x03\0\0\0";
    assert!(matches!(shrink(broken, &WIDE), Err(ImageError::Undecodable { .. })));
}

#[test]
fn the_smaller_of_png_and_jpeg() {
    let bounds = Bounds { max_edge: 40, ..WIDE };
    let kind = |bytes: &[u8]| shrink_smallest(bytes, &bounds).unwrap().mime;
    assert_eq!(kind(&encode(noise(80, 80), ImageFormat::Png)), "image/jpeg");
    assert_eq!(kind(&encode(halves(80, 80), ImageFormat::Png)), "image/png");
    assert_eq!(kind(&encode(noise_with_alpha(80, 80, 9), ImageFormat::Png)), "image/png");
    assert_eq!(shrunk(&encode(noise(80, 80), ImageFormat::Png), bounds).mime, "image/png");
}

#[test]
fn one_over_any_bound_changes_it() {
    let bytes = encode(noise(20, 10), ImageFormat::Png);
    let exact = Bounds { max_bytes: bytes.len(), max_edge: 20, max_pixels: 200 };
    for bounds in [
        Bounds { max_bytes: bytes.len() - 1, ..exact },
        Bounds { max_edge: 19, ..exact },
        Bounds { max_pixels: 199, ..exact },
    ] {
        assert!(shrunk(&bytes, bounds).changed, "{bounds:?}");
    }
}

#[test]
fn the_shape_is_kept() {
    fn check(from: (u32, u32), max_edge: u32, max_pixels: u64, to: (u32, u32)) {
        let bytes = encode(halves(from.0, from.1), ImageFormat::Png);
        let size = shrunk(&bytes, Bounds { max_edge, max_pixels, ..WIDE }).size;
        assert_eq!((size.width, size.height), to, "{from:?} to edge {max_edge}, pixels {max_pixels}");
    }
    check((300, 200), 150, u64::MAX, (150, 100));
    check((200, 300), 150, u64::MAX, (100, 150));
    check((300, 200), 299, u64::MAX, (299, 199));
    check((300, 200), 298, u64::MAX, (298, 199));
    check((300, 200), u32::MAX, 15_000, (150, 100));
    check((300, 200), u32::MAX, 14_999, (149, 99));
    check((300, 200), 30, 15_000, (30, 20));
    check((1000, 1), 10, u64::MAX, (10, 1));
    check((1, 1000), u32::MAX, 7, (1, 7));
    check((3, 1000), u32::MAX, 5, (1, 5));
    check((300, 200), 1, 1, (1, 1));
}

#[test]
fn the_format_follows_alpha_and_room() {
    fn check(what: &str, bytes: &[u8], max_bytes: usize, mime: &str, size: Option<u32>) {
        let shrunk = shrunk(bytes, Bounds { max_bytes, max_edge: 64, ..WIDE });
        assert_eq!(shrunk.mime, mime, "{what}");
        if let Some(edge) = size {
            assert_eq!(shrunk.size.edge(), edge, "{what}");
        }
    }
    let opaque = encode(noise(80, 80), ImageFormat::Png);
    check("opaque PNG with room", &opaque, usize::MAX, "image/png", Some(64));
    check("opaque PNG without", &opaque, 8_000, "image/jpeg", Some(64));
    check("opaque PNG with hardly any", &opaque, 1_000, "image/jpeg", None);
    let idle = encode(noise_with_alpha(80, 80, 255), ImageFormat::Png);
    check("PNG with an idle alpha channel", &idle, 8_000, "image/jpeg", Some(64));
    let glass = encode(noise_with_alpha(80, 80, 128), ImageFormat::Png);
    check("transparent PNG with room", &glass, usize::MAX, "image/png", Some(64));
    check("transparent PNG without", &glass, 8_000, "image/png", None);
    let webp = encode(noise_with_alpha(80, 80, 128), ImageFormat::WebP);
    check("transparent WebP", &webp, usize::MAX, "image/png", Some(64));
    let webp = encode(noise(80, 80), ImageFormat::WebP);
    check("opaque WebP", &webp, usize::MAX, "image/jpeg", Some(64));
    let jpeg = encode(noise(80, 80), ImageFormat::Jpeg);
    check("JPEG", &jpeg, usize::MAX, "image/jpeg", Some(64));
    let gray = encode(DynamicImage::from(noise(80, 80)).into_luma16(), ImageFormat::Png);
    check("gray PNG of 16 bits", &gray, usize::MAX, "image/png", Some(64));
}

#[test]
fn quality_falls_before_scale() {
    let bytes = encode(noise(80, 80), ImageFormat::Jpeg);
    let lengths: Vec<usize> = [usize::MAX, 8_000, 6_500, 5_000]
        .map(|max_bytes| shrunk(&bytes, Bounds { max_bytes, max_edge: 79, ..WIDE }))
        .iter()
        .map(|shrunk| {
            assert_eq!(shrunk.size.edge(), 79);
            shrunk.bytes.len()
        })
        .collect();
    assert!(lengths.is_sorted_by(|left, right| left > right), "{lengths:?}");
}

#[test]
fn an_edge_too_long_for_jpeg_is_shortened_first() {
    let bytes = encode(noise(70_000, 1), ImageFormat::Png);
    let shrunk = shrunk(&bytes, Bounds { max_bytes: 150_000, ..WIDE });
    assert_eq!((shrunk.mime, shrunk.size), ("image/jpeg", Size { width: 52_500, height: 1 }));
}

#[test]
fn an_animation_becomes_its_first_frame() {
    let still = shrunk(&animation(40, 20), Bounds { max_edge: 10, ..WIDE });
    assert_eq!((still.mime, still.size), ("image/png", Size { width: 10, height: 5 }));
    assert_eq!(*decoded(&still).to_rgb8().get_pixel(5, 2), RED);
}

#[test]
fn a_turned_jpeg_is_upright_after_encoding() {
    fn check(orientation: u8, size: (u32, u32), red_at: (u32, u32), blue_at: (u32, u32)) {
        let upright = shrunk(&jpeg_turned(halves(160, 80), orientation), Bounds { max_edge: 80, ..WIDE });
        assert_eq!((upright.size.width, upright.size.height), size, "orientation {orientation}");
        let pixels = decoded(&upright).to_rgb8();
        assert!(close(*pixels.get_pixel(red_at.0, red_at.1), RED), "orientation {orientation}");
        assert!(close(*pixels.get_pixel(blue_at.0, blue_at.1), BLUE), "orientation {orientation}");
    }
    check(1, (80, 40), (8, 20), (72, 20));
    check(2, (80, 40), (72, 20), (8, 20));
    check(3, (80, 40), (72, 20), (8, 20));
    check(6, (40, 80), (20, 8), (20, 72));
    check(8, (40, 80), (20, 72), (20, 8));
}

#[test]
fn refusals_say_what_and_why() {
    fn check(bytes: &[u8], bounds: Bounds, expected: &str) {
        assert_eq!(shrink(bytes, &bounds).unwrap_err().to_string(), expected);
    }
    let small = Bounds { max_edge: 10, ..WIDE };
    let picture = encode(noise(20, 10), ImageFormat::Png);
    check(
        b"hello",
        small,
        "not an image: 5 bytes that start like none of PNG, JPEG, WebP, GIF and BMP; send it as a file or text instead",
    );
    check(
        &png_claim(10_001, 10_000),
        small,
        "PNG of 10001x10000 has more than the 100000000 pixels that are decoded here; scale it down first",
    );
    check(&picture, Bounds { max_bytes: 0, ..WIDE }, "no image fits the bounds: max_bytes is 0; raise it");
    check(&picture, Bounds { max_edge: 0, ..WIDE }, "no image fits the bounds: max_edge is 0; raise it");
    check(&picture, Bounds { max_pixels: 0, ..WIDE }, "no image fits the bounds: max_pixels is 0; raise it");
    let Err(ImageError::CannotFit { smallest, max_bytes: 9, .. }) =
        shrink(&picture, &Bounds { max_bytes: 9, ..WIDE })
    else {
        panic!("9 bytes hold no image")
    };
    // The bound that the error suggests is enough.
    shrunk(&picture, Bounds { max_bytes: smallest, ..WIDE });
    let cut = &picture[..picture.len() / 2];
    assert!(matches!(shrink(cut, &small), Err(ImageError::Undecodable { .. })));
}

#[test]
fn a_bomb_of_another_size_than_its_header_is_refused() {
    // A second frame header claims a larger picture than the first, which is what `measure` reads.
    let plain = encode(noise(8, 8), ImageFormat::Jpeg);
    let frame = plain.windows(2).position(|pair| pair == b"\xff\xc0").unwrap();
    let length = usize::from(u16::from_be_bytes([plain[frame + 2], plain[frame + 3]])) + 2;
    let mut second = plain[frame..frame + length].to_vec();
    second[5..9].fill(0xff);
    let bomb = [&plain[..frame + length], &second, &plain[frame + length..]].concat();
    let refused = shrink(&bomb, &Bounds { max_edge: 4, ..WIDE }).unwrap_err();
    assert!(
        matches!(refused, ImageError::OverDecodeBudget { .. } | ImageError::Undecodable { .. }),
        "{refused}"
    );
}
