//! Media without their bytes: what they weigh, and the words that stand for one that is no longer shown.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rail_image::{Format, Size, measure};
use rail_model::{Media, MediaKind, MediaSource, Part, PartBody};

/// Characters of base64 that are read for an image's size: most headers are within the first of these, and a photograph's
/// notes can push the size behind the second. A whole number of groups of four each.
const HEADERS: [usize; 2] = [1024, 256 * 1024];

/// Format and size of an image that is inline.
pub(super) fn measured(media: &Media) -> Option<(Format, Size)> {
    let MediaSource::Base64(data) = &media.source else { return None };
    HEADERS.iter().map(|most| data.get(..*most).unwrap_or(data)).chain([data.as_str()]).find_map(|piece| {
        let bytes = STANDARD.decode(piece).ok()?;
        measure(&bytes).ok()
    })
}

/// Bytes of a medium that is inline; none of one that is elsewhere.
pub(super) fn bytes(media: &Media) -> u64 {
    match &media.source {
        MediaSource::Base64(data) => data.trim_end_matches('=').len() as u64 * 3 / 4,
        MediaSource::Text(text) => text.len() as u64,
        MediaSource::Url(_) | MediaSource::FileId(_) => 0,
    }
}

/// Whether a medium is more than text.
pub(super) fn is_shown(media: &Media) -> bool {
    match media.source {
        MediaSource::Text(_) => false,
        MediaSource::Base64(_) | MediaSource::Url(_) | MediaSource::FileId(_) => true,
    }
}

/// The words that stand for a medium, `[Image: 1200×800 PNG, no longer shown]`.
pub(super) fn described(media: &Media) -> String {
    let kind = match media.kind {
        MediaKind::Image => "Image",
        MediaKind::Document => "Document",
        MediaKind::Audio => "Sound",
        MediaKind::Video => "Film",
    };
    let form = match measured(media) {
        Some((format, size)) => Some(format!("{}×{} {format}", size.width, size.height)),
        None => media.mime.clone(),
    };
    let name = media.name.clone();
    let place = if let MediaSource::Url(url) = &media.source { Some(short(url)) } else { None };
    let words: Vec<String> = [name, form, place].into_iter().flatten().collect();
    let about = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
    format!("[{kind}{about}, no longer shown]")
}

/// An address of any length, as far as it helps to recognise it.
fn short(url: &str) -> String {
    url.chars().take(100).collect()
}

/// The part with words for every medium in it, also inside a result. None when it has none.
pub(super) fn without_media(part: &Part) -> Option<Part> {
    match &part.body {
        PartBody::Media(media) if is_shown(media) => {
            Some(Part { cache: part.cache.clone(), ..Part::text(described(media)) })
        }
        PartBody::ToolResult(result) => {
            let content: Vec<Option<Part>> = result.content.iter().map(without_media).collect();
            if content.iter().all(Option::is_none) {
                return None;
            }
            let kept = content.into_iter().zip(&result.content);
            let content = kept.map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect();
            let body = PartBody::ToolResult(rail_model::ToolResult { content, ..result.clone() });
            Some(Part { body, ..part.clone() })
        }
        PartBody::Media(_)
        | PartBody::Text(_)
        | PartBody::Refusal(_)
        | PartBody::Thinking(_)
        | PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::Opaque(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(source: MediaSource) -> Media {
        Media { kind: MediaKind::Image, mime: Some("image/png".into()), source, name: None }
    }

    /// The beginning of a PNG of this size, and bytes after it.
    fn png(width: u32, height: u32, rest: usize) -> Media {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.resize(bytes.len() + rest, 7);
        image(MediaSource::Base64(STANDARD.encode(bytes)))
    }

    #[test]
    fn media_are_described() {
        let named =
            Media { name: Some("plan.pdf".into()), mime: None, kind: MediaKind::Document, ..png(1, 1, 0) };
        for (media, words, size) in [
            (png(1200, 800, 0), "[Image: 1200×800 PNG, no longer shown]", 24),
            (png(3, 4, 5000), "[Image: 3×4 PNG, no longer shown]", 5024),
            (image(MediaSource::Base64("AAAA".into())), "[Image: image/png, no longer shown]", 3),
            (image(MediaSource::Base64("not base64".into())), "[Image: image/png, no longer shown]", 7),
            (
                image(MediaSource::Url("https://example.com/a.png".into())),
                "[Image: image/png, https://example.com/a.png, no longer shown]",
                0,
            ),
            (
                Media { source: MediaSource::FileId("f".into()), ..named },
                "[Document: plan.pdf, no longer shown]",
                0,
            ),
        ] {
            assert_eq!((described(&media).as_str(), bytes(&media)), (words, size), "{media:?}");
        }
    }
}
