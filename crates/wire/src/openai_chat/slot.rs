//! One call of a stream, as its pieces make it.

use rail_model::{CallId, CallKind, Delta, Event, Extras, PartKind, Seal, mark};
use serde_json::Value;

use super::scan::Scan;
use super::{ID, LEGACY, NAMELESS, UNKNOWN_TOOL};
use crate::ids;

/// One piece of a call as it came; empty strings count as absent.
#[derive(Default, Debug)]
pub(super) struct Piece<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<&'a str>,
    pub(super) name: Option<&'a str>,
    /// The arguments; None when there was no such field, which the first piece of a good call always has.
    pub(super) arguments: Option<&'a str>,
    /// The arguments were an object, not text.
    pub(super) object: bool,
    pub(super) kind: CallKind,
    pub(super) form: Form,
    pub(super) seal: Option<Seal>,
}

/// How a call is written.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// An entry of `tool_calls`.
    #[default]
    Entry,
    /// The old `function_call`.
    Legacy,
}

/// A call.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) id: Option<String>,
    pub(super) name: String,
    /// The pieces in which the name came, if there is more than one way to put them together.
    names: Vec<String>,
    pub(super) kind: CallKind,
    form: Form,
    /// Its part, once it was announced.
    pub(super) at: Option<usize>,
    pub(super) closed: bool,
    /// It may be an earlier call said again.
    pub(super) again: bool,
    /// The head was complete: a field for arguments, if only an empty one, came with it.
    ready: bool,
    /// Arguments that came before the name.
    held: Vec<(String, Extras)>,
    seal: Option<Seal>,
    extras: Extras,
    scan: Scan,
}

/// Where events go and how parts are numbered.
pub(super) struct Out<'a> {
    pub(super) events: &'a mut Vec<Event>,
    pub(super) parts: &'a mut usize,
    /// The answer's id, from which ids of calls without one are made.
    pub(super) answer: &'a str,
}

impl Slot {
    pub(super) fn new(piece: &Piece<'_>) -> Self {
        Self {
            id: None,
            name: String::new(),
            names: Vec::new(),
            kind: piece.kind,
            form: piece.form,
            at: None,
            closed: false,
            again: false,
            ready: false,
            held: Vec::new(),
            seal: None,
            extras: Extras::NONE,
            scan: Scan::default(),
        }
    }

    /// Anything came for it besides an id.
    pub(super) fn is_said(&self) -> bool {
        !(self.name.is_empty() && self.held.is_empty())
    }

    /// The arguments are a whole JSON value; free text is never known to be whole.
    pub(super) fn is_finished(&self) -> bool {
        self.kind == CallKind::Function && self.scan.is_finished()
    }

    /// No more arguments can come; unlike `is_finished` this has no doubt about placeholders and several values.
    pub(super) fn is_whole(&self) -> bool {
        self.kind == CallKind::Function && self.scan.is_whole_object()
    }

    /// The piece says all over again what this finished call already said.
    pub(super) fn repeats(&self, piece: &Piece<'_>) -> bool {
        let same_name = piece.name.is_none_or(|name| name == self.name);
        self.is_finished()
            && same_name
            && piece.arguments.is_some_and(|text| !text.is_empty() && self.scan.equals(text))
    }

    /// The piece's name can be this call's: it is the same, continues it, or the name is not settled yet.
    pub(super) fn agrees(&self, piece: &Piece<'_>) -> bool {
        let settled = self.at.is_some() || self.ready;
        piece.name.is_none_or(|name| self.name.is_empty() || !settled || name == self.name)
    }

    /// A named piece that can't be this call's any more.
    pub(super) fn is_over_for(&self, piece: &Piece<'_>) -> bool {
        let more = !piece.arguments.unwrap_or_default().is_empty();
        // `{}` may only have held the place of arguments that come now.
        let whole = self.is_finished() && !self.scan.is_placeholder();
        !self.agrees(piece) || (whole && more)
    }

    pub(super) fn take(&mut self, piece: Piece<'_>, extras: Extras, out: &mut Out<'_>) {
        if self.id.is_none() {
            self.id = piece.id.map(str::to_owned);
        }
        if self.at.is_none() {
            self.more_name(piece.name.unwrap_or_default());
            self.extras.merge(extras);
        }
        if piece.kind == CallKind::Custom {
            self.kind = CallKind::Custom;
        }
        match (piece.seal, self.at) {
            (Some(seal), Some(at)) => out.events.push(delta(at, Delta::Seal(seal))),
            (Some(seal), None) => self.seal = Some(seal),
            (None, _) => {}
        }
        self.ready |= piece.arguments.is_some();
        let text = piece.arguments.unwrap_or_default();
        let begins = self.at.is_some() && !self.scan.begun();
        let late = piece.name.filter(|name| begins && *name != self.name);
        self.scan.push(text);
        let mut extras = Extras::NONE;
        if piece.object {
            extras.mark(ID, mark::OBJECT);
        }
        if let Some(name) = late {
            // The head is out, and only the declared names can tell whether this is more of it.
            extras.insert(ID, mark::NAMES, Value::from(vec![name]));
        }
        match self.at {
            Some(at) if !text.is_empty() || late.is_some() => {
                let delta = Delta::Arguments(text.to_owned());
                out.events.push(Event::Delta { at, delta, extras });
            }
            Some(_) => {}
            None => {
                if !text.is_empty() {
                    self.held.push((text.to_owned(), extras));
                }
                // The old form has no ids to wait for.
                let named = self.id.is_some() || self.form == Form::Legacy;
                let known = !self.held.is_empty() || (self.ready && named);
                if known && !self.name.is_empty() {
                    self.announce(out);
                }
            }
        }
    }

    /// Rule 6, as far as it goes without the declared names.
    fn more_name(&mut self, piece: &str) {
        if piece.is_empty() || piece == self.name {
            return;
        }
        self.names.push(piece.to_owned());
        if piece.starts_with(self.name.as_str()) {
            self.name = piece.to_owned();
        } else {
            self.name.push_str(piece);
        }
    }

    pub(super) fn announce(&mut self, out: &mut Out<'_>) {
        let at = *out.parts;
        *out.parts += 1;
        self.at = Some(at);
        let id = self.id.clone().map_or_else(|| ids::mint(out.answer, at), CallId::Given);
        let mut extras = std::mem::take(&mut self.extras);
        match self.form {
            Form::Entry => {}
            Form::Legacy => extras.mark(ID, LEGACY),
        }
        if self.names.len() > 1 {
            extras.insert(ID, mark::NAMES, Value::from(std::mem::take(&mut self.names)));
        }
        if self.again {
            extras.mark(ID, mark::AGAIN);
        }
        if self.name.is_empty() {
            UNKNOWN_TOOL.clone_into(&mut self.name);
            extras.mark(ID, NAMELESS);
        }
        let kind = PartKind::ToolCall { id, name: self.name.clone(), kind: self.kind };
        out.events.push(Event::Opened { at, kind, extras });
        out.events.extend(self.seal.take().map(|seal| delta(at, Delta::Seal(seal))));
        let held = self.held.drain(..);
        out.events.extend(held.map(|(text, extras)| Event::Delta {
            at,
            delta: Delta::Arguments(text),
            extras,
        }));
    }
}

fn delta(at: usize, delta: Delta) -> Event {
    Event::Delta { at, delta, extras: Extras::NONE }
}
