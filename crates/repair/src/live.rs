//! Settles calls while they stream.

mod scan;
mod suffix;

use std::collections::BTreeSet;
use std::sync::Arc;

use rail_model::{CallId, CallKind, Delta, Event, Extras, PartKind, Stop, ToolCall};

use crate::arguments::{self, Reading};
use crate::json::State;
use crate::schema::{Kind, Schema};
use crate::settle::{Calls, Draft, Named, is_free_text};
use crate::{CallFault, Catalog, End, Found, Note, Repair, Settled, Stage, Tool};
use scan::Scan;

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
    /// By the number under which a part came in.
    parts: Vec<Slot>,
    /// How many parts have gone out.
    opened: usize,
    ids: BTreeSet<String>,
    /// Those of the ids that were made up here.
    minted: BTreeSet<String>,
    notes: Vec<Note>,
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

struct Live {
    out: usize,
    /// The call as the model wrote it so far.
    call: ToolCall,
    /// The declared name.
    tool: String,
    scan: Scan,
    /// How many bytes of the arguments have been passed on.
    sent: usize,
    /// The end that is held until it is known how the answer went on.
    held: Option<(Extras, Reading)>,
}

impl SettleStage {
    /// Settles calls of these tools.
    pub fn new(catalog: Arc<Catalog>) -> Self {
        let (ids, minted) = (BTreeSet::new(), BTreeSet::new());
        Self { catalog, parts: Vec::new(), opened: 0, ids, minted, notes: Vec::new(), waiting: 0, cut: false }
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
        let name = tool.name.clone();
        let opened = PartKind::ToolCall { id: id.clone(), name: name.clone(), kind };
        if is_free_text(kind, tool) {
            return (opened, Slot::Passing(at));
        }
        let call = ToolCall { id, name: spelled, arguments: String::new(), kind };
        let live = Live { out: at, call, tool: name, scan: Scan::default(), sent: 0, held: None };
        (opened, Slot::Live(Box::new(live)))
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
                let reading = arguments::read(&live.call.arguments);
                let decided = match &reading {
                    Reading::Values(values) => values.state == State::Complete,
                    Reading::Fault(_) => true,
                    Reading::Empty | Reading::Bare(_) => false,
                };
                live.held = Some((extras, reading));
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
        let Some((extras, reading)) = held else { return };
        self.waiting = self.waiting.saturating_sub(1);
        let Slot::Live(live) = std::mem::replace(slot, Slot::Passing(number)) else { return };
        let further = self.settle(&live, reading, end, out);
        out.push(Event::Closed { at: number, extras });
        for (settled, id) in further {
            self.further(settled, id, out);
        }
    }

    /// Completes a call that is over; gives the calls that were in its slot besides.
    fn settle(
        &mut self,
        live: &Live,
        reading: Reading,
        end: End,
        out: &mut Vec<Event>,
    ) -> Vec<(Settled, CallId)> {
        let catalog = Arc::clone(&self.catalog);
        let Some(tool) = catalog.get(&live.tool) else { return Vec::new() };
        let named = Named { call: &live.call, tool, repairs: Vec::new() };
        let drafts = match named.read(reading, end) {
            Ok(Calls::One(draft)) => vec![draft],
            Ok(Calls::Several(drafts)) => drafts.into_iter().map(Draft::split).collect(),
            Err(fault) => {
                self.fault(live, &fault, out);
                return Vec::new();
            }
        };
        // Where one of several can't be made a call, the model's own text is the only honest answer.
        let fitted: Result<Vec<Settled>, CallFault> =
            drafts.into_iter().map(|draft| fitted(&named, draft)).collect();
        let mut fitted = match fitted {
            Ok(fitted) => fitted.into_iter(),
            Err(fault) => {
                self.fault(live, &fault, out);
                return Vec::new();
            }
        };
        if let Some(first) = fitted.next() {
            self.complete(live, first, out);
        }
        fitted.map(|settled| (settled, self.mint(&live.call.id))).collect()
    }

    fn complete(&mut self, live: &Live, settled: Settled, out: &mut Vec<Event>) {
        let Some(rest) = suffix::of(&live.call.arguments, live.sent, &live.scan, &settled) else {
            // What was passed on can't become what is meant: it must not be run.
            self.incomplete(live);
            return;
        };
        if !rest.is_empty() {
            out.push(arguments_delta(live.out, rest));
        }
        self.repaired(&live.call.id, settled.repairs);
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
    fn further(&mut self, settled: Settled, id: CallId, out: &mut Vec<Event>) {
        let at = self.opened;
        self.opened += 1;
        let Settled { call, repairs, .. } = settled;
        let kind = PartKind::ToolCall { id: id.clone(), name: call.name, kind: call.kind };
        out.push(Event::Opened { at, kind, extras: Extras::NONE });
        out.push(arguments_delta(at, call.arguments));
        out.push(Event::Closed { at, extras: Extras::NONE });
        self.repaired(&id, repairs);
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

impl Live {
    /// Takes a piece of arguments; gives what of the text can't change any more and was not yet passed on.
    fn take(&mut self, piece: &str, tool: Option<&Tool>) -> String {
        let streams = |key: &str| tool.is_some_and(|tool| can_stream(tool, key));
        self.scan.push(piece, streams);
        self.call.arguments.push_str(piece);
        let ready = self.call.arguments.get(self.sent..self.scan.safe()).unwrap_or_default().to_owned();
        self.sent += ready.len();
        ready
    }
}

/// Whether the string under a key stays as it is whatever follows: its schema allows strings, and no alternative of the
/// whole could ask for something else.
fn can_stream(tool: &Tool, key: &str) -> bool {
    if tool.schema.is_none() {
        return true;
    }
    let schema = Schema::of(tool);
    let string = |property: Schema<'_>| property.types().has(Kind::String);
    schema.declares(key) && schema.branches().is_empty() && schema.property(key).is_some_and(string)
}

/// A draft fitted to its schema, be it that it does not fit.
fn fitted(named: &Named<'_>, draft: Draft) -> Result<Settled, CallFault> {
    match named.finish(draft) {
        Ok(settled) => Ok(settled),
        Err(CallFault::Invalid { settled, .. }) => Ok(*settled),
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
}
