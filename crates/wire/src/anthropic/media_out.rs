//! Images and documents, as the API takes them.

use rail_model::{Json, Loss, Media, MediaKind, MediaSource, Part};
use serde_json::Value;

use super::types::{Block, Source};
use super::{AS_BASE64, ID};
use crate::plain;

const PDF: &str = "application/pdf";

/// Fills a block; a note where the API has no way to show the medium.
pub(super) fn media(media: &Media, part: &Part, block: &mut Block, path: &str, losses: &mut Vec<Loss>) {
    let kind = match media.kind {
        MediaKind::Image => "image",
        MediaKind::Document => "document",
        MediaKind::Audio | MediaKind::Video => {
            losses.push(Loss::new(path, "anthropic takes no sound or film; left out"));
            return note(media, block);
        }
    };
    let own = part.extras.marked(ID, AS_BASE64);
    let pdf = media.mime.as_deref().is_none_or(|mime| mime == PDF);
    let other =
        media.kind == MediaKind::Document && matches!(media.source, MediaSource::Base64(_)) && !(pdf || own);
    let text = if other { plain::text(media) } else { None };
    if other && text.is_none() {
        losses.push(Loss::new(path, "anthropic takes only PDF and text as documents; left out"));
        return note(media, block);
    }
    block.kind = Some(kind.to_owned());
    if media.kind == MediaKind::Document {
        block.title = media.name.clone();
    } else if media.name.is_some() {
        losses.push(Loss::new(format!("{path}.name"), "anthropic takes no names of images; left out"));
    }
    let source = text.map_or_else(|| source(media), from_text);
    let kept = part.extras.get(ID, "source").and_then(Value::as_object);
    block.source = Some(Json::of(&source.with_rest(kept)));
}

fn note(media: &Media, block: &mut Block) {
    block.kind = Some("text".to_owned());
    block.text = Some(plain::note(media));
}

fn from_text(text: String) -> Source {
    Source {
        kind: Some("text".to_owned()),
        media_type: Some("text/plain".to_owned()),
        data: Some(text),
        ..Source::default()
    }
}

fn source(media: &Media) -> Source {
    let mut source = Source { media_type: media.mime.clone(), ..Source::default() };
    let name = match &media.source {
        MediaSource::Base64(data) => {
            source.data = Some(data.clone());
            if media.kind == MediaKind::Document {
                source.media_type.get_or_insert_with(|| PDF.to_owned());
            }
            "base64"
        }
        MediaSource::Text(text) => {
            source.data = Some(text.clone());
            source.media_type.get_or_insert_with(|| "text/plain".to_owned());
            "text"
        }
        MediaSource::Url(url) => {
            source.url = Some(url.clone());
            source.media_type = None;
            "url"
        }
        MediaSource::FileId(id) => {
            source.file_id = Some(id.clone());
            source.media_type = None;
            "file"
        }
    };
    source.kind = Some(name.to_owned());
    source
}
