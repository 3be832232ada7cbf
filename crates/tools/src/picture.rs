//! Images for a model: shrunk to what it takes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rail_image::{Bounds, Format, ImageError, Shrunk, Size, measure, shrink_smallest};
use rail_model::{Media, MediaKind, MediaSource, Part, PartBody};
use rail_tool::ReadLimits;

use crate::words::size;

/// An image as a model is shown it, and what is said of it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Picture {
    /// The image.
    pub(crate) part: Part,
    /// What it is, in a few words.
    pub(crate) says: String,
    /// Its bytes as it is shown.
    pub(crate) sent: u64,
}

/// Whether these bytes begin like an image that a model can be shown.
pub(crate) fn is_picture(beginning: &[u8]) -> bool {
    !matches!(measure(beginning), Err(ImageError::NotAnImage { .. }))
}

/// The image of these bytes, shrunk if it is larger than a model is shown.
///
/// # Errors
/// It is no image, or broken from its beginning on, or of a kind that no provider takes and that can't be read.
pub(crate) fn picture(bytes: &[u8], name: Option<&str>, limits: &ReadLimits) -> Result<Picture, ImageError> {
    let (format, before) = measure(bytes)?;
    let bounds = Bounds { max_bytes: limits.image_bytes, max_edge: limits.image_edge, max_pixels: u64::MAX };
    let what = format!("{format} image of {before} pixels, {}", size(bytes.len() as u64));
    let (bytes, mime, says) = match shrink_smallest(bytes, &bounds) {
        Ok(Shrunk { bytes, mime, changed: false, .. }) => (bytes, mime, what),
        Ok(Shrunk { bytes, mime, size: now, .. }) => (bytes, mime, shrunk(&what, before, now)),
        Err(error) if format == Format::Bmp => return Err(error),
        Err(error) => (
            bytes.to_vec(),
            format.mime(),
            format!("{what}; it could not be shrunk and is shown as it is: {error}"),
        ),
    };
    let sent = bytes.len() as u64;
    let media = Media {
        kind: MediaKind::Image,
        mime: Some(mime.to_owned()),
        source: MediaSource::Base64(STANDARD.encode(bytes)),
        name: name.map(str::to_owned),
    };
    Ok(Picture { part: Part::new(PartBody::Media(media)), says, sent })
}

fn shrunk(what: &str, before: Size, now: Size) -> String {
    if before == now {
        return what.to_owned();
    }
    let times = f64::from(before.edge()) / f64::from(now.edge().max(1));
    format!("{what}; shown shrunk to {now}: multiply places in it by {times:.2} for those in the file")
}
