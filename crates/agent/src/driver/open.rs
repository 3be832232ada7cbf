//! How a session begins or goes on.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};

use rail_config::{Env, Inputs, Loaded};
use rail_journal::snapshots::{History, Limits, Snapshots, Step};
use rail_journal::store::Store;
use rail_journal::{
    JournalError, Record, Resumed, SessionId, VERSION, Window, Writer, agent_folder, project_key,
    session_folder,
};
use rail_permit::Policy;
use rail_proto::{Mode, Opened};
use rail_tool::{Agents, Allowed, Asks, Dialect, Executor, OutputNote, Parts, Registry, Session};
use rail_upstream::Upstream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::ask::Asking;
use super::clock::{now, today};
use super::delegate::{Team, Within};
use super::heads::{Heads, head};
use super::ports::Line;
use super::servers::{Guests, McpSetup, Servers, ServersTold};
use super::world::Known;
use super::{Agent, Figures, Handle, show};
use crate::aside::{Aside, AsideParts};
use crate::hooks::{CallbackHooks, HookFacts, HookRunner, StartSource};
use crate::machine::{Bounds, Head, Machine};
use crate::memory::{Memory, MemoryPlaces};
use crate::prompt::Environment;
use crate::team::{AgentType, Purse};

/// What a session is made of.
pub struct Setup {
    /// The configuration.
    pub loaded: Arc<Loaded>,
    /// The environment.
    pub env: Env,
    /// The way to models.
    pub upstream: Upstream,
    /// The tools there are, of all generations that the session has.
    pub registry: Registry,
    /// What the user allows.
    pub policy: Policy,
    /// What all calls share; its folder is set by the session itself.
    pub session: Session,
    /// The model to ask.
    pub model: String,
    /// What a task is held to.
    pub bounds: Bounds,
    /// Where sessions and snapshots are kept.
    pub state: PathBuf,
    /// Whether a session begins or goes on.
    pub begin: Begin,
    /// The names of the slash commands there are.
    pub commands: Vec<String>,
    /// What takes the place of the base text of the system prompt.
    pub role: Option<String>,
    /// What is said at the end of the system prompt.
    pub also: Option<String>,
    /// Hooks of the client's, which are called back.
    pub callbacks: Option<CallbackHooks>,
    /// The MCP servers.
    pub mcp: Option<McpSetup>,
    /// The types of agents that calls can set to work.
    pub agent_types: Arc<[AgentType]>,
}

/// Whether a session begins or goes on.
#[derive(Clone, PartialEq, Debug)]
pub enum Begin {
    /// A new one, with an id of its own or this one.
    New(Option<SessionId>),
    /// The one in this folder.
    Resume(PathBuf),
}

/// Why a session can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its journal can't be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// No id could be made.
    #[error("no id can be made for the session: {0}")]
    Id(std::io::Error),
}

impl Agent {
    /// Opens a session; it runs once [`Agent::run`] is awaited.
    ///
    /// # Errors
    /// Its journal can't be written or read.
    pub fn open(setup: Setup) -> Result<(Self, Handle), OpenError> {
        Self::open_within(setup, None)
    }

    /// The same for an agent that another one set to work.
    pub(super) fn open_within(mut setup: Setup, within: Option<Within>) -> Result<(Self, Handle), OpenError> {
        let (mut writer, resumed) = journal(&setup, within.as_ref())?;
        let (commands_to, commands) = mpsc::unbounded_channel();
        let (events, events_from) = mpsc::unbounded_channel();
        let (news_to, news) = mpsc::unbounded_channel();
        let workspace = setup.session.workspace.clone();
        let inputs =
            Inputs { env: setup.env.clone(), working_folder: workspace.clone(), ..Inputs::default() };
        let line = Line { to: news_to, step: Arc::new(AtomicU64::new(0)), inputs: Arc::new(inputs) };
        if let Some(resumed) = &resumed {
            recall(&mut setup, resumed);
        }
        let asking = Arc::new(Asking {
            upstream: setup.upstream.clone(),
            loaded: Arc::clone(&setup.loaded),
            sessions: Mutex::default(),
            line: line.clone(),
            budget: within.as_ref().map_or(setup.bounds.usd, |within| within.purse.usd()),
        });
        let purse = match &within {
            Some(within) => Arc::clone(&within.purse),
            None => Arc::new(Purse::new(&setup.bounds)),
        };
        let allowed = match &within {
            Some(within) => within.allowed.clone(),
            None => Allowed::from(setup.policy.clone()),
        };
        let asks: Arc<dyn Asks> = match &within {
            Some(within) => Arc::clone(&within.asks),
            None => Arc::new(line.clone()),
        };
        let aside = aside(&setup, &purse);
        let servers = servers(&mut setup, within.as_ref(), &aside, (&asks, &allowed, &line));
        let (own_tools, declared) = match &servers {
            Some(servers) => (setup.registry.clone(), servers.declared(&setup.registry)),
            None => (setup.registry.clone(), setup.registry.clone()),
        };
        let mut memory = Memory::new(memory_places(&setup), now);
        let found = memory.begin();
        let not_read = found.notes.clone();
        let environment = Environment::gather(&setup.env, &workspace, today().0 / 1000);
        let now_known = Known::of(&environment, &found.files);
        let written = resumed.as_ref().and_then(|resumed| resumed.head.clone());
        let spoke = written.as_ref().map(|written| written.dialect.as_str());
        let heads = Heads::new(&setup, &declared, &asking, environment, found, spoke);
        let told = resumed.as_ref().and_then(|resumed| Known::read(resumed.state.known.as_ref()));
        let (prompt, known) = match written.filter(|written| heads.serves(written, &setup.policy)) {
            Some(written) => (written, told.unwrap_or(now_known)),
            None => {
                let prompt = heads.under(&setup.policy);
                writer.append(today(), Record::Prompt(prompt.clone()))?;
                writer.append(today(), now_known.record())?;
                (prompt, now_known)
            }
        };
        let (dialect, head) = (Dialect::named(&prompt.dialect), head(&setup.model, prompt));
        let mut effects = Vec::new();
        let (history, steps) = history(resumed.as_ref());
        let opened = opened(&setup, &writer, (&head, heads.registry()), resumed.as_ref());
        let begun = if resumed.is_some() { StartSource::Resume } else { StartSource::Startup };
        let machine = match resumed {
            Some(Resumed { window, .. }) => {
                Machine::resumed(head, setup.bounds.clone(), window, &mut effects)
            }
            None => Machine::resumed(head, setup.bounds.clone(), Window::default(), &mut effects),
        };
        let mut session = setup.session;
        session.folder = writer.folder().join("outputs");
        let team = Arc::new(Team {
            loaded: Arc::clone(&setup.loaded),
            env: setup.env.clone(),
            upstream: setup.upstream.clone(),
            registry: Mutex::new(setup.registry.clone()),
            types: Arc::clone(&setup.agent_types),
            state: setup.state.clone(),
            parent: (own_id(&writer), writer.folder().to_owned()),
            depth: within.as_ref().map_or(0, |within| within.depth),
            allowed: allowed.clone(),
            asks: Arc::clone(&asks),
            purse: Arc::clone(&purse),
            line: line.clone(),
            model: Mutex::new(setup.model.clone()),
            hooks: OnceLock::new(),
            running: Mutex::default(),
            servers: servers.clone(),
        });
        session.agents = Arc::clone(&team) as Arc<dyn Agents>;
        session.models = Arc::clone(&aside) as Arc<dyn rail_tool::Models>;
        let session = Arc::new(session);
        let facts = HookFacts {
            id: opened.id.clone(),
            transcript: writer.folder().join("journal.jsonl"),
            session: Arc::clone(&session),
        };
        let hooks = match &within {
            Some(within) => Arc::clone(&within.hooks),
            None => {
                let hooks = HookRunner::new(&setup.loaded.settings.hooks, facts, Arc::new(line.clone()));
                let hooks = match setup.callbacks {
                    Some(callbacks) => hooks.with_callbacks(callbacks),
                    None => hooks,
                };
                hooks.set_mode(setup.policy.mode);
                Arc::new(hooks)
            }
        };
        // It was made just now, and nobody has set it.
        let _ = team.hooks.set(Arc::downgrade(&hooks));
        // What a policy bars is refused; what a generation lacks is not there.
        let generation = setup.loaded.settings.agent.generation;
        let callable = match &servers {
            Some(servers) => servers.callable(&own_tools).up_to(generation),
            None => heads.registry().clone(),
        };
        let executor = Executor::new(Parts {
            registry: callable,
            session: Arc::clone(&session),
            policy: allowed,
            asks,
            hooks: Arc::clone(&hooks) as Arc<dyn rail_tool::Hooks>,
            watch: Arc::new(line.clone()),
            dialect,
        });
        let store = Store::at(setup.state.join("snapshots").join(project_key(&workspace)));
        // What an agent changes is part of the step of the one that set it to work.
        let snapshots =
            within.is_none().then(|| Arc::new(Snapshots::open(store, &workspace, Limits::default())));
        let mut agent = Self {
            machine,
            writer,
            opened,
            commands,
            events,
            news,
            line,
            seq: 0,
            asking,
            aside,
            executor: Arc::new(executor),
            session,
            hooks,
            memory,
            heads,
            known,
            not_read,
            env: setup.env,
            snapshots,
            sessions: setup.state.join("sessions"),
            history,
            steps,
            tasks: JoinSet::new(),
            running: Default::default(),
            last_tools: None,
            asks: Default::default(),
            choices: Default::default(),
            names: Default::default(),
            shells: Vec::new(),
            task: Figures::default(),
            held: false,
            prompts: VecDeque::new(),
            withdrawn: false,
            begun,
            purse,
            turn: None,
            team,
            servers,
            servers_told: ServersTold::default(),
            own_tools,
            within,
        };
        agent.carry_out(effects)?;
        agent.learn_room()?;
        Ok((agent, Handle { commands: commands_to, events: events_from }))
    }
}

/// The MCP servers: those of whoever set this agent to work, or its own, which are started.
fn servers(
    setup: &mut Setup,
    within: Option<&Within>,
    aside: &Arc<Aside>,
    (asks, allowed, line): (&Arc<dyn Asks>, &Allowed, &Line),
) -> Option<Servers> {
    if let Some(within) = within {
        return within.servers.clone();
    }
    let mcp = setup.mcp.take().filter(|mcp| !mcp.servers.is_empty())?;
    let workspace = setup.session.workspace.clone();
    let host = Guests {
        asks: Arc::clone(asks),
        models: Arc::clone(aside) as Arc<dyn rail_tool::Models>,
        allowed: allowed.clone(),
        roots: vec![workspace.clone()],
        line: line.clone(),
        asked: AtomicU64::new(1),
    };
    Some(Servers::start(mcp, host, workspace))
}

/// The models that tools ask beside the conversation. They are paid from the task's purse, which is looked into before each is asked.
fn aside(setup: &Setup, purse: &Arc<Purse>) -> Arc<Aside> {
    let (open, spend) = (Arc::clone(purse), Arc::clone(purse));
    Arc::new(Aside::new(AsideParts {
        upstream: setup.upstream.clone(),
        loaded: Arc::clone(&setup.loaded),
        env: setup.env.clone(),
        model: setup.model.clone(),
        budget: purse.usd(),
        may: Arc::new(move || open.open()),
        heard: Arc::new(move |spent| spend.spend(spent.usage.total(), spent.cost_usd.unwrap_or_default())),
    }))
}

/// The journal of the session, new or with what it holds.
fn journal(setup: &Setup, within: Option<&Within>) -> Result<(Writer, Option<Resumed>), OpenError> {
    if let Some(Within { id, parent: (parent, folder), .. }) = within {
        let opened = rail_journal::Opened {
            version: VERSION,
            id: id.clone(),
            cwd: setup.session.workspace.clone(),
            model: setup.model.clone(),
            parent: None,
            agent_of: parent.clone(),
        };
        return Ok((Writer::create(&agent_folder(folder, id), today(), opened)?, None));
    }
    match &setup.begin {
        Begin::Resume(folder) => {
            let (writer, resumed) = Writer::resume(folder)?;
            Ok((writer, Some(resumed)))
        }
        Begin::New(id) => {
            let id = match id {
                Some(id) => id.clone(),
                None => SessionId::mint(today()).map_err(OpenError::Id)?,
            };
            let folder = session_folder(&setup.state.join("sessions"), &setup.session.workspace, &id);
            let opened = rail_journal::Opened {
                version: VERSION,
                id,
                cwd: setup.session.workspace.clone(),
                model: setup.model.clone(),
                parent: None,
                agent_of: None,
            };
            Ok((Writer::create(&folder, today(), opened)?, None))
        }
    }
}

/// The id of the session, which its folder is named by.
fn own_id(writer: &Writer) -> Option<SessionId> {
    writer.folder().file_name()?.to_str()?.parse().ok()
}

/// What was so in the session that goes on is so again.
fn recall(setup: &mut Setup, resumed: &Resumed) {
    let mode = resumed.state.mode.as_deref().and_then(mode_of).map(show::to_permit);
    // What was allowed to a session is no leave for the next one; planning is a restriction, and stays.
    if let (rail_permit::Mode::Default, Some(mode @ rail_permit::Mode::Plan)) = (setup.policy.mode, mode) {
        setup.policy.mode = mode;
    }
    if setup.model.is_empty() {
        setup.model.clone_from(&resumed.state.model);
    }
    recall_notes(&setup.session, resumed);
}

/// The lists of the planning tools are what they were there.
pub(super) fn recall_notes(session: &Session, resumed: &Resumed) {
    fn list<T: serde::de::DeserializeOwned>(written: Option<&serde_json::Value>) -> Vec<T> {
        written.and_then(|value| serde_json::from_value(value.clone()).ok()).unwrap_or_default()
    }
    let state = &resumed.state;
    rail_tools::recall(session, &OutputNote::Todos(list(state.todos.as_ref())));
    rail_tools::recall(session, &OutputNote::Findings(list(state.findings.as_ref())));
}

fn memory_places(setup: &Setup) -> MemoryPlaces {
    let user: Option<&Path> = setup.loaded.places.as_ref().map(|places| places.config.as_path());
    let names = &setup.loaded.settings.agent.memory_files;
    MemoryPlaces::find(&setup.session.workspace, user, setup.env.home(), names)
}

/// The steps that can be undone.
fn history(resumed: Option<&Resumed>) -> (History, Vec<u64>) {
    let (mut history, mut steps) = (History::default(), Vec::new());
    for snapshot in resumed.iter().flat_map(|resumed| &resumed.snapshots) {
        if let (Ok(before), Ok(after)) = (snapshot.before.parse(), snapshot.after.parse()) {
            history.record(Step { before, after });
            steps.push(snapshot.step);
        }
    }
    let undone = resumed.map_or(0, |resumed| resumed.undone);
    if let Some(plan) = history.done().checked_sub(undone).and_then(|done| history.rewind(done)) {
        history.went(&plan);
    }
    (history, steps)
}

fn opened(
    setup: &Setup,
    writer: &Writer,
    (head, registry): (&Head, &Registry),
    resumed: Option<&Resumed>,
) -> Opened {
    let id = writer.folder().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let torn = resumed.and_then(|resumed| resumed.torn.as_ref());
    // Without the tool for it nobody can use them.
    let agents = registry.get("task").map_or(&[][..], |_| &setup.agent_types);
    let skills = registry.get("skill").map_or(&[][..], |_| &setup.session.skills);
    Opened {
        id,
        cwd: setup.session.workspace.display().to_string(),
        model: setup.model.clone(),
        tools: head.tools.iter().map(|tool| tool.name.clone()).collect(),
        mode: show::to_proto(setup.policy.mode),
        commands: setup.commands.clone(),
        agents: agents.iter().map(|kind| kind.name.clone()).collect(),
        skills: skills.iter().map(|skill| skill.name.clone()).collect(),
        resumed: resumed.is_some(),
        mended: torn.map(|torn| {
            format!("the last line of the journal was not whole: {} bytes were set aside", torn.bytes)
        }),
    }
}

/// The mode's word in journals.
pub(super) fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "default",
        Mode::AcceptEdits => "accept-edits",
        Mode::Plan => "plan",
        Mode::Bypass => "bypass",
    }
}

fn mode_of(word: &str) -> Option<Mode> {
    [Mode::Default, Mode::AcceptEdits, Mode::Plan, Mode::Bypass]
        .into_iter()
        .find(|mode| mode_word(*mode) == word)
}
