//! Parts of an assistant turn, as items.

use rail_model::{CallKind, Extras, Loss, Map, Part, PartBody, Seal};
use serde_json::Value;

use super::content::{self, Voice};
use super::{
    AS_STRING, CONTENT, EMPTY, FINAL, ID, ITEM, ITEM_REST, NAME, NO_SUMMARY, NO_TYPE, RAW, SAME_ITEM,
    SUMMARY, kept_fields,
};
use crate::ids;

/// Who will read the item: what an upstream must not see is folded away only for a client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    Client,
    Upstream,
}

/// What kind of item a part belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Message,
    Reasoning,
    Call(CallKind),
    Whole,
}

pub(super) fn class(part: &Part) -> Class {
    match &part.body {
        PartBody::Text(_) | PartBody::Refusal(_) | PartBody::Media(_) => Class::Message,
        PartBody::Thinking(_) | PartBody::Redacted(_) => Class::Reasoning,
        PartBody::ToolCall(call) => Class::Call(call.kind),
        PartBody::Opaque(_) if part.extras.marked(ID, RAW) || part.extras.marked(ID, SUMMARY) => {
            Class::Reasoning
        }
        PartBody::Opaque(_) if part.extras.marked(ID, CONTENT) => Class::Message,
        PartBody::Opaque(_) | PartBody::ToolResult(_) => Class::Whole,
    }
}

/// Whether an item's fields are kept with this part.
pub(super) fn is_own(extras: &Extras) -> bool {
    extras.get(ID, ITEM).is_some() || extras.marked(ID, SAME_ITEM)
}

/// Whether `next` goes into the same item as `part`. Parts that came back through another protocol have lost their
/// item: texts side by side are one message, and thoughts are one item up to the one that bears its seal.
fn together(part: &Part, next: &Part) -> bool {
    let class = class(part);
    let foreign = !is_own(&part.extras) && !is_own(&next.extras);
    let joined = match class {
        Class::Message => foreign,
        Class::Reasoning => foreign && part.seal.is_none() && matches!(part.body, PartBody::Thinking(_)),
        Class::Call(_) | Class::Whole => return false,
    };
    class == self::class(next) && (next.extras.marked(ID, SAME_ITEM) || joined)
}

/// The parts of each item.
pub(super) fn groups(parts: &[Part]) -> impl Iterator<Item = &[Part]> {
    parts.chunk_by(together)
}

/// One item from its parts; None when nothing of it can be said.
pub(super) fn item(group: &[Part], reader: Reader, path: &str, losses: &mut Vec<Loss>) -> Option<Map> {
    let first = group.first()?;
    match class(first) {
        Class::Message => message(group, path, losses),
        Class::Reasoning => Some(reasoning(group, reader)),
        Class::Call(kind) => call(first, kind, reader),
        Class::Whole => match &first.body {
            PartBody::Opaque(opaque) if opaque.origin == ID => {
                let value = first.extras.get(ID, FINAL).unwrap_or(&opaque.value);
                value.as_object().cloned()
            }
            PartBody::Opaque(_)
            | PartBody::ToolResult(_)
            | PartBody::Text(_)
            | PartBody::Refusal(_)
            | PartBody::Thinking(_)
            | PartBody::Redacted(_)
            | PartBody::ToolCall(_)
            | PartBody::Media(_) => None,
        },
    }
}

/// The item's fields as its last word about them says.
pub(super) fn fields(group: &[Part]) -> Map {
    let last = group.iter().rev().find(|part| part.extras.get(ID, ITEM).is_some());
    let kept = |key: &str| last.and_then(|part| part.extras.get(ID, key)).and_then(Value::as_object);
    let mut map = Map::new();
    map.extend(kept(ITEM).cloned().unwrap_or_default());
    map.extend(kept(ITEM_REST).cloned().unwrap_or_default());
    map
}

fn typed(kind: &str, fields: Map) -> Map {
    let mut map = Map::from_iter([("type".to_owned(), Value::from(kind))]);
    map.extend(fields);
    map
}

fn marked(group: &[Part], mark: &str) -> bool {
    group.iter().any(|part| part.extras.marked(ID, mark))
}

fn message(group: &[Part], path: &str, losses: &mut Vec<Loss>) -> Option<Map> {
    let text = match group {
        [part] if part.extras.marked(ID, AS_STRING) => part.as_text(),
        _ => None,
    };
    let content = match text {
        Some(text) => Value::from(text),
        None => {
            let write = |part| content::write(part, Voice::Output, path, losses);
            let list: Vec<Value> = group.iter().filter_map(write).collect();
            if list.is_empty() {
                return None;
            }
            Value::Array(list)
        }
    };
    Some(message_item(fields(group), marked(group, NO_TYPE), content))
}

pub(super) fn message_item(fields: Map, untyped: bool, content: Value) -> Map {
    let mut map = if untyped { fields } else { typed("message", fields) };
    map.insert("role".to_owned(), Value::from("assistant"));
    map.insert("content".to_owned(), content);
    map
}

fn reasoning(group: &[Part], reader: Reader) -> Map {
    let entries = |raw: bool| -> Vec<Value> {
        group.iter().filter(|part| part.extras.marked(ID, RAW) == raw).filter_map(thought).collect()
    };
    let (summary, content) = (entries(false), entries(true));
    let seal = group.iter().rev().find_map(|part| match &part.body {
        PartBody::Redacted(seal) => Some(seal),
        PartBody::Thinking(_)
        | PartBody::Text(_)
        | PartBody::Refusal(_)
        | PartBody::ToolCall(_)
        | PartBody::ToolResult(_)
        | PartBody::Media(_)
        | PartBody::Opaque(_) => part.seal.as_ref(),
    });
    let mut map = typed("reasoning", fields(group));
    if !(summary.is_empty() && marked(group, NO_SUMMARY)) {
        map.insert("summary".to_owned(), Value::Array(summary));
    }
    if !content.is_empty() {
        map.insert("content".to_owned(), Value::Array(content));
    }
    if let Some(seal) = seal {
        map.insert("encrypted_content".to_owned(), Value::from(seal_out(seal, reader)));
    }
    map
}

fn seal_out(seal: &Seal, reader: Reader) -> String {
    match reader {
        Reader::Client => ids::fold_seal(seal, ID.name()),
        Reader::Upstream => seal.data.clone(),
    }
}

/// One entry of a summary or of the raw reasoning; None for a part that stands for an item without any.
pub(super) fn thought(part: &Part) -> Option<Value> {
    match &part.body {
        PartBody::Thinking(_) if part.extras.marked(ID, EMPTY) => None,
        PartBody::Thinking(text) => {
            let kind = if part.extras.marked(ID, RAW) { "reasoning_text" } else { "summary_text" };
            let mut map = Map::from_iter([("type".to_owned(), Value::from(kind))]);
            map.insert("text".to_owned(), Value::from(text.as_str()));
            map.extend(kept_fields(&part.extras));
            Some(Value::Object(map))
        }
        PartBody::Opaque(opaque) => Some(part.extras.get(ID, FINAL).unwrap_or(&opaque.value).clone()),
        PartBody::Redacted(_)
        | PartBody::Text(_)
        | PartBody::Refusal(_)
        | PartBody::ToolCall(_)
        | PartBody::ToolResult(_)
        | PartBody::Media(_) => None,
    }
}

fn call(part: &Part, kind: CallKind, reader: Reader) -> Option<Map> {
    let PartBody::ToolCall(call) = &part.body else { return None };
    let (name, field) = match kind {
        CallKind::Function => ("function_call", "arguments"),
        CallKind::Custom => ("custom_tool_call", "input"),
    };
    let id = match reader {
        Reader::Client => ids::fold(&call.id, part.seal.as_ref()),
        Reader::Upstream => call.id.as_str().to_owned(),
    };
    let inner = part.extras.get(ID, NAME).and_then(Value::as_str);
    let mut map = typed(name, fields(std::slice::from_ref(part)));
    map.insert("call_id".to_owned(), Value::from(id));
    map.insert("name".to_owned(), Value::from(inner.unwrap_or(&call.name)));
    // A call without arguments is said as an empty string by many and refused by this API.
    let bare = kind == CallKind::Function && call.arguments.is_empty() && !is_own(&part.extras);
    map.insert(field.to_owned(), Value::from(if bare { "{}" } else { call.arguments.as_str() }));
    Some(map)
}

/// An item as it is announced, before its content.
pub(super) fn added(part: &Part) -> Map {
    let group = std::slice::from_ref(part);
    match class(part) {
        Class::Message => message_item(fields(group), marked(group, NO_TYPE), Value::Array(Vec::new())),
        Class::Reasoning => {
            let mut map = typed("reasoning", fields(group));
            if !marked(group, NO_SUMMARY) {
                map.insert("summary".to_owned(), Value::Array(Vec::new()));
            }
            map
        }
        Class::Call(kind) => call(part, kind, Reader::Client).unwrap_or_default(),
        Class::Whole => match &part.body {
            PartBody::Opaque(opaque) => opaque.value.as_object().cloned().unwrap_or_default(),
            PartBody::Text(_)
            | PartBody::Refusal(_)
            | PartBody::Thinking(_)
            | PartBody::Redacted(_)
            | PartBody::ToolCall(_)
            | PartBody::ToolResult(_)
            | PartBody::Media(_) => Map::new(),
        },
    }
}
