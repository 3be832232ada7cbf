//! The parts inside an item: texts, refusals, media, and log probabilities.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rail_model::{Extras, Json, Logprob, Loss, Map, Media, MediaKind, MediaSource, Opaque, Part, PartBody};
use serde_json::{Number, Value};

use super::types::{Audio, Content, Peek, TokenLogprob};
use super::{
    CHAT, CONTENT, FINAL, ID, LOGPROBS, NO_BYTES, NO_LOGPROB, NO_RIVALS, NO_TOKEN, RAW_DATA, SOUND, TYPE,
    kept_fields, missing, object,
};
use crate::breakpoint;
use crate::error::{WireError, parse, parse_at};
use crate::plain;

/// Whose words a text is, which decides its type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Input,
    Output,
}

impl Voice {
    fn text_type(self) -> &'static str {
        match self {
            Self::Input => "input_text",
            Self::Output => "output_text",
        }
    }
}

pub(super) fn peek<'a>(json: &'a Json, path: &str) -> Result<Peek<'a>, WireError> {
    parse(ID, json.text().as_bytes()).map_err(|error| error.under(path))
}

/// Reads one entry of a content list.
pub(super) fn read(json: &Json, voice: Voice, path: &str) -> Result<Part, WireError> {
    let kind = peek(json, path)?.kind.ok_or_else(|| missing("type").under(path))?;
    let part = match &*kind {
        "input_text" | "output_text" | "refusal" | "input_image" | "input_file" | "input_audio" => {
            known(json, &kind, voice, path)?
        }
        _ => None,
    };
    Ok(part.unwrap_or_else(|| opaque(json)))
}

pub(super) fn opaque(json: &Json) -> Part {
    let mut part = Part::new(PartBody::Opaque(Opaque { origin: ID, value: json.value() }));
    part.extras.mark(ID, CONTENT);
    part
}

/// A part of a type we know; None when it has a form we have no word for.
fn known(json: &Json, kind: &str, voice: Voice, path: &str) -> Result<Option<Part>, WireError> {
    let mut content: Content = parse_at(ID, json.text(), path)?;
    content.kind = None;
    let mut notes = Extras::NONE;
    let body = match kind {
        "input_text" | "output_text" => {
            if kind != voice.text_type() {
                notes.insert(ID, TYPE, Value::from(kind));
            }
            PartBody::Text(content.text.take().ok_or_else(|| missing("text").under(path))?)
        }
        "refusal" => PartBody::Refusal(content.refusal.take().ok_or_else(|| missing("refusal").under(path))?),
        _ => match media(kind, &mut content, &mut notes) {
            Some(media) => PartBody::Media(media),
            None => return Ok(None),
        },
    };
    let mut part = Part::new(body);
    let logprobs = content.logprobs.take_if(|list| !list.is_empty());
    part.logprobs = logprobs.into_iter().flatten().map(logprob_in).collect();
    part.cache = content.prompt_cache_breakpoint.take().map(|point| breakpoint::read(point, ID));
    part.extras = Extras::rest(ID, content.leftovers());
    part.extras.merge(notes);
    Ok(Some(part))
}

fn media(kind: &str, content: &mut Content, notes: &mut Extras) -> Option<Media> {
    let (mime, source) = match kind {
        "input_image" => match content.image_url.take() {
            Some(url) => located(url),
            None => (None, MediaSource::FileId(content.file_id.take()?)),
        },
        "input_file" => {
            if let Some(data) = content.file_data.take() {
                match located(data) {
                    (None, MediaSource::Url(data)) => {
                        notes.mark(ID, RAW_DATA);
                        (None, MediaSource::Base64(data))
                    }
                    data => data,
                }
            } else if let Some(url) = content.file_url.take() {
                (None, MediaSource::Url(url))
            } else {
                (None, MediaSource::FileId(content.file_id.take()?))
            }
        }
        _ => {
            let mut audio = content.input_audio.take()?;
            notes.mark(ID, SOUND);
            let Some(data) = audio.data.take() else {
                content.input_audio = Some(audio);
                return None;
            };
            let mime = audio.format.take().map(|format| format!("audio/{format}"));
            let left = audio.leftovers();
            if !left.is_empty() {
                notes.insert(ID, "input_audio", Value::Object(left));
            }
            (mime, MediaSource::Base64(data))
        }
    };
    let kind = match kind {
        "input_image" => MediaKind::Image,
        "input_file" => MediaKind::Document,
        _ => MediaKind::Audio,
    };
    let name = content.filename.take_if(|_| kind == MediaKind::Document);
    Some(Media { kind, mime, source, name })
}

/// A data URL is inline, anything else is an address.
fn located(url: String) -> (Option<String>, MediaSource) {
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((mime, data)) if !mime.contains([';', ',']) => {
            (Some(mime.to_owned()), MediaSource::Base64(data.to_owned()))
        }
        Some(_) | None => (None, MediaSource::Url(url)),
    }
}

/// Writes one entry of a content list; None when there is no way to say it.
pub(super) fn write(part: &Part, voice: Voice, path: &str, losses: &mut Vec<Loss>) -> Option<Value> {
    let mut map = Map::new();
    match &part.body {
        PartBody::Text(text) => {
            let kind = part.extras.get(ID, TYPE).cloned();
            map.insert("type".to_owned(), kind.unwrap_or_else(|| Value::from(voice.text_type())));
            map.insert("text".to_owned(), Value::from(text.as_str()));
        }
        PartBody::Refusal(text) if voice == Voice::Output || part.extras.origin() == Some(ID) => {
            map.insert("type".to_owned(), Value::from("refusal"));
            map.insert("refusal".to_owned(), Value::from(text.as_str()));
        }
        PartBody::Refusal(text) => {
            map.insert("type".to_owned(), Value::from("input_text"));
            map.insert("text".to_owned(), Value::from(text.as_str()));
        }
        PartBody::Media(media) => {
            if write_media(media, &part.extras, &mut map, path, losses).is_none() {
                map.insert("type".to_owned(), Value::from(voice.text_type()));
                map.insert("text".to_owned(), Value::from(plain::note(media)));
            }
        }
        PartBody::Opaque(opaque) => {
            // Those of other origins were named and removed by `fit`.
            let value = part.extras.get(ID, FINAL).unwrap_or(&opaque.value);
            return (opaque.origin == ID).then(|| value.clone());
        }
        PartBody::Thinking(_) | PartBody::Redacted(_) | PartBody::ToolCall(_) | PartBody::ToolResult(_) => {
            return None;
        }
    }
    if let Some(point) = breakpoint::write(part.cache.as_ref()) {
        map.insert(breakpoint::KEY.to_owned(), point);
    }
    let nested: Vec<&str> = if map.contains_key("input_audio") { vec!["input_audio"] } else { Vec::new() };
    map.extend(kept_fields(&part.extras).filter(|(key, _)| !nested.contains(&key.as_str())));
    if let Some(literal) = part.extras.get(ID, LOGPROBS) {
        map.insert("logprobs".to_owned(), literal.clone());
    } else if !part.logprobs.is_empty() {
        map.insert("logprobs".to_owned(), logprobs_out(&part.logprobs));
    }
    Some(Value::Object(map))
}

fn write_media(
    media: &Media,
    extras: &Extras,
    map: &mut Map,
    path: &str,
    losses: &mut Vec<Loss>,
) -> Option<()> {
    let mut put = |key: &str, value: String| map.insert(key.to_owned(), Value::from(value));
    match (media.kind, &media.source) {
        (MediaKind::Image, MediaSource::Base64(data)) => {
            put("type", "input_image".to_owned());
            put("image_url", data_url(media.mime.as_deref().unwrap_or("image/png"), data));
        }
        (MediaKind::Image, MediaSource::Url(url)) => {
            put("type", "input_image".to_owned());
            put("image_url", url.clone());
        }
        (MediaKind::Image | MediaKind::Document, MediaSource::FileId(id)) => {
            let image = media.kind == MediaKind::Image;
            put("type", if image { "input_image" } else { "input_file" }.to_owned());
            put("file_id", id.clone());
        }
        (MediaKind::Document, MediaSource::Url(url)) => {
            put("type", "input_file".to_owned());
            put("file_url", url.clone());
        }
        (MediaKind::Document, MediaSource::Base64(data)) => {
            put("type", "input_file".to_owned());
            let mime = media.mime.as_deref().unwrap_or("application/pdf");
            let raw = extras.marked(ID, RAW_DATA);
            put("file_data", if raw { data.clone() } else { data_url(mime, data) });
        }
        (MediaKind::Document | MediaKind::Image, MediaSource::Text(text)) => {
            put("type", "input_file".to_owned());
            let mime = media.mime.as_deref().unwrap_or("text/plain");
            put("file_data", data_url(mime, &STANDARD.encode(text)));
        }
        (MediaKind::Audio, MediaSource::Base64(data)) if extras.marked(ID, SOUND) => {
            put("type", "input_audio".to_owned());
            let format = media.mime.as_deref().map(|mime| mime.strip_prefix("audio/").unwrap_or(mime));
            let audio = Audio { data: Some(data.clone()), format: format.map(str::to_owned), rest: None }
                .with_rest(extras.get(ID, "input_audio").and_then(Value::as_object));
            map.insert("input_audio".to_owned(), Value::Object(object(&audio)));
        }
        (MediaKind::Audio | MediaKind::Video, _) => {
            losses.push(Loss::new(path, "openai-responses takes no sound or film; left out"));
            return None;
        }
    }
    let detail = extras.get(CHAT, "image_url").and_then(|image| image.get("detail"));
    if let Some(detail) = detail.filter(|_| media.kind == MediaKind::Image) {
        map.insert("detail".to_owned(), detail.clone());
    }
    if media.kind == MediaKind::Document {
        let inline = matches!(media.source, MediaSource::Base64(_) | MediaSource::Text(_));
        let unnamed = inline && extras.origin() != Some(ID);
        let name =
            media.name.clone().or_else(|| unnamed.then(|| file_name(media.mime.as_deref()).to_owned()));
        name.and_then(|name| map.insert("filename".to_owned(), Value::from(name)));
    }
    Some(())
}

/// The API wants a name for an inline file, and judges the file by its ending.
fn file_name(mime: Option<&str>) -> &'static str {
    match mime {
        Some("text/plain") => "document.txt",
        Some("text/markdown") => "document.md",
        Some("text/html") => "document.html",
        Some("text/csv") => "document.csv",
        Some("application/json") => "document.json",
        Some(_) | None => "document.pdf",
    }
}

fn data_url(mime: &str, data: &str) -> String {
    format!("data:{mime};base64,{data}")
}

pub(super) fn logprob_in(mut read: TokenLogprob) -> Logprob {
    let rivals = read.top_logprobs.take();
    let bare = rivals.is_none();
    let top = rivals.into_iter().flatten().map(|rival| logprob(rival, Vec::new())).collect();
    let mut entry = logprob(read, top);
    if bare {
        entry.extras.mark(ID, NO_RIVALS);
    }
    entry
}

fn logprob(mut read: TokenLogprob, top: Vec<Logprob>) -> Logprob {
    let (token, logprob, bytes) = (read.token.take(), read.logprob.take(), read.bytes.take());
    let mut extras = Extras::rest(ID, read.leftovers());
    let lacks = [(NO_TOKEN, token.is_none()), (NO_LOGPROB, logprob.is_none()), (NO_BYTES, bytes.is_none())];
    lacks.iter().filter(|(_, lacks)| *lacks).for_each(|(mark, _)| extras.mark(ID, mark));
    let (token, logprob) = (token.unwrap_or_default(), logprob.unwrap_or_else(|| Number::from(0)));
    Logprob { token, logprob, bytes, top, extras }
}

pub(super) fn logprobs_out(list: &[Logprob]) -> Value {
    let write = |entry: &Logprob| {
        let mut token = logprob_out(entry);
        let rivals = || entry.top.iter().map(logprob_out).collect();
        token.top_logprobs = (!entry.extras.marked(ID, NO_RIVALS)).then(rivals);
        Value::Object(object(&token))
    };
    Value::Array(list.iter().map(write).collect())
}

fn logprob_out(entry: &Logprob) -> TokenLogprob {
    TokenLogprob {
        token: (!entry.extras.marked(ID, NO_TOKEN)).then(|| entry.token.clone()),
        logprob: (!entry.extras.marked(ID, NO_LOGPROB)).then(|| entry.logprob.clone()),
        // Clients demand the list; only the pieces of this protocol's own streams go without.
        bytes: entry
            .bytes
            .clone()
            .or_else(|| (!entry.extras.marked(ID, NO_BYTES)).then(|| Json::from(Value::Array(Vec::new())))),
        ..TokenLogprob::default()
    }
    .with_rest(entry.extras.owned_by(ID))
}
