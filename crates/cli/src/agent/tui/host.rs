//! What the interface wants of everything that is not the session.

use std::collections::VecDeque;
use std::sync::Arc;

use rail_agent::{Agent, Errands};
use rail_model::{Part, PartBody};
use rail_proto::{Command, Reason, SessionEvent};
use rail_tui::{News, PickerKind, Want};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::{clipboard, files, history, lists, shell};
use crate::agent::control::{Became, typed};
use crate::agent::slash::{self, Ground, Ready};
use crate::{Failure, output};

/// Does what the interface wants, beside it.
pub(super) struct Host {
    ground: Ground,
    errands: Arc<Errands>,
    commands: mpsc::UnboundedSender<Command>,
    news: mpsc::UnboundedSender<News>,
    tasks: JoinSet<Done>,
    /// The user's own shell command.
    shell: Option<shell::Running>,
    /// The model that is asked again after a task.
    back_to: Option<String>,
    /// What the user said, in order: each waits until it is known what became of the one before, and for the session to be open.
    said: VecDeque<(String, Vec<Part>)>,
    /// The task that finds out what becomes of what was said last.
    reading: Option<tokio::task::Id>,
}

/// What a task has come to.
enum Done {
    News(News),
    Became(Became),
    Shell,
}

impl Host {
    pub(super) fn new(
        ground: Ground,
        agent: &Agent,
        commands: mpsc::UnboundedSender<Command>,
        news: mpsc::UnboundedSender<News>,
    ) -> Self {
        Self {
            ground,
            errands: Arc::new(agent.errands()),
            commands,
            news,
            tasks: JoinSet::new(),
            shell: None,
            back_to: None,
            said: VecDeque::new(),
            reading: None,
        }
    }

    /// Waits for something to come to its end; without anything for ever.
    pub(super) async fn work(&mut self) {
        let Some(joined) = self.tasks.join_next_with_id().await else { return std::future::pending().await };
        let id = match &joined {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        match joined {
            Ok((_, Done::News(news))) => self.tell(news),
            Ok((_, Done::Became(became))) => self.became(became),
            Ok((_, Done::Shell)) => self.shell = None,
            Err(error) => {
                self.tell(News::Failed(format!("that broke off: {error}; this is a fault of rail")))
            }
        }
        if self.reading == Some(id) {
            self.reading = None;
            self.read();
        }
    }

    /// Something happened in the session.
    pub(super) fn event(&mut self, event: &SessionEvent) {
        self.ground.event(event);
        match event {
            SessionEvent::Opened(_) => self.read(),
            SessionEvent::Done(_) => {
                self.errands.leave(Vec::new());
                if let Some(model) = self.back_to.take() {
                    self.send(Command::SetModel(model));
                }
            }
            _ => {}
        }
    }

    /// The interface wants something.
    pub(super) fn want(&mut self, want: Want) {
        match want {
            Want::Line { text, attached, context } => {
                let media = attached.into_iter().map(|media| Part::new(PartBody::Media(media)));
                self.said(text, context.into_iter().map(Part::text).chain(media).collect());
            }
            Want::Shell(command) => self.run(command),
            Want::StopShell => {
                if let Some(shell) = &self.shell {
                    shell.stop();
                }
            }
            Want::Files => self.ask(|ground| News::Files(Arc::new(files::all(&ground)))),
            Want::Changes => self.ask(|ground| match slash::changes(&ground) {
                Ok(changes) if changes.is_empty() => News::Say(slash::NO_CHANGES.to_owned()),
                Ok(changes) => News::Changes(changes.iter().map(rail_agent::file_change).collect()),
                Err(Failure::Usage(error) | Failure::Task(error)) => News::Failed(format!("{error:#}")),
                Err(Failure::Interrupted | Failure::Ended(_)) => {
                    News::Failed("it was interrupted".to_owned())
                }
            }),
            Want::Picker(kind) => self.ask(move |ground| picker(kind, &ground)),
            Want::ClipboardImage => {
                let prepared = Arc::clone(&self.ground.prepared);
                self.tasks.spawn(async move { Done::News(clipboard::image(&prepared.env).await) });
            }
            Want::FileImage(pasted) => self.ask(move |ground| clipboard::file(&pasted, &ground.prepared.env)),
            Want::Remember(text) => history::add(&self.ground.prepared.state, &text),
            Want::KeepTheme(name) => {
                if let Err(why) = super::first::keep_theme(&self.ground.prepared, name) {
                    self.tell(News::Failed(why));
                }
            }
        }
    }

    /// The user said something: a command, or something for the model.
    pub(super) fn said(&mut self, text: String, more: Vec<Part>) {
        self.said.push_back((text, more));
        self.read();
    }

    /// Finds out what becomes of what was said, one after the other: what takes long, such as many files, is not overtaken.
    fn read(&mut self) {
        if self.ground.live.is_none() || self.reading.is_some() {
            return;
        }
        let Some((text, more)) = self.said.pop_front() else { return };
        let (ground, errands) = (self.ground.clone(), Arc::clone(&self.errands));
        let reads = self.tasks.spawn(async move { Done::Became(typed(text, more, ground, &errands).await) });
        self.reading = Some(reads.id());
    }

    fn became(&mut self, became: Became) {
        let Ready { commands, allowed, model, .. } = match became {
            Became::Ready(mut ready) => {
                ready.warnings().for_each(|warning| output::tell(&warning));
                *ready
            }
            Became::Done(done) => {
                let news = match done.reason {
                    Reason::Answered => News::Say(done.text),
                    Reason::TurnLimit
                    | Reason::Budget
                    | Reason::Refused
                    | Reason::Interrupted
                    | Reason::Failed => News::Failed(done.text),
                };
                return self.tell(news);
            }
        };
        if !allowed.is_empty() {
            self.errands.leave(allowed);
        }
        // A model that the user named is not overridden.
        if let Some(model) = model.filter(|_| self.ground.prepared.model.is_empty()) {
            self.back_to = self.ground.live.as_ref().map(|live| live.model.clone());
            self.send(Command::SetModel(model));
        }
        commands.into_iter().for_each(|command| self.send(command));
    }

    fn run(&mut self, command: String) {
        match shell::Running::start(&command, &self.ground.prepared.env) {
            Ok(running) => {
                let (told, news) = (running.clone(), self.news.clone());
                self.shell = Some(running);
                self.tasks.spawn(async move {
                    told.told(&news).await;
                    Done::Shell
                });
            }
            Err(how) => self.tell(News::ShellEnded { how }),
        }
    }

    /// Looks something up where it holds nobody up.
    fn ask(&mut self, look: impl FnOnce(Ground) -> News + Send + 'static) {
        let ground = self.ground.clone();
        self.tasks.spawn_blocking(move || Done::News(look(ground)));
    }

    fn tell(&self, news: News) {
        // An interface that is gone wants no news.
        let _ = self.news.send(news);
    }

    fn send(&self, command: Command) {
        // A session that has ended takes no commands.
        let _ = self.commands.send(command);
    }
}

fn picker(kind: PickerKind, ground: &Ground) -> News {
    let items = match kind {
        PickerKind::Models => lists::models(ground),
        PickerKind::Routes => lists::routes(ground),
        PickerKind::Rewind => lists::messages(ground),
        PickerKind::Sessions => lists::sessions(ground),
    };
    match items {
        Ok(items) => News::Picker(kind, items),
        Err(why) => News::Failed(why),
    }
}
