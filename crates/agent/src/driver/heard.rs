//! What comes from what runs beside the driver.

use rail_journal::{JournalError, Record, Snapshot};
use rail_model::Part;
use rail_proto::{NoteKind, SessionEvent, Spent, ToolStart};
use rail_tool::{End, Outcome, OutputNote, ToolEvent};
use serde_json::Value;

use super::ports::News;
use super::{Agent, show};
use crate::hooks::HookOutcome;
use crate::machine::{Input, StepId};

impl Agent {
    pub(super) fn heard(&mut self, news: News) -> Result<(), JournalError> {
        match news {
            News::Reply(step, events) => self.input(Input::Reply(step, events)),
            News::Routed(routed) => {
                self.emit(SessionEvent::Routed(routed));
                Ok(())
            }
            News::Note(kind, text) => {
                self.note(kind, text);
                Ok(())
            }
            News::Room(room) => self.input(Input::Room(room)),
            News::ReplyEnded(step, spent) => {
                self.paid(step, &spent);
                self.input(Input::ReplyEnded(step, spent))
            }
            News::ReplyFailed(step, failure) => {
                // There was no answer: the turn is given back.
                self.turn = self.turn.take().filter(|(asked, _)| *asked != step);
                self.input(Input::ReplyFailed(step, failure))
            }
            News::Tool(step, event) => self.tool(step, event),
            News::Ask { call, question, answer } => {
                let id = call.id.clone();
                let ask = show::permission(*call, &question);
                self.task.ways.insert(id.clone(), ask.without_anybody.clone());
                self.asks.insert(id, (question, answer));
                let waits = format!("rail needs your permission to use {}", ask.tool);
                self.notify("permission_prompt", waits);
                self.emit(SessionEvent::Permission(ask));
                Ok(())
            }
            News::Choose { id, choices, answer } => {
                self.choices.insert(id.clone(), answer);
                self.notify("elicitation_dialog", "rail has a question for you".to_owned());
                self.emit(SessionEvent::Choice { id, choices });
                Ok(())
            }
            News::Withdrawn { id } => {
                self.withdraw(&id);
                Ok(())
            }
            News::Hooked { event, outcome } => {
                self.hook_said(event, &outcome);
                Ok(())
            }
            News::Submitted { outcome } => {
                let Some(prompt) = self.prompts.pop_front() else { return Ok(()) };
                self.submitted(prompt, *outcome)?;
                if std::mem::take(&mut self.withdrawn) {
                    self.input(Input::Interrupt)?;
                }
                self.next_prompt();
                Ok(())
            }
            News::MayEnd { step, outcome } => {
                self.hook_said("Stop", &outcome);
                let instead = outcome.blocked.filter(|_| outcome.stop.is_none());
                self.held = self.held || instead.is_some();
                self.input(Input::MayEnd(step, instead))
            }
            News::Began { outcome } => {
                self.hook_said("SessionStart", &outcome);
                outcome.context.into_iter().try_for_each(|text| self.input(Input::Tell(text)))
            }
            News::MayCompact { step, outcome } => {
                self.hook_said("PreCompact", &outcome);
                self.input(Input::MayCompact(step, outcome.blocked.or(outcome.stop)))
            }
            News::Agent(event) => {
                self.emit(*event);
                Ok(())
            }
            News::AgentDenied(denials) => {
                self.task.denials.extend(denials);
                Ok(())
            }
            News::Servers => self.servers_changed(),
            News::Shells(shells) => {
                self.shells_changed(shells);
                Ok(())
            }
            News::ToolsEnded { step, changed } => self.tools_ended(step, changed),
        }
    }

    /// Takes a question back that has no answer.
    fn withdraw(&mut self, id: &str) {
        if self.asks.remove(id).is_some() | self.choices.remove(id).is_some() {
            self.emit(SessionEvent::Withdrawn { id: id.to_owned() });
        }
    }

    /// Takes all questions back.
    pub(super) fn withdraw_all(&mut self) {
        let open: Vec<String> = self.asks.keys().chain(self.choices.keys()).cloned().collect();
        open.iter().for_each(|id| self.withdraw(id));
    }

    /// What an answer took is taken from what the task may take.
    fn paid(&mut self, step: StepId, spent: &Spent) {
        if let Some((_, turn)) = self.turn.take_if(|(asked, _)| *asked == step) {
            turn.used();
        }
        self.purse.spend(self.machine.used(spent), spent.cost_usd.unwrap_or_default());
    }

    fn submitted(
        &mut self,
        mut prompt: rail_proto::Prompt,
        outcome: HookOutcome,
    ) -> Result<(), JournalError> {
        self.hook_said("UserPromptSubmit", &outcome);
        if let Some(why) = outcome.blocked.or(outcome.stop) {
            let text = format!("a hook did not let this be sent: {why}");
            self.note(NoteKind::Hook, text.clone());
            if !self.machine.is_busy() {
                let refused =
                    rail_proto::Done { reason: rail_proto::Reason::Refused, text, ..self.figures() };
                self.emit(SessionEvent::Done(refused));
            }
            return Ok(());
        }
        prompt.parts.extend(outcome.context.into_iter().map(Part::text));
        if !self.machine.is_busy() {
            self.task_begins();
            self.look_around()?;
        }
        self.input(Input::Submit(prompt))
    }

    /// What hooks said that is not for the model.
    pub(super) fn hook_said(&mut self, event: &str, outcome: &HookOutcome) {
        for text in outcome.messages.iter().chain(&outcome.problems) {
            self.note(NoteKind::Hook, format!("{event}: {text}"));
        }
    }

    fn tool(&mut self, step: StepId, event: ToolEvent) -> Result<(), JournalError> {
        match event {
            ToolEvent::Start { call } => {
                let id = call.id.as_str().to_owned();
                let (native, title) = match self.executor.understood(&call) {
                    Some((tool, _)) => (tool.card().name.to_owned(), tool.card().title.to_owned()),
                    None => (call.name.clone(), call.name.clone()),
                };
                self.names.insert(id.clone(), native);
                let input = serde_json::from_str(&call.arguments).unwrap_or(Value::String(call.arguments));
                let start = ToolStart { step, id, name: call.name, title, input };
                self.emit(SessionEvent::ToolStart(start));
                Ok(())
            }
            // Who is asked is told by the question itself.
            ToolEvent::Asked { .. } => Ok(()),
            ToolEvent::Progress { id, text } => {
                self.emit(SessionEvent::ToolProgress { id, text });
                Ok(())
            }
            ToolEvent::End(outcome) => self.tool_ended(step, &outcome),
        }
    }

    fn tool_ended(&mut self, step: StepId, outcome: &Outcome) -> Result<(), JournalError> {
        let id = outcome.call.id.as_str().to_owned();
        let name = self.names.remove(&id).unwrap_or_else(|| outcome.call.name.clone());
        self.withdraw(&id);
        for repair in &outcome.repairs {
            self.note(NoteKind::Repair, format!("{name}: {repair}"));
        }
        if outcome.end == End::Denied {
            let way = self.task.ways.remove(&id).unwrap_or_else(|| outcome.text());
            self.task.denials.push((name, way));
        }
        for note in &outcome.notes {
            self.output_note(note)?;
        }
        self.entered(outcome)?;
        self.input(Input::ToolDone(step, Box::new(show::ended(step, outcome))))
    }

    fn output_note(&mut self, note: &OutputNote) -> Result<(), JournalError> {
        match note {
            OutputNote::MemoryFile(_) => self.memory_changed(),
            OutputNote::Todos(todos) => {
                let value = serde_json::to_value(todos).unwrap_or_default();
                self.write(Record::Todos(value))?;
                self.emit(SessionEvent::Todos(todos.clone()));
                Ok(())
            }
            OutputNote::Plan(step) => self.mode_changed(step.mode()),
            OutputNote::Skill(_) => Ok(()),
            OutputNote::Findings(findings) => {
                let value = serde_json::to_value(findings).unwrap_or_default();
                self.write(Record::Findings(value))
            }
        }
    }

    /// A call touched a folder: its own memory files count from now on.
    fn entered(&mut self, outcome: &Outcome) -> Result<(), JournalError> {
        if !outcome.success() {
            return Ok(());
        }
        for path in self.touched(&outcome.call) {
            let found = self.memory.entered(&path);
            self.not_read(&found.notes);
            if !found.files.is_empty() {
                self.memory_changed()?;
            }
        }
        Ok(())
    }

    fn tools_ended(&mut self, step: StepId, changed: Option<(String, String)>) -> Result<(), JournalError> {
        self.running.remove(&step);
        let Some((before, after)) = changed else { return Ok(()) };
        if let (Ok(from), Ok(to)) = (before.parse(), after.parse()) {
            self.history.record(rail_journal::snapshots::Step { before: from, after: to });
            self.steps.truncate(self.history.done().saturating_sub(1));
            self.steps.push(step);
        }
        self.write(Record::Snapshot(Snapshot { step, before, after }))
    }
}
