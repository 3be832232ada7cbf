use std::collections::BTreeMap;
use std::time::Duration;

use rail_route::{ProfilePatch, Retry, Timeouts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Address, SecretText, Wait};
use crate::found::usual_addresses;

/// One endpoint.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderSettings {
    /// What it speaks: `anthropic`, `openai-chat`, `openai-responses`, `gemini`, or `replay` for cassettes. May be left out for well-known names such as `deepseek`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["anthropic", "openai-chat", "openai-responses", "gemini", "replay"]))]
    pub protocol: Option<String>,
    /// The address that the protocol's paths are appended to, version included: `https://host/v1`. May be left out for well-known names.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "base-url"))]
    pub base_url: Option<String>,
    /// Its key. Servers that want none need none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<SecretText>,
    /// Several keys, used in turn; instead of `key`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<SecretText>,
    /// Its models: a list of names, or a table from name to what you know better of it than the built-in profiles.
    #[serde(skip_serializing_if = "Models::is_empty")]
    pub models: Models,
    /// Headers sent with every request, besides the protocol's own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, SecretText>,
    /// How long to wait for it.
    pub timeouts: TimeoutSettings,
    /// How often to try it again after a passing failure, before the next target is tried.
    pub retry: RetrySettings,
    /// The proxy to go through: `http://host:port`, or `direct` for none. When not said, the environment's (`HTTPS_PROXY`, `NO_PROXY`, …) is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "proxy"))]
    pub proxy: Option<String>,
    /// A PEM file with certificate authorities to trust besides the system's. Relative to the file that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub ca: Option<String>,
    /// The recording that a `replay` provider plays. Relative to the file that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path"))]
    pub cassette: Option<String>,
}

/// Where model servers are looked for when no provider is configured: with one in `[providers]`, nobody is asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Discovery {
    /// Addresses without a path. Those of LM Studio, Ollama, llama.cpp and vLLM on this machine when not said; an empty list asks nobody. `OLLAMA_HOST` counts besides.
    pub servers: Vec<Address>,
    /// How long a server has to say that it is there. All are asked at once.
    pub wait: Wait,
}

impl Default for Discovery {
    fn default() -> Self {
        let servers = usual_addresses().into_iter().map(Address).collect();
        Self { servers, wait: Wait(Duration::from_millis(300)) }
    }
}

/// The models of a provider.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Models {
    /// Their names.
    Names(Vec<String>),
    /// What is known better of each.
    Profiles(BTreeMap<String, ProfilePatch>),
}

impl Models {
    /// Whether none is named.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Names(names) => names.is_empty(),
            Self::Profiles(profiles) => profiles.is_empty(),
        }
    }

    /// Each with what is known better of it.
    pub fn profiles(&self) -> BTreeMap<String, ProfilePatch> {
        match self {
            Self::Names(names) => names.iter().map(|name| (name.clone(), ProfilePatch::default())).collect(),
            Self::Profiles(profiles) => profiles.clone(),
        }
    }
}

impl Default for Models {
    fn default() -> Self {
        Self::Names(Vec::new())
    }
}

/// How long to wait for a provider. A length of time is a whole number with `ms`, `s`, `m` or `h`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimeoutSettings {
    /// For a connection, TLS included.
    pub connect: Wait,
    /// From the send to the first content.
    pub first_token: Wait,
    /// Between two pieces of an answer.
    pub idle: Wait,
    /// For the whole answer.
    pub total: Wait,
}

impl Default for TimeoutSettings {
    fn default() -> Self {
        let Timeouts { connect, first_token, idle, total } = Timeouts::default();
        Self { connect: Wait(connect), first_token: Wait(first_token), idle: Wait(idle), total: Wait(total) }
    }
}

impl From<&TimeoutSettings> for Timeouts {
    fn from(settings: &TimeoutSettings) -> Self {
        let TimeoutSettings { connect, first_token, idle, total } = settings;
        Self { connect: connect.0, first_token: first_token.0, idle: idle.0, total: total.0 }
    }
}

/// How often a provider is tried again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetrySettings {
    /// Tries after the first one.
    pub tries: u32,
    /// The wait before the first of them; it doubles each time, and is drawn at random up to that.
    pub wait: Wait,
    /// The longest wait; a provider that asks for more is left at once.
    pub max_wait: Wait,
    /// No further try of the same target begins later than this after its first one.
    pub within: Wait,
}

impl Default for RetrySettings {
    fn default() -> Self {
        let Retry { tries, wait, max_wait, within } = Retry::default();
        Self { tries, wait: Wait(wait), max_wait: Wait(max_wait), within: Wait(within) }
    }
}

impl From<&RetrySettings> for Retry {
    fn from(settings: &RetrySettings) -> Self {
        let RetrySettings { tries, wait, max_wait, within } = settings;
        Self { tries: *tries, wait: wait.0, max_wait: max_wait.0, within: within.0 }
    }
}
