//! What a delta says, as events: reasoning, then words, then calls.

use rail_model::{CallKind, Delta as Add, Event, Extras, Map, Opaque, PartKind, Seal};
use serde_json::Value;
use serde_json::value::RawValue;

use super::chunk::{CallDelta, ChunkLogprobs, Content, Delta, FunctionDelta, arguments};
use super::messages_in::{detail_text, encrypted, google_signature, thinking_text};
use super::slot::{Form, Out, Piece};
use super::slots::Slots;
use super::{DETAILS, GOOGLE, ID, IN_CALLS, REASONING, usage};
use crate::shape::Str;

/// The parts of an answer.
#[derive(Default)]
pub(super) struct Parts {
    /// The answer's id.
    pub(super) answer: String,
    /// The last piece went to a call that still waits to be announced.
    pub(super) waiting: bool,
    count: usize,
    open: Option<(usize, Voice)>,
    slots: Slots,
}

/// The one part of running words that can be open; calls stay open beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Voice {
    Text,
    Refusal,
    Thinking,
    /// Reasoning whose words are said in its details only, and must not be said again beside them.
    Details,
}

impl Parts {
    pub(super) fn called(&self) -> bool {
        self.slots.called()
    }

    /// Takes all it understands out of a delta; gives the unknown fields of its calls.
    pub(super) fn delta(
        &mut self,
        delta: &mut Delta<'_>,
        logprobs: &mut Option<ChunkLogprobs>,
        out: &mut Vec<Event>,
    ) -> Map {
        self.waiting = false;
        self.reasoning(delta, out);
        self.content(delta, out);
        if let Some(text) = delta.refusal.take().filter(|text| !text.is_empty()) {
            self.say(Voice::Refusal, Add::Text(text.into_string()), Extras::NONE, out);
        }
        self.logprobs(logprobs, out);
        self.annotations(delta, out);
        let mut left = Map::new();
        if let Some(call) = delta.function_call.take() {
            self.legacy(call, out);
        }
        let calls = delta.tool_calls.take().map(|calls| calls.0).unwrap_or_default();
        let several = calls.len() > 1;
        for (at, call) in calls.into_iter().enumerate() {
            let position = several.then_some(at as u64);
            if let Some(unknown) = self.call(call, position, out) {
                left.insert("tool_calls".to_owned(), Value::Object(unknown));
            }
        }
        left
    }

    /// Adds to the open part of this kind, or opens one.
    fn say(&mut self, voice: Voice, delta: Add, extras: Extras, out: &mut Vec<Event>) {
        self.slots.close_ripe(None, out);
        let at = match self.open {
            Some((at, open)) if open == voice => at,
            Some(_) | None => {
                self.close(out);
                let kind = match voice {
                    Voice::Text => PartKind::Text,
                    Voice::Refusal => PartKind::Refusal,
                    Voice::Thinking | Voice::Details => PartKind::Thinking,
                };
                let at = self.next();
                self.open = Some((at, voice));
                out.push(Event::Opened { at, kind, extras });
                at
            }
        };
        out.push(Event::Delta { at, delta, extras: Extras::NONE });
    }

    fn next(&mut self) -> usize {
        let at = self.count;
        self.count += 1;
        at
    }

    fn close(&mut self, out: &mut Vec<Event>) {
        if let Some((at, _)) = self.open.take() {
            out.push(Event::Closed { at, extras: Extras::NONE });
        }
    }

    fn whole(&mut self, kind: PartKind, extras: Extras, out: &mut Vec<Event>) {
        self.slots.close_ripe(None, out);
        self.close(out);
        let at = self.next();
        out.push(Event::Opened { at, kind, extras });
        out.push(Event::Closed { at, extras: Extras::NONE });
    }

    fn reasoning(&mut self, delta: &mut Delta<'_>, out: &mut Vec<Event>) {
        let text = delta.reasoning_content.take().filter(|text| !text.is_empty());
        let other = delta.reasoning.take().filter(|text| !text.is_empty());
        let details = delta.reasoning_details.take().unwrap_or_default();
        let spoken = text.is_some() || other.is_some();
        match (text, other) {
            // Some servers say it under both names.
            (Some(text), other) => {
                delta.reasoning = other.filter(|other| *other != text);
                self.say(Voice::Thinking, Add::Thinking(text.into_string()), Extras::NONE, out);
            }
            (None, Some(other)) => {
                self.say(Voice::Thinking, Add::Thinking(other.into_string()), marked(REASONING), out);
            }
            (None, None) => {}
        }
        for detail in details {
            self.detail(detail, spoken, out);
        }
    }

    fn detail(&mut self, detail: Value, spoken: bool, out: &mut Vec<Event>) {
        if let Some(seal) = encrypted(&detail) {
            let mut extras = marked(DETAILS);
            extras.append(ID, "reasoning_details", detail);
            return self.whole(PartKind::Redacted(seal), extras, out);
        }
        if let Some(text) = detail_text(&detail).filter(|text| !spoken && !text.is_empty()) {
            self.say(Voice::Details, Add::Thinking(text.to_owned()), marked(DETAILS), out);
        }
        let voice = match self.open {
            Some((_, Voice::Thinking)) => Voice::Thinking,
            Some((_, Voice::Details | Voice::Text | Voice::Refusal)) | None => Voice::Details,
        };
        let extra = Add::Extra { origin: ID, key: "reasoning_details", value: detail };
        self.say(voice, extra, marked(DETAILS), out);
    }

    fn content(&mut self, delta: &mut Delta<'_>, out: &mut Vec<Event>) {
        match delta.content.take() {
            Some(Content::Text(text)) if text.is_empty() => {}
            Some(Content::Text(text)) => {
                self.say(Voice::Text, Add::Text(text.into_string()), Extras::NONE, out)
            }
            Some(Content::Parts(parts)) => parts.into_iter().for_each(|part| self.part(part, out)),
            None => {}
        }
    }

    /// A content part; one that we have no word for becomes a part of its own.
    fn part(&mut self, part: Value, out: &mut Vec<Event>) {
        let text = |name: &str| part.get(name).map(thinking_text);
        let (voice, text) = match part.get("type").and_then(Value::as_str) {
            Some("thinking") => (Voice::Thinking, text("thinking")),
            Some("text") => (Voice::Text, text("text")),
            Some(_) | None => (Voice::Text, None),
        };
        match text {
            Some(text) if text.is_empty() => {}
            Some(text) if voice == Voice::Thinking => self.say(voice, Add::Thinking(text), Extras::NONE, out),
            Some(text) => self.say(voice, Add::Text(text), Extras::NONE, out),
            None => self.whole(PartKind::Opaque(Opaque { origin: ID, value: part }), Extras::NONE, out),
        }
    }

    /// Log probabilities belong to the words they came with; without words they stay in the frame.
    fn logprobs(&mut self, logprobs: &mut Option<ChunkLogprobs>, out: &mut Vec<Event>) {
        let (Some(logprobs), Some((at, voice))) = (logprobs, self.open) else { return };
        let list = match voice {
            Voice::Text => &mut logprobs.content,
            Voice::Refusal => &mut logprobs.refusal,
            Voice::Thinking | Voice::Details => return,
        };
        if let Some(list) = list.take_if(|list| !list.is_empty()) {
            let delta = Add::Logprobs(usage::read_logprobs(list));
            out.push(Event::Delta { at, delta, extras: Extras::NONE });
        }
    }

    fn annotations(&mut self, delta: &mut Delta<'_>, out: &mut Vec<Event>) {
        let Some((at, Voice::Text)) = self.open else { return };
        for value in delta.annotations.take_if(|list| !list.is_empty()).unwrap_or_default() {
            let delta = Add::Extra { origin: ID, key: "annotations", value };
            out.push(Event::Delta { at, delta, extras: Extras::NONE });
        }
    }

    fn legacy(&mut self, call: FunctionDelta<'_>, out: &mut Vec<Event>) {
        let FunctionDelta { name, arguments: raw, rest } = call;
        let text = raw.map(arguments);
        let piece = Piece {
            name: said(name.as_ref()),
            arguments: text.as_deref(),
            object: is_object(raw),
            form: Form::Legacy,
            ..Piece::default()
        };
        let extras = Extras::rest(ID, rest.map(|rest| *rest).unwrap_or_default());
        self.piece(piece, extras, out);
    }

    /// A call's piece; gives the unknown fields that have no event to go with.
    fn call(&mut self, mut call: CallDelta<'_>, position: Option<u64>, out: &mut Vec<Event>) -> Option<Map> {
        if is_unknown(&call) {
            let value = Value::Object(call.leftovers());
            self.whole(PartKind::Opaque(Opaque { origin: ID, value }), marked(IN_CALLS), out);
            return None;
        }
        let signature = call.extra_content.clone();
        let seal: Option<Seal> = google_signature(&mut call.extra_content);
        let kind = call.kind.take();
        let (id, index) = (call.id.take(), call.index.take().map(|index| index.0).or(position));
        let custom = call.custom.take();
        let function = call.function.take();
        let mut function = function.unwrap_or_default();
        let name = function.name.take().or_else(|| call.name.take());
        let raw = function.arguments.take().or_else(|| call.arguments.take());
        let text = raw.map(arguments);
        let is_custom = custom.is_some() || kind.as_deref() == Some("custom");
        let mut custom = custom.unwrap_or_default();
        let (custom_name, input) = (custom.name.take(), custom.input.take());
        let piece = Piece {
            index,
            id: said(id.as_ref()),
            name: said(name.as_ref()).or_else(|| said(custom_name.as_ref())),
            arguments: text.as_deref().or(input.as_deref()),
            object: is_object(raw),
            kind: if is_custom { CallKind::Custom } else { CallKind::Function },
            form: Form::Entry,
            seal,
        };
        let signed = piece.seal.is_some();
        let mut unknown = call.leftovers();
        keep(&mut unknown, "function", function.leftovers());
        keep(&mut unknown, "custom", custom.leftovers());
        let before = self.count;
        let mut extras = Extras::rest(ID, unknown.clone());
        if signed {
            extras.mark(ID, GOOGLE);
        }
        let known = self.piece(piece, extras, out);
        // Fields of a head are the call's; those of later pieces, or of noise, are the frame's.
        if let Some(signature) = signature.filter(|_| signed && !known) {
            // A signature for a call that is over has no part to go to any more.
            unknown.insert("extra_content".to_owned(), signature);
        }
        let took = known && (self.count > before || self.waiting);
        (!took && !unknown.is_empty()).then_some(unknown)
    }

    fn piece(&mut self, piece: Piece<'_>, extras: Extras, out: &mut Vec<Event>) -> bool {
        let (from, before) = (out.len(), self.count);
        let mut to = Out { events: out, parts: &mut self.count, answer: &self.answer };
        let known = self.slots.push(piece, extras, &mut to);
        self.waiting |= known && self.slots.waits();
        if self.count > before
            && let Some((at, _)) = self.open.take()
        {
            out.insert(from, Event::Closed { at, extras: Extras::NONE });
        }
        known
    }

    /// The reason for the end came, so a call that has all its arguments is over.
    pub(super) fn close_ripe(&mut self, out: &mut Vec<Event>) {
        self.slots.close_ripe(None, out);
    }

    pub(super) fn finish(&mut self, out: &mut Vec<Event>) {
        self.close(out);
        let mut to = Out { events: out, parts: &mut self.count, answer: &self.answer };
        self.slots.finish(&mut to);
    }
}

/// An entry of `tool_calls` of a type we have no word for.
fn is_unknown(call: &CallDelta<'_>) -> bool {
    let typed = call.kind.as_deref().is_some_and(|kind| !matches!(kind, "function" | "custom" | ""));
    typed && call.function.is_none() && call.custom.is_none() && call.name.is_none()
}

fn is_object(arguments: Option<&RawValue>) -> bool {
    arguments.is_some_and(|raw| raw.get().starts_with('{'))
}

fn said<'a>(text: Option<&'a Str<'_>>) -> Option<&'a str> {
    text.map(|text| &**text).filter(|text| !text.is_empty())
}

fn keep(map: &mut Map, key: &str, left: Map) {
    if !left.is_empty() {
        map.insert(key.to_owned(), Value::Object(left));
    }
}

fn marked(mark: &'static str) -> Extras {
    let mut extras = Extras::NONE;
    extras.mark(ID, mark);
    extras
}
