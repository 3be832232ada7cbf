//! One frame of an answer for a client: put together, then written as the body is laid out.

use rail_model::{Logprob, Map, Usage};
use serde::Serialize;
use serde_json::Value;

use super::parts_out::owned;
use super::types::{Answer, Blob, Candidate, Content, Many, Piece};
use super::{
    EMPTY_TEXT, EMPTY_THOUGHT, NO_ANSWER_ID, NO_CANDIDATES, NO_CONTENT, NO_FINISH, NO_INDEX, NO_MODEL,
    NO_PARTS, NO_ROLE, NO_TIME, reply,
};
use crate::protocol::BodyKind;
use crate::shape::Count;

/// What every frame repeats.
#[derive(Default)]
pub(super) struct Head {
    pub(super) own: bool,
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    /// The client asked for this model by another name.
    pub(super) renamed: bool,
    pub(super) time: Option<String>,
    pub(super) no_index: bool,
    pub(super) no_role: bool,
}

/// The frame that is being put together.
#[derive(Default)]
pub(super) struct Gathering {
    pub(super) pieces: Vec<Piece<'static>>,
    /// Whether the last piece belongs to the open part and may still grow.
    pub(super) grows: bool,
    pub(super) probabilities: Vec<Logprob>,
    pub(super) usage: Option<Usage>,
    pub(super) reason: Option<&'static str>,
    pub(super) rest: Map,
    pub(super) lacks: Vec<String>,
}

impl Gathering {
    fn lacks(&self, mark: &str) -> bool {
        self.lacks.iter().any(|lacking| lacking == mark)
    }

    /// Whether something is to be put over the candidate.
    fn has_rest(&self) -> bool {
        self.rest.get("candidates").and_then(Value::as_array).is_some_and(|list| !list.is_empty())
    }

    /// The frame, without its rest.
    fn answer<'h>(&mut self, head: &'h Head, kind: BodyKind) -> Answer<'h> {
        for (mark, thought) in [(EMPTY_TEXT, None), (EMPTY_THOUGHT, Some(true))] {
            // A body that is not streamed has no use for the empty text that ends a stream.
            if self.lacks(mark) && (kind != BodyKind::Whole || self.pieces.is_empty()) {
                self.pieces.push(Piece { text: Some("".into()), thought, ..Piece::default() });
            }
        }
        let pieces = std::mem::take(&mut self.pieces);
        let said = !pieces.is_empty() || self.reason.is_some() || self.has_rest() || self.lacks(NO_FINISH);
        let content = Content {
            role: (!head.no_role && !self.lacks(NO_ROLE)).then(|| "model".to_owned()),
            parts: (!self.lacks(NO_PARTS)).then_some(Many::List(pieces)),
            rest: None,
        };
        let candidate = Candidate {
            content: (!self.lacks(NO_CONTENT)).then_some(content),
            finish_reason: self.reason.map(Into::into),
            index: (!head.no_index && !self.lacks(NO_INDEX)).then_some(Count(0)),
            logprobs_result: (!self.probabilities.is_empty())
                .then(|| reply::logprobs_result(&self.probabilities)),
            rest: None,
        };
        Answer {
            candidates: (said && !self.lacks(NO_CANDIDATES)).then(|| vec![candidate]),
            usage_metadata: self.usage.as_ref().map(reply::tokens),
            model_version: head.model.as_deref().filter(|_| !self.lacks(NO_MODEL)).map(Into::into),
            create_time: head.time.as_deref().filter(|_| !self.lacks(NO_TIME)).map(Into::into),
            response_id: head.id.as_deref().filter(|_| !self.lacks(NO_ANSWER_ID)).map(Into::into),
            ..Answer::default()
        }
    }

    /// Writes the frame and begins the next.
    pub(super) fn write(&mut self, head: &Head, layout: &mut Layout, out: &mut Vec<u8>) {
        let mut frame = std::mem::take(self);
        let answer = frame.answer(head, layout.kind);
        if frame.rest.is_empty() {
            return layout.frame(&answer, out);
        }
        head.rename(&mut frame.rest);
        let mut value = serde_json::to_value(&answer).unwrap_or_default();
        overlay(&mut value, Value::Object(frame.rest));
        layout.frame(&value, out);
    }

    /// Writes a frame that came without parts; only its tokens came as an event.
    pub(super) fn write_as_it_came(
        &mut self,
        mut frame: Map,
        head: &Head,
        layout: &mut Layout,
        out: &mut Vec<u8>,
    ) {
        if let Some(usage) = std::mem::take(self).usage {
            let tokens = serde_json::to_value(reply::tokens(&usage)).unwrap_or_default();
            frame.insert("usageMetadata".to_owned(), tokens);
        }
        head.rename(&mut frame);
        layout.frame(&Value::Object(frame), out);
    }
}

impl Head {
    /// The client sees the model that it asked for, also where a frame names another.
    fn rename(&self, frame: &mut Map) {
        if let (true, Some(model), Some(said)) = (self.renamed, &self.model, frame.get_mut("modelVersion")) {
            *said = Value::from(model.as_str());
        }
    }
}

/// How the body is laid out, and whether it has begun.
pub(super) struct Layout {
    pub(super) kind: BodyKind,
    begun: bool,
}

impl Layout {
    pub(super) fn new(kind: BodyKind) -> Self {
        Self { kind, begun: false }
    }

    /// Writes one frame.
    pub(super) fn frame(&mut self, frame: &impl Serialize, out: &mut Vec<u8>) {
        let first = !std::mem::replace(&mut self.begun, true);
        out.extend_from_slice(match self.kind {
            BodyKind::Whole => b"",
            BodyKind::Stream => b"data: ",
            BodyKind::Array if first => b"[",
            BodyKind::Array => b",\r\n",
        });
        let from = out.len();
        // Writing into memory can't fail, and every key is a string.
        let _ = frame.serialize(&mut serde_json::Serializer::with_formatter(&mut *out, OneLine));
        if self.kind == BodyKind::Stream {
            // A model's own arguments may be spread over lines; in JSON such a line end is white space, here it ends the event.
            for byte in out.iter_mut().skip(from).filter(|byte| matches!(byte, b'\n' | b'\r')) {
                *byte = b' ';
            }
            out.extend_from_slice(b"\r\n\r\n");
        }
    }

    /// Writes what closes the body.
    pub(super) fn end(&self, out: &mut Vec<u8>) {
        if self.kind == BodyKind::Array {
            out.extend_from_slice(if self.begun { b"]" } else { b"[]" });
        }
    }
}

/// A part that outlives the event it came with.
pub(super) fn to_owned(piece: &Piece<'_>) -> Piece<'static> {
    let mut copy = Piece::<'static> {
        thought: piece.thought,
        function_call: piece.function_call.clone(),
        file_data: piece.file_data.clone(),
        rest: piece.rest.clone(),
        ..Piece::default()
    };
    copy.text = piece.text.as_ref().map(|text| owned(text.to_string()));
    copy.thought_signature = piece.thought_signature.as_ref().map(|text| owned(text.to_string()));
    if let Some(blob) = &piece.inline_data {
        copy.inline_data = Some(Box::new(Blob {
            mime_type: blob.mime_type.clone(),
            data: blob.data.as_ref().map(|data| owned(data.to_string())),
            display_name: blob.display_name.clone(),
            rest: blob.rest.clone(),
        }));
    }
    copy
}

/// Puts `rest` over `base`: objects and lists are joined, other values replaced.
fn overlay(base: &mut Value, rest: Value) {
    match (base, rest) {
        (Value::Object(base), Value::Object(rest)) => overlay_map(base, rest),
        (Value::Array(base), Value::Array(rest)) => {
            for (at, value) in rest.into_iter().enumerate() {
                match base.get_mut(at) {
                    Some(slot) => overlay(slot, value),
                    None => base.push(value),
                }
            }
        }
        (base, rest) => *base = rest,
    }
}

pub(super) fn overlay_map(base: &mut Map, rest: Map) {
    for (key, value) in rest {
        match base.get_mut(&key) {
            Some(slot) => overlay(slot, value),
            None => {
                base.insert(key, value);
            }
        }
    }
}

/// Google's Python SDK also ends lines at U+0085, U+2028 and U+2029, so a frame has them only escaped.
struct OneLine;

impl serde_json::ser::Formatter for OneLine {
    fn write_string_fragment<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        text: &str,
    ) -> std::io::Result<()> {
        let mut rest = text;
        while let Some(at) = rest.find(['\u{85}', '\u{2028}', '\u{2029}']) {
            let (before, after) = rest.split_at(at);
            out.write_all(before.as_bytes())?;
            let mut chars = after.chars();
            if let Some(char) = chars.next() {
                write!(out, "\\u{:04x}", u32::from(char))?;
            }
            rest = chars.as_str();
        }
        out.write_all(rest.as_bytes())
    }

    fn write_raw_fragment<W: ?Sized + std::io::Write>(
        &mut self,
        out: &mut W,
        text: &str,
    ) -> std::io::Result<()> {
        self.write_string_fragment(out, text)
    }
}
