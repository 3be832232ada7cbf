//! Parts of a message, in requests and in answers.

use std::collections::BTreeMap;

use rail_model::{
    CallId, CallKind, Extras, Json, Map, Media, MediaKind, MediaSource, Opaque, Part, PartBody, Seal,
    ToolCall, ToolResult,
};
use serde_json::Value;

use super::path::missing;
use super::types::{Called, Piece, Response};
use super::{ID, NO_ARGS, NO_RESPONSE, NO_TEXT, UNPADDED, URL_SAFE, seal};
use crate::error::WireError;
use crate::ids;

/// Who wrote the part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// A client: ids and seals may be folded, mistakes are its own.
    Client,
    /// The API: everything is as it is.
    Upstream,
}

/// The keys under which results are usually said, and the mark of each.
pub(super) const WRAPPERS: &[&str] = &["output", "result", "error"];
/// A result that is JSON of its own form.
pub(super) const AS_JSON: &str = "json";

/// One part. A call or result without id has an empty minted one; the caller knows its place.
pub(super) fn part(mut piece: Piece<'_>, from: From, path: &str) -> Result<Part, WireError> {
    let signature = piece.thought_signature.take_if(|data| !data.is_empty());
    let sealed = signature.as_ref().map(|data| match from {
        From::Client => seal::read(data.to_string()),
        From::Upstream => Seal { issuer: ID.name().to_owned(), data: data.to_string() },
    });
    let mut part = match body(&mut piece, sealed.is_some(), from, path)? {
        Some(part) => part,
        None => {
            piece.thought_signature = signature;
            let value = Value::Object(piece.leftovers());
            return Ok(Part::new(PartBody::Opaque(Opaque { origin: ID, value })));
        }
    };
    if let (PartBody::Redacted(seal), Some(sealed)) = (&mut part.body, &sealed) {
        seal.clone_from(sealed);
    } else {
        part.seal = sealed.or(part.seal);
    }
    let own = std::mem::take(&mut part.extras);
    part.extras = Extras::rest(ID, piece.leftovers());
    part.extras.merge(own);
    Ok(part)
}

fn body(piece: &mut Piece<'_>, sealed: bool, from: From, path: &str) -> Result<Option<Part>, WireError> {
    if let Some(call) = piece.function_call.take_if(|call| is_whole(call)) {
        return tool_call(*call, from, path).map(Some);
    }
    // Arguments that come piecewise, which only a client of this protocol can have asked for; and a result in an answer.
    if piece.function_call.is_some() || (from == From::Upstream && piece.function_response.is_some()) {
        return Ok(None);
    }
    if let Some(response) = piece.function_response.take() {
        return tool_result(*response, from, path).map(Some);
    }
    if piece.inline_data.as_ref().is_some_and(|blob| blob.data.is_some()) {
        return Ok(inline(piece));
    }
    if piece.file_data.as_ref().is_some_and(|file| file.file_uri.is_some()) {
        return Ok(file(piece));
    }
    let thought = piece.thought == Some(true);
    let text = piece.text.take();
    let bare = text.is_none();
    let mut part = match text {
        Some(text) if thought => Part::new(PartBody::Thinking(text.into_string())),
        Some(text) if text.is_empty() && sealed => Part::new(PartBody::Redacted(no_seal())),
        Some(text) => Part::text(text.into_string()),
        None if thought && sealed => Part::new(PartBody::Thinking(String::new())),
        None if sealed && is_empty(piece) => Part::new(PartBody::Redacted(no_seal())),
        None => return Ok(None),
    };
    if thought {
        piece.thought = None;
    }
    if bare {
        part.extras.mark(ID, NO_TEXT);
    }
    Ok(Some(part))
}

fn no_seal() -> Seal {
    Seal { issuer: String::new(), data: String::new() }
}

fn is_empty(piece: &Piece<'_>) -> bool {
    piece.clone().leftovers().is_empty()
}

fn is_whole(call: &Called) -> bool {
    call.name.as_ref().is_some_and(|name| !name.is_empty())
        && call.partial_args.is_none()
        && call.will_continue.is_none()
}

fn tool_call(mut call: Called, from: From, path: &str) -> Result<Part, WireError> {
    let (id, folded) = match (call.id.take(), from) {
        (None, _) => (CallId::Minted(String::new()), None),
        (Some(id), From::Client) => ids::unfold(&id),
        (Some(id), From::Upstream) => (CallId::Given(id), None),
    };
    let name = call.name.take().unwrap_or_default();
    let mut extras = Extras::NONE;
    let arguments = match call.args.take() {
        Some(args) if from == From::Client && !args.is_object() => {
            return Err(WireError::malformed(ID, format!("{path}.functionCall.args"), "must be an object"));
        }
        Some(args) => args.text().to_owned(),
        None => {
            extras.mark(ID, NO_ARGS);
            String::new()
        }
    };
    keep(&mut extras, "functionCall", call.leftovers());
    let call = ToolCall { id, name, arguments, kind: CallKind::Function };
    Ok(Part { seal: folded, extras, ..Part::new(PartBody::ToolCall(call)) })
}

fn tool_result(mut response: Response<'_>, from: From, path: &str) -> Result<Part, WireError> {
    let path = format!("{path}.functionResponse");
    let id = response.id.take().map_or(CallId::Minted(String::new()), |id| ids::unfold(&id).0);
    let mut extras = Extras::NONE;
    let mut is_error = None;
    let mut content = Vec::new();
    match response.response.take() {
        Some(json) if !json.is_object() => {
            return Err(WireError::malformed(ID, format!("{path}.response"), "must be an object"));
        }
        Some(json) => {
            let (text, failed) = said(&json);
            is_error = failed.then_some(true);
            content.push(text);
        }
        None => extras.mark(ID, NO_RESPONSE),
    }
    if let Some(pieces) = response.parts.take_if(|pieces| !pieces.is_empty()) {
        for (at, piece) in pieces.into_iter().enumerate() {
            content.push(part(piece, from, &format!("{path}.parts[{at}]"))?);
        }
    }
    let name = response.name.take();
    keep(&mut extras, "functionResponse", response.leftovers());
    let result = ToolResult { id, name, content, is_error, kind: CallKind::Function };
    Ok(Part { extras, ..Part::new(PartBody::ToolResult(result)) })
}

/// A result as text: what is wrapped as usual is unwrapped, all else stays the JSON it is.
fn said(json: &Json) -> (Part, bool) {
    let fields: BTreeMap<String, Json> = serde_json::from_str(json.text()).unwrap_or_default();
    let only = fields.iter().next().filter(|_| fields.len() == 1);
    let wrapper =
        only.and_then(|(key, value)| WRAPPERS.iter().find(|known| *known == key).map(|mark| (*mark, value)));
    let failed = matches!(wrapper, Some(("error", _)));
    let plain =
        wrapper.and_then(|(mark, value)| Some((mark, serde_json::from_str::<String>(value.text()).ok()?)));
    let (mark, text) = plain.unwrap_or_else(|| (AS_JSON, json.text().to_owned()));
    let mut part = Part::text(text);
    part.extras.mark(ID, mark);
    (part, failed)
}

fn inline(piece: &mut Piece<'_>) -> Option<Part> {
    let mut blob = piece.inline_data.take()?;
    let mut extras = Extras::NONE;
    let data = standard(blob.data.take()?.into_string(), &mut extras);
    let mime = blob.mime_type.take();
    let media = Media {
        kind: kind(mime.as_deref(), ""),
        mime,
        source: MediaSource::Base64(data),
        name: blob.display_name.take(),
    };
    keep(&mut extras, "inlineData", blob.leftovers());
    Some(Part { extras, ..Part::new(PartBody::Media(media)) })
}

fn file(piece: &mut Piece<'_>) -> Option<Part> {
    let mut file = piece.file_data.take()?;
    let uri = file.file_uri.take()?;
    let mime = file.mime_type.take();
    let kind = kind(mime.as_deref(), &uri);
    // Only the provider can open its own files; anybody can open an address.
    let own = uri.starts_with("gs://")
        || uri.starts_with("files/")
        || uri.starts_with("https://generativelanguage.googleapis.com/");
    let source = if own { MediaSource::FileId(uri) } else { MediaSource::Url(uri) };
    let media = Media { kind, mime, source, name: file.display_name.take() };
    let mut extras = Extras::NONE;
    keep(&mut extras, "fileData", file.leftovers());
    Some(Part { extras, ..Part::new(PartBody::Media(media)) })
}

/// Base64 in the standard alphabet; Google's Python SDK writes the other one.
fn standard(data: String, extras: &mut Extras) -> String {
    let mut data = data;
    if memchr::memchr2(b'-', b'_', data.as_bytes()).is_some() {
        extras.mark(ID, URL_SAFE);
        data = data.replace('-', "+").replace('_', "/");
    }
    if data.len() % 4 > 1 {
        extras.mark(ID, UNPADDED);
        while !data.len().is_multiple_of(4) {
            data.push('=');
        }
    }
    data
}

const KINDS: &[(&str, MediaKind)] =
    &[("image/", MediaKind::Image), ("audio/", MediaKind::Audio), ("video/", MediaKind::Video)];
const ENDINGS: &[(&str, MediaKind)] = &[
    (".png", MediaKind::Image),
    (".jpg", MediaKind::Image),
    (".jpeg", MediaKind::Image),
    (".webp", MediaKind::Image),
    (".gif", MediaKind::Image),
    (".mp3", MediaKind::Audio),
    (".wav", MediaKind::Audio),
    (".mp4", MediaKind::Video),
];

fn kind(mime: Option<&str>, uri: &str) -> MediaKind {
    if let Some(mime) = mime {
        return KINDS
            .iter()
            .find(|(head, _)| mime.starts_with(head))
            .map_or(MediaKind::Document, |(_, kind)| *kind);
    }
    if uri.contains("youtube.com/") || uri.contains("youtu.be/") {
        return MediaKind::Video;
    }
    let plain = uri.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    ENDINGS.iter().find(|(ending, _)| plain.ends_with(ending)).map_or(MediaKind::Document, |(_, kind)| *kind)
}

/// Keeps what is left of a nested object under its own key.
pub(super) fn keep(extras: &mut Extras, key: &str, left: Map) {
    if !left.is_empty() {
        extras.insert(ID, key, Value::Object(left));
    }
}

/// A field that must be there.
pub(super) fn need<T>(value: Option<T>, field: &str, path: &str) -> Result<T, WireError> {
    value.ok_or_else(|| missing(field).under(path))
}
