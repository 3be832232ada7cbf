use rail_model::{Delta, Event, Extras, PartKind};

/// What is being said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Text,
    Thinking,
}

/// Gives out parts: numbers them, and opens and closes those of text and reasoning.
pub(super) struct Speaker {
    /// Parts given out so far.
    next: usize,
    /// The text or reasoning that is being given out.
    open: Option<(usize, Kind)>,
    /// What the origin said besides, until there is an event to carry it.
    carry: Extras,
    /// What came besides words that are still held.
    pending: Vec<(Kind, Delta)>,
}

impl Speaker {
    pub(super) fn new() -> Self {
        Self { next: 0, open: None, carry: Extras::NONE, pending: Vec::new() }
    }

    /// The number of the next part.
    pub(super) fn number(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// Keeps what the origin said besides until something is given out.
    pub(super) fn carry(&mut self, extras: Extras) {
        self.carry.merge(extras);
    }

    /// Gives out words.
    pub(super) fn say(&mut self, kind: Kind, delta: Delta, out: &mut Vec<Event>) {
        self.give(kind, delta, out);
        self.say_pending(|known, _| known == kind, out);
    }

    fn give(&mut self, kind: Kind, delta: Delta, out: &mut Vec<Event>) {
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

    /// Whether words of this kind are being given out.
    pub(super) fn is_saying(&self, kind: Kind) -> bool {
        self.open.is_some_and(|(_, open)| open == kind)
    }

    /// Keeps what comes besides words until the words are given out.
    pub(super) fn wait(&mut self, kind: Kind, delta: Delta) {
        self.pending.push((kind, delta));
    }

    /// The words turned out to be a call, so nobody will see their tokens.
    pub(super) fn forget_tokens(&mut self) {
        self.pending.retain(|(_, delta)| !is_tokens(delta));
    }

    /// A part of this kind that came is over: what it had besides words goes with it.
    pub(super) fn end_part(&mut self, kind: Kind, out: &mut Vec<Event>) {
        self.say_pending(|known, delta| known == kind && !is_tokens(delta), out);
    }

    /// Everything is over.
    pub(super) fn end(&mut self, out: &mut Vec<Event>) {
        if self.open.is_none_or(|(_, kind)| kind != Kind::Text) {
            self.forget_tokens();
        }
        self.say_pending(|_, _| true, out);
        self.close(out);
    }

    fn say_pending(&mut self, ripe: impl Fn(Kind, &Delta) -> bool, out: &mut Vec<Event>) {
        if self.pending.is_empty() {
            return;
        }
        let (ripe, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().partition(|(kind, delta)| ripe(*kind, delta));
        self.pending = waiting;
        ripe.into_iter().for_each(|(kind, delta)| self.give(kind, delta, out));
    }

    /// The text or reasoning that is being given out is over.
    pub(super) fn close(&mut self, out: &mut Vec<Event>) {
        if let Some((at, _)) = self.open.take() {
            out.push(Event::Closed { at, extras: std::mem::take(&mut self.carry) });
        }
    }
}

fn is_tokens(delta: &Delta) -> bool {
    matches!(delta, Delta::Logprobs(_))
}
