//! What is known of a client: what it said, what it has, and what it wants.

use std::collections::VecDeque;
use std::io::{BufRead, stdin};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use rail_proto::{Command, Mode, Prompt};
use rail_tool::AnyTool;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::asker::{Asker, Asks};
use super::begin;
use super::client::{Client, answer};
use super::line::{Incoming, Wants, read};
use super::tools::{Server, servers};
use crate::agent::open::{Extras, Prepared};
use crate::agent::printers::print_line;
use crate::agent::slash::{Offered, offered};
use crate::{Failure, output};

/// Lines of a client, as they come.
pub(super) type Lines = mpsc::UnboundedReceiver<Result<Incoming, Failure>>;

/// The lines of the client. Answers go straight to who waits for them, also while nobody reads the rest.
pub(super) fn listen(client: Arc<Client>) -> Result<Lines, Failure> {
    let (send, lines) = mpsc::unbounded_channel();
    let reading = move || {
        for (number, line) in stdin().lock().lines().enumerate() {
            let line = line.map_err(|error| Failure::Task(anyhow!(error).context("stdin can't be read")));
            let wrong = |what| Failure::Usage(anyhow!("line {} of stdin is {what}", number + 1));
            let incoming = match line.and_then(|line| read(&line).map_err(wrong)) {
                Ok(Incoming::Response { id, answer }) => {
                    client.answered(&id, answer);
                    continue;
                }
                Ok(Incoming::Nothing) => continue,
                other => other,
            };
            if send.send(incoming).is_err() {
                break;
            }
        }
        client.gone();
    };
    let started = std::thread::Builder::new().name("client".to_owned()).spawn(reading);
    started.context("stdin can't be listened to")?;
    Ok(lines)
}

/// What is known of the client.
pub(super) struct Desk {
    client: Arc<Client>,
    asks: Asks,
    /// Who is asked about calls, if somebody is.
    pub(super) asker: Option<Asker>,
    said: Map<String, Value>,
    servers: Vec<String>,
    configured: Vec<String>,
    commands: Vec<Offered>,
    models: Vec<String>,
    model: String,
    pub(super) bypass_refused: Option<String>,
    /// What the user said that is not taken up yet.
    pub(super) waiting: VecDeque<Prompt>,
    /// What is to be done as soon as there is a session.
    pub(super) early: Vec<Command>,
}

impl Desk {
    pub(super) fn new(prepared: &Prepared, asks: Asks, client: Arc<Client>) -> Self {
        Self {
            client,
            asks,
            asker: None,
            said: Map::new(),
            servers: Vec::new(),
            configured: prepared.servers.clone(),
            commands: offered(prepared),
            models: prepared.models(),
            model: prepared.model.clone(),
            bypass_refused: prepared.bypass_refused.clone(),
            waiting: VecDeque::new(),
            early: Vec::new(),
        }
    }

    /// Listens until the user says something; the tools of the client, or None when it has gone without a word.
    pub(super) async fn begin(
        &mut self,
        lines: &mut Lines,
    ) -> Result<Option<Vec<Arc<dyn AnyTool>>>, Failure> {
        while self.waiting.is_empty() {
            let Some(incoming) = lines.recv().await else { return Ok(None) };
            let commands = self.heard(incoming?)?;
            self.early.extend(commands);
        }
        let mut tools = Vec::new();
        for name in servers(&self.configured, self.said.get("sdkMcpServers")) {
            let server = Server::new(Arc::clone(&self.client), name.clone());
            match server.tools().await {
                Ok(found) => {
                    tools.extend(found.into_iter().map(|listed| (server.clone(), listed)));
                    self.servers.push(name);
                }
                Err(why) => output::tell(&format!("warning: {why}; its tools are left out")),
            }
        }
        self.asker = Asker::find(&self.asks, &self.client, &mut tools).map_err(Failure::Usage)?;
        Ok(Some(tools.into_iter().map(|(_, listed)| listed.tool).collect()))
    }

    pub(super) fn extras(&self, tools: Vec<Arc<dyn AnyTool>>) -> Extras {
        Extras {
            tools,
            servers: self.servers.clone(),
            callbacks: begin::hooks(&self.said, &self.client),
            role: begin::prompt(&self.said, "systemPrompt"),
            also: begin::prompt(&self.said, "appendSystemPrompt"),
            model: None,
            transport: None,
            editor: rail_tool::Editor::default(),
        }
    }

    /// What a line of the client asks of the session. What can be answered at once is.
    pub(super) fn heard(&mut self, incoming: Incoming) -> Result<Option<Command>, Failure> {
        let (id, wants) = match incoming {
            Incoming::User(prompt) => {
                self.waiting.push_back(prompt);
                return Ok(None);
            }
            Incoming::Request { id, wants } => (id, wants),
            // They are taken care of where lines are read.
            Incoming::Response { .. } | Incoming::Nothing => return Ok(None),
        };
        let (said, command) = match wants {
            Wants::Initialize(said) => {
                self.said = said;
                (Ok(begin::welcome(&self.commands, &self.models)), None)
            }
            Wants::Interrupt => (Ok(json!({})), Some(Command::Interrupt)),
            Wants::StopTask(id) => (Ok(json!({})), Some(Command::StopAgent { id })),
            Wants::SetMode(mode) => match (mode, &self.bypass_refused) {
                (Ok(Mode::Bypass), Some(why)) => (Err(why.clone()), None),
                (Ok(mode), _) => (Ok(json!({})), Some(Command::SetMode(mode))),
                (Err(why), _) => (Err(why), None),
            },
            Wants::SetModel(model) => {
                (Ok(json!({})), Some(Command::SetModel(model.unwrap_or_else(|| self.model.clone()))))
            }
            Wants::McpStatus => {
                let server = |name: &String| json!({"name": name, "status": "connected"});
                (Ok(json!({"mcpServers": self.servers.iter().map(server).collect::<Vec<_>>()})), None)
            }
            Wants::McpMessage(message) => (Ok(json!({"mcp_response": refused(&message)})), None),
            Wants::Unknown(subtype) => (Err(format!("there is no control request `{subtype}` here")), None),
        };
        print_line(&answer(&id, said))?;
        Ok(command)
    }
}

/// What a server is told that wants something of us: we have nothing for it. What it only tells is taken note of.
fn refused(message: &Value) -> Value {
    match (message.get("id"), message.get("method").and_then(Value::as_str)) {
        (Some(id), Some(method)) => {
            let error = json!({"code": -32601, "message": format!("there is no method `{method}` here")});
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        }
        (_, _) => json!({"jsonrpc": "2.0", "result": {}}),
    }
}
