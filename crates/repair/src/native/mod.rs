//! Calls as a protocol's own structure brings them, with what only the declared tools or all of the arguments can decide.
//!
//! A codec routes pieces to calls. What it can't know is mended here: how a name in pieces is meant, which tool a call
//! without a name can only mean, and whether pieces of arguments are to be joined or say the same again.

mod merge;
mod name;
mod pieces;
mod scan;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use rail_model::{CallId, CallKind, Delta, Event, Extras, Map, PartKind, mark};
use serde_json::Value;

use crate::infer::infer;
use crate::{Catalog, Note, Repair, Stage, Step, Written};
use pieces::{Pieces, Shape};

/// Mends calls that came as calls; all other events pass as they are.
pub struct NativeStage {
    catalog: Arc<Catalog>,
    /// Open calls, by the number they came with.
    calls: BTreeMap<usize, Call>,
    /// Parts that turned out to be more of another call.
    shared: BTreeMap<usize, usize>,
    /// What waits behind the head of a call that is not settled, in order.
    line: VecDeque<Item>,
    /// What became of the heads in the line; one that is not here is not settled.
    heads: BTreeMap<usize, Verdict>,
    /// Under which number a part was given out; one that was dropped has none.
    numbers: BTreeMap<usize, usize>,
    next: usize,
    /// Names and arguments of all calls so far.
    said: BTreeSet<(String, u64)>,
    notes: Vec<Note>,
    texts: Vec<String>,
}

/// A call whose arguments are not complete.
struct Call {
    id: CallId,
    names: Vec<String>,
    /// The name as the codec put it together.
    name: String,
    extras: Extras,
    wait: Option<Wait>,
    pieces: Pieces,
    /// The arguments, where they are needed to find the name.
    text: String,
    /// How many parts it is made of that are still open.
    parts: usize,
    /// Fields of frames whose arguments are held or were dropped.
    carried: Extras,
}

/// Why the head of a call is held.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// More of its name may come before the arguments do.
    Name,
    /// It has no name, and all its arguments are needed to find one.
    Nameless,
    /// It may be an earlier call said again.
    Again,
}

enum Item {
    Event(Event),
    Head(usize),
}

enum Verdict {
    Open(Event),
    Dropped,
}

impl NativeStage {
    /// Mends calls of these tools.
    pub fn new(catalog: Arc<Catalog>) -> Self {
        Self {
            catalog,
            calls: BTreeMap::new(),
            shared: BTreeMap::new(),
            line: VecDeque::new(),
            heads: BTreeMap::new(),
            numbers: BTreeMap::new(),
            next: 0,
            said: BTreeSet::new(),
            notes: Vec::new(),
            texts: Vec::new(),
        }
    }
}

impl Stage for NativeStage {
    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        match event {
            // It says that the upstream is alive now, so it waits for nothing.
            Event::Ping => out.push(Event::Ping),
            Event::Opened { at, kind, extras } => self.opened(at, kind, extras),
            Event::Delta { at, delta: Delta::Arguments(text), extras } => self.arguments(at, text, extras),
            Event::Delta { at, delta, extras } => {
                let at = self.whose(at);
                self.pass(Event::Delta { at, delta, extras });
            }
            Event::Closed { at, extras } => self.closed(at, extras),
            Event::Finished { .. } | Event::Failed(_) => {
                self.settle_all();
                self.pass(event);
            }
            Event::Started { .. } | Event::Usage(_) | Event::Opaque(_) => self.pass(event),
        }
        self.drain(out);
    }

    fn finish(&mut self, out: &mut Vec<Event>) {
        self.settle_all();
        self.drain(out);
    }

    fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// The stage that brings calls home sees them put together, and tells.
    fn written(&mut self) -> Vec<Written> {
        Vec::new()
    }
}

impl NativeStage {
    fn pass(&mut self, event: Event) {
        self.line.push_back(Item::Event(event));
    }

    /// The call that a part belongs to.
    fn whose(&self, at: usize) -> usize {
        self.shared.get(&at).copied().unwrap_or(at)
    }

    fn opened(&mut self, at: usize, kind: PartKind, extras: Extras) {
        let before = self.calls.iter().rev().find(|(_, call)| call.wait == Some(Wait::Name));
        let before = before.map(|(before, _)| *before);
        match kind {
            PartKind::ToolCall { id, name, kind: CallKind::Function } if !self.takes_text(&name) => {
                if let Some(before) = before.filter(|before| self.goes_on(*before, &id, &name)) {
                    return self.share(before, at, &name);
                }
                before.into_iter().for_each(|before| self.settle_name(before));
                self.call(at, Call::new(id, name, extras));
            }
            PartKind::ToolCall { .. }
            | PartKind::Text
            | PartKind::Refusal
            | PartKind::Thinking
            | PartKind::Redacted(_)
            | PartKind::Media(_)
            | PartKind::Opaque(_) => {
                before.into_iter().for_each(|before| self.settle_name(before));
                self.pass(Event::Opened { at, kind, extras });
            }
        }
    }

    fn takes_text(&self, name: &str) -> bool {
        self.catalog.get(name).is_some_and(|tool| tool.free_text)
    }

    /// Whether a new part is not a call of its own but more of the name of the one before. One with an id is a call.
    fn goes_on(&self, before: usize, id: &CallId, name: &str) -> bool {
        let Some(call) = self.calls.get(&before).filter(|_| matches!(id, CallId::Minted(_))) else {
            return false;
        };
        name::goes_on(&name::join(&call.names, &self.catalog), name, &self.catalog)
    }

    fn share(&mut self, before: usize, at: usize, name: &str) {
        if let Some(call) = self.calls.get_mut(&before) {
            call.names.push(name.to_owned());
            call.parts += 1;
            self.shared.insert(at, before);
        }
    }

    fn call(&mut self, at: usize, mut call: Call) {
        let declared = !self.catalog.is_empty();
        call.wait = if call.extras.noted(mark::NAMELESS) {
            declared.then_some(Wait::Nameless)
        } else if call.extras.noted(mark::AGAIN) {
            Some(Wait::Again)
        } else {
            let name = name::join(&call.names, &self.catalog);
            (!name::is_settled(&name, &self.catalog)).then_some(Wait::Name)
        };
        let waits = call.wait.is_some();
        self.line.push_back(Item::Head(at));
        self.calls.insert(at, call);
        if !waits {
            self.settle_name(at);
        }
    }

    /// Nothing more of its name can come.
    fn settle_name(&mut self, at: usize) {
        let Some(call) = self.calls.get_mut(&at) else { return };
        call.wait = None;
        let name = name::join(&call.names, &self.catalog);
        if call.parts > 1 || (name != call.name && !self.catalog.is_empty()) {
            call.name = name;
            self.notes.push(repaired(&call.id, Step::Fragments, "name"));
        }
        self.heads.insert(at, call.head(at));
    }

    fn arguments(&mut self, at: usize, text: String, extras: Extras) {
        let at = self.whose(at);
        let Some(call) = self.calls.get_mut(&at) else {
            return self.pass(Event::Delta { at, delta: Delta::Arguments(text), extras });
        };
        if let Some(Value::Array(more)) = extras.note(mark::NAMES) {
            call.names.extend(more.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        let settles = call.wait == Some(Wait::Name) && !text.is_empty();
        let shape = if extras.noted(mark::OBJECT) { Shape::Object } else { Shape::Text };
        // What says nothing is not ours to decide about.
        let silent = text.is_empty();
        call.pieces.push(text, shape, &mut self.texts);
        if settles {
            self.settle_name(at);
        }
        if silent {
            return self.pass(Event::Delta { at, delta: Delta::Arguments(String::new()), extras });
        }
        self.give_out(at, extras);
    }

    /// Passes the texts on, with the frame's fields at the last.
    fn give_out(&mut self, at: usize, extras: Extras) {
        let Some(call) = self.calls.get_mut(&at) else { return self.texts.clear() };
        if call.wait == Some(Wait::Nameless) {
            self.texts.iter().for_each(|text| call.text.push_str(text));
        }
        let Some(last) = self.texts.pop() else {
            if let Some(kept) = extras.origin().and_then(|origin| Some((origin, extras.owned_by(origin)?))) {
                call.carried.merge(Extras::rest(kept.0, kept.1.clone()));
            }
            return;
        };
        let mut carried = std::mem::take(&mut call.carried);
        carried.merge(extras);
        let delta = |text, extras| Item::Event(Event::Delta { at, delta: Delta::Arguments(text), extras });
        self.line.extend(self.texts.drain(..).map(|text| delta(text, Extras::NONE)));
        self.line.push_back(delta(last, carried));
    }

    fn closed(&mut self, at: usize, extras: Extras) {
        let at = self.whose(at);
        let Some(call) = self.calls.get_mut(&at) else { return self.pass(Event::Closed { at, extras }) };
        call.parts = call.parts.saturating_sub(1);
        if call.parts == 0 {
            self.complete(at);
            self.pass(Event::Closed { at, extras });
        }
    }

    /// All arguments of a call are there: gives out what was held, and settles its head.
    fn complete(&mut self, at: usize) {
        let Some(call) = self.calls.get_mut(&at) else { return };
        call.pieces.finish(&mut self.texts);
        if self.texts.is_empty() && !call.carried.is_empty() {
            self.texts.push(String::new());
        }
        self.give_out(at, Extras::NONE);
        match self.calls.get(&at).and_then(|call| call.wait) {
            Some(Wait::Name) => self.settle_name(at),
            Some(Wait::Nameless) => self.settle_nameless(at),
            Some(Wait::Again) => self.settle_again(at),
            None => {}
        }
        let Some(call) = self.calls.remove(&at) else { return };
        if call.pieces.mended() {
            self.notes.push(repaired(&call.id, Step::Fragments, "arguments"));
        }
        self.said.extend(call.pieces.sense().map(|sense| (call.name, sense)));
    }

    fn settle_nameless(&mut self, at: usize) {
        let Some(call) = self.calls.get_mut(&at) else { return };
        let arguments: Option<Map> = serde_json::from_str(&call.text).ok();
        if let Some(tool) = arguments.and_then(|arguments| infer(&arguments, &self.catalog)) {
            call.name.clone_from(&tool.name);
            call.extras.forget(mark::NAMELESS);
            self.notes.push(repaired(&call.id, Step::Inferred, "name"));
        }
        self.heads.insert(at, call.head(at));
    }

    fn settle_again(&mut self, at: usize) {
        let Some(call) = self.calls.get(&at) else { return };
        let name = name::join(&call.names, &self.catalog);
        if call.pieces.sense().is_some_and(|sense| self.said.contains(&(name, sense))) {
            self.heads.insert(at, Verdict::Dropped);
        } else {
            self.settle_name(at);
        }
    }

    /// The answer is over, or broke off.
    fn settle_all(&mut self) {
        while let Some(at) = self.calls.keys().next().copied() {
            self.complete(at);
        }
    }

    fn drain(&mut self, out: &mut Vec<Event>) {
        while let Some(item) = self.line.pop_front() {
            match item {
                Item::Event(event) => out.extend(self.numbered(event)),
                Item::Head(at) => match self.heads.remove(&at) {
                    Some(Verdict::Open(event)) => out.extend(self.numbered(event)),
                    Some(Verdict::Dropped) => {}
                    None => return self.line.push_front(Item::Head(at)),
                },
            }
        }
    }

    /// The event with the number that its part is given out under; None for a part that was dropped.
    fn numbered(&mut self, event: Event) -> Option<Event> {
        Some(match event {
            Event::Opened { at, kind, extras } => {
                let number = self.next;
                self.next += 1;
                self.numbers.insert(at, number);
                Event::Opened { at: number, kind, extras }
            }
            Event::Delta { at, delta, extras } => Event::Delta { at: *self.numbers.get(&at)?, delta, extras },
            Event::Closed { at, extras } => Event::Closed { at: self.numbers.remove(&at)?, extras },
            Event::Started { .. }
            | Event::Usage(_)
            | Event::Finished { .. }
            | Event::Failed(_)
            | Event::Ping
            | Event::Opaque(_) => event,
        })
    }
}

impl Call {
    fn new(id: CallId, name: String, extras: Extras) -> Self {
        let names = match extras.note(mark::NAMES) {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(_) | None => vec![name.clone()],
        };
        let (pieces, text, carried) = (Pieces::default(), String::new(), Extras::NONE);
        Self { id, names, name, extras, wait: None, pieces, text, parts: 1, carried }
    }

    fn head(&mut self, at: usize) -> Verdict {
        let (id, name) = (self.id.clone(), self.name.clone());
        let kind = PartKind::ToolCall { id, name, kind: CallKind::Function };
        Verdict::Open(Event::Opened { at, kind, extras: std::mem::take(&mut self.extras) })
    }
}

fn repaired(id: &CallId, step: Step, path: &str) -> Note {
    Note::Repaired { call: id.as_str().to_owned(), repair: Repair::new(step, path) }
}
