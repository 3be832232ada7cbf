//! The official SDKs as judges of what we say and read: their installation, what is played with them, and what they must see.

pub mod answers;
mod compare;
pub mod errors;
mod install;

use std::io::Write;
use std::process::Stdio;

use rail_model::Part;
use serde_json::Value;

use crate::Turn;

pub use compare::compare;
pub use install::{Judge, Language, judge, judge_of};

/// One call of the SDK, and what must come of it.
pub struct Scenario {
    /// Unique; what is scripted and how it is asked for.
    pub name: String,
    /// How the SDK is called: `whole`, `stream`, `helper` (its own accumulation), `count`, `embed`, `models`,
    /// and `loop` or `loop-whole`, which answer the calls of a first answer.
    pub mode: &'static str,
    /// Which of the requests in `asks/` is sent.
    pub ask: &'static str,
    /// What the model answers.
    pub turns: Vec<Turn>,
    /// What must come of it.
    pub expected: Expected,
    /// The answer that the second request must have in it.
    pub sent_back: Option<Vec<Part>>,
}

/// What must come of a call.
pub enum Expected {
    /// The SDK saw this, and perhaps more.
    Saw(Value),
    /// The SDK raised an error.
    Raised(Raised),
}

/// An error of an SDK.
#[derive(Default)]
pub struct Raised {
    /// Its class.
    pub class: Option<&'static str>,
    /// A class that it is derived from.
    pub ancestor: Option<&'static str>,
    /// Its HTTP status.
    pub status: Option<u16>,
    /// What its message has in it.
    pub says: &'static str,
    /// When to come back, as its header says.
    pub retry_after: Option<&'static str>,
}

/// The requests that are sent with an SDK, by name.
pub fn asks(sdk: &str) -> &'static str {
    match sdk {
        "anthropic" => include_str!("../tests/judges/asks/anthropic.json"),
        "openai-chat" => include_str!("../tests/judges/asks/openai-chat.json"),
        "openai-responses" => include_str!("../tests/judges/asks/openai-responses.json"),
        "gemini" => include_str!("../tests/judges/asks/gemini.json"),
        other => panic!("no requests for {other}"),
    }
}

/// Runs the script of one SDK over all scenarios, and gives its lines. It panics when the script fails.
pub fn run(judge: &Judge, sdk: &str, input: &Value) -> Vec<Value> {
    let played = play(judge, sdk, input);
    played.unwrap_or_else(|why| panic!("the script of {sdk} failed: {why}; its message is above"))
}

fn play(judge: &Judge, sdk: &str, input: &Value) -> std::io::Result<Vec<Value>> {
    let mut child = judge.script(sdk).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    // The script reads all its input before it says anything, so this cannot block on its output.
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.to_string().as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(std::io::Error::other(output.status.to_string()));
    }
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).map_err(std::io::Error::from)).collect()
}
