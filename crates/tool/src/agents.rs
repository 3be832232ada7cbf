//! Agents that a call sets to work.

use std::fmt::Debug;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::{BoxFuture, Progress, ToolFault};

/// Who sets other agents to work.
pub trait Agents: Debug + Send + Sync {
    /// Has an agent do a task, and waits for its end.
    ///
    /// # Errors
    /// It could not be begun, or ended without an answer; in words for the model.
    fn run<'a>(&'a self, task: AgentTask, call: AgentCall<'a>)
    -> BoxFuture<'a, Result<AgentDone, ToolFault>>;
}

/// What an agent is to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentTask {
    /// It in a few words, for people.
    pub description: String,
    /// All that the agent is told.
    pub prompt: String,
    /// Its type.
    pub kind: String,
    /// The model to ask, instead of the type's own.
    pub model: Option<String>,
}

/// The call that sets an agent to work.
#[derive(Clone, Copy, Debug)]
pub struct AgentCall<'a> {
    /// The call's id.
    pub id: &'a str,
    /// Where it is said how far the agent is.
    pub progress: &'a Progress,
    /// Ends when nobody wants the result any more.
    pub cancel: &'a CancellationToken,
}

/// What became of an agent's task.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AgentDone {
    /// The last words of the agent.
    pub text: String,
    /// Why it ended before it was done, if it did.
    pub cut: Option<String>,
    /// How many calls it made.
    pub tool_uses: u64,
    /// How many tokens it took, of input and output together.
    pub tokens: u64,
    /// What it cost, as far as prices are known.
    pub cost_usd: f64,
    /// How long it took.
    pub took: Duration,
}

/// No agent can be set to work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoAgents;

impl Agents for NoAgents {
    fn run<'a>(&'a self, _: AgentTask, _: AgentCall<'a>) -> BoxFuture<'a, Result<AgentDone, ToolFault>> {
        let fault = ToolFault::new("no agents can be set to work here; do the task yourself");
        Box::pin(std::future::ready(Err(fault)))
    }
}
