//! One visible pipeline for every call: lookup, repair, hooks, validation, permission, run, truncation, result.

mod batches;
mod caught;
mod faults;
mod stages;
mod truncate;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rail_model::{CallKind, Part, ToolCall};
use rail_permit::{Mode, Policy};
use rail_repair::{Catalog, Repair, settle};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{
    Allowed, AnyTool, Asks, Dialect, End, Hooks, Lane, Outcome, OutputNote, Registry, Session, Spoken,
    ToolEvent, Watch,
};
use stages::Stopped;
pub use truncate::kept_in;

/// Runs calls.
pub struct Executor {
    registry: Registry,
    catalog: Catalog,
    session: Arc<Session>,
    allowed: Allowed,
    asks: Arc<dyn Asks>,
    hooks: Arc<dyn Hooks>,
    watch: Arc<dyn Watch>,
    spoken: Spoken,
}

/// What an executor is made of.
pub struct Parts {
    /// The tools there are.
    pub registry: Registry,
    /// What all calls share.
    pub session: Arc<Session>,
    /// What the user allows.
    pub policy: Allowed,
    /// Who answers questions.
    pub asks: Arc<dyn Asks>,
    /// What the user runs around calls.
    pub hooks: Arc<dyn Hooks>,
    /// Who looks on.
    pub watch: Arc<dyn Watch>,
    /// The names in which the model is shown tools, and is told of them.
    pub dialect: Dialect,
}

impl Executor {
    /// An executor of these parts.
    pub fn new(parts: Parts) -> Self {
        let Parts { registry, session, policy: allowed, asks, hooks, watch, dialect } = parts;
        let (catalog, spoken) = (registry.catalog(), Spoken::of(&registry, dialect));
        Self { registry, catalog, session, allowed, asks, hooks, watch, spoken }
    }

    /// The same with other tools; what is allowed in one is allowed in the other.
    #[must_use]
    pub fn with_tools(&self, registry: Registry) -> Self {
        Self::new(Parts {
            registry,
            session: Arc::clone(&self.session),
            policy: self.allowed.clone(),
            asks: Arc::clone(&self.asks),
            hooks: Arc::clone(&self.hooks),
            watch: Arc::clone(&self.watch),
            dialect: self.spoken.dialect(),
        })
    }

    /// The tools it knows.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What the user allows now, answers of this session included.
    pub fn policy(&self) -> Arc<Policy> {
        self.allowed.now()
    }

    /// Changes what the user allows.
    pub fn change_policy(&self, change: impl FnOnce(&mut Policy)) {
        self.allowed.change(change);
    }

    /// The tool and the arguments that a call means, mended where they can be; nothing if no call comes of it.
    pub fn understood(&self, call: &ToolCall) -> Option<(&Arc<dyn AnyTool>, Value)> {
        let settled = settle(&self.meant(call), &self.catalog, rail_repair::End::Closed).ok()?;
        Some((self.registry.get(&settled.call.name)?, settled.arguments))
    }

    /// The call that is to be done: another one, where a tool only brings another's.
    fn meant<'a>(&self, call: &'a ToolCall) -> Cow<'a, ToolCall> {
        let other = || {
            let found = self.catalog.find(&call.name);
            let tool = self.registry.get(&found.tool()?.name)?;
            // Most tools bring no other's: nothing is read for them.
            if !tool.brings_others() {
                return None;
            }
            let settled = settle(call, &self.catalog, rail_repair::End::Closed).ok()?;
            tool.stands_for(&settled.arguments)
        };
        match other() {
            Some((name, arguments)) => Cow::Owned(ToolCall {
                id: call.id.clone(),
                name,
                arguments: arguments.to_string(),
                kind: CallKind::Function,
            }),
            None => Cow::Borrowed(call),
        }
    }

    /// Runs the calls of one answer: those that only read side by side, those that change something alone and in order.
    ///
    /// Every call has its outcome, in the order of the calls.
    pub async fn run(&self, calls: Vec<ToolCall>, cancel: &CancellationToken) -> Vec<Outcome> {
        let calls = match <[ToolCall; 1]>::try_from(calls) {
            // Most answers have one call, which meets no other.
            Ok([call]) => return vec![self.execute(call, cancel).await],
            Err(calls) => calls,
        };
        let lanes: Vec<Lane> = calls.iter().map(|call| self.lane(call)).collect();
        let mut outcomes = Vec::with_capacity(calls.len());
        let mut calls = calls.into_iter();
        for batch in batches::batches(&lanes) {
            let together: Vec<ToolCall> = calls.by_ref().take(batch.len()).collect();
            outcomes.extend(self.side_by_side(together, cancel).await);
        }
        outcomes
    }

    async fn side_by_side(&self, calls: Vec<ToolCall>, cancel: &CancellationToken) -> Vec<Outcome> {
        let room = Semaphore::new(self.session.limits.side_by_side.max(1));
        let runs = calls.into_iter().map(|call| async {
            // The semaphore is never closed; a call without a permit would only not be counted.
            let _permit = room.acquire().await.ok();
            self.execute(call, cancel).await
        });
        join_all(runs).await
    }

    /// One call from its start to its end, with its events.
    async fn execute(&self, call: ToolCall, cancel: &CancellationToken) -> Outcome {
        let began = now();
        self.watch.event(ToolEvent::Start { call: call.clone() });
        let mut repairs = Vec::new();
        let outcome = match self.stages(&self.meant(&call), cancel, &mut repairs).await {
            Ok(output) => Outcome {
                end: End::Done,
                parts: output.parts,
                display: output.display,
                notes: output.notes,
                cause: None,
                ..of(call, repairs, began.elapsed())
            },
            Err(Stopped { end, say, cause }) => {
                let say = truncate::bounded(say, 0, &call, (&self.session, &self.spoken));
                Outcome { end, parts: vec![Part::text(say)], cause, ..of(call, repairs, began.elapsed()) }
            }
        };
        self.follow(&outcome.notes);
        self.watch.event(ToolEvent::End(outcome.clone()));
        outcome
    }

    /// A step into plan mode or out of it holds from the next call on, which may be one of the same answer.
    fn follow(&self, notes: &[OutputNote]) {
        for note in notes {
            match note {
                OutputNote::Plan(step) => self.change_policy(|policy| policy.mode = step.mode()),
                OutputNote::MemoryFile(_) | OutputNote::Todos(_) | OutputNote::Findings(_) => {}
            }
        }
    }

    fn is_planning(&self) -> bool {
        self.policy().mode == Mode::Plan
    }

    fn lane(&self, call: &ToolCall) -> Lane {
        let call = self.meant(call);
        let tool = self.catalog.find(&call.name).tool().and_then(|tool| self.registry.get(&tool.name));
        tool.map_or(Lane::Shared, |tool| tool.card().lane)
    }
}

fn of(call: ToolCall, repairs: Vec<Repair>, took: Duration) -> Outcome {
    let (parts, notes) = (Vec::new(), Vec::new());
    Outcome { call, end: End::Failed, parts, display: None, notes, cause: None, repairs, took }
}

#[expect(clippy::disallowed_methods, reason = "the executor is a driver: it says how long a call took")]
fn now() -> Instant {
    Instant::now()
}

/// All of them, polled in turn; what they give, in their order.
async fn join_all<T>(runs: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut runs: Vec<_> = runs.map(|run| (Box::pin(run), None)).collect();
    std::future::poll_fn(|cx| {
        let mut pending = false;
        for (run, done) in &mut runs {
            if done.is_none() {
                match run.as_mut().poll(cx) {
                    std::task::Poll::Ready(value) => *done = Some(value),
                    std::task::Poll::Pending => pending = true,
                }
            }
        }
        if pending { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
    runs.into_iter().filter_map(|(_, done)| done).collect()
}
