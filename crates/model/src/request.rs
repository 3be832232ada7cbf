use crate::{CacheMark, Extras, Json, Message, Opaque, Part, ProtocolId, kept};
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// Everything that is asked of a model in one call.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Request {
    /// The model's name as it was asked for.
    pub model: String,
    /// Instructions at the head of the conversation.
    pub system: Vec<Part>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The tools the model may call.
    pub tools: Vec<ToolDecl>,
    /// Which tool it must or may call.
    pub tool_choice: Option<ToolChoice>,
    /// Whether several calls may come in one answer.
    pub parallel_tools: Option<bool>,
    /// How to draw the answer.
    pub sampling: Sampling,
    /// Whether and how much to think.
    pub thinking: Option<Thinking>,
    /// The form the answer must have.
    pub format: Option<Format>,
    /// Whether the answer is wanted as a stream.
    pub stream: bool,
    /// The end user this is for, as an opaque id.
    pub user: Option<String>,
    /// Why the request is made.
    pub purpose: Purpose,
    /// The protocol the request came in, if it came from outside.
    pub origin: Option<ProtocolId>,
    /// Headers that belong to the body, such as `anthropic-beta`; they travel with it to their own protocol or not at all.
    pub headers: Vec<(String, String)>,
    /// What the origin said besides.
    pub extras: Extras,
}

/// How to draw the answer. Numbers stay as they were spelled.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sampling {
    /// At most so many tokens of output.
    pub max_output: Option<u64>,
    /// Temperature.
    pub temperature: Option<Number>,
    /// Nucleus sampling.
    pub top_p: Option<Number>,
    /// Only the k likeliest tokens.
    pub top_k: Option<Number>,
    /// Strings that end the answer.
    pub stop: Vec<String>,
    /// For repeatable answers.
    pub seed: Option<Number>,
    /// Penalty by frequency.
    pub frequency_penalty: Option<Number>,
    /// Penalty by presence.
    pub presence_penalty: Option<Number>,
    /// How many answers.
    pub count: Option<u64>,
    /// Whether log probabilities are wanted.
    pub logprobs: Option<bool>,
    /// How many rivals of each token.
    pub top_logprobs: Option<u64>,
}

/// A tool the model may call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ToolDecl {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it takes.
    pub kind: ToolKind,
    /// Whether the provider must enforce the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// The prefix up to here is worth caching.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMark>,
    /// What the origin said besides.
    #[serde(default, skip_serializing_if = "Extras::is_empty")]
    pub extras: Extras,
}

/// What a tool takes, or that it is the provider's own.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// A function with a JSON Schema for its arguments; None when the origin gave none.
    Function {
        /// The schema, as written.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "kept::said")]
        parameters: Option<Json>,
    },
    /// A tool that takes free text, perhaps under a grammar.
    Custom {
        /// The grammar, as the origin wrote it.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "kept::said")]
        format: Option<Json>,
    },
    /// A tool the provider runs itself, or one we have no word for: whole, for its origin only.
    Server(Opaque),
}

/// Which tool the model must or may call.
#[derive(Clone, PartialEq, Debug)]
pub enum ToolChoice {
    /// It decides.
    Auto,
    /// None.
    None,
    /// Any, but at least one.
    Any,
    /// Just this one.
    Named(String),
    /// One of these (`required`: at least one).
    Among {
        /// The allowed names.
        names: Vec<String>,
        /// Whether one must be called.
        required: bool,
    },
    /// A form we have no word for.
    Opaque(Opaque),
}

/// Whether and how much to think.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Thinking {
    /// On, off or left to the model; None when only an effort was said.
    pub mode: Option<ThinkingMode>,
    /// Tokens it may spend.
    pub budget: Option<u64>,
    /// How hard to think.
    pub effort: Option<Effort>,
    /// Whether the reasoning, or a summary of it, is to be shown.
    pub show: Option<bool>,
    /// What the origin said besides.
    pub extras: Extras,
}

/// Whether to think.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThinkingMode {
    /// No.
    Off,
    /// Yes.
    On,
    /// As the model sees fit.
    Adaptive,
}

/// How hard to think.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effort {
    /// Not at all.
    None,
    /// As little as possible.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    XHigh,
    /// As much as there is.
    Max,
    /// A word we do not know.
    Other(String),
}

impl Effort {
    /// Reads the word that all protocols use, whatever its case.
    pub fn parse(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "none" => Self::None,
            "minimal" => Self::Minimal,
            "low" => Self::Low,
            "medium" => Self::Medium,
            "high" => Self::High,
            "xhigh" => Self::XHigh,
            "max" => Self::Max,
            _ => Self::Other(word.to_owned()),
        }
    }

    /// The word, in lower case.
    pub fn word(&self) -> &str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
            Self::Other(word) => word,
        }
    }
}

/// The form the answer must have.
#[derive(Clone, PartialEq, Debug)]
pub enum Format {
    /// Plain text, said explicitly.
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON under a schema.
    JsonSchema {
        /// A name for it, where the protocol wants one.
        name: Option<String>,
        /// What it is for.
        description: Option<String>,
        /// The schema, as written.
        schema: Option<Json>,
        /// Whether the provider must enforce it.
        strict: Option<bool>,
    },
    /// A form we have no word for.
    Opaque(Opaque),
}

/// Why a request is made; routing rules can see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Purpose {
    /// The conversation itself.
    #[default]
    Main,
    /// A sub-agent's.
    SubAgent,
    /// Titles, summaries, compaction: what a cheap model can do.
    Background,
}
