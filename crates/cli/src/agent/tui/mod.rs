//! The agent at a terminal: `rail`.

mod before;
mod clipboard;
mod editor;
mod files;
mod first;
mod history;
mod host;
mod lists;
mod shell;

use std::io::{self, IsTerminal, stdin, stdout};
use std::pin::Pin;
use std::time::Duration;

use anyhow::{Context, anyhow};
use rail_agent::{Agent, Handle};
use rail_config::settings::{InputKeys, Theme as Configured};
use rail_proto::{Command, SessionEvent};
use rail_tui::complete::CommandInfo;
use rail_tui::input::Keys;
use rail_tui::theme::Theme;
use rail_tui::{End, Extent, News, Start, Want, Wires};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::AgentFlags;
use super::open::{Extras, Prepared, prepare_from};
use super::slash::{self, Ground, offered_at_a_terminal};
use crate::setup::{Common, serving_runtime};
use crate::{Failure, output, trust};
use host::Host;

/// How long a session has to end when the interface has.
const LAST_WORDS: Duration = Duration::from_secs(5);

impl AgentFlags {
    /// Opens the interface, and another session in it as often as the user wants one.
    pub(super) fn at_a_terminal(mut self, common: &Common) -> Result<(), Failure> {
        if !(stdin().is_terminal() && stdout().is_terminal()) {
            return Err(Failure::Usage(anyhow!(
                "there is no terminal here; `rail -p \"what to do\"` does one task without one, and `rail --help` lists the commands"
            )));
        }
        loop {
            let inputs = common.inputs()?;
            trust::first_use(&inputs)?;
            let inputs = first::allowed_keys(inputs)?;
            let prepared = prepare_from(self.clone(), common.model.clone(), inputs)?;
            match session(prepared, &self)? {
                End::Quit => return Ok(()),
                End::Open(id) => (self.resume, self.go_on) = (Some(id), false),
                End::New => (self.resume, self.go_on) = (None, false),
            }
            // What was said on the command line was said to the first session.
            self.prompt = None;
            self.image.clear();
        }
    }
}

/// One session from its opening to its end.
fn session(prepared: Prepared, flags: &AgentFlags) -> Result<End, Failure> {
    let images = slash::images(&flags.image)?;
    let tui = &prepared.loaded.settings.tui;
    let plain = tui.plain || prepared.env.get("TERM") == Some("dumb");
    let theme = match tui.theme {
        _ if prepared.env.get("NO_COLOR").is_some() => Some(Theme::Plain),
        Configured::Auto => None,
        Configured::Light => Some(Theme::Light),
        Configured::Dark => Some(Theme::Dark),
        Configured::ColourBlind => Some(Theme::Safe),
        Configured::NoColour => Some(Theme::Plain),
    };
    let start = start(&prepared, flags);
    let ground = Ground::new(prepared);
    let runtime = serving_runtime()?;
    let (agent, handle, _) = {
        let _in_it = runtime.enter();
        ground.prepared.open(Extras::default())?
    };
    let first = flags.prompt.clone().map(|text| (text, images));
    let ended = runtime.block_on(Box::pin(async {
        let talk = Talk { ground, agent, handle, first };
        let (wires, ends) = talk.wires();
        let interface: Interface = if plain {
            Box::pin(rail_tui::run_plain(start, wires))
        } else {
            Box::pin(rail_tui::run(start, theme, wires))
        };
        Box::pin(talk.serve(ends, interface)).await
    }));
    runtime.shutdown_background();
    ended
}

fn start(prepared: &Prepared, flags: &AgentFlags) -> Start {
    let info =
        |offered: slash::Offered| CommandInfo { name: offered.name, hint: offered.hint, help: offered.help };
    Start {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        home: prepared.env.home().map(|home| home.display().to_string()),
        theme: Theme::default(),
        keys: match prepared.loaded.settings.tui.keys {
            InputKeys::Usual => Keys::Usual,
            InputKeys::Vim => Keys::Vim,
        },
        extent: if flags.verbosity() > 0 { Extent::Verbose } else { Extent::Condensed },
        commands: offered_at_a_terminal(prepared).into_iter().map(info).collect(),
        history: history::read(&prepared.state),
        notes: first::notes(prepared),
        before: prepared.resumed().map(before::events).unwrap_or_default(),
    }
}

/// A session, and what is said to it first.
struct Talk {
    ground: Ground,
    agent: Agent,
    handle: Handle,
    first: Option<(String, Vec<rail_model::Part>)>,
}

/// An interface that runs to its end.
type Interface = Pin<Box<dyn Future<Output = io::Result<End>>>>;

/// The wires of an interface, seen from here.
struct Ends {
    events: mpsc::UnboundedSender<SessionEvent>,
    wants: mpsc::UnboundedReceiver<Want>,
    news: mpsc::UnboundedSender<News>,
}

impl Talk {
    fn wires(&self) -> (Wires, Ends) {
        let (events_to, events) = mpsc::unbounded_channel();
        let (wants_to, wants) = mpsc::unbounded_channel();
        let (news_to, news) = mpsc::unbounded_channel();
        // What would be told on stderr would stand in the middle of the screen.
        let told = news_to.clone();
        output::to(Box::new(move |text| drop(told.send(News::Failed(text.to_owned())))));
        let edit = editor::edit(self.ground.prepared.env.clone());
        let wires = Wires { commands: self.handle.commands.clone(), events, wants: wants_to, news, edit };
        (wires, Ends { events: events_to, wants, news: news_to })
    }

    /// Carries what the interface and the session say to each other, until the interface ends.
    async fn serve(self, ends: Ends, mut interface: Interface) -> Result<End, Failure> {
        let Self { ground, agent, mut handle, first } = self;
        let Ends { events, mut wants, news } = ends;
        let mut host = Host::new(ground, &agent, handle.commands.clone(), news);
        let mut running = JoinSet::new();
        running.spawn(Box::pin(agent.run()));
        if let Some((text, images)) = first {
            host.said(text, images);
        }
        let ended = loop {
            // In no order of its own, since whoever says much would keep the others from being heard.
            tokio::select! {
                ended = &mut interface => break ended,
                numbered = handle.events.recv() => match numbered {
                    Some(numbered) => {
                        host.event(&numbered.event);
                        // The interface is there until it says that it is not.
                        let _ = events.send(numbered.event);
                    }
                    None => break Ok(End::Quit),
                },
                Some(want) = wants.recv() => host.want(want),
                () = host.work() => {}
            }
        };
        output::to_stderr();
        // A session that has ended already needs no word.
        let _ = handle.commands.send(Command::End);
        let closed = async {
            while handle.events.recv().await.is_some_and(|numbered| numbered.event != SessionEvent::Closed) {}
        };
        // Whatever does not end in time ends with the process.
        let _ = tokio::time::timeout(LAST_WORDS, closed).await;
        if let Ok(Some(Err(error))) = tokio::time::timeout(LAST_WORDS, running.join_next()).await {
            return Err(Failure::Task(anyhow!("the session broke off: {error}; this is a fault of rail")));
        }
        Ok(ended.context("the terminal can't be used")?)
    }
}
