//! What the machine wants, done in order.

use std::sync::Arc;

use rail_journal::{JournalError, Record};
use rail_model::{Purpose, Request};
use rail_proto::{Done, SessionEvent};
use tokio_util::sync::CancellationToken;

use super::ports::News;
use super::{Agent, Figures};
use crate::hooks::{CompactTrigger, HookEvent, StartSource, StopRound};
use crate::machine::{Effect, Input, StepId};

impl Agent {
    /// Gives the machine an input and does what it wants.
    pub(super) fn input(&mut self, input: Input) -> Result<(), JournalError> {
        let mut effects = Vec::new();
        self.machine.step(input, &mut effects);
        self.carry_out(effects)
    }

    /// Does the effects in order. What can't be written ends it: nothing that follows may be done then.
    pub(super) fn carry_out(&mut self, effects: Vec<Effect>) -> Result<(), JournalError> {
        for effect in effects {
            match effect {
                Effect::Persist(record) => {
                    let tells = matches!(record, Record::Told(_));
                    self.write(record)?;
                    if tells {
                        self.write_known()?;
                    }
                }
                Effect::Sync => self.writer.sync()?,
                Effect::Emit(event) => self.told(*event),
                Effect::Ask(step, request) => self.ask(step, request)?,
                Effect::RunTools(step, calls) => self.run_tools(step, calls),
                Effect::Cancel(step) => {
                    if let Some(cancel) = self.running.remove(&step) {
                        cancel.cancel();
                    }
                    self.turn = self.turn.take().filter(|(asked, _)| *asked != step);
                    self.withdraw_all();
                }
                Effect::Ending(step, text) => self.ending(step, text),
                Effect::Compacting(step, trigger, keep) => self.compacting(step, trigger, keep),
            }
        }
        Ok(())
    }

    /// Asks, unless the task and its agents have nothing left: that is looked at before a request, not after.
    fn ask(&mut self, step: StepId, mut request: Box<Request>) -> Result<(), JournalError> {
        if self.within.is_some() && request.purpose == Purpose::Main {
            request.purpose = Purpose::SubAgent;
        }
        let left = match request.purpose {
            // A summary is paid for, but is no turn.
            Purpose::Background => self.purse.open().map(|()| None),
            Purpose::Main | Purpose::SubAgent => self.purse.turn().map(|turn| Some((step, turn))),
        };
        match left {
            Ok(turn) => self.turn = turn,
            Err(why) => return self.input(Input::Exhausted(format!("the task was ended: {why}"))),
        }
        let cancel = self.token(step);
        self.tasks.spawn(Arc::clone(&self.asking).run(step, request, cancel));
        Ok(())
    }

    /// A token to cancel a step by; those of earlier steps are of no use any more.
    pub(super) fn token(&mut self, step: StepId) -> CancellationToken {
        self.running.retain(|_, token| !token.is_cancelled());
        let cancel = CancellationToken::new();
        self.running.insert(step, cancel.clone());
        cancel
    }

    fn told(&mut self, event: SessionEvent) {
        let event = match event {
            SessionEvent::Done(Done { reason, text, turns, cost_usd, .. }) => {
                self.running.clear();
                // What its agents and its tools have spent is part of what the task cost.
                let cost_usd =
                    if self.within.is_some() { cost_usd } else { cost_usd.max(self.purse.taken().usd) };
                let done = Done { reason, text, turns, cost_usd, ..self.figures() };
                // What waits begins the next task right behind this: its figures are its own.
                self.task = Figures::default();
                self.held = false;
                SessionEvent::Done(done)
            }
            SessionEvent::Prompted(prompt) => {
                if self.task.began.is_none() || !self.machine.is_busy() {
                    self.task_begins();
                }
                SessionEvent::Prompted(prompt)
            }
            SessionEvent::Spent(spent) => {
                self.task.api_ms += spent.duration_ms;
                SessionEvent::Spent(spent)
            }
            SessionEvent::Compacted(compacted) => {
                if compacted.by.is_some() {
                    self.begins_anew();
                }
                SessionEvent::Compacted(compacted)
            }
            other => other,
        };
        self.emit(event);
    }

    /// Hooks that add context at the beginning do so again behind a summary: what they added is part of it at best.
    fn begins_anew(&mut self) {
        if self.within.is_some() {
            return;
        }
        let model = Some(self.machine.head().model.clone());
        let event = HookEvent::SessionStart { source: StartSource::Compact, model };
        let (hooks, line) = (Arc::clone(&self.hooks), self.line.clone());
        self.tasks.spawn(async move {
            let outcome = Box::new(hooks.run(&event, &CancellationToken::new()).await);
            line.tell(News::Began { outcome });
        });
    }

    /// Hooks hear that the user is waited for; nothing waits for them.
    pub(super) fn notify(&mut self, kind: &str, message: String) {
        let event = HookEvent::Notification { kind: kind.to_owned(), title: None, message };
        let (hooks, line) = (Arc::clone(&self.hooks), self.line.clone());
        self.tasks.spawn(async move {
            let outcome = Box::new(hooks.run(&event, &CancellationToken::new()).await);
            line.tell(News::Hooked { event: "Notification", outcome });
        });
    }

    /// Asks the hooks whether the task may end.
    fn ending(&mut self, step: StepId, text: String) {
        let round = if self.held { StopRound::Again } else { StopRound::First };
        let last_message = (!text.is_empty()).then_some(text);
        let event = match &self.within {
            None => HookEvent::Stop { last_message, round },
            Some(within) => HookEvent::SubagentStop {
                id: within.id.as_str().to_owned(),
                agent_type: within.kind.clone(),
                transcript: Some(self.writer.folder().join("journal.jsonl")),
                last_message,
                round,
            },
        };
        let (hooks, line, cancel) = (Arc::clone(&self.hooks), self.line.clone(), self.token(step));
        self.tasks.spawn(async move {
            let outcome = Box::new(hooks.run(&event, &cancel).await);
            line.tell(News::MayEnd { step, outcome });
        });
    }

    /// Asks the hooks whether the conversation may be made shorter.
    fn compacting(&mut self, step: StepId, trigger: CompactTrigger, keep: Option<String>) {
        let event = HookEvent::PreCompact { trigger, instructions: keep.unwrap_or_default() };
        let (hooks, line, cancel) = (Arc::clone(&self.hooks), self.line.clone(), self.token(step));
        self.tasks.spawn(async move {
            let outcome = Box::new(hooks.run(&event, &cancel).await);
            line.tell(News::MayCompact { step, outcome });
        });
    }
}
