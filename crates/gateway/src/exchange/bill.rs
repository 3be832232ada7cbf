//! What a request costs: the answer, and sends that brought none but whose targets reported what they used.

use rail_ledger::Money;
use rail_model::Usage;
use rail_route::Target;
use rail_upstream::{Outcome, Sent};

/// Sends that brought no answer, with what their targets reported.
#[derive(Default)]
pub(super) struct InVain {
    reported: Vec<(Target, Usage)>,
    /// Where among them the first complete answer is that had nothing in it.
    first_empty: Option<usize>,
    /// An answer came in the end.
    answered: bool,
}

impl InVain {
    /// Hears of a send that came to its end.
    pub(super) fn hear(&mut self, sent: &Sent) {
        match &sent.outcome {
            Outcome::Answered => self.answered = true,
            Outcome::Empty => {
                self.first_empty.get_or_insert(self.reported.len());
                self.add(sent);
            }
            Outcome::Failed { .. } | Outcome::Left => self.add(sent),
        }
    }

    fn add(&mut self, sent: &Sent) {
        let usage = sent.reported.as_deref().cloned().unwrap_or_default();
        self.reported.push((sent.target.clone(), usage));
    }

    /// What they used, of a request that this target answered. Where there is no better answer, an empty one is given, which
    /// reports for itself.
    pub(super) fn used(mut self, by: Option<&Target>) -> Vec<(Target, Usage)> {
        if let Some(first) = self.first_empty.filter(|_| by.is_some() && !self.answered) {
            self.reported.remove(first);
        }
        self.reported.retain(|(_, usage)| usage.total() > 0);
        self.reported
    }
}

/// A bill as it grows.
#[derive(Default)]
pub(super) struct Bill {
    /// All tokens.
    pub(super) tokens: Usage,
    known: Option<Money>,
    unknown: bool,
}

impl Bill {
    /// Adds tokens, at their cost if it is known.
    pub(super) fn add(&mut self, tokens: &Usage, cost: Option<Money>) {
        let sum = |slot: &mut Option<u64>, more: Option<u64>| {
            *slot = Some(slot.unwrap_or_default().saturating_add(more.unwrap_or_default()));
        };
        sum(&mut self.tokens.input, tokens.input);
        sum(&mut self.tokens.cache_read, tokens.cache_read);
        sum(&mut self.tokens.cache_write, tokens.cache_write);
        sum(&mut self.tokens.output, tokens.output);
        sum(&mut self.tokens.reasoning, tokens.reasoning);
        match cost {
            Some(Money(more)) => {
                self.known = Some(Money(self.known.unwrap_or_default().0.saturating_add(more)));
            }
            None => self.unknown |= tokens.total() > 0,
        }
    }

    /// What is known of the cost; none where nothing is. What cost nothing is known to.
    pub(super) fn cost(&self) -> Option<Money> {
        if self.unknown { self.known } else { Some(self.known.unwrap_or_default()) }
    }
}
