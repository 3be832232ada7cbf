//! The flags of the agent.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rail_tool::Generation;

use super::claude::ClaudeFlags;
use crate::permission::PermissionFlags;
use crate::tool::words::{Dialect, generation};

/// Flags of the agent, which is what runs when no command is named.
#[derive(Args, Clone, Default)]
pub(crate) struct AgentFlags {
    /// Do one task without a terminal interface, print the result and end.
    #[arg(short, long)]
    pub(crate) print: bool,
    /// What is to be done; what is piped in is added to it.
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,
    /// How the result is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: OutputFormat,
    /// How prompts are read.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) input_format: InputFormat,
    /// Go on with the newest session of this folder.
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub(crate) go_on: bool,
    /// Go on with this session.
    #[arg(short, long, value_name = "ID")]
    pub(crate) resume: Option<String>,
    /// An image to look at; repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) image: Vec<PathBuf>,
    /// The tools of this generation instead of the configured one.
    #[arg(long, value_name = "genN", value_parser = generation)]
    pub(crate) generation: Option<Generation>,
    /// The tool names of this dialect instead of those that the model knows best.
    #[arg(long, value_name = "D")]
    pub(crate) dialect: Option<Dialect>,
    /// End after so many answers of the model.
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u64>,
    /// End when so many dollars are spent.
    #[arg(long, value_name = "X")]
    pub(crate) max_budget_usd: Option<f64>,
    /// Say on stderr what happens: providers, routes and reasons, mapped names, repairs, the first lines of results; twice: raw deltas and whole results too.
    #[arg(short = 'v', action = clap::ArgAction::Count)]
    v: u8,
    /// The same as `-v`. Every program that drives Claude Code says it once with `--input-format stream-json`, where it says nothing.
    #[arg(long, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(flatten)]
    pub(crate) permission: PermissionFlags,
    #[command(flatten)]
    pub(crate) claude: ClaudeFlags,
}

impl AgentFlags {
    /// How much is told on stderr.
    pub(crate) fn verbosity(&self) -> u8 {
        let always = u8::from(self.input_format == InputFormat::StreamJson);
        self.v.saturating_add(self.verbose.saturating_sub(always))
    }
}

/// How a result is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer alone.
    #[default]
    Text,
    /// One JSON object at the end.
    Json,
    /// Messages as JSON, one a line, as they come.
    StreamJson,
    /// The agent's own events as JSON, one a line.
    Events,
}

/// How prompts are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum InputFormat {
    /// The prompt, and what is piped in.
    #[default]
    Text,
    /// Messages as JSON, one a line.
    StreamJson,
}
