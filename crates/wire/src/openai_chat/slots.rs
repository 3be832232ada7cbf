//! Which call a piece of a call belongs to.
//!
//! By the book the first piece carries index, id and name, later ones the index. In the field any of them is missing,
//! repeated, late or wrong; the rules here are those of "Slot routing" in the tool-call spec, but for the ones that
//! need the declared tools or all of the arguments, which are the repair stage's.

use std::collections::BTreeMap;

use rail_model::{CallId, CallKind, Delta, Event, Extras, PartKind, Seal};

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

/// All calls of an answer.
#[derive(Default, Debug)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    by_id: BTreeMap<String, usize>,
    by_index: BTreeMap<u64, usize>,
    current: Option<usize>,
    legacy: Option<usize>,
    /// The call that got the last piece, if that made its arguments whole.
    ripe: Option<usize>,
}

#[derive(Debug)]
struct Slot {
    id: Option<String>,
    name: String,
    kind: CallKind,
    form: Form,
    /// Its part, once it was announced.
    at: Option<usize>,
    closed: bool,
    /// The head was complete: a field for arguments, if only an empty one, came with it.
    ready: bool,
    /// Arguments that came before the name.
    held: Vec<String>,
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

impl Slots {
    /// Whether any call was announced.
    pub(super) fn called(&self) -> bool {
        self.slots.iter().any(|slot| slot.at.is_some())
    }

    /// Whether the call that got the last piece still waits to be announced.
    pub(super) fn waits(&self) -> bool {
        self.current.and_then(|at| self.slots.get(at)).is_some_and(|slot| slot.at.is_none())
    }

    /// Takes a piece; `extras` are the call's own unknown fields. False when it was noise or a repetition.
    pub(super) fn push(&mut self, mut piece: Piece<'_>, extras: Extras, out: &mut Out<'_>) -> bool {
        let Some(at) = self.route(&piece).and_then(|at| self.after_close(at, &mut piece)) else {
            return false;
        };
        self.current = Some(at);
        self.close_ripe(Some(at), out.events);
        // A call is over when another begins, so its name is whole.
        for before in self.slots.iter_mut().take(at).rev().take_while(|slot| slot.at.is_none()) {
            if !before.name.is_empty() {
                before.announce(out);
            }
        }
        let Some(slot) = self.slots.get_mut(at) else { return false };
        slot.take(piece, extras, out);
        // The legacy form has room for one call only, so it stays open for whatever else comes for it.
        if slot.at.is_some() && slot.is_whole() && self.legacy != Some(at) {
            self.ripe = Some(at);
        }
        true
    }

    /// Something else goes on, if only the call at `but`: a call that has all its arguments is over. Without it,
    /// protocols that say one part at a time could not say the next before the end of the answer.
    pub(super) fn close_ripe(&mut self, but: Option<usize>, events: &mut Vec<Event>) {
        let ripe = self.ripe.take_if(|at| Some(*at) != but).and_then(|at| self.slots.get_mut(at));
        // One that went on after its object stays open until the end, because it may go on again.
        if let Some(slot) = ripe.filter(|slot| slot.is_whole())
            && let Some(at) = slot.at
        {
            slot.closed = true;
            events.push(Event::Closed { at, extras: Extras::NONE });
        }
    }

    /// What comes for a call that is closed: blanks and stray brackets are noise; more arguments are another call of
    /// the same tool, as some servers put the arguments of several calls into one.
    fn after_close(&mut self, at: usize, piece: &mut Piece<'_>) -> Option<usize> {
        let Some(slot) = self.slots.get(at).filter(|slot| slot.closed) else { return Some(at) };
        let noise = |letter: char| letter.is_ascii_whitespace() || matches!(letter, '}' | ']');
        if piece.arguments.unwrap_or_default().chars().all(noise) {
            return None;
        }
        let mut next = Slot::new(piece);
        next.kind = slot.kind;
        if piece.name.is_none() {
            next.name.clone_from(&slot.name);
        }
        let same_id = piece.id.filter(|id| slot.id.as_deref() == Some(*id));
        let at = self.slots.len();
        self.slots.push(next);
        match piece.form {
            Form::Entry => {}
            Form::Legacy => self.legacy = Some(at),
        }
        if let Some(index) = piece.index {
            self.by_index.insert(index, at);
        }
        self.same(at, piece);
        // Two calls of one id could not be told apart by their results.
        piece.id.take_if(|_| same_id.is_some());
        Some(at)
    }

    /// The answer is over: calls that still wait are announced, and all are closed.
    pub(super) fn finish(&mut self, out: &mut Out<'_>) {
        for slot in &mut self.slots {
            if slot.at.is_none() && !(slot.name.is_empty() && slot.held.is_empty()) {
                slot.announce(out);
            }
        }
        let mut open: Vec<usize> =
            self.slots.iter().filter(|slot| !slot.closed).filter_map(|slot| slot.at).collect();
        open.sort_unstable();
        out.events.extend(open.into_iter().map(|at| Event::Closed { at, extras: Extras::NONE }));
    }

    fn route(&mut self, piece: &Piece<'_>) -> Option<usize> {
        if piece.form == Form::Legacy {
            let next = self.slots.len();
            let at = *self.legacy.get_or_insert(next);
            if at == next {
                self.slots.push(Slot::new(piece));
            }
            return Some(at);
        }
        let known = piece.id.and_then(|id| self.by_id.get(id)).copied();
        if let Some(at) = known {
            let repeated = self.slots.get(at).is_some_and(|slot| slot.repeats(piece));
            return (!repeated).then_some(at);
        }
        let indexed = piece.index.and_then(|index| self.by_index.get(&index)).copied();
        match (piece.id, piece.index, indexed) {
            (Some(_), Some(_), Some(at)) => self.new_id_at(at, piece),
            (Some(_), Some(_), None) => self.begin(piece),
            (Some(_), None, _) => self.new_id_alone(piece),
            (None, Some(_), Some(at)) => self.index_only(at, piece),
            (None, Some(_), None) => self.unknown_index(piece),
            (None, None, _) => self.nothing_said(piece),
        }
    }

    fn begin(&mut self, piece: &Piece<'_>) -> Option<usize> {
        let at = self.slots.len();
        self.slots.push(Slot::new(piece));
        if let Some(index) = piece.index {
            self.by_index.insert(index, at);
        }
        self.same(at, piece)
    }

    /// The piece is the slot's; an id that it brings leads there from now on.
    fn same(&mut self, at: usize, piece: &Piece<'_>) -> Option<usize> {
        if let Some(id) = piece.id {
            self.by_id.insert(id.to_owned(), at);
        }
        Some(at)
    }

    /// Rule 2: a new id where there is a call already.
    fn new_id_at(&mut self, at: usize, piece: &Piece<'_>) -> Option<usize> {
        let slot = self.slots.get(at)?;
        let late_id = slot.id.is_none() && slot.agrees(piece);
        if piece.name.is_none() || late_id { self.same(at, piece) } else { self.begin(piece) }
    }

    /// A new id and no index: another call, unless it has no name or the current call still lacks its id.
    fn new_id_alone(&mut self, piece: &Piece<'_>) -> Option<usize> {
        let current = self.current.and_then(|at| self.slots.get(at).map(|slot| (at, slot)));
        match current {
            Some((at, _)) if piece.name.is_none() => self.same(at, piece),
            Some((at, slot)) if slot.id.is_none() && !slot.is_finished() && slot.agrees(piece) => {
                self.same(at, piece)
            }
            Some(_) | None => self.begin(piece),
        }
    }

    /// Rule 3: no id, and an index that is known.
    fn index_only(&mut self, at: usize, piece: &Piece<'_>) -> Option<usize> {
        let slot = self.slots.get(at)?;
        if piece.name.is_some() {
            if slot.repeats(piece) {
                return None;
            }
            return if slot.is_over_for(piece) { self.begin(piece) } else { Some(at) };
        }
        let newest = self.slots.len().saturating_sub(1);
        let newer_open = at < newest && self.slots.get(newest).is_some_and(|slot| !slot.is_finished());
        Some(if slot.is_finished() && newer_open { newest } else { at })
    }

    /// Rule 4: no id, and an index that nobody began.
    fn unknown_index(&mut self, piece: &Piece<'_>) -> Option<usize> {
        if piece.name.is_some() {
            return self.begin(piece);
        }
        if piece.arguments.unwrap_or_default().trim().is_empty() {
            return None;
        }
        let newest = self.slots.len().checked_sub(1);
        match newest.filter(|at| self.slots.get(*at).is_some_and(|slot| !slot.is_finished())) {
            Some(open) => Some(open),
            None => self.begin(piece),
        }
    }

    /// Rule 5: neither id nor index.
    fn nothing_said(&mut self, piece: &Piece<'_>) -> Option<usize> {
        let Some((at, slot)) = self.current.and_then(|at| self.slots.get(at).map(|slot| (at, slot))) else {
            let says = piece.name.is_some() || !piece.arguments.unwrap_or_default().is_empty();
            return if says { self.begin(piece) } else { None };
        };
        if piece.name.is_none() {
            return Some(at);
        }
        if slot.repeats(piece) {
            return None;
        }
        let next = slot.is_over_for(piece) || slot.is_finished();
        if next { self.begin(piece) } else { Some(at) }
    }
}

impl Slot {
    fn new(piece: &Piece<'_>) -> Self {
        Self {
            id: None,
            name: String::new(),
            kind: piece.kind,
            form: piece.form,
            at: None,
            closed: false,
            ready: false,
            held: Vec::new(),
            seal: None,
            extras: Extras::NONE,
            scan: Scan::default(),
        }
    }

    /// The arguments are a whole JSON value; free text is never known to be whole.
    fn is_finished(&self) -> bool {
        self.kind == CallKind::Function && self.scan.is_finished()
    }

    /// No more arguments can come; unlike `is_finished` this has no doubt about placeholders and several values.
    fn is_whole(&self) -> bool {
        self.kind == CallKind::Function && self.scan.is_whole_object()
    }

    /// The piece says all over again what this finished call already said.
    fn repeats(&self, piece: &Piece<'_>) -> bool {
        let same_name = piece.name.is_none_or(|name| name == self.name);
        self.is_finished()
            && same_name
            && piece.arguments.is_some_and(|text| !text.is_empty() && self.scan.equals(text))
    }

    /// The piece's name can be this call's: it is the same, continues it, or the name is not settled yet.
    fn agrees(&self, piece: &Piece<'_>) -> bool {
        let settled = self.at.is_some() || self.ready;
        piece.name.is_none_or(|name| self.name.is_empty() || !settled || name == self.name)
    }

    /// A named piece that can't be this call's any more.
    fn is_over_for(&self, piece: &Piece<'_>) -> bool {
        let more = !piece.arguments.unwrap_or_default().is_empty();
        // `{}` may only have held the place of arguments that come now.
        let whole = self.is_finished() && !self.scan.is_placeholder();
        !self.agrees(piece) || (whole && more)
    }

    fn take(&mut self, piece: Piece<'_>, extras: Extras, out: &mut Out<'_>) {
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
        self.scan.push(text);
        match self.at {
            Some(at) if !text.is_empty() => out.events.push(delta(at, Delta::Arguments(text.to_owned()))),
            Some(_) => {}
            None => {
                if !text.is_empty() {
                    self.held.push(text.to_owned());
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
        if piece.starts_with(self.name.as_str()) {
            self.name = piece.to_owned();
        } else {
            self.name.push_str(piece);
        }
    }

    fn announce(&mut self, out: &mut Out<'_>) {
        let at = *out.parts;
        *out.parts += 1;
        self.at = Some(at);
        let id = self.id.clone().map_or_else(|| ids::mint(out.answer, at), CallId::Given);
        let mut extras = std::mem::take(&mut self.extras);
        match self.form {
            Form::Entry => {}
            Form::Legacy => extras.mark(ID, LEGACY),
        }
        if self.name.is_empty() {
            UNKNOWN_TOOL.clone_into(&mut self.name);
            extras.mark(ID, NAMELESS);
        }
        let kind = PartKind::ToolCall { id, name: self.name.clone(), kind: self.kind };
        out.events.push(Event::Opened { at, kind, extras });
        out.events.extend(self.seal.take().map(|seal| delta(at, Delta::Seal(seal))));
        out.events.extend(self.held.drain(..).map(|text| delta(at, Delta::Arguments(text))));
    }
}

fn delta(at: usize, delta: Delta) -> Event {
    Event::Delta { at, delta, extras: Extras::NONE }
}
