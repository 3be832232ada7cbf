//! Messages as the API wants them, in requests and in whole answers.

use rail_model::{CallKind, Extras, Json, Loss, Map, Message, NOTE, Part, PartBody, Request, Role, ToolCall};
use serde_json::{Value, json};

use super::chunk::OneOrMany;
use super::types::{CallEntry, ContentPart, CustomCall, FunctionCall, Turn};
use super::{
    AS_ARRAY, AS_OBJECT, BEGINS, CHUNK, DETAILS, DEVELOPER, EMPTY, FIELD, GEMINI, GOOGLE, ID, IN_CALLS,
    LEGACY, MESSAGE, NO_CONTENT, REASONING, UNTYPED, citations, media, object_at,
};
use crate::protocol::{ReasoningBack, TargetSpec};
use crate::shape::StrOr;

/// Instructions, then the conversation.
pub(super) fn turns(request: &Request, target: &TargetSpec, losses: &mut Vec<Loss>) -> Vec<Turn> {
    let mut writer = Writer { request, target, losses, turns: Vec::new() };
    writer.system();
    for (at, message) in request.messages.iter().enumerate() {
        writer.message(message, &format!("messages[{at}]"));
    }
    writer.turns
}

struct Writer<'a> {
    request: &'a Request,
    target: &'a TargetSpec,
    losses: &'a mut Vec<Loss>,
    turns: Vec<Turn>,
}

impl Writer<'_> {
    fn system(&mut self) {
        let parts = &self.request.system;
        let starts = parts.iter().enumerate().skip(1).filter(|(_, part)| part.extras.marked(ID, BEGINS));
        let ends = starts.map(|(at, _)| at).chain([parts.len()]).collect::<Vec<_>>();
        let mut from = 0;
        for end in ends {
            let Some(group @ [first, ..]) = parts.get(from..end) else { continue };
            let list = first.extras.marked(ID, AS_ARRAY);
            let path = format!("system[{from}]");
            let content = self.content(&group.iter().collect::<Vec<_>>(), list, &path);
            let role = self.system_role(&first.extras);
            let turn = Turn { role: Some(role.to_owned()), content, ..Turn::default() };
            self.turns.push(turn.with_rest(object_at(&first.extras, MESSAGE)));
            from = end;
        }
    }

    fn system_role(&self, extras: &Extras) -> &'static str {
        let developer = self.target.quirks.developer_role && extras.marked(ID, DEVELOPER);
        if developer { "developer" } else { "system" }
    }

    fn message(&mut self, message: &Message, path: &str) {
        let is_result = |part: &&Part| matches!(part.body, PartBody::ToolResult(_));
        let (results, others): (Vec<&Part>, Vec<&Part>) = message.parts.iter().partition(is_result);
        let role = match message.role {
            Role::Assistant => return self.assistant(message, path),
            Role::Tool | Role::User if !results.is_empty() => {
                let own = others.is_empty().then_some(&message.extras);
                results.into_iter().for_each(|part| self.result(part, own, path));
                if others.is_empty() {
                    return;
                }
                "user"
            }
            Role::Tool | Role::User => "user",
            Role::System => self.system_role(&message.extras),
        };
        let content = self.content(&others, message.extras.marked(ID, AS_ARRAY), path);
        let silent = (!object_has(&message.extras, "content")).then(|| StrOr::Str(String::new()));
        let turn = Turn { role: Some(role.to_owned()), content: content.or(silent), ..Turn::default() };
        self.push(turn, &message.extras);
    }

    fn push(&mut self, mut turn: Turn, extras: &Extras) {
        let kept = extras.owned_by(ID);
        if kept.is_some_and(|kept| kept.contains_key("role")) {
            turn.role = None;
        }
        self.turns.push(turn.with_rest(kept));
    }

    /// Texts become one string unless one of them needs a part of its own.
    fn content(&mut self, parts: &[&Part], list: bool, path: &str) -> Option<StrOr<ContentPart>> {
        let texts: Option<Vec<&str>> =
            parts.iter().map(|part| part.as_text().filter(|_| !needs_part(part))).collect();
        match texts {
            Some(texts) if !list => (!texts.is_empty()).then(|| StrOr::Str(texts.join("\n\n"))),
            Some(_) | None => {
                let from = self.request.origin;
                let write = |(at, part): (usize, &&Part)| {
                    media::write(part, from, &format!("{path}.content[{at}]"), self.losses)
                        .map(without_places)
                        .or_else(|| media::note(part))
                };
                let written: Vec<_> = parts.iter().enumerate().filter_map(write).collect();
                (!written.is_empty()).then_some(StrOr::List(written))
            }
        }
    }

    fn result(&mut self, part: &Part, message: Option<&Extras>, path: &str) {
        let PartBody::ToolResult(result) = &part.body else { return };
        let none = Extras::NONE;
        let extras = message.unwrap_or(&none);
        let content =
            self.content(&result.content.iter().collect::<Vec<_>>(), extras.marked(ID, AS_ARRAY), path);
        let content = match content {
            Some(content) => Some(content),
            None if extras.marked(ID, NO_CONTENT) || object_has(extras, "content") => None,
            None => Some(StrOr::Str(String::new())),
        };
        let turn = if extras.marked(ID, LEGACY) {
            Turn { role: Some("function".to_owned()), name: result.name.clone(), content, ..Turn::default() }
        } else {
            let id = Some(result.id.as_str().to_owned());
            Turn { role: Some("tool".to_owned()), tool_call_id: id, content, ..Turn::default() }
        };
        self.push(turn, extras);
    }

    fn assistant(&mut self, message: &Message, path: &str) {
        let own = self.request.origin == Some(ID);
        let back = self.target.quirks.reasoning_back;
        let mut turn = Turn { role: Some("assistant".to_owned()), ..Turn::default() };
        let wanted = own || back != ReasoningBack::Never;
        let list = message.extras.marked(ID, AS_ARRAY);
        let spoken = Spoken { parts: &message.parts, list, cited: Cited::Own, path };
        let mut calls = Vec::new();
        spoken.reasoning(wanted, &mut turn, self.losses);
        if back == ReasoningBack::Always && !object_has(&message.extras, "reasoning_content") {
            turn.reasoning_content =
                turn.reasoning_content.take().or(turn.reasoning.take()).or(Some(String::new()));
        }
        spoken.words(&mut turn, self.losses);
        for part in &message.parts {
            match &part.body {
                PartBody::ToolCall(call) if part.extras.marked(ID, LEGACY) => {
                    turn.function_call = Some(legacy(call, part))
                }
                PartBody::ToolCall(call) => calls.push(self.call(call, part)),
                PartBody::Opaque(opaque) if opaque.origin == ID && part.extras.marked(ID, IN_CALLS) => {
                    calls.push(CallEntry::default().with_rest(opaque.value.as_object()));
                }
                PartBody::Opaque(_)
                | PartBody::Text(_)
                | PartBody::Refusal(_)
                | PartBody::Thinking(_)
                | PartBody::Redacted(_)
                | PartBody::ToolResult(_)
                | PartBody::Media(_) => {}
            }
        }
        turn.tool_calls = (!calls.is_empty()).then_some(OneOrMany(calls));
        bare(&mut turn, &message.extras);
        self.push(turn, &message.extras);
        let results = message.parts.iter().filter(|part| matches!(part.body, PartBody::ToolResult(_)));
        results.for_each(|part| self.result(part, None, path));
    }

    fn call(&self, call: &ToolCall, part: &Part) -> CallEntry {
        let mut entry = self::call(call, part, call.id.as_str().to_owned());
        // Chat templates choke on empty arguments; only a client of this protocol has its own way.
        if let Some(function) =
            entry.function.as_mut().filter(|_| call.arguments.is_empty() && self.request.origin != Some(ID))
        {
            function.arguments = Some(Json::from(Value::from("{}")));
        }
        let wanted = part.extras.marked(ID, GOOGLE) || self.target.issued(ID, GEMINI);
        if let Some(seal) = part.seal.as_ref().filter(|seal| wanted && seal.issuer == GEMINI) {
            entry.extra_content = Some(with_signature(&part.extras, &seal.data));
        }
        entry
    }
}

/// An assistant message without words says so with null, an empty string or nothing, as it came.
pub(super) fn bare(turn: &mut Turn, extras: &Extras) {
    if turn.content.is_some() || extras.marked(ID, NO_CONTENT) {
        return;
    }
    let silent = turn.tool_calls.is_none() && turn.function_call.is_none() && turn.refusal.is_none();
    if extras.marked(ID, EMPTY) || (silent && extras.origin() != Some(ID)) {
        turn.content = Some(StrOr::Str(String::new()));
    } else if !object_has(extras, "content") {
        turn.rest.get_or_insert_default().insert("content".to_owned(), Value::Null);
    }
}

fn object_has(extras: &Extras, key: &str) -> bool {
    extras.get(ID, key).is_some()
}

const NOT_WANTED: &str = "the target takes no reasoning back; left out";

/// What an assistant said, to be written into a message.
pub(super) struct Spoken<'a> {
    pub(super) parts: &'a [Part],
    pub(super) list: bool,
    pub(super) cited: Cited,
    pub(super) path: &'a str,
}

/// Whose citations are written: a client wants all, an upstream knows only those it gave.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cited {
    Own,
    All,
}

impl Spoken<'_> {
    /// Reasoning under the name it came with.
    pub(super) fn reasoning(&self, wanted: bool, turn: &mut Turn, losses: &mut Vec<Loss>) {
        let mut texts = Vec::new();
        let mut details = Vec::new();
        let mut spelled = false;
        for (at, part) in self.parts.iter().enumerate() {
            let own = part.extras.get(ID, "reasoning_details").and_then(Value::as_array);
            let lost = |reason: &str| Loss::new(format!("{}.content[{at}]", self.path), reason);
            match &part.body {
                // One place is enough to know: every turn of a long conversation has some.
                PartBody::Thinking(_) | PartBody::Redacted(_) if !wanted => {
                    if !losses.iter().any(|loss| loss.reason == NOT_WANTED) {
                        losses.push(lost(NOT_WANTED));
                    }
                }
                PartBody::Redacted(_) if own.is_none() => {
                    losses.push(lost("openai-chat has no hidden reasoning; left out"))
                }
                PartBody::Redacted(_) => details.extend(own.into_iter().flatten().cloned()),
                PartBody::Thinking(text) => {
                    details.extend(own.into_iter().flatten().cloned());
                    spelled |= part.extras.marked(ID, REASONING);
                    if !part.extras.marked(ID, DETAILS) && !text.is_empty() {
                        texts.push(text.as_str());
                    }
                }
                PartBody::Text(_)
                | PartBody::Refusal(_)
                | PartBody::ToolCall(_)
                | PartBody::ToolResult(_)
                | PartBody::Media(_)
                | PartBody::Opaque(_) => {}
            }
        }
        let text = (!texts.is_empty()).then(|| texts.join("\n\n"));
        if spelled {
            turn.reasoning = text
        } else {
            turn.reasoning_content = text
        }
        turn.reasoning_details = (!details.is_empty()).then_some(details);
    }

    /// Text and refusal. Several texts are one string, with a gap where calls stood between them.
    pub(super) fn words(&self, turn: &mut Turn, losses: &mut Vec<Loss>) {
        let (mut text, mut refusal) = (String::new(), String::new());
        let (mut list, mut gap, mut annotations) = (Vec::new(), false, Vec::new());
        let mut before = 0;
        for (at, part) in self.parts.iter().enumerate() {
            let path = format!("{}.content[{at}]", self.path);
            match &part.body {
                PartBody::Text(piece) => {
                    if std::mem::take(&mut gap) && !text.is_empty() {
                        text.push_str("\n\n");
                        before += 2;
                    }
                    text.push_str(piece);
                    if self.cited == Cited::All {
                        annotations.extend(citations::kept(&part.extras, before));
                        before += piece.chars().count() as u64;
                    }
                    annotations.extend(
                        part.extras
                            .get(ID, "annotations")
                            .and_then(Value::as_array)
                            .into_iter()
                            .flatten()
                            .cloned(),
                    );
                }
                PartBody::Refusal(piece) if !self.list || part.extras.marked(ID, FIELD) => {
                    refusal.push_str(piece);
                    continue;
                }
                PartBody::ToolCall(_) => {
                    gap = true;
                    continue;
                }
                PartBody::Opaque(_) if part.extras.marked(ID, IN_CALLS) => continue,
                PartBody::Media(_) if !self.list => {
                    losses.push(Loss::new(path, "an openai-chat assistant shows no media; left out"));
                    continue;
                }
                PartBody::Refusal(_) | PartBody::Media(_) | PartBody::Opaque(_) => {}
                PartBody::Thinking(_) | PartBody::Redacted(_) | PartBody::ToolResult(_) => continue,
            }
            list.extend(media::write(part, Some(ID), &path, losses).map(without_places));
        }
        let bare =
            |part: &ContentPart| part.text.is_some() && part.rest.as_ref().is_none_or(|rest| rest.is_empty());
        let plain = !self.list && list.iter().all(bare);
        turn.content = match (list.is_empty(), plain) {
            (true, _) => None,
            (false, true) => Some(StrOr::Str(text)),
            (false, false) => Some(StrOr::List(list)),
        };
        turn.refusal = (!refusal.is_empty()).then_some(refusal);
        turn.annotations = (!annotations.is_empty()).then_some(annotations);
    }
}

/// Keys in a part's extras that have their place elsewhere.
const PLACES: &[&str] = &[MESSAGE, CHUNK, "annotations", "reasoning_details"];

fn without_places(mut part: ContentPart) -> ContentPart {
    if let Some(rest) = &mut part.rest {
        rest.retain(|key, _| !PLACES.contains(&key.as_str()) && !key.starts_with(NOTE));
    }
    part
}

/// Whether a text has fields of its own, which only the list form can hold.
fn needs_part(part: &Part) -> bool {
    let own = part.extras.owned_by(ID).into_iter().flat_map(|kept| kept.keys());
    own.into_iter().any(|key| !PLACES.contains(&key.as_str()))
        || crate::breakpoint::write(part.cache.as_ref()).is_some()
}

/// A call, with its id as whoever gets it must see it.
pub(super) fn call(call: &ToolCall, part: &Part, id: String) -> CallEntry {
    let mut entry = CallEntry { id: Some(id), ..CallEntry::default() };
    let name = Some(call.name.clone());
    let kind = match call.kind {
        CallKind::Function => {
            let function = FunctionCall { name, arguments: Some(arguments(call, part)), rest: None };
            entry.function = Some(function.with_rest(object_at(&part.extras, "function")));
            "function"
        }
        CallKind::Custom => {
            let custom = CustomCall { name, input: Some(call.arguments.clone()), rest: None };
            entry.custom = Some(custom.with_rest(object_at(&part.extras, "custom")));
            "custom"
        }
    };
    entry.kind = (!part.extras.marked(ID, UNTYPED)).then(|| kind.to_owned());
    let mut entry = entry.with_rest(part.extras.owned_by(ID));
    if let Some(rest) = &mut entry.rest {
        rest.retain(|key, _| !PLACES.contains(&key.as_str()) && !key.starts_with(NOTE));
    }
    entry
}

fn arguments(call: &ToolCall, part: &Part) -> Json {
    let as_said =
        part.extras.marked(ID, AS_OBJECT).then(|| Json::parse(call.arguments.clone()).ok()).flatten();
    let empty = call.arguments.is_empty() && !part.extras.marked(ID, EMPTY);
    as_said.unwrap_or_else(|| Json::from(Value::from(if empty { "{}" } else { &call.arguments })))
}

pub(super) fn legacy(call: &ToolCall, part: &Part) -> FunctionCall {
    let arguments = Some(arguments(call, part));
    let written = FunctionCall { name: Some(call.name.clone()), arguments, rest: None };
    let mut written = written.with_rest(part.extras.owned_by(ID));
    if let Some(rest) = &mut written.rest {
        rest.retain(|key, _| !PLACES.contains(&key.as_str()) && !key.starts_with(NOTE));
    }
    written
}

/// `extra_content` with Google's signature in it.
pub(super) fn with_signature(extras: &Extras, signature: &str) -> Value {
    let mut whole: Map = object_at(extras, "extra_content").cloned().unwrap_or_default();
    match whole.get_mut("google").and_then(Value::as_object_mut) {
        Some(google) => {
            google.insert("thought_signature".to_owned(), Value::from(signature));
        }
        None => {
            whole.insert("google".to_owned(), json!({"thought_signature": signature}));
        }
    }
    Value::Object(whole)
}
