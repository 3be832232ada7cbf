//! A streamed answer, as the API sends it.

use std::borrow::Cow;

use rail_model::{Delta, Event, Extras, Json, Map, Opaque, Part, PartBody, ProtocolId};
use serde_json::Value;

use super::content;
use super::item_in::{self, Kind, Side};
use super::item_out::Class;
use super::stream_ends::{FIRST, about, class, is_thought, part_frame, read_part};
use super::stream_items::{Added, Item, Items, Slot, frame_extras};
use super::types::{AnnotationFrame, Answer, AnswerFrame, DeltaFrame, DoneFrame, ItemFrame, Peek};
use super::{ID, LOGPROBS_FOLLOW, OBFUSCATION, RAW, error, head, missing, reply, usage};
use crate::error::{WireError, parse, parse_at};
use crate::frame::{Frame, Mapper};

/// Maps stream frames to events.
#[derive(Default)]
pub(super) struct StreamIn {
    started: bool,
    ended: bool,
    answer: String,
    /// The response object at the beginning, while it may still be repeated.
    head: Option<Json>,
    pub(super) items: Items,
}

impl Mapper for StreamIn {
    fn protocol(&self) -> ProtocolId {
        ID
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Vec<Event>) -> Result<(), WireError> {
        let data = frame.data.trim_ascii();
        if self.ended || data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        // The event line repeats the type, and reading it there saves a look at the data.
        let kind = if frame.event.starts_with("response.") {
            Cow::Borrowed(frame.event)
        } else {
            parse::<Peek<'_>>(ID, data)?.kind.unwrap_or_default()
        };
        self.dispatch(&kind, data, out)
    }

    fn finish(&mut self, _: &mut Vec<Event>) -> Result<(), WireError> {
        let problem = "the stream ended without response.completed";
        if self.ended { Ok(()) } else { Err(WireError::truncated(ID, problem)) }
    }
}

impl StreamIn {
    fn dispatch(&mut self, kind: &str, data: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.delta(kind, Delta::Text, data, out)
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.delta(kind, Delta::Thinking, data, out)
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.delta(kind, Delta::Arguments, data, out)
            }
            "response.output_text.done" | "response.refusal.done" => self.done(kind, Delta::Text, data, out),
            "response.reasoning_summary_text.done" | "response.reasoning_text.done" => {
                self.done(kind, Delta::Thinking, data, out)
            }
            "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
                self.done(kind, Delta::Arguments, data, out)
            }
            "response.output_text.annotation.added" => self.annotation(data, out),
            "response.content_part.added" | "response.reasoning_summary_part.added" => {
                self.part_added(kind, data, out)
            }
            "response.content_part.done" | "response.reasoning_summary_part.done" => {
                self.part_done(kind, data, out)
            }
            "response.output_item.added" => self.item_added(data, out),
            "response.output_item.done" => self.item_done(data, out),
            "response.created" | "response.in_progress" | "response.queued" => self.begun(kind, data, out),
            "response.completed" | "response.incomplete" => self.completed(data, out),
            "response.failed" | "error" => self.failed(data, out),
            "keepalive" | "ping" => {
                out.push(Event::Ping);
                Ok(())
            }
            _ => self.unknown(data, out),
        }
    }

    fn ensure_started(&mut self, out: &mut Vec<Event>) {
        if !self.started {
            self.started = true;
            out.push(Event::Started { id: None, model: None, extras: Extras::NONE });
        }
    }

    fn begun(&mut self, kind: &str, data: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        let mut frame: AnswerFrame = parse(ID, data)?;
        let response = frame.response.take().ok_or_else(|| missing("response"))?;
        (frame.kind, frame.sequence_number) = (None, None);
        if self.started {
            let repeats =
                frame.rest.is_none() && self.head.as_ref().is_none_or(|head| repeats(head, &response));
            if kind == "response.created" || repeats {
                out.push(Event::Ping);
                return Ok(());
            }
            return self.unknown(data, out);
        }
        let mut answer: Answer = parse_at(ID, response.text(), "response")?;
        answer.output = None;
        let usage = answer.usage.take().map(usage::read);
        let (id, model, mut extras) = head::read(answer);
        extras.merge(frame_extras("created", frame.leftovers()));
        self.answer = id.clone().unwrap_or_default();
        self.started = true;
        self.head = Some(response);
        out.push(Event::Started { id, model, extras });
        out.extend(usage.map(Event::Usage));
        Ok(())
    }

    fn unknown(&mut self, data: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        let value: Value = parse(ID, data)?;
        if value.get("type").is_none() && value.get("error").is_some_and(|error| !error.is_null()) {
            return self.failed(data, out);
        }
        if !self.started && value.get("object").and_then(Value::as_str) == Some("response") {
            // A server that does not stream sends the whole answer.
            (self.started, self.ended) = (true, true);
            return reply::events(data, out);
        }
        out.push(Event::Opaque(Opaque { origin: ID, value }));
        Ok(())
    }

    fn failed(&mut self, data: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        self.items.break_off(out);
        self.ended = true;
        out.push(Event::Failed(error::read_said(parse(ID, data)?)));
        Ok(())
    }

    fn completed(&mut self, data: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        let mut frame: AnswerFrame = parse(ID, data)?;
        let response = frame.response.take().ok_or_else(|| missing("response"))?;
        let mut answer: Answer = parse_at(ID, response.text(), "response")?;
        (frame.kind, frame.sequence_number) = (None, None);
        if answer.status.as_deref() == Some("failed") {
            return self.failed(data, out);
        }
        if !self.started {
            self.started = true;
            let (id, model) = (answer.id.clone(), answer.model.clone());
            out.push(Event::Started { id, model, extras: Extras::NONE });
        }
        // What was never streamed, or never ended, stands here at last.
        for (index, json) in answer.output.take().unwrap_or_default().into_iter().enumerate() {
            let index = index as u64;
            if self.items.list.get(&index).is_none_or(|item| !item.done) {
                self.item_complete(index, json, Map::new(), out)?;
            }
        }
        for index in self.items.list.keys().copied().collect::<Vec<_>>() {
            self.items.close(index, out);
        }
        let stop = head::stop(&answer, self.items.called);
        out.extend(answer.usage.take().map(|tokens| Event::Usage(usage::read(tokens))));
        let (_, _, mut extras) = head::read(answer);
        extras.merge(frame_extras("completed", frame.leftovers()));
        self.ended = true;
        out.push(Event::Finished { stop, extras });
        Ok(())
    }

    fn item_added(&mut self, data: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        self.ensure_started(out);
        self.head = None;
        let mut frame: ItemFrame = parse(ID, data)?;
        let json = frame.item.take().ok_or_else(|| missing("item"))?;
        let index = frame.output_index.take().map_or(self.items.list.len() as u64, |count| count.0);
        (frame.kind, frame.sequence_number) = (None, None);
        let extras = frame_extras("item_added", frame.leftovers());
        let side = self.side(index);
        let kind = item_in::answered_kind(&json, "item")?;
        let class = class(kind);
        match kind {
            Kind::Assistant | Kind::Reasoning => {
                let mut extras = extras;
                about(&json, kind, &mut extras)?;
                let added = Added { extras, frame: parse(ID, data)? };
                self.items.begin(index, Item::new(class, Some(added)), out);
            }
            Kind::Call(_) | Kind::User | Kind::System | Kind::Developer | Kind::Output(_) | Kind::Other => {
                let parts = item_in::parts(&json, kind, side, "item")?;
                self.items.begin(index, Item::new(class, None), out);
                for mut part in parts {
                    part.extras.merge(extras.clone());
                    self.items.open(index, FIRST, part, out);
                }
            }
        }
        Ok(())
    }

    pub(super) fn side(&self, index: u64) -> Side<'_> {
        Side::Upstream { answer: &self.answer, index: usize::try_from(index).unwrap_or_default() }
    }

    fn item_done(&mut self, data: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        self.ensure_started(out);
        let mut frame: ItemFrame = parse(ID, data)?;
        let json = frame.item.take().ok_or_else(|| missing("item"))?;
        let next = || self.items.list.len().saturating_sub(1) as u64;
        let index = frame.output_index.take().map_or_else(next, |count| count.0);
        (frame.kind, frame.sequence_number) = (None, None);
        self.item_complete(index, json, frame.leftovers(), out)
    }

    fn part_added(&mut self, kind: &str, data: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        self.ensure_started(out);
        let (index, key, json, left) = part_frame(kind, data)?;
        let mut part = read_part(&json, kind)?;
        let class = if kind == "response.reasoning_summary_part.added" || is_thought(&part) {
            Class::Reasoning
        } else {
            Class::Message
        };
        let class = self.items.item(index, class).class;
        let key = (class == Class::Reasoning && key.0, key.1);
        part.extras.merge(frame_extras("part_added", left));
        self.items.open(index, key, part, out);
        Ok(())
    }

    fn part_done(&mut self, kind: &str, data: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        self.ensure_started(out);
        let (index, key, json, left) = part_frame(kind, data)?;
        let part = read_part(&json, kind)?;
        let class = if is_thought(&part) { Class::Reasoning } else { Class::Message };
        let class = self.items.item(index, class).class;
        let key = (class == Class::Reasoning && key.0, key.1);
        self.part_complete(index, key, part, &json, out).map_err(|error| error.under(kind))?;
        if let Some(slot) = self.items.slot(index, key) {
            slot.closing(frame_extras("part_done", left));
        }
        Ok(())
    }

    fn annotation(&mut self, data: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        let mut frame: AnnotationFrame = parse(ID, data)?;
        let index = frame.output_index.take().unwrap_or_default().0;
        let key = (false, frame.content_index.take().unwrap_or_default().0);
        let value = frame.annotation.take().ok_or_else(|| missing("annotation"))?;
        (frame.kind, frame.sequence_number, frame.item_id, frame.annotation_index) = (None, None, None, None);
        let extras = Extras::rest(ID, frame.leftovers());
        if let Some(slot) = self.items.slot(index, key) {
            slot.delta(Delta::Extra { origin: ID, key: "annotations", value }, extras, out);
        }
        Ok(())
    }

    fn delta(
        &mut self,
        kind: &str,
        like: fn(String) -> Delta,
        data: &[u8],
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let mut frame: DeltaFrame<'_> = parse(ID, data)?;
        let index = frame.output_index.take().unwrap_or_default().0;
        let inner = frame.content_index.take().or(frame.summary_index.take()).unwrap_or_default().0;
        let text = frame.delta.take().ok_or_else(|| missing("delta"))?.into_string();
        let Some(slot) = self.reach(index, kind, inner, out) else { return Ok(()) };
        let logprobs = frame.logprobs.take().filter(|list| !list.is_empty());
        (frame.kind, frame.sequence_number, frame.item_id) = (None, None, None);
        let padding = frame.obfuscation.take();
        let mut extras = Extras::rest(ID, frame.leftovers());
        if let Some(padding) = padding {
            extras.insert(ID, OBFUSCATION, Value::from(padding.into_string()));
        }
        if logprobs.is_some() {
            extras.mark(ID, LOGPROBS_FOLLOW);
        }
        slot.delta(like(text), extras, out);
        if let Some(list) = logprobs {
            let list = list.into_iter().map(content::logprob_in).collect();
            slot.delta(Delta::Logprobs(list), Extras::NONE, out);
        }
        Ok(())
    }

    fn done(
        &mut self,
        kind: &str,
        like: fn(String) -> Delta,
        data: &[u8],
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let mut frame: DoneFrame<'_> = parse(ID, data)?;
        let index = frame.output_index.take().unwrap_or_default().0;
        let inner = frame.content_index.take().or(frame.summary_index.take()).unwrap_or_default().0;
        let said = [frame.text.take(), frame.refusal.take(), frame.arguments.take(), frame.input.take()];
        let text = said.into_iter().flatten().next().unwrap_or_default();
        let Some(slot) = self.reach(index, kind, inner, out) else { return Ok(()) };
        slot.complete(&text, like, out).map_err(|error| error.under(kind))?;
        let logprobs = frame.logprobs.take().filter(|list| !list.is_empty() && !slot.logprobs);
        if let Some(list) = logprobs {
            slot.delta(
                Delta::Logprobs(list.into_iter().map(content::logprob_in).collect()),
                Extras::NONE,
                out,
            );
        }
        (frame.kind, frame.sequence_number, frame.item_id) = (None, None, None);
        slot.closing(frame_extras("text_done", frame.leftovers()));
        Ok(())
    }

    /// The part a piece belongs to; some servers never announce it, so it begins with its first piece. A call that was
    /// not announced has no name yet: it waits for its complete item.
    fn reach(&mut self, index: u64, kind: &str, inner: u64, out: &mut Vec<Event>) -> Option<&mut Slot> {
        self.ensure_started(out);
        let (class, body, key) = match kind {
            "response.output_text.delta" | "response.output_text.done" => {
                (Class::Message, PartBody::Text(String::new()), (false, inner))
            }
            "response.refusal.delta" | "response.refusal.done" => {
                (Class::Message, PartBody::Refusal(String::new()), (false, inner))
            }
            "response.reasoning_text.delta" | "response.reasoning_text.done" => {
                (Class::Reasoning, PartBody::Thinking(String::new()), (true, inner))
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_summary_text.done" => {
                (Class::Reasoning, PartBody::Thinking(String::new()), (false, inner))
            }
            _ => return self.items.slot(index, FIRST),
        };
        if self.items.slot(index, key).is_none() {
            self.items.item(index, class);
            let mut part = Part::new(body);
            if key.0 {
                part.extras.mark(ID, RAW);
            }
            self.items.open(index, key, part, out);
        }
        self.items.slot(index, key)
    }
}

/// Whether a later response object says what the first said, but for its status.
fn repeats(first: &Json, later: &Json) -> bool {
    if first.text() == later.text() {
        return true;
    }
    let plain = |json: &Json| {
        let mut value = json.value();
        value.as_object_mut().map(|map| map.shift_remove("status"));
        value
    };
    plain(first) == plain(later)
}
