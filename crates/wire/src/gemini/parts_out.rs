//! Parts of a message, for the API and for clients.

use std::borrow::Cow;

use rail_model::{
    CallId, Json, Loss, Map, Media, MediaKind, MediaSource, Part, PartBody, Seal, ToolCall, ToolResult,
};
use serde_json::Value;

use super::config_out::without_notes;
use super::parts_in::{AS_JSON, WRAPPERS};
use super::types::{Blob, Called, FileRef, Piece, Response};
use super::{ID, ID_NOTE, NO_ARGS, NO_ID, NO_RESPONSE, NO_TEXT, UNPADDED, URL_SAFE};
use crate::arguments;
use crate::ids;
use crate::plain;
use crate::shape::Str;

/// Who reads the part, and so which ids and seals it may see.
pub(super) trait Reader {
    /// The spelling of a seal, if this reader can use it.
    fn seal(&self, seal: &Seal) -> Option<String>;
    /// The spelling of a call's id.
    fn id(&self, id: &CallId) -> Option<String>;
    /// The name of the call that a result answers.
    fn name(&self, id: &CallId) -> Option<String>;
    /// Whether what it reads was said in this protocol, so that nothing needs to be added or left out.
    fn is_own(&self) -> bool;
}

/// One part as JSON; None when nothing of it can be said.
pub(super) fn piece<'a>(
    part: &'a Part,
    reader: &dyn Reader,
    path: &str,
    losses: &mut Vec<Loss>,
) -> Option<Piece<'a>> {
    let mut piece = Piece::default();
    match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) => piece.text = Some(text.as_str().into()),
        // Reasoning of another model that shows nothing says nothing here.
        PartBody::Thinking(text) if text.is_empty() && part.seal.is_none() && !reader.is_own() => {
            return None;
        }
        PartBody::Thinking(text) => {
            piece.text = (!part.extras.marked(ID, NO_TEXT)).then(|| text.as_str().into());
            piece.thought = Some(true);
        }
        PartBody::Redacted(seal) => {
            piece.text = (!part.extras.marked(ID, NO_TEXT)).then(|| "".into());
            let Some(signature) = reader.seal(seal) else {
                losses.push(Loss::new(path, "reasoning sealed by another issuer; left out"));
                return None;
            };
            piece.thought_signature = Some(owned(signature));
        }
        PartBody::ToolCall(call) => {
            piece.function_call = Some(Box::new(called(call, part, reader, path, losses)))
        }
        PartBody::ToolResult(result) => {
            piece.function_response = Some(Box::new(response(result, part, reader, path, losses)))
        }
        PartBody::Media(media) => self::media(media, part, reader, &mut piece, path, losses)?,
        PartBody::Opaque(opaque) => {
            let value = opaque.value.as_object().filter(|_| opaque.origin == ID);
            if value.is_none() {
                losses.push(Loss::new(path, "a part of another protocol; left out"));
            }
            return Some(piece.with_rest(Some(value?)));
        }
    }
    if let Some(seal) = &part.seal {
        match reader.seal(seal) {
            Some(signature) => piece.thought_signature = Some(owned(signature)),
            None => losses.push(Loss::new(format!("{path}.seal"), "sealed by another issuer; left out")),
        }
    }
    Some(piece.with_rest(unnested(part).as_ref()))
}

pub(super) fn owned<'a>(text: String) -> Str<'a> {
    Str(Cow::Owned(text))
}

/// The kept fields of a part, without those that stand inside its objects.
fn unnested(part: &Part) -> Option<Map> {
    let mut kept = without_notes(&part.extras)?;
    for key in ["functionCall", "functionResponse", "inlineData", "fileData"] {
        kept.shift_remove(key);
    }
    Some(kept)
}

fn nested<'p>(part: &'p Part, key: &str) -> Option<&'p Map> {
    part.extras.get(ID, key).and_then(Value::as_object)
}

fn called(call: &ToolCall, part: &Part, reader: &dyn Reader, path: &str, losses: &mut Vec<Loss>) -> Called {
    let bare = call.arguments.is_empty() && part.extras.marked(ID, NO_ARGS);
    let args = arguments::object(&call.arguments, path, losses);
    Called {
        id: reader.id(&call.id),
        name: Some(call.name.clone()),
        args: (!bare).then_some(args),
        ..Called::default()
    }
    .with_rest(nested(part, "functionCall"))
}

fn wrapped(key: &str, text: &str) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), Value::from(text))]))
}

fn response<'a>(
    result: &'a ToolResult,
    part: &Part,
    reader: &dyn Reader,
    path: &str,
    losses: &mut Vec<Loss>,
) -> Response<'a> {
    let kept = nested(part, "functionResponse");
    // An id that the client made up for a call that has none goes back as it came.
    let made_up = part.extras.get(ID, ID_NOTE).and_then(Value::as_str).map(str::to_owned);
    let texts: Vec<&Part> = result.content.iter().filter(|part| words(part).is_some()).collect();
    let bare = texts.is_empty() && part.extras.marked(ID, NO_RESPONSE);
    let mut parts = Vec::new();
    for (at, inside) in result.content.iter().enumerate().filter(|(_, part)| words(part).is_none()) {
        let path = format!("{path}.content[{at}]");
        let is_media = matches!(&inside.body, PartBody::Media(_));
        let is_own = matches!(&inside.body, PartBody::Opaque(opaque) if opaque.origin == ID);
        if is_media || is_own {
            parts.extend(piece(inside, reader, &path, losses));
        } else {
            losses.push(Loss::new(path, "gemini results hold text and media only; left out"));
        }
    }
    Response {
        id: made_up.or_else(|| reader.id(&result.id).filter(|_| !part.extras.marked(ID, NO_ID))),
        name: result.name.clone().or_else(|| (!reader.is_own()).then(|| called_name(result, reader))),
        response: (!bare).then(|| said(&texts, result.is_error)),
        parts: (!parts.is_empty()).then_some(parts),
        ..Response::default()
    }
    .with_rest(kept)
}

/// The words of a part; a document of plain text is such, and can't stand among a result's media.
fn words(part: &Part) -> Option<Cow<'_, str>> {
    if let PartBody::Media(media) = &part.body
        && let MediaSource::Text(text) = &media.source
    {
        return Some(Cow::Owned(plain::titled(media, text)));
    }
    part.as_text().map(Cow::Borrowed)
}

/// The API wants the name again; others say it only with the call.
fn called_name(result: &ToolResult, reader: &dyn Reader) -> String {
    reader.name(&result.id).unwrap_or_else(|| "tool".to_owned())
}

/// The text of a result as an object: as it was wrapped, or as Google's examples wrap it.
fn said(texts: &[&Part], is_error: Option<bool>) -> Json {
    if let [only] = texts
        && let Some(text) = only.as_text()
    {
        if let Some(key) = WRAPPERS.iter().find(|key| only.extras.marked(ID, key)) {
            return Json::from(wrapped(key, text));
        }
        if only.extras.marked(ID, AS_JSON)
            && let Some(json) = Json::parse(text.to_owned()).ok().filter(Json::is_object)
        {
            return json;
        }
    }
    let joined = texts.iter().filter_map(|part| words(part)).collect::<Vec<_>>().join("\n");
    Json::from(wrapped(if is_error == Some(true) { "error" } else { "output" }, &joined))
}

fn media<'a>(
    media: &'a Media,
    part: &'a Part,
    reader: &dyn Reader,
    piece: &mut Piece<'a>,
    path: &str,
    losses: &mut Vec<Loss>,
) -> Option<()> {
    let own = reader.is_own();
    let mime = media.mime.clone().or_else(|| (!own).then(|| guessed(media)));
    let display_name = media.name.clone().filter(|_| own);
    if display_name != media.name && !matches!(media.source, MediaSource::Text(_)) {
        losses.push(Loss::new(format!("{path}.name"), "gemini takes no names of media; left out"));
    }
    match &media.source {
        MediaSource::Base64(data) => {
            let data = Some(respelled(data, part));
            let blob = Blob { mime_type: mime, data, display_name, rest: None };
            piece.inline_data = Some(Box::new(blob.with_rest(nested(part, "inlineData"))));
        }
        // Plain text needs no wrapping: it is what the model reads.
        MediaSource::Text(text) => piece.text = Some(owned(plain::titled(media, text))),
        MediaSource::FileId(_) if !own => {
            losses.push(Loss::new(path, "a file that another provider holds; left out"));
            return None;
        }
        MediaSource::Url(uri) | MediaSource::FileId(uri) => {
            let file = FileRef { mime_type: mime, file_uri: Some(uri.clone()), display_name, rest: None };
            piece.file_data = Some(Box::new(file.with_rest(nested(part, "fileData"))));
        }
    }
    Some(())
}

/// The API wants a type with every medium; others leave it out beside an address.
fn guessed(media: &Media) -> String {
    let uri = match &media.source {
        MediaSource::Url(uri) => uri.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase(),
        MediaSource::Base64(_) | MediaSource::Text(_) | MediaSource::FileId(_) => String::new(),
    };
    let known = TYPES.iter().find(|(ending, _)| uri.ends_with(ending)).map(|(_, mime)| *mime);
    let usual = match media.kind {
        MediaKind::Image => "image/jpeg",
        MediaKind::Document => "application/pdf",
        MediaKind::Audio => "audio/wav",
        MediaKind::Video => "video/mp4",
    };
    known.unwrap_or(usual).to_owned()
}

const TYPES: &[(&str, &str)] = &[
    (".png", "image/png"),
    (".webp", "image/webp"),
    (".gif", "image/gif"),
    (".jpg", "image/jpeg"),
    (".jpeg", "image/jpeg"),
    (".pdf", "application/pdf"),
    (".txt", "text/plain"),
    (".mp3", "audio/mpeg"),
    (".wav", "audio/wav"),
    (".mp4", "video/mp4"),
];

fn respelled<'a>(data: &'a str, part: &Part) -> Str<'a> {
    let mut out = Cow::Borrowed(data);
    if part.extras.marked(ID, URL_SAFE) {
        out = Cow::Owned(out.replace('+', "-").replace('/', "_"));
    }
    if part.extras.marked(ID, UNPADDED) {
        out = Cow::Owned(out.trim_end_matches('=').to_owned());
    }
    Str(out)
}

/// For a client: foreign seals are folded, minted ids left out, given ones made legal.
pub(super) struct Client;

impl Reader for Client {
    fn seal(&self, seal: &Seal) -> Option<String> {
        Some(super::seal::write(seal))
    }

    fn id(&self, id: &CallId) -> Option<String> {
        match id {
            // Any text is a legal id here, unless it looks like one of ours.
            CallId::Given(given) if !given.starts_with("rail-") => Some(given.clone()),
            CallId::Given(_) => Some(ids::fold(id, None)),
            CallId::Minted(_) => None,
        }
    }

    fn name(&self, _: &CallId) -> Option<String> {
        None
    }

    fn is_own(&self) -> bool {
        true
    }
}
