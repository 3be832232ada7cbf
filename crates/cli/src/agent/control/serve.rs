//! A session that a client drives: several tasks, one after the other, each with its result.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, stdin};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use rail_agent::{Agent, Handle};
use rail_proto::{Answer, Chosen, Command, Mode, Prompt, Reason, SessionEvent};
use rail_tool::AnyTool;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::client::{Client, answer};
use super::line::{Incoming, Wants, read};
use super::tools::{Server, servers};
use super::{asking, begin};
use crate::agent::headless::Printer;
use crate::agent::open::{Extras, Prepared};
use crate::agent::printers::print_line;
use crate::signals::Signals;
use crate::{Failure, output};

/// Serves a client until it has nothing more to say.
pub(crate) async fn serve(prepared: Prepared, asks: Asks) -> Result<(), Failure> {
    let client = Arc::new(Client::default());
    let mut lines = listen(Arc::clone(&client))?;
    let mut signals = Signals::listen().context("signals can't be heard")?;
    let mut desk = Desk::new(&prepared, asks, client);
    let begun = tokio::select! {
        begun = desk.begin(&mut lines) => begun?,
        _ = signals.next() => return Err(Failure::Interrupted),
    };
    // A client that says nothing wants nothing.
    let Some(tools) = begun else { return Ok(()) };
    let extras = desk.extras(tools);
    let (agent, handle, shown) = prepared.open(extras)?;
    Running {
        desk,
        handle,
        printer: shown.printer(),
        lines,
        signals,
        tasks: JoinSet::new(),
        asked: BTreeMap::new(),
    }
    .run(agent)
    .await
}

/// Who is asked about calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asks {
    /// The client.
    Client,
    /// Nobody.
    Nobody,
}

/// The lines of the client. Answers go straight to who waits for them, also while nobody reads the rest.
fn listen(client: Arc<Client>) -> Result<mpsc::UnboundedReceiver<Result<Incoming, Failure>>, Failure> {
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
struct Desk {
    client: Arc<Client>,
    asks: Asks,
    said: Map<String, Value>,
    servers: Vec<String>,
    configured: Vec<String>,
    commands: Vec<String>,
    models: Vec<String>,
    model: String,
    bypass_refused: Option<String>,
    /// What the user said that is not taken up yet.
    waiting: VecDeque<Prompt>,
    /// What is to be done as soon as there is a session.
    early: Vec<Command>,
}

impl Desk {
    fn new(prepared: &Prepared, asks: Asks, client: Arc<Client>) -> Self {
        Self {
            client,
            asks,
            said: Map::new(),
            servers: Vec::new(),
            configured: prepared.servers.clone(),
            commands: prepared.command_names(),
            models: prepared.models(),
            model: prepared.model.clone(),
            bypass_refused: prepared.bypass_refused.clone(),
            waiting: VecDeque::new(),
            early: Vec::new(),
        }
    }

    /// Listens until the user says something; the tools of the client, or None when it has gone without a word.
    async fn begin(
        &mut self,
        lines: &mut mpsc::UnboundedReceiver<Result<Incoming, Failure>>,
    ) -> Result<Option<Vec<Arc<dyn AnyTool>>>, Failure> {
        while self.waiting.is_empty() {
            let Some(incoming) = lines.recv().await else { return Ok(None) };
            let commands = self.heard(incoming?)?;
            self.early.extend(commands);
        }
        let mut tools = Vec::new();
        for name in servers(&self.configured, self.said.get("sdkMcpServers")) {
            match Server::new(Arc::clone(&self.client), name.clone()).tools().await {
                Ok(found) => {
                    tools.extend(found);
                    self.servers.push(name);
                }
                Err(why) => output::tell(&format!("warning: {why}; its tools are left out")),
            }
        }
        Ok(Some(tools))
    }

    fn extras(&self, tools: Vec<Arc<dyn AnyTool>>) -> Extras {
        Extras {
            tools,
            servers: self.servers.clone(),
            callbacks: begin::hooks(&self.said, &self.client),
            role: begin::prompt(&self.said, "systemPrompt"),
            also: begin::prompt(&self.said, "appendSystemPrompt"),
            model: None,
            transport: None,
        }
    }

    /// What a line of the client asks of the session. What can be answered at once is.
    fn heard(&mut self, incoming: Incoming) -> Result<Option<Command>, Failure> {
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

/// A session with a client.
struct Running {
    desk: Desk,
    handle: Handle,
    printer: Box<dyn Printer + Send>,
    lines: mpsc::UnboundedReceiver<Result<Incoming, Failure>>,
    signals: Signals,
    /// Questions that the client has not answered.
    tasks: JoinSet<()>,
    asked: BTreeMap<String, AbortHandle>,
}

/// How far a session is.
#[derive(Default)]
struct Progress {
    busy: bool,
    /// Nothing more is taken up.
    ending: bool,
    interrupted: bool,
    last: Option<Reason>,
    failure: Option<Failure>,
}

impl Running {
    async fn run(mut self, agent: Agent) -> Result<(), Failure> {
        let running = agent.run();
        tokio::pin!(running);
        let (mut now, mut ran, mut eof) = (Progress::default(), false, false);
        for command in std::mem::take(&mut self.desk.early) {
            self.send(command);
        }
        loop {
            self.take_up(&mut now, eof);
            tokio::select! {
                biased;
                numbered = self.handle.events.recv() => {
                    let Some(numbered) = numbered else { break };
                    if now.failure.is_none() && let Err(failure) = self.printer.event(numbered.seq, &numbered.event) {
                        self.fail(&mut now, failure);
                    }
                    if self.event(numbered.event, &mut now) == Goes::Over {
                        break;
                    }
                }
                // What it could not keep was told by its last event.
                _ = &mut running, if !ran => ran = true,
                line = self.lines.recv(), if !eof => match line {
                    None => eof = true,
                    Some(line) => match line.and_then(|line| self.desk.heard(line)) {
                        Ok(command) => command.into_iter().for_each(|command| self.send(command)),
                        Err(failure) => self.fail(&mut now, failure),
                    },
                },
                _ = self.signals.next() => {
                    now.interrupted = true;
                    self.desk.waiting.clear();
                    self.send(Command::Interrupt);
                    self.end(&mut now);
                }
            }
        }
        match (now.failure, now.last) {
            (Some(failure), _) => Err(failure),
            (None, _) if now.interrupted => Err(Failure::Interrupted),
            (None, Some(Reason::Answered | Reason::Interrupted) | None) => Ok(()),
            // The result has said why.
            (None, Some(Reason::TurnLimit | Reason::Budget | Reason::Refused | Reason::Failed)) => {
                Err(Failure::Ended(1))
            }
        }
    }

    /// The next that the user said, when nothing runs: each has a result of its own. After the last the session ends.
    fn take_up(&mut self, now: &mut Progress, eof: bool) {
        if now.busy || now.ending {
            return;
        }
        match self.desk.waiting.pop_front() {
            Some(prompt) => {
                now.busy = true;
                self.send(Command::Submit(prompt));
            }
            None if eof => self.end(now),
            None => {}
        }
    }

    fn end(&mut self, now: &mut Progress) {
        now.ending = true;
        self.send(Command::End);
    }

    fn fail(&mut self, now: &mut Progress, failure: Failure) {
        now.failure = Some(failure);
        self.end(now);
    }

    fn event(&mut self, event: SessionEvent, now: &mut Progress) -> Goes {
        match event {
            SessionEvent::Permission(ask) if self.desk.asks == Asks::Client => {
                let (client, commands) = (Arc::clone(&self.desk.client), self.handle.commands.clone());
                let id = ask.id.clone();
                let asking = self.tasks.spawn(async move {
                    let said = client.request(asking::permission(&ask)).await;
                    for command in asking::permitted(&ask, said) {
                        // A session that has ended takes no commands.
                        let _ = commands.send(command);
                    }
                });
                self.asked.insert(id, asking);
            }
            SessionEvent::Choice { id, choices } if self.desk.asks == Asks::Client => {
                let (client, commands) = (Arc::clone(&self.desk.client), self.handle.commands.clone());
                let ask = id.clone();
                let asking = self.tasks.spawn(async move {
                    let said = client.request(asking::choice(&ask, &choices)).await;
                    let _ = commands.send(Command::Choose { ask, chosen: asking::chosen(&choices, said) });
                });
                self.asked.insert(id, asking);
            }
            SessionEvent::Permission(ask) => {
                self.send(Command::Answer { ask: ask.id, answer: Answer::Nobody })
            }
            SessionEvent::Choice { id, .. } => self.send(Command::Choose { ask: id, chosen: Chosen::Nobody }),
            SessionEvent::ToolEnd(end) => {
                // A question about a call that is over is taken back.
                if let Some(asking) = self.asked.remove(end.result.id.as_str()) {
                    asking.abort();
                }
            }
            SessionEvent::Done(done) => {
                now.busy = false;
                now.last = Some(done.reason);
            }
            SessionEvent::Closed => return Goes::Over,
            _ => {}
        }
        Goes::On
    }

    fn send(&self, command: Command) {
        // A session that has ended takes no commands.
        let _ = self.handle.commands.send(command);
    }
}

/// Whether a session goes on.
#[derive(PartialEq, Eq)]
enum Goes {
    On,
    Over,
}
