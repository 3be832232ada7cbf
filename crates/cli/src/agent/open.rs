//! A session of the agent from flags and configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use rail_agent::hooks::CallbackHooks;
use rail_agent::machine::{Bounds, Summaries};
use rail_agent::{Agent, Begin, Handle, McpSetup, Setup};
use rail_config::mcp::Servers;
use rail_config::settings::{Compaction, DialectChoice, Hooks, ProviderSettings};
use rail_config::{Env, Inputs, Loaded};
use rail_journal::UnixMillis;
use rail_model::ToolDecl;
use rail_permit::Policy;
use rail_tool::{AnyTool, Editor, Limits, Registry};
use rail_tools::Sight;
use rail_upstream::Transport;
use serde::Deserialize;
use serde_json::Value;

use super::AgentFlags;
use super::brought::Brought;
use super::claude::Claude;
use super::headless::Shown;
use super::slash::offered;
use crate::clock::Now;
use crate::images::shrink_image;
use crate::setup::{Common, with_local, wrong};
use crate::tool::words::Dialect;
use crate::{Failure, output, setup, state, trust};

/// All that a session is opened from, read and checked.
pub(crate) struct Prepared {
    flags: AgentFlags,
    claude: Claude,
    /// The folder that is worked in, links resolved.
    pub(crate) workspace: PathBuf,
    pub(crate) loaded: Loaded,
    pub(crate) env: Env,
    /// Where sessions and snapshots are kept.
    pub(crate) state: PathBuf,
    begin: Begin,
    /// The model to ask.
    pub(crate) model: String,
    /// MCP servers in the process of the client.
    pub(crate) servers: Vec<String>,
    /// The slash commands, skills and types of agents there are.
    pub(crate) brought: Brought,
    /// MCP servers that are started here, and those that are not.
    pub(crate) mcp: Servers,
    /// Why nothing may be left unasked here, if it may not.
    pub(crate) bypass_refused: Option<String>,
    /// The configuration file of `--config`.
    pub(crate) config: Option<PathBuf>,
}

/// What a client adds to a session.
#[derive(Default)]
pub(crate) struct Extras {
    pub(crate) tools: Vec<Arc<dyn AnyTool>>,
    /// The MCP servers that they are of.
    pub(crate) servers: Vec<String>,
    pub(crate) callbacks: Option<CallbackHooks>,
    pub(crate) role: Option<String>,
    pub(crate) also: Option<String>,
    /// The model to ask when the user says none.
    pub(crate) model: Option<String>,
    /// The way to providers, in place of the usual one.
    pub(crate) transport: Option<Arc<dyn Transport>>,
    /// The editor in front of the session.
    pub(crate) editor: Editor,
}

/// Reads and checks what a session is opened from.
pub(crate) fn prepare(flags: AgentFlags, common: &Common) -> Result<Prepared, Failure> {
    let inputs = common.inputs()?;
    trust::first_use(&inputs)?;
    prepare_from(flags, common.model.clone(), inputs)
}

/// The same from a configuration of its own.
pub(crate) fn prepare_from(
    mut flags: AgentFlags,
    model: Option<String>,
    inputs: Inputs,
) -> Result<Prepared, Failure> {
    let workspace = inputs.working_folder.canonicalize();
    let workspace = workspace.context("the working folder can't be found; change to one that exists")?;
    flags.permission = flags.permission.within(&workspace, []);
    let (inputs, checked) = with_local(inputs)?;
    let trusted = checked.trusted;
    let mut loaded = checked.loaded.ok_or(checked.problems).map_err(wrong)?;
    setup::warn(&loaded);
    adjust(&mut loaded, &flags);
    let claude = flags.claude.read(flags.verbosity())?;
    let mcp = flags.claude.mcp(&inputs, &loaded)?;
    for notice in mcp.notices() {
        output::tell(&format!("warning: {notice}"));
    }
    if let Some(hooks) = &claude.hooks {
        add_hooks(&mut loaded, hooks)?;
    }
    let state = state_folder(&loaded)?;
    let begin = begin(&flags, &state, &workspace)?;
    let brought = Brought::of(&workspace, &loaded, trusted, &inputs.env);
    Ok(Prepared {
        bypass_refused: flags.permission.bypass_refused(&inputs.env),
        servers: mcp.sdk.clone(),
        mcp,
        config: inputs.config.clone(),
        brought,
        begin,
        model: model.unwrap_or_default(),
        env: inputs.env,
        flags,
        claude,
        workspace,
        loaded,
        state,
    })
}

impl Prepared {
    /// The folder of the session that goes on.
    pub(crate) fn resumed(&self) -> Result<&Path, Failure> {
        match &self.begin {
            Begin::Resume(folder) => Ok(folder),
            Begin::New(_) => Err(Failure::Usage(anyhow!(
                "that needs a session that goes on; say which by `-c` or `-r ID`"
            ))),
        }
    }

    /// The same with the session of a folder that goes on.
    pub(crate) fn going_on(mut self, folder: PathBuf) -> Self {
        self.begin = Begin::Resume(folder);
        self
    }

    /// What the user allows.
    pub(crate) fn policy(&self) -> Result<Policy, Failure> {
        self.flags.permission.policy(&self.loaded, &self.env, &rail_tools::registry())
    }

    /// The names of the slash commands there are.
    pub(crate) fn command_names(&self) -> Vec<String> {
        offered(self).into_iter().map(|offered| offered.name).collect()
    }

    /// Says which providers there are, to whoever wants to know.
    pub(crate) fn tell_providers(&self) {
        if self.flags.verbosity() > 0 {
            let names: Vec<&str> = self.loaded.routing.providers.keys().map(String::as_str).collect();
            output::tell(&format!("providers: {}", names.join(", ")));
        }
    }

    /// The tools as they are declared to a model, by their own names.
    pub(crate) fn declared_tools(&self) -> Vec<ToolDecl> {
        let registry = self.registry(&self.model, Vec::new());
        let limits = Limits::from(&self.loaded.settings.tools);
        let shown = registry.up_to(self.loaded.settings.agent.generation);
        shown.shown("native", &limits).map(|(_, declared)| declared).collect()
    }

    /// How what is answered without a session is shown.
    pub(crate) fn shown(&self) -> Shown {
        let registry = self.registry(&self.model, Vec::new());
        Shown { flags: self.flags.clone(), catalog: registry.catalog(), servers: Vec::new() }
    }

    /// Opens the session: a new one, or one that goes on.
    pub(crate) fn open(&self, extras: Extras) -> Result<(Agent, Handle, Shown), Failure> {
        let Self { flags, claude, loaded, env, state, .. } = self;
        let asked = Some(&self.model).filter(|model| !model.is_empty()).cloned();
        let model = asked.or(extras.model).unwrap_or_default();
        let registry = self.registry(&model, extras.tools);
        let permission = flags.permission.with_rules(&claude.allowed, &claude.disallowed, &registry);
        let policy = permission.policy(loaded, env, &registry)?;
        let mut session = permission.session(loaded, env, state.join("outputs"))?;
        session.skills.clone_from(&self.brought.skills.cards);
        session.editor = extras.editor;
        let limits = &loaded.settings.agent.limits;
        let bounds = Bounds {
            turns: flags.max_turns.or(limits.max_turns.map(u64::from)),
            usd: flags.max_budget_usd.or(limits.max_budget_usd),
            tokens: limits.max_tokens,
            time: limits.max_time.map(|wait| wait.0),
            summaries: match loaded.settings.agent.compaction {
                Compaction::Auto => Summaries::Due,
                Compaction::Off => Summaries::Asked,
            },
            ..Bounds::default()
        };
        let shown = Shown { flags: flags.clone(), catalog: registry.catalog(), servers: extras.servers };
        let setup = Setup {
            upstream: state::upstream_through(
                loaded,
                extras.transport.unwrap_or_else(|| setup::transport(env)),
            )
            .shrinking(shrink_image),
            loaded: Arc::new(loaded.clone()),
            env: env.clone(),
            registry,
            policy,
            session,
            model,
            bounds,
            state: state.clone(),
            begin: self.begin.clone(),
            commands: self.command_names(),
            role: extras.role.or_else(|| claude.role.clone()),
            also: extras.also.or_else(|| claude.also.clone()),
            callbacks: extras.callbacks,
            mcp: Some(self.servers(loaded, env)),
            agent_types: self.brought.agents.all.clone().into(),
        };
        let opened = Agent::open(setup);
        let (agent, handle) =
            opened.map_err(|error| Failure::Task(anyhow!(error).context("the session can't be opened")))?;
        Ok((agent, handle, shown))
    }

    /// The tools of a session with this model: the built-in ones that have what they need, or those of these names, and those of the client.
    fn registry(&self, model: &str, more: Vec<Arc<dyn AnyTool>>) -> Registry {
        let searches = rail_tools::web::has_engine(&self.loaded.settings.web, |name| {
            self.env.get(name).map(str::to_owned)
        });
        let all = self.brought.skills.with(&rail_tools::registry());
        let all =
            rail_tools::seeing(&all, self.sight(model)).only(|card| searches || card.name != "web_search");
        let built_in = match self.claude.tools.as_deref() {
            None => all,
            Some(names) => {
                let catalog = all.catalog();
                let found = |name: &String| catalog.find(name).tool().map(|tool| tool.name.clone());
                let wanted: Vec<String> = names.iter().filter_map(found).collect();
                all.only(|card| wanted.iter().any(|name| name == card.name))
            }
        };
        Registry::new(built_in.tools().iter().cloned().chain(more))
    }

    /// The MCP servers that a session starts.
    fn servers(&self, loaded: &Loaded, env: &Env) -> McpSetup {
        McpSetup {
            servers: crate::mcp::hub::specs(&self.mcp, loaded, env),
            limits: rail_mcp::Limits {
                declare_tokens: loaded.settings.mcp.declare_tokens.into(),
                ..rail_mcp::Limits::default()
            },
            env: crate::mcp::hub::environment(loaded, env),
            cache: loaded.places.as_ref().map(|places| places.cache.join("mcp")),
            http: setup::transport(env),
        }
    }

    /// Who sees images in a session with this model.
    pub(crate) fn sight(&self, model: &str) -> Sight {
        rail_agent::sight(&self.loaded, &self.env, model)
    }

    /// The models that can be asked for.
    pub(crate) fn models(&self) -> Vec<String> {
        let own = (!self.model.is_empty()).then(|| self.model.clone());
        let of = |(provider, settings): (&String, &ProviderSettings)| {
            let models = settings.models.profiles().into_keys();
            models.map(|model| format!("{provider},{model}")).collect::<Vec<_>>()
        };
        own.into_iter().chain(self.loaded.settings.providers.iter().flat_map(of)).collect()
    }
}

/// Adds hooks that are written as in the configuration.
fn add_hooks(loaded: &mut Loaded, hooks: &Value) -> Result<(), Failure> {
    let more =
        Hooks::deserialize(hooks).map_err(|error| Failure::Usage(anyhow!("--settings: hooks: {error}")))?;
    let own = &mut loaded.settings.hooks;
    own.session_start.extend(more.session_start);
    own.user_prompt_submit.extend(more.user_prompt_submit);
    own.pre_tool_use.extend(more.pre_tool_use);
    own.permission_request.extend(more.permission_request);
    own.post_tool_use.extend(more.post_tool_use);
    own.post_tool_use_failure.extend(more.post_tool_use_failure);
    own.notification.extend(more.notification);
    own.subagent_start.extend(more.subagent_start);
    own.subagent_stop.extend(more.subagent_stop);
    own.pre_compact.extend(more.pre_compact);
    own.stop.extend(more.stop);
    own.session_end.extend(more.session_end);
    Ok(())
}

/// What the flags say in place of the configuration.
fn adjust(loaded: &mut Loaded, flags: &AgentFlags) {
    let agent = &mut loaded.settings.agent;
    agent.generation = flags.generation.unwrap_or(agent.generation);
    if let Some(dialect) = flags.dialect {
        agent.dialect = match dialect {
            Dialect::Native => DialectChoice::Native,
            Dialect::Claude => DialectChoice::Claude,
            Dialect::Gemini => DialectChoice::Gemini,
            Dialect::Codex => DialectChoice::Codex,
        };
    }
}

/// Where sessions are kept. Without a home, or with one that can't be written, that is among the temporary files, which is told.
fn state_folder(loaded: &Loaded) -> Result<PathBuf, Failure> {
    let folder = state::folder(loaded);
    let why = match &loaded.places {
        None => "there is no home folder".to_owned(),
        Some(_) => match state::writable(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) => format!("{} can't be written ({error})", folder.display()),
        },
    };
    let folder = state::temporary();
    state::own(&folder)?;
    output::tell(&format!("warning: {why}; the session is kept in {} and may be lost", folder.display()));
    Ok(folder)
}

/// How the session begins; one that goes on may do so in a new one.
fn begin(flags: &AgentFlags, state: &Path, workspace: &Path) -> Result<Begin, Failure> {
    match found(flags, state, workspace)? {
        Begin::Resume(folder) if flags.claude.fork_session => {
            let now = UnixMillis(Now::read().unix.saturating_mul(1000));
            let forked = rail_journal::fork(&state.join("sessions"), &folder, None, now);
            let (writer, _) = forked.context("the session can't be forked")?;
            Ok(Begin::Resume(writer.folder().to_owned()))
        }
        Begin::New(_) => {
            let id = flags.claude.session_id.as_deref().map(str::parse).transpose();
            Ok(Begin::New(id.map_err(|error| Failure::Usage(anyhow!("--session-id: {error}")))?))
        }
        resumed @ Begin::Resume(_) => Ok(resumed),
    }
}

fn found(flags: &AgentFlags, state: &Path, workspace: &Path) -> Result<Begin, Failure> {
    let sessions = state.join("sessions");
    if let Some(id) = &flags.resume {
        return crate::sessions::pick(&sessions, id).map(Begin::Resume);
    }
    if flags.go_on {
        let listing =
            rail_journal::list(&sessions, Some(workspace)).context("sessions can't be looked for")?;
        let newest = listing.sessions.into_iter().max_by_key(|session| session.last);
        let missing = || Failure::Usage(anyhow!("there is no session of this folder to go on with"));
        return newest.map(|session| Begin::Resume(session.folder)).ok_or_else(missing);
    }
    Ok(Begin::New(None))
}
