//! MCP servers: where they come from, and whether they may be used.
//!
//! A server comes from the command line, from our own files, or from the lists that other agents read as well. What a project brings
//! starts nothing before its folder is trusted and the server, as it is written now, approved.

mod answers;
mod choose;
mod edit;
mod expand;
mod json;
mod layered;
mod lookup;
mod name;
mod written;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use rail_stdx::{Secret, fits};

pub(crate) use answers::forget;
pub use answers::{Approval, McpAnswer, McpAnswers, answer_mcp};
pub use edit::{EditError, Edited, Replace, add, remove};
pub use expand::expand;
pub use json::server_of_json;
pub(crate) use layered::{Layered, add_layer, of_layer, patch, server as layered_server};
pub use lookup::{Given, Which, brought, servers};
pub use name::{plain_name, wrong_name};
pub(crate) use written::{content, wrong_server};
pub use written::{is_place, shown, transport, wrong, wrong_header};

use crate::settings::{McpOauth, McpServer};
use crate::{Origin, Problem, shown_address};

/// Where a server comes from, the strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum McpScope {
    /// `--mcp-config`.
    Given,
    /// Variables and flags.
    Process,
    /// The file named by `--config`.
    Config,
    /// `.switchrail/config.local.toml`: the user's own for this project.
    Local,
    /// `.switchrail/config.toml`.
    ProjectConfig,
    /// `.mcp.json`.
    Project,
    /// `.mcprc`.
    Mcprc,
    /// The user's `config.toml`.
    User,
}

impl McpScope {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Given => "--mcp-config",
            Self::Process => "environment",
            Self::Config => "--config",
            Self::Local => "local",
            Self::ProjectConfig | Self::Project => "project",
            Self::Mcprc => "mcprc",
            Self::User => "user",
        }
    }

    /// Whether somebody else may have written it.
    pub fn is_brought(self) -> bool {
        match self {
            Self::ProjectConfig | Self::Project | Self::Mcprc => true,
            Self::Given | Self::Process | Self::Config | Self::Local | Self::User => false,
        }
    }
}

/// All servers that were found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Servers {
    /// Each of them, used or not; the strongest of a name first.
    pub found: Vec<Server>,
    /// Servers in the process of whoever gave `--mcp-config`.
    pub sdk: Vec<String>,
    /// What is wrong with files as a whole.
    pub problems: Vec<Problem>,
    /// What is not wrong but does nothing.
    pub notes: Vec<Problem>,
}

/// One server that was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub scope: McpScope,
    /// Who says so.
    pub origin: Origin,
    /// The folder that brings it, if a project does.
    pub folder: Option<PathBuf>,
    /// As it was written; None when it can't be understood.
    pub written: Option<McpServer>,
    /// By what it is known again.
    pub content: String,
    /// Whether the user let it be used.
    pub approval: Approval,
    /// Whether it is used.
    pub standing: Standing,
}

/// Whether a server is used.
#[derive(Clone, PartialEq, Debug)]
pub enum Standing {
    /// It is, so.
    Used(Box<Spec>),
    /// It is not.
    Left(Left),
}

/// Why a server is not used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Left {
    /// It can't have this name.
    Name(String),
    /// Something in it is wrong, or a value is missing.
    Broken(String),
    /// The folder that brings it is not trusted.
    Untrusted {
        /// The folder.
        folder: PathBuf,
    },
    /// Nobody approved it as it is.
    Pending,
    /// The user rejected it.
    Rejected,
    /// It is switched off, by this key.
    Disabled(&'static str),
    /// A stronger place has one of the same name.
    Shadowed {
        /// Which.
        by: Origin,
    },
    /// Its tools would have the names of another server's.
    Collides {
        /// The other.
        with: String,
    },
}

impl Left {
    /// In a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Name(_) | Self::Broken(_) => "broken",
            Self::Untrusted { .. } => "untrusted",
            Self::Pending => "pending",
            Self::Rejected => "rejected",
            Self::Disabled(_) => "disabled",
            Self::Shadowed { .. } => "shadowed",
            Self::Collides { .. } => "collides",
        }
    }

    /// Why, and what to do, for the server of this name.
    pub fn why(&self, name: &str) -> String {
        let word = word(name);
        match self {
            Self::Name(why) | Self::Broken(why) => why.clone(),
            Self::Untrusted { folder } => format!(
                "its folder is not trusted; read what it brings, and trust it with `rail config trust {}`",
                folder.display()
            ),
            Self::Pending => {
                format!(
                    "it waits for your approval; look at it with `rail mcp get {word}`, and let it be used with `rail mcp approve {word}`"
                )
            }
            Self::Rejected => format!("you rejected it; `rail mcp approve {word}` lets it be used"),
            Self::Disabled("enabled") => {
                "it is switched off; write `enabled = true` where it stands".to_owned()
            }
            Self::Disabled(key) => format!("it is switched off by `{key}`; change that list to use it"),
            Self::Shadowed { by } => format!("a stronger one of the same name is used, of {by}"),
            Self::Collides { with } => {
                format!("its tools would have the same names as those of `{with}`; give it another name")
            }
        }
    }

    /// Whether somebody who starts the agent wants to know.
    fn is_news(&self) -> bool {
        match self {
            Self::Name(_) | Self::Broken(_) | Self::Pending | Self::Collides { .. } => true,
            // What is not trusted is told for the whole folder at once.
            Self::Untrusted { .. } | Self::Rejected | Self::Disabled(_) | Self::Shadowed { .. } => false,
        }
    }
}

/// A server that is used: how it is reached, and what holds for it.
#[derive(Clone, PartialEq, Debug)]
pub struct Spec {
    /// How it is reached.
    pub reach: Reach,
    /// How long a call may take without a sign of progress, if that was said.
    pub timeout: Option<Duration>,
    /// How long it may take to start, if that was said.
    pub start_timeout: Option<Duration>,
    /// The only tools of it that are used, if that was said.
    pub enabled_tools: Option<Vec<String>>,
    /// Tools of it that are not used.
    pub disabled_tools: Vec<String>,
    /// How one signs in to it.
    pub oauth: Option<McpOauth>,
}

impl Spec {
    /// Whether a tool of it is used, by the server's own name of it.
    pub fn uses(&self, tool: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|pattern| fits(pattern, tool));
        self.enabled_tools.as_deref().is_none_or(named) && !named(&self.disabled_tools)
    }
}

/// How a server is reached. All values are there: nothing is left to look up.
#[derive(Clone, PartialEq, Eq)]
pub enum Reach {
    /// By its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that it is given.
        env: BTreeMap<String, Secret>,
        /// Where it starts.
        cwd: PathBuf,
    },
    /// By streamable HTTP.
    Http {
        /// Where it is.
        url: String,
        /// What is sent with each request.
        headers: BTreeMap<String, Secret>,
    },
    /// By HTTP with server-sent events.
    Sse {
        /// Where it is.
        url: String,
        /// What is sent with each request.
        headers: BTreeMap<String, Secret>,
    },
}

// Arguments and addresses may hold what a variable had, so that they are not shown.
impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, args, env, cwd } => {
                let names = env.keys().collect::<Vec<_>>();
                write!(f, "stdio {command:?} ({} arguments) {names:?} in {}", args.len(), cwd.display())
            }
            Self::Http { url, headers } => {
                write!(f, "http {} {:?}", shown_address(url), headers.keys().collect::<Vec<_>>())
            }
            Self::Sse { url, headers } => {
                write!(f, "sse {} {:?}", shown_address(url), headers.keys().collect::<Vec<_>>())
            }
        }
    }
}

impl Servers {
    /// Those that are used, each with how it is reached.
    pub fn used(&self) -> impl Iterator<Item = (&Server, &Spec)> {
        self.found.iter().filter_map(|server| match &server.standing {
            Standing::Used(spec) => Some((server, &**spec)),
            Standing::Left(_) => None,
        })
    }

    /// Those that are not used, each with why.
    pub fn left_out(&self) -> impl Iterator<Item = (&Server, &Left)> {
        self.found.iter().filter_map(|server| match &server.standing {
            Standing::Used(_) => None,
            Standing::Left(left) => Some((server, left)),
        })
    }

    /// What whoever starts the agent is told once: files that can't be read, servers that are broken, and those that wait for approval.
    pub fn notices(&self) -> Vec<String> {
        let mut told: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        let news = self.left_out().filter(|(_, left)| left.is_news());
        let mut pending = Vec::new();
        for (server, left) in news {
            match left {
                Left::Pending => pending.push(server.name.as_str()),
                _ => told.push(format!(
                    "{}: the MCP server `{}` is left out: {}",
                    server.origin,
                    server.name,
                    left.why(&server.name)
                )),
            }
        }
        if let Some(waiting) = waiting(&pending) {
            told.push(waiting);
        }
        told
    }
}

fn waiting(names: &[&str]) -> Option<String> {
    let quoted = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let words = names.iter().map(|name| word(name)).collect::<Vec<_>>().join(" ");
    match names {
        [] => None,
        [_] => Some(format!(
            "the MCP server {quoted} that this project brings is left out until you approve it; look at it with `rail mcp get {words}`, and let it be used with `rail mcp approve {words}`"
        )),
        _ => Some(format!(
            "the MCP servers {quoted} that this project brings are left out until you approve them; look at them with `rail mcp list`, and let them be used with `rail mcp approve {words}`"
        )),
    }
}

/// A name as a shell takes it.
fn word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.chars().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', r"'\''")) }
}
