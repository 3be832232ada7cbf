//! The frame around what is said: the same for the whole answer but for the fields that a chunk changes.

use rail_model::{Extras, Map, NOTE, Usage};
use serde::Serialize;
use serde_json::Value;

use super::piece::Said;
use super::{CHOICES, CHUNK, ID, object_at, usage};
use crate::protocol::ReplyTo;

/// Writes frames.
pub(super) struct Frames {
    head: Map,
    /// `data: {…,"choices":[{"index":0,"delta":`, which every plain frame begins with.
    prefix: Vec<u8>,
    pinned: bool,
}

impl Frames {
    pub(super) fn new(id: Option<&str>, model: Option<&str>, extras: &Extras, reply_to: &ReplyTo) -> Self {
        let mut head = Map::new();
        let fallback = || format!("chatcmpl-{}", reply_to.seed);
        head.insert("id".to_owned(), Value::from(id.map_or_else(fallback, str::to_owned)));
        head.insert("object".to_owned(), Value::from("chat.completion.chunk"));
        head.insert("created".to_owned(), Value::from(reply_to.now));
        let model = reply_to.model.as_deref().or(model).unwrap_or_default();
        head.insert("model".to_owned(), Value::from(model));
        for (key, value) in extras.owned_by(ID).into_iter().flatten().filter(|(key, _)| *key != CHOICES) {
            head.insert(key.clone(), value.clone());
        }
        let mut prefix = b"data: ".to_vec();
        prefix.extend(serde_json::to_vec(&head).unwrap_or_default());
        prefix.pop();
        prefix.extend_from_slice(b",\"choices\":[{\"index\":0,\"delta\":");
        Self { head, prefix, pinned: reply_to.model.is_some() }
    }

    /// Writes what is said; `finish` is the reason if it is the last frame, `chunk` what this frame says besides.
    pub(super) fn write(
        &self,
        said: &Said<'_>,
        finish: Option<Option<&str>>,
        chunk: Option<&Map>,
        out: &mut Vec<u8>,
    ) {
        if chunk.is_none_or(Map::is_empty) && said.logprobs.is_none() {
            let before = out.len();
            out.extend_from_slice(&self.prefix);
            if serde_json::to_writer(&mut *out, said).is_err() {
                out.truncate(before);
                return;
            }
            match finish.flatten() {
                Some(word) => {
                    out.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":");
                    out.extend(serde_json::to_vec(word).unwrap_or_default());
                    out.extend_from_slice(b"}]}\n\n");
                }
                None => out.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":null}]}\n\n"),
            }
            return;
        }
        let mut choice = Map::new();
        choice.insert("index".to_owned(), Value::from(0));
        choice.insert("delta".to_owned(), serde_json::to_value(said).unwrap_or_default());
        choice.insert("logprobs".to_owned(), serde_json::to_value(&said.logprobs).unwrap_or_default());
        choice.insert("finish_reason".to_owned(), finish.flatten().map_or(Value::Null, Value::from));
        let mut choice = Value::Object(choice);
        if let Some(left) = chunk.and_then(|chunk| chunk.get(CHOICES)) {
            overlay(&mut choice, left);
        }
        self.frame(Value::Array(vec![choice]), chunk, None, out);
    }

    /// Writes the frame that has no choices but the token counts.
    pub(super) fn usage(&self, usage: &Usage, out: &mut Vec<u8>) {
        let tokens = serde_json::to_value(usage::write(usage)).unwrap_or_default();
        self.frame(Value::Array(Vec::new()), object_at(&usage.extras, CHUNK), Some(tokens), out);
    }

    fn frame(&self, choices: Value, chunk: Option<&Map>, tokens: Option<Value>, out: &mut Vec<u8>) {
        let mut frame = self.head.clone();
        for (key, value) in chunk.into_iter().flatten() {
            // The client sees the model it asked for in every frame.
            let pinned = key == "model" && self.pinned;
            match value {
                _ if key.starts_with(NOTE) => {}
                Value::Null => {
                    frame.shift_remove(key);
                }
                _ if key == CHOICES || pinned => {}
                value => {
                    frame.insert(key.clone(), value.clone());
                }
            }
        }
        frame.insert(CHOICES.to_owned(), choices);
        frame.extend(tokens.map(|tokens| ("usage".to_owned(), tokens)));
        sse(&frame, out);
    }
}

/// Lays kept fields over written ones; of a list, over its last element.
pub(super) fn overlay(base: &mut Value, kept: &Value) {
    match (base, kept) {
        (Value::Object(base), Value::Object(kept)) => {
            for (key, value) in kept {
                overlay(base.entry(key.as_str()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(list), Value::Object(_)) => {
            if let Some(last) = list.last_mut() {
                overlay(last, kept);
            }
        }
        (base, kept) => *base = kept.clone(),
    }
}

/// A call's own unknown fields.
pub(super) fn own(extras: &Extras) -> Option<Map> {
    let kept = extras.owned_by(ID)?;
    let nested = [CHUNK, "function", "custom"];
    let own: Map = kept
        .iter()
        .filter(|(key, _)| !nested.contains(&key.as_str()) && !key.starts_with(NOTE))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    (!own.is_empty()).then_some(own)
}

/// Unknown fields of the frame around a call.
pub(super) fn chunk_of(extras: &Extras) -> Option<&Map> {
    extras.get(ID, CHUNK).and_then(Value::as_object)
}

/// One event.
pub(super) fn sse(data: &impl Serialize, out: &mut Vec<u8>) {
    out.extend_from_slice(b"data: ");
    // Writing JSON to memory can't fail for these shapes; if it did, a half-written frame must not go out.
    let before = out.len();
    if serde_json::to_writer(&mut *out, data).is_err() {
        out.truncate(before);
        out.extend_from_slice(b"{}");
    }
    out.extend_from_slice(b"\n\n");
}
