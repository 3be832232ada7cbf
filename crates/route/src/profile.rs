use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the code needs to know of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelProfile {
    /// Tokens of input and output together; None when nobody knows.
    pub window: Option<u64>,
    /// The most tokens it gives out.
    pub max_output: Option<u64>,
    /// Whether it sees images.
    pub vision: bool,
    /// How it calls tools.
    pub tools: ToolStyle,
    /// Its family, where the text of its calls alone does not tell (`harmony`, `hunyuan`, …).
    pub family: Option<String>,
    /// Its template ends with the opener of a reasoning block, so that answers begin inside it.
    pub starts_in_reasoning: bool,
    /// Its server escapes `&`, `<`, `>` and quotes in arguments as HTML entities.
    pub escapes_entities: bool,
    /// The built-in mapping of tool and parameter names that it needs, by name.
    pub mapping: Option<String>,
    /// The dialect of tool names it knows best: `native`, `claude`, `gemini`, `codex`.
    pub dialect: String,
    /// How it is told to think.
    pub thinking: Thinks,
    /// Its user text begins with `/no_think ` unless thinking is wanted.
    pub no_think: bool,
    /// Takes no `temperature`, `top_p` and the like.
    pub fixed_sampling: bool,
    /// The highest temperature it takes.
    pub max_temperature: Option<f64>,
    /// The field for the output limit is `max_completion_tokens`.
    pub max_completion_tokens: bool,
    /// Takes the `developer` role.
    pub developer_role: bool,
    /// Reasoning is sent back with the history: `never`, `where-there-is`, `always`.
    pub reasoning_back: ReasoningBack,
    /// Takes images inside tool results.
    pub image_in_tool_result: bool,
    /// Takes free-text tools.
    pub custom_tools: bool,
    /// Takes `stream_options.include_usage`.
    pub stream_usage: bool,
    /// What it costs; None when nobody knows, which is not the same as nothing.
    pub price: Option<Price>,
}

/// How a model calls tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolStyle {
    /// By its protocol's own calls, and they can be trusted: nothing is looked for in its text.
    Native,
    /// By its protocol's own calls or in its text, whichever comes.
    #[default]
    Mixed,
    /// Only as JSON in its text, after being taught so in the prompt.
    Prompted,
    /// Not at all.
    None,
}

/// How a model is told to think.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Thinks {
    /// In the form it was asked for.
    #[default]
    AsAsked,
    /// By a token budget.
    Budget,
    /// By letting it decide.
    Adaptive,
    /// By an effort word.
    Effort,
    /// Not at all: it rejects the field.
    Never,
}

/// Whether reasoning is sent back with the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReasoningBack {
    /// No.
    #[default]
    Never,
    /// Where there is some.
    WhereThereIs,
    /// On every assistant message, empty if need be.
    Always,
}

/// What a million tokens cost, in US dollars.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that came from no cache.
    pub input: f64,
    /// Output, reasoning included.
    pub output: f64,
    /// Input read from the provider's cache; as `input` when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Input written to the provider's cache; as `input` when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

/// What somebody says of a model: each field that is set replaces that of the profile below it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProfilePatch {
    /// Tokens of input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
}
