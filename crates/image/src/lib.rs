//! Measures images by their header and shrinks them to a byte, edge and pixel bound.
//!
//! Pure: bytes in, bytes out. The caller knows where they come from and what the bounds are.

mod measure;
mod shrink;

use std::fmt;

pub use measure::measure;
pub use shrink::{DECODE_BUDGET_PIXELS, shrink, shrink_smallest};

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Size {
    /// Width times height.
    pub fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// The longer of the two edges.
    pub fn edge(self) -> u32 {
        self.width.max(self.height)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// A format that can be measured and decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Portable Network Graphics.
    Png,
    /// JPEG, baseline or progressive.
    Jpeg,
    /// WebP, lossy, lossless or extended.
    WebP,
    /// GIF, still or animated.
    Gif,
    /// Windows bitmap, which no provider takes: it is always encoded anew.
    Bmp,
}

impl Format {
    /// The media type that names this format on the wire.
    pub fn mime(self) -> &'static str {
        match self {
            Format::Png => "image/png",
            Format::Jpeg => "image/jpeg",
            Format::WebP => "image/webp",
            Format::Gif => "image/gif",
            Format::Bmp => "image/bmp",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Png => "PNG",
            Format::Jpeg => "JPEG",
            Format::WebP => "WebP",
            Format::Gif => "GIF",
            Format::Bmp => "BMP",
        })
    }
}

/// What an image may be at most; all three hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Most bytes of the encoded image.
    pub max_bytes: usize,
    /// Most pixels along the longer edge.
    pub max_edge: u32,
    /// Most pixels in all.
    pub max_pixels: u64,
}

/// An image within its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shrunk {
    /// The encoded image.
    pub bytes: Vec<u8>,
    /// Its media type, which may differ from that of the input.
    pub mime: &'static str,
    /// Its size as encoded.
    pub size: Size,
    /// Whether it was encoded anew; if not, `bytes` are the input's, and were not decoded.
    pub changed: bool,
}

/// Why an image could not be measured or shrunk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The bytes start like none of the formats.
    #[error(
        "not an image: {length} bytes that start like none of PNG, JPEG, WebP, GIF and BMP; send it as a file or text instead"
    )]
    NotAnImage {
        /// How many bytes there were.
        length: usize,
    },
    /// The header is cut short or contradicts its format.
    #[error("broken {format} header: {fault}; save the image again with another program")]
    BrokenHeader {
        /// The format that the first bytes promise.
        format: Format,
        /// What is wrong with the header.
        fault: &'static str,
    },
    /// Decoding would take more than the budget, whatever the file's own length.
    #[error(
        "{format} of {size} has more than the {max_pixels} pixels that are decoded here; scale it down first"
    )]
    OverDecodeBudget {
        /// The image's format.
        format: Format,
        /// The size that the header claims.
        size: Size,
        /// The budget that it exceeds.
        max_pixels: u64,
    },
    /// Header fine, content not.
    #[error("{format} of {size} cannot be decoded: {reason}; save the image again with another program")]
    Undecodable {
        /// The image's format.
        format: Format,
        /// The size that the header claims.
        size: Size,
        /// What the decoder said.
        reason: String,
    },
    /// The encoder failed; a defect here rather than in the image.
    #[error("{size} cannot be encoded as {format}: {reason}")]
    Unencodable {
        /// The format that was tried.
        format: Format,
        /// The size that was tried.
        size: Size,
        /// What the encoder said.
        reason: String,
    },
    /// Not even a single pixel is within the bounds.
    #[error(
        "{format} of {size} does not fit {max_bytes} bytes: its smallest encoding has {smallest} bytes; raise max_bytes"
    )]
    CannotFit {
        /// The image's format.
        format: Format,
        /// The size before shrinking.
        size: Size,
        /// The least bytes that any try came to.
        smallest: usize,
        /// The bound.
        max_bytes: usize,
    },
    /// The bounds leave no room for any image.
    #[error("no image fits the bounds: {bound} is 0; raise it")]
    EmptyBounds {
        /// The name of the bound.
        bound: &'static str,
    },
}
