use std::collections::BTreeMap;
use std::sync::Arc;

use rail_model::{CallId, CallKind, Delta, Event, Extras, PartKind, Stop};

use super::said::{Ids, Said};
use super::speaker::{Kind, Speaker};
use super::{Channel, Ending, Piece, Reader, openers};
use crate::stage::Stage;
use crate::{Catalog, Note, Profile, Repair, Step, What, Written};

/// Finds the calls and the reasoning that a model wrote as text, and makes them parts of their own.
///
/// Parts that come stay parts where they can: text and reasoning of two parts is never given out as one, because seals and
/// citations belong to their own. Reasoning that has a seal is never looked into further, and goes as it came.
///
/// A call that comes as a call and was written as text too is given out once.
pub struct ExtractStage {
    profile: Profile,
    catalog: Arc<Catalog>,
    answer: String,
    content: Option<Reader>,
    reasoning: Option<Reader>,
    /// What became of each part that came.
    parts: BTreeMap<usize, Came>,
    speaker: Speaker,
    /// The call from text that is being given out.
    spoken: Option<Spoken>,
    /// Calls found in text, and calls that came as calls, to tell one said in both ways.
    found: Vec<Said>,
    native: BTreeMap<usize, Said>,
    ids: Ids,
    notes: Vec<Note>,
    written: Vec<Written>,
}

/// What became of a part that came.
enum Came {
    Content,
    Reasoning,
    /// It goes on under this number.
    As(usize),
    /// A call, held because it may say again what was found in text.
    Held(Held),
    /// It is not given out.
    Dropped,
}

struct Held {
    events: Vec<Event>,
    closed: bool,
}

struct Spoken {
    id: CallId,
    said: Said,
    format: &'static str,
    /// Its number, once it was given out.
    at: Option<usize>,
    mended: Vec<Step>,
    /// The text that it was found in.
    wrote: Arc<str>,
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
            speaker: Speaker::new(),
            spoken: None,
            found: Vec::new(),
            native: BTreeMap::new(),
            ids: Ids::default(),
            notes: Vec::new(),
            written: Vec::new(),
        }
    }

    // ---- what comes

    fn opened(&mut self, at: usize, kind: PartKind, extras: Extras, out: &mut Vec<Event>) {
        match kind {
            PartKind::Text => {
                self.begin_part(out);
                self.speaker.carry(extras);
                self.parts.insert(at, Came::Content);
            }
            PartKind::Thinking => {
                self.told_apart(out);
                self.begin_part(out);
                self.speaker.carry(extras);
                self.parts.insert(at, Came::Reasoning);
            }
            PartKind::ToolCall { id, name, kind } => {
                self.end_reasoning(Ending::Superseded, out);
                self.speaker.close(out);
                self.native.insert(at, Said::new(name.clone(), kind));
                let id = self.ids.unique(id);
                let kind = PartKind::ToolCall { id, name, kind };
                if self.found.is_empty() && self.spoken.is_none() {
                    self.pass(at, kind, extras, out);
                } else {
                    let events = vec![Event::Opened { at, kind, extras }];
                    self.parts.insert(at, Came::Held(Held { events, closed: false }));
                }
            }
            PartKind::Refusal => {
                self.end_reasoning(Ending::Superseded, out);
                self.speaker.close(out);
                self.pass(at, kind, extras, out);
            }
            PartKind::Redacted(_) => {
                self.told_apart(out);
                self.speaker.close(out);
                self.pass(at, kind, extras, out);
            }
            PartKind::Media(_) | PartKind::Opaque(_) => {
                self.speaker.close(out);
                self.pass(at, kind, extras, out);
            }
        }
    }

    /// The server tells reasoning apart, so text does not begin inside it, whatever the template ends with. What little text
    /// came before was read as reasoning, and that ends here.
    fn told_apart(&mut self, out: &mut Vec<Event>) {
        if std::mem::take(&mut self.profile.starts_in_reasoning) {
            let last = end(&mut self.content, Ending::Superseded).unwrap_or_default();
            self.pieces(last, out);
        }
    }

    /// A part that is none of ours goes on under the next number.
    fn pass(&mut self, at: usize, kind: PartKind, extras: Extras, out: &mut Vec<Event>) {
        let number = self.speaker.number();
        self.parts.insert(at, Came::As(number));
        out.push(Event::Opened { at: number, kind, extras });
    }

    fn delta(&mut self, at: usize, delta: Delta, extras: Extras, out: &mut Vec<Event>) {
        if let (Delta::Arguments(more), Some(said)) = (&delta, self.native.get_mut(&at)) {
            said.arguments.push_str(more);
        }
        match self.parts.get_mut(&at) {
            Some(Came::As(number)) => out.push(Event::Delta { at: *number, delta, extras }),
            Some(Came::Held(held)) => held.events.push(Event::Delta { at, delta, extras }),
            Some(Came::Content) => {
                self.speaker.carry(extras);
                match delta {
                    Delta::Text(text) => self.content(&text, out),
                    other => self.beside(Kind::Text, other, out),
                }
            }
            Some(Came::Reasoning) => {
                self.speaker.carry(extras);
                match delta {
                    Delta::Thinking(text) => self.thought(&text, out),
                    other => self.beside(Kind::Thinking, other, out),
                }
            }
            Some(Came::Dropped) | None => {}
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

    /// What comes besides words goes with the words that came last.
    fn beside(&mut self, kind: Kind, delta: Delta, out: &mut Vec<Event>) {
        if kind == Kind::Thinking && matches!(delta, Delta::Seal(_)) {
            // What is sealed was thought, whatever it looks like.
            self.end_reasoning(Ending::Superseded, out);
        }
        let held = self.holds(kind);
        // Tokens of a call are nobody's text.
        let lost = matches!(delta, Delta::Logprobs(_)) && !held && !self.speaker.is_saying(kind);
        if lost {
            return;
        }
        match held {
            true => self.speaker.wait(kind, delta),
            false => self.speaker.say(kind, delta, out),
        }
    }

    fn end_reasoning(&mut self, ending: Ending, out: &mut Vec<Event>) {
        let last = end(&mut self.reasoning, ending).unwrap_or_default();
        self.pieces(last, out);
    }

    fn closed(&mut self, at: usize, extras: Extras, out: &mut Vec<Event>) {
        match self.parts.get_mut(&at) {
            Some(Came::As(number)) => out.push(Event::Closed { at: *number, extras }),
            Some(Came::Content) => self.end_part(Kind::Text, extras, out),
            Some(Came::Reasoning) => self.end_part(Kind::Thinking, extras, out),
            Some(Came::Held(held)) => {
                held.events.push(Event::Closed { at, extras });
                held.closed = true;
                self.compare_held(out);
            }
            Some(Came::Dropped) | None => {}
        }
    }

    fn reader(&mut self, kind: Kind) -> Option<&mut Reader> {
        match kind {
            Kind::Text => self.content.as_mut(),
            Kind::Thinking => self.reasoning.as_mut(),
        }
    }

    fn holds(&mut self, kind: Kind) -> bool {
        self.reader(kind).is_some_and(|reader| reader.holds())
    }

    /// Words of a new part are not more of an old one, unless some of those are still held.
    fn begin_part(&mut self, out: &mut Vec<Event>) {
        if !self.holds(Kind::Text) && !self.holds(Kind::Thinking) {
            self.speaker.close(out);
        }
    }

    /// What a part has goes with it, unless it may still become a call.
    fn end_part(&mut self, kind: Kind, extras: Extras, out: &mut Vec<Event>) {
        let mut pieces = Vec::new();
        if let Some(reader) = self.reader(kind) {
            reader.pause(&mut pieces);
        }
        self.pieces(pieces, out);
        if !self.holds(kind) {
            self.speaker.end_part(kind, out);
        }
        self.speaker.carry(extras);
    }

    /// Gives out the calls that were held, unless they were found in text.
    fn compare_held(&mut self, out: &mut Vec<Event>) {
        if self.spoken.as_ref().is_some_and(|spoken| spoken.at.is_some()) {
            return;
        }
        let closed = |came: &Came| matches!(came, Came::Held(held) if held.closed);
        let held: Vec<usize> =
            self.parts.iter().filter(|(_, came)| closed(came)).map(|(at, _)| *at).collect();
        for at in held {
            let again = self
                .native
                .get(&at)
                .is_some_and(|said| self.found.iter().any(|found| found.means(said, &self.catalog)));
            match again {
                true => {
                    self.parts.insert(at, Came::Dropped);
                }
                false => self.release(at, out),
            }
        }
    }

    fn release(&mut self, at: usize, out: &mut Vec<Event>) {
        self.speaker.close(out);
        let number = self.speaker.number();
        let Some(Came::Held(held)) = self.parts.insert(at, Came::As(number)) else { return };
        out.extend(held.events.into_iter().map(|event| match event {
            Event::Opened { kind, extras, .. } => Event::Opened { at: number, kind, extras },
            Event::Delta { delta, extras, .. } => Event::Delta { at: number, delta, extras },
            Event::Closed { extras, .. } => Event::Closed { at: number, extras },
            other => other,
        }));
    }

    fn end(&mut self, ending: Ending, out: &mut Vec<Event>) {
        // Who calls natively only drafts in thought.
        let thought = if self.native.is_empty() { ending } else { Ending::Superseded };
        self.end_reasoning(thought, out);
        let mut last = end(&mut self.content, ending).unwrap_or_default();
        if !self.native.is_empty() {
            last.retain(|piece| !matches!(piece, Piece::Text(text) if openers::is_leak(text)));
        }
        self.pieces(last, out);
        self.speaker.end(out);
        self.compare_held(out);
        let open = |came: &Came| matches!(came, Came::Held(_));
        let held: Vec<usize> = self.parts.iter().filter(|(_, came)| open(came)).map(|(at, _)| *at).collect();
        held.into_iter().for_each(|at| self.release(at, out));
    }

    // ---- what goes

    fn pieces(&mut self, pieces: Vec<Piece>, out: &mut Vec<Event>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.speaker.say(Kind::Text, Delta::Text(text), out),
                Piece::Thinking(text) => self.speaker.say(Kind::Thinking, Delta::Thinking(text), out),
                Piece::Begin { id, name, format } => self.begin(id, name, format, out),
                Piece::Arguments(text) => self.arguments(&text, out),
                Piece::Mended(step) => {
                    if let Some(spoken) = &mut self.spoken {
                        spoken.mended.push(step);
                    }
                }
                Piece::Wrote(text) => {
                    if let Some(spoken) = &mut self.spoken {
                        spoken.wrote = text;
                    }
                }
                Piece::End => self.end_call(out),
            }
        }
    }

    fn begin(&mut self, id: Option<String>, name: String, format: &'static str, out: &mut Vec<Event>) {
        self.speaker.close(out);
        self.speaker.forget_tokens();
        let id = self.ids.of_text(id, &self.answer);
        let said = Said::new(name, CallKind::Function);
        let mut spoken = Spoken { id, said, format, at: None, mended: Vec::new(), wrote: Arc::default() };
        if self.native.is_empty() {
            self.announce(&mut spoken, out);
        }
        self.spoken = Some(spoken);
    }

    fn announce(&mut self, spoken: &mut Spoken, out: &mut Vec<Event>) {
        let at = self.speaker.number();
        spoken.at = Some(at);
        let (id, name) = (spoken.id.clone(), spoken.said.name.clone());
        let kind = PartKind::ToolCall { id, name, kind: CallKind::Function };
        out.push(Event::Opened { at, kind, extras: Extras::NONE });
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
            // A call that is held gives way to the one in the text when it is whole.
            let given =
                self.native.iter().filter(|(at, _)| !matches!(self.parts.get(at), Some(Came::Held(_))));
            if given.map(|(_, native)| native).any(|native| native.means(&spoken.said, &self.catalog)) {
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
        self.written.push(Written { call: call.clone(), what: What::Text(spoken.wrote) });
        for step in spoken.mended {
            self.notes.push(Note::Repaired { call: call.clone(), repair: Repair::new(step, "arguments") });
        }
        out.extend(spoken.at.map(|at| Event::Closed { at, extras: Extras::NONE }));
        self.found.push(spoken.said);
        self.compare_held(out);
    }
}

fn end(reader: &mut Option<Reader>, ending: Ending) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    reader.take()?.finish(ending, &mut pieces);
    Some(pieces)
}

/// How the text ended when the answer did. A filter or a server that gave up stops a call anywhere, as a limit does.
fn ending_of(stop: &Stop) -> Ending {
    match stop {
        Stop::MaxTokens | Stop::ContextFull | Stop::Refusal | Stop::MalformedCall => Ending::Cut,
        Stop::EndTurn | Stop::StopSequence(_) | Stop::ToolUse | Stop::Pause | Stop::Other(_) => {
            Ending::Stopped
        }
    }
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
                self.end(ending_of(&stop), out);
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

    fn written(&mut self) -> Vec<Written> {
        std::mem::take(&mut self.written)
    }
}
