//! `rail debug`: one thing through one part of the product.

mod decode;
mod prompt;
mod translate;

use clap::Subcommand;
use rail_wire::{ALL, Protocol, find};

use crate::Failure;
use crate::setup::Common;

/// The parts that can be looked into.
#[derive(Subcommand)]
pub(crate) enum Debug {
    /// Find the calls, the reasoning and the text in what a model said, and mend the calls.
    Decode(Box<decode::Decode>),
    /// What a model is told at the head of a conversation in this folder, by parts, with token counts.
    Prompt(prompt::Prompt),
    /// Translate a request, an answer, a stream or an error from one protocol to another (stdin to stdout; losses as
    /// JSON lines on stderr).
    Translate(translate::Translate),
}

impl Debug {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        match self {
            Self::Decode(decode) => decode.run(),
            Self::Prompt(prompt) => prompt.run(common),
            Self::Translate(translate) => translate.run(),
        }
    }
}

/// The protocol of this name, as an argument.
pub(crate) fn protocol(name: &str) -> Result<&'static Protocol, String> {
    find(name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|protocol| protocol.id.name()).collect();
        format!("no such protocol; there are {}", known.join(", "))
    })
}
