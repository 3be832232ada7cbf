//! Dialects and generations, as flags and tables have them.

use clap::ValueEnum;
use rail_tool::Generation;

/// The dialects of tool names.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Dialect {
    Native,
    Claude,
    Gemini,
    Codex,
}

impl Dialect {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Codex => "codex",
        }
    }
}

/// A generation by its name in the configuration.
pub(crate) fn generation(text: &str) -> Result<Generation, String> {
    serde_json::from_value(text.into()).map_err(|_| "there are gen1 to gen8".to_owned())
}

/// The name of a generation in the configuration.
pub(crate) fn word(generation: Generation) -> String {
    serde_json::to_value(generation)
        .ok()
        .and_then(|word| word.as_str().map(str::to_owned))
        .unwrap_or_default()
}
