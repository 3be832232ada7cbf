//! Parts that another protocol answered, made into parts of this one's items.

use rail_model::{CallKind, Delta, Extras, Map, MediaKind, MediaSource, Opaque, Part, PartBody};
use serde_json::{Value, json};

use super::item_out::is_own;
use super::{CHAT, ID, ITEM, NAME, NAMESPACES, SAME_ITEM, mint};
use crate::protocol::ReplyTo;
use crate::told::Told;

/// The answer a part belongs to.
pub(super) struct Place<'a> {
    pub(super) answer: &'a str,
    /// The item's place in the output.
    pub(super) index: usize,
    /// Whether the item before it is a message that it goes on with.
    pub(super) joined: bool,
    pub(super) reply_to: &'a ReplyTo,
}

/// Whether a foreign part belongs into a message: those side by side are one.
pub(super) fn is_words(part: &Part) -> bool {
    matches!(part.body, PartBody::Text(_) | PartBody::Refusal(_)) && !is_own(&part.extras)
}

/// Gives a foreign part what an item of this protocol has; None when it can't be said here.
pub(super) fn dress(mut part: Part, place: &Place<'_>, told: &mut Told) -> Option<Part> {
    let own_opaque = matches!(&part.body, PartBody::Opaque(opaque) if opaque.origin == ID);
    if is_own(&part.extras) || own_opaque {
        return Some(part);
    }
    let path = format!("output[{}]", place.index);
    let annotations = chat_annotations(&part.extras);
    if annotations.is_empty() {
        told.extras(ID, &path, &part.extras);
    }
    part.extras = Extras::NONE;
    let (prefix, status) = match &mut part.body {
        PartBody::Text(_) => {
            part.extras.insert(ID, "annotations", Value::Array(annotations));
            part.extras.insert(ID, "logprobs", json!([]));
            ("msg", true)
        }
        PartBody::Refusal(_) => ("msg", true),
        PartBody::Thinking(_) | PartBody::Redacted(_) => ("rs", false),
        PartBody::ToolCall(call) => match call.kind {
            CallKind::Function => ("fc", true),
            CallKind::Custom => ("ctc", true),
        },
        PartBody::Media(media) => match (&media.kind, &media.source) {
            (MediaKind::Image, MediaSource::Base64(data)) => {
                let format = media.mime.as_deref().and_then(|mime| mime.strip_prefix("image/"));
                let id = mint("ig", place.answer, place.index);
                let value = json!({"id": id, "type": "image_generation_call", "status": "completed",
                    "output_format": format.unwrap_or("png"), "result": data});
                part.body = PartBody::Opaque(Opaque { origin: ID, value });
                return Some(part);
            }
            (MediaKind::Image | MediaKind::Document | MediaKind::Audio | MediaKind::Video, _) => {
                told.once(path, "openai-responses answers hold no such medium; left out");
                return None;
            }
        },
        PartBody::Opaque(opaque) => {
            told.once(path, &format!("a block of {}; left out", opaque.origin));
            return None;
        }
        PartBody::ToolResult(_) => return None,
    };
    if part.seal.is_some() && matches!(part.body, PartBody::Text(_) | PartBody::Refusal(_)) {
        told.once(format!("{path}.seal"), "openai-responses has no seal on text; left out");
    }
    if place.joined {
        part.extras.mark(ID, SAME_ITEM);
        return Some(part);
    }
    let mut item = Map::from_iter([("id".to_owned(), Value::from(mint(prefix, place.answer, place.index)))]);
    if status {
        item.insert("status".to_owned(), Value::from("completed"));
    }
    if let PartBody::ToolCall(call) = &part.body
        && let Some((space, inner)) = namespaced(&call.name, place.reply_to)
    {
        item.insert("namespace".to_owned(), space);
        part.extras.insert(ID, NAME, inner);
    }
    part.extras.insert(ID, ITEM, Value::Object(item));
    Some(part)
}

/// The namespace and name that a flat name stood for in the request.
fn namespaced(name: &str, reply_to: &ReplyTo) -> Option<(Value, Value)> {
    let pair = reply_to.echo.get(NAMESPACES)?.get(name)?;
    Some((pair.get(0)?.clone(), pair.get(1)?.clone()))
}

/// The citations of a whole chat answer.
fn chat_annotations(extras: &Extras) -> Vec<Value> {
    let list = extras.get(CHAT, "annotations").and_then(Value::as_array);
    list.into_iter().flatten().map(flat_annotation).collect()
}

/// A citation of a streamed chat answer in this protocol's words; None when it is something else.
pub(super) fn annotation(delta: &Delta) -> Option<Value> {
    match delta {
        Delta::Extra { origin, key: "annotations", value } if *origin == ID => Some(value.clone()),
        Delta::Extra { origin, key: "annotations", value } if *origin == CHAT => Some(flat_annotation(value)),
        Delta::Extra { .. }
        | Delta::Text(_)
        | Delta::Thinking(_)
        | Delta::Seal(_)
        | Delta::Arguments(_)
        | Delta::Logprobs(_) => None,
    }
}

/// Chat nests a citation under its type, this protocol does not.
fn flat_annotation(value: &Value) -> Value {
    let inner = value.get("type").and_then(Value::as_str).and_then(|kind| value.get(kind));
    match (inner.and_then(Value::as_object), value.as_object()) {
        (Some(inner), Some(outer)) => {
            let nested = |value: &Value| value.is_object();
            let mut map: Map = outer
                .iter()
                .filter(|(_, value)| !nested(value))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            map.extend(inner.clone());
            Value::Object(map)
        }
        _ => value.clone(),
    }
}
