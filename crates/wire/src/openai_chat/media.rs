//! Content parts, both ways.

use rail_model::{Extras, Json, Loss, Media, MediaKind, MediaSource, Opaque, Part, PartBody, ProtocolId};
use serde::Serialize;
use serde_json::Value;

use super::types::{AudioRef, ContentPart, FileRef, UrlRef};
use super::{ID, PLAIN_DATA, PLAIN_URL, RESPONSES, VIDEO_URL, nest, object_at};
use crate::error::{WireError, parse_at};
use crate::plain;

/// Reads a content part; one we have no word for stays whole.
pub(super) fn read(mut part: ContentPart, path: &str) -> Result<Part, WireError> {
    let kind = part.kind.take().ok_or_else(|| super::missing("type").under(path))?;
    let need = |field: &str| super::missing(field).under(path);
    let read = match kind.as_str() {
        "text" => Some(Part::text(part.text.take().ok_or_else(|| need("text"))?)),
        "refusal" => {
            let text = part.refusal.take().ok_or_else(|| need("refusal"))?;
            Some(Part::new(PartBody::Refusal(text)))
        }
        "image_url" => {
            let json = part.image_url.take().ok_or_else(|| need("image_url"))?;
            Some(at_url(&json, MediaKind::Image, "image_url", path)?)
        }
        "video_url" => {
            let json = part.video_url.take().ok_or_else(|| need("video_url"))?;
            let mut video = at_url(&json, MediaKind::Video, "video_url", path)?;
            video.extras.mark(ID, VIDEO_URL);
            Some(video)
        }
        "input_audio" => Some(audio(part.input_audio.take().ok_or_else(|| need("input_audio"))?, path)?),
        "file" => match part.file.take().map(file) {
            Some(Ok(read)) => Some(read),
            Some(Err(unknown)) => {
                part.file = Some(unknown);
                None
            }
            None => return Err(need("file")),
        },
        _ => None,
    };
    let Some(mut read) = read else {
        part.kind = Some(kind);
        let value = Value::Object(part.leftovers());
        return Ok(Part::new(PartBody::Opaque(Opaque { origin: ID, value })));
    };
    let own = std::mem::take(&mut read.extras);
    read.extras = Extras::rest(ID, part.leftovers());
    read.extras.merge(own);
    Ok(read)
}

fn at_url(json: &Json, kind: MediaKind, key: &str, path: &str) -> Result<Part, WireError> {
    let path = format!("{path}.{key}");
    let mut marks = Extras::NONE;
    let url = if json.is_object() {
        let mut place: UrlRef = parse_at(ID, json.text(), &path)?;
        let url = place.url.take().ok_or_else(|| super::missing("url").under(&path))?;
        nest(&mut marks, key, place.leftovers());
        url
    } else {
        marks.mark(ID, PLAIN_URL);
        parse_at(ID, json.text(), &path)?
    };
    let (mime, source) = match data_url(&url) {
        Some((mime, data)) => (Some(mime.to_owned()), MediaSource::Base64(data.to_owned())),
        None => (None, MediaSource::Url(url)),
    };
    let media = Media { kind, mime, source, name: None };
    Ok(Part { extras: marks, ..Part::new(PartBody::Media(media)) })
}

/// Type and data of `data:TYPE;base64,DATA`; None for any other address, which is passed on as it is.
fn data_url(url: &str) -> Option<(&str, &str)> {
    let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    (!mime.is_empty() && !mime.contains([';', ','])).then_some((mime, data))
}

fn audio(mut audio: AudioRef, path: &str) -> Result<Part, WireError> {
    let data =
        audio.data.take().ok_or_else(|| super::missing("data").under(&format!("{path}.input_audio")))?;
    let mime = audio.format.as_deref().map(sound_mime);
    // A format whose spelling would not come back from its type stays as it was said.
    if mime.as_deref().map(sound_format) == audio.format.as_deref() {
        audio.format = None;
    }
    let mut extras = Extras::NONE;
    nest(&mut extras, "input_audio", audio.leftovers());
    let media = Media { kind: MediaKind::Audio, mime, source: MediaSource::Base64(data), name: None };
    Ok(Part { extras, ..Part::new(PartBody::Media(media)) })
}

fn sound_mime(format: &str) -> String {
    match format {
        "mp3" => "audio/mpeg".to_owned(),
        other => format!("audio/{other}"),
    }
}

fn sound_format(mime: &str) -> &str {
    match mime {
        "audio/mpeg" => "mp3",
        "audio/x-wav" | "audio/wave" => "wav",
        other => other.strip_prefix("audio/").unwrap_or(other),
    }
}

/// A document; one without data or id comes back as it was.
fn file(mut file: FileRef) -> Result<Part, FileRef> {
    let mut extras = Extras::NONE;
    let (mime, source) = match (file.file_data.take(), file.file_id.take()) {
        (Some(data), id) => {
            file.file_id = id;
            match data_url(&data) {
                Some((mime, data)) => (Some(mime.to_owned()), MediaSource::Base64(data.to_owned())),
                None => {
                    extras.mark(ID, PLAIN_DATA);
                    (None, MediaSource::Base64(data))
                }
            }
        }
        (None, Some(id)) => (None, MediaSource::FileId(id)),
        (None, None) => return Err(file),
    };
    let name = file.filename.take();
    nest(&mut extras, "file", file.leftovers());
    let media = Media { kind: MediaKind::Document, mime, source, name };
    Ok(Part { extras, ..Part::new(PartBody::Media(media)) })
}

/// Writes a content part; None, with a loss, for what the protocol can't say.
pub(super) fn write(
    part: &Part,
    from: Option<ProtocolId>,
    path: &str,
    losses: &mut Vec<Loss>,
) -> Option<ContentPart> {
    let mut out = ContentPart::default();
    let mut kind = |name: &str| out.kind = Some(name.to_owned());
    match &part.body {
        PartBody::Text(text) => {
            kind("text");
            out.text = Some(text.clone());
        }
        PartBody::Refusal(text) => {
            kind("refusal");
            out.refusal = Some(text.clone());
        }
        PartBody::Media(media) => {
            if let Err(reason) = write_media(media, part, from, &mut out) {
                losses.push(Loss::new(path, reason));
                return None;
            }
        }
        PartBody::Opaque(opaque) if opaque.origin == ID => {
            return Some(ContentPart::default().with_rest(opaque.value.as_object()));
        }
        PartBody::Opaque(_) => {
            losses.push(Loss::new(path, "a block of another protocol; left out"));
            return None;
        }
        // These have their own places in a message.
        PartBody::Thinking(_) | PartBody::Redacted(_) | PartBody::ToolCall(_) | PartBody::ToolResult(_) => {
            return None;
        }
    }
    let mut out = out.with_rest(part.extras.owned_by(ID));
    if let Some(mark) = part.extras.get(RESPONSES, CACHE_MARK) {
        out.rest.get_or_insert_default().insert(CACHE_MARK.to_owned(), mark.clone());
    }
    Some(out)
}

/// What stands in the place of a medium that could not be written.
pub(super) fn note(part: &Part) -> Option<ContentPart> {
    let PartBody::Media(media) = &part.body else { return None };
    Some(ContentPart {
        kind: Some("text".to_owned()),
        text: Some(plain::note(media)),
        ..ContentPart::default()
    })
}

/// A field of parts that the vendor's two protocols share.
pub(super) const CACHE_MARK: &str = "prompt_cache_breakpoint";

fn write_media(
    media: &Media,
    part: &Part,
    from: Option<ProtocolId>,
    out: &mut ContentPart,
) -> Result<(), &'static str> {
    match media.kind {
        MediaKind::Image => {
            out.kind = Some("image_url".to_owned());
            out.image_url = Some(url_json(address(media, "image/png")?, part, "image_url"));
        }
        MediaKind::Video if part.extras.marked(ID, VIDEO_URL) => {
            out.kind = Some("video_url".to_owned());
            out.video_url = Some(url_json(address(media, "video/mp4")?, part, "video_url"));
        }
        MediaKind::Video => return Err("openai-chat takes no film; left out"),
        MediaKind::Audio => {
            let MediaSource::Base64(data) = &media.source else {
                return Err("openai-chat takes sound only as data; left out");
            };
            let kept = object_at(&part.extras, "input_audio");
            let said = kept.is_some_and(|kept| kept.contains_key("format"));
            let format = media.mime.as_deref().map(|mime| sound_format(mime).to_owned()).filter(|_| !said);
            out.kind = Some("input_audio".to_owned());
            out.input_audio = Some(AudioRef { data: Some(data.clone()), format, rest: None }.with_rest(kept));
        }
        MediaKind::Document => return document(media, part, from, out),
    }
    Ok(())
}

/// An address, or the data as one.
fn address(media: &Media, usual: &str) -> Result<String, &'static str> {
    match &media.source {
        MediaSource::Base64(data) => {
            Ok(format!("data:{};base64,{data}", media.mime.as_deref().unwrap_or(usual)))
        }
        MediaSource::Url(url) => Ok(url.clone()),
        MediaSource::FileId(_) => Err("openai-chat can't show an uploaded file as a picture; left out"),
        MediaSource::Text(_) => Err("a picture made of text; left out"),
    }
}

fn url_json(url: String, part: &Part, key: &str) -> Json {
    if part.extras.marked(ID, PLAIN_URL) {
        return Json::from(Value::String(url));
    }
    let mut place = UrlRef { url: Some(url), rest: None }.with_rest(object_at(&part.extras, key));
    if let Some(detail) = part.extras.get(RESPONSES, "detail") {
        place.rest.get_or_insert_default().insert("detail".to_owned(), detail.clone());
    }
    raw(&place)
}

fn raw(value: &impl Serialize) -> Json {
    Json::from(serde_json::to_value(value).unwrap_or(Value::Null))
}

fn document(
    media: &Media,
    part: &Part,
    from: Option<ProtocolId>,
    out: &mut ContentPart,
) -> Result<(), &'static str> {
    let mut file = FileRef { filename: media.name.clone(), ..FileRef::default() };
    match &media.source {
        MediaSource::Base64(data) if part.extras.marked(ID, PLAIN_DATA) => {
            file.file_data = Some(data.clone())
        }
        MediaSource::Base64(_) if from != Some(ID) && plain::text(media).is_some() => {
            let text = plain::text(media).unwrap_or_default();
            out.kind = Some("text".to_owned());
            out.text = Some(plain::titled(media, &text));
            return Ok(());
        }
        MediaSource::Base64(data) => {
            let mime = media.mime.as_deref().unwrap_or("application/pdf");
            file.file_data = Some(format!("data:{mime};base64,{data}"));
            if from != Some(ID) {
                file.filename.get_or_insert_with(|| "document.pdf".to_owned());
            }
        }
        MediaSource::Text(text) => {
            out.kind = Some("text".to_owned());
            out.text = Some(plain::titled(media, text));
            return Ok(());
        }
        // The vendor's two protocols share one store of files.
        MediaSource::FileId(id) if from == Some(ID) || from == Some(RESPONSES) => {
            file.file_id = Some(id.clone())
        }
        MediaSource::FileId(_) => return Err("the file was uploaded to another provider; left out"),
        MediaSource::Url(_) => return Err("openai-chat takes documents only as data; left out"),
    }
    out.kind = Some("file".to_owned());
    out.file = Some(file.with_rest(object_at(&part.extras, "file")));
    Ok(())
}
