//! Answers as they come, and what they come to.

use rail_model::{Assembler, Delta, Event, Message, Part, PartBody, PartKind, Reply, Role, Stop};
use rail_proto::{Reason, SessionEvent, Spent};

use rail_journal::{Partial, Record, Running, Said, calls};

use super::compact::Making;
use super::{AskFailure, Effect, FailureKind, Machine, Room, State, StepId, emit};

/// What the model is told whose answer was cut off by the limit of its output.
const GO_ON: &str = "Your answer was cut off by the limit of its length. Go on exactly where it stopped.";
/// What the model is told that said nothing at all.
const SAY_SOMETHING: &str =
    "Your answer was empty. Go on with the task, or say that it is done and what the result is.";
/// What the model is told whose server could not read the call that it wrote.
const CALL_AGAIN: &str =
    "The call that you wrote could not be read. Write it again, with arguments that are one JSON object.";

impl Machine {
    pub(super) fn reply(&mut self, step: StepId, events: Vec<Event>, out: &mut Vec<Effect>) {
        if let State::Summarising { step: now, said, .. } = &mut self.state
            && *now == step
        {
            return events.into_iter().for_each(|event| said.push(event));
        }
        let State::Asking { step: now, said, shown } = &mut self.state else { return };
        if *now != step {
            return;
        }
        let mut news = Vec::new();
        let mut partial = Partial { step, ..Partial::default() };
        for event in events {
            news.extend(told(&event, &mut partial));
            said.push(event);
        }
        *shown = *shown || !news.is_empty();
        if !partial.text.is_empty() || !partial.thinking.is_empty() {
            // Before it is shown: whoever saw it must find it again, whatever happens to us.
            self.persist(Record::Partial(partial), out);
        }
        news.into_iter().for_each(|event| emit(out, event));
    }

    pub(super) fn reply_ended(&mut self, step: StepId, spent: Spent, out: &mut Vec<Effect>) {
        if let Some((said, making)) = self.take_summarising(step) {
            self.pay(&spent);
            let by = spent.target.clone();
            self.persist(written(&Spent { step, ..spent.clone() }), out);
            emit(out, SessionEvent::Spent(Spent { step, window: self.full(), ..spent }));
            let answer = match said.finish() {
                Some(Ok(reply)) => Ok(reply),
                Some(Err(error)) => Err(error.message),
                None => Err("the answer had no end".to_owned()),
            };
            return self.summary_ended(*making, answer, &by, out);
        }
        let Some((said, shown)) = self.take_asking(step) else { return };
        self.pay(&spent);
        let reply = match said.finish() {
            Some(Ok(reply)) => Ok(reply),
            Some(Err(error)) => Err(error.message),
            None => Err("the answer had no end".to_owned()),
        };
        let reply = match reply {
            Ok(reply) => reply,
            Err(why) => {
                let spent = Spent { step, window: self.full(), ..spent };
                self.persist(written(&spent), out);
                emit(out, SessionEvent::Spent(spent));
                return self.broke(step, shown, why, out);
            }
        };
        self.task.turns += 1;
        self.task.broke = 0;
        self.task.squeezed = false;
        self.account.reported(spent.usage.all_input());
        let Reply { parts, stop, .. } = reply;
        let message =
            Message::new(Role::Assistant, parts.into_iter().filter(|part| !is_empty(part)).collect());
        let (calls, text) = (calls(&message), text_of(&message));
        if !message.parts.is_empty() {
            self.persist(Record::Message(Said { step, message: message.clone() }), out);
        }
        let spent = Spent { step, window: self.full(), ..spent };
        self.persist(written(&spent), out);
        emit(out, SessionEvent::Said { step, message });
        emit(out, SessionEvent::Spent(spent));
        if !text.is_empty() {
            self.task.text.clone_from(&text);
        }
        if !calls.is_empty() {
            let ids = calls.iter().map(|call| call.id.as_str().to_owned()).collect();
            self.persist(Record::Running(Running { step, calls: ids }), out);
            out.push(Effect::Sync);
            self.state = State::Executing { step };
            out.push(Effect::RunTools(step, calls));
            return;
        }
        self.after(step, &stop, text, out);
    }

    /// What follows an answer without calls.
    fn after(&mut self, step: StepId, stop: &Stop, text: String, out: &mut Vec<Effect>) {
        match stop {
            Stop::Refusal => self.finish(Reason::Refused, text, out),
            Stop::Pause => self.request(out),
            Stop::ContextFull => self.too_long("the context window is full".to_owned(), out),
            Stop::MaxTokens => self.nudge(GO_ON, "the answers are cut off by the limit of their length", out),
            Stop::MalformedCall => self.nudge(CALL_AGAIN, "the model writes calls that can't be read", out),
            Stop::EndTurn | Stop::StopSequence(_) | Stop::ToolUse | Stop::Other(_) if text.is_empty() => {
                self.nudge(SAY_SOMETHING, "the model's answers are empty", out);
            }
            Stop::EndTurn | Stop::StopSequence(_) | Stop::ToolUse | Stop::Other(_) => {
                if self.window.queued().is_empty() {
                    self.state = State::Ending { step, text: text.clone() };
                    out.push(Effect::Ending(step, text));
                } else {
                    self.request(out);
                }
            }
        }
    }

    /// Tells the model to do better, a few times.
    fn nudge(&mut self, words: &str, why: &str, out: &mut Vec<Effect>) {
        if self.task.nudged >= self.bounds.nudges {
            return self.finish(Reason::Failed, format!("the task was given up: {why}"), out);
        }
        self.task.nudged += 1;
        self.tell.push(words.to_owned());
        self.request(out);
    }

    pub(super) fn reply_failed(&mut self, step: StepId, failure: AskFailure, out: &mut Vec<Effect>) {
        if let Some((_, making)) = self.take_summarising(step) {
            return self.summary_ended(*making, Err(failure.why), "", out);
        }
        let Some((said, shown)) = self.take_asking(step) else { return };
        match failure.kind {
            FailureKind::Broke => self.broke(step, shown, failure.why, out),
            FailureKind::TooLong if !shown => self.too_long(failure.why, out),
            FailureKind::TooLong | FailureKind::Final => {
                self.keep_said(step, &said, out);
                self.finish(Reason::Failed, failure.why, out);
            }
        }
    }

    /// Asks again; what was shown of the answer is void, and the user sees that.
    fn broke(&mut self, step: StepId, shown: bool, why: String, out: &mut Vec<Effect>) {
        if shown {
            self.persist(Record::Void(step), out);
        }
        emit(out, SessionEvent::Restarted { step, why: why.clone() });
        if self.task.broke >= self.bounds.tries {
            return self.finish(Reason::Failed, why, out);
        }
        self.task.broke += 1;
        self.request(out);
    }

    /// A target says that the conversation is too long: it is made shorter and asked again, once.
    fn too_long(&mut self, why: String, out: &mut Vec<Effect>) {
        if self.task.squeezed {
            return self.finish(Reason::Failed, why, out);
        }
        self.task.squeezed = true;
        // What it takes is less than we thought; how much less, nobody says.
        let limit = self.account.total().saturating_mul(8) / 10;
        let output = self.room.map_or(0, |room| room.output.min(limit / 4));
        let limit = self.room.map_or(limit, |room| room.limit.min(limit));
        let reads = self.room.and_then(|room| room.reads);
        self.room = Some(Room { limit, output, reads });
        self.request(out);
    }

    fn pay(&mut self, spent: &Spent) {
        self.task.usd += spent.cost_usd.unwrap_or_default();
        self.task.tokens = self.task.tokens.saturating_add(self.used(spent));
    }

    /// The tokens that an answer took. Who does not say what it took is taken to have read all that it was sent.
    fn used(&self, spent: &Spent) -> u64 {
        Some(spent.usage.total()).filter(|used| *used > 0).unwrap_or_else(|| self.account.total())
    }

    /// How full the window is.
    pub(crate) fn full(&self) -> rail_proto::Window {
        rail_proto::Window { tokens: self.account.total(), limit: self.room.map(|room| room.limit) }
    }

    /// The summary of this step, if it is the one that is waited for.
    fn take_summarising(&mut self, step: StepId) -> Option<(Box<Assembler>, Box<Making>)> {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Summarising { step: now, said, making } if now == step => Some((said, making)),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Keeps the text of an answer that does not come to its end; calls in it were never run, and are left out.
    pub(super) fn keep_said(&mut self, step: StepId, said: &Assembler, out: &mut Vec<Effect>) {
        let texts = said.parts().iter().filter(|part| part.as_text().is_some_and(|text| !text.is_empty()));
        let parts: Vec<Part> = texts.cloned().collect();
        if parts.is_empty() {
            return self.persist(Record::Void(step), out);
        }
        let message = Message::new(Role::Assistant, parts);
        self.persist(Record::Message(Said { step, message: message.clone() }), out);
        emit(out, SessionEvent::Said { step, message });
    }

    /// The answer of this step, if it is the one that is waited for.
    pub(super) fn take_asking(&mut self, step: StepId) -> Option<(Box<Assembler>, bool)> {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Asking { step: now, said, shown } if now == step => Some((said, shown)),
            other => {
                self.state = other;
                None
            }
        }
    }
}

/// What an answer took, as it is written down.
pub(crate) fn written(spent: &Spent) -> Record {
    let Spent { step, target, usage, cost_usd, .. } = spent;
    let (target, usage) = (target.clone(), usage.clone());
    Record::Usage(rail_journal::Spent { step: *step, target, usage, cost_usd: *cost_usd })
}

/// What listeners are told of an event; what they see of it is added to `partial`.
fn told(event: &Event, partial: &mut Partial) -> Option<SessionEvent> {
    let step = partial.step;
    match event {
        Event::Delta { delta: Delta::Text(text), .. } if !text.is_empty() => {
            partial.text.push_str(text);
            Some(SessionEvent::Text { step, text: text.clone() })
        }
        Event::Delta { delta: Delta::Thinking(text), .. } if !text.is_empty() => {
            partial.thinking.push_str(text);
            Some(SessionEvent::Thinking { step, text: text.clone() })
        }
        Event::Opened { kind: PartKind::ToolCall { name, .. }, .. } => {
            Some(SessionEvent::Calling { step, name: name.clone() })
        }
        Event::Started { .. }
        | Event::Opened { .. }
        | Event::Delta { .. }
        | Event::Closed { .. }
        | Event::Usage(_)
        | Event::Finished { .. }
        | Event::Failed(_)
        | Event::Ping
        | Event::Opaque(_) => None,
    }
}

/// A text of nothing is refused by most providers when it comes back to them.
fn is_empty(part: &Part) -> bool {
    part.as_text().is_some_and(str::is_empty)
}

fn text_of(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) => Some(text.as_str()),
        PartBody::Thinking(_)
        | PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::ToolResult(_)
        | PartBody::Media(_)
        | PartBody::Opaque(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
