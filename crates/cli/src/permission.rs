//! What the flags and the configuration allow.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use rail_config::{Env, Loaded, Node, Value};
use rail_permit::{Contained, Mode, Policy, Rule, Rules, User, bypass_refused};
use rail_repair::{Catalog, Found, Mapping};
use rail_tool::{Confine, Limits, Registry, Session};

use crate::Failure;

/// Flags that say what may be done without asking.
#[derive(Args, Clone, Default)]
pub(crate) struct PermissionFlags {
    /// What is asked about when no rule decides.
    #[arg(long, value_name = "MODE")]
    permission_mode: Option<ModeName>,
    /// The same as `--permission-mode bypass`: nothing is asked about; hard denials still hold.
    #[arg(long, alias = "dangerously-skip-permissions", conflicts_with = "permission_mode")]
    yolo: bool,
    /// Do this without asking, such as `Bash(cargo test:*)` or `Edit(src/**)`; repeatable.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Never do this; repeatable.
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
    /// A further folder that counts as the workspace; repeatable.
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
    /// How commands are confined.
    #[arg(long, value_name = "HOW")]
    sandbox: Option<SandboxName>,
    /// The workspace, where it is not the folder that the command was started in.
    #[arg(skip)]
    folder: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModeName {
    /// Whatever writes, runs or uses the network is asked about.
    Default,
    /// As default, but files of the workspace are edited without asking.
    #[value(alias = "acceptEdits")]
    AcceptEdits,
    /// Only what reads is done.
    Plan,
    /// Nothing is asked about; hard denials still hold.
    #[value(alias = "bypassPermissions")]
    Bypass,
    /// As default, but what would be asked about is refused.
    #[value(alias = "dontAsk")]
    DontAsk,
}

#[derive(Clone, Copy, ValueEnum)]
enum SandboxName {
    /// Not at all.
    Off,
    /// They write in the workspace and in the folder for temporary files, and have no network.
    Workspace,
    /// They write in the folder for temporary files only.
    ReadOnly,
}

impl PermissionFlags {
    /// The same in another folder, links resolved, with more that count as the workspace.
    pub(crate) fn within(mut self, folder: &Path, more: impl IntoIterator<Item = PathBuf>) -> Self {
        self.folder = Some(folder.to_owned());
        self.add_dir.extend(more);
        self
    }

    /// The workspace, links resolved.
    fn workspace(&self) -> Result<PathBuf, Failure> {
        self.folder.clone().map_or_else(workspace, Ok)
    }

    /// What may be done in this folder.
    pub(crate) fn policy(&self, loaded: &Loaded, env: &Env, registry: &Registry) -> Result<Policy, Failure> {
        let workspace = self.workspace()?;
        let names = Names::of(registry);
        let mode = self.mode(loaded);
        if mode == Mode::Bypass
            && let Some(why) = self.bypass_refused(env)
        {
            return Err(Failure::Usage(anyhow!(why)));
        }
        let mut folders = vec![workspace.clone()];
        for folder in &self.add_dir {
            let real = folder
                .canonicalize()
                .with_context(|| format!("--add-dir: {} can't be found", folder.display()));
            folders.push(real.map_err(Failure::Usage)?);
        }
        let mut own: Vec<PathBuf> =
            folders.iter().map(|folder| folder.join(rail_config::PROJECT_FOLDER)).collect();
        own.extend(loaded.places.iter().flat_map(|places| [places.config.clone(), places.state.clone()]));
        Ok(Policy {
            mode,
            rules: self.rules(loaded, &names)?,
            folders,
            temp: temp(),
            home: env.home().and_then(|home| home.canonicalize().ok()),
            own,
        })
    }

    /// Why nothing may be left unasked here, if it may not.
    pub(crate) fn bypass_refused(&self, env: &Env) -> Option<String> {
        bypass_refused(user(), self.contained(env)).map(|why| why.to_string())
    }

    /// Whether nobody is to be asked.
    pub(crate) fn asks_nobody(&self) -> bool {
        matches!(self.permission_mode, Some(ModeName::DontAsk))
    }

    /// The same with further rules. Those of tools that nobody knows are told and left out: lists are written for many programs.
    pub(crate) fn with_rules(&self, allowed: &[String], disallowed: &[String], registry: &Registry) -> Self {
        let names = Names::of(registry);
        // A rule of a known tool that can't be read stays, and is refused as any other: a denial must not get lost.
        let known = |text: &&String| {
            let tool = text.split('(').next().unwrap_or_default().trim();
            let known = tool.starts_with("mcp__") || names.native(tool).is_some();
            if !known {
                crate::output::tell(&format!(
                    "warning: the rule `{text}` is left out: there is no tool `{tool}`"
                ));
            }
            known
        };
        let mut flags = self.clone();
        flags.allow.extend(allowed.iter().filter(known).cloned());
        flags.deny.extend(disallowed.iter().filter(known).cloned());
        flags
    }

    /// A session in this folder whose outputs are kept in a folder.
    pub(crate) fn session(&self, loaded: &Loaded, env: &Env, folder: PathBuf) -> Result<Session, Failure> {
        let mut session = Session::new(self.workspace()?, folder);
        session.temp = temp();
        session.home = env.home().and_then(|home| home.canonicalize().ok());
        session.own = own_folders(loaded, &session.workspace);
        session.env = env.all().map(|(name, value)| (name.into(), value.into())).collect();
        let tools = &loaded.settings.tools;
        let keys = rail_config::key_variables(loaded, env).into_iter();
        session.withheld = keys.filter(|name| !tools.keep_env.contains(name)).map(Into::into).collect();
        session.limits = Limits::from(tools);
        session.web.clone_from(&loaded.settings.web);
        session.memory_files.clone_from(&loaded.settings.agent.memory_files);
        session.confine = self.confine();
        Ok(session)
    }

    /// How commands are confined.
    pub(crate) fn confine(&self) -> Confine {
        match self.sandbox {
            Some(SandboxName::Off) => Confine::Off,
            Some(SandboxName::Workspace) | None => Confine::Workspace,
            Some(SandboxName::ReadOnly) => Confine::ReadOnly,
        }
    }

    /// Whether being root harms nobody else: commands are confined, or this is a container.
    fn contained(&self, env: &Env) -> Contained {
        let marks = ["/.dockerenv", "/run/.containerenv"];
        let container = env.get("container").is_some() || marks.iter().any(|mark| Path::new(mark).exists());
        let sandbox = match self.sandbox {
            Some(SandboxName::Workspace | SandboxName::ReadOnly) => true,
            Some(SandboxName::Off) | None => false,
        };
        if container || sandbox { Contained::Yes } else { Contained::No }
    }

    fn mode(&self, loaded: &Loaded) -> Mode {
        use rail_config::settings::Mode as Written;
        let written = match self.permission_mode {
            _ if self.yolo => Written::Bypass,
            Some(ModeName::Default | ModeName::DontAsk) => Written::Default,
            Some(ModeName::AcceptEdits) => Written::AcceptEdits,
            Some(ModeName::Plan) => Written::Plan,
            Some(ModeName::Bypass) => Written::Bypass,
            None => loaded.settings.permissions.mode,
        };
        match written {
            Written::Default => Mode::Default,
            Written::AcceptEdits => Mode::AcceptEdits,
            Written::Plan => Mode::Plan,
            Written::Bypass => Mode::Bypass,
        }
    }

    fn rules(&self, loaded: &Loaded, names: &Names) -> Result<Rules, Failure> {
        let parse = |text: &str, origin: &str| {
            Rule::parse(text, origin, &|name| names.native(name))
                .map_err(|error| Failure::Usage(anyhow!("{origin}: {error}")))
        };
        let list = |list: &str, flags: &[String], flag: &str| -> Result<Vec<Rule>, Failure> {
            let written = loaded.tree.find(&["permissions", list]).map(rules_in).unwrap_or_default();
            let written = written.iter().map(|(text, origin)| parse(text, origin));
            written.chain(flags.iter().map(|text| parse(text, flag))).collect()
        };
        Ok(Rules {
            allow: list("allow", &self.allow, "--allow")?,
            ask: list("ask", &[], "")?,
            deny: list("deny", &self.deny, "--deny")?,
        })
    }
}

/// Folders that only we make. One in the workspace is left out where the project's own stands further up: an empty one would take
/// its place.
fn own_folders(loaded: &Loaded, workspace: &Path) -> Vec<PathBuf> {
    let of_user = loaded.places.iter().flat_map(|places| [places.config.clone(), places.state.clone()]);
    let of_project = workspace.join(rail_config::PROJECT_FOLDER);
    let above = loaded.places.as_ref().and_then(|places| places.project.as_ref());
    let is_nearest = above.is_none_or(|project| project.starts_with(workspace));
    is_nearest.then_some(of_project).into_iter().chain(of_user).collect()
}

/// The rules of a list, each with the place where it was written.
fn rules_in(node: &Node) -> Vec<(String, String)> {
    let Value::List(list) = &node.value else { return Vec::new() };
    list.iter().filter_map(|item| Some((item.text()?.value.clone(), item.origin.to_string()))).collect()
}

/// The tools by all names of all dialects.
struct Names {
    catalog: Catalog,
}

impl Names {
    fn of(registry: &Registry) -> Self {
        Self { catalog: registry.catalog() }
    }

    /// The native name of a tool: one of the registry's, or one that a dialect knows.
    fn native(&self, name: &str) -> Option<String> {
        match self.catalog.find(name) {
            Found::Tool(tool, _) => Some(tool.name.clone()),
            Found::Unknown(_) => Mapping::names()
                .filter_map(Mapping::builtin)
                .find_map(|mapping| mapping.native(name).map(str::to_owned)),
        }
    }
}

/// The folder for temporary files, links resolved.
fn temp() -> Option<PathBuf> {
    std::env::temp_dir().canonicalize().ok()
}

/// The folder that the command was started in, links resolved.
pub(crate) fn workspace() -> Result<PathBuf, Failure> {
    let folder = std::env::current_dir().and_then(|folder| folder.canonicalize());
    Ok(folder.context("the working folder can't be found; change to one that exists")?)
}

#[cfg(unix)]
fn user() -> User {
    if rustix::process::geteuid().is_root() { User::Root } else { User::Other }
}

#[cfg(not(unix))]
fn user() -> User {
    User::Other
}
