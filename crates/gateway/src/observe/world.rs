//! Configurations, records and notes for tests.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rail_config::{Env, Inputs, Loaded, load};
use rail_ledger::{Ending, Entry, KeyId, Money, SentEntry, Tokens};
use rail_model::Json;
use rail_upstream::{BoxFuture, Class, Incoming, Note, Outcome, Outgoing, Sent, Transport, TransportError};
use serde_json::json;

use super::{Came, Observe, ObserveSettings, Otlp};

/// 2024-02-29, 12:34:56.789 UTC.
pub(crate) const AT: u64 = 1_709_210_096_789;

/// The configuration that a file with this text makes.
pub(crate) fn loaded(text: &str) -> Loaded {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/switchrail");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
    load(&inputs(home.path())).unwrap()
}

fn inputs(home: &Path) -> Inputs {
    let env: Env = [("HOME", home.to_str().unwrap())].into_iter().collect();
    Inputs { env, working_folder: home.to_owned(), ..Inputs::default() }
}

/// A configuration with a provider of each kind of name, and a key.
pub(crate) const CONFIGURATION: &str = r#"
    [providers.p]
    protocol = "openai-chat"
    base_url = "http://127.0.0.1:9/v1"
    key = "configured-key-of-p"
    models = ["a", "b"]
    [providers.q]
    protocol = "anthropic"
    base_url = "https://api.anthropic.com/v1"
    key = "configured-key-of-q"
    [router]
    default = "p,a;p,b"
    coding = "p,b"
    [security]
    coding = "q,c"
    [aliases]
    "claude-*" = "p,a"
    smart = "coding"
    any = "virtual"
"#;

/// A log that can be read.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    /// What was written so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Nobody sends anything.
struct Nowhere;

impl Transport for Nowhere {
    fn send<'a>(&'a self, _: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>> {
        Box::pin(std::future::pending())
    }
}

/// Who tells, and what it logs.
pub(crate) fn observe(configuration: &str) -> (Observe, Lines) {
    observe_with(configuration, None, Arc::new(Nowhere))
}

/// The same, with a collector of traces.
pub(crate) fn observe_with(
    configuration: &str,
    otlp: Option<Otlp>,
    transport: Arc<dyn Transport>,
) -> (Observe, Lines) {
    let lines = Lines::default();
    let loaded = loaded(configuration);
    let log_to = Box::new(lines.clone());
    (Observe::new(ObserveSettings { loaded: &loaded, log_to, otlp, transport }), lines)
}

/// A request that has come.
pub(crate) fn came(id: &str) -> Came<'_> {
    Came { id, at: AT, protocol: "anthropic", operation: "generate", traceparent: None }
}

/// A request goes out.
pub(crate) fn sending(target: &str) -> Note {
    Note::Sending { target: target.parse().unwrap(), key: None }
}

/// A send came to its end.
pub(crate) fn sent(target: &str, outcome: Outcome) -> Note {
    Note::Sent(Sent {
        target: target.parse().unwrap(),
        key: None,
        began: Duration::ZERO,
        took: Duration::from_millis(7),
        status: Some(200),
        fix: None,
        outcome,
        possible_charge: false,
        reported: None,
    })
}

/// A send failed.
pub(crate) fn failed(target: &str, problem: &str) -> Note {
    sent(target, Outcome::Failed { class: Class::Target, problem: problem.to_owned() })
}

/// A record with something in every field.
pub(crate) fn entry(id: &str) -> Entry {
    Entry {
        id: id.to_owned(),
        at: AT,
        key: Some(KeyId("k1".to_owned())),
        client: "claude-code".to_owned(),
        session: Some("00000000000000ab".to_owned()),
        protocol: "anthropic".to_owned(),
        operation: "generate".to_owned(),
        stream: true,
        asked: "claude-opus-4-5".to_owned(),
        virtual_model: Some("coding".to_owned()),
        route: Some(Json::from(json!({"why": "it has tools", "attempts": []}))),
        target: Some("p,b".to_owned()),
        sent: vec![sent_entry("p,a", 5, "failed"), sent_entry("p,b", 40, "answered")],
        relayed: false,
        repairs: vec![Json::from(json!({
            "call": "c1",
            "tool": "read",
            "done": [{"step": "alias", "path": "name"}, {"step": "closed", "path": "arguments"}],
            "before": {"text": "<tool_call>…"},
            "after": {"name": "read", "arguments": "{}"},
        }))],
        losses: vec!["top_k: not known there".to_owned()],
        tokens: Tokens { input: 1000, cache_read: 200, cache_write: 34, output: 50, reasoning: 6 },
        cost: Money::from_dollars(0.0125),
        first_ms: Some(250),
        total_ms: 1250,
        ending: Ending::Answered,
        status: 200,
        problem: None,
        bodies: None,
    }
}

fn sent_entry(target: &str, began_ms: u64, outcome: &str) -> SentEntry {
    let failed = outcome == "failed";
    SentEntry {
        target: target.to_owned(),
        began_ms,
        took_ms: 30,
        status: Some(if failed { 503 } else { 200 }),
        outcome: outcome.to_owned(),
        problem: failed.then(|| "HTTP 503: overloaded".to_owned()),
        possible_charge: false,
    }
}
