use crate::Extras;
use serde::{Deserialize, Serialize};

/// Tokens in disjoint buckets: nothing is counted twice. None is "not told", which is not zero.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Input that came from no cache and was written to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Input read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Input written to the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Output without reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Output spent on reasoning, where it is told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// What the origin said besides.
    #[serde(default, skip_serializing_if = "Extras::is_empty")]
    pub extras: Extras,
}

impl Usage {
    /// All input, cached or not.
    pub fn all_input(&self) -> u64 {
        [self.input, self.cache_read, self.cache_write].into_iter().flatten().fold(0, u64::saturating_add)
    }

    /// All output, reasoning included.
    pub fn all_output(&self) -> u64 {
        [self.output, self.reasoning].into_iter().flatten().fold(0, u64::saturating_add)
    }

    /// All tokens.
    pub fn total(&self) -> u64 {
        self.all_input().saturating_add(self.all_output())
    }

    /// Takes a later report. Reports are cumulative, so what it says replaces what was said, and nothing is ever added.
    pub fn update(&mut self, later: Usage) {
        let set = |slot: &mut Option<u64>, value: Option<u64>| *slot = value.or(*slot);
        set(&mut self.input, later.input);
        set(&mut self.cache_read, later.cache_read);
        set(&mut self.cache_write, later.cache_write);
        set(&mut self.output, later.output);
        set(&mut self.reasoning, later.reasoning);
        self.extras.merge(later.extras);
    }
}

/// Why the model stopped.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It was done.
    EndTurn,
    /// The output limit.
    MaxTokens,
    /// One of the stop strings; which one, if told.
    StopSequence(Option<String>),
    /// It wants its calls run.
    ToolUse,
    /// It, or a filter, refused.
    Refusal,
    /// It paused a long turn and wants to be called again.
    Pause,
    /// The context window is full.
    ContextFull,
    /// It wrote a call that its server could not read.
    MalformedCall,
    /// A reason we do not know.
    Other(String),
}
