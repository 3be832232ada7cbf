//! One frame of an answer: which candidate is the answer, what it says beside its parts, and where it ends.

use rail_model::{Delta, Event, Extras, Logprob, Map, Part, PartBody, Reply, Stop};
use serde_json::Value;

use super::types::{Answer, Candidate, Feedback, Logprobs, Piece};
use super::{FRAME_END, ID, OWN_PIECE, RELEASED, TOP};
use crate::shape::Count;

/// What every frame repeats, as the first one said it.
#[derive(Default)]
pub(super) struct Head {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) time: Option<String>,
    pub(super) index: bool,
    pub(super) role: bool,
}

/// What a frame says beside its parts.
#[derive(Default)]
pub(super) struct Odd {
    pub(super) top: Map,
    pub(super) candidate: Map,
    pub(super) others: Vec<Value>,
    pub(super) lacks: Vec<&'static str>,
    pub(super) empty: Option<&'static str>,
}

impl Odd {
    pub(super) fn is_plain(&self) -> bool {
        self.top.is_empty() && self.candidate.is_empty() && self.others.is_empty() && self.lacks.is_empty()
    }

    pub(super) fn keep_probabilities(&mut self, read: Result<(Vec<Logprob>, Map), Logprobs>) -> Vec<Logprob> {
        let (list, left) = match read {
            Ok((list, left)) => (list, left),
            Err(whole) => (Vec::new(), whole.leftovers()),
        };
        if !left.is_empty() || list.is_empty() {
            self.candidate.insert("logprobsResult".to_owned(), Value::Object(left));
        }
        list
    }

    /// As the extras of the end: fields of the candidate under their own names.
    pub(super) fn into_extras(self) -> Extras {
        let mut extras = Extras::rest(ID, self.candidate);
        if !self.top.is_empty() {
            extras.insert(ID, TOP, Value::Object(self.top));
        }
        if !self.others.is_empty() {
            extras.insert(ID, "candidates", Value::Array(self.others));
        }
        for mark in self.lacks.into_iter().chain(self.empty) {
            extras.mark(ID, mark);
        }
        extras
    }

    /// As an event that ends a frame.
    pub(super) fn into_rest(self) -> Value {
        let mut rest = self.top;
        let mut candidates = vec![Value::Object(self.candidate)];
        candidates.extend(self.others);
        rest.insert("candidates".to_owned(), Value::Array(candidates));
        let marks = self.lacks.into_iter().chain(self.empty).map(Value::from).collect();
        Value::Object(Map::from_iter([
            ("rest".to_owned(), Value::Object(rest)),
            ("marks".to_owned(), Value::Array(marks)),
        ]))
    }
}

/// Marks the last event of a frame; false when there is none that could carry the mark.
pub(super) fn mark_end(out: &mut [Event], from: usize, empty: Option<&'static str>) -> bool {
    let events = out.get_mut(from..).unwrap_or_default();
    let extras = events.iter_mut().rev().find_map(|event| match event {
        Event::Started { extras, .. }
        | Event::Opened { extras, .. }
        | Event::Delta { extras, .. }
        | Event::Closed { extras, .. } => Some(extras),
        Event::Usage(usage) => Some(&mut usage.extras),
        Event::Finished { .. } | Event::Failed(_) | Event::Ping | Event::Opaque(_) => None,
    });
    let Some(extras) = extras else { return false };
    extras.mark(ID, FRAME_END);
    if let Some(empty) = empty {
        extras.mark(ID, empty);
    }
    true
}

pub(super) fn without_usage(raw: &[u8]) -> Option<Value> {
    let mut value: Value = serde_json::from_slice(raw).ok()?;
    value.as_object_mut()?.shift_remove("usageMetadata");
    Some(value)
}

pub(super) fn released() -> Extras {
    let mut extras = Extras::NONE;
    extras.mark(ID, RELEASED);
    extras
}

pub(super) fn named(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

/// What an open part holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Text,
    Thinking,
}

/// Which flow a part of text belongs to; None for all other parts, and for signed text, which only ends a thought.
pub(super) fn flow(piece: &Piece<'_>) -> Option<Flow> {
    let plain = piece.text.is_some()
        && piece.thought_signature.is_none()
        && piece.function_call.is_none()
        && piece.function_response.is_none()
        && piece.inline_data.is_none()
        && piece.file_data.is_none();
    plain.then_some(if piece.thought == Some(true) { Flow::Thinking } else { Flow::Text })
}

/// Whether a part is the end of the thought before it: a thought with a signature, most often without words.
pub(super) fn seals_thought(part: &Part) -> bool {
    part.seal.is_some() && matches!(part.body, PartBody::Thinking(_))
}

/// The part that ends the thought `at`, as more of it.
pub(super) fn sealed(part: Part, at: usize, out: &mut Vec<Event>) {
    let Part { body: PartBody::Thinking(text), seal: Some(seal), mut extras, .. } = part else { return };
    if text.is_empty() {
        extras.mark(ID, OWN_PIECE);
    } else {
        let extras = std::mem::take(&mut extras);
        out.push(Event::Delta { at, delta: Delta::Thinking(text), extras });
    }
    out.push(Event::Delta { at, delta: Delta::Seal(seal), extras });
}

/// The candidate that is the answer, and the others as they are.
pub(super) fn candidates<'a>(answer: &mut Answer<'a>, whole: bool) -> (Option<Candidate<'a>>, Vec<Value>) {
    let Some(list) = answer.candidates.take_if(|list| !list.is_empty()) else { return (None, Vec::new()) };
    let mut main = None;
    let mut others = Vec::new();
    for candidate in list {
        let first = candidate.index.is_none_or(|index| index == Count(0));
        if main.is_none() && (first || whole) {
            main = Some(candidate);
        } else {
            others.push(serde_json::to_value(&candidate).unwrap_or_default());
        }
    }
    (main, others)
}

pub(super) fn is_blocked(answer: &Answer<'_>) -> bool {
    let feedback =
        answer.prompt_feedback.as_ref().and_then(|json| serde_json::from_str::<Feedback>(json.text()).ok());
    feedback.is_some_and(|feedback| feedback.block_reason.is_some())
}

/// A part that came complete, as the events of part `number`.
pub(super) fn whole_part(part: Part, number: usize, out: &mut Vec<Event>) {
    let (parts, stop) = (vec![part], Stop::EndTurn);
    let reply =
        Reply { id: None, model: None, parts, stop, usage: None, extras: Extras::NONE, end: Extras::NONE };
    for mut event in reply.into_events() {
        match &mut event {
            Event::Opened { at, .. } | Event::Delta { at, .. } | Event::Closed { at, .. } => *at = number,
            Event::Started { .. }
            | Event::Usage(_)
            | Event::Finished { .. }
            | Event::Failed(_)
            | Event::Ping
            | Event::Opaque(_) => continue,
        }
        out.push(event);
    }
}
