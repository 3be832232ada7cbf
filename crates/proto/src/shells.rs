use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command that runs in the background, or did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Shell {
    /// The id that the model knows it by; a command to kill it names it.
    pub id: String,
    /// The command line.
    pub command: String,
    /// How far it is.
    pub state: ShellState,
    /// How long it runs, or ran.
    pub duration_ms: u64,
    /// How many bytes it has printed.
    pub printed: u64,
    /// The last lines that it printed.
    #[serde(default)]
    pub last: String,
}

/// How far a command in the background is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ShellState {
    /// It runs.
    Running,
    /// It has ended.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// Something else than the user or the model ended it.
    Signalled {
        /// The number of the signal.
        signal: i32,
    },
    /// The user or the model ended it.
    Killed,
}
