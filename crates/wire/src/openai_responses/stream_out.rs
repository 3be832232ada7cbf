//! A streamed answer, as clients of the API expect it.

use rail_model::{ApiError, Delta, Event, Extras, Logprob, Loss, Map, Opaque, Part, PartBody, PartKind, Seal, Stop, ToolCall, Usage};
use serde_json::Value;

use super::content::{self, Voice};
use super::dress::{Place, annotation, dress};
use super::frames::{AnnotationBody, AnswerBody, Frame, ItemBody, PartBodyFrame, Piece, Spot, sse};
use super::item_out::{self, Class, Reader, is_own};
use super::{FRAMES, ID, ITEM, LOGPROBS_FOLLOW, OBFUSCATION, RAW, SAME_ITEM, error, head, kept_fields, usage};
use crate::order::InOrder;
use crate::protocol::{Encode, ReplyTo};
use crate::told::Told;

/// Writes events as SSE.
pub(super) struct StreamOut {
    order: InOrder,
    writer: Writer,
}

impl StreamOut {
    pub(super) fn new(reply_to: &ReplyTo) -> Self {
        let writer = Writer { reply_to: reply_to.clone(), ..Writer::default() };
        Self { order: InOrder::default(), writer }
    }
}

impl Encode for StreamOut {
    fn push(&mut self, event: &Event, out: &mut Vec<u8>) {
        let Self { order, writer } = self;
        order.push(event, &mut |event| writer.event(event, out));
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.writer.ended {
            self.writer.failed(&error::unfinished(), out);
        }
    }

    fn losses(&mut self) -> Vec<Loss> {
        self.writer.told.take()
    }
}

#[derive(Default)]
struct Writer {
    reply_to: ReplyTo,
    told: Told,
    sequence: u64,
    ended: bool,
    id: String,
    /// The response object as it was at the beginning.
    head: Map,
    /// Frames that follow the first one before anything else does.
    owed: Vec<&'static str>,
    /// Items that are complete.
    output: Vec<Value>,
    /// The parts of the open item; none when no item is open.
    group: Vec<Part>,
    item_id: String,
    /// A part of another protocol waits for its first piece: an empty one must not appear, and a call's seal belongs
    /// into its id.
    waiting: Option<Part>,
    /// Whether the open part came from another protocol, so that its end is its item's end.
    foreign: bool,
    /// A piece that waits for its log probabilities.
    held: Option<(String, Extras)>,
    usage: Option<Usage>,
    refused: bool,
}

impl Writer {
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.ended {
            return;
        }
        match event {
            Event::Started { id, model, extras } => self.started(id.as_deref(), model.as_deref(), extras, out),
            Event::Ping if self.owed.is_empty() => {
                self.flush(out);
                self.frame("keepalive", (), None, out);
            }
            Event::Ping => {
                let kind = self.owed.remove(0);
                self.owed_frame(kind, out);
            }
            Event::Opaque(opaque) if opaque.origin == ID => self.opaque(&opaque.value, out),
            Event::Opaque(opaque) => {
                self.told.once(format!("event.{}", opaque.origin), "an event of another protocol; left out");
            }
            Event::Opened { at: _, kind, extras } => {
                self.pay(out);
                self.opened(kind, extras, out);
            }
            Event::Delta { at: _, delta, extras } => self.delta(delta, extras, out),
            Event::Closed { at: _, extras } => self.closed(extras, out),
            Event::Usage(usage) => {
                self.told.extras(ID, "usage", &usage.extras);
                self.usage.get_or_insert_default().update(usage.clone());
            }
            Event::Finished { stop, extras } => self.finished(stop, extras, out),
            Event::Failed(error) => self.failed(error, out),
        }
    }

    fn frame(&mut self, kind: &str, body: impl serde::Serialize, rest: Option<&Map>, out: &mut Vec<u8>) {
        let frame = Frame { r#type: kind, sequence_number: self.sequence, body, rest };
        self.sequence += 1;
        sse(kind, &frame, out);
    }

    fn started(&mut self, id: Option<&str>, model: Option<&str>, extras: &Extras, out: &mut Vec<u8>) {
        self.told.extras(ID, "", extras);
        self.id = head::answer_id(id, extras, &self.reply_to);
        self.head = Map::from_iter([("id".to_owned(), Value::from(self.id.as_str()))]);
        self.head.extend(head::said(extras).unwrap_or_else(|| head::fresh(&self.reply_to)));
        let model = self.reply_to.model.as_deref().or(model).unwrap_or_default();
        self.head.insert("model".to_owned(), Value::from(model));
        self.head.insert("output".to_owned(), Value::Array(Vec::new()));
        let queued = self.head.get("status").and_then(Value::as_str) == Some("queued");
        if !queued {
            // An answer that came whole is told from its beginning.
            self.head.insert("status".to_owned(), Value::from("in_progress"));
            for key in ["completed_at", "incomplete_details"] {
                self.head.get_mut(key).map(Value::take);
            }
        }
        let rest = frames(extras, "created").cloned();
        let head = std::mem::take(&mut self.head);
        self.frame("response.created", AnswerBody { response: &head }, rest.as_ref(), out);
        self.head = head;
        self.owed = if queued { vec!["response.queued"] } else { Vec::new() };
        self.owed.push("response.in_progress");
    }

    fn owed_frame(&mut self, kind: &str, out: &mut Vec<u8>) {
        let status = if kind == "response.queued" { "queued" } else { "in_progress" };
        let mut head = std::mem::take(&mut self.head);
        head.insert("status".to_owned(), Value::from(status));
        self.frame(kind, AnswerBody { response: &head }, None, out);
        self.head = head;
    }

    fn pay(&mut self, out: &mut Vec<u8>) {
        for kind in std::mem::take(&mut self.owed) {
            self.owed_frame(kind, out);
        }
    }

    /// An event of this protocol that we have no word for; its number is its place in this stream.
    fn opaque(&mut self, value: &Value, out: &mut Vec<u8>) {
        let kind = value.get("type").and_then(Value::as_str).unwrap_or("message");
        if self.owed.contains(&kind) {
            self.owed.retain(|owed| *owed != kind);
        } else {
            self.pay(out);
        }
        self.flush(out);
        let mut value = value.clone();
        if let Some(number) = value.get_mut("sequence_number") {
            *number = Value::from(self.sequence);
        }
        self.sequence += 1;
        sse(kind, &value, out);
    }

    fn opened(&mut self, kind: &PartKind, extras: &Extras, out: &mut Vec<u8>) {
        let part = Part { extras: extras.clone(), ..Part::new(empty(kind)) };
        let opaque = matches!(kind, PartKind::Opaque(opaque) if opaque.origin == ID);
        self.foreign = !(is_own(extras) || opaque);
        if !self.foreign {
            let class = self.group.first().map(item_out::class);
            if extras.marked(ID, SAME_ITEM) && class == Some(item_out::class(&part)) {
                self.group.push(part);
                self.part_added(out);
            } else {
                self.item_done(out);
                self.item_added(part, out);
            }
            return;
        }
        self.item_done(out);
        match kind {
            PartKind::Text | PartKind::Refusal | PartKind::Thinking | PartKind::ToolCall { .. } => {
                self.waiting = Some(part);
            }
            PartKind::Redacted(_) | PartKind::Media(_) | PartKind::Opaque(_) => self.begin(part, out),
        }
    }

    /// Begins an item for a part of another protocol, if it can be said at all.
    fn begin(&mut self, part: Part, out: &mut Vec<u8>) {
        let place = Place { answer: &self.id, index: self.output.len(), reply_to: &self.reply_to };
        if let Some(part) = dress(part, &place, &mut self.told) {
            self.item_added(part, out);
        }
    }

    fn item_added(&mut self, part: Part, out: &mut Vec<u8>) {
        let mut item = item_out::added(&part);
        if item_out::class(&part) != Class::Whole
            && let Some(status) = item.get_mut("status").filter(|status| *status == "completed")
        {
            *status = Value::from("in_progress");
        }
        self.item_id = item.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let body = ItemBody { output_index: self.output.len(), item: &item };
        let rest = frames(&part.extras, "item_added").cloned();
        self.frame("response.output_item.added", body, rest.as_ref(), out);
        self.group.push(part);
        self.part_added(out);
    }

    /// Where the newest part stands.
    fn spot(&self) -> Spot {
        let Some((part, before)) = self.group.split_last() else { return Spot::default() };
        let output_index = self.output.len();
        let raw = part.extras.marked(ID, RAW);
        match item_out::class(part) {
            Class::Message => Spot { output_index, content_index: Some(before.len()), summary_index: None },
            Class::Reasoning => {
                let index = before.iter().filter(|part| part.extras.marked(ID, RAW) == raw).count();
                let (content_index, summary_index) = if raw { (Some(index), None) } else { (None, Some(index)) };
                Spot { output_index, content_index, summary_index }
            }
            Class::Call(_) | Class::Whole => Spot { output_index, content_index: None, summary_index: None },
        }
    }

    /// The newest part as JSON, if it is one of its own inside its item, and the family of events it belongs to.
    fn newest(&mut self) -> Option<(Value, &'static str)> {
        let part = self.group.last()?;
        match item_out::class(part) {
            Class::Message => {
                let mut losses = Vec::new();
                let value = content::write(part, Voice::Output, "output", &mut losses);
                losses.into_iter().for_each(|loss| self.told.once(loss.path, &loss.reason));
                Some((value?, "content_part"))
            }
            Class::Reasoning if part.extras.marked(ID, RAW) => Some((item_out::thought(part)?, "content_part")),
            Class::Reasoning => Some((item_out::thought(part)?, "reasoning_summary_part")),
            Class::Call(_) | Class::Whole => None,
        }
    }

    fn part_added(&mut self, out: &mut Vec<u8>) {
        let spot = self.spot();
        let Some((value, family)) = self.newest() else { return };
        let rest = self.group.last().and_then(|part| frames(&part.extras, "part_added")).cloned();
        let id = std::mem::take(&mut self.item_id);
        let body = PartBodyFrame { item_id: &id, spot, part: &value };
        self.frame(&format!("response.{family}.added"), body, rest.as_ref(), out);
        self.item_id = id;
    }

    fn delta(&mut self, delta: &Delta, extras: &Extras, out: &mut Vec<u8>) {
        if let Some(waiting) = &mut self.waiting {
            if let (Delta::Seal(seal), PartBody::ToolCall(_)) = (delta, &waiting.body) {
                waiting.seal = Some(seal.clone());
                return;
            }
            if !delta.says_something() {
                return;
            }
            if let Some(part) = self.waiting.take() {
                let part = sealed_only(part, delta);
                self.begin(part, out);
            }
        }
        if self.group.is_empty() {
            return;
        }
        if !extras.is_empty() {
            self.told.extras(ID, &format!("output[{}]", self.output.len()), extras);
        }
        match delta {
            Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments(text) => {
                if extras.marked(ID, LOGPROBS_FOLLOW) {
                    self.held = Some((text.clone(), extras.clone()));
                } else {
                    self.piece(text, extras, &[], out);
                }
            }
            Delta::Logprobs(list) => {
                let (text, extras) = self.held.take().unwrap_or_default();
                self.piece(&text, &extras, list, out);
            }
            Delta::Seal(seal) => self.seal(seal),
            Delta::Extra { key, .. } => match annotation(delta) {
                Some(value) => self.annotation(value, extras, out),
                None => {
                    let path = format!("output[{}].{key}", self.output.len());
                    self.told.once(path, "openai-responses has no such field; left out");
                }
            },
        }
    }

    fn seal(&mut self, seal: &Seal) {
        let index = self.output.len();
        let Some(part) = self.group.last_mut() else { return };
        match part.body {
            PartBody::Text(_) | PartBody::Refusal(_) => {
                self.told.once(format!("output[{index}].seal"), "openai-responses has no seal on text; left out");
            }
            PartBody::ToolCall(_) => {
                let reason = "the seal came after the call was told; left out";
                self.told.once(format!("output[{index}].seal"), reason);
            }
            PartBody::Redacted(_) => {}
            PartBody::Thinking(_) | PartBody::ToolResult(_) | PartBody::Media(_) | PartBody::Opaque(_) => {
                part.seal = Some(seal.clone());
            }
        }
    }

    /// One more piece of the newest part.
    fn piece(&mut self, text: &str, extras: &Extras, logprobs: &[Logprob], out: &mut Vec<u8>) {
        let spot = self.spot();
        let Some(part) = self.group.last_mut() else { return };
        let Some(family) = grow(part, text, logprobs) else { return };
        let rest = (!extras.is_empty()).then(|| piece_fields(extras));
        let logprobs = (family.has_logprobs).then(|| content::logprobs_out(logprobs));
        let id = std::mem::take(&mut self.item_id);
        let piece = Piece { item_id: &id, spot, delta: Some(text), logprobs, ..Piece::default() };
        self.frame(family.delta, piece, rest.as_ref(), out);
        self.item_id = id;
    }

    fn annotation(&mut self, value: Value, extras: &Extras, out: &mut Vec<u8>) {
        let spot = self.spot();
        let Some(part) = self.group.last_mut() else { return };
        part.extras.append(ID, "annotations", value.clone());
        let list = part.extras.get(ID, "annotations").and_then(Value::as_array);
        let index = list.map_or(0, |list| list.len().saturating_sub(1));
        let rest: Map = kept_fields(extras).collect();
        let id = std::mem::take(&mut self.item_id);
        let body = AnnotationBody { item_id: &id, spot, annotation_index: index, annotation: &value };
        self.frame("response.output_text.annotation.added", body, Some(&rest), out);
        self.item_id = id;
    }

    /// A piece whose log probabilities never came.
    fn flush(&mut self, out: &mut Vec<u8>) {
        if let Some((text, extras)) = self.held.take() {
            self.piece(&text, &extras, &[], out);
        }
    }

    fn closed(&mut self, extras: &Extras, out: &mut Vec<u8>) {
        if let Some(part) = self.waiting.take_if(|part| matches!(part.body, PartBody::ToolCall(_))) {
            self.begin(part, out);
        }
        self.waiting = None;
        self.flush(out);
        if self.group.is_empty() {
            self.told.extras(ID, &format!("output[{}]", self.output.len()), extras);
            return;
        }
        if let Some(part) = self.group.last_mut() {
            match &mut part.body {
                PartBody::Refusal(_) => self.refused = true,
                PartBody::ToolCall(call) if self.foreign && call.arguments.is_empty() => {
                    if call.kind == rail_model::CallKind::Function {
                        self.piece("{}", &Extras::NONE, &[], out);
                    }
                }
                PartBody::ToolCall(_)
                | PartBody::Text(_)
                | PartBody::Thinking(_)
                | PartBody::Redacted(_)
                | PartBody::ToolResult(_)
                | PartBody::Media(_)
                | PartBody::Opaque(_) => {}
            }
        }
        self.told.extras(ID, &format!("output[{}]", self.output.len()), extras);
        if let Some(part) = self.group.last_mut().filter(|_| extras.origin() == Some(ID)) {
            part.extras.merge(extras.clone());
        }
        self.part_done(out);
        let complete = extras.get(ID, ITEM).is_some() || extras.get(ID, super::FINAL).is_some();
        if self.foreign || complete {
            self.item_done(out);
        }
    }

    /// The complete text of the newest part, then the part.
    fn part_done(&mut self, out: &mut Vec<u8>) {
        let spot = self.spot();
        let Some(part) = self.group.last() else { return };
        let family = family(part);
        let rest = frames(&part.extras, "text_done").cloned();
        let last = frames(&part.extras, "part_done").cloned();
        let id = std::mem::take(&mut self.item_id);
        if let Some((family, text)) = family {
            let text = text.to_owned();
            let logprobs = family.has_logprobs.then(|| content::logprobs_out(&part.logprobs));
            let mut piece = Piece { item_id: &id, spot, logprobs, ..Piece::default() };
            *(family.field)(&mut piece) = Some(&text);
            self.frame(family.done, piece, rest.as_ref(), out);
        }
        if let Some((value, family)) = self.newest() {
            let body = PartBodyFrame { item_id: &id, spot, part: &value };
            self.frame(&format!("response.{family}.done"), body, last.as_ref(), out);
        }
        self.item_id = id;
    }

    fn item_done(&mut self, out: &mut Vec<u8>) {
        let group = std::mem::take(&mut self.group);
        let Some(last) = group.last() else { return };
        let mut losses = Vec::new();
        let item = item_out::item(&group, Reader::Client, "output", &mut losses).unwrap_or_default();
        losses.into_iter().for_each(|loss| self.told.once(loss.path, &loss.reason));
        let body = ItemBody { output_index: self.output.len(), item: &item };
        self.frame("response.output_item.done", body, frames(&last.extras, "item_done"), out);
        self.output.push(Value::Object(item));
    }

    fn finished(&mut self, stop: &Stop, extras: &Extras, out: &mut Vec<u8>) {
        self.pay(out);
        self.flush(out);
        self.item_done(out);
        self.told.extras(ID, "", extras);
        let mut response = match head::said(extras) {
            Some(said) => {
                let shown = |key: &str| self.head.get(key).map(|value| (key.to_owned(), value.clone()));
                let mut map: Map = ["id", "model"].into_iter().filter_map(shown).collect();
                map.extend(said);
                map
            }
            None => {
                let mut map = self.head.clone();
                head::end(&mut map, stop, self.refused, &self.reply_to, &mut self.told);
                map
            }
        };
        response.insert("output".to_owned(), Value::Array(std::mem::take(&mut self.output)));
        if let Some(usage) = &self.usage {
            response.insert("usage".to_owned(), usage::write(usage));
        }
        let incomplete = response.get("status").and_then(Value::as_str) == Some("incomplete");
        let kind = if incomplete { "response.incomplete" } else { "response.completed" };
        self.frame(kind, AnswerBody { response: &response }, frames(extras, "completed"), out);
        self.ended = true;
    }

    fn failed(&mut self, error: &ApiError, out: &mut Vec<u8>) {
        self.flush(out);
        self.ended = true;
        let said = error.said.as_ref().filter(|(origin, _)| *origin == ID).map(|(_, said)| said);
        if let Some(kind) = said.and_then(|said| said.get("type")).and_then(Value::as_str) {
            let mut value = said.cloned().unwrap_or_default();
            if let Some(number) = value.get_mut("sequence_number") {
                *number = Value::from(self.sequence);
            }
            if let (Some(model), Some(shown)) = (&self.reply_to.model, value.pointer_mut("/response/model")) {
                *shown = Value::from(model.as_str());
            }
            return sse(kind, &value, out);
        }
        let mut response = match said.filter(|said| said.get("object").is_some()).and_then(Value::as_object) {
            Some(said) => said.clone(),
            None if self.head.is_empty() => {
                let id = head::answer_id(None, &Extras::NONE, &self.reply_to);
                let mut map = Map::from_iter([("id".to_owned(), Value::from(id))]);
                map.extend(head::fresh(&self.reply_to));
                map.insert("model".to_owned(), Value::from(self.reply_to.model.as_deref().unwrap_or_default()));
                map.insert("output".to_owned(), Value::Array(Vec::new()));
                map
            }
            None => std::mem::take(&mut self.head),
        };
        response.insert("status".to_owned(), Value::from("failed"));
        response.insert("error".to_owned(), error::failed(error));
        self.frame("response.failed", AnswerBody { response: &response }, None, out);
    }
}

/// The events by which a part's text is told.
struct Family {
    delta: &'static str,
    done: &'static str,
    /// Where the complete text stands.
    field: for<'p, 'a> fn(&'p mut Piece<'a>) -> &'p mut Option<&'a str>,
    has_logprobs: bool,
}

fn family(part: &Part) -> Option<(Family, &str)> {
    use rail_model::CallKind;
    let raw = part.extras.marked(ID, RAW);
    let (delta, done, field, text): (_, _, for<'p, 'a> fn(&'p mut Piece<'a>) -> &'p mut Option<&'a str>, _) =
        match &part.body {
            PartBody::Text(text) => {
                ("response.output_text.delta", "response.output_text.done", |piece| &mut piece.text, text)
            }
            PartBody::Refusal(text) => {
                ("response.refusal.delta", "response.refusal.done", |piece| &mut piece.refusal, text)
            }
            PartBody::Thinking(_) if part.extras.marked(ID, super::EMPTY) => return None,
            PartBody::Thinking(text) if raw => {
                ("response.reasoning_text.delta", "response.reasoning_text.done", |piece| &mut piece.text, text)
            }
            PartBody::Thinking(text) => (
                "response.reasoning_summary_text.delta",
                "response.reasoning_summary_text.done",
                |piece| &mut piece.text,
                text,
            ),
            PartBody::ToolCall(ToolCall { kind: CallKind::Function, arguments, .. }) => (
                "response.function_call_arguments.delta",
                "response.function_call_arguments.done",
                |piece| &mut piece.arguments,
                arguments,
            ),
            PartBody::ToolCall(ToolCall { kind: CallKind::Custom, arguments, .. }) => (
                "response.custom_tool_call_input.delta",
                "response.custom_tool_call_input.done",
                |piece| &mut piece.input,
                arguments,
            ),
            PartBody::Redacted(_) | PartBody::ToolResult(_) | PartBody::Media(_) | PartBody::Opaque(_) => return None,
        };
    let has_logprobs = matches!(part.body, PartBody::Text(_));
    Some((Family { delta, done, field, has_logprobs }, text))
}

/// Adds a piece to a part and gives the events it is told by.
fn grow(part: &mut Part, text: &str, logprobs: &[Logprob]) -> Option<Family> {
    match &mut part.body {
        PartBody::Text(all) | PartBody::Refusal(all) | PartBody::Thinking(all) => all.push_str(text),
        PartBody::ToolCall(call) => call.arguments.push_str(text),
        PartBody::Redacted(_) | PartBody::ToolResult(_) | PartBody::Media(_) | PartBody::Opaque(_) => {}
    }
    part.logprobs.extend_from_slice(logprobs);
    family(part).map(|(family, _)| family)
}

/// Unknown fields of a piece's frame, and the padding that hides its length.
fn piece_fields(extras: &Extras) -> Map {
    let mut map: Map = kept_fields(extras).collect();
    if let Some(padding) = extras.get(ID, OBFUSCATION) {
        map.insert("obfuscation".to_owned(), padding.clone());
    }
    map
}

/// Reasoning of which only the seal was given is told as reasoning that nobody sees.
fn sealed_only(part: Part, first: &Delta) -> Part {
    match (&part.body, first) {
        (PartBody::Thinking(_), Delta::Seal(seal)) => Part { body: PartBody::Redacted(seal.clone()), ..part },
        _ => part,
    }
}

fn frames<'a>(extras: &'a Extras, name: &str) -> Option<&'a Map> {
    extras.get(ID, FRAMES)?.get(name)?.as_object()
}

fn empty(kind: &PartKind) -> PartBody {
    match kind.clone() {
        PartKind::Text => PartBody::Text(String::new()),
        PartKind::Refusal => PartBody::Refusal(String::new()),
        PartKind::Thinking => PartBody::Thinking(String::new()),
        PartKind::Redacted(seal) => PartBody::Redacted(seal),
        PartKind::ToolCall { id, name, kind } => {
            PartBody::ToolCall(ToolCall { id, name, arguments: String::new(), kind })
        }
        PartKind::Media(media) => PartBody::Media(media),
        PartKind::Opaque(Opaque { origin, value }) => PartBody::Opaque(Opaque { origin, value }),
    }
}
