//! What is done so that the conversation fits the window: trimming, a summary in two passes, truncation.

use rail_journal::{Cause, Compacted, Record};
use rail_model::{Message, Purpose, Reply, Request, Sampling};
use rail_proto::{NoteKind, SessionEvent};

use super::{Effect, Machine, Room, State, StepId, Summaries, Task, emit};
use crate::context::{self, CompactionPlan, Next, Summary, Tried};
use crate::hooks::CompactTrigger;

/// A summary that is being made.
#[derive(Clone, Debug)]
pub(super) struct Making {
    plan: CompactionPlan,
    /// The first pass, once it is there.
    first: Option<Summary>,
    before: u64,
    why: Why,
}

/// Why the conversation is made shorter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Why {
    /// The next request would not fit.
    Full,
    /// The user wants it, while nothing else is done.
    Asked,
    /// The user wanted it while something was done, which goes on.
    AskedBusy,
}

impl Machine {
    pub(super) fn compact(&mut self, keep: Option<String>, out: &mut Vec<Effect>) {
        if self.is_busy() {
            self.compact_wanted = Some(keep);
        } else if !self.summarise(keep.as_deref(), Why::Asked, out) {
            note(out, "there is nothing to make shorter: the conversation is only its last steps");
        }
    }

    /// Makes the conversation fit. False when the next request has to wait for a summary.
    pub(super) fn fit(&mut self, out: &mut Vec<Effect>) -> bool {
        if let Some(keep) = self.compact_wanted.take()
            && self.summarise(keep.as_deref(), Why::AskedBusy, out)
        {
            return false;
        }
        let Some(limits) = self.room else { return true };
        loop {
            let budget = self.account.budget(limits.limit, limits.output);
            match context::next(&self.account, &budget, self.task.tried) {
                Next::Go => return true,
                Next::Trim => {
                    self.task.tried = Tried::Trim;
                    if let Some(trimmed) = context::trim(self.window.messages(), &budget) {
                        self.replace(trimmed.messages, Cause::Trimmed, None, out);
                    }
                }
                Next::Compact => {
                    if self.bounds.summaries == Summaries::Due && self.summarise(None, Why::Full, out) {
                        return false;
                    }
                    self.task.tried = Tried::Compaction;
                }
                Next::Truncate => {
                    let messages = context::truncate(self.window.messages(), &budget);
                    self.replace(messages, Cause::Full, None, out);
                    return true;
                }
            }
        }
    }

    /// Begins a summary; false when there is nothing to summarise.
    fn summarise(&mut self, keep: Option<&str>, why: Why, out: &mut Vec<Effect>) -> bool {
        let all = self.account.total();
        // Where nobody knows how much fits, what is there is taken for it: it was answered so far.
        let room = self.room.unwrap_or(Room { limit: all, output: all / 4, reads: None });
        let budget = self.account.budget(room.limit, room.output);
        // More than fits the window there is hardly to read.
        let reads = room.reads.map_or(budget.input(), |reads| reads.min(budget.input()));
        let Some(plan) = context::plan(self.window.messages(), &budget, reads, keep) else {
            return false;
        };
        self.step += 1;
        let (step, making) = (self.step, Box::new(Making { plan, first: None, before: all, why }));
        let trigger = if why == Why::Full { CompactTrigger::Auto } else { CompactTrigger::Manual };
        self.state = State::Due { step, making };
        out.push(Effect::Compacting(step, trigger, keep.map(str::to_owned)));
        true
    }

    /// Asks for the summary that is due, unless somebody objects.
    pub(super) fn may_compact(&mut self, step: StepId, blocked: Option<String>, out: &mut Vec<Effect>) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Due { step: now, making } if now == step => match blocked {
                Some(why) => self.not_summarised(&making, &format!("a hook did not let it: {why}"), out),
                None => {
                    emit(out, SessionEvent::Compacting);
                    let ask = making.plan.ask.clone();
                    self.ask_summary(*making, ask, out);
                }
            },
            other => self.state = other,
        }
    }

    fn ask_summary(&mut self, making: Making, messages: Vec<Message>, out: &mut Vec<Effect>) {
        self.step += 1;
        let step = self.step;
        // Room for what a model thinks before it writes.
        let max_output = Some(making.plan.most_tokens.saturating_mul(2).max(1024));
        let request = Request {
            model: self.head.model.clone(),
            messages,
            purpose: Purpose::Background,
            sampling: Sampling { max_output, ..Sampling::default() },
            stream: true,
            ..Request::default()
        };
        self.state = State::Summarising { step, said: Box::default(), making: Box::new(making) };
        out.push(Effect::Ask(step, Box::new(request)));
    }

    /// A pass of the summary is there, or is not to be had.
    pub(super) fn summary_ended(
        &mut self,
        mut making: Making,
        answer: Result<Reply, String>,
        by: &str,
        out: &mut Vec<Effect>,
    ) {
        let reply = match answer {
            Ok(reply) => reply,
            Err(why) => match making.first.take() {
                // The second pass only looks over the first.
                Some(first) => return self.summarised(&making, &first, by, out),
                None => return self.not_summarised(&making, &why, out),
            },
        };
        match making.first.take() {
            None => match context::check(&reply, &making.plan) {
                Ok(summary) => {
                    let ask = context::second(&summary, &making.plan);
                    self.ask_summary(Making { first: Some(summary), ..making }, ask, out);
                }
                Err(why) => self.not_summarised(&making, &why.to_string(), out),
            },
            Some(first) => {
                let summary = context::settled(first, &reply, &making.plan);
                self.summarised(&making, &summary, by, out);
            }
        }
    }

    fn summarised(&mut self, making: &Making, summary: &Summary, by: &str, out: &mut Vec<Effect>) {
        let cause = if making.why == Why::Full { Cause::Full } else { Cause::Asked };
        let messages = context::window(summary, &making.plan);
        self.replace(messages, cause, Some(by.to_owned()), out);
        self.task.tried = Tried::Compaction;
        self.after_summary(making.why, out);
    }

    /// Without a summary plain truncation stands in where the next request would not fit otherwise.
    fn not_summarised(&mut self, making: &Making, why: &str, out: &mut Vec<Effect>) {
        let before = making.before;
        match making.why {
            Why::Full => {
                note(out, &format!("no summary could be made of {before} tokens ({why}); the oldest are cut"))
            }
            Why::Asked | Why::AskedBusy => {
                note(out, &format!("no summary could be made ({why}); nothing was changed"))
            }
        }
        if making.why == Why::Full {
            self.task.tried = Tried::Compaction;
        }
        self.after_summary(making.why, out);
    }

    fn after_summary(&mut self, why: Why, out: &mut Vec<Effect>) {
        self.state = State::Idle;
        match why {
            Why::Full | Why::AskedBusy => self.request(out),
            Why::Asked => self.next_task(out),
        }
    }

    /// What the user said meanwhile begins the next task.
    pub(super) fn next_task(&mut self, out: &mut Vec<Effect>) {
        if !self.window.queued().is_empty() {
            self.task = Task::default();
            self.request(out);
        } else {
            self.told(out);
        }
    }

    /// The conversation stays as it is, for this reason, and what the user said meanwhile begins the next task.
    pub(super) fn left_as_it_is(&mut self, why: &str, out: &mut Vec<Effect>) {
        note(out, &format!("{why}; nothing was changed"));
        self.next_task(out);
    }

    fn replace(&mut self, window: Vec<Message>, cause: Cause, by: Option<String>, out: &mut Vec<Effect>) {
        let before = self.account.total();
        self.persist(Record::Compacted(Compacted { window, cause, by: by.clone() }), out);
        out.push(Effect::Sync);
        let asked_for = cause == Cause::Asked;
        let after = self.account.total();
        emit(out, SessionEvent::Compacted(rail_proto::Compacted { before, after, by, asked_for }));
    }
}

impl Making {
    /// Whether nothing else is done meanwhile.
    pub(super) fn is_all_there_is(&self) -> bool {
        self.why == Why::Asked
    }
}

fn note(out: &mut Vec<Effect>, text: &str) {
    emit(out, SessionEvent::Note { kind: NoteKind::Context, text: text.to_owned() });
}
