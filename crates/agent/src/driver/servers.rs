//! MCP servers of a session: their tools come and go while it runs, and what they ask goes to the user and the model.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rail_journal::JournalError;
use rail_mcp::{Answer, Ask, Host, Hub, Limits, Offers, Sample, Sampled, ServerSpec, State};
use rail_model::{Part, Role, Stop};
use rail_permit::{Asked, Facet, Level, Policy, Verdict, judge};
use rail_proto::{Chosen, NoteKind, Offered, OfferedResource, SessionEvent};
use rail_tool::{
    Allowed, AnyTool, Asks, BoxFuture, Card, Disk, HookedCall, Inquired, Inquiry, Models, Registry, Reply,
};
use rail_upstream::Transport;
use tokio_util::sync::CancellationToken;

use super::Agent;
use super::form::{answered, asked};
use super::ports::{Line, News};
use crate::commands::RemoteCommand;
use crate::machine::Input;
use crate::team::AgentType;

/// Tools of servers that an agent's type is told of whole, however many there are in all.
const FEW: usize = 20;
/// The most tokens that a server gets of a model's answer.
const SAMPLED: u64 = 8_192;

/// The MCP servers that a session uses.
pub struct McpSetup {
    /// The servers.
    pub servers: Vec<ServerSpec>,
    /// How much they may take.
    pub limits: Limits,
    /// The environment that programs among them get.
    pub env: Vec<(OsString, OsString)>,
    /// Where their lists of tools are kept from one session to the next.
    pub cache: Option<PathBuf>,
    /// The way to remote ones.
    pub http: Arc<dyn Transport>,
}

/// The servers of a session, and of the agents that it sets to work.
#[derive(Clone)]
pub(super) struct Servers {
    pub(super) hub: Arc<Hub>,
    /// Which of their tools this agent has; all where it is nobody's.
    pub(super) kind: Option<Arc<AgentType>>,
}

impl Servers {
    /// Starts them; nothing waits for them.
    pub(super) fn start(setup: McpSetup, host: Guests, cwd: PathBuf) -> Self {
        let McpSetup { servers, limits, env, cache, http } = setup;
        let host = Arc::new(host);
        let hub = Hub::start(rail_mcp::Setup { servers, host, limits, env, cwd, cache, http });
        Self { hub: Arc::new(hub), kind: None }
    }

    /// The same for an agent of a type.
    pub(super) fn for_agent(&self, kind: &AgentType) -> Self {
        Self { hub: Arc::clone(&self.hub), kind: Some(Arc::new(kind.clone())) }
    }

    /// These tools, and behind them those of the servers that a model is told of.
    pub(super) fn declared(&self, registry: &Registry) -> Registry {
        let Some(kind) = &self.kind else { return self.with(registry, self.hub.declared()) };
        // What is too much for all may be little for the few tools of a type.
        let own: Vec<_> = self.hub.tools().into_iter().filter(|tool| kind.has(&tool.card())).collect();
        let told = if own.len() <= FEW { own } else { self.hub.declared() };
        self.with(registry, told.into_iter().chain(self.hub.finders()))
    }

    /// These tools, and all of the servers that can be called.
    pub(super) fn callable(&self, registry: &Registry) -> Registry {
        self.with(registry, self.hub.tools().into_iter().chain(self.hub.finders()))
    }

    fn with(&self, registry: &Registry, more: impl IntoIterator<Item = Arc<dyn AnyTool>>) -> Registry {
        let known = |card: &Card<'_>| registry.get(card.name).is_some();
        let mut tools = registry.tools().to_vec();
        for tool in more {
            let is_new =
                !known(&tool.card()) && !tools.iter().any(|other| other.card().name == tool.card().name);
            if is_new && self.has(&tool.card()) {
                tools.push(tool);
            }
        }
        Registry::new(tools)
    }

    /// Whether this agent has a tool. Those that find and call others are had by whoever could have one of those, be its server there yet or not:
    /// what it is told of tools that come later would be of no use otherwise. A call is one of the tool that it names.
    fn has(&self, card: &Card<'_>) -> bool {
        let Some(kind) = &self.kind else { return true };
        let finder = self.hub.finders().iter().any(|finder| finder.card().name == card.name);
        if finder { self.hub.beginnings().any(|names| kind.could_have(&names)) } else { kind.has(card) }
    }

    /// The names of all tools that can be called, by server.
    fn names(&self) -> Vec<String> {
        let tools = self.hub.tools();
        let own = tools.iter().filter(|tool| self.has(&tool.card()));
        own.map(|tool| tool.card().name.to_owned()).collect()
    }
}

/// What was told of the servers: the tools that the model knows of, and the states that the user does.
#[derive(Default)]
pub(super) struct ServersTold {
    tools: Vec<String>,
    states: BTreeMap<String, String>,
    offered: Offered,
    /// How often the model was told in this task.
    times: u32,
}

impl ServersTold {
    /// Another task begins.
    pub(super) fn forget_count(&mut self) {
        self.times = 0;
    }
}

impl Agent {
    /// Tells the driver whenever something of the servers has changed.
    pub(super) fn watch_servers(&mut self) {
        let Some(servers) = &self.servers else { return };
        self.servers_told.tools = servers.names();
        let (mut changes, line) = (servers.hub.changes(), self.line.clone());
        self.tasks.spawn(async move {
            while changes.changed().await.is_ok() {
                line.tell(News::Servers);
            }
        });
    }

    /// The tools of the servers are others now, or a server is in another state.
    pub(super) fn servers_changed(&mut self) -> Result<(), JournalError> {
        let Some(servers) = self.servers.clone() else { return Ok(()) };
        self.servers_state(&servers);
        self.servers_offer(&servers);
        let names = servers.names();
        if names == self.servers_told.tools {
            return Ok(());
        }
        let generation = self.asking.loaded.settings.agent.generation;
        let callable = servers.callable(&self.own_tools).up_to(generation);
        self.executor = Arc::new(self.executor.with_tools(callable));
        let before = std::mem::replace(&mut self.servers_told.tools, names);
        if self.machine.window().messages().is_empty() && !self.machine.is_busy() {
            // Nobody was asked yet, so that no cache is lost.
            return self.head_with_servers(&servers);
        }
        let now = self.servers_told.tools.clone();
        let new: Vec<&String> = now.iter().filter(|name| !before.contains(name)).collect();
        let gone: Vec<&String> = before.iter().filter(|name| !now.contains(name)).collect();
        match tools_told(&new, &gone, |name| self.machine.head().tools.iter().any(|tool| tool.name == name)) {
            // A server that goes on changing its tools would fill the conversation; those that look find what there is.
            Some(text) if self.servers_told.times < TOLD => {
                self.servers_told.times += 1;
                self.input(Input::Tell(text))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Front ends are told what can be typed now.
    fn servers_offer(&mut self, servers: &Servers) {
        if servers.kind.is_some() {
            // Nobody types to an agent of a call.
            return;
        }
        let offered = Offered {
            commands: servers.prompts().iter().map(RemoteCommand::offered).collect(),
            resources: servers.hub.resources().into_iter().map(resource).collect(),
        };
        if offered != self.servers_told.offered {
            self.servers_told.offered = offered.clone();
            self.emit(SessionEvent::Offered(offered));
        }
    }

    /// The user is told of servers that can't be used, once for each reason.
    fn servers_state(&mut self, servers: &Servers) {
        for state in servers.hub.states() {
            let is_fault = match state.state {
                State::Failed { .. } | State::NeedsLogin { .. } | State::Retrying { .. } => true,
                State::Connecting | State::Ready { .. } | State::Disabled { .. } | State::Stopped => false,
            };
            // How long it is until the next try changes each time, and is not worth a word.
            let said = match &state.state {
                State::Retrying { why, .. } => format!("not reached: {why}"),
                other => other.to_string(),
            };
            let before = self.servers_told.states.insert(state.name.clone(), said.clone());
            if is_fault && before.as_ref() != Some(&said) {
                self.note(NoteKind::Mcp, format!("MCP server {}: {said}", state.name));
            }
        }
    }
}

fn resource(resource: rail_mcp::Resource) -> OfferedResource {
    OfferedResource {
        name: format!("{}:{}", resource.server, resource.uri),
        help: resource.title.or(resource.description).unwrap_or(resource.name),
    }
}

/// So often in a task a model is told of other tools.
const TOLD: u32 = 5;
/// Names of tools that are told one by one.
const NAMED: usize = 20;

/// What a model is told of tools that came and went; nothing where the head of its requests says the same.
fn tools_told(new: &[&String], gone: &[&String], declared: impl Fn(&str) -> bool) -> Option<String> {
    let list = |names: &[&String]| {
        let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
        let more = names.len().saturating_sub(NAMED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{rest}", shown.join(", "))
    };
    let new: Vec<&String> = new.iter().copied().filter(|name| !declared(name)).collect();
    let mut texts = Vec::new();
    if !new.is_empty() {
        texts.push(format!(
            "MCP servers have tools that you were not told of: {}. `mcp_search` shows what they take, `mcp_call` calls them.",
            list(&new)
        ));
    }
    if !gone.is_empty() {
        texts.push(format!("These tools of MCP servers are not there any more: {}.", list(gone)));
    }
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// What servers ask of a session.
pub(super) struct Guests {
    pub(super) asks: Arc<dyn Asks>,
    pub(super) models: Arc<dyn Models>,
    pub(super) allowed: Allowed,
    pub(super) roots: Vec<PathBuf>,
    pub(super) line: Line,
    pub(super) asked: AtomicU64,
}

impl Guests {
    fn id(&self, server: &str) -> String {
        format!("mcp_{server}_{}", self.asked.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether a server may have a model's answer: by a rule that names just that, or by the user's word.
    async fn may_sample(&self, server: &str, ask: &Sample) -> Result<(), String> {
        let tool = rail_mcp::sampling_name(server);
        // Who lets a server's tools run has not let it ask models in their name, at their cost.
        let mut policy = Policy::clone(&self.allowed.now());
        policy.rules.allow.retain(|rule| rule.text == tool);
        let facets = [Facet::Foreign];
        let asked = Asked { tool: &tool, level: Level::Execute, facets: &facets };
        match judge(&policy, &asked, &Disk) {
            Verdict::Allow(_) => Ok(()),
            Verdict::Deny(denial) => Err(denial.say),
            Verdict::Ask(mut question) => {
                question.offers.retain(|offer| offer.rules.iter().all(|rule| rule.text == tool));
                let call = HookedCall { id: self.id(server), tool, input: ask.raw.clone() };
                match self.asks.ask(&call, &question).await {
                    // What would be asked is the server's own: it is asked as it is, or not.
                    Reply::Changed(_) => {
                        Err("the user wants another question to be asked; ask that one".to_owned())
                    }
                    Reply::Answer(answer) => match question.answer(answer) {
                        rail_permit::Answered::Denied(denial) => Err(denial.say),
                        rail_permit::Answered::Granted(_, more) => {
                            let (rules, scope) = more.unwrap_or((Vec::new(), rail_permit::Scope::Session));
                            if scope == rail_permit::Scope::Always
                                && let Err(why) = self.asks.keep(&rules)
                            {
                                self.line.tell(News::Note(
                                    NoteKind::Mcp,
                                    format!("allowed for this session only: {why}"),
                                ));
                            }
                            self.allowed.change(|policy| policy.rules.allow.extend(rules));
                            Ok(())
                        }
                    },
                }
            }
        }
    }
}

impl Host for Guests {
    fn offers(&self) -> Offers {
        Offers { elicitation: true, sampling: true, roots: true }
    }

    fn elicit<'a>(&'a self, server: &'a str, ask: Ask) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let choices = asked(server, &ask);
            match self.asks.choose(&self.id(server), &choices).await {
                Chosen::Answered { answers } => answered(&ask, &answers),
                Chosen::Dismissed { .. } => Answer::Decline,
                Chosen::Nobody => Answer::Cancel,
            }
        })
    }

    fn sample<'a>(&'a self, server: &'a str, ask: Sample) -> BoxFuture<'a, Result<Sampled, String>> {
        Box::pin(async move {
            self.may_sample(server, &ask).await?;
            let Sample { messages, system, max_tokens, stop, .. } = ask;
            let inquiry = Inquiry {
                asker: format!("the MCP server {server}"),
                to: Inquired::Background,
                system,
                parts: one_message(messages),
                max_output: Some(max_tokens.min(SAMPLED)),
                stop,
            };
            let told = self.models.ask(inquiry, &CancellationToken::new()).await?;
            Ok(Sampled {
                text: told.text,
                model: told.model,
                stop_reason: stop_reason(&told.stop).to_owned(),
            })
        })
    }

    fn roots(&self) -> Vec<PathBuf> {
        self.roots.clone()
    }

    fn log(&self, server: &str, level: &str, text: &str) {
        // What servers tell of their doing is for those who look after them.
        if matches!(level, "error" | "critical" | "alert" | "emergency") {
            self.line.tell(News::Note(NoteKind::Mcp, format!("MCP server {server}: {text}")));
        }
    }
}

/// Why an answer ended, in the protocol's words.
fn stop_reason(stop: &Stop) -> &'static str {
    match stop {
        Stop::MaxTokens | Stop::ContextFull => "maxTokens",
        Stop::StopSequence(_) => "stopSequence",
        Stop::EndTurn
        | Stop::ToolUse
        | Stop::Refusal
        | Stop::Pause
        | Stop::MalformedCall
        | Stop::Other(_) => "endTurn",
    }
}

/// A conversation as one message: who said what stands before it where there is more than one.
pub(super) fn one_message(messages: Vec<(Role, Vec<Part>)>) -> Vec<Part> {
    let several = messages.len() > 1;
    let mut parts = Vec::new();
    for (role, said) in messages {
        if several {
            parts.push(Part::text(if role == Role::Assistant { "You said:" } else { "The user said:" }));
        }
        parts.extend(said);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_is_told_of_tools_is_what_it_does_not_know() {
        let names: Vec<String> = (0..25).map(|at| format!("mcp__s__t{at}")).collect();
        let all: Vec<&String> = names.iter().collect();
        assert_eq!(tools_told(&[], &[], |_| false), None);
        assert_eq!(tools_told(&all[..2], &[], |_| true), None);
        let told = tools_told(&all, &all[..1], |name| name == "mcp__s__t0").unwrap();
        assert!(
            told.contains("`mcp__s__t1`") && told.contains("and 4 more") && !told.contains("`mcp__s__t24`")
        );
        assert!(told.ends_with("These tools of MCP servers are not there any more: `mcp__s__t0`."), "{told}");
    }

    #[test]
    fn a_conversation_of_several_says_who_spoke() {
        let one = vec![(Role::User, vec![Part::text("a")])];
        assert_eq!(one_message(one), [Part::text("a")]);
        let two = vec![(Role::User, vec![Part::text("a")]), (Role::Assistant, vec![Part::text("b")])];
        let texts: Vec<String> =
            one_message(two).iter().filter_map(|part| part.as_text().map(str::to_owned)).collect();
        assert_eq!(texts, ["The user said:", "a", "You said:", "b"]);
    }
}
