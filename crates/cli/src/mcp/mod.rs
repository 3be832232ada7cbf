//! `rail mcp`: the servers whose tools the agent uses, and the agent's own tools for others.

mod add;
mod answer;
mod get;
pub(crate) mod hub;
mod list;
mod login;
mod remove;
mod serve;
mod test;

use anyhow::anyhow;
use clap::{Subcommand, ValueEnum};
use rail_config::mcp::{McpScope, Reach, Server, Servers, Spec, Standing, Which, servers, shown, transport};
use rail_config::settings::McpServer;
use rail_config::{Inputs, Origin, Places};
use rail_stdx::nearest;

use crate::setup::{Common, wrong};
use crate::{Failure, output};

pub(crate) use list::listed;

#[derive(Subcommand)]
pub(crate) enum McpCommand {
    /// Add a server: a command that is started, or a URL.
    ///
    /// `rail mcp add files -- npx -y @modelcontextprotocol/server-filesystem .` starts a program, `rail mcp add docs https://host/mcp` asks one
    /// that runs elsewhere. Values may be `${NAME}`, so that a secret stands in the environment and not in the file.
    Add(add::Add),
    /// Add a server as other agents write it: `{"command": "npx", "args": ["-y", "…"]}`.
    AddJson(add::AddJson),
    /// List the servers: where they come from, whether they are used, and why not.
    List(list::List),
    /// Show all that is said of a server. A secret is never shown.
    Get(get::Get),
    /// Take a server out of the file that it stands in.
    Remove(remove::Remove),
    /// Start servers, and tell what they have and how long they took. It exits with 1 if one does not answer.
    Test(test::Test),
    /// Log in to a server that wants it, in a browser. It ends after 5 minutes.
    Login(login::Login),
    /// Give a server's token back, and keep nothing of the login.
    Logout(login::Logout),
    /// Let servers be used that this project brings, as they are written now.
    Approve(answer::Approve),
    /// Keep servers that this project brings from being used, and do not ask again.
    Reject(answer::Reject),
    /// Offer this agent's own tools over MCP, on stdin and stdout or over HTTP.
    ///
    /// Every client has a session of its own in this folder. A call passes what `rail` itself keeps to: rules, hooks, the sandbox. What
    /// would be asked about is asked of the client, if it can ask a person, and refused otherwise.
    Serve(serve::Serve),
}

impl McpCommand {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        match self {
            Self::Add(add) => add.run(common),
            Self::AddJson(add) => add.run(common),
            Self::List(list) => list.run(common),
            Self::Get(get) => get.run(common),
            Self::Remove(remove) => remove.run(common),
            Self::Test(test) => test.run(common),
            Self::Login(login) => login.run(common),
            Self::Logout(logout) => logout.run(common),
            Self::Approve(approve) => approve.run(common),
            Self::Reject(reject) => reject.run(common),
            Self::Serve(serve) => serve.run(common),
        }
    }
}

/// Which file a server stands in.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScopeName {
    /// Yours, in this project: .switchrail/config.local.toml, which is not for git.
    Local,
    /// The project's, for all who work on it: .mcp.json.
    Project,
    /// Yours, in every project: config.toml.
    User,
}

impl ScopeName {
    fn scope(self) -> McpScope {
        match self {
            Self::Local => McpScope::Local,
            Self::Project => McpScope::Project,
            Self::User => McpScope::User,
        }
    }
}

/// All servers of this folder.
fn found(common: &Common) -> Result<(Inputs, Servers), Failure> {
    let inputs = common.inputs()?;
    let loaded = rail_config::load(&inputs).map_err(wrong)?;
    let servers = servers(&inputs, &loaded, &[], Which::All);
    Ok((inputs, servers))
}

/// Tells what is wrong with files as a whole, and what does nothing.
fn tell_problems(servers: &Servers) {
    for problem in servers.problems.iter().chain(&servers.notes) {
        output::tell(&format!("warning: {problem}"));
    }
}

fn places(inputs: &Inputs) -> Result<Places, Failure> {
    Places::find(&inputs.env, &inputs.working_folder).map_err(|problem| Failure::Usage(anyhow!("{problem}")))
}

/// The servers of a name, the strongest first; there is at least one.
fn named<'a>(servers: &'a Servers, name: &str) -> Result<Vec<&'a Server>, Failure> {
    let found: Vec<&Server> = servers.found.iter().filter(|server| server.name == name).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let names = servers.found.iter().map(|server| server.name.as_str());
    let hint = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "see `rail mcp list`".to_owned(),
    };
    Err(Failure::Task(anyhow!("there is no MCP server `{name}`; {hint}")))
}

/// The server of a name that is used, and how; or why there is none.
fn used<'a>(servers: &'a Servers, name: &str) -> Result<(&'a Server, &'a Spec), Failure> {
    let all = named(servers, name)?;
    let used = all.iter().find_map(|server| match &server.standing {
        Standing::Used(spec) => Some((*server, &**spec)),
        Standing::Left(_) => None,
    });
    used.ok_or_else(|| {
        let why = all.iter().find_map(|server| match &server.standing {
            Standing::Used(_) => None,
            Standing::Left(left) => Some(left.why(name)),
        });
        Failure::Task(anyhow!("`{name}` is not used: {}", why.unwrap_or_default()))
    })
}

/// What is started or asked, in a line.
fn told(server: &McpServer) -> String {
    let shown = shown(server);
    match (shown.command, shown.url) {
        (Some(command), _) => {
            let words = std::iter::once(command).chain(shown.args);
            words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
        }
        (None, Some(url)) => url,
        (None, None) => String::new(),
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@:=,%${}*".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn kind(server: &Server) -> &'static str {
    match (&server.standing, &server.written) {
        (Standing::Used(spec), _) => match spec.reach {
            Reach::Stdio { .. } => "stdio",
            Reach::Http { .. } => "http",
            Reach::Sse { .. } => "sse",
        },
        (Standing::Left(_), Some(written)) => transport(written).word(),
        (Standing::Left(_), None) => "",
    }
}

fn state(server: &Server) -> &'static str {
    match &server.standing {
        Standing::Used(_) => "used",
        Standing::Left(left) => left.word(),
    }
}

/// A file with its line, or who else says it.
fn place(origin: &Origin) -> String {
    match origin {
        Origin::File { file, at, .. } => format!("{}:{}", file.display(), at.line),
        Origin::BuiltIn | Origin::Found(_) | Origin::Variable(_) | Origin::Flag(_) => origin.to_string(),
    }
}
