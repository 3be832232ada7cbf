//! `rail tool run`.

use std::io::{IsTerminal, Read, stderr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use rail_agent::machine::Bounds;
use rail_agent::team::Purse;
use rail_agent::{Aside, AsideParts};
use rail_model::{CallId, CallKind, ToolCall};
use rail_tool::{Dialect, End, Executor, NoHooks, Outcome, Parts, ToolEvent, Watch};
use tokio_util::sync::CancellationToken;

use super::ask::Terminal;
use super::seen::Seen;
use crate::agent::brought::Skills;
use crate::images::shrink_image;
use crate::permission::PermissionFlags;
use crate::setup::{Common, serving_runtime, wrong};
use crate::signals::Signals;
use crate::{Failure, output, state, trust};

/// Files that one run has read count as read in the next, in the same folder.
#[derive(Args)]
pub(crate) struct Run {
    /// The tool, by any of its names.
    #[arg(value_name = "NAME")]
    name: String,
    /// Its input, as JSON; `-` is stdin.
    #[arg(long, value_name = "JSON")]
    input: String,
    /// Print the result as JSON, with its id, whether it succeeded and how long it took.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    flags: PermissionFlags,
}

/// How long what was left in the background has to end.
const GRACE: Duration = Duration::from_secs(1);

/// What tools say while they run goes to stderr.
struct Progress;

impl Watch for Progress {
    fn event(&self, event: ToolEvent) {
        match event {
            // The result says it all; only somebody who waits for it wants to see how far it is.
            ToolEvent::Progress { text, .. } if stderr().is_terminal() => output::tell(&text),
            ToolEvent::Progress { .. } => {}
            ToolEvent::Start { .. } | ToolEvent::Asked { .. } | ToolEvent::End(_) => {}
        }
    }
}

impl Run {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let inputs = common.inputs()?;
        trust::first_use(&inputs)?;
        let checked = rail_config::check(&inputs);
        let trusted = checked.trusted;
        let loaded = checked.loaded.ok_or(checked.problems).map_err(wrong)?;
        let model = common.model.clone().unwrap_or_default();
        let registry =
            rail_tools::seeing(&rail_tools::registry(), rail_agent::sight(&loaded, &inputs.env, &model));
        let policy = self.flags.policy(&loaded, &inputs.env, &registry)?;
        let outputs = tempfile::Builder::new()
            .prefix("rail-")
            .tempdir()
            .context("no folder for outputs can be made")?;
        // What was too long for the result is read after this command has ended.
        let mut session = self.flags.session(&loaded, &inputs.env, outputs.keep())?;
        let seen = Seen::of(&loaded, &session.workspace);
        session.stamps = seen.load();
        session.skills = Skills::read(&loaded, trusted, &inputs.env)?.cards;
        session.models = Arc::new(Aside::new(AsideParts {
            upstream: state::upstream(&loaded, &inputs.env).shrinking(shrink_image),
            loaded: Arc::new(loaded),
            env: inputs.env.clone(),
            model,
            purse: Arc::new(Purse::new(&Bounds::default())),
            heard: Arc::new(drop),
        }));
        let session = Arc::new(session);
        let asks = Terminal { inputs };
        let parts = Parts {
            registry,
            session: Arc::clone(&session),
            policy: policy.into(),
            asks: Arc::new(asks),
            hooks: Arc::new(NoHooks),
            watch: Arc::new(Progress),
            dialect: Dialect::default(),
        };
        let call = ToolCall {
            id: CallId::Given("call_1".to_owned()),
            name: self.name.clone(),
            arguments: self.arguments()?,
            kind: CallKind::Function,
        };
        let runtime = serving_runtime()?;
        let outcome = runtime.block_on(one(&Executor::new(parts), call));
        runtime.block_on(rail_tools::end_commands(&session, GRACE));
        // A question that was taken back still waits for a line that nobody will type.
        runtime.shutdown_background();
        let outcome = outcome?;
        seen.keep(&session.stamps);
        // A folder that holds nothing is of no use to anybody.
        let _ = std::fs::remove_dir(&session.folder);
        self.tell(&outcome)
    }

    fn arguments(&self) -> Result<String, Failure> {
        if self.input != "-" {
            return Ok(self.input.clone());
        }
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text).context("stdin can't be read")?;
        Ok(text)
    }

    fn tell(&self, outcome: &Outcome) -> Result<(), Failure> {
        if self.json {
            output::print_json(&outcome.to_json())?;
        } else if outcome.success() {
            let text = outcome.text();
            output::print(&if text.ends_with('\n') { text } else { text + "\n" })?;
        }
        match outcome.end {
            End::Done => Ok(()),
            End::Cancelled => Err(Failure::Interrupted),
            End::Refused | End::Denied | End::Rejected | End::Hooked | End::Failed | End::Crashed
                if self.json =>
            {
                Err(Failure::Ended(1))
            }
            End::Refused | End::Denied | End::Rejected | End::Hooked | End::Failed | End::Crashed => {
                Err(Failure::Task(anyhow!(outcome.text())))
            }
        }
    }
}

/// One call; Ctrl-C and SIGTERM cancel it, so that what it started ends with it.
async fn one(executor: &Executor, call: ToolCall) -> Result<Outcome, Failure> {
    let mut signals = Signals::listen().context("signals can't be heard")?;
    let cancel = CancellationToken::new();
    let run = executor.run(vec![call], &cancel);
    tokio::pin!(run);
    let mut outcomes = tokio::select! {
        outcomes = &mut run => outcomes,
        _ = signals.next() => {
            cancel.cancel();
            run.await
        }
    };
    outcomes.pop().ok_or_else(|| Failure::Task(anyhow!("the call has no result; this is a fault of rail")))
}
