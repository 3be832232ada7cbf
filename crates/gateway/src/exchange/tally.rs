//! The tokens of a request: as its target reports them, and as we count them where it does not.

use rail_ledger::{Ending, Tokens};
use rail_model::{Delta, Event, Usage};
use rail_route::tokens;

/// What was seen of a request's tokens so far.
#[derive(Default)]
pub(super) struct Tally {
    usage: Usage,
    /// Output that passed here, as estimated.
    seen: u64,
    /// Output that is not estimated yet: mostly the target reports it in the end, and then it need not be.
    unseen: String,
}

/// So much output is estimated at once.
const AT_ONCE: usize = 4 << 10;

impl Tally {
    /// Follows an event.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Usage(usage) => self.usage.update(usage.clone()),
            Event::Delta {
                delta: Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments(text),
                ..
            } => {
                self.unseen.push_str(text);
                if self.unseen.len() >= AT_ONCE {
                    self.seen += tokens(&self.unseen);
                    self.unseen = String::new();
                }
            }
            Event::Started { .. }
            | Event::Opened { .. }
            | Event::Delta { .. }
            | Event::Closed { .. }
            | Event::Finished { .. }
            | Event::Failed(_)
            | Event::Ping
            | Event::Opaque(_) => {}
        }
    }

    /// What the target reported so far.
    pub(super) fn usage(&self) -> &Usage {
        &self.usage
    }

    /// The tokens to be recorded and paid for, of a request that was sent to a target and ended like this.
    ///
    /// What the target reported counts; what it did not report is estimated. Of an answer without an end the output that passed
    /// here counts at least: reports before the end say little. A failure before any content is free.
    pub(super) fn spent(&self, ending: Ending, estimated_input: u64) -> Usage {
        let Self { usage, .. } = self;
        let told_input = usage.input.or(usage.cache_read).or(usage.cache_write).is_some();
        let told_output = usage.output.or(usage.reasoning).is_some();
        let output = match ending {
            Ending::Failed | Ending::Refused => return nothing(),
            Ending::Answered if told_output => usage.output,
            Ending::Answered | Ending::Broken | Ending::Left => {
                let seen = self.seen + tokens(&self.unseen);
                let missing = seen.saturating_sub(usage.all_output());
                Some(usage.output.unwrap_or_default().saturating_add(missing))
            }
        };
        let input = if told_input { usage.input } else { Some(estimated_input) };
        Usage { input, output, ..usage.clone() }
    }
}

/// No tokens at all.
pub(super) fn nothing() -> Usage {
    Usage { input: Some(0), output: Some(0), ..Usage::default() }
}

/// As the ledger writes it.
pub(super) fn entry(usage: &Usage) -> Tokens {
    let count = Option::<u64>::unwrap_or_default;
    Tokens {
        input: count(usage.input),
        cache_read: count(usage.cache_read),
        cache_write: count(usage.cache_write),
        output: count(usage.output),
        reasoning: count(usage.reasoning),
    }
}

#[cfg(test)]
mod tests {
    use rail_model::Extras;

    use super::*;

    #[test]
    fn reported_tokens_count_and_others_are_estimated() {
        let all = Usage {
            input: Some(10),
            cache_read: Some(100),
            output: Some(5),
            reasoning: Some(2),
            ..Usage::default()
        };
        let first = Usage { input: Some(10), output: Some(1), ..Usage::default() };
        let cached = Usage { cache_read: Some(40), ..Usage::default() };
        let text = "seven words come to nine tokens here"; // as estimated
        let seen = tokens(text);
        for (about, reports, ending, expected) in [
            ("complete", vec![first.clone(), all.clone()], Ending::Answered, (10, 100, 5, 2)),
            ("nothing reported", vec![], Ending::Answered, (33, 0, seen, 0)),
            ("only cached input", vec![cached], Ending::Answered, (0, 40, seen, 0)),
            ("left after a first report", vec![first], Ending::Left, (10, 0, seen, 0)),
            ("broken without a report", vec![], Ending::Broken, (33, 0, seen, 0)),
            ("failed", vec![all], Ending::Failed, (0, 0, 0, 0)),
        ] {
            let mut tally = Tally::default();
            let delta = Delta::Text(text.to_owned());
            tally.event(&Event::Delta { at: 0, delta, extras: Extras::NONE });
            reports.into_iter().for_each(|usage| tally.event(&Event::Usage(usage)));
            let Tokens { input, cache_read, output, reasoning, .. } = entry(&tally.spent(ending, 33));
            assert_eq!((input, cache_read, output, reasoning), expected, "{about}");
        }
    }
}
