//! One session of an editor: commands and names of files in what the user says, and what happens then.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use rail_acp::{BoxFuture, Session};
use rail_agent::{Agent, Errands, Handle};
use rail_journal::JournalError;
use rail_proto::{Command, Done, NoteKind, Prompt, Reason, SessionEvent};
use tokio::task::JoinSet;

use crate::agent::control::{Became, becomes};
use crate::agent::slash::{Ground, Ready, Until};
use crate::agent::{Prepared, ended_by};

/// The largest file that is shown in a question.
const SHOWN: u64 = 1 << 20;

/// A session's own work.
type Running = BoxFuture<'static, Result<(), JournalError>>;

/// A session that is open.
pub(super) struct Live {
    /// The session's own work; nothing once it is over.
    running: Option<Running>,
    handle: Handle,
    /// What commands look at.
    ground: Ground,
    /// What is run and read for the user's own words.
    errands: Arc<Errands>,
    /// What the user said before the session had begun.
    early: VecDeque<Prompt>,
    /// What the user said, while it is found out what becomes of it.
    typing: JoinSet<Became>,
    /// What has happened and was not told yet.
    happened: VecDeque<SessionEvent>,
    /// What ends the task.
    until: Until,
    /// The model that is asked again after the task.
    back_to: Option<String>,
}

impl Live {
    pub(super) fn new(agent: Agent, handle: Handle, prepared: Prepared) -> Self {
        let errands = Arc::new(agent.errands());
        Self {
            running: Some(Box::pin(agent.run())),
            handle,
            ground: Ground::new(prepared),
            errands,
            early: VecDeque::new(),
            typing: JoinSet::new(),
            happened: VecDeque::new(),
            until: Until::Answered,
            back_to: None,
        }
    }

    pub(super) fn prepared(&self) -> &Prepared {
        &self.ground.prepared
    }

    /// What happens first; it happens again for who listens then.
    pub(super) async fn first(&mut self) -> Option<SessionEvent> {
        let first = self.next().await?;
        self.happened.push_front(first.clone());
        Some(first)
    }

    fn send(&self, command: Command) {
        // A session that has ended takes no commands.
        let _ = self.handle.commands.send(command);
    }

    /// It is known what becomes of what the user said.
    fn begin(&mut self, became: Became) {
        let Ready { commands, until, allowed, model, problems } = match became {
            Became::Ready(ready) => *ready,
            Became::Done(done) => return self.said(*done),
        };
        let note = |text| SessionEvent::Note { kind: NoteKind::Config, text };
        self.happened.extend(problems.into_iter().map(note));
        self.until = until;
        self.errands.leave(allowed);
        // A model that the user named is not overridden.
        if let Some(model) = model.filter(|_| self.ground.prepared.model.is_empty()) {
            self.back_to = self.ground.live.as_ref().map(|live| live.model.clone());
            self.send(Command::SetModel(model));
        }
        commands.into_iter().for_each(|command| self.send(command));
    }

    /// A command has said all there is to say. That it could not be done is said as well, and no failure of the turn.
    fn said(&mut self, done: Done) {
        self.until = Until::Answered;
        let reason = match done.reason {
            Reason::Interrupted => Reason::Interrupted,
            Reason::Answered | Reason::TurnLimit | Reason::Budget | Reason::Refused | Reason::Failed => {
                self.happened.push_back(SessionEvent::Text { step: 0, text: done.text.clone() });
                Reason::Answered
            }
        };
        self.happened.push_back(SessionEvent::Done(Done { reason, ..done }));
    }

    fn event(&mut self, event: SessionEvent) -> SessionEvent {
        let ended = ended_by(self.until, &event);
        self.ground.event(&event);
        match &event {
            SessionEvent::Opened(_) => {
                for prompt in std::mem::take(&mut self.early) {
                    self.submit(prompt);
                }
            }
            SessionEvent::Done(_) => {
                self.until = Until::Answered;
                self.errands.leave(Vec::new());
                if let Some(model) = self.back_to.take() {
                    self.send(Command::SetModel(model));
                }
            }
            _ => {}
        }
        if let Some(done) = ended {
            self.said(done);
        }
        event
    }
}

impl Session for Live {
    fn submit(&mut self, prompt: Prompt) {
        if self.ground.live.is_none() {
            return self.early.push_back(prompt);
        }
        self.typing.spawn(becomes(prompt, self.ground.clone(), Arc::clone(&self.errands)));
    }

    fn command(&mut self, command: Command) {
        if command == Command::Interrupt && !(self.typing.is_empty() && self.early.is_empty()) {
            // The session knows nothing of it yet.
            self.typing = JoinSet::new();
            self.early.clear();
            let text = "interrupted".to_owned();
            return self.said(Done { reason: Reason::Interrupted, text, ..Done::default() });
        }
        if matches!(command, Command::SetModel(_)) {
            self.back_to = None;
        }
        self.send(command);
    }

    fn next(&mut self) -> BoxFuture<'_, Option<SessionEvent>> {
        Box::pin(async {
            loop {
                if let Some(event) = self.happened.pop_front() {
                    return Some(event);
                }
                tokio::select! {
                    biased;
                    numbered = self.handle.events.recv() => {
                        let event = numbered?.event;
                        return Some(self.event(event));
                    }
                    // What it could not keep was told by its last event.
                    _ = running(&mut self.running), if self.running.is_some() => self.running = None,
                    Some(became) = self.typing.join_next() => match became {
                        Ok(became) => self.begin(became),
                        Err(error) if error.is_cancelled() => {}
                        Err(error) => {
                            let text = format!("what was said could not be taken up: {error}; this is a fault of rail");
                            self.said(Done { reason: Reason::Failed, text, ..Done::default() });
                        }
                    },
                }
            }
        })
    }

    fn current(&self, path: &Path) -> Option<String> {
        let meta = std::fs::metadata(path).ok()?;
        if !meta.is_file() || meta.len() > SHOWN || rail_permit::secret(path).is_some() {
            return None;
        }
        std::fs::read_to_string(path).ok()
    }
}

async fn running(running: &mut Option<Running>) -> Result<(), JournalError> {
    match running {
        Some(running) => running.as_mut().await,
        None => std::future::pending().await,
    }
}
