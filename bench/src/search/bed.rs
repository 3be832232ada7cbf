//! An executor in which everything is allowed that is in a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rail_model::{CallId, CallKind, ToolCall};
use rail_permit::{Answer, Policy, Question, Rule};
use rail_tool::{
    AnyTool, Asks, BoxFuture, Confine, Dialect, Executor, HookedCall, NoHooks, Outcome, Parts, Registry,
    Reply, Session, ToolEvent, Watch,
};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::calls::Nothing;

/// An executor with its runtime and its session's folder.
pub(crate) struct Bed {
    pub(crate) executor: Arc<Executor>,
    pub(crate) runtime: Runtime,
    /// The folder that is searched.
    pub(crate) root: PathBuf,
    folder: TempDir,
}

/// Looks away.
struct Blind;

impl Watch for Blind {
    fn event(&self, _: ToolEvent) {}
}

/// Says yes.
struct Yes;

impl Asks for Yes {
    fn ask<'a>(&'a self, _: &'a HookedCall, _: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(std::future::ready(Answer::Once.into()))
    }

    fn keep(&self, _: &[Rule]) -> Result<(), String> {
        Ok(())
    }
}

impl Bed {
    pub(crate) fn new(root: &Path) -> Result<Self, String> {
        let told = |error: std::io::Error| format!("{}: {error}", root.display());
        let root = root.canonicalize().map_err(told)?;
        let folder = TempDir::new().map_err(told)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(told)?;
        let nothing: Arc<dyn AnyTool> = Arc::new(Nothing);
        let tools = rail_tools::registry().tools().iter().cloned().chain([nothing]).collect::<Vec<_>>();
        let mut session = Session::new(root.clone(), folder.path().to_owned());
        session.confine = Confine::Off;
        let executor = Arc::new(Executor::new(Parts {
            registry: Registry::new(tools),
            session: Arc::new(session),
            policy: Policy { folders: vec![root.clone()], ..Policy::default() }.into(),
            asks: Arc::new(Yes),
            hooks: Arc::new(NoHooks),
            watch: Arc::new(Blind),
            dialect: Dialect::default(),
        }));
        Ok(Self { executor, runtime, root, folder })
    }

    /// A folder for what a row needs.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// One call from its text to its result.
    pub(crate) fn call(&self, tool: &str, input: &Value) -> Outcome {
        self.runtime.block_on(self.calling(tool, input, &CancellationToken::new()))
    }

    pub(crate) async fn calling(&self, tool: &str, input: &Value, cancel: &CancellationToken) -> Outcome {
        self.executor.run(vec![written(tool, input)], cancel).await.remove(0)
    }
}

/// A call as a model writes it.
pub(crate) fn written(tool: &str, input: &Value) -> ToolCall {
    ToolCall {
        id: CallId::Given("call_1".to_owned()),
        name: tool.to_owned(),
        arguments: input.to_string(),
        kind: CallKind::Function,
    }
}

/// The CPU time that this program has used on all its threads.
pub(crate) fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let part = |number: i64| u64::try_from(number).unwrap_or_default();
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

/// The CPU time of all programs that this one started and that have ended.
pub(crate) fn cpu_of_children() -> Duration {
    // Linux tells user programs of clock ticks of 10 ms, whatever it counts in itself.
    const TICK: Duration = Duration::from_millis(10);
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(") ").next().unwrap_or_default().split(' ');
    // Children's user and system time are the 14th and 15th fields behind the name.
    let ticks: u32 = fields.skip(13).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
    TICK * ticks
}
