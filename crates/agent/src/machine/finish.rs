//! Results of calls, interruptions, and the end of a task.

use rail_journal::{Ended, Record, Said};
use rail_model::{Message, Part, PartBody, Role, ToolCall, ToolResult};
use rail_proto::{Finish, NoteKind, Reason, SessionEvent, ToolEnd};

use super::{Effect, Machine, State, StepId, Verdict, done, emit};

const INTERRUPTED: &str =
    "the user interrupted this call; it may have been done in part, so look before you do it again";
const UNKNOWN: &str =
    "rail ended while this call ran, so nobody knows what became of it; look before you do it again";
const NOT_BEGUN: &str = "rail ended before this call was begun; it was not done";

impl Machine {
    pub(super) fn tool_done(&mut self, step: StepId, end: ToolEnd, out: &mut Vec<Effect>) {
        let State::Executing { step: now } = self.state else { return };
        let waited = self.window.open().is_some_and(|open| {
            open.step == step && open.missing().any(|call| call.id.as_str() == end.result.id.as_str())
        });
        if now != step || !waited {
            return;
        }
        self.watch_circles(&end.result, out);
        self.give(step, ToolEnd { step, ..end }, out);
        if self.window.open().is_none() {
            match self.task.circle.take() {
                _ if self.task.last_calls => self.finish(Reason::Interrupted, "interrupted".to_owned(), out),
                Some(why) => self.finish(Reason::Failed, why, out),
                None => self.request(out),
            }
        }
    }

    /// A model that goes round in circles is told so, and in the end stopped.
    fn watch_circles(&mut self, result: &ToolResult, out: &mut Vec<Effect>) {
        let open = self.window.open();
        let call =
            open.and_then(|open| open.missing().find(|call| call.id.as_str() == result.id.as_str()).cloned());
        let Some(call) = call else { return };
        match self.repeats.saw(&call, result) {
            Verdict::Fine => {}
            Verdict::Tell(words) => {
                emit(out, SessionEvent::Note { kind: NoteKind::Loop, text: words.clone() });
                self.tell.push(words);
            }
            Verdict::Stop(why) => self.task.circle = Some(why),
        }
    }

    /// Writes a result down, and only then shows it.
    fn give(&mut self, step: StepId, end: ToolEnd, out: &mut Vec<Effect>) {
        let parts = vec![Part::new(PartBody::ToolResult(end.result.clone()))];
        let message = Message::new(Role::Tool, parts);
        self.persist(Record::Results(Said { step, message }), out);
        out.push(Effect::Sync);
        emit(out, SessionEvent::ToolEnd(end));
    }

    /// Ends whatever is done, at once. An answer that is there stays one.
    pub(super) fn stop(&mut self, reason: Reason, text: String, out: &mut Vec<Effect>) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => return,
            State::Asking { step, said, .. } => {
                out.push(Effect::Cancel(step));
                self.keep_said(step, &said, out);
            }
            State::Executing { step } => {
                out.push(Effect::Cancel(step));
                self.close(INTERRUPTED, INTERRUPTED, Finish::Cancelled, out);
            }
            State::Due { step, making } | State::Summarising { step, making, .. } => {
                out.push(Effect::Cancel(step));
                if making.is_all_there_is() {
                    return self.left_as_it_is("the summary was interrupted", out);
                }
            }
            State::Ending { step, text } => {
                out.push(Effect::Cancel(step));
                return self.finish(Reason::Answered, text, out);
            }
        }
        self.finish(reason, text, out);
    }

    pub(super) fn may_end(&mut self, step: StepId, instead: Option<String>, out: &mut Vec<Effect>) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Ending { step: now, text } if now == step => match instead {
                // Whoever holds a task must bring it on: the same answer again and again does not.
                Some(words) => match self.repeats.said(&text) {
                    Verdict::Stop(why) => self.finish(Reason::Failed, why, out),
                    Verdict::Fine | Verdict::Tell(_) => {
                        self.tell.push(words);
                        self.request(out);
                    }
                },
                None if !self.window.queued().is_empty() => self.request(out),
                None => self.finish(Reason::Answered, text, out),
            },
            other => self.state = other,
        }
    }

    /// Ends the task. What the user said meanwhile begins the next one, unless the user's own limits ended this one.
    pub(super) fn finish(&mut self, reason: Reason, text: String, out: &mut Vec<Effect>) {
        self.state = State::Idle;
        self.told(out);
        self.persist(Record::Ended(Ended { reason: word(reason).to_owned() }), out);
        out.push(Effect::Sync);
        emit(out, done(reason, text, &self.task));
        match reason {
            Reason::Answered | Reason::Interrupted | Reason::Refused => self.next_task(out),
            Reason::TurnLimit | Reason::Budget | Reason::Failed => {}
        }
    }

    /// Closes what an ended process left open, so that the conversation is whole again.
    pub(super) fn mend(&mut self, out: &mut Vec<Effect>) {
        if let Some((step, text)) = self.window.partial() {
            let message = Message::new(Role::Assistant, vec![Part::text(text)]);
            self.persist(Record::Message(Said { step, message }), out);
        }
        self.close(UNKNOWN, NOT_BEGUN, Finish::Unknown, out);
    }

    /// Gives every call that has no result one.
    fn close(&mut self, begun: &str, not_begun: &str, finish: Finish, out: &mut Vec<Effect>) {
        let Some(open) = self.window.open().cloned() else { return };
        for call in open.missing() {
            let say = if open.has_begun(call) { begun } else { not_begun };
            let end = ToolEnd {
                step: open.step,
                result: result(call, say),
                success: false,
                end: finish,
                shown: None,
                duration_ms: 0,
            };
            self.give(open.step, end, out);
        }
    }
}

fn result(call: &ToolCall, say: &str) -> ToolResult {
    ToolResult {
        id: call.id.clone(),
        name: Some(call.name.clone()),
        content: vec![Part::text(say)],
        is_error: Some(true),
        kind: call.kind,
    }
}

/// The reason in the words of the result.
pub(crate) fn word(reason: Reason) -> &'static str {
    match reason {
        Reason::Answered => "answered",
        Reason::TurnLimit => "turn_limit",
        Reason::Budget => "budget",
        Reason::Refused => "refused",
        Reason::Interrupted => "interrupted",
        Reason::Failed => "failed",
    }
}
