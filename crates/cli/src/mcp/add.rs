//! `rail mcp add` and `rail mcp add-json`.

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use rail_config::mcp::{self, EditError, Replace, Standing, is_place, server_of_json, wrong_header};
use rail_config::settings::{McpServer, McpTransport, SecretText};
use rail_stdx::Secret;

use super::{ScopeName, found, told};
use crate::setup::Common;
use crate::{Failure, output};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TransportName {
    /// A command, over its standard input and output.
    Stdio,
    /// A URL, over streamable HTTP.
    Http,
    /// A URL, over HTTP with server-sent events, as older servers do.
    Sse,
}

#[derive(Args)]
pub(crate) struct Add {
    /// A name of your own for it.
    name: String,
    /// Where it is, or the command that starts it; a command's own flags stand behind `--`.
    #[arg(value_name = "URL|COMMAND")]
    target: Vec<String>,
    /// Which file it is written to.
    #[arg(short, long, value_name = "SCOPE", default_value = "local")]
    scope: ScopeName,
    /// How it is spoken with; when not said, http for a URL and stdio for a command.
    #[arg(short, long, value_name = "HOW")]
    transport: Option<TransportName>,
    /// A variable that the command is given; repeatable.
    #[arg(short, long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A header that is sent to the URL; repeatable.
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// Replace a server of the same name in that file.
    #[arg(long)]
    force: bool,
    /// The command that starts it, with its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Args)]
pub(crate) struct AddJson {
    /// A name of your own for it.
    name: String,
    /// The server, as a JSON object.
    json: String,
    /// Which file it is written to.
    #[arg(short, long, value_name = "SCOPE", default_value = "local")]
    scope: ScopeName,
    /// Replace a server of the same name in that file.
    #[arg(long)]
    force: bool,
}

impl Add {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let server = self.server().map_err(|why| Failure::Usage(anyhow!(why)))?;
        write(common, self.scope, &self.name, &server, self.force)
    }

    fn server(&self) -> Result<McpServer, String> {
        let words = match (self.target.as_slice(), self.command.as_slice()) {
            ([], []) => {
                return Err(format!(
                    "say what is started or asked: `rail mcp add {} -- COMMAND` or `rail mcp add {} URL`",
                    self.name, self.name
                ));
            }
            (words, []) | ([], words) => words,
            (_, _) => return Err("a URL and a command do not go together; say one of them".to_owned()),
        };
        let transport = self.transport.map(|transport| match transport {
            TransportName::Stdio => McpTransport::Stdio,
            TransportName::Http => McpTransport::Http,
            TransportName::Sse => McpTransport::Sse,
        });
        let is_url = |word: &str| ["http://", "https://"].iter().any(|scheme| word.starts_with(scheme));
        let mut server = McpServer { transport, ..McpServer::default() };
        match words {
            [url] if is_url(url) || matches!(transport, Some(McpTransport::Http | McpTransport::Sse)) => {
                server.url = Some(url.clone());
            }
            [command, args @ ..] => {
                server.command = Some(command.clone());
                server.args = args.to_vec();
            }
            [] => {}
        }
        for pair in &self.env {
            let (name, value) = variable(pair)?;
            server.env.insert(name.to_owned(), SecretText(Secret::new(value)));
        }
        for header in &self.header {
            let (name, value) = self::header(header)?;
            server.headers.insert(name.to_owned(), SecretText(Secret::new(value)));
        }
        match (&server.command, &server.url) {
            (Some(_), _) if !server.headers.is_empty() => {
                Err("`--header` is for a URL, and this is a command; `-e NAME=VALUE` gives it a variable"
                    .to_owned())
            }
            (_, Some(_)) if !server.env.is_empty() => {
                Err("`--env` is for a command, and this is a URL; `-H \"NAME: VALUE\"` sends a header"
                    .to_owned())
            }
            (_, _) => Ok(server),
        }
    }
}

impl AddJson {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let (server, unknown) = server_of_json(&self.json)
            .map_err(|why| Failure::Usage(anyhow!("the server `{}`: {why}", self.name)))?;
        for note in unknown {
            output::tell(&format!("warning: {note}"));
        }
        write(common, self.scope, &self.name, &server, self.force)
    }
}

fn variable(pair: &str) -> Result<(&str, &str), String> {
    // What stands there may be a key, so that it is not told.
    let wrong = "`--env` names no variable; write it as `-e NAME=VALUE`";
    let (name, value) = pair.split_once('=').ok_or(wrong)?;
    let is_name = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control());
    if is_name { Ok((name, value)) } else { Err(wrong.to_owned()) }
}

fn header(text: &str) -> Result<(&str, &str), String> {
    // What stands there may be a key, so that it is not told.
    let (name, value) =
        text.split_once(':').ok_or("`--header` has no `:`; write it as `-H \"Name: value\"`")?;
    let (name, value) = (name.trim(), value.trim());
    match wrong_header(name, value) {
        Some(wrong) => Err(format!("`--header`: {wrong}")),
        None => Ok((name, value)),
    }
}

fn write(
    common: &Common,
    scope: ScopeName,
    name: &str,
    server: &McpServer,
    force: bool,
) -> Result<(), Failure> {
    if let Some(wrong) = mcp::wrong(server) {
        return Err(Failure::Usage(anyhow!("the server `{name}`: {wrong}")));
    }
    let inputs = common.inputs()?;
    let how = if force { Replace::Yes } else { Replace::No };
    let edited = mcp::add(&inputs, scope.scope(), name, server, how).map_err(failure)?;
    let word = if edited.replaced { "replaced" } else { "added" };
    output::print(&format!("{word} `{name}` in {}: {}\n", edited.path.display(), told(server)))?;
    if scope == ScopeName::Project {
        for key in literal_secrets(server) {
            output::tell(&format!(
                "warning: the value of `{key}` stands in a file that is meant for git; write `${{{key}}}` there, and set the variable"
            ));
        }
    }
    // It was written; what is wrong with the rest of the configuration is told by whoever uses it.
    let Ok((_, servers)) = found(common) else { return Ok(()) };
    let own = servers.found.iter().find(|found| found.name == name && found.scope == scope.scope());
    if let Some(Standing::Left(left)) = own.map(|own| &own.standing) {
        output::tell(&format!("`{name}` is not used yet: {}", left.why(name)));
    }
    Ok(())
}

/// What holds a value that may be a secret itself, and no word on where it stands.
fn literal_secrets(server: &McpServer) -> Vec<&str> {
    let all = server.env.iter().chain(&server.headers);
    let literal = all.filter(|(_, value)| !is_place(value.0.reveal()));
    literal.map(|(name, _)| name.as_str()).collect()
}

/// What can't be written is the user's to mend, if the command was at fault.
pub(super) fn failure(error: EditError) -> Failure {
    let problem = anyhow!("{error}");
    match error {
        EditError::Name { .. } | EditError::Home { .. } | EditError::Homeless(_) => Failure::Usage(problem),
        EditError::Exists { .. }
        | EditError::Missing { .. }
        | EditError::NoFile { .. }
        | EditError::Link { .. }
        | EditError::Unreadable { .. }
        | EditError::Io { .. }
        | EditError::Unkept(_) => Failure::Task(problem),
    }
}
