//! What a machine is given: the head of its requests, how much a model takes, and what a task is held to.

use std::time::Duration;

use rail_model::{Part, Sampling, Thinking, ToolDecl};

/// The part of every request that stays the same, byte for byte.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Head {
    /// The model asked for.
    pub model: String,
    /// The system prompt.
    pub system: Vec<Part>,
    /// The tools.
    pub tools: Vec<ToolDecl>,
    /// How to draw answers.
    pub sampling: Sampling,
    /// Whether to think.
    pub thinking: Option<Thinking>,
}

/// How much a model takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Room {
    /// Tokens of its window.
    pub limit: u64,
    /// Tokens of that for an answer.
    pub output: u64,
    /// Tokens that whoever writes summaries reads; None when that is the same model, or not known.
    pub reads: Option<u64>,
}

/// What a task is held to.
#[derive(Clone, PartialEq, Debug)]
pub struct Bounds {
    /// So many answers.
    pub turns: Option<u64>,
    /// So many dollars.
    pub usd: Option<f64>,
    /// So many tokens, of input and output together.
    pub tokens: Option<u64>,
    /// So long. The machine has no clock: whoever drives it says when it is over, by [`Exhausted`](super::Input::Exhausted).
    pub time: Option<Duration>,
    /// So often a broken answer is asked for again.
    pub tries: u32,
    /// So often the model is told to go on, or to do it right, before the task is given up.
    pub nudges: u32,
    /// Whether a full window is summarised.
    pub summaries: Summaries,
}

/// Whether a full window is summarised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Summaries {
    /// By itself.
    #[default]
    Due,
    /// Only when the user asks for it; else the oldest are cut.
    Asked,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            turns: None,
            usd: None,
            tokens: None,
            time: None,
            tries: 2,
            nudges: 3,
            summaries: Summaries::Due,
        }
    }
}
