//! Configurations of other programs: their text in, a configuration of ours out, and a note for all that has no counterpart.
//!
//! Keys that stand in the foreign text do not go into the written TOML: it says `env:NAME`, and the value comes back apart,
//! for the user's own `.env` file, which nobody else may read.

mod ccr;
mod claude;
pub(crate) mod draft;
mod gemini_env;
mod json;
mod transformers;

use rail_stdx::Secret;

pub use ccr::ccr;
pub use claude::{claude, claude_with};
pub use gemini_env::gemini_env;
pub use json::read as read_json;

use crate::dotenv;

/// What became of a foreign configuration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Imported {
    /// The text of a `config.toml`, with remarks on where things come from.
    pub toml: String,
    /// The keys that it names as `env:NAME`, for `$XDG_CONFIG_HOME/switchrail/.env`.
    pub env: Vec<(String, Secret)>,
    /// What has no counterpart, and what to do instead. No values are repeated: they may be keys.
    pub notes: Vec<String>,
}

impl Imported {
    /// The keys as lines of a `.env` file. This is the one place that shows them.
    pub fn env_text(&self) -> String {
        self.env.iter().map(|(name, value)| dotenv::line(name, value)).collect()
    }
}

/// Why a foreign configuration can't be read at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what} can't be read: {problem}")]
pub struct ImportError {
    /// What it should be.
    pub what: &'static str,
    /// What is wrong, and where.
    pub problem: String,
}
