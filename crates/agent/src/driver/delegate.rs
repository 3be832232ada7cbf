//! Agents that a call sets to work: each is a session of its own beside its parent's, driven inside of the call.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use rail_config::{Env, Loaded};
use rail_journal::SessionId;
use rail_journal::snapshots::Snapshots;
use rail_permit::{Mode, Question, Rule};
use rail_proto::{AgentBegan, AgentEnded, Choices, Chosen, Command, Prompt, Reason, SessionEvent};
use rail_tool::{
    AgentCall, AgentDone, AgentTask, Agents, Allowed, Asks, BoxFuture, HookedCall, Registry, Reply, Session,
    ToolFault,
};
use rail_tools::agent_figures;
use rail_upstream::Upstream;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::clock::{millis, now, today};
use super::ports::{Line, News};
use super::servers::Servers;
use super::{Agent, Begin, Handle, Setup};
use crate::hooks::HookRunner;
use crate::machine::Bounds;
use crate::team::figures::Figures;
use crate::team::tools::of_type;
use crate::team::{AgentType, Purse, Tools};

/// What an agent that was set to work has from the one that did it.
pub(super) struct Within {
    /// Its own id.
    pub(super) id: SessionId,
    /// Its type.
    pub(super) kind: String,
    /// The session that it belongs to, and its folder.
    pub(super) parent: (Option<SessionId>, PathBuf),
    /// How many there are above it.
    pub(super) depth: u32,
    pub(super) hooks: Arc<HookRunner>,
    pub(super) asks: Arc<dyn Asks>,
    pub(super) allowed: Allowed,
    pub(super) purse: Arc<Purse>,
    pub(super) servers: Option<Servers>,
    /// The snapshots of the workspace, and the session whose steps can be undone.
    pub(super) snapshots: Option<Arc<Snapshots>>,
    pub(super) root: Line,
}

/// Sets agents to work for one session.
pub(super) struct Team {
    pub(super) loaded: Arc<Loaded>,
    pub(super) env: Env,
    pub(super) upstream: Upstream,
    /// All tools there are; it is changed when servers bring others.
    pub(super) registry: Mutex<Registry>,
    pub(super) types: Arc<[AgentType]>,
    pub(super) state: PathBuf,
    /// The session that sets them to work, and its folder.
    pub(super) parent: (Option<SessionId>, PathBuf),
    pub(super) depth: u32,
    pub(super) allowed: Allowed,
    pub(super) asks: Arc<dyn Asks>,
    pub(super) purse: Arc<Purse>,
    pub(super) line: Line,
    /// The snapshots of the workspace, and the session whose steps can be undone.
    pub(super) snapshots: Option<Arc<Snapshots>>,
    pub(super) root: Line,
    /// The model that the session asks.
    pub(super) model: Mutex<String>,
    /// The hooks know the session that knows this.
    pub(super) hooks: OnceLock<Weak<HookRunner>>,
    /// The MCP servers, if there are some.
    pub(super) servers: Option<Servers>,
    /// Those at work, by the call that set them to it.
    pub(super) running: Mutex<BTreeMap<String, AtWork>>,
}

/// An agent at work.
pub(super) struct AtWork {
    /// Ends it.
    cancel: CancellationToken,
    /// What it is told.
    commands: mpsc::UnboundedSender<Command>,
}

impl Team {
    /// Another model is asked from now on.
    pub(super) fn set_model(&self, model: &str) {
        model.clone_into(&mut self.model.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Ends the agent of this call: one of ours, or one that is further down.
    pub(super) fn stop(&self, call: &str) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = running.get(call) {
            return own.cancel.cancel();
        }
        let above = call.split_once('/').and_then(|(above, rest)| Some((running.get(above)?, rest)));
        match above {
            Some((agent, rest)) => agent.tell(Command::StopAgent { id: rest.to_owned() }),
            // Whose it is, they know.
            None => running.values().for_each(|agent| agent.tell(Command::StopAgent { id: call.to_owned() })),
        }
    }

    /// Ends a command that runs in the background of this call's agent.
    pub(super) fn kill_shell(&self, call: &str, id: &str) {
        if let Some(agent) = self.running.lock().unwrap_or_else(PoisonError::into_inner).get(call) {
            agent.tell(Command::KillShell { id: id.to_owned() });
        }
    }

    async fn work(&self, task: AgentTask, call: AgentCall<'_>) -> Result<AgentDone, ToolFault> {
        let kind = self.kind(&task)?;
        let hooks = self.hooks.get().and_then(Weak::upgrade);
        let hooks =
            hooks.ok_or_else(|| ToolFault::new("the session is being ended; nothing can be set to work"))?;
        let id = SessionId::mint(today())
            .map_err(|error| ToolFault::caused("the agent can't be begun: it can't be given an id", error))?;
        let model = task.model.clone().or_else(|| kind.model.clone());
        let model =
            model.unwrap_or_else(|| self.model.lock().unwrap_or_else(PoisonError::into_inner).clone());
        let began = AgentBegan {
            id: call.id.to_owned(),
            agent: id.as_str().to_owned(),
            kind: kind.name.clone(),
            description: task.description.clone(),
            model: model.clone(),
        };
        let within = Within {
            id,
            kind: kind.name.clone(),
            parent: self.parent.clone(),
            depth: self.depth + 1,
            hooks,
            asks: Arc::new(Upward { asks: Arc::clone(&self.asks), call: call.id.to_owned() }),
            allowed: self.allowed.clone(),
            purse: Arc::clone(&self.purse),
            servers: self.servers.as_ref().map(|servers| servers.for_agent(&kind)),
            snapshots: self.snapshots.clone(),
            root: self.root.clone(),
        };
        let setup = self.setup(&kind, model, call.session.beside());
        let (agent, handle) = Agent::open_within(setup, Some(within)).map_err(|error| {
            ToolFault::caused("the agent can't be begun: its journal can't be written", error)
        })?;
        self.line.tell(News::Agent(Box::new(SessionEvent::AgentBegan(began))));
        let cancel = call.cancel.child_token();
        let at_work = AtWork { cancel: cancel.clone(), commands: handle.commands.clone() };
        let _running = Running::new(self, call.id, at_work);
        self.follow(agent, handle, &task, (&call, &cancel)).await
    }

    /// The type that a task names. Without one the agent only looks, unless nothing is asked about anyway.
    fn kind(&self, task: &AgentTask) -> Result<AgentType, ToolFault> {
        let named = |name: &str| self.types.iter().find(|kind| kind.name.eq_ignore_ascii_case(name)).cloned();
        if task.kind.is_empty() {
            let usual = named("general-purpose").or_else(|| self.types.first().cloned());
            let usual =
                usual.ok_or_else(|| ToolFault::new("there is no type of agent; do the task yourself"))?;
            let tools = if self.allowed.now().mode == Mode::Bypass { usual.tools } else { Tools::ReadOnly };
            return Ok(AgentType { tools, ..usual });
        }
        named(&task.kind).ok_or_else(|| {
            let names: Vec<&str> = self.types.iter().map(|kind| kind.name.as_str()).collect();
            let there = names.join("`, `");
            ToolFault::new(format!("there is no type of agent `{}`; there are `{there}`", task.kind))
        })
    }

    fn setup(&self, kind: &AgentType, model: String, session: Session) -> Setup {
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let deeper = self.depth + 1 < self.loaded.settings.agent.agent_depth;
        Setup {
            loaded: Arc::clone(&self.loaded),
            env: self.env.clone(),
            upstream: self.upstream.clone(),
            registry: of_type(&registry, kind, deeper),
            policy: self.allowed.now().as_ref().clone(),
            session,
            model,
            // What all agents of a task take together is bounded by the purse.
            bounds: Bounds { usd: None, turns: None, tokens: None, time: None, ..Bounds::default() },
            state: self.state.clone(),
            begin: Begin::New(None),
            commands: Vec::new(),
            role: Some(kind.prompt.clone()),
            also: None,
            callbacks: None,
            mcp: None,
            agent_types: Arc::clone(&self.types),
        }
    }

    /// Drives the agent to its end, and tells all that happens in it.
    async fn follow(
        &self,
        agent: Agent,
        mut handle: Handle,
        task: &AgentTask,
        (call, cancel): (&AgentCall<'_>, &CancellationToken),
    ) -> Result<AgentDone, ToolFault> {
        let began = now();
        let mut ending = Ending { team: self, call: call.id, began, figures: Figures::default() };
        let say = |command: Command| {
            // One that has ended hears nothing any more.
            let _ = handle.commands.send(command);
        };
        say(Command::Submit(Prompt::text(task.prompt.clone())));
        let mut run = Box::pin(agent.run());
        let mut ran = None;
        let mut stopped = false;
        loop {
            tokio::select! {
                biased;
                event = handle.events.recv() => {
                    let Some(numbered) = event else { break };
                    let ends = matches!(numbered.event, SessionEvent::Done(_));
                    if ending.figures.saw(&numbered.event) {
                        call.progress.say(&progress(&ending.figures, millis(began)));
                    }
                    let event = Box::new(numbered.event);
                    self.line.tell(News::Agent(Box::new(SessionEvent::AgentEvent { id: call.id.to_owned(), event })));
                    if ends {
                        say(Command::End);
                    }
                }
                () = cancel.cancelled(), if !stopped => {
                    stopped = true;
                    say(Command::End);
                }
                done = &mut run, if ran.is_none() => ran = Some(done),
            }
        }
        let (duration_ms, figures) = (millis(began), ending.figures.clone());
        drop(ending);
        if let Some(Err(error)) = ran {
            let figures = agent_figures(&figures.into_done(duration_ms));
            let what = format!("the agent was ended: its journal can't be written any more [{figures}]");
            return Err(ToolFault::caused(what, error));
        }
        self.outcome(figures, duration_ms, cancel.is_cancelled() && !call.cancel.is_cancelled())
    }

    fn ended(&self, call: &str, figures: &Figures, duration_ms: u64) {
        let denials = figures.done.as_ref().map(|done| done.denials.clone()).unwrap_or_default();
        self.line.tell(News::AgentDenied(denials));
        let ended = AgentEnded {
            id: call.to_owned(),
            reason: figures.reason(),
            tool_uses: figures.tool_uses,
            tokens: figures.tokens,
            cost_usd: figures.cost_usd,
            duration_ms,
        };
        self.line.tell(News::Agent(Box::new(SessionEvent::AgentEnded(ended))));
    }

    fn outcome(&self, figures: Figures, duration_ms: u64, by_user: bool) -> Result<AgentDone, ToolFault> {
        let reason = figures.reason();
        let told = figures.done.as_ref().map(|done| done.text.clone()).unwrap_or_default();
        let done = figures.into_done(duration_ms);
        let fault = |what: &str| Err(after(&done, what));
        match reason {
            Reason::Answered => Ok(AgentDone { text: told, ..done }),
            // What was allowed is used up: what it said last is all there is.
            Reason::TurnLimit | Reason::Budget => Ok(AgentDone { cut: Some(told), ..done }),
            Reason::Refused => fault(&format!("the agent's model refused the task: {told}")),
            Reason::Failed => {
                fault(&format!("the agent failed: {told}; do the task yourself, or set it to work again"))
            }
            Reason::Interrupted if by_user => {
                fault("the user stopped the agent; what it changed until then is not undone")
            }
            Reason::Interrupted => fault("the agent was stopped before it was done"),
        }
    }
}

/// What went wrong, and behind it what the agent had said last and what it took.
fn after(done: &AgentDone, what: &str) -> ToolFault {
    let said = done.text.trim();
    let last = if said.is_empty() { String::new() } else { format!("\nIt had said: {said}") };
    let figures = agent_figures(done);
    ToolFault::new(rail_tool::Telling::shown(format!("{what}{last}\n\n[{figures}]")))
}

/// How far an agent is: `3 tool uses, 4,100 tokens, 12 s: Read src/main.rs`.
fn progress(figures: &Figures, ms: u64) -> String {
    let (uses, tokens) = (rail_tool::digits(figures.tool_uses), rail_tool::digits(figures.tokens));
    let word = if figures.tool_uses == 1 { "use" } else { "uses" };
    let now = if figures.now.is_empty() { String::new() } else { format!(": {}", figures.now) };
    format!("{uses} tool {word}, {tokens} tokens, {} s{now}", ms / 1000)
}

impl Agents for Team {
    fn run<'a>(
        &'a self,
        task: AgentTask,
        call: AgentCall<'a>,
    ) -> BoxFuture<'a, Result<AgentDone, ToolFault>> {
        Box::pin(self.work(task, call))
    }
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team").field("types", &self.types.len()).finish_non_exhaustive()
    }
}

/// Tells the end of an agent, also where nobody waits for it any more.
struct Ending<'a> {
    team: &'a Team,
    call: &'a str,
    began: std::time::Instant,
    figures: Figures,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.team.ended(self.call, &self.figures, millis(self.began));
    }
}

impl AtWork {
    fn tell(&self, command: Command) {
        // One that has ended hears nothing any more.
        let _ = self.commands.send(command);
    }
}

/// An agent at work is known as long as this is there.
struct Running<'a> {
    team: &'a Team,
    call: &'a str,
}

impl<'a> Running<'a> {
    fn new(team: &'a Team, call: &'a str, agent: AtWork) -> Self {
        team.running.lock().unwrap_or_else(PoisonError::into_inner).insert(call.to_owned(), agent);
        Self { team, call }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.team.running.lock().unwrap_or_else(PoisonError::into_inner).remove(self.call);
    }
}

/// Questions of an agent are asked where those of its parent are, under ids that tell them apart.
struct Upward {
    asks: Arc<dyn Asks>,
    call: String,
}

impl Upward {
    fn id(&self, id: &str) -> String {
        format!("{}/{id}", self.call)
    }
}

impl Asks for Upward {
    fn ask<'a>(&'a self, call: &'a HookedCall, question: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let call = HookedCall { id: self.id(&call.id), ..call.clone() };
            self.asks.ask(&call, question).await
        })
    }

    fn keep(&self, rules: &[Rule]) -> Result<(), String> {
        self.asks.keep(rules)
    }

    fn choose<'a>(&'a self, id: &'a str, choices: &'a Choices) -> BoxFuture<'a, Chosen> {
        Box::pin(async move {
            let id = self.id(id);
            self.asks.choose(&id, choices).await
        })
    }
}
