use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PermissionRule, SecretText, Size, Wait};

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
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Agent {
    /// The newest generation of tools that a session has.
    pub generation: Generation,
    /// The tool names that a model is shown.
    pub dialect: DialectChoice,
    /// What ends a task early.
    pub limits: Limits,
    /// The model that looks at images and at pictures of pages, `provider,model`, or several with `;` between them; when not said, one is looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_model: Option<String>,
    /// Whether a conversation that nears the end of the window is made shorter by itself.
    pub compaction: Compaction,
    /// How much a model is told at the head of a conversation.
    pub prompt: PromptChoice,
    /// How answers are to be written, in your own words; it stands last in the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_style: Option<String>,
    /// How deep agents may set others to work: with 1 only the session itself does.
    #[schemars(range(max = 5))]
    pub agent_depth: u32,
    /// The names of memory files: looked for in your own configuration folder and in every folder from the repository's root down to the working folder, and in deeper ones when they are worked in.
    pub memory_files: Vec<String>,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            generation: Generation::default(),
            dialect: DialectChoice::default(),
            limits: Limits::default(),
            image_model: None,
            compaction: Compaction::default(),
            prompt: PromptChoice::default(),
            output_style: None,
            agent_depth: 1,
            memory_files: ["AGENTS.md", "CLAUDE.md", "GEMINI.md"].map(str::to_owned).to_vec(),
        }
    }
}

/// How much a model is told at the head of a conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PromptChoice {
    /// What suits the model: the lean form for small ones.
    #[default]
    Auto,
    /// All of it.
    Full,
    /// The least, with a few tools.
    Lean,
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
    /// So many tokens, read and written, over all requests of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u64>,
    /// So long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time: Option<Wait>,
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
    /// How much of a command's output is kept in the session's folder; of a longer one that is its beginning, and the result says so.
    pub max_output_file: Size,
    /// How long a command may run when its call does not say.
    pub command_timeout: Wait,
    /// How long a command may run at most.
    pub max_command_timeout: Wait,
    /// How many commands may run in the background at once.
    #[schemars(range(min = 1))]
    pub background_commands: u32,
    /// How many lines of a file are read when the call does not say.
    #[schemars(range(min = 1))]
    pub read_lines: u32,
    /// How many characters of a line are read.
    #[schemars(range(min = 1))]
    pub read_line_chars: u32,
    /// The largest text that is read without saying which lines.
    pub read_text: Size,
    /// How much of a long text is looked through to count its lines; of a longer one the result says that there are more.
    pub max_counted_text: Size,
    /// The largest image that is read.
    pub read_image: Size,
    /// How many pixels the longer edge of an image may have; a larger one is shrunk.
    #[schemars(range(min = 1))]
    pub read_image_edge: u32,
    /// How many images one call shows, of a notebook or of several files.
    pub read_images: u32,
    /// The largest notebook that is read as cells.
    pub read_notebook: Size,
    /// The largest PDF that is read.
    pub read_pdf: Size,
    /// How many pages of a PDF are read as text at once.
    #[schemars(range(min = 1))]
    pub pdf_pages: u32,
    /// How many pages of a PDF a vision model is shown at once.
    #[schemars(range(min = 1))]
    pub pdf_vision_pages: u32,
    /// How many pixels the longer edge of a page has that a vision model is shown.
    #[schemars(range(min = 100, max = 8000))]
    pub pdf_edge: u32,
    /// How many characters of a notebook cell's source are read.
    #[schemars(range(min = 1))]
    pub cell_chars: u32,
    /// How many characters of one output of a notebook cell are read.
    #[schemars(range(min = 1))]
    pub cell_output_chars: u32,
    /// How many files one folder or pattern of `read_many_files` stands for.
    #[schemars(range(min = 1))]
    pub read_files: u32,
    /// How many entries of a folder are listed.
    #[schemars(range(min = 1))]
    pub list_entries: u32,
    /// How many files `glob` and `grep` list at once.
    #[schemars(range(min = 1))]
    pub search_files: u32,
    /// How many matches `grep` shows when the call does not say.
    #[schemars(range(min = 1))]
    pub search_matches: u32,
    /// How many matches `grep` shows at most.
    #[schemars(range(min = 1))]
    pub max_search_matches: u32,
    /// How many lines `grep` shows before and after a match at most.
    pub max_search_context: u32,
    /// How many characters of a line `grep` shows.
    #[schemars(range(min = 1))]
    pub search_line_chars: u32,
    /// How many lines of one match `grep` shows.
    #[schemars(range(min = 1))]
    pub search_match_lines: u32,
    /// The largest file that is changed.
    pub edit_file: Size,
    /// How many lines of a changed file the model is shown.
    #[schemars(range(min = 1))]
    pub edit_lines: u32,
    /// How many lines of a file that was read people are shown, when not everything is.
    pub preview_lines: u32,
    /// How many lines of a command's output people are shown, when not everything is.
    pub preview_command_lines: u32,
    /// How many lines of a change of files people are shown, when not everything is.
    pub preview_diff_lines: u32,
    /// Variables that commands get although they hold keys of providers, which are otherwise left out of their environment.
    pub keep_env: Vec<String>,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            max_concurrency: 10,
            output_chars: 30_000,
            max_output_file: Size(256 << 20),
            command_timeout: Wait(Duration::from_secs(120)),
            max_command_timeout: Wait(Duration::from_secs(600)),
            background_commands: 32,
            read_lines: 2_000,
            read_line_chars: 2_000,
            read_text: Size(256 << 10),
            max_counted_text: Size(1 << 30),
            read_image: Size(3_932_160),
            read_image_edge: 2_000,
            read_images: 10,
            read_notebook: Size(32 << 20),
            read_pdf: Size(64 << 20),
            pdf_pages: 50,
            pdf_vision_pages: 10,
            pdf_edge: 1_600,
            cell_chars: 20_000,
            cell_output_chars: 4_000,
            read_files: 1_000,
            list_entries: 1_000,
            search_files: 100,
            search_matches: 250,
            max_search_matches: 2_000,
            max_search_context: 200,
            search_line_chars: 2_000,
            search_match_lines: 100,
            edit_file: Size(256 << 20),
            edit_lines: 40,
            preview_lines: 3,
            preview_command_lines: 5,
            preview_diff_lines: 10,
            keep_env: Vec::new(),
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
    /// The keys of the input line.
    pub keys: InputKeys,
    /// Lines are only added, and nothing moves or has a colour: for screen readers and simple terminals. So it is with `TERM=dumb` too.
    pub plain: bool,
}

/// The keys of the input line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InputKeys {
    /// Those of shells and Emacs.
    #[default]
    Usual,
    /// Those of Vim, with modes.
    Vim,
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
    /// Blue and orange instead of green and red.
    ColourBlind,
    /// None.
    NoColour,
}
