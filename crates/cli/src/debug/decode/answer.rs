//! The chunks of an answer, made into the events of a decoder.

use anyhow::{Result, anyhow};
use rail_model::{Delta, Event, Extras, PartKind, Stop};
use rail_wire::{BodyKind, Decode, openai_chat};
use serde_json::{Value, json};

/// Why an answer ended, when nobody says.
const STOP: &str = "stop";
const CALLS: &str = "tool_calls";

/// An answer that comes as text alone.
pub(super) struct Text;

impl Text {
    pub(super) fn begin(id: &str, out: &mut Vec<Event>) {
        out.push(Event::Started { id: Some(id.to_owned()), model: None, extras: Extras::NONE });
        out.push(Event::Opened { at: 0, kind: PartKind::Text, extras: Extras::NONE });
    }

    pub(super) fn more(text: String, out: &mut Vec<Event>) {
        if !text.is_empty() {
            out.push(Event::Delta { at: 0, delta: Delta::Text(text), extras: Extras::NONE });
        }
    }

    pub(super) fn end(finish: Option<&str>, out: &mut Vec<Event>) {
        let stop = match finish.unwrap_or(STOP) {
            STOP => Stop::EndTurn,
            "length" => Stop::MaxTokens,
            CALLS | "function_call" => Stop::ToolUse,
            "content_filter" => Stop::Refusal,
            other => Stop::Other(other.to_owned()),
        };
        out.push(Event::Closed { at: 0, extras: Extras::NONE });
        out.push(Event::Finished { stop, extras: Extras::NONE });
    }
}

/// An answer that comes as the chunks of `openai-chat`, read by its codec.
pub(super) struct Chunks {
    id: String,
    decoder: Box<dyn Decode>,
    /// A call came as a call.
    native: bool,
    /// Why the answer ended was said.
    finished: bool,
}

impl Chunks {
    pub(super) fn new(id: &str) -> Self {
        let decoder = openai_chat::PROTOCOL.outbound.decoder(BodyKind::Stream);
        Self { id: id.to_owned(), decoder, native: false, finished: false }
    }

    /// Takes a piece of text, a delta, or a whole chunk.
    pub(super) fn more(&mut self, chunk: Value, out: &mut Vec<Event>) -> Result<()> {
        match chunk {
            Value::String(text) => self.delta(&json!({"content": text}), out),
            Value::Object(chunk) if chunk.contains_key("choices") || chunk.contains_key("error") => {
                let choice = |pointer: &str| chunk.get("choices")?.pointer(pointer);
                self.native |= choice("/0/delta").is_some_and(calls);
                self.finished |= choice("/0/finish_reason").is_some_and(|reason| !reason.is_null());
                self.frame(&Value::Object(chunk), out)
            }
            Value::Object(_) => self.delta(&chunk, out),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                Err(anyhow!("a chunk is a string or an object"))
            }
        }
    }

    /// Ends the answer, if it has not ended by itself.
    pub(super) fn end(&mut self, finish: Option<&str>, out: &mut Vec<Event>) -> Result<()> {
        if !self.finished {
            let reason = finish.unwrap_or(if self.native { CALLS } else { STOP });
            self.choice(&json!({}), &json!(reason), out)?;
        }
        self.decoder.push(b"data: [DONE]\n\n", out)?;
        Ok(self.decoder.finish(out)?)
    }

    fn delta(&mut self, delta: &Value, out: &mut Vec<Event>) -> Result<()> {
        self.native |= calls(delta);
        self.choice(delta, &Value::Null, out)
    }

    fn choice(&mut self, delta: &Value, reason: &Value, out: &mut Vec<Event>) -> Result<()> {
        let frame = json!({
            "id": self.id, "object": "chat.completion.chunk", "created": 0, "model": "any",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        });
        self.frame(&frame, out)
    }

    fn frame(&mut self, chunk: &Value, out: &mut Vec<Event>) -> Result<()> {
        Ok(self.decoder.push(format!("data: {chunk}\n\n").as_bytes(), out)?)
    }
}

/// Whether a delta says anything of a call.
fn calls(delta: &Value) -> bool {
    let said = |key: &str| match delta.get(key) {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => true,
    };
    said("tool_calls") || said("function_call")
}
