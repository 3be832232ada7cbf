//! The ends of a streamed answer's items and parts: their complete form is what counts.

use rail_model::{Delta, Event, Extras, Json, Map, Opaque, Part, PartBody, Seal};
use serde_json::Value;

use super::content::{self, Voice};
use super::item_in::{self, Kind, Side};
use super::item_out::Class;
use super::stream_in::StreamIn;
use super::stream_items::{Item, Key, Slot, frame_extras};
use super::types::{CallItem, MessageItem, PartFrame, ReasoningItem};
use super::{EMPTY, FINAL, ID, LOGPROBS, NO_SUMMARY, NO_TYPE, RAW, SEALED, SUMMARY, missing};
use crate::error::{WireError, parse, parse_at};
use crate::shape::StrOr;

/// The place of the only part of an item.
pub(super) const FIRST: Key = (false, 0);
pub(super) const UPSTREAM: Side<'static> = Side::Upstream { answer: "", index: 0 };

impl StreamIn {
    /// An item as it is in the end; what its pieces did not say follows now.
    pub(super) fn item_complete(
        &mut self,
        index: u64,
        json: Json,
        frame: Map,
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let kind = item_in::answered_kind(&json, "item")?;
        let Some(item) = self.items.list.get_mut(&index) else {
            let parts = item_in::parts(&json, kind, self.side(index), "item")?;
            self.items.list.insert(index, Item { done: true, ..Item::new(class(kind), None) });
            self.items.whole(parts, out);
            return Ok(());
        };
        if std::mem::replace(&mut item.done, true) {
            return Ok(());
        }
        let mut closing = frame_extras("item_done", frame);
        match kind {
            Kind::Assistant => self.message_done(index, &json, &mut closing, out)?,
            Kind::Reasoning => self.reasoning_done(index, &json, &mut closing, out)?,
            Kind::Call(_) => {
                let mut call: CallItem = parse_at(ID, json.text(), "item")?;
                let text = call.arguments.take().or(call.input.take()).unwrap_or_default();
                if let Some(slot) = self.items.open_slot(index) {
                    slot.complete(&text, Delta::Arguments, out).map_err(|error| error.under("item"))?;
                }
                (call.kind, call.call_id, call.name) = (None, None, None);
                item_in::keep_item(&mut closing, call.leftovers(), UPSTREAM);
            }
            Kind::User | Kind::System | Kind::Developer | Kind::Output(_) | Kind::Other => {
                closing.insert(ID, FINAL, json.value());
            }
        }
        if let Some(slot) = self.items.open_slot(index) {
            slot.closing(closing);
            slot.close(out);
        }
        Ok(())
    }

    fn message_done(
        &mut self,
        index: u64,
        json: &Json,
        closing: &mut Extras,
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let mut item: MessageItem = parse_at(ID, json.text(), "item")?;
        let list = match item.content.take() {
            Some(StrOr::List(list)) => list,
            Some(StrOr::Str(text)) => {
                vec![Json::from(serde_json::json!({"type": "output_text", "text": text}))]
            }
            None => Vec::new(),
        };
        for (at, json) in list.iter().enumerate() {
            let key = (false, at as u64);
            let path = format!("item.content[{at}]");
            let part = content::read(json, Voice::Output, &path)?;
            self.part_complete(index, key, part, json, out).map_err(|error| error.under(&path))?;
        }
        let added = self.items.list.get_mut(&index).filter(|item| item.slots.is_empty());
        if let Some(added) = added.and_then(|item| item.added.take()) {
            // A message without any content is known by its frames alone.
            let value = added.frame.get("item").cloned().unwrap_or_default();
            let part = Part::new(PartBody::Opaque(Opaque { origin: ID, value }));
            self.items.open(index, FIRST, part, out);
            closing.insert(ID, FINAL, json.value());
            return Ok(());
        }
        (item.kind, item.role) = (None, None);
        item_in::keep_item(closing, item.leftovers(), UPSTREAM);
        Ok(())
    }

    fn reasoning_done(
        &mut self,
        index: u64,
        json: &Json,
        closing: &mut Extras,
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let mut item: ReasoningItem = parse_at(ID, json.text(), "item")?;
        item.kind = None;
        if item.summary.is_none() {
            closing.mark(ID, NO_SUMMARY);
        }
        let raw = item.content.as_ref().and_then(|json| serde_json::from_str::<Vec<Json>>(json.text()).ok());
        let raw = raw.filter(|list| !list.is_empty());
        if raw.is_some() {
            item.content = None;
        }
        let lists = [(false, SUMMARY, item.summary.take()), (true, RAW, raw)];
        for (is_raw, place, list) in lists {
            for (at, json) in list.unwrap_or_default().iter().enumerate() {
                let path = format!("item.{place}[{at}]");
                let part = item_in::thought(json, place, &path)?;
                let ended = self.part_complete(index, (is_raw, at as u64), part, json, out);
                ended.map_err(|error| error.under(&path))?;
            }
        }
        let seal = item.encrypted_content.take_if(|data| !data.is_empty());
        let seal = seal.map(|data| Seal { issuer: ID.name().to_owned(), data });
        item_in::keep_item(closing, item.leftovers(), UPSTREAM);
        if seal.is_some() {
            closing.mark(ID, SEALED);
        }
        if self.items.list.get(&index).is_some_and(|item| item.slots.is_empty()) {
            let mut part = Part::new(seal.map_or(PartBody::Thinking(String::new()), PartBody::Redacted));
            if matches!(part.body, PartBody::Thinking(_)) {
                part.extras.mark(ID, EMPTY);
            }
            self.items.open(index, FIRST, part, out);
        } else if let (Some(seal), Some(slot)) = (seal, self.items.open_slot(index)) {
            slot.delta(Delta::Seal(seal), Extras::NONE, out);
        }
        Ok(())
    }

    /// A part as it is in the end.
    pub(super) fn part_complete(
        &mut self,
        index: u64,
        key: Key,
        part: Part,
        json: &Json,
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let Some(slot) = self.items.slot(index, key) else {
            let Part { logprobs, extras, body, .. } = part;
            self.items.open(index, key, Part { extras, ..Part::new(body) }, out);
            if let Some(slot) = self.items.slot(index, key) {
                slot.ended = true;
                if !logprobs.is_empty() {
                    slot.delta(Delta::Logprobs(logprobs), Extras::NONE, out);
                }
            }
            return Ok(());
        };
        if slot.ended { Ok(()) } else { end_part(slot, part, json, out) }
    }
}

pub(super) fn class(kind: Kind) -> Class {
    match kind {
        Kind::Assistant => Class::Message,
        Kind::Reasoning => Class::Reasoning,
        Kind::Call(kind) => Class::Call(kind),
        Kind::User | Kind::System | Kind::Developer | Kind::Output(_) | Kind::Other => Class::Whole,
    }
}

/// Takes a part's complete form: the text that was left out, and what is said besides.
fn end_part(slot: &mut Slot, part: Part, json: &Json, out: &mut Vec<Event>) -> Result<(), WireError> {
    slot.ended = true;
    let Part { body, logprobs, mut extras, .. } = part;
    match body {
        PartBody::Text(text) | PartBody::Refusal(text) => slot.complete(&text, Delta::Text, out)?,
        PartBody::Thinking(text) => slot.complete(&text, Delta::Thinking, out)?,
        PartBody::Opaque(opaque) => extras.insert(ID, FINAL, opaque.value),
        PartBody::Redacted(_) | PartBody::ToolCall(_) | PartBody::ToolResult(_) | PartBody::Media(_) => {}
    }
    if !logprobs.is_empty() {
        if !slot.logprobs {
            slot.delta(Delta::Logprobs(logprobs), Extras::NONE, out);
        }
        // The complete list has the tokens' bytes, which the pieces leave out.
        extras.insert(ID, LOGPROBS, json.value().get("logprobs").cloned().unwrap_or_default());
    }
    let cited = extras.get(ID, "annotations").and_then(Value::as_array).cloned().unwrap_or_default();
    for value in cited.iter().skip(slot.annotations) {
        let delta = Delta::Extra { origin: ID, key: "annotations", value: value.clone() };
        slot.delta(delta, Extras::NONE, out);
    }
    let mut kept: Map = extras.owned_by(ID).cloned().unwrap_or_default();
    if slot.annotations > 0 {
        kept.shift_remove("annotations");
    }
    slot.closing(Extras::rest(ID, kept));
    Ok(())
}

/// Keeps the fields of an item that begins; its content follows in pieces.
pub(super) fn about(json: &Json, kind: Kind, extras: &mut Extras) -> Result<(), WireError> {
    let fields = if kind == Kind::Reasoning {
        let mut item: ReasoningItem = parse_at(ID, json.text(), "item")?;
        if item.summary.take().is_none() {
            extras.mark(ID, NO_SUMMARY);
        }
        item.kind = None;
        item.leftovers()
    } else {
        let mut item: MessageItem = parse_at(ID, json.text(), "item")?;
        if item.kind.take().is_none() {
            extras.mark(ID, NO_TYPE);
        }
        (item.role, item.content) = (None, None);
        item.leftovers()
    };
    item_in::keep_item(extras, fields, UPSTREAM);
    Ok(())
}

pub(super) fn part_frame(kind: &str, data: &[u8]) -> Result<(u64, Key, Json, Map), WireError> {
    let mut frame: PartFrame = parse(ID, data)?;
    let json = frame.part.take().ok_or_else(|| missing("part"))?;
    let index = frame.output_index.take().unwrap_or_default().0;
    let summary = kind.starts_with("response.reasoning_summary_part");
    let inner = if summary { frame.summary_index.take() } else { frame.content_index.take() };
    (frame.kind, frame.sequence_number, frame.item_id) = (None, None, None);
    Ok((index, (!summary, inner.unwrap_or_default().0), json, frame.leftovers()))
}

pub(super) fn read_part(json: &Json, kind: &str) -> Result<Part, WireError> {
    let typed = content::peek(json, "part")?.kind.unwrap_or_default();
    if kind.starts_with("response.reasoning_summary_part") {
        item_in::thought(json, SUMMARY, "part")
    } else if typed == "reasoning_text" {
        item_in::thought(json, RAW, "part")
    } else {
        content::read(json, Voice::Output, "part")
    }
}

pub(super) fn is_thought(part: &Part) -> bool {
    matches!(part.body, PartBody::Thinking(_))
}
