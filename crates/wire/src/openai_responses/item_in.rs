//! Items of a conversation, as parts of one assistant turn.

use rail_model::{CallId, CallKind, Extras, Json, Map, Opaque, Part, PartBody, Seal, ToolCall};
use serde_json::Value;

use super::content::{self, Voice};
use super::types::{CallItem, Content, MessageItem, ReasoningItem};
use super::{
    AS_STRING, CONTENT, EMPTY, ID, ITEM, ITEM_REST, NAME, NO_SUMMARY, NO_TYPE, RAW, SAME_ITEM, SEALED,
    SUMMARY, flat_name, is_minted, missing,
};
use crate::error::{WireError, parse_at};
use crate::ids;
use crate::shape::StrOr;

/// Who sent the item: a client folds seals into what it gives back, an upstream says them as they are.
#[derive(Clone, Copy)]
pub(super) enum Side<'a> {
    Client,
    Upstream { answer: &'a str, index: usize },
}

/// What an item is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    User,
    System,
    Developer,
    Assistant,
    Reasoning,
    Call(CallKind),
    Output(CallKind),
    Other,
}

pub(super) fn kind(json: &Json, path: &str) -> Result<Kind, WireError> {
    let peek = content::peek(json, path)?;
    Ok(match (peek.kind.as_deref(), peek.role.as_deref()) {
        (Some("message") | None, Some(role)) => match role {
            "user" => Kind::User,
            "system" => Kind::System,
            "developer" => Kind::Developer,
            "assistant" => Kind::Assistant,
            _ => Kind::Other,
        },
        (Some("message"), None) => return Err(missing("role").under(path)),
        (Some("reasoning"), _) => Kind::Reasoning,
        (Some("function_call"), _) => Kind::Call(CallKind::Function),
        (Some("custom_tool_call"), _) => Kind::Call(CallKind::Custom),
        (Some("function_call_output"), _) => Kind::Output(CallKind::Function),
        (Some("custom_tool_call_output"), _) => Kind::Output(CallKind::Custom),
        (Some(_) | None, _) => Kind::Other,
    })
}

/// What an item of an answer is: there some leave out the role.
pub(super) fn answered_kind(json: &Json, path: &str) -> Result<Kind, WireError> {
    let peek = content::peek(json, path)?;
    if peek.kind.as_deref() == Some("message") && peek.role.is_none() {
        return Ok(Kind::Assistant);
    }
    kind(json, path)
}

/// The parts of an item of the assistant; one that is not its own is kept whole.
pub(super) fn parts(json: &Json, kind: Kind, side: Side<'_>, path: &str) -> Result<Vec<Part>, WireError> {
    match kind {
        Kind::Assistant => message(json, side, path),
        Kind::Reasoning => reasoning(json, side, path),
        Kind::Call(kind) => Ok(vec![call(json, kind, side, path)?]),
        Kind::User | Kind::System | Kind::Developer | Kind::Output(_) | Kind::Other => Ok(vec![opaque(json)]),
    }
}

pub(super) fn opaque(json: &Json) -> Part {
    Part::new(PartBody::Opaque(Opaque { origin: ID, value: json.value() }))
}

/// Fields of an item that say how it is kept, not what is said.
const ABOUT: &[&str] = &[
    "id",
    "type",
    "status",
    "role",
    "phase",
    "namespace",
    "content",
    "summary",
    "encrypted_content",
    "arguments",
    "input",
];

/// Keeps an item's own fields with one of its parts. An id that we made up was said by nobody.
pub(super) fn keep_item(extras: &mut Extras, fields: Map, side: Side<'_>) {
    let (mut about, mut rest) = (Map::new(), Map::new());
    for (key, value) in fields {
        if key == "id" && matches!(side, Side::Client) && value.as_str().is_some_and(is_minted) {
            continue;
        }
        if ABOUT.contains(&key.as_str()) { &mut about } else { &mut rest }.insert(key, value);
    }
    extras.insert(ID, ITEM, Value::Object(about));
    if !rest.is_empty() {
        extras.insert(ID, ITEM_REST, Value::Object(rest));
    }
}

/// The parts of one item know that they belong together.
fn one_item(mut parts: Vec<Part>, fields: Map, marks: &[&'static str], side: Side<'_>) -> Vec<Part> {
    for part in parts.iter_mut().skip(1) {
        part.extras.mark(ID, SAME_ITEM);
    }
    if let Some(first) = parts.first_mut() {
        keep_item(&mut first.extras, fields, side);
        marks.iter().for_each(|mark| first.extras.mark(ID, mark));
    }
    parts
}

fn message(json: &Json, side: Side<'_>, path: &str) -> Result<Vec<Part>, WireError> {
    let mut item: MessageItem = parse_at(ID, json.text(), path)?;
    let mut marks = Vec::new();
    if item.kind.take().is_none() {
        marks.push(NO_TYPE);
    }
    item.role = None;
    let parts = match item.content.take().ok_or_else(|| missing("content").under(path))? {
        StrOr::Str(text) => {
            marks.push(AS_STRING);
            vec![Part::text(text)]
        }
        StrOr::List(list) if list.is_empty() => return Ok(vec![opaque(json)]),
        StrOr::List(list) => contents(&list, Voice::Output, &format!("{path}.content"))?,
    };
    Ok(one_item(parts, item.leftovers(), &marks, side))
}

pub(super) fn contents(list: &[Json], voice: Voice, path: &str) -> Result<Vec<Part>, WireError> {
    list.iter().enumerate().map(|(at, json)| content::read(json, voice, &format!("{path}[{at}]"))).collect()
}

fn reasoning(json: &Json, side: Side<'_>, path: &str) -> Result<Vec<Part>, WireError> {
    let mut item: ReasoningItem = parse_at(ID, json.text(), path)?;
    item.kind = None;
    let mut marks = Vec::new();
    let summary = item.summary.take();
    if summary.is_none() {
        marks.push(NO_SUMMARY);
    }
    let mut parts = thoughts(summary.unwrap_or_default(), SUMMARY, &format!("{path}.summary"))?;
    // An empty list, or a thing that is none, stays as it was said.
    let raw = item.content.as_ref().and_then(|json| serde_json::from_str::<Vec<Json>>(json.text()).ok());
    if let Some(raw) = raw.filter(|list| !list.is_empty()) {
        item.content = None;
        parts.extend(thoughts(raw, RAW, &format!("{path}.content"))?);
    }
    let seal = item.encrypted_content.take_if(|data| !data.is_empty()).map(|data| seal_in(data, side));
    if seal.is_some() {
        marks.push(SEALED);
    }
    if parts.is_empty() {
        let body = seal.map_or_else(
            || {
                marks.push(EMPTY);
                PartBody::Thinking(String::new())
            },
            PartBody::Redacted,
        );
        parts.push(Part::new(body));
    } else {
        let bearer = parts.iter().rposition(|part| matches!(part.body, PartBody::Thinking(_)));
        if let Some(part) = parts.get_mut(bearer.unwrap_or_default()) {
            part.seal = seal;
        }
    }
    Ok(one_item(parts, item.leftovers(), &marks, side))
}

/// A seal of another issuer travels inside ours while a client keeps it.
pub(super) fn seal_in(data: String, side: Side<'_>) -> Seal {
    match side {
        Side::Client => ids::unfold_seal(data, ID.name()),
        Side::Upstream { .. } => Seal { issuer: ID.name().to_owned(), data },
    }
}

fn thoughts(list: Vec<Json>, place: &'static str, path: &str) -> Result<Vec<Part>, WireError> {
    list.iter().enumerate().map(|(at, json)| thought(json, place, &format!("{path}[{at}]"))).collect()
}

/// One entry of a summary or of the raw reasoning.
pub(super) fn thought(json: &Json, place: &'static str, path: &str) -> Result<Part, WireError> {
    let kind = content::peek(json, path)?.kind.unwrap_or_default();
    let known = if place == RAW { kind == "reasoning_text" } else { kind == "summary_text" };
    let mut part = if known {
        let mut content: Content = parse_at(ID, json.text(), path)?;
        content.kind = None;
        let text = content.text.take().ok_or_else(|| missing("text").under(path))?;
        Part { extras: Extras::rest(ID, content.leftovers()), ..Part::new(PartBody::Thinking(text)) }
    } else {
        content::opaque(json)
    };
    if place == RAW || !known {
        part.extras.mark(ID, place);
    }
    if !known {
        part.extras.mark(ID, CONTENT);
    }
    Ok(part)
}

fn call(json: &Json, kind: CallKind, side: Side<'_>, path: &str) -> Result<Part, WireError> {
    let mut item: CallItem = parse_at(ID, json.text(), path)?;
    item.kind = None;
    let (id, seal) = match (item.call_id.take(), side) {
        (Some(id), Side::Client) => ids::unfold(&id),
        (None, Side::Client) => return Err(missing("call_id").under(path)),
        (Some(id), Side::Upstream { .. }) if !id.is_empty() => (CallId::Given(id), None),
        (Some(_) | None, Side::Upstream { answer, index }) => (ids::mint(answer, index), None),
    };
    let name = match (item.name.take(), side) {
        (Some(name), _) => name,
        (None, Side::Upstream { .. }) => String::new(),
        (None, Side::Client) => return Err(missing("name").under(path)),
    };
    let (text, field) = match kind {
        CallKind::Function => (item.arguments.take(), "arguments"),
        CallKind::Custom => (item.input.take(), "input"),
    };
    let arguments = match (text, side) {
        (Some(text), _) => text,
        (None, Side::Upstream { .. }) => String::new(),
        (None, Side::Client) => return Err(missing(field).under(path)),
    };
    let mut extras = Extras::NONE;
    let flat = item.namespace.as_deref().map(|space| flat_name(space, &name));
    if flat.is_some() {
        extras.insert(ID, NAME, Value::from(name.as_str()));
    }
    keep_item(&mut extras, item.leftovers(), side);
    let call = ToolCall { id, name: flat.unwrap_or(name), arguments, kind };
    Ok(Part { seal, extras, ..Part::new(PartBody::ToolCall(call)) })
}
