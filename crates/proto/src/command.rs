use rail_model::Part;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Chosen};

/// What a front end can ask of a session.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum Command {
    /// The user says something. While the agent works it is queued and taken in at the next step.
    Submit(Prompt),
    /// Whatever runs is to end now.
    Interrupt,
    /// The answer to a question about a call.
    Answer {
        /// The question's id.
        ask: String,
        /// The answer.
        answer: Answer,
    },
    /// The answers to what the model wants to know.
    Choose {
        /// The question's id.
        ask: String,
        /// The answers.
        chosen: Chosen,
    },
    /// Another permission mode from now on.
    SetMode(Mode),
    /// Another model from the next request on.
    SetModel(String),
    /// The conversation is to be made shorter.
    Compact {
        /// What is to be kept above all.
        keep: Option<String>,
    },
    /// The last step that changed something is taken back.
    Undo,
    /// What was taken back last is done again.
    Redo,
    /// Back to the state before the user's N-th message, counted from 1.
    Rewind {
        /// The message.
        turn: u64,
        /// What goes back.
        what: What,
    },
    /// An agent that a call set to work, here or in another agent, is to end now; the call has a result that says so, and everything
    /// else goes on.
    StopAgent {
        /// The call's id. Of an agent's own agent it may be said with those above it before it, as in `outer/inner`, where the same
        /// id could mean two.
        #[serde(rename = "tool_call_id")]
        id: String,
    },
    /// A command in the background is to be ended, with all that it has started.
    KillShell {
        /// Its id; of an agent's command with the agent's call before it, as in `call/bash_1`.
        id: String,
    },
    /// The session is to end, after what runs was interrupted.
    End,
}

/// What goes back when a session is rewound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// The files.
    Code,
    /// The conversation.
    Conversation,
    /// Both.
    #[default]
    Both,
}

/// What the user says: text and whatever is attached to it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Prompt {
    /// The front end's own id of it, if it has one.
    pub id: Option<String>,
    /// Its parts, in order.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub parts: Vec<Part>,
}

impl Prompt {
    /// A prompt of text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self { id: None, parts: vec![Part::text(text)] }
    }
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
