//! The driver: one loop that turns the world into inputs of the machine, and does what the machine wants, in order.

mod ask;
mod clock;
mod delegate;
mod effects;
mod errands;
mod form;
mod heads;
mod heard;
mod open;
mod ports;
mod prune;
mod rewind;
mod servers;
mod shells;
mod show;
mod tools;
mod world;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rail_config::Env;
use rail_journal::snapshots::{History, Snapshots};
use rail_journal::{JournalError, Record, Writer};
use rail_permit::Question;
use rail_proto::{Command, Done, NoteKind, Opened, Prompt, Reason, SessionEvent, Shell};
use rail_tool::{Executor, Registry, Session};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::aside::Aside;
use crate::bill::Bill;
use crate::hooks::{EndReason, HookEvent, HookRunner, StartSource};
use crate::machine::{Input, Machine, StepId};
use crate::memory::{Memory, MemoryNote};
use crate::team::{Purse, Turn};
use ask::Asking;
use clock::{now, today};
use delegate::{Team, Within};
pub use errands::Errands;
use heads::Heads;
pub use open::{Begin, OpenError, Setup};
use ports::{Line, News};
pub use servers::McpSetup;
use servers::{Servers, ServersTold};
pub use show::file_change;
use world::Known;

/// How long calls that are interrupted have to say how far they were: an interruption is felt.
const LAST_WORDS: Duration = Duration::from_millis(80);
/// How long what was left in the background has to end.
const GRACE: Duration = Duration::from_secs(1);

/// An event with its number, counted from 1.
#[derive(Clone, PartialEq, Debug)]
pub struct Numbered {
    /// The number.
    pub seq: u64,
    /// The event.
    pub event: SessionEvent,
}

/// A front end's two ends of a session.
#[derive(Debug)]
pub struct Handle {
    /// Where commands go. When all senders are gone the session ends.
    pub commands: mpsc::UnboundedSender<Command>,
    /// Where events come from.
    pub events: mpsc::UnboundedReceiver<Numbered>,
}

/// A session that runs.
pub struct Agent {
    machine: Machine,
    writer: Writer,
    opened: Opened,
    commands: mpsc::UnboundedReceiver<Command>,
    events: mpsc::UnboundedSender<Numbered>,
    news: mpsc::UnboundedReceiver<News>,
    line: Line,
    seq: u64,
    asking: Arc<Asking>,
    aside: Arc<Aside>,
    executor: Arc<Executor>,
    session: Arc<Session>,
    hooks: Arc<HookRunner>,
    memory: Memory,
    heads: Heads,
    known: Known,
    /// What was not read of memory files when it was opened.
    not_read: Vec<MemoryNote>,
    env: Env,
    snapshots: Option<Arc<Snapshots>>,
    /// Where the sessions of all folders are.
    sessions: PathBuf,
    history: History,
    /// The steps of the history, by their numbers.
    steps: Vec<u64>,
    /// The step whose calls run, and the workspace before it.
    before: Option<(StepId, String)>,
    tasks: JoinSet<()>,
    running: BTreeMap<StepId, CancellationToken>,
    /// The last calls that were begun: the next ones wait for their end.
    last_tools: Option<oneshot::Receiver<()>>,
    asks: BTreeMap<String, (Box<Question>, oneshot::Sender<rail_tool::Reply>)>,
    choices: BTreeMap<String, oneshot::Sender<rail_proto::Chosen>>,
    /// The native names of tools of calls that run.
    names: BTreeMap<String, String>,
    /// The commands in the background, as was told last.
    shells: Vec<Shell>,
    task: Figures,
    /// Whether a hook already did not let this task end.
    held: bool,
    begun: StartSource,
    /// What the task and all agents that it sets to work may take.
    purse: Arc<Purse>,
    /// The request that is under way.
    asked: Option<Asked>,
    team: Arc<Team>,
    /// The MCP servers, if there are some.
    servers: Option<Servers>,
    servers_told: ServersTold,
    /// The tools that are no server's.
    own_tools: Registry,
    /// What it has from the agent that set it to work, if one did.
    within: Option<Within>,
    /// What the user said and the hooks have not seen yet; they are looking at the first.
    prompts: VecDeque<Prompt>,
    /// Whether the user interrupted what the hooks are looking at.
    withdrawn: bool,
}

/// A request that is under way.
struct Asked {
    step: StepId,
    /// The turn that was taken for it, if it is one.
    turn: Option<Turn>,
    bill: Arc<Bill>,
}

/// What is told of a task at its end.
#[derive(Default)]
struct Figures {
    began: Option<Instant>,
    api_ms: u64,
    denials: Vec<(String, String)>,
    /// What would allow a call, by its id.
    ways: BTreeMap<String, String>,
}

impl Agent {
    /// Runs the session until it is ended, and gives back what could not be kept, if something could not.
    ///
    /// # Errors
    /// The journal can't be written any more.
    pub async fn run(mut self) -> Result<(), JournalError> {
        let done = self.work().await;
        if let Err(error) = &done {
            let text = format!("the session was ended: {error}");
            self.emit(SessionEvent::Done(Done { reason: Reason::Failed, text, ..self.figures() }));
        }
        self.close().await;
        done
    }

    async fn work(&mut self) -> Result<(), JournalError> {
        self.begin().await?;
        loop {
            let limit = self.time_limit();
            tokio::select! {
                biased;
                news = self.news.recv() => match news {
                    Some(news) => self.heard(news)?,
                    None => return Ok(()),
                },
                command = self.commands.recv() => match command {
                    None | Some(Command::End) => {
                        self.interrupt().await?;
                        // What waits begins a task of its own, which is ended as well.
                        while self.machine.is_busy() {
                            self.interrupt().await?;
                        }
                        // What the last calls changed is known only then, and could not be undone otherwise.
                        return self.calls_ended().await;
                    }
                    Some(command) => self.command(command).await?,
                },
                text = over(limit) => self.input(Input::Exhausted(text))?,
                // Ended tasks are taken away.
                Some(_) = self.tasks.join_next() => {}
            }
        }
    }

    /// How long the task that is worked on may take, and since when it is.
    fn time_limit(&self) -> Option<(Duration, Instant)> {
        let limit = self.machine.bounds().time.filter(|_| self.machine.is_busy());
        limit.zip(self.task.began)
    }

    async fn begin(&mut self) -> Result<(), JournalError> {
        self.emit(SessionEvent::Opened(self.opened.clone()));
        self.watch_servers();
        self.watch_shells();
        if let Some(within) = &self.within {
            let (id, agent_type) = (within.id.as_str().to_owned(), within.kind.clone());
            let event = HookEvent::SubagentStart { id, agent_type };
            let outcome = self.hooks.run(&event, &CancellationToken::new()).await;
            self.hook_said("SubagentStart", &outcome);
            return outcome.context.into_iter().try_for_each(|text| self.input(Input::Tell(text)));
        }
        for problem in self.hooks.problems().to_vec() {
            self.note(NoteKind::Hook, problem);
        }
        let not_read = std::mem::take(&mut self.not_read);
        self.not_read(&not_read);
        let event = HookEvent::SessionStart { source: self.begun, model: Some(self.opened.model.clone()) };
        let outcome = self.hooks.run(&event, &CancellationToken::new()).await;
        self.hook_said("SessionStart", &outcome);
        outcome.context.into_iter().try_for_each(|text| self.input(Input::Tell(text)))
    }

    async fn command(&mut self, command: Command) -> Result<(), JournalError> {
        match command {
            Command::Submit(prompt) => self.submit(prompt),
            Command::Interrupt => return self.interrupt().await,
            Command::Answer { ask, answer } => {
                if let Some((question, reply)) = self.asks.remove(&ask) {
                    // Who asked may not want to know any more.
                    let _ = reply.send(show::answer(&question, answer));
                }
            }
            Command::Choose { ask, chosen } => {
                if let Some(reply) = self.choices.remove(&ask) {
                    let _ = reply.send(chosen);
                }
            }
            Command::SetMode(mode) => return self.set_mode(mode),
            Command::SetModel(model) => {
                self.team.set_model(&model);
                self.write(Record::Model(model.clone()))?;
                self.aside.set_model(&model);
                self.input(Input::SetModel(model))?;
                self.head_for_model()?;
                return self.learn_room();
            }
            Command::Compact { keep } => return self.input(Input::Compact(keep)),
            Command::Undo => return self.undo().await,
            Command::Redo => return self.redo().await,
            Command::Rewind { turn, what } => return self.rewind(turn, what).await,
            Command::StopAgent { id } => self.team.stop(&id),
            Command::KillShell { id } => self.kill_shell(id),
            // Taken care of before.
            Command::End => {}
        }
        Ok(())
    }

    /// How much the model takes that is asked next: a conversation that goes on with another one may not fit it.
    fn learn_room(&mut self) -> Result<(), JournalError> {
        let room = self.asking.room(&self.machine.next_request());
        self.input(Input::Room(room))
    }

    /// What the user says goes to the hooks first, beside everything else, one after the other: the order stays.
    fn submit(&mut self, prompt: Prompt) {
        self.prompts.push_back(prompt);
        if self.prompts.len() == 1 {
            self.next_prompt();
        }
    }

    fn next_prompt(&mut self) {
        let Some(prompt) = self.prompts.front() else { return };
        if self.within.is_some() {
            // It is no user who speaks.
            return self.line.tell(News::Submitted { outcome: Box::default() });
        }
        let texts: Vec<&str> = prompt.parts.iter().filter_map(rail_model::Part::as_text).collect();
        let event = HookEvent::UserPromptSubmit { prompt: texts.join("\n") };
        let (hooks, line) = (Arc::clone(&self.hooks), self.line.clone());
        self.tasks.spawn(async move {
            let outcome = Box::new(hooks.run(&event, &CancellationToken::new()).await);
            line.tell(News::Submitted { outcome });
        });
    }

    fn set_mode(&mut self, mode: rail_proto::Mode) -> Result<(), JournalError> {
        let permit = show::to_permit(mode);
        if self.executor.policy().mode == permit {
            // Whoever asked for it waits to hear that it is so.
            self.emit(SessionEvent::Mode(mode));
            return Ok(());
        }
        self.executor.change_policy(|policy| policy.mode = permit);
        self.mode_changed(permit)?;
        self.input(Input::Tell(mode_told(permit).to_owned()))
    }

    /// Another mode is in force: it is written down and told.
    fn mode_changed(&mut self, mode: rail_permit::Mode) -> Result<(), JournalError> {
        let shown = show::to_proto(mode);
        self.hooks.set_mode(mode);
        self.write(Record::Mode(open::mode_word(shown).to_owned()))?;
        self.emit(SessionEvent::Mode(shown));
        self.head_follows()
    }

    /// Ends whatever runs. Calls have a moment to say how far they were.
    async fn interrupt(&mut self) -> Result<(), JournalError> {
        self.running.values().for_each(CancellationToken::cancel);
        self.withdraw_all();
        self.withdrawn = !self.machine.is_busy() && !self.prompts.is_empty();
        let Some(step) = self.machine.executing() else { return self.input(Input::Interrupt) };
        self.input(Input::LastCalls)?;
        // Who was set to work has to be done with it before the one that waits for it is.
        let deadline = tokio::time::sleep(if self.within.is_some() { LAST_WORDS / 2 } else { LAST_WORDS });
        tokio::pin!(deadline);
        while self.machine.executing() == Some(step) {
            tokio::select! {
                news = self.news.recv() => match news {
                    // Whatever else comes meanwhile counts too: nothing that was said is lost.
                    Some(news) => self.heard(news)?,
                    None => break,
                },
                () = &mut deadline => break,
            }
        }
        self.withdraw_all();
        if self.machine.executing() == Some(step) { self.input(Input::Interrupt) } else { Ok(()) }
    }

    /// Ends all that was begun.
    async fn close(&mut self) {
        self.running.values().for_each(CancellationToken::cancel);
        self.tasks.shutdown().await;
        self.last_spent();
        rail_tools::end_commands(&self.session, GRACE).await;
        self.shells_over();
        if self.within.is_some() {
            // What skills lent to it was lent to nobody else.
            self.executor.end_lent();
        }
        if let (Some(servers), None) = (&self.servers, &self.within) {
            servers.hub.stop().await;
        }
        if self.within.is_none() {
            let event = HookEvent::SessionEnd { reason: EndReason::Other };
            let outcome = self.hooks.run(&event, &CancellationToken::new()).await;
            self.hook_said("SessionEnd", &outcome);
            self.prune_snapshots().await;
        }
        // What is not safe by now was told when it was written.
        let _ = self.writer.sync();
        self.emit(SessionEvent::Closed);
    }

    fn write(&mut self, record: Record) -> Result<(), JournalError> {
        self.writer.append(today(), record).map(drop)
    }

    fn note(&mut self, kind: NoteKind, text: String) {
        self.emit(SessionEvent::Note { kind, text });
    }

    fn emit(&mut self, event: SessionEvent) {
        self.seq += 1;
        // Nobody may be listening any more; the journal is.
        let _ = self.events.send(Numbered { seq: self.seq, event });
    }

    fn figures(&self) -> Done {
        let duration_ms = self.task.began.map_or(0, clock::millis);
        Done { duration_ms, api_ms: self.task.api_ms, denials: self.task.denials.clone(), ..Done::default() }
    }

    /// A task begins.
    fn task_begins(&mut self) {
        if self.within.is_none() {
            self.purse.refill();
        }
        self.servers_told.forget_count();
        self.task = Figures { began: Some(now()), ..Figures::default() };
        self.held = false;
    }
}

/// Waits until a time limit is over, and says that it is.
async fn over(limit: Option<(Duration, Instant)>) -> String {
    let Some((limit, began)) = limit else { return std::future::pending().await };
    tokio::time::sleep_until((began + limit).into()).await;
    format!("the task was ended after {limit:?}, as long as was allowed")
}

fn mode_told(mode: rail_permit::Mode) -> &'static str {
    match mode {
        rail_permit::Mode::Default => {
            "The permission mode is now `default`: the user is asked before you write or run something."
        }
        rail_permit::Mode::AcceptEdits => {
            "The permission mode is now `accept-edits`: you may edit files of the workspace without asking."
        }
        rail_permit::Mode::Plan => {
            "The permission mode is now `plan`: look and plan only; calls that write or run something are refused until the user agrees."
        }
        rail_permit::Mode::Bypass => "The permission mode is now `bypass`: calls are done without asking.",
    }
}
