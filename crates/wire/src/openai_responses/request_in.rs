//! A request as a client sends it.

use rail_model::{
    CallKind, Effort, Extras, Format, Json, Map, Message, Opaque, Part, PartBody, Request, Role, Sampling,
    Thinking, ToolResult,
};
use serde_json::Value;

use super::content::Voice;
use super::item_in::{self, Kind, Side};
use super::types::{Call, MessageItem, OutputItem, Reasoning, TextConfig};
use super::{
    AS_DEVELOPER, AS_LIST, AS_STRING, AS_SYSTEM, ENCRYPTED, ID, INCLUDE, INPUT_STRING, INSTRUCTIONS, ITEM,
    ITEM_REST, LOGPROBS_ASKED, NAME, NO_INPUT, NO_TYPE, SAME_ITEM, missing, tools,
};
use crate::error::{WireError, parse, parse_at};
use crate::ids;
use crate::protocol::HttpCall;
use crate::shape::StrOr;

pub(super) fn decode(http: &HttpCall) -> Result<Request, WireError> {
    let mut call: Call = parse(ID, &http.body)?;
    let templated = call.rest.as_ref().is_some_and(|rest| rest.contains_key("prompt"));
    let mut request = Request {
        model: match call.model.take() {
            Some(model) => model,
            // A stored prompt brings its own model.
            None if templated => String::new(),
            None => return Err(missing("model")),
        },
        stream: call.stream.take_if(|stream| *stream).is_some(),
        user: call.user.take(),
        parallel_tools: call.parallel_tool_calls.take(),
        origin: Some(ID),
        headers: http.headers.iter().filter(|(name, _)| name == "openai-beta").cloned().collect(),
        ..Request::default()
    };
    if let Some(text) = call.instructions.take() {
        let mut part = Part::text(text);
        part.extras.mark(ID, INSTRUCTIONS);
        request.system.push(part);
    }
    input(&mut call, &mut request)?;
    request.sampling = sampling(&mut call, &mut request.extras);
    tools::read_all(&mut call, &mut request)?;
    thinking(&mut call, &mut request);
    format(&mut call, &mut request);
    let notes = request.extras;
    request.extras = Extras::rest(ID, call.leftovers());
    request.extras.merge(notes);
    Ok(request)
}

fn sampling(call: &mut Call, extras: &mut Extras) -> Sampling {
    let top_logprobs = call.top_logprobs.take().map(|count| count.0);
    let mut logprobs = None;
    if let Some(list) = &call.include {
        if list.iter().any(|entry| entry == LOGPROBS_ASKED) {
            logprobs = Some(true);
        }
        // Both wishes are granted in every protocol that can, so naming them as lost would be wrong.
        if !list.is_empty() && list.iter().all(|entry| entry == LOGPROBS_ASKED || entry == ENCRYPTED) {
            extras.insert(ID, INCLUDE, Value::Array(call.include.take().unwrap_or_default()));
        }
    }
    Sampling {
        max_output: call.max_output_tokens.take().map(|count| count.0),
        temperature: call.temperature.take(),
        top_p: call.top_p.take(),
        logprobs,
        top_logprobs,
        ..Sampling::default()
    }
}

fn input(call: &mut Call, request: &mut Request) -> Result<(), WireError> {
    match call.input.take() {
        None => request.extras.mark(ID, NO_INPUT),
        Some(StrOr::Str(text)) => {
            request.extras.mark(ID, INPUT_STRING);
            request.messages.push(Message::new(Role::User, vec![Part::text(text)]));
        }
        Some(StrOr::List(list)) if list.is_empty() => call.input = Some(StrOr::List(list)),
        Some(StrOr::List(list)) => {
            for (at, json) in list.iter().enumerate() {
                item(json, &format!("input[{at}]"), request)?;
            }
        }
    }
    Ok(())
}

fn item(json: &Json, path: &str, request: &mut Request) -> Result<(), WireError> {
    if json.text().starts_with('[') {
        return Err(WireError::malformed(ID, path, "must be an object"));
    }
    let kind = item_in::kind(json, path)?;
    let role = match kind {
        Kind::User => Role::User,
        Kind::System | Kind::Developer => Role::System,
        Kind::Output(kind) => {
            request.messages.push(output(json, kind, path)?);
            return Ok(());
        }
        Kind::Assistant | Kind::Reasoning | Kind::Call(_) | Kind::Other => {
            let parts = item_in::parts(json, kind, Side::Client, path)?;
            match request.messages.last_mut() {
                Some(last) if last.role == Role::Assistant => last.parts.extend(parts),
                Some(_) | None => request.messages.push(Message::new(Role::Assistant, parts)),
            }
            return Ok(());
        }
    };
    let mut message = message(json, role, path)?;
    if role == Role::System {
        let mark = if kind == Kind::Developer { AS_DEVELOPER } else { AS_SYSTEM };
        message.extras.mark(ID, mark);
        if request.messages.is_empty() && !message.parts.is_empty() {
            request.system.extend(leading(message));
            return Ok(());
        }
    }
    request.messages.push(message);
    Ok(())
}

/// A message of the user or of the operator: one item, one message.
fn message(json: &Json, role: Role, path: &str) -> Result<Message, WireError> {
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
        StrOr::List(list) => item_in::contents(&list, Voice::Input, &format!("{path}.content"))?,
    };
    let mut extras = Extras::NONE;
    note_fields(&mut extras, item.leftovers());
    marks.into_iter().for_each(|mark| extras.mark(ID, mark));
    Ok(Message { role, parts, extras })
}

/// Keeps an item's fields: its id and status are about the item, the rest it said.
fn note_fields(extras: &mut Extras, fields: Map) {
    let mut about = Map::new();
    for (key, value) in fields {
        match key.as_str() {
            "id" | "status" | "phase" => about.insert(key, value).map_or((), drop),
            _ => extras.insert(ID, key, value),
        }
    }
    if !about.is_empty() {
        extras.insert(ID, ITEM, Value::Object(about));
    }
}

/// An instruction before everything else: its parts, which remember the item they came in.
fn leading(message: Message) -> Vec<Part> {
    let Message { mut parts, extras, .. } = message;
    let mut first = true;
    for part in &mut parts {
        if std::mem::take(&mut first) {
            let mut rest = extras.owned_by(ID).cloned().unwrap_or_default();
            let about = rest.shift_remove(ITEM).unwrap_or_else(|| Value::Object(Map::new()));
            part.extras.insert(ID, ITEM, about);
            if !rest.is_empty() {
                part.extras.insert(ID, ITEM_REST, Value::Object(rest));
            }
            for mark in [AS_SYSTEM, AS_DEVELOPER, AS_LIST, AS_STRING, NO_TYPE] {
                if extras.marked(ID, mark) {
                    part.extras.mark(ID, mark);
                }
            }
        } else {
            part.extras.mark(ID, SAME_ITEM);
        }
    }
    parts
}

fn output(json: &Json, kind: CallKind, path: &str) -> Result<Message, WireError> {
    let mut item: OutputItem = parse_at(ID, json.text(), path)?;
    item.kind = None;
    let call_id = item.call_id.take().ok_or_else(|| missing("call_id").under(path))?;
    let (id, _) = ids::unfold(&call_id);
    let mut extras = Extras::NONE;
    let content = match item.output.take().ok_or_else(|| missing("output").under(path))? {
        StrOr::Str(text) => {
            extras.mark(ID, AS_STRING);
            vec![Part::text(text)]
        }
        StrOr::List(list) => {
            extras.mark(ID, AS_LIST);
            item_in::contents(&list, Voice::Input, &format!("{path}.output"))?
        }
    };
    let name = item.name.take();
    if let Some(name) = &name {
        // The call this answers may be known by a flat name; the client's own is what it sees again.
        extras.insert(ID, NAME, Value::from(name.as_str()));
    }
    note_fields(&mut extras, item.leftovers());
    let result = ToolResult { id, name, content, is_error: None, kind };
    let part = Part { extras, ..Part::new(PartBody::ToolResult(result)) };
    Ok(Message::new(Role::Tool, vec![part]))
}

fn thinking(call: &mut Call, request: &mut Request) {
    let said =
        |asked: &mut Reasoning| asked.effort.is_some() || asked.summary.is_some() || asked.rest.is_some();
    let Some(mut asked) = call.reasoning.take_if(said) else { return };
    let effort = asked.effort.take().map(|word| Effort::parse(&word));
    let show = asked.summary.as_ref().map(|_| true);
    // `concise` and `detailed` say more than that it is to be shown.
    asked.summary.take_if(|word| word == "auto");
    let extras = Extras::rest(ID, asked.leftovers());
    request.thinking = Some(Thinking { mode: None, budget: None, effort, show, extras });
}

fn format(call: &mut Call, request: &mut Request) {
    let Some(config) = &mut call.text else { return };
    let known = config.format.as_ref().is_some_and(|format| format.kind.is_some());
    if let Some(mut format) = config.format.take_if(|_| known) {
        let kind = format.kind.take().unwrap_or_default();
        request.format = Some(match kind.as_str() {
            "text" if is_bare(&format) => Format::Text,
            "json_object" if is_bare(&format) => Format::JsonObject,
            "json_schema" if format.rest.is_none() => Format::JsonSchema {
                name: format.name,
                description: format.description,
                schema: format.schema,
                strict: format.strict,
            },
            _ => {
                format.kind = Some(kind);
                Format::Opaque(Opaque { origin: ID, value: Value::Object(format.leftovers()) })
            }
        });
        let left = call.text.take().map(TextConfig::leftovers).unwrap_or_default();
        if !left.is_empty() {
            request.extras.insert(ID, "text", Value::Object(left));
        }
    }
}

fn is_bare(format: &super::types::TextFormat) -> bool {
    format.clone().leftovers().is_empty()
}
