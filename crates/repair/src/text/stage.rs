use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rail_model::{CallId, CallKind, Delta, Event, Extras, PartKind, Stop};
use serde_json::Value;

use super::{Channel, Ending, Piece, Reader};
use crate::stage::Stage;
use crate::{Catalog, Found, Note, Profile, Repair, Step};

/// Finds the calls and the reasoning that a model wrote as text, and makes them parts of their own.
pub struct ExtractStage {
    profile: Profile,
    catalog: Arc<Catalog>,
    answer: String,
    content: Option<Reader>,
    reasoning: Option<Reader>,
    /// What became of each part that came.
    parts: BTreeMap<usize, Came>,
    /// Parts given out so far.
    next: usize,
    /// The text or reasoning that is being given out.
    open: Option<(usize, Kind)>,
    /// What the origin said besides, until there is an event to carry it.
    carry: Extras,
    /// The call from text that is being given out.
    spoken: Option<Spoken>,
    /// Calls found in text, and calls that came as calls, to tell one said in both ways.
    found: Vec<Said>,
    native: BTreeMap<usize, Said>,
    ids: BTreeSet<String>,
    notes: Vec<Note>,
}

/// What became of a part that came.
#[derive(Debug)]
enum Came {
    Content,
    Reasoning,
    /// It goes on under this number.
    As(usize),
    /// A call, held because it may say again what was found in text.
    Held(Vec<Event>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Text,
    Thinking,
}

/// A call as far as it is known.
#[derive(Default, Debug)]
struct Said {
    name: String,
    arguments: String,
}

struct Spoken {
    id: CallId,
    said: Said,
    format: &'static str,
    /// Its number, once it was given out.
    at: Option<usize>,
    mended: Vec<Step>,
}

impl ExtractStage {
    /// Reads the text of a model of which this is known, and that may call these tools.
    pub fn new(profile: Profile, catalog: Arc<Catalog>) -> Self {
        Self {
            profile,
            catalog,
            answer: String::new(),
            content: None,
            reasoning: None,
            parts: BTreeMap::new(),
            next: 0,
            open: None,
            carry: Extras::NONE,
            spoken: None,
            found: Vec::new(),
            native: BTreeMap::new(),
            ids: BTreeSet::new(),
            notes: Vec::new(),
        }
    }

    // ---- what comes

    fn opened(&mut self, at: usize, kind: PartKind, extras: Extras, out: &mut Vec<Event>) {
        match &kind {
            PartKind::Text => {
                self.carry.merge(extras);
                self.parts.insert(at, Came::Content);
            }
            PartKind::Thinking => {
                self.carry.merge(extras);
                self.parts.insert(at, Came::Reasoning);
            }
            PartKind::ToolCall { id, name, .. } => {
                self.end_reasoning(Ending::Superseded, out);
                self.close(out);
                self.ids.insert(id.as_str().to_owned());
                self.native.insert(at, Said { name: name.clone(), arguments: String::new() });
                if self.found.is_empty() {
                    self.pass(at, kind, extras, out);
                } else {
                    self.parts.insert(at, Came::Held(vec![Event::Opened { at, kind, extras }]));
                }
            }
            PartKind::Refusal | PartKind::Redacted(_) | PartKind::Media(_) | PartKind::Opaque(_) => {
                self.close(out);
                self.pass(at, kind, extras, out);
            }
        }
    }

    /// A part that is none of ours goes on under the next number.
    fn pass(&mut self, at: usize, kind: PartKind, extras: Extras, out: &mut Vec<Event>) {
        let number = self.number();
        self.parts.insert(at, Came::As(number));
        out.push(Event::Opened { at: number, kind, extras });
    }

    fn delta(&mut self, at: usize, delta: Delta, extras: Extras, out: &mut Vec<Event>) {
        if let (Delta::Arguments(more), Some(said)) = (&delta, self.native.get_mut(&at)) {
            said.arguments.push_str(more);
        }
        match self.parts.get_mut(&at) {
            Some(Came::As(number)) => out.push(Event::Delta { at: *number, delta, extras }),
            Some(Came::Held(events)) => events.push(Event::Delta { at, delta, extras }),
            Some(Came::Content) => {
                self.carry.merge(extras);
                match delta {
                    Delta::Text(text) => self.content(&text, out),
                    other => self.beside(Kind::Text, other, out),
                }
            }
            Some(Came::Reasoning) => {
                self.carry.merge(extras);
                match delta {
                    Delta::Thinking(text) => self.thought(&text, out),
                    other => self.beside(Kind::Thinking, other, out),
                }
            }
            None => {}
        }
    }

    fn content(&mut self, text: &str, out: &mut Vec<Event>) {
        if !text.trim().is_empty() {
            self.end_reasoning(Ending::Superseded, out);
        }
        let (profile, catalog) = (&self.profile, &self.catalog);
        let reader = self.content.get_or_insert_with(|| Reader::new(Channel::Content, profile, catalog));
        let mut pieces = Vec::new();
        reader.push(text, &mut pieces);
        self.pieces(pieces, out);
    }

    fn thought(&mut self, text: &str, out: &mut Vec<Event>) {
        let (profile, catalog) = (&self.profile, &self.catalog);
        let reader = self.reasoning.get_or_insert_with(|| Reader::new(Channel::Reasoning, profile, catalog));
        let mut pieces = Vec::new();
        reader.push(text, &mut pieces);
        self.pieces(pieces, out);
    }

    fn end_reasoning(&mut self, ending: Ending, out: &mut Vec<Event>) {
        if let Some(pieces) = end(&mut self.reasoning, ending) {
            self.pieces(pieces, out);
        }
    }

    fn closed(&mut self, at: usize, extras: Extras, out: &mut Vec<Event>) {
        match self.parts.get_mut(&at) {
            Some(Came::As(number)) => out.push(Event::Closed { at: *number, extras }),
            Some(Came::Content | Came::Reasoning) => self.carry.merge(extras),
            Some(Came::Held(events)) => {
                let mut events = std::mem::take(events);
                events.push(Event::Closed { at, extras });
                let said = self.native.get(&at);
                if !said.is_some_and(|said| self.found.iter().any(|found| self.are_same(found, said))) {
                    self.release(at, events, out);
                }
            }
            None => {}
        }
    }

    fn release(&mut self, at: usize, events: Vec<Event>, out: &mut Vec<Event>) {
        let number = self.number();
        self.parts.insert(at, Came::As(number));
        out.extend(events.into_iter().map(|event| match event {
            Event::Opened { kind, extras, .. } => Event::Opened { at: number, kind, extras },
            Event::Delta { delta, extras, .. } => Event::Delta { at: number, delta, extras },
            Event::Closed { extras, .. } => Event::Closed { at: number, extras },
            other => other,
        }));
    }

    fn end(&mut self, ending: Ending, out: &mut Vec<Event>) {
        self.end_reasoning(ending, out);
        if let Some(pieces) = end(&mut self.content, ending) {
            self.pieces(pieces, out);
        }
        self.close(out);
        let held: Vec<usize> = self
            .parts
            .iter()
            .filter(|(_, came)| matches!(came, Came::Held(events) if !events.is_empty()))
            .map(|(at, _)| *at)
            .collect();
        for at in held {
            if let Some(Came::Held(events)) = self.parts.remove(&at) {
                self.release(at, events, out);
            }
        }
    }

    // ---- what goes

    fn number(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    fn pieces(&mut self, pieces: Vec<Piece>, out: &mut Vec<Event>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.say(Kind::Text, Delta::Text(text), out),
                Piece::Thinking(text) => self.say(Kind::Thinking, Delta::Thinking(text), out),
                Piece::Begin { id, name, format } => self.begin(id, name, format, out),
                Piece::Arguments(text) => self.arguments(&text, out),
                Piece::Mended(step) => {
                    if let Some(spoken) = &mut self.spoken {
                        spoken.mended.push(step);
                    }
                }
                Piece::End => self.end_call(out),
            }
        }
    }

    /// What comes besides words: it belongs to the words that are being said.
    fn beside(&mut self, kind: Kind, delta: Delta, out: &mut Vec<Event>) {
        self.say(kind, delta, out);
    }

    fn say(&mut self, kind: Kind, delta: Delta, out: &mut Vec<Event>) {
        if self.open.is_none_or(|(_, open)| open != kind) {
            self.close(out);
            let at = self.number();
            let opens = match kind {
                Kind::Text => PartKind::Text,
                Kind::Thinking => PartKind::Thinking,
            };
            out.push(Event::Opened { at, kind: opens, extras: std::mem::take(&mut self.carry) });
            self.open = Some((at, kind));
        }
        if let Some((at, _)) = self.open {
            out.push(Event::Delta { at, delta, extras: std::mem::take(&mut self.carry) });
        }
    }

    fn close(&mut self, out: &mut Vec<Event>) {
        if let Some((at, _)) = self.open.take() {
            out.push(Event::Closed { at, extras: std::mem::take(&mut self.carry) });
        }
    }

    fn begin(&mut self, id: Option<String>, name: String, format: &'static str, out: &mut Vec<Event>) {
        self.close(out);
        let id = match id.filter(|id| !id.is_empty() && !self.ids.contains(id)) {
            Some(id) => CallId::Given(id),
            None => CallId::Minted(format!("rail_{:012x}_t{}", fnv(&self.answer), self.ids.len())),
        };
        self.ids.insert(id.as_str().to_owned());
        let said = Said { name, arguments: String::new() };
        let mut spoken = Spoken { id, said, format, at: None, mended: Vec::new() };
        if self.native.is_empty() {
            self.announce(&mut spoken, out);
        }
        self.spoken = Some(spoken);
    }

    fn announce(&mut self, spoken: &mut Spoken, out: &mut Vec<Event>) {
        let at = self.number();
        spoken.at = Some(at);
        let (id, name) = (spoken.id.clone(), spoken.said.name.clone());
        out.push(Event::Opened {
            at,
            kind: PartKind::ToolCall { id, name, kind: CallKind::Function },
            extras: Extras::NONE,
        });
    }

    fn arguments(&mut self, text: &str, out: &mut Vec<Event>) {
        let Some(spoken) = &mut self.spoken else { return };
        spoken.said.arguments.push_str(text);
        if let Some(at) = spoken.at
            && !text.is_empty()
        {
            out.push(Event::Delta { at, delta: Delta::Arguments(text.to_owned()), extras: Extras::NONE });
        }
    }

    fn end_call(&mut self, out: &mut Vec<Event>) {
        let Some(mut spoken) = self.spoken.take() else { return };
        if spoken.at.is_none() {
            if self.native.values().any(|native| self.are_same(native, &spoken.said)) {
                return;
            }
            self.announce(&mut spoken, out);
            if let Some(at) = spoken.at {
                let delta = Delta::Arguments(spoken.said.arguments.clone());
                out.push(Event::Delta { at, delta, extras: Extras::NONE });
            }
        }
        let call = spoken.id.as_str().to_owned();
        let found = Repair::new(Step::Found(spoken.format), "");
        self.notes.push(Note::Repaired { call: call.clone(), repair: found });
        for step in spoken.mended {
            self.notes.push(Note::Repaired { call: call.clone(), repair: Repair::new(step, "arguments") });
        }
        out.extend(spoken.at.map(|at| Event::Closed { at, extras: Extras::NONE }));
        self.found.push(spoken.said);
    }

    /// The same tool with the same arguments.
    fn are_same(&self, one: &Said, other: &Said) -> bool {
        let name = |said: &Said| match self.catalog.find(&said.name) {
            Found::Tool(tool, _) => tool.name.clone(),
            Found::Unknown(_) => said.name.clone(),
        };
        let value = |said: &Said| serde_json::from_str::<Value>(&said.arguments).ok();
        name(one) == name(other)
            && (one.arguments == other.arguments || value(one).is_some_and(|one| Some(one) == value(other)))
    }
}

fn end(reader: &mut Option<Reader>, ending: Ending) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    reader.take()?.finish(ending, &mut pieces);
    Some(pieces)
}

fn fnv(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash & 0xffff_ffff_ffff
}

impl Stage for ExtractStage {
    fn event(&mut self, event: Event, out: &mut Vec<Event>) {
        match event {
            Event::Started { id, model, extras } => {
                self.answer = id.clone().unwrap_or_default();
                out.push(Event::Started { id, model, extras });
            }
            Event::Opened { at, kind, extras } => self.opened(at, kind, extras, out),
            Event::Delta { at, delta, extras } => self.delta(at, delta, extras, out),
            Event::Closed { at, extras } => self.closed(at, extras, out),
            Event::Finished { stop, extras } => {
                let ending = match stop {
                    Stop::MaxTokens | Stop::ContextFull => Ending::Cut,
                    _ => Ending::Stopped,
                };
                self.end(ending, out);
                let stop = if stop == Stop::EndTurn && !self.found.is_empty() { Stop::ToolUse } else { stop };
                out.push(Event::Finished { stop, extras });
            }
            Event::Failed(error) => {
                self.end(Ending::Cut, out);
                out.push(Event::Failed(error));
            }
            Event::Usage(_) | Event::Ping | Event::Opaque(_) => out.push(event),
        }
    }

    fn finish(&mut self, out: &mut Vec<Event>) {
        self.end(Ending::Cut, out);
    }

    fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}
