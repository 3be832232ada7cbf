//! The items and parts of an answer that is being streamed to a client.

use rail_model::{CallKind, Delta, Extras, Logprob, Map, Part, PartBody, PartKind, Seal};
use serde_json::Value;

use super::content::{self, Voice};
use super::dress::{Place, annotation, dress, is_words};
use super::families::{family, frames, grow, piece_fields, sealed_only};
use super::frames::{AnnotationBody, ItemBody, PartBodyFrame, Piece, Spot};
use super::item_out::{self, Class, Reader, is_own};
use super::stream_out::Writer;
use super::{FINAL, ID, ITEM, LOGPROBS_FOLLOW, RAW, SAME_ITEM, kept_fields};

impl Writer {
    pub(super) fn opened(&mut self, kind: &PartKind, extras: &Extras, out: &mut Vec<u8>) {
        let part = Part { extras: extras.clone(), ..Part::new(kind.clone().begun()) };
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
        if !self.resting {
            self.item_done(out);
        }
        match kind {
            PartKind::Text | PartKind::Refusal | PartKind::Thinking | PartKind::ToolCall { .. } => {
                self.waiting = Some(part);
            }
            PartKind::Redacted(_) | PartKind::Media(_) | PartKind::Opaque(_) => self.begin(part, out),
        }
    }

    /// Begins a part of another protocol, if it can be said at all: texts side by side are one message, everything else
    /// is an item of its own.
    fn begin(&mut self, part: Part, out: &mut Vec<u8>) {
        let joined = self.resting && is_words(&part);
        let index = self.output.len() + usize::from(self.resting && !joined);
        let place = Place { answer: &self.id, index, joined, reply_to: &self.reply_to };
        let Some(part) = dress(part, &place, &mut self.told) else { return };
        if joined {
            self.resting = false;
            self.group.push(part);
            self.part_added(out);
        } else {
            self.item_done(out);
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

    /// Where the newest part stands: counted once, not for every piece.
    fn place(&self) -> Spot {
        let Some((part, before)) = self.group.split_last() else { return Spot::default() };
        let output_index = self.output.len();
        let raw = part.extras.marked(ID, RAW);
        match item_out::class(part) {
            Class::Message => Spot { output_index, content_index: Some(before.len()), summary_index: None },
            Class::Reasoning => {
                let index = before.iter().filter(|part| part.extras.marked(ID, RAW) == raw).count();
                let (content_index, summary_index) =
                    if raw { (Some(index), None) } else { (None, Some(index)) };
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
            Class::Reasoning if part.extras.marked(ID, RAW) => {
                Some((item_out::thought(part)?, "content_part"))
            }
            Class::Reasoning => Some((item_out::thought(part)?, "reasoning_summary_part")),
            Class::Call(_) | Class::Whole => None,
        }
    }

    fn part_added(&mut self, out: &mut Vec<u8>) {
        self.spot = self.place();
        let spot = self.spot;
        let Some((value, family)) = self.newest() else { return };
        let rest = self.group.last().and_then(|part| frames(&part.extras, "part_added")).cloned();
        let id = std::mem::take(&mut self.item_id);
        let body = PartBodyFrame { item_id: &id, spot, part: &value };
        self.frame(&format!("response.{family}.added"), body, rest.as_ref(), out);
        self.item_id = id;
    }

    pub(super) fn delta(&mut self, delta: &Delta, extras: &Extras, out: &mut Vec<u8>) {
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
        if self.group.is_empty() || self.resting {
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
                    self.told.once(path, "openai-responses can't say it; left out");
                }
            },
        }
    }

    fn seal(&mut self, seal: &Seal) {
        let index = self.output.len();
        let Some(part) = self.group.last_mut() else { return };
        match part.body {
            PartBody::Text(_) | PartBody::Refusal(_) => {
                self.told
                    .once(format!("output[{index}].seal"), "openai-responses has no seal on text; left out");
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
        let spot = self.spot;
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
        let spot = self.spot;
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
    pub(super) fn flush(&mut self, out: &mut Vec<u8>) {
        if let Some((text, extras)) = self.held.take() {
            self.piece(&text, &extras, &[], out);
        }
    }

    pub(super) fn closed(&mut self, extras: &Extras, out: &mut Vec<u8>) {
        if let Some(part) = self.waiting.take_if(|part| matches!(part.body, PartBody::ToolCall(_))) {
            self.begin(part, out);
        }
        self.waiting = None;
        self.flush(out);
        if self.group.is_empty() || self.resting {
            self.told.extras(ID, &format!("output[{}]", self.output.len()), extras);
            return;
        }
        if let Some(part) = self.group.last_mut() {
            match &mut part.body {
                PartBody::Refusal(_) => self.refused = true,
                PartBody::ToolCall(call) if self.foreign && call.arguments.is_empty() => {
                    if call.kind == CallKind::Function {
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
        let complete = extras.get(ID, ITEM).is_some() || extras.get(ID, FINAL).is_some();
        let words = self.group.last().is_some_and(|part| item_out::class(part) == Class::Message);
        self.resting = self.foreign && words;
        if (self.foreign && !words) || complete {
            self.item_done(out);
        }
    }

    /// The complete text of the newest part, then the part.
    fn part_done(&mut self, out: &mut Vec<u8>) {
        let spot = self.spot;
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

    pub(super) fn item_done(&mut self, out: &mut Vec<u8>) {
        self.resting = false;
        let group = std::mem::take(&mut self.group);
        let Some(last) = group.last() else { return };
        let mut losses = Vec::new();
        let item = item_out::item(&group, Reader::Client, "output", &mut losses).unwrap_or_default();
        losses.into_iter().for_each(|loss| self.told.once(loss.path, &loss.reason));
        let body = ItemBody { output_index: self.output.len(), item: &item };
        self.frame("response.output_item.done", body, frames(&last.extras, "item_done"), out);
        self.output.push(Value::Object(item));
    }
}
