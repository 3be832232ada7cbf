//! Which call a piece of a call belongs to.
//!
//! By the book the first piece carries index, id and name, later ones the index. In the field any of them is missing,
//! repeated, late or wrong; the rules here are those of "Slot routing" in the tool-call spec, but for the ones that
//! need the declared tools or all of the arguments, which are the repair stage's.

use std::collections::{BTreeMap, BTreeSet};

use rail_model::{Event, Extras};

use super::slot::{Form, Out, Piece, Slot};

/// All calls of an answer.
#[derive(Default, Debug)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    by_id: BTreeMap<String, usize>,
    by_index: BTreeMap<u64, usize>,
    /// The names with which calls began.
    begun: BTreeSet<String>,
    current: Option<usize>,
    legacy: Option<usize>,
    /// The call that got the last piece, if that made its arguments whole.
    ripe: Option<usize>,
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
        if piece.arguments.unwrap_or_default().chars().all(noise) || slot.repeats(piece) {
            return None;
        }
        let mut next = Slot::new(piece);
        next.again = true;
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
            if slot.at.is_none() && slot.is_said() {
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
        self.begun.extend(piece.name.map(str::to_owned));
        if let Some(index) = piece.index {
            self.by_index.insert(index, at);
        }
        self.same(at, piece)
    }

    /// Begins a call that only its arguments tell from one before, which may be that one said again.
    fn begin_again(&mut self, piece: &Piece<'_>) -> Option<usize> {
        let again = piece.name.is_some_and(|name| self.begun.contains(name));
        let at = self.begin(piece)?;
        self.slots.get_mut(at)?.again = again;
        Some(at)
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
            return if slot.is_over_for(piece) { self.begin_again(piece) } else { Some(at) };
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
        if next { self.begin_again(piece) } else { Some(at) }
    }
}
