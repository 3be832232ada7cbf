//! What is run and read for the user's own words: the shell commands and files of slash commands, and files that a prompt names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rail_model::{CallId, CallKind, Part, ToolCall};
use rail_permit::{Answer, Policy, Question, Rule};
use rail_tool::{
    Asks, BoxFuture, Dialect, Executor, HookedCall, Hooks, Outcome, Parts, Reply, Session, ToolEvent, Watch,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::servers::{Servers, one_message};
use super::{Agent, show};
use crate::commands::{Commands, Need, RemoteArgument, RemoteCommand, Remotes, Sources, Typed};

/// Calls that are made for the user's own words. Each is judged as one of the model's would be, and hooks see it; nobody is asked, so
/// that what would be asked about is not done.
pub struct Errands {
    session: Arc<Session>,
    /// Of the session, whose policy may be another one each time.
    executor: Arc<Executor>,
    hooks: Arc<dyn Hooks>,
    /// The MCP servers, whose resources can be named.
    servers: Option<Servers>,
    /// What is allowed until something else is.
    leave: Mutex<Vec<Rule>>,
}

impl Agent {
    /// What runs and reads for the user's own words in this session.
    pub fn errands(&self) -> Errands {
        Errands {
            session: Arc::clone(&self.session),
            executor: Arc::clone(&self.executor),
            hooks: Arc::clone(&self.hooks) as Arc<dyn Hooks>,
            servers: self.servers.clone(),
            leave: Mutex::default(),
        }
    }

    /// The MCP servers of this session.
    pub fn servers(&self) -> Option<Arc<rail_mcp::Hub>> {
        self.servers.as_ref().map(|servers| Arc::clone(&servers.hub))
    }

    /// Allows this besides, as long as this session is open.
    pub fn allow(&self, rules: Vec<Rule>) {
        self.executor.change_policy(|policy| policy.rules.allow.extend(rules));
    }
}

impl Errands {
    /// Allows this besides, in the session and here, in the place of what was allowed so before.
    pub fn leave(&self, rules: Vec<Rule>) {
        self.executor.end_lent();
        let mut leave = self.leave.lock().unwrap_or_else(PoisonError::into_inner);
        if leave.is_empty() && rules.is_empty() {
            return;
        }
        self.executor.change_policy(|policy| {
            let allow = &mut policy.rules.allow;
            for old in leave.drain(..) {
                // The last of its kind: the user may have said the same.
                if let Some(at) = allow.iter().rposition(|rule| *rule == old) {
                    allow.remove(at);
                }
            }
            allow.extend(rules.iter().cloned());
        });
        *leave = rules;
    }

    /// What a file holds, as a model is shown it: text, or an image. Of a folder it is what lies in it. Nothing where there is neither.
    ///
    /// # Errors
    /// It may not be read, or can't.
    pub async fn attach(&self, path: &str) -> Option<Result<Vec<Part>, String>> {
        if let Some(read) = self.resource(path).await {
            return Some(read);
        }
        let path = self.absolute(path);
        let kind = std::fs::metadata(&path).ok()?;
        let text = path.to_str()?;
        let (tool, input) = if kind.is_dir() {
            ("list_directory", json!({"path": text}))
        } else {
            ("read_file", json!({"file_path": text}))
        };
        let outcome = self.call(tool, input, &[]).await;
        Some(if outcome.success() { Ok(outcome.parts) } else { Err(outcome.text()) })
    }

    /// What a prompt of an MCP server says, as it was typed: `/server:prompt (MCP) arguments` or `/mcp__server__prompt arguments`.
    ///
    /// # Errors
    /// There is no such prompt, or it can't be had; in a sentence for the user.
    pub async fn prompt(&self, typed: &str) -> Result<Vec<Part>, String> {
        let Some(servers) = &self.servers else {
            return Err(
                "there are no MCP servers here whose prompts could be used; see `rail mcp list`".to_owned()
            );
        };
        servers.hub.settled(CONNECTING).await;
        let mut commands = Commands::default();
        commands.set_remote(servers.prompts());
        match commands.read(typed) {
            Typed::Remote(remote, arguments) => remote.text(&arguments, servers).await,
            Typed::Text | Typed::Builtin(..) | Typed::Custom(..) | Typed::Unknown { .. } => {
                let names: Vec<String> =
                    commands.remote().iter().map(|remote| format!("/{}", remote.listed())).collect();
                let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                Err(format!("there is no such prompt of an MCP server; there are: {there}"))
            }
        }
    }

    /// What a resource of an MCP server holds, `server:uri`.
    async fn resource(&self, named: &str) -> Option<Result<Vec<Part>, String>> {
        let hub = &self.servers.as_ref()?.hub;
        let (server, uri) = named.split_once(':')?;
        hub.states().iter().any(|state| state.name == server).then_some(())?;
        Some(hub.read_resource(server, uri).await)
    }

    fn absolute(&self, path: &str) -> PathBuf {
        let of_home = path.strip_prefix("~/").zip(self.session.home.as_deref());
        of_home.map_or_else(|| self.session.cwd().join(Path::new(path)), |(rest, home)| home.join(rest))
    }

    async fn call(&self, tool: &str, input: Value, allowed: &[Rule]) -> Outcome {
        let mut policy = Policy::clone(&self.executor.policy());
        policy.rules.allow.extend(allowed.iter().cloned());
        let executor = Executor::new(Parts {
            registry: rail_tools::registry(),
            dialect: Dialect::default(),
            session: Arc::clone(&self.session),
            policy: policy.into(),
            asks: Arc::new(Nobody),
            hooks: Arc::clone(&self.hooks),
            watch: Arc::new(Nobody),
        });
        let call = ToolCall {
            id: CallId::Given(format!("errand_{tool}")),
            name: tool.to_owned(),
            arguments: input.to_string(),
            kind: CallKind::Function,
        };
        let mut outcomes = executor.run(vec![call.clone()], &CancellationToken::new()).await;
        outcomes.pop().unwrap_or_else(|| Outcome {
            call,
            end: rail_tool::End::Crashed,
            parts: vec![Part::text("the call has no result; this is a fault of rail")],
            display: None,
            notes: Vec::new(),
            cause: None,
            repairs: Vec::new(),
            took: Duration::ZERO,
        })
    }
}

impl Sources for Errands {
    fn run<'a>(&'a self, command: &'a str, allowed: &'a [Rule]) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let outcome = self.call("bash", json!({"command": command}), allowed).await;
            if outcome.success() { Ok(output_of(&outcome.text())) } else { Err(outcome.text()) }
        })
    }

    fn read<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Option<Result<Vec<Part>, String>>> {
        Box::pin(self.attach(path))
    }
}

/// What a command printed, without the tool's last line on how it ended: a text that is put together must not differ from run to run.
fn output_of(text: &str) -> String {
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    if last.starts_with("[done in ") && last.ends_with(']') { before.to_owned() } else { text.to_owned() }
}

/// How long servers may take to be connected before it is said that they lack a prompt.
const CONNECTING: Duration = Duration::from_secs(30);

/// A prompt as a command.
fn command(prompt: rail_mcp::Prompt) -> RemoteCommand {
    let argument = |argument: rail_mcp::PromptArgument| RemoteArgument {
        name: argument.name,
        description: argument.description,
        need: if argument.required { Need::Required } else { Need::Optional },
    };
    RemoteCommand {
        server: prompt.server,
        prompt: prompt.name,
        description: prompt.description.or(prompt.title).unwrap_or_default(),
        arguments: prompt.arguments.into_iter().map(argument).collect(),
    }
}

impl Servers {
    /// The prompts of all servers, as commands.
    pub(super) fn prompts(&self) -> Vec<RemoteCommand> {
        self.hub.prompts().into_iter().map(command).collect()
    }
}

impl Remotes for Servers {
    fn text<'a>(
        &'a self,
        command: &'a RemoteCommand,
        arguments: &'a BTreeMap<String, String>,
    ) -> BoxFuture<'a, Result<Vec<Part>, String>> {
        Box::pin(async move {
            let arguments: Vec<(String, String)> =
                arguments.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            let said = self.hub.get_prompt(&command.server, &command.prompt, &arguments).await?;
            Ok(one_message(said))
        })
    }
}

/// Nobody can be asked, and nobody looks on.
struct Nobody;

impl Asks for Nobody {
    fn ask<'a>(&'a self, call: &'a HookedCall, question: &'a Question) -> BoxFuture<'a, Reply> {
        let way = show::permission(call.clone(), question).without_anybody;
        Box::pin(std::future::ready(Answer::Nobody(way).into()))
    }

    fn keep(&self, _: &[Rule]) -> Result<(), String> {
        Err("nobody was asked".to_owned())
    }
}

impl Watch for Nobody {
    fn event(&self, _: ToolEvent) {}
}

#[cfg(test)]
mod tests {
    use super::output_of;

    #[test]
    fn how_a_command_ended_is_no_output() {
        for (text, output) in [
            ("a\nb\n[done in 3 ms]", "a\nb"),
            ("[done in 3 ms, no output]", ""),
            ("[done", "[done"),
            ("a\n[the working folder is now `/x`]", "a\n[the working folder is now `/x`]"),
            ("", ""),
        ] {
            assert_eq!(output_of(text), output, "{text:?}");
        }
    }
}
