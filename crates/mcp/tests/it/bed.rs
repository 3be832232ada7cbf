//! A hub of servers, and the real executor on their tools.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rail_mcp::{Host, Hub, Limits, Offers, ServerSpec, Setup, TimeLimits, Way};
use rail_model::{CallId, CallKind, ToolCall};
use rail_permit::{Answer, Mode, Policy, Question, Rule};
use rail_tool::{
    Asks, BoxFuture, Confine, Dialect, Executor, HookedCall, NoHooks, Outcome, Parts, Registry, Reply,
    Session, ToolEvent, Watch,
};
use rail_upstream::{Live, LiveSettings};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A hub and a folder.
pub(crate) struct Bed {
    pub(crate) hub: Hub,
    pub(crate) folder: TempDir,
}

/// What the executor told.
struct Events(mpsc::UnboundedSender<ToolEvent>);

impl Watch for Events {
    fn event(&self, event: ToolEvent) {
        // Not every test listens.
        let _ = self.0.send(event);
    }
}

struct Yes;

impl Asks for Yes {
    fn ask<'a>(&'a self, _: &'a HookedCall, _: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(std::future::ready(Answer::Once.into()))
    }

    fn keep(&self, _: &[Rule]) -> Result<(), String> {
        Ok(())
    }
}

/// Offers nothing, and keeps what is logged.
#[derive(Default)]
pub(crate) struct Quiet(pub(crate) Mutex<Vec<String>>);

impl Host for Quiet {
    fn offers(&self) -> Offers {
        Offers::default()
    }

    fn log(&self, server: &str, level: &str, text: &str) {
        self.0.lock().unwrap().push(format!("{server} {level}: {text}"));
    }
}

/// Limits for tests: pauses are short.
pub(crate) fn limits() -> Limits {
    Limits {
        retry: Duration::from_millis(5),
        retry_most: Duration::from_millis(20),
        grace: Duration::from_millis(300),
        ..Limits::default()
    }
}

/// A server that is a program.
pub(crate) fn stdio(name: &str, command: &str, args: &[&str]) -> ServerSpec {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    ServerSpec::new(name, Way::Stdio { command: command.to_owned(), args, env: Vec::new(), cwd: None })
}

/// The server that does not behave.
pub(crate) fn hostile(mode: &str) -> ServerSpec {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile.py");
    stdio(mode, "python3", &[script.to_str().unwrap(), mode])
}

impl Bed {
    pub(crate) fn new(servers: Vec<ServerSpec>) -> Self {
        Self::with(servers, Arc::new(Quiet::default()), |_| {})
    }

    pub(crate) fn with(
        servers: Vec<ServerSpec>,
        host: Arc<dyn Host>,
        change: impl FnOnce(&mut Setup),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = Setup {
            servers,
            host,
            limits: limits(),
            env: std::env::vars_os().collect(),
            cwd: folder.path().to_path_buf(),
            cache: None,
            http: Arc::new(Live::new(LiveSettings::default())),
        };
        change(&mut setup);
        Self { hub: Hub::start(setup), folder }
    }

    /// Waits until a server is as wanted, and gives what it is then.
    pub(crate) async fn until(
        &self,
        server: &str,
        wanted: impl Fn(&rail_mcp::ServerState) -> bool,
    ) -> rail_mcp::ServerState {
        let mut changes = self.hub.changes();
        let patience = Duration::from_secs(60);
        let reached = tokio::time::timeout(patience, async {
            loop {
                changes.borrow_and_update();
                let states = self.hub.states();
                let state = states.into_iter().find(|state| state.name == server).unwrap();
                if wanted(&state) {
                    return state;
                }
                changes.changed().await.unwrap();
            }
        });
        reached.await.unwrap_or_else(|_| panic!("{server} is still {:?}", self.hub.states()))
    }

    pub(crate) async fn ready(&self, server: &str) -> rail_mcp::ServerState {
        self.until(server, |state| matches!(state.state, rail_mcp::State::Ready { .. })).await
    }

    /// The executor on the tools that there are now, and what it tells.
    pub(crate) fn executor(&self) -> (Executor, mpsc::UnboundedReceiver<ToolEvent>) {
        let real = self.folder.path().canonicalize().unwrap();
        let (workspace, folder) = (real.join("workspace"), real.join("session"));
        std::fs::create_dir_all(&workspace).unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        let mut session = Session::new(workspace.clone(), folder);
        session.confine = Confine::Off;
        let policy = Policy { mode: Mode::Bypass, folders: vec![workspace], ..Policy::default() };
        let (told, events) = mpsc::unbounded_channel();
        let tools = self.hub.tools().into_iter().chain(self.hub.finders());
        let executor = Executor::new(Parts {
            registry: Registry::new(tools),
            session: Arc::new(session),
            policy: policy.into(),
            asks: Arc::new(Yes),
            hooks: Arc::new(NoHooks),
            watch: Arc::new(Events(told)),
            dialect: Dialect::default(),
        });
        (executor, events)
    }

    /// Runs a call, and gives its outcome.
    pub(crate) async fn run(&self, tool: &str, input: &Value) -> Outcome {
        self.executor().0.run(vec![call(tool, input)], &CancellationToken::new()).await.remove(0)
    }

    /// What a call says; whether it succeeded stands before it.
    pub(crate) async fn says(&self, tool: &str, input: &Value) -> String {
        let outcome = self.run(tool, input).await;
        let text = outcome.text().replace(&self.path("").display().to_string(), "{folder}/");
        format!("{}: {text}", if outcome.success() { "ok" } else { "error" })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Stops the hub, and sees that nothing is left of what it started.
    pub(crate) async fn end(self) {
        self.hub.stop().await;
        self.nothing_is_left();
    }

    /// Whatever was started has started in the folder.
    pub(crate) fn nothing_is_left(&self) {
        let own = self.folder.path().canonicalize().unwrap();
        let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let left =
            all.filter(|process| std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == own));
        let left: Vec<PathBuf> = left.map(|process| process.path()).collect();
        assert!(left.is_empty(), "still running: {left:?}");
    }
}

/// A call as a model makes it.
pub(crate) fn call(tool: &str, input: &Value) -> ToolCall {
    ToolCall {
        id: CallId::Given("call_1".to_owned()),
        name: tool.to_owned(),
        arguments: input.to_string(),
        kind: CallKind::Function,
    }
}

/// Short times for a server.
pub(crate) fn hasty(mut spec: ServerSpec, start: u64, idle: u64) -> ServerSpec {
    spec.times = TimeLimits {
        start: Duration::from_millis(start),
        idle: Duration::from_millis(idle),
        ..TimeLimits::default()
    };
    spec
}
