use std::time::Duration;

use rail_model::{Part, ToolCall, ToolResult};
use rail_permit::Question;
use rail_repair::Repair;
use serde_json::{Map, Value};

use crate::{Display, OutputNote};

/// What becomes of a call, in this order: start, asked (only if somebody is), progress, end. The id is always the call's own.
#[derive(Clone, PartialEq, Debug)]
pub enum ToolEvent {
    /// The call is taken up.
    Start {
        /// As the model wrote it.
        call: ToolCall,
    },
    /// Somebody is asked whether it may be done.
    Asked {
        /// The call's id.
        id: String,
        /// What is asked.
        question: Question,
    },
    /// The tool says how far it is.
    Progress {
        /// The call's id.
        id: String,
        /// What it says.
        text: String,
    },
    /// The call has its result.
    End(Outcome),
}

impl ToolEvent {
    /// The event's name for those who read it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Start { .. } => "tool_call_start",
            Self::Asked { .. } => "permission_request",
            Self::Progress { .. } => "tool_call_progress",
            Self::End(_) => "tool_call_end",
        }
    }
}

/// A call's result: every call has one, whatever became of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The call it answers.
    pub call: ToolCall,
    /// How it ended.
    pub end: End,
    /// For the model.
    pub parts: Vec<Part>,
    /// For people.
    pub display: Option<Display>,
    /// For the session: what it must know besides.
    pub notes: Vec<OutputNote>,
    /// For the log: what the system said.
    pub cause: Option<String>,
    /// What was mended in the call.
    pub repairs: Vec<Repair>,
    /// How long it took.
    pub took: Duration,
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// It was done.
    Done,
    /// There is no such tool, or its arguments do not fit.
    Refused,
    /// A rule said no, or there was nobody to ask.
    Denied,
    /// The user was asked and said no.
    Rejected,
    /// A hook said no.
    Hooked,
    /// The tool failed.
    Failed,
    /// The tool broke off, which is a fault of it.
    Crashed,
    /// Nobody wanted it any more.
    Cancelled,
}

impl Outcome {
    /// Whether it was done.
    pub fn success(&self) -> bool {
        self.end == End::Done
    }

    /// The text of it: what a model reads, images left out.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::as_text).collect();
        texts.join("\n")
    }

    /// The result as a part of the conversation.
    pub fn result(&self) -> ToolResult {
        ToolResult {
            id: self.call.id.clone(),
            name: Some(self.call.name.clone()),
            content: self.parts.clone(),
            is_error: Some(!self.success()),
            kind: self.call.kind,
        }
    }

    /// The result as `rail tool run --json` prints it.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("tool_call_id".to_owned(), self.call.id.as_str().into());
        object.insert("success".to_owned(), self.success().into());
        let key = if self.success() { "output" } else { "error" };
        object.insert(key.to_owned(), self.text().into());
        let millis = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX);
        object.insert("duration_ms".to_owned(), millis.into());
        Value::Object(object)
    }
}
