//! Settles calls while they stream.

mod call;
mod scan;
mod suffix;

use std::collections::BTreeSet;
use std::sync::Arc;

use rail_model::{CallId, CallKind, Delta, Event, Extras, PartKind, Stop, ToolCall};

use crate::entities::Entities;
use crate::note::kept;
use crate::settle::{Calls, Draft, Named};
use crate::{CallFault, Catalog, End, Found, Note, Problem, Profile, Repair, Settled, Stage, What, Written};
use call::{Live, Over, Takes};

/// Settles the calls of an answer on their way to the reader.
///
/// A call's name is settled when it begins. Its arguments pass as the model writes them as far as nothing can change them
/// any more, which is as long as they are strict JSON with string parameters; the rest follows, mended, when the call is
/// over. Pieces that have been passed on are never taken back: what follows completes them to the settled arguments.
///
/// A call is settled when its decoder closes it, if its text is a whole value then ([`End::Closed`]). If not, its closing
/// is held until it is known how the answer went on: a further part, or a good end, says that the call was not cut off
/// ([`End::Stopped`]); an output limit, a refusal or a failure says that it was ([`End::Cut`]). So no decoder has to tell
/// the two apart, and what the stage completes is always completed on the careful side.
///
/// A call that was cut off keeps its visibly unfinished arguments, and the answer's end becomes [`Stop::MaxTokens`], so
/// that no client runs it.
pub struct SettleStage {
    catalog: Arc<Catalog>,
    entities: Entities,
    /// By the number under which a part came in.
    parts: Vec<Slot>,
    /// How many parts have gone out.
    opened: usize,
    ids: BTreeSet<String>,
    /// Those of the ids that were made up here.
    minted: BTreeSet<String>,
    notes: Vec<Note>,
    written: Vec<Written>,
    /// How many calls wait to know how the answer went on.
    waiting: usize,
    cut: bool,
}

/// A part that came in, with its number on the way out.
enum Slot {
    /// It passes as it is.
    Passing(usize),
    /// A call whose arguments are looked at.
    Live(Box<Live>),
}

impl SettleStage {
    /// Settles calls of these tools.
    pub fn new(catalog: Arc<Catalog>) -> Self {
        Self {
            catalog,
            entities: Entities::Kept,
            parts: Vec::new(),
            opened: 0,
            ids: BTreeSet::new(),
            minted: BTreeSet::new(),
            notes: Vec::new(),
            written: Vec::new(),
            waiting: 0,
            cut: false,
        }
    }

    /// The same for a model of which this is known: only a server that is known to escape entities has them decoded.
    #[must_use]
    pub fn knowing(self, profile: &Profile) -> Self {
        let entities = if profile.escapes_entities { Entities::Decoded } else { Entities::Kept };
        Self { entities, ..self }
    }

    fn open(&mut self, kind: PartKind, extras: Extras, out: &mut Vec<Event>) {
        let at = self.opened;
        self.opened += 1;
        let (kind, slot) = match kind {
            PartKind::ToolCall { id, name, kind } => self.open_call(at, id, name, kind),
            other @ (PartKind::Text
            | PartKind::Refusal
            | PartKind::Thinking
            | PartKind::Redacted(_)
            | PartKind::Media(_)
            | PartKind::Opaque(_)) => (other, Slot::Passing(at)),
        };
        self.parts.push(slot);
        out.push(Event::Opened { at, kind, extras });
    }

    fn open_call(&mut self, at: usize, id: CallId, spelled: String, kind: CallKind) -> (PartKind, Slot) {
        // The server's next id may be just the one that was made up for a call before.
        let id = if self.minted.contains(id.as_str()) { self.mint(&id) } else { id };
        self.ids.insert(id.as_str().to_owned());
        let catalog = Arc::clone(&self.catalog);
        let (tool, step) = match catalog.find(&spelled) {
            Found::Tool(tool, step) => (tool, step),
            Found::Unknown(closest) => {
                let call = id.as_str().to_owned();
                self.notes.push(Note::Unknown { call, name: spelled.clone(), closest });
                return (PartKind::ToolCall { id, name: spelled, kind }, Slot::Passing(at));
            }
        };
        self.repaired(&id, step.map(|step| Repair::new(step, "name")));
        // A tool that takes text was perhaps called like a function; what comes out is the text.
        let settled = if tool.free_text { CallKind::Custom } else { kind };
        let opened = PartKind::ToolCall { id: id.clone(), name: tool.name.clone(), kind: settled };
        let call = ToolCall { id, name: spelled, arguments: String::new(), kind };
        (opened, Slot::Live(Box::new(Live::new(at, call, tool, self.entities))))
    }

    fn delta(&mut self, at: usize, delta: Delta, extras: Extras, out: &mut Vec<Event>) {
        let catalog = Arc::clone(&self.catalog);
        match (self.parts.get_mut(at), delta) {
            (Some(Slot::Live(live)), Delta::Arguments(piece)) => {
                let ready = live.take(&piece, catalog.get(&live.tool));
                if !ready.is_empty() || !extras.is_empty() {
                    out.push(Event::Delta { at: live.out, delta: Delta::Arguments(ready), extras });
                }
            }
            (
                Some(Slot::Live(live)),
                delta @ (Delta::Text(_)
                | Delta::Thinking(_)
                | Delta::Seal(_)
                | Delta::Logprobs(_)
                | Delta::Extra { .. }),
            ) => out.push(Event::Delta { at: live.out, delta, extras }),
            (Some(Slot::Passing(number)), delta) => out.push(Event::Delta { at: *number, delta, extras }),
            (None, _) => {}
        }
    }

    fn close(&mut self, at: usize, extras: Extras, out: &mut Vec<Event>) {
        match self.parts.get_mut(at) {
            Some(Slot::Passing(number)) => out.push(Event::Closed { at: *number, extras }),
            Some(Slot::Live(live)) => {
                let (over, decided) = live.over();
                live.held = Some((extras, over));
                self.waiting += 1;
                if decided {
                    self.resolve(at, End::Closed, out);
                }
            }
            None => {}
        }
    }

    /// Settles all calls that were waiting to know how the answer went on.
    fn resolve_held(&mut self, end: End, out: &mut Vec<Event>) {
        if self.waiting > 0 {
            (0..self.parts.len()).for_each(|at| self.resolve(at, end, out));
        }
    }

    fn resolve(&mut self, at: usize, end: End, out: &mut Vec<Event>) {
        let Some(slot) = self.parts.get_mut(at) else { return };
        let (number, held) = match slot {
            Slot::Live(live) => (live.out, live.held.take()),
            Slot::Passing(_) => return,
        };
        let Some((extras, over)) = held else { return };
        self.waiting = self.waiting.saturating_sub(1);
        let Slot::Live(live) = std::mem::replace(slot, Slot::Passing(number)) else { return };
        let noted = self.notes.len();
        let further = self.settle(&live, over, end, out);
        if self.notes.len() > noted || live.call.name != live.tool {
            let ToolCall { id, name, arguments, .. } = live.call;
            let what = What::Call { name, arguments: kept(arguments) };
            self.written.push(Written { call: id.as_str().to_owned(), what });
        }
        out.push(Event::Closed { at: number, extras });
        for (settled, id) in further {
            self.further(settled, id, out);
        }
    }

    /// Completes a call that is over; gives the calls that were in its slot besides.
    fn settle(&mut self, live: &Live, over: Over, end: End, out: &mut Vec<Event>) -> Vec<(Fitted, CallId)> {
        let catalog = Arc::clone(&self.catalog);
        let Some(tool) = catalog.get(&live.tool) else { return Vec::new() };
        let named = Named { call: &live.call, tool, repairs: Vec::new(), entities: self.entities };
        let mut calls = match calls(&named, over, end) {
            Ok(calls) => calls.into_iter(),
            Err(fault) => {
                self.fault(live, &fault, out);
                return Vec::new();
            }
        };
        if let Some(first) = calls.next() {
            self.complete(live, first, out);
        }
        calls.map(|fitted| (fitted, self.mint(&live.call.id))).collect()
    }

    fn complete(&mut self, live: &Live, (settled, problems): Fitted, out: &mut Vec<Event>) {
        let rest = match live.takes {
            Takes::Json => suffix::of(&live.call.arguments, live.sent, &live.scan, &settled),
            // What passed is the text as it came, and nothing stood around it.
            Takes::Text => settled.call.arguments.get(live.sent..).map(str::to_owned),
        };
        let Some(rest) = rest else {
            // What was passed on can't become what is meant: it must not be run.
            self.incomplete(live);
            return;
        };
        if !rest.is_empty() {
            out.push(arguments_delta(live.out, rest));
        }
        self.settled(&live.call.id, settled.repairs, problems);
    }

    fn fault(&mut self, live: &Live, fault: &CallFault, out: &mut Vec<Event>) {
        match fault {
            CallFault::Incomplete { .. } => self.incomplete(live),
            CallFault::Malformed { .. } | CallFault::Unknown { .. } | CallFault::Invalid { .. } => {
                let rest = live.call.arguments.get(live.sent..).unwrap_or_default();
                if !rest.is_empty() {
                    out.push(arguments_delta(live.out, rest.to_owned()));
                }
                self.notes.push(Note::Incomplete {
                    call: live.call.id.as_str().to_owned(),
                    name: live.tool.clone(),
                });
            }
        }
    }

    fn incomplete(&mut self, live: &Live) {
        self.cut = true;
        self.notes.push(Note::Incomplete { call: live.call.id.as_str().to_owned(), name: live.tool.clone() });
    }

    /// One more call out of the same slot, as a part of its own.
    fn further(&mut self, (settled, problems): Fitted, id: CallId, out: &mut Vec<Event>) {
        let at = self.opened;
        self.opened += 1;
        let Settled { call, repairs, .. } = settled;
        let kind = PartKind::ToolCall { id: id.clone(), name: call.name, kind: call.kind };
        out.push(Event::Opened { at, kind, extras: Extras::NONE });
        out.push(arguments_delta(at, call.arguments));
        out.push(Event::Closed { at, extras: Extras::NONE });
        self.settled(&id, repairs, problems);
    }

    fn settled(&mut self, id: &CallId, repairs: Vec<Repair>, problems: Vec<Problem>) {
        self.repaired(id, repairs);
        if !problems.is_empty() {
            self.notes.push(Note::Invalid { call: id.as_str().to_owned(), problems });
        }
    }

    /// An id that no other call of the answer has.
    fn mint(&mut self, first: &CallId) -> CallId {
        let mut number = 2;
        loop {
            let id = format!("{}_{number}", first.as_str());
            if self.ids.insert(id.clone()) {
                self.minted.insert(id.clone());
                return CallId::Minted(id);
            }
            number += 1;
        }
    }

    fn repaired(&mut self, id: &CallId, repairs: impl IntoIterator<Item = Repair>) {
        let call = id.as_str();
        self.notes.extend(repairs.into_iter().map(|repair| Note::Repaired { call: call.to_owned(), repair }));
    }

    /// The answer broke off: what waits was cut, and so was what is still open.
    fn broken(&mut self, out: &mut Vec<Event>) {
        self.resolve_held(End::Cut, out);
        let open: Vec<(String, String)> = self
            .parts
            .iter()
            .filter_map(|slot| match slot {
                Slot::Live(live) => Some((live.call.id.as_str().to_owned(), live.tool.clone())),
                Slot::Passing(_) => None,
            })
            .collect();
        self.notes.extend(open.into_iter().map(|(call, name)| Note::Incomplete { call, name }));
        self.parts.clear();
    }
}

/// A settled call, and what of it does not keep the tool's schema.
type Fitted = (Settled, Vec<Problem>);

/// The calls that arguments turned out to hold.
fn calls(named: &Named<'_>, over: Over, end: End) -> Result<Vec<Fitted>, CallFault> {
    let reading = match over {
        Over::Json(reading) => reading,
        Over::Text => return Ok(vec![(named.free_text(end)?, Vec::new())]),
    };
    match named.read(reading, end)? {
        Calls::One(draft) => Ok(vec![fitted(named, draft)?]),
        // Where one of several can't be made a call, the model's own text is the only honest answer.
        Calls::Several(drafts) => drafts.into_iter().map(|draft| fitted(named, draft.split())).collect(),
    }
}

/// A draft fitted to its schema, be it that it does not fit.
fn fitted(named: &Named<'_>, draft: Draft) -> Result<Fitted, CallFault> {
    match named.finish(draft) {
        Ok(settled) => Ok((settled, Vec::new())),
        Err(CallFault::Invalid { settled, problems }) => Ok((*settled, problems)),
        Err(
            fault @ (CallFault::Unknown { .. } | CallFault::Incomplete { .. } | CallFault::Malformed { .. }),
        ) => Err(fault),
    }
}

fn arguments_delta(at: usize, text: String) -> Event {
    Event::Delta { at, delta: Delta::Arguments(text), extras: Extras::NONE }
}

/// How the answer ended, as far as a call that nothing closed depends on it. A filter or a server that gave up stops a call
/// anywhere, as a limit does.
fn end_of(stop: &Stop) -> End {
    match stop {
        Stop::MaxTokens | Stop::ContextFull | Stop::Refusal | Stop::MalformedCall => End::Cut,
        Stop::EndTurn | Stop::StopSequence(_) | Stop::ToolUse | Stop::Pause | Stop::Other(_) => End::Stopped,
    }
}

/// The end of an answer with a cut call: one after which no client runs calls.
fn cut_stop(stop: Stop) -> Stop {
    match stop {
        Stop::MaxTokens | Stop::ContextFull | Stop::Refusal => stop,
        Stop::EndTurn
        | Stop::StopSequence(_)
        | Stop::ToolUse
        | Stop::Pause
        | Stop::MalformedCall
        | Stop::Other(_) => Stop::MaxTokens,
    }
}

impl Stage for SettleStage {
    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        match event {
            Event::Opened { at: _, kind, extras } => {
                // The model went on, so what it left before was not cut by the answer's end.
                self.resolve_held(End::Stopped, out);
                self.open(kind, extras, out);
            }
            Event::Delta { at, delta, extras } => self.delta(at, delta, extras, out),
            Event::Closed { at, extras } => self.close(at, extras, out),
            Event::Finished { stop, extras } => {
                self.resolve_held(end_of(&stop), out);
                let stop = if self.cut { cut_stop(stop) } else { stop };
                out.push(Event::Finished { stop, extras });
                self.parts.clear();
            }
            Event::Failed(error) => {
                self.broken(out);
                out.push(Event::Failed(error));
            }
            Event::Started { .. } | Event::Usage(_) | Event::Ping | Event::Opaque(_) => out.push(event),
        }
    }

    fn finish(&mut self, out: &mut Vec<Event>) {
        self.broken(out);
    }

    fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    fn written(&mut self) -> Vec<Written> {
        std::mem::take(&mut self.written)
    }
}
