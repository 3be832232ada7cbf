use rail_model::{Message, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentBegan, AgentEnded, Choices, Mode, Offered, PermissionAsk, Prompt, Shell, Todo, ToolEnd, ToolStart,
};

/// What happens in a session, in order. All front ends, the journal's readers and the tests see the same.
///
/// What is told of a step can be void: [`SessionEvent::Restarted`] takes back what was streamed of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum SessionEvent {
    /// A session begins or goes on.
    Opened(Opened),
    /// The user's words are part of the conversation from here on.
    Prompted(Prompt),
    /// The user's words wait for the next step.
    Queued(Prompt),
    /// A request goes out.
    Asking {
        /// The step.
        step: u64,
    },
    /// A target began to answer.
    Routed(Routed),
    /// Something that the user should know, and that ends nothing.
    Note {
        /// What it is about.
        kind: NoteKind,
        /// What happened, in a sentence.
        text: String,
    },
    /// More text of an answer.
    Text {
        /// The step.
        step: u64,
        /// The text.
        text: String,
    },
    /// More reasoning of an answer.
    Thinking {
        /// The step.
        step: u64,
        /// The text.
        text: String,
    },
    /// The model begins to write a call.
    Calling {
        /// The step.
        step: u64,
        /// The tool's name as the model writes it.
        name: String,
    },
    /// What was streamed of this step is void: it is asked again.
    Restarted {
        /// The step.
        step: u64,
        /// Why.
        why: String,
    },
    /// An answer is complete and part of the conversation.
    Said {
        /// The step.
        step: u64,
        /// The answer.
        #[schemars(with = "serde_json::Value")]
        message: Message,
    },
    /// What an answer took.
    Spent(Spent),
    /// A call is taken up.
    #[serde(rename = "tool_call_start")]
    ToolStart(ToolStart),
    /// The user is asked whether a call may be done.
    #[serde(rename = "permission_request")]
    Permission(PermissionAsk),
    /// The user is asked what the model wants to know.
    Choice {
        /// The id of the call that asks, which is the question's.
        id: String,
        /// What is asked.
        choices: Choices,
    },
    /// Nobody waits for the answer to a question any more: whoever asked was stopped, interrupted or gone, or its time was over. It is
    /// told once, and not of a question that was answered.
    Withdrawn {
        /// The question's id.
        id: String,
    },
    /// A call says how far it is.
    #[serde(rename = "tool_call_progress")]
    ToolProgress {
        /// The call's id.
        #[serde(rename = "tool_call_id")]
        id: String,
        /// What it says.
        text: String,
    },
    /// A call has its result.
    #[serde(rename = "tool_call_end")]
    ToolEnd(ToolEnd),
    /// A call set another agent to work.
    AgentBegan(AgentBegan),
    /// Something happens in an agent that a call set to work. Questions of such agents are asked as if they were the session's own.
    AgentEvent {
        /// The id of the call that set it to work.
        #[serde(rename = "tool_call_id")]
        id: String,
        /// What happens, with the step numbers of that agent.
        #[schemars(with = "serde_json::Value")]
        event: Box<SessionEvent>,
    },
    /// An agent that a call set to work has ended.
    AgentEnded(AgentEnded),
    /// The model's list of things to do.
    Todos(Vec<Todo>),
    /// The commands in the background, all of them: one began, ended or was killed, or printed more since the last second.
    Shells(Vec<Shell>),
    /// What MCP servers offer the user, all of it: one connected, went, or has other prompts or resources.
    Offered(Offered),
    /// Another permission mode is in force.
    Mode(Mode),
    /// Another model is asked from now on.
    Model(String),
    /// The session has a title.
    Title(String),
    /// A memory file was read, or read again.
    Memory(Memory),
    /// The conversation is being made shorter.
    Compacting,
    /// The conversation is shorter now.
    Compacted(Compacted),
    /// Files or the conversation went back, or forward again.
    Restored(Restored),
    /// A task is over.
    Done(Done),
    /// The session is over; nothing follows.
    Closed,
}

/// How a session begins.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Opened {
    /// The session's id.
    pub id: String,
    /// The working folder.
    pub cwd: String,
    /// The model asked for.
    pub model: String,
    /// The names of the tools, as the model sees them.
    pub tools: Vec<String>,
    /// The permission mode.
    pub mode: Mode,
    /// The names of the slash commands there are.
    pub commands: Vec<String>,
    /// The names of the types of agents that calls can set to work.
    #[serde(default)]
    pub agents: Vec<String>,
    /// The names of the skills that the model may load.
    #[serde(default)]
    pub skills: Vec<String>,
    /// Whether an earlier session goes on.
    pub resumed: bool,
    /// What had to be mended in its journal, if something had.
    pub mended: Option<String>,
}

/// What a note is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// A target failed and another was tried, or the same again.
    Failover,
    /// A call was mended.
    Repair,
    /// A target could not be told everything.
    Loss,
    /// A hook did something, or failed.
    Hook,
    /// The agent repeats itself.
    Loop,
    /// The sandbox or the snapshots do less than they should.
    Guard,
    /// The configuration.
    Config,
    /// The context window.
    Context,
    /// An MCP server.
    Mcp,
}

/// Who answers a request, and why.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Routed {
    /// The step.
    pub step: u64,
    /// The model asked for.
    pub asked: String,
    /// The virtual model that the request was sorted under.
    pub virtual_model: Option<String>,
    /// Why.
    pub why: String,
    /// The target that answers, `provider,model`.
    pub target: String,
    /// Targets that were tried before it, each with what went wrong.
    pub failed: Vec<(String, String)>,
}

/// What an answer took.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// The step; of what a tool asked a model for, the one whose calls run.
    pub step: u64,
    /// Who answered.
    pub target: String,
    /// The tokens, as reported.
    #[schemars(with = "serde_json::Value")]
    pub usage: Usage,
    /// The price, where it is known.
    pub cost_usd: Option<f64>,
    /// How full the window of the conversation is, whoever asked.
    pub window: Window,
    /// How long it took.
    pub duration_ms: u64,
    /// Who asked beside the conversation: a tool or an MCP server, whose answer is no message of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<String>,
}

/// How full the window is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Tokens of the conversation.
    pub tokens: u64,
    /// Tokens that fit, where that is known.
    pub limit: Option<u64>,
}

/// A memory file that was read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// The file.
    pub path: String,
    /// How many tokens it takes, as estimated.
    pub tokens: u64,
}

/// How a conversation became shorter.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Compacted {
    /// Tokens before, as estimated.
    pub before: u64,
    /// Tokens after, as estimated.
    pub after: u64,
    /// Who wrote the summary; None where it was cut without one.
    pub by: Option<String>,
    /// Whether the user asked for it.
    pub asked_for: bool,
}

/// What went back, or forward again.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Restored {
    /// Files that are as they were.
    pub files: Vec<String>,
    /// Files that somebody else changed since, and that were left alone.
    pub conflicts: Vec<String>,
    /// The user's message that the conversation ends before, if it went back.
    pub before_turn: Option<u64>,
    /// Why nothing was done, if nothing was.
    pub refused: Option<String>,
}

/// How a task ended, and what it took.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// Why it ended.
    pub reason: Reason,
    /// The last words of the model, or what went wrong.
    pub text: String,
    /// How many answers the model gave.
    pub turns: u64,
    /// What it cost, as far as prices are known.
    pub cost_usd: f64,
    /// How long it took.
    pub duration_ms: u64,
    /// How long models took of that.
    pub api_ms: u64,
    /// The calls that were not allowed and that nobody was asked about, each with the rule that would allow it.
    pub denials: Vec<(String, String)>,
}

/// Why a task ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The model answered.
    #[default]
    Answered,
    /// So many turns were allowed.
    TurnLimit,
    /// So much was allowed to be spent.
    Budget,
    /// The model, or a filter, refused.
    Refused,
    /// The user wanted it.
    Interrupted,
    /// Something went wrong that could not be mended.
    Failed,
}
