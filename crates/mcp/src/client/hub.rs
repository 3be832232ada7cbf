use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rail_model::{Part, Role};
use rail_route::tool_tokens;
use rail_sandbox::Groups;
use rail_tool::AnyTool;
use rail_upstream::Transport;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::answers::said;
use super::content::resource_part;
use super::lists::{Prompt, Resource, Template};
use super::names::{beginning, tool_name};
use super::search::{CallByName, Search};
use super::server::{Server, Shared};
use super::session::{Trouble, Wait};
use super::tool::Remote;
use super::{Host, Limits, ServerSpec, ServerState, State, keeper};

/// How long all servers together have to end.
const STOP: Duration = Duration::from_secs(5);

/// What a hub is started with.
pub struct Setup {
    /// The servers. Of two with one name the first counts.
    pub servers: Vec<ServerSpec>,
    /// Who answers what they ask.
    pub host: Arc<dyn Host>,
    /// What they can cost.
    pub limits: Limits,
    /// The environment of servers that are started here; each gets its own besides.
    pub env: Vec<(OsString, OsString)>,
    /// The folder they start in.
    pub cwd: PathBuf,
    /// Where it is remembered which tools each server has; nowhere if none is given.
    pub cache: Option<PathBuf>,
    /// What carries HTTP.
    pub http: Arc<dyn Transport>,
}

/// The servers of a session. Dropping it ends them; [`Hub::stop`] lets them end by themselves first.
pub struct Hub {
    servers: Arc<Servers>,
    shared: Arc<Shared>,
    // In this order: the keepers go first, then whatever is left of what they started.
    keepers: Mutex<JoinSet<()>>,
    groups: Arc<Groups>,
}

/// All servers, in the order of their names.
pub(crate) struct Servers {
    pub(crate) all: Vec<Arc<Server>>,
}

impl Hub {
    /// Starts all servers beside each other, and waits for none. It must be called within a tokio runtime.
    pub fn start(setup: Setup) -> Self {
        let Setup { mut servers, host, limits, env, cwd, cache, http } = setup;
        let (changes, stop) = (watch::Sender::new(0), CancellationToken::new());
        let shared = Arc::new(Shared { host, limits, http, env, cwd, cache, changes, stop });
        servers.sort_by(|a, b| a.name.cmp(&b.name));
        servers.dedup_by(|later, first| later.name == first.name);
        let all = servers.into_iter().map(|spec| Arc::new(Server::new(spec, Arc::clone(&shared))));
        let servers = Arc::new(Servers { all: all.collect() });
        let groups = Arc::new(Groups::new());
        let mut keepers = JoinSet::new();
        for server in servers.all.iter().filter(|server| server.spec.off.is_none()) {
            keepers.spawn(keeper::keep(Arc::clone(server), Arc::clone(&groups)));
        }
        Self { servers, shared, keepers: Mutex::new(keepers), groups }
    }

    /// A number that changes with every change of tools, prompts, resources or states.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// What is to be known of each server, in the order of their names.
    pub fn states(&self) -> Vec<ServerState> {
        self.servers.all.iter().map(|server| server.state()).collect()
    }

    /// Waits until no server is being connected any more, at most for this long.
    pub async fn settled(&self, within: Duration) {
        // Whoever is slower is connected later.
        let _ = timeout(within, self.servers.settled()).await;
    }

    /// Waits until no server is being connected any more; how long at most, their start limits say.
    pub async fn all_settled(&self) {
        self.servers.settled().await;
    }

    /// Connects a server anew, whatever its state is.
    ///
    /// # Errors
    /// There is no such server, or it is not to be started.
    pub fn reconnect(&self, server: &str) -> Result<(), String> {
        let server = self.server(server)?;
        if let State::Disabled { why } = server.now().state {
            return Err(format!("the MCP server `{}` is disabled: {why}", server.spec.name));
        }
        server.again.notify_one();
        Ok(())
    }

    /// All tools of all servers, also those that are known from the last time only: a call waits for its server.
    pub fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        self.servers.remotes().into_iter().map(|tool| tool as Arc<dyn AnyTool>).collect()
    }

    /// What a model is told of: all tools, as long as that is little, and always the two that find and call the others.
    pub fn declared(&self) -> Vec<Arc<dyn AnyTool>> {
        if self.servers.all.iter().all(|server| server.spec.off.is_some()) {
            return Vec::new();
        }
        let mut tools = self.tools();
        let costs: u64 = tools.iter().map(|tool| tool_tokens(&tool.declare())).sum();
        if costs > self.shared.limits.declare_tokens {
            tools.clear();
        }
        tools.extend(self.finders());
        tools
    }

    /// The two tools that find and call all others, `mcp_search` and `mcp_call`.
    pub fn finders(&self) -> [Arc<dyn AnyTool>; 2] {
        [Arc::new(Search::new(Arc::clone(&self.servers))), Arc::new(CallByName)]
    }

    /// What the names of each server's tools begin with, be they known yet or not; not of servers that are not to be started.
    pub fn beginnings(&self) -> impl Iterator<Item = String> + '_ {
        let started = self.servers.all.iter().filter(|server| server.spec.off.is_none());
        started.map(|server| beginning(&server.spec.name))
    }

    /// All prompts of all servers.
    pub fn prompts(&self) -> Vec<Prompt> {
        self.servers.all.iter().flat_map(|server| server.lists().prompts.clone()).collect()
    }

    /// All resources of all servers.
    pub fn resources(&self) -> Vec<Resource> {
        self.servers.all.iter().flat_map(|server| server.lists().resources.clone()).collect()
    }

    /// All templates of resources of all servers.
    pub fn templates(&self) -> Vec<Template> {
        self.servers.all.iter().flat_map(|server| server.lists().templates.clone()).collect()
    }

    /// What a resource holds.
    ///
    /// # Errors
    /// Why it can't be read, in a sentence.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<Vec<Part>, String> {
        let result = self.ask(server, "resources/read", json!({ "uri": uri })).await?;
        let contents = result.get("contents").and_then(Value::as_array);
        let none = || format!("the MCP server `{server}` gave no contents for `{uri}`");
        let mut left = self.shared.limits.media;
        let parts = contents.ok_or_else(none)?.iter().map(|resource| resource_part(resource, &mut left));
        Ok(parts.collect())
    }

    /// The messages that a prompt stands for.
    ///
    /// # Errors
    /// Why there are none, in a sentence.
    pub async fn get_prompt(
        &self,
        server: &str,
        name: &str,
        arguments: &[(String, String)],
    ) -> Result<Vec<(Role, Vec<Part>)>, String> {
        let arguments: Map<String, Value> =
            arguments.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        let params = json!({"name": name, "arguments": arguments});
        let result = self.ask(server, "prompts/get", params).await?;
        let messages = result.get("messages").and_then(Value::as_array);
        let none = || format!("the MCP server `{server}` gave no messages for the prompt `{name}`");
        let media = self.shared.limits.media;
        let messages = messages.ok_or_else(none)?.iter().map(|message| said(message, media));
        messages.collect::<Option<Vec<_>>>().ok_or_else(|| {
            format!("the MCP server `{server}` gave messages for the prompt `{name}` that can't be read")
        })
    }

    /// Tells all servers that the folders of [`Host::roots`] have changed.
    pub async fn roots_changed(&self) {
        for server in &self.servers.all {
            if let Some(session) = server.now().session {
                session.roots_changed().await;
            }
        }
    }

    /// Ends all servers, with all they started.
    pub async fn stop(&self) {
        self.shared.stop.cancel();
        let mut keepers = std::mem::take(&mut *self.keepers.lock().unwrap_or_else(PoisonError::into_inner));
        // Who does not end in time is broken off.
        let _ = timeout(STOP, async { while keepers.join_next().await.is_some() {} }).await;
        keepers.shutdown().await;
        self.groups.end(self.shared.limits.grace).await;
    }

    fn server(&self, name: &str) -> Result<&Arc<Server>, String> {
        self.servers.all.iter().find(|server| server.spec.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.servers.all.iter().map(|server| server.spec.name.as_str()).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            format!("there is no MCP server `{name}`; there are: {names}")
        })
    }

    async fn ask(&self, server: &str, method: &str, params: Value) -> Result<Value, String> {
        let server = self.server(server)?;
        let session = server.session().await?;
        let (idle, total) = (server.spec.times.idle, server.spec.times.total);
        let asked = session.ask(method, params, Wait { idle, total, cancel: None, say: None }).await;
        asked.map_err(|trouble| match trouble {
            Trouble::Refused(why) => format!("the MCP server `{}` refused it: {why}", server.spec.name),
            other => format!("the MCP server `{}` gave no answer: {other}", server.spec.name),
        })
    }
}

impl Servers {
    /// Waits until no server is being connected any more.
    pub(crate) async fn settled(&self) {
        for server in &self.all {
            server.settled().await;
        }
    }

    /// All tools, by the names that a model calls them.
    pub(crate) fn remotes(&self) -> Vec<Arc<Remote>> {
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let mut tools = Vec::new();
        for server in &self.all {
            for listed in &server.lists().tools {
                let name = tool_name(&server.spec.name, &listed.name, |name| taken.contains(name));
                // Two that even the tail does not tell apart are one: the first.
                if taken.insert(name.clone()) {
                    tools.push(Arc::new(Remote::new(name, Arc::clone(listed), Arc::clone(server))));
                }
            }
        }
        tools
    }
}
