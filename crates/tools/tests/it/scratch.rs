//! A workspace of its own, and the real executor on it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};

use rail_model::{CallId, CallKind, ToolCall};
use rail_permit::{Answer, Mode, Policy, Question, Rule};
use rail_tool::{
    AgentCall, AgentDone, AgentTask, Agents, Asks, BoxFuture, Confine, Dialect, Executor, HookedCall,
    NoHooks, Outcome, Parts, Registry, Reply, Session, ToolEvent, ToolFault, Watch,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A scratch workspace; everything is allowed in it, unless a test says otherwise.
pub(crate) struct Scratch {
    pub(crate) executor: Executor,
    pub(crate) session: Arc<Session>,
    pub(crate) events: Arc<Events>,
    root: TempDir,
}

/// What the executor told.
#[derive(Default)]
pub(crate) struct Events(Mutex<Vec<ToolEvent>>, Condvar, Mutex<Option<Then>>);

/// What is done at an event, before anything goes on.
type Then = Box<dyn Fn(&ToolEvent) + Send>;

impl Events {
    pub(crate) fn all(&self) -> Vec<ToolEvent> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn at_each(&self, then: impl Fn(&ToolEvent) + Send + 'static) {
        *self.2.lock().unwrap() = Some(Box::new(then));
    }

    /// Waits for an event; it holds its thread.
    pub(crate) fn wait_for(&self, wanted: impl Fn(&ToolEvent) -> bool) {
        let events = self.0.lock().unwrap();
        drop(self.1.wait_while(events, |events| !events.iter().any(&wanted)).unwrap());
    }
}

impl Watch for Events {
    fn event(&self, event: ToolEvent) {
        self.2.lock().unwrap().iter().for_each(|then| then(&event));
        self.0.lock().unwrap().push(event);
        self.1.notify_all();
    }
}

/// Says yes to everything, and has nobody who could choose.
struct Yes;

impl Asks for Yes {
    fn ask<'a>(&'a self, _: &'a HookedCall, _: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(std::future::ready(Answer::Once.into()))
    }

    fn keep(&self, _: &[Rule]) -> Result<(), String> {
        Ok(())
    }
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self::with(|_| ())
    }

    /// With a session that was changed before anything ran.
    pub(crate) fn with(change: impl FnOnce(&mut Session)) -> Self {
        Self::built(
            tempfile::tempdir().unwrap(),
            (rail_tools::registry(), Dialect::default()),
            Arc::new(Yes),
            change,
        )
    }

    /// With tools of the test's own, in memory where the system has such a place: for tests that write thousands of times.
    pub(crate) fn in_memory(registry: Registry) -> Self {
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self::built(root, (registry, Dialect::default()), Arc::new(Yes), |_| ())
    }

    /// For a model that is shown a dialect.
    pub(crate) fn shown(dialect: &str, change: impl FnOnce(&mut Session)) -> Self {
        let tools = (rail_tools::registry(), Dialect::named(dialect));
        Self::built(tempfile::tempdir().unwrap(), tools, Arc::new(Yes), change)
    }

    /// With somebody who answers.
    pub(crate) fn asking(asks: Arc<dyn Asks>) -> Self {
        Self::answered("native", asks)
    }

    /// With somebody who answers, and a session that was changed before anything ran.
    pub(crate) fn asking_with(asks: Arc<dyn Asks>, change: impl FnOnce(&mut Session)) -> Self {
        let tools = (rail_tools::registry(), Dialect::default());
        Self::built(tempfile::tempdir().unwrap(), tools, asks, change)
    }

    /// With somebody who answers, for a model that is shown a dialect.
    pub(crate) fn answered(dialect: &str, asks: Arc<dyn Asks>) -> Self {
        let tools = (rail_tools::registry(), Dialect::named(dialect));
        Self::built(tempfile::tempdir().unwrap(), tools, asks, |_| ())
    }

    fn built(
        root: TempDir,
        (registry, dialect): (Registry, Dialect),
        asks: Arc<dyn Asks>,
        change: impl FnOnce(&mut Session),
    ) -> Self {
        let real = root.path().canonicalize().unwrap();
        let (workspace, folder) = (real.join("workspace"), real.join("session"));
        std::fs::create_dir(&workspace).unwrap();
        std::fs::create_dir(&folder).unwrap();
        let mut session = Session::new(workspace.clone(), folder);
        session.confine = Confine::Off;
        session.env = std::env::vars_os().collect();
        session.agents = Arc::new(Echo);
        // Whoever runs the tests may have engines and proxies of their own.
        let of_web =
            ["BRAVE_API_KEY", "TAVILY_API_KEY", "SEARXNG_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
        session.env.retain(|(name, _)| !of_web.iter().any(|known| name.eq_ignore_ascii_case(known)));
        change(&mut session);
        let session = Arc::new(session);
        let events = Arc::new(Events::default());
        let policy = Policy { mode: Mode::Bypass, folders: vec![workspace], ..Policy::default() };
        let executor = Executor::new(Parts {
            registry,
            session: Arc::clone(&session),
            policy: policy.into(),
            asks,
            hooks: Arc::new(NoHooks),
            watch: Arc::clone(&events) as Arc<dyn Watch>,
            dialect,
        });
        Self { executor, session, events, root }
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.session.workspace
    }

    /// A folder beside the workspace.
    pub(crate) fn outside(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.workspace().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// A pipe with a name: whoever reads it waits for a writer, and the other way round.
    pub(crate) fn gate(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8(std::fs::read(self.path(name)).unwrap()).unwrap()
    }

    /// Stamps a file as `read_file` does.
    pub(crate) fn saw(&self, name: &str) {
        let path = self.path(name).canonicalize().unwrap();
        let (meta, bytes) = (path.metadata().unwrap(), std::fs::read(&path).unwrap());
        self.session.stamps.saw(&path, &meta, &bytes);
    }

    /// Writes a file and stamps it.
    pub(crate) fn known(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.write(name, bytes);
        self.saw(name);
        path
    }

    /// Runs one call; `{workspace}` in its input is the workspace.
    pub(crate) fn run(&self, tool: &str, input: &Value) -> Outcome {
        self.run_cancelled_by(tool, input, &CancellationToken::new())
    }

    pub(crate) fn run_cancelled_by(&self, tool: &str, input: &Value, cancel: &CancellationToken) -> Outcome {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(self.call(tool, input, cancel))
    }

    /// Runs one call in the runtime of the test.
    pub(crate) async fn call(&self, tool: &str, input: &Value, cancel: &CancellationToken) -> Outcome {
        let workspace = serde_json::to_string(&self.workspace().to_str().unwrap()).unwrap();
        let arguments = input.to_string().replace("{workspace}", workspace.trim_matches('"'));
        let call = ToolCall {
            id: CallId::Given("call_1".to_owned()),
            name: tool.to_owned(),
            arguments,
            kind: CallKind::Function,
        };
        self.executor.run(vec![call], cancel).await.remove(0)
    }

    /// The text that a call gives, with the workspace's path written as `{workspace}`; whether it succeeded stands before it.
    pub(crate) fn says(&self, tool: &str, input: &Value) -> String {
        let outcome = self.run(tool, input);
        let text = outcome.text().replace(self.workspace().to_str().unwrap(), "{workspace}");
        format!("{}: {}", if outcome.success() { "ok" } else { "error" }, unexplained(tool, &text))
    }
}

/// A result without what is said of a tool when it is first used.
pub(crate) fn unexplained<'a>(tool: &str, text: &'a str) -> &'a str {
    text.split_once(&format!("\nHow `{tool}` is used:\n")).map_or(text, |(said, _)| said)
}

/// A text without its durations: ` in 12 ms` is left out.
pub(crate) fn timeless(text: &str) -> String {
    without_times(text).replace(" in {ms} ms", "")
}

/// Durations differ from run to run: ` in 12 ms` becomes ` in {ms} ms`.
pub(crate) fn without_times(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(" in ") {
        out.push_str(before);
        out.push_str(" in ");
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        rest = if digits > 0 && after[digits..].starts_with(" ms") {
            out.push_str("{ms}");
            &after[digits..]
        } else {
            after
        };
    }
    out.push_str(rest);
    out
}

/// Agents that say what they were asked.
#[derive(Debug)]
struct Echo;

impl Agents for Echo {
    fn run<'a>(&'a self, task: AgentTask, _: AgentCall<'a>) -> BoxFuture<'a, Result<AgentDone, ToolFault>> {
        let text = format!("`{}` was asked: {}", task.kind, task.prompt);
        let (tool_uses, tokens, took) = (3, 1_200, std::time::Duration::from_millis(500));
        Box::pin(std::future::ready(Ok(AgentDone { text, tool_uses, tokens, took, ..AgentDone::default() })))
    }
}
