//! The items of a stream while they are open: which part each of their pieces is, and what is still to be said of it.

use std::collections::BTreeMap;

use rail_model::{Delta, Event, Extras, Map, Opaque, Part, PartBody, PartKind, Reply, Stop, ToolCall};
use serde_json::Value;

use super::item_out::Class;
use super::{FRAMES, ID, SAME_ITEM};
use crate::error::WireError;

/// All items so far, by their place in the output.
#[derive(Default)]
pub(super) struct Items {
    pub(super) list: BTreeMap<u64, Item>,
    /// How many parts have been opened.
    parts: usize,
    /// Whether one of them is a call.
    pub(super) called: bool,
}

/// An item and its parts.
pub(super) struct Item {
    pub(super) class: Class,
    /// What was said when it began; goes with its first part.
    pub(super) added: Option<Added>,
    pub(super) slots: BTreeMap<Key, Slot>,
    /// The part that is not closed yet: there is at most one.
    pub(super) open: Option<Key>,
    pub(super) done: bool,
}

/// The beginning of an item that has no part yet.
pub(super) struct Added {
    pub(super) extras: Extras,
    /// The frame, in case the item ends without any part.
    pub(super) frame: Value,
}

/// Where in an item a part stands: its list (raw reasoning or not) and its place there.
pub(super) type Key = (bool, u64);

/// A part of an item.
pub(super) struct Slot {
    at: usize,
    open: bool,
    takes: Takes,
    /// Its text so far; the complete text that follows begins with it and may hold more.
    given: String,
    pub(super) annotations: usize,
    pub(super) logprobs: bool,
    /// Whether its end was said, though the item may still say more.
    pub(super) ended: bool,
    /// What will be said when it closes.
    closing: Extras,
}

/// What pieces a part takes; others are a server's mistake.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Text,
    Thinking,
    Arguments,
    Nothing,
}

impl Item {
    pub(super) fn new(class: Class, added: Option<Added>) -> Self {
        Self { class, added, slots: BTreeMap::new(), open: None, done: false }
    }
}

impl Items {
    /// The item at this place; one that was never announced begins now.
    pub(super) fn item(&mut self, index: u64, class: Class) -> &mut Item {
        self.list.entry(index).or_insert_with(|| Item::new(class, None))
    }

    pub(super) fn slot(&mut self, index: u64, key: Key) -> Option<&mut Slot> {
        self.list.get_mut(&index)?.slots.get_mut(&key)
    }

    /// Begins an item; one that stood at this place is over.
    pub(super) fn begin(&mut self, index: u64, item: Item, out: &mut Vec<Event>) {
        self.close(index, out);
        self.list.insert(index, item);
    }

    /// Opens a part of an item; the one before it in the same item is complete then.
    pub(super) fn open(&mut self, index: u64, key: Key, part: Part, out: &mut Vec<Event>) {
        self.close(index, out);
        let at = self.parts;
        self.parts += 1;
        let Part { body, extras, .. } = part;
        self.called |= matches!(body, PartBody::ToolCall(_));
        let (kind, first) = kind(body);
        let Some(item) = self.list.get_mut(&index) else { return };
        let mut extras = extras;
        match item.added.take() {
            Some(added) => merge(&mut extras, added.extras),
            None if !item.slots.is_empty() => extras.mark(ID, SAME_ITEM),
            None => {}
        }
        let takes = match &first {
            Some(Delta::Text(_)) => Takes::Text,
            Some(Delta::Thinking(_)) => Takes::Thinking,
            Some(Delta::Arguments(_)) => Takes::Arguments,
            Some(Delta::Seal(_) | Delta::Logprobs(_) | Delta::Extra { .. }) | None => Takes::Nothing,
        };
        let slot = Slot {
            at,
            open: true,
            takes,
            given: String::new(),
            annotations: 0,
            logprobs: false,
            ended: false,
            closing: Extras::NONE,
        };
        item.slots.insert(key, slot);
        item.open = Some(key);
        out.push(Event::Opened { at, kind, extras });
        if let (Some(first), Some(slot)) = (first, self.slot(index, key)) {
            slot.text(&first, out);
        }
    }

    /// Closes the open part of an item.
    pub(super) fn close(&mut self, index: u64, out: &mut Vec<Event>) {
        if let Some(slot) = self.open_slot(index) {
            slot.close(out);
        }
    }

    /// The part of an item that is still open.
    pub(super) fn open_slot(&mut self, index: u64) -> Option<&mut Slot> {
        let item = self.list.get_mut(&index)?;
        item.slots.get_mut(&item.open?).filter(|slot| slot.open)
    }

    /// Parts that came complete, as the events that streamed ones give.
    pub(super) fn whole(&mut self, parts: Vec<Part>, out: &mut Vec<Event>) {
        self.called |= parts.iter().any(|part| matches!(part.body, PartBody::ToolCall(_)));
        let (first, count) = (self.parts, parts.len());
        let reply = Reply {
            id: None,
            model: None,
            parts,
            stop: Stop::EndTurn,
            usage: None,
            extras: Extras::NONE,
            end: Extras::NONE,
        };
        for mut event in reply.into_events() {
            match &mut event {
                Event::Opened { at, .. } | Event::Delta { at, .. } | Event::Closed { at, .. } => *at += first,
                Event::Started { .. }
                | Event::Usage(_)
                | Event::Finished { .. }
                | Event::Failed(_)
                | Event::Ping
                | Event::Opaque(_) => continue,
            }
            out.push(event);
        }
        self.parts += count;
    }

    /// The stream broke off: what was said to be complete is closed, what only began is passed on as it came.
    pub(super) fn break_off(&mut self, out: &mut Vec<Event>) {
        for item in self.list.values_mut() {
            item.slots.values_mut().filter(|slot| slot.ended).for_each(|slot| slot.close(out));
            if let Some(added) = item.added.take() {
                out.push(Event::Opaque(Opaque { origin: ID, value: added.frame }));
            }
        }
    }
}

impl Slot {
    pub(super) fn delta(&mut self, delta: Delta, extras: Extras, out: &mut Vec<Event>) {
        let takes = match &delta {
            Delta::Text(_) | Delta::Logprobs(_) => Some(Takes::Text),
            Delta::Thinking(_) => Some(Takes::Thinking),
            Delta::Arguments(_) => Some(Takes::Arguments),
            Delta::Extra { .. } | Delta::Seal(_) => None,
        };
        if !self.open || takes.is_some_and(|takes| takes != self.takes) {
            return;
        }
        match &delta {
            Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments(text) => self.given.push_str(text),
            Delta::Logprobs(_) => self.logprobs = true,
            Delta::Extra { .. } => self.annotations += 1,
            Delta::Seal(_) => {}
        }
        out.push(Event::Delta { at: self.at, delta, extras });
    }

    /// The complete text; what the pieces left out follows now. Some servers leave the complete text empty, trim it or
    /// write its JSON anew; one that says something else than its pieces is an error, because a piece was lost or damaged.
    pub(super) fn complete(
        &mut self,
        text: &str,
        like: fn(String) -> Delta,
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        if text.is_empty() {
            return Ok(());
        }
        let Some(rest) = text.strip_prefix(self.given.as_str()) else {
            if means_the_same(text, &self.given) {
                return Ok(());
            }
            return Err(WireError::malformed(ID, "", "the deltas and the final text disagree"));
        };
        if !rest.is_empty() {
            self.delta(like(rest.to_owned()), Extras::NONE, out);
        }
        Ok(())
    }

    fn text(&mut self, first: &Delta, out: &mut Vec<Event>) {
        if first.says_something() {
            self.delta(first.clone(), Extras::NONE, out);
        }
    }

    /// Adds to what is said at the end.
    pub(super) fn closing(&mut self, extras: Extras) {
        merge(&mut self.closing, extras);
    }

    pub(super) fn close(&mut self, out: &mut Vec<Event>) {
        if std::mem::take(&mut self.open) {
            out.push(Event::Closed { at: self.at, extras: std::mem::take(&mut self.closing) });
        }
    }
}

/// Whether two texts differ only in white space around them or in how the same JSON is written.
fn means_the_same(text: &str, given: &str) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    text.trim() == given.trim() || (json(text).is_some() && json(text) == json(given))
}

/// Merges extras; the fields of different frames do not replace each other.
fn merge(extras: &mut Extras, later: Extras) {
    let frames = |extras: &Extras| extras.get(ID, FRAMES).and_then(Value::as_object).cloned();
    let both = match (frames(extras), frames(&later)) {
        (Some(mut all), Some(more)) => {
            all.extend(more);
            Some(all)
        }
        (Some(_), None) | (None, _) => None,
    };
    extras.merge(later);
    if let Some(both) = both {
        extras.insert(ID, FRAMES, Value::Object(both));
    }
}

/// Unknown fields of a frame, under the frame's name.
pub(super) fn frame_extras(name: &str, fields: Map) -> Extras {
    let mut extras = Extras::NONE;
    if !fields.is_empty() {
        let frames = Map::from_iter([(name.to_owned(), Value::Object(fields))]);
        extras.insert(ID, FRAMES, Value::Object(frames));
    }
    extras
}

/// How a part opens, and the text it already has.
fn kind(body: PartBody) -> (PartKind, Option<Delta>) {
    match body {
        PartBody::Text(text) => (PartKind::Text, Some(Delta::Text(text))),
        PartBody::Refusal(text) => (PartKind::Refusal, Some(Delta::Text(text))),
        PartBody::Thinking(text) => (PartKind::Thinking, Some(Delta::Thinking(text))),
        PartBody::Redacted(seal) => (PartKind::Redacted(seal), None),
        // Arguments that come with the announcement come again at the end.
        PartBody::ToolCall(ToolCall { id, name, kind, .. }) => {
            (PartKind::ToolCall { id, name, kind }, Some(Delta::Arguments(String::new())))
        }
        PartBody::Media(media) => (PartKind::Media(media), None),
        PartBody::Opaque(opaque) => (PartKind::Opaque(opaque), None),
        PartBody::ToolResult(_) => (PartKind::Opaque(Opaque { origin: ID, value: Value::Null }), None),
    }
}
