use std::collections::BTreeMap;
use std::sync::Arc;

use rail_model::Purpose;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Chain, Profiles, Provider};

/// All that the configuration says of routing. One request sees one such value from beginning to end.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Routing {
    /// The providers, by name.
    pub providers: BTreeMap<String, Arc<Provider>>,
    /// The chain of each virtual model.
    pub chains: BTreeMap<String, Chain>,
    /// The last-resort chain of each virtual model.
    pub security: BTreeMap<String, Chain>,
    /// The user's own virtual models.
    pub rules: Vec<Rule>,
    /// Thresholds and matching modes.
    pub options: Options,
    /// Names that are served by others.
    pub aliases: Vec<Alias>,
    /// What is known of models.
    pub profiles: Profiles,
    /// The provider that stands at the front of every chain that has it.
    pub active: Option<String>,
}

/// A name that clients ask for, served by another model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alias {
    /// The name, or a pattern with `*`.
    pub name: String,
    /// What serves it.
    pub to: AliasTo,
    /// Who said so, for explanations: `[aliases]`, or an environment prefix and its file.
    pub origin: String,
}

/// What serves an alias.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AliasTo {
    /// Whatever the request is classified as.
    Classified,
    /// A virtual model's chain.
    Virtual(String),
    /// These targets, in this order.
    Chain(Chain),
}

/// Thresholds and matching modes of the router.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// A request with more tokens than this is `longContext`.
    pub long_context_threshold: u64,
    /// When a request counts as `webSearch`.
    pub web_search_match: WebSearchMatch,
    /// When a request counts as `imageProcessing`.
    pub image_match: ImageMatch,
    /// When a request counts as `reasoning`.
    pub reasoning_match: ReasoningMatch,
    /// Whether a conversation stays with its target while a switch would cost more than it gains.
    pub stickiness: Stickiness,
    /// Whether the `default` chain is tried after all others.
    pub default_as_last_resort: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            long_context_threshold: 60_000,
            web_search_match: WebSearchMatch::default(),
            image_match: ImageMatch::default(),
            reasoning_match: ReasoningMatch::default(),
            stickiness: Stickiness::default(),
            default_as_last_resort: false,
        }
    }
}

/// When a request counts as `webSearch`. A web search that the provider runs itself always counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WebSearchMatch {
    /// Every declared tool is a web tool.
    #[default]
    DeclaredOnly,
    /// The last assistant turn called a web tool.
    Called,
    /// Any declared tool is a web tool.
    Any,
}

/// When a request counts as `imageProcessing`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ImageMatch {
    /// The last user turn holds an image, or a read tool was just called on one.
    #[default]
    LastTurn,
    /// There is an image anywhere in the conversation.
    Any,
}

/// When a request counts as `reasoning`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReasoningMatch {
    /// Thinking is switched on, or asked for with more than the usual effort.
    #[default]
    Explicit,
    /// Anything is said of thinking, except that it is off.
    Any,
}

/// Whether a conversation stays with its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stickiness {
    /// While a switch costs more in lost cache than it gains, and never in the middle of a tool loop without need.
    #[default]
    Auto,
    /// Each request is routed by itself.
    Off,
}

/// A virtual model of the user's own: it matches when all that it says holds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The virtual model that a match gives; one of the built-in ones may be named too.
    pub name: String,
    /// Lower ones are looked at first; the built-in rules have 1 to 5, and `default` has 99.
    #[serde(default = "Rule::usual_priority")]
    pub priority: i64,
    /// The chain of targets, if it is not under `[router]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<String>,
    /// The client's name, such as `claude-code`; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Headers that the client sends, by name; `*` stands for any text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The model name asked for; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// At least so many tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_tokens: Option<u64>,
    /// At most so many tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// A declared tool has one of these names; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Whether the conversation holds images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// Whether thinking is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
    /// Text that the system prompt holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Why the request is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<RulePurpose>,
}

impl Rule {
    fn usual_priority() -> i64 {
        // Before the built-in rules: who writes a rule wants it to count.
        0
    }
}

/// Why a request is made, as rules say it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RulePurpose {
    /// The conversation itself.
    Main,
    /// A sub-agent's.
    SubAgent,
    /// Titles, summaries, compaction.
    Background,
}

impl RulePurpose {
    /// The word that rules use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::SubAgent => "sub-agent",
            Self::Background => "background",
        }
    }
}

impl From<Purpose> for RulePurpose {
    fn from(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Main => Self::Main,
            Purpose::SubAgent => Self::SubAgent,
            Purpose::Background => Self::Background,
        }
    }
}
