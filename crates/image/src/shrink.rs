//! Scaling and encoding until an image is within its bounds.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType as PngFilter, PngEncoder};
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use crate::{Bounds, Format, ImageError, Shrunk, Size, measure};

/// Most pixels that are decoded; a larger image is refused, for its file may be tiny and its pixels are not.
pub const DECODE_BUDGET_PIXELS: u64 = 100_000_000;

/// Most memory a decoder may ask for per pixel of the budget: four channels of 16 bits.
const DECODE_BYTES_PER_PIXEL: u64 = 8;

/// JPEG qualities that are tried at each scale, best first.
const QUALITIES: [u8; 4] = [85, 70, 55, 40];

/// Brings an image within the bounds: untouched if it is, else scaled down with its aspect ratio and encoded anew.
///
/// What has transparent pixels becomes PNG. What is opaque stays PNG if it came as PNG or GIF and fits;
/// otherwise it becomes JPEG of falling quality, and then of falling scale. Of an animation the first frame is kept.
/// BMP is encoded anew even within the bounds, since no provider takes it.
pub fn shrink(bytes: &[u8], bounds: &Bounds) -> Result<Shrunk, ImageError> {
    shrink_to(bytes, bounds, Choice::First)
}

/// As [`shrink`], but what is encoded anew and opaque becomes JPEG wherever that is smaller than PNG.
pub fn shrink_smallest(bytes: &[u8], bounds: &Bounds) -> Result<Shrunk, ImageError> {
    shrink_to(bytes, bounds, Choice::Smallest)
}

/// Which of the encodings within the bounds is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// The first one, which keeps most.
    First,
    /// PNG or the best JPEG, whichever is smaller.
    Smallest,
}

fn shrink_to(bytes: &[u8], bounds: &Bounds, choice: Choice) -> Result<Shrunk, ImageError> {
    check_bounds(bounds)?;
    let (format, size) = measure(bytes)?;
    let fits = bytes.len() <= bounds.max_bytes
        && size.edge() <= bounds.max_edge
        && size.pixels() <= bounds.max_pixels;
    if fits && format != Format::Bmp {
        return Ok(Shrunk { bytes: bytes.to_vec(), mime: format.mime(), size, changed: false });
    }

    let base = decode(bytes, format, size)?;
    let base = opaque_if_possible(scaled(base, |size| fit(size, bounds)));
    let kinds = encodings(format, &base);
    let first = size_of(&base);
    let mut smallest = usize::MAX;
    for target in scales(first) {
        // Each step starts from the first scale, so that blur does not add up.
        let smaller = (target != first).then(|| base.resize_exact(target.width, target.height, FILTER));
        let picture = smaller.as_ref().unwrap_or(&base);
        let mut lossless = None;
        for kind in kinds.iter().filter(|kind| target.edge() <= kind.max_edge()) {
            let bytes = encode(picture, *kind)?;
            smallest = smallest.min(bytes.len());
            if bytes.len() > bounds.max_bytes {
                continue;
            }
            let shrunk = Shrunk { bytes, mime: kind.format().mime(), size: target, changed: true };
            match kind {
                Encoding::Png if choice == Choice::Smallest => lossless = Some(shrunk),
                Encoding::Png | Encoding::Jpeg { .. } => return Ok(smaller_of(lossless, shrunk)),
            }
        }
        if let Some(shrunk) = lossless {
            return Ok(shrunk);
        }
    }
    Err(ImageError::CannotFit { format, size, smallest, max_bytes: bounds.max_bytes })
}

fn smaller_of(lossless: Option<Shrunk>, other: Shrunk) -> Shrunk {
    match lossless {
        Some(lossless) if lossless.bytes.len() <= other.bytes.len() => lossless,
        Some(_) | None => other,
    }
}

/// Keeps the strokes of small text, which models read, better than a linear filter.
const FILTER: FilterType = FilterType::CatmullRom;

#[derive(Clone, Copy)]
enum Encoding {
    Png,
    Jpeg { quality: u8 },
}

impl Encoding {
    fn format(self) -> Format {
        match self {
            Encoding::Png => Format::Png,
            Encoding::Jpeg { .. } => Format::Jpeg,
        }
    }

    /// The longest edge that the format can spell.
    fn max_edge(self) -> u32 {
        match self {
            Encoding::Png => i32::MAX as u32,
            Encoding::Jpeg { .. } => u16::MAX.into(),
        }
    }
}

fn check_bounds(bounds: &Bounds) -> Result<(), ImageError> {
    let Bounds { max_bytes, max_edge, max_pixels } = *bounds;
    for (bound, empty) in
        [("max_bytes", max_bytes == 0), ("max_edge", max_edge == 0), ("max_pixels", max_pixels == 0)]
    {
        if empty {
            return Err(ImageError::EmptyBounds { bound });
        }
    }
    Ok(())
}

fn decode(bytes: &[u8], format: Format, size: Size) -> Result<DynamicImage, ImageError> {
    let over = |size| ImageError::OverDecodeBudget { format, size, max_pixels: DECODE_BUDGET_PIXELS };
    if size.pixels() > DECODE_BUDGET_PIXELS {
        return Err(over(size));
    }
    let broken = |error: image::ImageError| match error {
        image::ImageError::Limits(_) => over(size),
        other => ImageError::Undecodable { format, size, reason: other.to_string() },
    };

    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(DECODE_BUDGET_PIXELS * DECODE_BYTES_PER_PIXEL);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), codec(format));
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder().map_err(broken)?;

    // The decoder may read a size elsewhere than `measure` does, and it is the decoder that allocates.
    let (width, height) = decoder.dimensions();
    let claimed = Size { width, height };
    if claimed.pixels() > DECODE_BUDGET_PIXELS {
        return Err(over(claimed));
    }
    limits.reserve(decoder.total_bytes()).map_err(broken)?;
    decoder.set_limits(limits).map_err(broken)?;
    // A picture with unreadable metadata is still a picture.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);

    let mut picture = DynamicImage::from_decoder(decoder).map_err(broken)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

fn codec(format: Format) -> ImageFormat {
    match format {
        Format::Png => ImageFormat::Png,
        Format::Jpeg => ImageFormat::Jpeg,
        Format::WebP => ImageFormat::WebP,
        Format::Gif => ImageFormat::Gif,
        Format::Bmp => ImageFormat::Bmp,
    }
}

fn size_of(picture: &DynamicImage) -> Size {
    Size { width: picture.width(), height: picture.height() }
}

fn scaled(picture: DynamicImage, to: impl FnOnce(Size) -> Size) -> DynamicImage {
    let size = size_of(&picture);
    let target = to(size);
    if target == size { picture } else { picture.resize_exact(target.width, target.height, FILTER) }
}

/// Eight bits a channel, and an alpha channel only where it says something: screenshots often carry an idle one.
fn opaque_if_possible(picture: DynamicImage) -> DynamicImage {
    let color = picture.color();
    if color.has_alpha() {
        let rgba = picture.into_rgba8();
        if rgba.pixels().any(|pixel| pixel.0[3] != u8::MAX) {
            return rgba.into();
        }
        let opaque = DynamicImage::from(rgba);
        return if color.has_color() { opaque.into_rgb8().into() } else { opaque.into_luma8().into() };
    }
    if color.has_color() { picture.into_rgb8().into() } else { picture.into_luma8().into() }
}

fn encodings(from: Format, picture: &DynamicImage) -> Vec<Encoding> {
    let jpegs = QUALITIES.map(|quality| Encoding::Jpeg { quality });
    if picture.color().has_alpha() {
        return vec![Encoding::Png];
    }
    match from {
        Format::Png | Format::Gif | Format::Bmp => [Encoding::Png].into_iter().chain(jpegs).collect(),
        Format::Jpeg | Format::WebP => jpegs.to_vec(),
    }
}

fn encode(picture: &DynamicImage, kind: Encoding) -> Result<Vec<u8>, ImageError> {
    let mut bytes = Vec::new();
    let written = match kind {
        Encoding::Png => {
            let encoder =
                PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, PngFilter::Adaptive);
            picture.write_with_encoder(encoder)
        }
        Encoding::Jpeg { quality } => {
            picture.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, quality))
        }
    };
    written.map_err(|error| ImageError::Unencodable {
        format: kind.format(),
        size: size_of(picture),
        reason: error.to_string(),
    })?;
    Ok(bytes)
}

/// The largest size of the same shape within edge and pixel bound; in whole numbers, so no rounding exceeds a bound.
fn fit(size: Size, bounds: &Bounds) -> Size {
    let (long, short) = (u128::from(size.edge()), u128::from(size.width.min(size.height)));
    let (max_edge, max_pixels) = (u128::from(bounds.max_edge), u128::from(bounds.max_pixels));

    let mut new_long = long.min(max_edge);
    let mut new_short = ((short * new_long + long / 2) / long).max(1);
    if new_long * new_short > max_pixels {
        new_long = (max_pixels * long / short).isqrt().min(new_long);
        new_short = (short * new_long / long).max(1);
        // A line one pixel thin cannot get thinner, only shorter.
        new_long = new_long.min(max_pixels / new_short).max(1);
    }

    // Neither exceeds the edge it was made from.
    let narrow = |edge: u128| u32::try_from(edge).unwrap_or(u32::MAX);
    if size.width >= size.height {
        Size { width: narrow(new_long), height: narrow(new_short) }
    } else {
        Size { width: narrow(new_short), height: narrow(new_long) }
    }
}

/// `first`, then three quarters of its edges and so on, down to a single pixel.
fn scales(first: Size) -> impl Iterator<Item = Size> {
    let edges = std::iter::successors(Some(first.edge()), |edge| {
        let next = edge - edge.div_ceil(4);
        (next > 0).then_some(next)
    });
    edges.map(move |max_edge| fit(first, &Bounds { max_bytes: usize::MAX, max_edge, max_pixels: u64::MAX }))
}
