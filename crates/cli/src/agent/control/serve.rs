//! A session that a client drives: several tasks, one after the other, each with its result.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;
use rail_agent::{Agent, Errands, Handle};
use rail_proto::{Answer, Chosen, Command, Done, Reason, SessionEvent};
use tokio::task::{AbortHandle, JoinSet};

use super::asker::{Asks, permission, questions};
use super::asking::may_bring;
use super::client::Client;
use super::desk::{Desk, Lines, listen};
use super::typed::{Became, becomes};
use crate::agent::ending;
use crate::agent::headless::{Printer, ended_by};
use crate::agent::open::Prepared;
use crate::agent::slash::{Ground, Ready, Until};
use crate::signals::Signals;
use crate::{Failure, output};

/// Serves a client until it has nothing more to say.
pub(crate) async fn serve(prepared: Prepared, asks: Asks) -> Result<(), Failure> {
    prepared.tell_providers();
    let client = Arc::new(Client::default());
    let mut lines = listen(Arc::clone(&client))?;
    let mut signals = Signals::listen().context("signals can't be heard")?;
    let mut desk = Desk::new(&prepared, asks, client);
    let begun = tokio::select! {
        begun = desk.begin(&mut lines) => begun?,
        _ = signals.next() => return Err(Failure::Interrupted),
    };
    // A client that says nothing wants nothing.
    let Some(tools) = begun else { return Ok(()) };
    let extras = desk.extras(tools);
    let (agent, handle, shown) = prepared.open(extras)?;
    let running = Running {
        desk,
        handle,
        printer: shown.printer(),
        lines,
        signals,
        ground: Ground::new(prepared),
        errands: Arc::new(agent.errands()),
        typing: JoinSet::new(),
        tasks: JoinSet::new(),
        asked: BTreeMap::new(),
    };
    running.run(agent).await
}

/// A session with a client.
struct Running {
    desk: Desk,
    handle: Handle,
    printer: Box<dyn Printer + Send>,
    lines: Lines,
    signals: Signals,
    /// What commands look at.
    ground: Ground,
    /// What is run and read for the user's own words.
    errands: Arc<Errands>,
    /// What the user said, while it is found out what becomes of it.
    typing: JoinSet<Became>,
    /// Questions that the client has not answered.
    tasks: JoinSet<Vec<Command>>,
    asked: BTreeMap<String, AbortHandle>,
}

/// How far a session is.
#[derive(Default)]
struct Progress {
    busy: bool,
    /// What ends the task.
    until: Until,
    /// The model that is asked again after the task.
    back_to: Option<String>,
    /// Nothing more is taken up.
    ending: bool,
    interrupted: bool,
    last: Option<Done>,
    failure: Option<Failure>,
}

impl Running {
    async fn run(mut self, agent: Agent) -> Result<(), Failure> {
        let running = agent.run();
        tokio::pin!(running);
        let (mut now, mut ran, mut eof) = (Progress::default(), false, false);
        for command in std::mem::take(&mut self.desk.early) {
            self.send(command);
        }
        loop {
            self.take_up(&mut now, eof);
            tokio::select! {
                biased;
                numbered = self.handle.events.recv() => {
                    let Some(numbered) = numbered else { break };
                    if self.event(numbered.event, &mut now) == Goes::Over {
                        break;
                    }
                }
                // What it could not keep was told by its last event.
                _ = &mut running, if !ran => ran = true,
                Some(became) = self.typing.join_next() => {
                    match became {
                        Ok(became) => self.begin(became, &mut now),
                        // It was taken back, which has been told, or it broke off.
                        Err(error) if error.is_cancelled() => {}
                        Err(error) => {
                            let text = format!("what was said could not be taken up: {error}; this is a fault of rail");
                            self.done(Done { reason: Reason::Failed, text, ..Done::default() }, &mut now);
                        }
                    }
                }
                Some(answered) = self.tasks.join_next() => {
                    if let Ok(commands) = answered {
                        self.answered(commands);
                    }
                }
                line = self.lines.recv(), if !eof => match line {
                    None => eof = true,
                    Some(line) => match line.and_then(|line| self.desk.heard(line)) {
                        Ok(command) => command.into_iter().for_each(|command| self.wanted(command, &mut now)),
                        Err(failure) => self.fail(&mut now, failure),
                    },
                },
                _ = self.signals.next() => {
                    now.interrupted = true;
                    self.desk.waiting.clear();
                    self.wanted(Command::Interrupt, &mut now);
                    self.end(&mut now);
                }
            }
        }
        now.code()
    }

    /// The next that the user said, when nothing runs: each has a result of its own. After the last the session ends.
    fn take_up(&mut self, now: &mut Progress, eof: bool) {
        if now.busy || now.ending || self.ground.live.is_none() {
            return;
        }
        match self.desk.waiting.pop_front() {
            Some(prompt) => {
                now.busy = true;
                self.typing.spawn(becomes(prompt, self.ground.clone(), Arc::clone(&self.errands)));
            }
            None if eof => self.end(now),
            None => {}
        }
    }

    /// It is known what becomes of what the user said.
    fn begin(&mut self, became: Became, now: &mut Progress) {
        let Ready { commands, until, allowed, model, .. } = match became {
            Became::Ready(mut ready) => {
                ready.warnings().for_each(|warning| output::tell(&warning));
                *ready
            }
            Became::Done(done) => return self.done(*done, now),
        };
        now.until = until;
        self.errands.leave(allowed);
        // A model that the user named is not overridden.
        if let Some(model) = model.filter(|_| self.ground.prepared.model.is_empty()) {
            now.back_to = self.ground.live.as_ref().map(|live| live.model.clone());
            self.send(Command::SetModel(model));
        }
        commands.into_iter().for_each(|command| self.send(command));
    }

    /// The client wants something of the session.
    fn wanted(&mut self, command: Command, now: &mut Progress) {
        if command == Command::Interrupt && !self.typing.is_empty() {
            // The session knows nothing of it yet.
            self.typing = JoinSet::new();
            let text = "interrupted".to_owned();
            self.done(Done { reason: Reason::Interrupted, text, ..Done::default() }, now);
            return;
        }
        if matches!(command, Command::SetModel(_)) {
            now.back_to = None;
        }
        self.send(command);
    }

    /// A task ended of which the session knows nothing, or that it has no end for.
    fn done(&mut self, done: Done, now: &mut Progress) {
        let event = SessionEvent::Done(done);
        self.print(&event, now);
        self.happened(event, now);
    }

    fn print(&mut self, event: &SessionEvent, now: &mut Progress) {
        if now.failure.is_none()
            && let Err(failure) = self.printer.event(event)
        {
            self.fail(now, failure);
        }
    }

    fn end(&mut self, now: &mut Progress) {
        now.ending = true;
        self.send(Command::End);
    }

    fn fail(&mut self, now: &mut Progress, failure: Failure) {
        now.failure = Some(failure);
        self.end(now);
    }

    fn event(&mut self, event: SessionEvent, now: &mut Progress) -> Goes {
        self.print(&event, now);
        let ended = ended_by(now.until, &event);
        let goes = self.happened(event, now);
        if let Some(done) = ended {
            self.done(done, now);
        }
        goes
    }

    fn happened(&mut self, event: SessionEvent, now: &mut Progress) -> Goes {
        self.ground.event(&event);
        match event {
            SessionEvent::Permission(ask) => match &self.desk.asker {
                None => self.send(Command::Answer { ask: ask.id, answer: Answer::Nobody { why: None } }),
                Some(asker) => {
                    let id = ask.id.clone();
                    let asking = self.tasks.spawn(permission(asker.clone(), ask));
                    self.asked.insert(id, asking);
                }
            },
            SessionEvent::Choice { id, choices } => match &self.desk.asker {
                None => self.send(Command::Choose { ask: id, chosen: Chosen::Nobody }),
                Some(asker) => {
                    let asking = self.tasks.spawn(questions(asker.clone(), id.clone(), choices));
                    self.asked.insert(id, asking);
                }
            },
            SessionEvent::Withdrawn { id } => {
                if let Some(asking) = self.asked.remove(&id) {
                    asking.abort();
                }
            }
            SessionEvent::Done(done) => {
                (now.busy, now.until) = (false, Until::Answered);
                self.errands.leave(Vec::new());
                now.last = Some(done);
                if let Some(model) = now.back_to.take() {
                    self.send(Command::SetModel(model));
                }
            }
            SessionEvent::Closed => return Goes::Over,
            _ => {}
        }
        Goes::On
    }

    fn answered(&mut self, commands: Vec<Command>) {
        for command in &commands {
            if let Command::Answer { ask, .. } | Command::Choose { ask, .. } = command {
                self.asked.remove(ask);
            }
        }
        let refused = self.desk.bypass_refused.as_deref();
        commands
            .into_iter()
            .filter(|command| may_bring(command, refused))
            .for_each(|command| self.send(command));
    }

    fn send(&self, command: Command) {
        // A session that has ended takes no commands.
        let _ = self.handle.commands.send(command);
    }
}

impl Progress {
    /// The last task decides. What the client itself interrupted is as it wanted it.
    fn code(self) -> Result<(), Failure> {
        match (self.failure, self.last) {
            (Some(failure), _) => Err(failure),
            (None, _) if self.interrupted => Err(Failure::Interrupted),
            (None, None) => Ok(()),
            (None, Some(done)) if done.reason == Reason::Interrupted => Ok(()),
            (None, Some(done)) => ending::code(&done),
        }
    }
}

/// Whether a session goes on.
#[derive(PartialEq, Eq)]
enum Goes {
    On,
    Over,
}
