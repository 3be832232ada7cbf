//! A streamed answer, as the API sends it.

use std::collections::BTreeMap;

use rail_model::{
    Delta, Event, Extras, Json, Map, Opaque, Part, PartBody, PartKind, ProtocolId, Reply, Seal, Stop,
};
use serde_json::Value;

use super::types::{StreamDelta, StreamFrame};
use super::{DELTA, DELTAS, FRAME, ID, LAST, error, reply};
use crate::error::{WireError, parse};
use crate::frame::{Frame, Mapper};
use crate::protocol::HttpReply;

/// Maps stream frames to events.
#[derive(Default)]
pub(super) struct StreamIn {
    started: bool,
    ended: bool,
    parts: usize,
    open: BTreeMap<usize, Slot>,
    end: Option<(Stop, Extras)>,
}

/// An open block: the part it is, and input that came with its start and counts only if none follows.
struct Slot {
    at: usize,
    holds: Holds,
    input: Option<Json>,
}

/// What a block's pieces are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Text,
    Thinking,
    Arguments,
    /// A block of another kind that came whole.
    Nothing,
    /// A block that we have no word for; its pieces are its own affair.
    Opaque,
}

impl Slot {
    fn takes(&self, delta: &Delta) -> bool {
        match delta {
            Delta::Text(_) | Delta::Logprobs(_) => self.holds == Holds::Text,
            Delta::Thinking(_) => self.holds == Holds::Thinking,
            Delta::Arguments(_) => self.holds == Holds::Arguments,
            Delta::Seal(_) | Delta::Extra { .. } => true,
        }
    }
}

impl Mapper for StreamIn {
    fn protocol(&self) -> ProtocolId {
        ID
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Vec<Event>) -> Result<(), WireError> {
        if self.ended || frame.data.is_empty() {
            return Ok(());
        }
        let mut read: StreamFrame<'_> = parse(ID, frame.data)?;
        let kind = read.kind.take();
        match kind.as_deref() {
            Some("content_block_delta") => self.delta(read, out),
            Some("content_block_start") => self.block_start(read, out),
            Some("content_block_stop") => self.block_stop(read, out),
            Some("message_start") => self.message_start(read, out),
            Some("message") if !self.started => {
                // A server that does not stream sends the whole answer.
                (self.started, self.ended) = (true, true);
                reply::events(frame.data, out)
            }
            Some("message_delta") => {
                self.message_delta(read, out);
                Ok(())
            }
            Some("message_stop") => {
                self.message_stop(read, out);
                Ok(())
            }
            Some("ping") if read.rest.is_none() => {
                out.push(Event::Ping);
                Ok(())
            }
            Some("error") => {
                self.ended = true;
                let reply = HttpReply { body: frame.data.to_vec(), ..HttpReply::default() };
                out.push(Event::Failed(error::read(&reply)));
                Ok(())
            }
            Some(_) => {
                out.push(Event::Opaque(Opaque { origin: ID, value: parse(ID, frame.data)? }));
                Ok(())
            }
            None => Err(WireError::malformed(ID, "type", "is missing")),
        }
    }

    fn finish(&mut self, _: &mut Vec<Event>) -> Result<(), WireError> {
        if self.ended {
            Ok(())
        } else {
            Err(WireError::truncated(ID, "the stream ended without message_stop"))
        }
    }
}

impl StreamIn {
    fn message_start(&mut self, mut frame: StreamFrame<'_>, out: &mut Vec<Event>) -> Result<(), WireError> {
        if self.started {
            // Some servers repeat it; the answer began once.
            return Ok(());
        }
        let mut message =
            frame.message.take().ok_or_else(|| WireError::malformed(ID, "message", "is missing"))?;
        let usage = message.usage.take().map(reply::usage);
        let blocks = message.content.take().unwrap_or_default();
        for key in ["stop_reason", "stop_sequence"] {
            message.rest.as_mut().and_then(|rest| rest.shift_remove(key));
        }
        message.stop_reason = None;
        message.stop_sequence = None;
        let (id, model, mut extras) = reply::head(message);
        nest(&mut extras, FRAME, frame.leftovers());
        self.started = true;
        out.push(Event::Started { id, model, extras });
        out.extend(usage.map(Event::Usage));
        for (at, block) in blocks.into_iter().enumerate() {
            let part = reply::from_upstream(block, &format!("message.content[{at}]"))?;
            self.whole(part, out);
        }
        Ok(())
    }

    /// A block that came complete, as the events a streamed one gives.
    fn whole(&mut self, part: Part, out: &mut Vec<Event>) {
        let reply = Reply {
            id: None,
            model: None,
            parts: vec![part],
            stop: Stop::EndTurn,
            usage: None,
            extras: Extras::NONE,
            end: Extras::NONE,
        };
        for mut event in reply.into_events() {
            match &mut event {
                Event::Opened { at, .. } | Event::Delta { at, .. } | Event::Closed { at, .. } => {
                    *at = self.parts
                }
                Event::Started { .. }
                | Event::Usage(_)
                | Event::Finished { .. }
                | Event::Failed(_)
                | Event::Ping
                | Event::Opaque(_) => continue,
            }
            out.push(event);
        }
        self.parts += 1;
    }

    fn ensure_started(&mut self, out: &mut Vec<Event>) {
        if !self.started {
            self.started = true;
            out.push(Event::Started { id: None, model: None, extras: Extras::NONE });
        }
    }

    fn block_start(&mut self, mut frame: StreamFrame<'_>, out: &mut Vec<Event>) -> Result<(), WireError> {
        self.ensure_started(out);
        let index = need_index(&frame)?;
        let mut block = frame
            .content_block
            .take()
            .ok_or_else(|| WireError::malformed(ID, "content_block", "is missing"))?;
        if self.open.contains_key(&index) {
            self.close(index, Extras::NONE, out);
        }
        let mut input = None;
        match block.kind.as_deref() {
            Some("thinking") => {
                block.thinking.get_or_insert_default();
                block.signature.take_if(|signature| signature.is_empty());
            }
            Some("text") => {
                block.text.get_or_insert_default();
            }
            Some("tool_use") => input = block.input.take(),
            Some(_) | None => {}
        }
        let mut part = reply::from_upstream(block, "content_block")?;
        frame.index = None;
        nest(&mut part.extras, FRAME, frame.leftovers());
        let at = self.parts;
        self.parts += 1;
        let holds = match &part.body {
            PartBody::Text(_) | PartBody::Refusal(_) => Holds::Text,
            PartBody::Thinking(_) => Holds::Thinking,
            PartBody::ToolCall(_) => Holds::Arguments,
            PartBody::Opaque(_) => Holds::Opaque,
            PartBody::Redacted(_) | PartBody::Media(_) | PartBody::ToolResult(_) => Holds::Nothing,
        };
        let input = input.filter(|input| {
            input.text().bytes().any(|byte| !byte.is_ascii_whitespace() && byte != b'{' && byte != b'}')
        });
        self.open.insert(index, Slot { at, holds, input });
        open(part, at, out);
        Ok(())
    }

    fn delta(&mut self, mut frame: StreamFrame<'_>, out: &mut Vec<Event>) -> Result<(), WireError> {
        let index = need_index(&frame)?;
        let mut delta = frame.delta.take().ok_or_else(|| WireError::malformed(ID, "delta", "is missing"))?;
        let Some(slot) = self.open.get_mut(&index) else {
            let problem = format!("block {index} is not open");
            return Err(WireError::malformed(ID, "index", problem));
        };
        frame.index = None;
        let at = slot.at;
        let kind = delta.kind.take();
        let text = |text: crate::shape::Str<'_>| text.into_string();
        let mapped = match kind.as_deref() {
            _ if slot.holds == Holds::Opaque => None,
            Some("text_delta") => delta.text.take().map(|piece| Delta::Text(text(piece))),
            Some("thinking_delta") => delta.thinking.take().map(|piece| Delta::Thinking(text(piece))),
            Some("input_json_delta") => {
                let piece = delta.partial_json.take().filter(|piece| !piece.is_empty());
                if piece.is_some() {
                    slot.input = None;
                }
                Some(Delta::Arguments(piece.map(text).unwrap_or_default()))
            }
            Some("signature_delta") => delta
                .signature
                .take()
                .map(|data| Delta::Seal(Seal { issuer: ID.name().to_owned(), data: text(data) })),
            Some("citations_delta") => {
                delta.citation.take().map(|value| Delta::Extra { origin: ID, key: "citations", value })
            }
            Some(_) | None => None,
        };
        if let Some(piece) = mapped.as_ref().filter(|piece| !slot.takes(piece)) {
            // Some servers begin with an empty piece of the wrong type; one that says something has no place to go.
            let problem =
                format!("`{}` does not belong into block {index}", kind.as_deref().unwrap_or_default());
            let wrong = || WireError::malformed(ID, "delta.type", problem);
            return if piece.says_something() { Err(wrong()) } else { Ok(()) };
        }
        let mapped = mapped.unwrap_or_else(|| unknown_delta(kind.as_deref(), std::mem::take(&mut delta)));
        let extras = frame_extras(delta, frame);
        out.push(Event::Delta { at, delta: mapped, extras });
        Ok(())
    }

    fn block_stop(&mut self, mut frame: StreamFrame<'_>, out: &mut Vec<Event>) -> Result<(), WireError> {
        let index = need_index(&frame)?;
        frame.index = None;
        self.close(index, Extras::rest(ID, frame.leftovers()), out);
        Ok(())
    }

    fn close(&mut self, index: usize, extras: Extras, out: &mut Vec<Event>) {
        let Some(slot) = self.open.remove(&index) else { return };
        if let Some(input) = slot.input {
            let delta = Delta::Arguments(input.text().to_owned());
            out.push(Event::Delta { at: slot.at, delta, extras: Extras::NONE });
        }
        out.push(Event::Closed { at: slot.at, extras });
    }

    fn message_delta(&mut self, mut frame: StreamFrame<'_>, out: &mut Vec<Event>) {
        self.ensure_started(out);
        out.extend(frame.usage.take().map(|tokens| Event::Usage(reply::usage(tokens))));
        let mut delta = frame.delta.take().unwrap_or_default();
        let (reason, sequence) = (delta.stop_reason.take(), delta.stop_sequence.take());
        if reason.is_none() && self.end.is_some() {
            return;
        }
        let (stop, mut end) = reply::stop(reason.as_deref(), sequence.as_deref());
        end.merge(frame_extras(delta, frame));
        self.end = Some((stop, end));
    }

    fn message_stop(&mut self, frame: StreamFrame<'_>, out: &mut Vec<Event>) {
        self.ensure_started(out);
        let open: Vec<usize> = self.open.keys().copied().collect();
        open.into_iter().for_each(|index| self.close(index, Extras::NONE, out));
        let (stop, mut extras) = self.end.take().unwrap_or((Stop::EndTurn, Extras::NONE));
        nest(&mut extras, LAST, frame.leftovers());
        self.ended = true;
        out.push(Event::Finished { stop, extras });
    }
}

fn need_index(frame: &StreamFrame<'_>) -> Result<usize, WireError> {
    frame.index.ok_or_else(|| WireError::malformed(ID, "index", "is missing"))
}

/// A piece we have no word for: kept whole, given back as it came.
fn unknown_delta(kind: Option<&str>, delta: StreamDelta<'_>) -> Delta {
    let mut value = delta.leftovers();
    if let Some(kind) = kind {
        value.shift_insert(0, "type".to_owned(), Value::from(kind));
    }
    Delta::Extra { origin: ID, key: DELTAS, value: Value::Object(value) }
}

fn frame_extras(delta: StreamDelta<'_>, frame: StreamFrame<'_>) -> Extras {
    let mut extras = Extras::rest(ID, frame.leftovers());
    nest(&mut extras, DELTA, delta.leftovers());
    extras
}

fn nest(extras: &mut Extras, key: &str, fields: Map) {
    if !fields.is_empty() {
        extras.insert(ID, key, Value::Object(fields));
    }
}

/// Opens a part with what its start already holds.
fn open(part: Part, at: usize, out: &mut Vec<Event>) {
    let Part { body, seal, extras, .. } = part;
    let (kind, first) = match body {
        PartBody::Text(text) => (PartKind::Text, Some(Delta::Text(text))),
        PartBody::Thinking(text) => (PartKind::Thinking, Some(Delta::Thinking(text))),
        PartBody::Redacted(seal) => (PartKind::Redacted(seal), None),
        PartBody::ToolCall(call) => {
            (PartKind::ToolCall { id: call.id, name: call.name, kind: call.kind }, None)
        }
        PartBody::Opaque(opaque) => (PartKind::Opaque(opaque), None),
        PartBody::Media(media) => (PartKind::Media(media), None),
        PartBody::Refusal(text) => (PartKind::Refusal, Some(Delta::Text(text))),
        PartBody::ToolResult(_) => (PartKind::Opaque(Opaque { origin: ID, value: Value::Null }), None),
    };
    out.push(Event::Opened { at, kind, extras });
    let first = first.filter(Delta::says_something).into_iter().chain(seal.map(Delta::Seal));
    out.extend(first.map(|delta| Event::Delta { at, delta, extras: Extras::NONE }));
}
