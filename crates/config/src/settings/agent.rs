use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PermissionRule, SecretText, Wait};

/// What the agent may do without asking. Rules name tools in any dialect: `Bash(git commit:*)`, `Edit(src/**)`, `WebFetch(domain:docs.rs)`, `mcp__github__*`. Deny beats ask beats allow.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Permissions {
    /// What is asked about when no rule decides.
    pub mode: Mode,
    /// Rules for what is done without asking.
    pub allow: Vec<PermissionRule>,
    /// Rules for what is always asked about.
    pub ask: Vec<PermissionRule>,
    /// Rules for what is never done.
    pub deny: Vec<PermissionRule>,
}

/// What is asked about when no rule decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Whatever writes, runs or uses the network.
    #[default]
    Default,
    /// As `default`, but edits of files in the workspace are done without asking.
    AcceptEdits,
    /// Only read-only tools run.
    Plan,
    /// Nothing; hard denials still hold.
    Bypass,
}

/// How the agent works.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Agent {
    /// The newest generation of tools that a session has.
    pub generation: Generation,
    /// The tool names that a model is shown.
    pub dialect: DialectChoice,
    /// What ends a task early.
    pub limits: Limits,
    /// The model that the image tool asks, `provider,model`; when not said, one is looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_model: Option<String>,
    /// Whether a conversation that nears the end of the window is made shorter by itself.
    pub compaction: Compaction,
}

/// A generation of tools: each has all tools up to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Generation {
    /// Files and shell.
    Gen1,
    /// Search.
    Gen2,
    /// Planning.
    Gen3,
    /// Network and skills.
    #[default]
    Gen4,
    /// Memory.
    Gen5,
    /// Vision.
    Gen6,
    /// Many agents.
    Gen7,
    /// Self-evolution; needs `features.gen8`.
    Gen8,
}

/// The tool names that a model is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DialectChoice {
    /// Those that the model knows best.
    #[default]
    Auto,
    /// Our own.
    Native,
    /// Claude Code's.
    Claude,
    /// Gemini CLI's.
    Gemini,
    /// Codex CLI's.
    Codex,
}

/// What ends a task early; unlimited when not said.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// So many turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_turns: Option<u32>,
    /// So many US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub max_budget_usd: Option<f64>,
}

/// Whether a long conversation is made shorter by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compaction {
    /// Near the end of the window.
    #[default]
    Auto,
    /// Only when asked for, by `/compact`.
    Off,
}

/// How tools run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// How many read-only calls of one answer run side by side.
    #[schemars(range(min = 1))]
    pub max_concurrency: u32,
    /// How many characters of a result reach the model; the whole is kept in the session's folder.
    #[schemars(range(min = 1))]
    pub output_chars: u32,
    /// How long a command may run when its call does not say.
    pub command_timeout: Wait,
    /// How long a command may run at most.
    pub max_command_timeout: Wait,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            max_concurrency: 10,
            output_chars: 30_000,
            command_timeout: Wait(Duration::from_secs(120)),
            max_command_timeout: Wait(Duration::from_secs(600)),
        }
    }
}

/// The memory stores.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    /// A PostgreSQL database, `postgres://…`, for more than one machine; when not said, files of this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<SecretText>,
    /// What happens to lasting facts that a session has shown.
    pub auto_learn: AutoLearn,
}

/// What happens to lasting facts that a session has shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AutoLearn {
    /// They are not looked for.
    #[default]
    Off,
    /// They are proposed.
    Ask,
    /// They are stored.
    Auto,
}

/// Parts of the product that are off unless switched on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Features {
    /// The tools of generation 8, self-evolution. Also read as `enableGen8`.
    pub gen8: bool,
}

/// The terminal interface.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tui {
    /// Its colours.
    pub theme: Theme,
}

/// Colours of the terminal interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Theme {
    /// As the terminal's background has it.
    #[default]
    Auto,
    /// For light backgrounds.
    Light,
    /// For dark backgrounds.
    Dark,
    /// None.
    NoColour,
}
