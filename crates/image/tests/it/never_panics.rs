use std::sync::LazyLock;

use image::ImageFormat;
use proptest::collection::vec;
use proptest::prelude::*;
use rail_image::{Bounds, measure, shrink};

use crate::pictures::{animation, encode, jpeg_turned, noise, noise_with_alpha};

static PICTURES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    vec![
        encode(noise(12, 9), ImageFormat::Png),
        encode(noise_with_alpha(12, 9, 77), ImageFormat::Png),
        encode(noise(12, 9), ImageFormat::Jpeg),
        jpeg_turned(noise(12, 9), 5),
        encode(noise(12, 9), ImageFormat::WebP),
        animation(12, 9),
        encode(noise(12, 9), ImageFormat::Bmp),
    ]
});

/// Decoding hundreds of thousands of pixels that a mutated header claims is allowed, but too slow for a test.
const MAX_PIXELS_TRIED: u64 = 100_000;

fn exercise(bytes: &[u8]) {
    let Ok((_, size)) = measure(bytes) else { return };
    if size.pixels() > MAX_PIXELS_TRIED {
        return;
    }
    for bounds in [
        Bounds { max_bytes: 400, max_edge: 8, max_pixels: 40 },
        Bounds { max_bytes: 90, max_edge: u32::MAX, max_pixels: u64::MAX },
    ] {
        if let Ok(shrunk) = shrink(bytes, &bounds) {
            assert!(shrunk.bytes.len() <= bounds.max_bytes);
            assert!(shrunk.size.edge() <= bounds.max_edge && shrunk.size.pixels() <= bounds.max_pixels);
        }
    }
}

proptest! {
    #[test]
    fn random_bytes(bytes in vec(any::<u8>(), 0..300)) {
        exercise(&bytes);
    }

    #[test]
    fn random_bytes_after_a_real_start(picture in 0..7_usize, keep in 3..40_usize, tail in vec(any::<u8>(), 0..300)) {
        let mut bytes = PICTURES[picture][..keep].to_vec();
        bytes.extend(tail);
        exercise(&bytes);
    }

    #[test]
    fn mutated_pictures(
        picture in 0..7_usize,
        edits in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
    ) {
        let mut bytes = PICTURES[picture].clone();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if !whole {
            bytes.truncate(cut.index(bytes.len()));
        }
        exercise(&bytes);
    }
}
