//! The agent without a terminal interface: one task, its events printed, its end as an exit code.

use std::io::{IsTerminal, Read, stdin, stdout};

use anyhow::{Context, anyhow};
use rail_agent::hooks::claude_name;
use rail_agent::{Agent, Handle};
use rail_journal::{SessionId, UnixMillis};
use rail_proto::{Answer, Chosen, Command, Done, Mode, NoteKind, Reason, Restored, SessionEvent};
use rail_repair::Catalog;

use super::AgentFlags;
use super::control::{Asks, serve};
use super::ending::code;
use super::flags::{InputFormat, OutputFormat};
use super::messages::{Messages, SPOKEN_VERSION, Sources, Telling};
use super::open::{Extras, prepare};
use super::printers::{Events, Json, StreamJson};
use super::slash::{self, Ground, Ready, Step, Until};
use super::text::{Beside, Text, Told};
use crate::clock::Now;
use crate::setup::{Common, serving_runtime};
use crate::signals::Signals;
use crate::{Failure, output};

/// Who prints what happens.
pub(crate) trait Printer {
    /// Prints an event, as far as it is shown.
    fn event(&mut self, event: &SessionEvent) -> Result<(), Failure>;
}

/// How a session is shown.
pub(crate) struct Shown {
    pub(super) flags: AgentFlags,
    /// The tools by all their names.
    pub(super) catalog: Catalog,
    pub(super) servers: Vec<String>,
}

impl Shown {
    /// Who prints it.
    pub(crate) fn printer(self) -> Box<dyn Printer + Send> {
        let (format, verbose) = (self.flags.output_format, self.flags.verbosity());
        let told = Told::new(verbose, format);
        match format {
            OutputFormat::Text => Box::new(Beside { told, printer: Text }),
            OutputFormat::Json => Box::new(Beside { told, printer: Json(self.messages()) }),
            OutputFormat::StreamJson => Box::new(Beside { told, printer: StreamJson(self.messages()) }),
            OutputFormat::Events => Box::new(Beside { told, printer: Events::default() }),
        }
    }

    fn messages(self) -> Messages {
        let Self { flags, catalog, servers } = self;
        let telling = Telling {
            partial: flags.claude.include_partial_messages,
            replay: flags.claude.replay_user_messages,
        };
        let naming = move |name: &str| {
            catalog.find(name).tool().map_or_else(|| name.to_owned(), |tool| claude_name(&tool.name))
        };
        Messages::new(telling, Sources { ids: Box::new(new_id), naming: Box::new(naming), servers })
    }
}

/// An id that nothing else has; without random numbers there is none to be had, and an empty one harms nobody.
fn new_id() -> String {
    let minted = SessionId::mint(UnixMillis(Now::read().unix.saturating_mul(1000)));
    minted.map(|id| id.to_string()).unwrap_or_default()
}

impl AgentFlags {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        if self.asks_for_version() {
            return output::print(&format!("{SPOKEN_VERSION} (rail {})\n", env!("CARGO_PKG_VERSION")));
        }
        match (self.input_format, self.claude.asks()?) {
            (InputFormat::StreamJson, asks) => return self.serve(common, asks),
            (InputFormat::Text, Asks::Nobody) => {}
            (InputFormat::Text, Asks::Client) => {
                return Err(Failure::Usage(anyhow!(
                    "--permission-prompt-tool stdio: nobody can answer there without `--input-format stream-json`"
                )));
            }
            (InputFormat::Text, Asks::Tool(tool)) => {
                return Err(Failure::Usage(anyhow!(
                    "--permission-prompt-tool {tool}: MCP servers are those of the program that drives `rail`; without `--input-format stream-json` there are none"
                )));
            }
        }
        if !self.print {
            return self.at_a_terminal(common);
        }
        let (text, images) = (self.text()?, slash::images(&self.image)?);
        let prepared = prepare(self, common)?;
        prepared.tell_providers();
        let ground = Ground::new(prepared);
        let step = slash::step(&text, &ground)?;
        if let Step::Say(text) = step {
            let done = SessionEvent::Done(Done { text, ..Done::default() });
            return ground.prepared.shown().printer().event(&done);
        }
        let model = if let Step::Custom(command, _) = &step { command.model.clone() } else { None };
        let runtime = serving_runtime()?;
        let (agent, handle, shown) = {
            let _in_it = runtime.enter();
            ground.prepared.open(Extras { model, ..Extras::default() })?
        };
        let mut printer = shown.printer();
        let done = runtime.block_on(Box::pin(async {
            let mut ready = slash::ready(step, images, &agent.errands()).await?;
            ready.warnings().for_each(|warning| output::tell(&warning));
            agent.allow(std::mem::take(&mut ready.allowed));
            talk(agent, handle, ready, &mut *printer).await
        }));
        runtime.shutdown_background();
        code(&done?)
    }

    /// A session that a program drives.
    fn serve(self, common: &Common, asks: Asks) -> Result<(), Failure> {
        match self.output_format {
            OutputFormat::StreamJson | OutputFormat::Events => {}
            OutputFormat::Text | OutputFormat::Json => {
                return Err(Failure::Usage(anyhow!(
                    "`--input-format stream-json` needs `--output-format stream-json` (or `events`)"
                )));
            }
        }
        if self.prompt.is_some() {
            return Err(Failure::Usage(anyhow!(
                "with `--input-format stream-json` prompts come on stdin, and none as an argument"
            )));
        }
        let asks = if self.permission.asks_nobody() { Asks::Nobody } else { asks };
        let prepared = prepare(self, common)?;
        let runtime = serving_runtime()?;
        let served = runtime.block_on(Box::pin(serve(prepared, asks)));
        runtime.shutdown_background();
        served
    }

    /// Whether a program asks for our version as it asks Claude Code: by `-v` alone.
    fn asks_for_version(&self) -> bool {
        let alone = self.verbosity() == 1
            && !self.print
            && self.prompt.is_none()
            && !self.go_on
            && self.resume.is_none();
        let plain = self.output_format == OutputFormat::Text && self.input_format == InputFormat::Text;
        alone && plain && !stdout().is_terminal()
    }

    /// What is to be done, with what is piped in behind it.
    fn text(&self) -> Result<String, Failure> {
        let mut text = self.prompt.clone().unwrap_or_default();
        if !stdin().is_terminal() {
            let mut piped = String::new();
            stdin().lock().read_to_string(&mut piped).context("stdin can't be read")?;
            if !piped.trim().is_empty() {
                let between = if text.is_empty() { "" } else { "\n\n" };
                text = format!("{text}{between}{piped}");
            }
        }
        if text.trim().is_empty() {
            return Err(Failure::Usage(anyhow!("there is nothing to do: say it behind `-p`, or pipe it in")));
        }
        Ok(text)
    }
}

/// One task from its prompt to its end.
async fn talk(
    agent: Agent,
    mut handle: Handle,
    ready: Ready,
    printer: &mut dyn Printer,
) -> Result<Done, Failure> {
    let mut signals = Signals::listen().context("signals can't be heard")?;
    let running = agent.run();
    tokio::pin!(running);
    let send = |command| {
        // A session that has ended takes no commands.
        let _ = handle.commands.send(command);
    };
    let Ready { commands, until, .. } = ready;
    commands.into_iter().for_each(send);
    let mut last = None;
    let mut ended = false;
    let mut failure = None;
    loop {
        tokio::select! {
            biased;
            numbered = handle.events.recv() => {
                let Some(numbered) = numbered else { break };
                // What nobody can see any more is not gone on with, but it ends as it should.
                if failure.is_none() && let Err(failed) = printer.event(&numbered.event) {
                    failure = Some(failed);
                }
                if let Some(done) = ended_by(until, &numbered.event) {
                    if failure.is_none() && let Err(failed) = printer.event(&SessionEvent::Done(done.clone())) {
                        failure = Some(failed);
                    }
                    last = Some(done);
                    send(Command::End);
                }
                match numbered.event {
                    SessionEvent::Permission(ask) => send(Command::Answer { ask: ask.id, answer: Answer::Nobody { why: None } }),
                    SessionEvent::Choice { id, .. } => send(Command::Choose { ask: id, chosen: Chosen::Nobody }),
                    SessionEvent::Done(done) => {
                        last = Some(done);
                        send(Command::End);
                    }
                    SessionEvent::Closed => break,
                    _ => {}
                }
            }
            // What it could not keep was told by its last event.
            _ = &mut running, if !ended => ended = true,
            _ = signals.next() => send(Command::Interrupt),
        }
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    last.ok_or_else(|| Failure::Task(anyhow!("the session ended without a result")))
}

/// The end of a task that is no answer of a model, if this is it.
pub(crate) fn ended_by(until: Until, event: &SessionEvent) -> Option<Done> {
    let done = |text: String| Some(Done { text, ..Done::default() });
    let failed = |text: &str| Some(Done { reason: Reason::Failed, text: text.to_owned(), ..Done::default() });
    match (until, event) {
        (Until::Compacted, SessionEvent::Compacted(compacted)) => {
            done(format!("made shorter: {} tokens, {} now", compacted.before, compacted.after))
        }
        (Until::Compacted, SessionEvent::Note { kind: NoteKind::Context, text }) => failed(text),
        (Until::Restored, SessionEvent::Restored(restored)) => match &restored.refused {
            Some(why) => failed(why),
            None => done(restored_text(restored)),
        },
        (Until::Model, SessionEvent::Model(model)) => done(format!("{model} is asked from now on")),
        (Until::Mode, SessionEvent::Mode(mode)) => done(match mode {
            Mode::Plan => "planning: nothing is changed from now on".to_owned(),
            Mode::Default | Mode::AcceptEdits | Mode::Bypass => "planning is over".to_owned(),
        }),
        (Until::Answered | Until::Compacted | Until::Restored | Until::Model | Until::Mode, _) => None,
    }
}

fn restored_text(restored: &Restored) -> String {
    let mut lines: Vec<String> = restored.files.iter().map(|file| format!("restored {file}")).collect();
    let left = |file: &String| format!("left alone, since somebody else changed it: {file}");
    lines.extend(restored.conflicts.iter().map(left));
    if let Some(turn) = restored.before_turn {
        lines.push(format!("the conversation ends before message {turn}"));
    }
    if lines.is_empty() { "no file had to be changed".to_owned() } else { lines.join("\n") }
}
