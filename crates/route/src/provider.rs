use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use rail_model::ProtocolId;
use rail_stdx::Secret;

use crate::ProfilePatch;
use crate::profiles::is_local;

/// A configured endpoint: what is needed to speak with it, and the models it is known to have.
#[derive(Clone, PartialEq, Debug)]
pub struct Provider {
    /// Its name in the configuration.
    pub name: String,
    /// The protocol it speaks; `replay` for cassettes.
    pub protocol: ProtocolId,
    /// The address that the protocol's paths are appended to, version included, without a `/` at the end.
    pub base_url: String,
    /// Its keys, used in turn; empty for servers that want none.
    pub keys: Vec<Secret>,
    /// Why it can't be used as configured, such as a key whose variable is not set; its targets are skipped with this reason.
    pub unusable: Option<String>,
    /// Headers sent with every request, besides the protocol's own.
    pub headers: Vec<(String, Secret)>,
    /// How long to wait for it.
    pub timeouts: Timeouts,
    /// How often to try it again.
    pub retry: Retry,
    /// Its models, with what is known better of each than the profile table knows.
    pub models: BTreeMap<String, ProfilePatch>,
    /// The proxy to go through; None asks the environment, `direct` goes through none.
    pub proxy: Option<String>,
    /// A PEM file with certificate authorities to trust besides the system's.
    pub ca: Option<PathBuf>,
    /// The recording that a `replay` provider plays.
    pub cassette: Option<PathBuf>,
}

impl Provider {
    /// A provider with nothing but what it must have.
    pub fn new(name: impl Into<String>, protocol: ProtocolId, base_url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            protocol,
            base_url: base_url.into(),
            keys: Vec::new(),
            unusable: None,
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            retry: Retry::default(),
            models: BTreeMap::new(),
            proxy: None,
            ca: None,
            cassette: None,
        }
    }

    /// Whether nobody is paid for what it answers: it runs on the user's own machines, or plays a recording. A price that the user
    /// gives one of its models counts all the same.
    pub fn is_free(&self) -> bool {
        self.cassette.is_some() || is_local(self)
    }
}

/// How long to wait for a provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeouts {
    /// For a connection, TLS included.
    pub connect: Duration,
    /// From the send to the first content.
    pub first_token: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
    /// For the whole answer.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(5), first_token: seconds(60), idle: seconds(60), total: seconds(20 * 60) }
    }
}

/// How often a provider is tried again after a passing failure, before the next target is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retry {
    /// Tries after the first one.
    pub tries: u32,
    /// The wait before the first of them; it doubles each time, and is drawn at random up to that.
    pub wait: Duration,
    /// The longest wait; a provider that asks for more is left at once.
    pub max_wait: Duration,
    /// No further try of the same target begins later than this after its first one.
    pub within: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            tries: 2,
            wait: Duration::from_millis(250),
            max_wait: Duration::from_secs(5),
            within: Duration::from_secs(15),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_at_home_or_is_played_back_is_free() {
        let at = |base_url: &str| Provider::new("p", ProtocolId::new("openai-chat"), base_url);
        for (provider, free) in [
            (at("http://127.0.0.1:11434/v1"), true),
            (at("http://[::1]:8080/v1"), true),
            (at("http://gpu.lan:8000/v1"), true),
            (at("https://api.openai.com/v1"), false),
            (at("https://localhost.example.com/v1"), false),
            (Provider { cassette: Some(PathBuf::from("talk.cassette")), ..at("") }, true),
        ] {
            assert_eq!(provider.is_free(), free, "{}", provider.base_url);
        }
    }
}
