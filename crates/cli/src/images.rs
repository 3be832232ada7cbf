//! Images that are too large for a target.

use rail_image::{Bounds, shrink};
use rail_wire::{ImageLimits, Shrunk};

/// The codecs' port for making images smaller, served by `rail-image`.
pub(crate) fn shrink_image(bytes: &[u8], limits: &ImageLimits) -> Result<Shrunk, String> {
    let bounds =
        Bounds { max_bytes: limits.max_bytes, max_edge: limits.max_edge, max_pixels: limits.max_pixels };
    let shrunk = shrink(bytes, &bounds).map_err(|error| error.to_string())?;
    Ok(if shrunk.changed { Shrunk::To { mime: shrunk.mime, bytes: shrunk.bytes } } else { Shrunk::AsIs })
}
