use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Reason;

/// An agent that a call set to work.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct AgentBegan {
    /// The call's id; a command to stop the agent names it.
    #[serde(rename = "tool_call_id")]
    pub id: String,
    /// The agent's own id, which names its journal.
    pub agent: String,
    /// Its type.
    pub kind: String,
    /// What it is to do, in a few words.
    pub description: String,
    /// The model asked for.
    pub model: String,
}

/// What became of an agent that a call set to work.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct AgentEnded {
    /// The call's id.
    #[serde(rename = "tool_call_id")]
    pub id: String,
    /// Why it ended.
    pub reason: Reason,
    /// How many calls it made, those of agents of its own included.
    pub tool_uses: u64,
    /// How many tokens it took, read and written, those of agents of its own included.
    pub tokens: u64,
    /// What it cost, as far as prices are known.
    pub cost_usd: f64,
    /// How long it took.
    pub duration_ms: u64,
}
