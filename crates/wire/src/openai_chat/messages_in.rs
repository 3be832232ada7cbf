//! Messages as clients send them and as answers hold them.

use std::collections::BTreeMap;

use rail_model::{
    CallId, CallKind, Extras, Json, Map, Message, Opaque, Part, PartBody, Role, Seal, ToolCall, ToolResult,
};
use serde_json::Value;

use super::types::{CallEntry, ContentPart, FunctionCall, Turn};
use super::{
    AS_ARRAY, AS_OBJECT, BEGINS, DETAILS, DEVELOPER, EMPTY, FIELD, GEMINI, GOOGLE, ID, IN_CALLS, LEGACY,
    MESSAGE, NO_CONTENT, REASONING, UNTYPED, media, missing, nest,
};
use crate::error::WireError;
use crate::ids;
use crate::shape::StrOr;

/// Reads a conversation: the instructions at its head, and the messages.
pub(super) fn conversation(turns: Vec<Turn>) -> Result<(Vec<Part>, Vec<Message>), WireError> {
    let mut reader = Reader::default();
    let (mut system, mut messages) = (Vec::new(), Vec::new());
    for (at, turn) in turns.into_iter().enumerate() {
        let path = format!("messages[{at}]");
        let message = reader.message(turn, &path)?;
        let developer = message.extras.marked(ID, DEVELOPER);
        if message.role == Role::System && messages.is_empty() && !message.parts.is_empty() {
            system.extend(at_the_head(message, developer));
        } else {
            messages.push(message);
        }
    }
    Ok((system, messages))
}

/// A leading instruction as parts; its first part remembers the message around it.
fn at_the_head(message: Message, developer: bool) -> Vec<Part> {
    let Message { mut parts, extras, .. } = message;
    if let Some(first) = parts.first_mut() {
        first.extras.mark(ID, BEGINS);
        if developer {
            first.extras.mark(ID, DEVELOPER);
        }
        if extras.marked(ID, AS_ARRAY) {
            first.extras.mark(ID, AS_ARRAY);
        }
        nest(&mut first.extras, MESSAGE, extras.owned_by(ID).cloned().unwrap_or_default());
    }
    parts
}

/// Remembers the calls, because their results say neither their kind nor, in the old form, their id.
#[derive(Default)]
struct Reader {
    kinds: BTreeMap<String, CallKind>,
    legacy: Vec<(String, CallId)>,
}

impl Reader {
    fn message(&mut self, mut turn: Turn, path: &str) -> Result<Message, WireError> {
        let Some(role) = turn.role.take() else { return Err(missing("role").under(path)) };
        let mut marks = Extras::NONE;
        let (role, parts) = match role.as_str() {
            "system" => (Role::System, content(&mut turn, path, &mut marks)?),
            "developer" => {
                marks.mark(ID, DEVELOPER);
                (Role::System, content(&mut turn, path, &mut marks)?)
            }
            "user" => (Role::User, content(&mut turn, path, &mut marks)?),
            "assistant" => (Role::Assistant, self.assistant(&mut turn, path, &mut marks)?),
            "tool" => (Role::Tool, vec![self.result(&mut turn, path, &mut marks)?]),
            "function" => (Role::Tool, vec![self.legacy_result(&mut turn, path, &mut marks)?]),
            // Who else speaks, speaks to the model; the name of the role goes back to its own protocol.
            other => {
                turn.role = Some(other.to_owned());
                (Role::User, content(&mut turn, path, &mut marks)?)
            }
        };
        let mut extras = Extras::rest(ID, turn.leftovers());
        extras.merge(marks);
        Ok(Message { role, parts, extras })
    }

    fn assistant(&mut self, turn: &mut Turn, path: &str, marks: &mut Extras) -> Result<Vec<Part>, WireError> {
        let legacy = turn.function_call.take();
        let mut parts = spoken(turn, path, marks)?;
        if let Some(call) = legacy {
            let id = ids::mint(LEGACY, self.legacy.len());
            let path = format!("{path}.function_call");
            let part = legacy_call(call, id.clone()).map_err(|error| error.under(&path))?;
            if let PartBody::ToolCall(call) = &part.body {
                self.legacy.push((call.name.clone(), id));
            }
            parts.push(part);
        }
        for (at, entry) in turn
            .tool_calls
            .take_if(|calls| !calls.0.is_empty())
            .into_iter()
            .flat_map(|calls| calls.0)
            .enumerate()
        {
            let path = format!("{path}.tool_calls[{at}]");
            let id = entry.id.clone().ok_or_else(|| missing("id").under(&path))?;
            let part = call(entry, ids::unfold(&id)).map_err(|error| error.under(&path))?;
            if let PartBody::ToolCall(call) = &part.body {
                self.kinds.insert(id, call.kind);
            }
            parts.push(part);
        }
        Ok(parts)
    }

    fn result(&mut self, turn: &mut Turn, path: &str, marks: &mut Extras) -> Result<Part, WireError> {
        let said = turn.tool_call_id.take().ok_or_else(|| missing("tool_call_id").under(path))?;
        let kind = self.kinds.get(&said).copied().unwrap_or_default();
        let (id, _) = ids::unfold(&said);
        let content = result_content(turn, path, marks)?;
        let result = ToolResult { id, name: turn.name.clone(), content, is_error: None, kind };
        Ok(Part::new(PartBody::ToolResult(result)))
    }

    fn legacy_result(&mut self, turn: &mut Turn, path: &str, marks: &mut Extras) -> Result<Part, WireError> {
        marks.mark(ID, LEGACY);
        let name = turn.name.take().ok_or_else(|| missing("name").under(path))?;
        let called = self.legacy.iter().rev().find(|(call, _)| *call == name).map(|(_, id)| id.clone());
        let id = called.unwrap_or_else(|| ids::mint(&name, self.legacy.len()));
        let content = result_content(turn, path, marks)?;
        let result = ToolResult { id, name: Some(name), content, is_error: None, kind: CallKind::Function };
        Ok(Part::new(PartBody::ToolResult(result)))
    }
}

fn said_null(turn: &Turn) -> bool {
    turn.rest.as_ref().is_some_and(|rest| rest.contains_key("content"))
}

/// The content of a message that must have some.
fn content(turn: &mut Turn, path: &str, marks: &mut Extras) -> Result<Vec<Part>, WireError> {
    match turn.content.take() {
        Some(StrOr::Str(text)) => Ok(vec![Part::text(text)]),
        Some(StrOr::List(list)) => listed(list, turn, path, marks),
        None if said_null(turn) => Ok(Vec::new()),
        None => Err(missing("content").under(path)),
    }
}

fn listed(
    list: Vec<ContentPart>,
    turn: &mut Turn,
    path: &str,
    marks: &mut Extras,
) -> Result<Vec<Part>, WireError> {
    if list.is_empty() {
        turn.content = Some(StrOr::List(list));
        return Ok(Vec::new());
    }
    marks.mark(ID, AS_ARRAY);
    let read = |(at, part)| media::read(part, &format!("{path}.content[{at}]"));
    list.into_iter().enumerate().map(read).collect()
}

fn result_content(turn: &mut Turn, path: &str, marks: &mut Extras) -> Result<Vec<Part>, WireError> {
    match turn.content.take() {
        Some(StrOr::Str(text)) if text.is_empty() => Ok(Vec::new()),
        Some(StrOr::Str(text)) => Ok(vec![Part::text(text)]),
        Some(StrOr::List(list)) => listed(list, turn, path, marks),
        None => {
            if !said_null(turn) {
                marks.mark(ID, NO_CONTENT);
            }
            Ok(Vec::new())
        }
    }
}

/// What an assistant said, before its calls: reasoning, text, refusal.
pub(super) fn spoken(turn: &mut Turn, path: &str, marks: &mut Extras) -> Result<Vec<Part>, WireError> {
    let mut parts: Vec<Part> = reasoning(turn).into_iter().collect();
    match turn.content.take() {
        Some(StrOr::Str(text)) if text.is_empty() => marks.mark(ID, EMPTY),
        Some(StrOr::Str(text)) => parts.push(Part::text(text)),
        Some(StrOr::List(list)) => parts.extend(listed(list, turn, path, marks)?.into_iter().map(thought)),
        None if said_null(turn) => {}
        None => marks.mark(ID, NO_CONTENT),
    }
    let text = parts.iter_mut().rev().find(|part| part.as_text().is_some());
    if let Some(text) = text
        && let Some(annotations) = turn.annotations.take_if(|annotations| !annotations.is_empty())
    {
        text.extras.insert(ID, "annotations", Value::Array(annotations));
    }
    if let Some(text) = turn.refusal.take_if(|text| !text.is_empty()) {
        let mut part = Part::new(PartBody::Refusal(text));
        part.extras.mark(ID, FIELD);
        parts.push(part);
    }
    Ok(parts)
}

/// Mistral's models put their reasoning between the content parts.
fn thought(part: Part) -> Part {
    let text = match &part.body {
        PartBody::Opaque(opaque) if opaque.value.get("type") == Some(&Value::from("thinking")) => {
            opaque.value.get("thinking").map(thinking_text)
        }
        PartBody::Text(_)
        | PartBody::Refusal(_)
        | PartBody::Thinking(_)
        | PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::ToolResult(_)
        | PartBody::Media(_)
        | PartBody::Opaque(_) => None,
    };
    let Some(text) = text.filter(|text| !text.is_empty()) else { return part };
    let PartBody::Opaque(Opaque { value: Value::Object(mut whole), .. }) = part.body else { return part };
    whole.retain(|key, _| key != "type" && key != "thinking");
    Part { extras: Extras::rest(ID, whole), ..Part::new(PartBody::Thinking(text)) }
}

/// The text of `thinking`, which is a string or a list of text parts.
pub(super) fn thinking_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// The reasoning, under whichever of its names it came.
fn reasoning(turn: &mut Turn) -> Option<Part> {
    let details = turn.reasoning_details.take_if(|details| !details.is_empty());
    let mut extras = Extras::NONE;
    let text = turn.reasoning_content.take_if(|text| !text.is_empty()).or_else(|| {
        let text = turn.reasoning.take_if(|text| !text.is_empty())?;
        extras.mark(ID, REASONING);
        Some(text)
    });
    let body = match (text, &details) {
        (Some(text), _) => PartBody::Thinking(text),
        (None, Some(details)) => {
            extras.mark(ID, DETAILS);
            let text: String = details.iter().filter_map(detail_text).collect();
            let sealed = details.iter().find_map(encrypted).filter(|_| text.is_empty());
            sealed.map_or(PartBody::Thinking(text), PartBody::Redacted)
        }
        (None, None) => return None,
    };
    if let Some(details) = details {
        extras.insert(ID, "reasoning_details", Value::Array(details));
    }
    Some(Part { extras, ..Part::new(body) })
}

/// The words in an entry of `reasoning_details`.
pub(super) fn detail_text(detail: &Value) -> Option<&str> {
    detail.get("text").or_else(|| detail.get("summary")).and_then(Value::as_str)
}

/// The seal in an entry of `reasoning_details` that nobody can read.
pub(super) fn encrypted(detail: &Value) -> Option<Seal> {
    let data = detail.get("data").and_then(Value::as_str)?;
    Some(Seal { issuer: ID.name().to_owned(), data: data.to_owned() })
}

/// A call, with an id that was read by whoever knows where it came from.
pub(super) fn call(mut entry: CallEntry, (id, folded): (CallId, Option<Seal>)) -> Result<Part, WireError> {
    let kind = entry.kind.take();
    let mut extras = Extras::NONE;
    let mut seal = folded;
    let (name, arguments, call_kind) = match (kind.as_deref(), entry.function.take(), entry.custom.take()) {
        (Some("function") | None, Some(mut function), custom) => {
            entry.custom = custom;
            let name = function.name.take().ok_or_else(|| missing("function.name"))?;
            let text = arguments(function.arguments.take(), &mut extras);
            nest(&mut extras, "function", function.leftovers());
            (name, text, CallKind::Function)
        }
        (Some("custom") | None, function, Some(mut custom)) => {
            entry.function = function;
            let name = custom.name.take().ok_or_else(|| missing("custom.name"))?;
            let text = custom.input.take().unwrap_or_default();
            nest(&mut extras, "custom", custom.leftovers());
            (name, text, CallKind::Custom)
        }
        (Some("function"), None, _) | (None, None, None) => return Err(missing("function")),
        (Some("custom"), _, None) => return Err(missing("custom")),
        (Some(_), function, custom) => {
            (entry.kind, entry.function, entry.custom) = (kind, function, custom);
            extras.mark(ID, IN_CALLS);
            let body = PartBody::Opaque(Opaque { origin: ID, value: Value::Object(entry.leftovers()) });
            return Ok(Part { extras, ..Part::new(body) });
        }
    };
    if kind.is_none() {
        extras.mark(ID, UNTYPED);
    }
    entry.id = None;
    if let Some(signature) = google_signature(&mut entry.extra_content) {
        extras.mark(ID, GOOGLE);
        seal = Some(signature);
    }
    let mut kept = Extras::rest(ID, entry.leftovers());
    kept.merge(extras);
    let body = PartBody::ToolCall(ToolCall { id, name, arguments, kind: call_kind });
    Ok(Part { seal, extras: kept, ..Part::new(body) })
}

/// The model's own text; servers exist that send an object instead.
fn arguments(json: Option<Json>, extras: &mut Extras) -> String {
    let Some(json) = json else { return String::new() };
    match serde_json::from_str::<String>(json.text()) {
        Ok(text) => {
            if text.is_empty() {
                extras.mark(ID, EMPTY);
            }
            text
        }
        Err(_) => {
            extras.mark(ID, AS_OBJECT);
            json.text().to_owned()
        }
    }
}

/// Takes Google's signature out of `extra_content`; what else is there stays.
pub(super) fn google_signature(extra: &mut Option<Value>) -> Option<Seal> {
    let whole = extra.as_mut()?.as_object_mut()?;
    let google = whole.get_mut("google")?.as_object_mut()?;
    let data = google.get("thought_signature")?.as_str()?.to_owned();
    google.shift_remove("thought_signature");
    if google.is_empty() {
        whole.shift_remove("google");
    }
    if whole.is_empty() {
        *extra = None;
    }
    Some(Seal { issuer: GEMINI.to_owned(), data })
}

/// A call in the form that was used before there were tools.
pub(super) fn legacy_call(mut call: FunctionCall, id: CallId) -> Result<Part, WireError> {
    let name = call.name.take().ok_or_else(|| missing("name"))?;
    let mut marks = Extras::NONE;
    marks.mark(ID, LEGACY);
    let arguments = arguments(call.arguments.take(), &mut marks);
    let left: Map = call.leftovers();
    let mut extras = Extras::rest(ID, left);
    extras.merge(marks);
    let body = PartBody::ToolCall(ToolCall { id, name, arguments, kind: CallKind::Function });
    Ok(Part { extras, ..Part::new(body) })
}
