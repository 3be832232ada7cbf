use rail_permit::Mode;
use serde::{Deserialize, Serialize};

/// Something found out while planning.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Its number; it stays the same while others come and go.
    pub number: u64,
    /// What was found out.
    pub text: String,
    /// The file it is about, perhaps with a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A step into plan mode or out of it, to which the user agreed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanStep {
    /// Plan mode begins: only what reads is done.
    Enter,
    /// The plan is approved, and plan mode ends.
    Leave {
        /// The plan.
        plan: String,
        /// How edits are treated from now on.
        edits: Edits,
    },
}

/// How edits are treated when a plan is carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edits {
    /// Those in the workspace are done without asking.
    Accepted,
    /// Each is asked about.
    Asked,
}

impl PlanStep {
    /// The mode of the session after it.
    pub fn mode(&self) -> Mode {
        match self {
            Self::Enter => Mode::Plan,
            Self::Leave { edits: Edits::Accepted, .. } => Mode::AcceptEdits,
            Self::Leave { edits: Edits::Asked, .. } => Mode::Default,
        }
    }
}
