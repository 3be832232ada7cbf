//! `rail acp` as editors see it: the official client library, and scripts of our own.

mod hostile;
mod judge;
mod prompts;
mod registry;
mod script;

use std::process::{Child, Output};

use rail_testkit::{AcpClient, Models, Turn};
use serde_json::{Value, json};

use crate::agent_sdks::configuration;
use crate::home::Home;

/// A running `rail acp` with its client.
pub(crate) struct Editor {
    pub(crate) client: AcpClient,
    pub(crate) home: Home,
    pub(crate) models: Models,
    child: Child,
}

impl Editor {
    pub(crate) fn start(turns: Vec<Turn>, args: &[&str]) -> Self {
        Self::with(Models::start(turns).unwrap(), args)
    }

    pub(crate) fn with(models: Models, args: &[&str]) -> Self {
        let home = Home::with(&configuration(&models)).set("PATH", "/usr/local/bin:/usr/bin:/bin");
        // Said, so that it does not matter who runs the tests.
        let mut child = home.start_bounded(&[&["acp", "--sandbox", "workspace"], args].concat());
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let work = home.path("work").canonicalize().unwrap();
        let client = AcpClient::new(to, from)
            .keeping("work", work.to_str().unwrap())
            .keeping("home", home.path("").canonicalize().unwrap().to_str().unwrap());
        Self { client, home, models, child }
    }

    /// The same when a session is open; the client can do this.
    pub(crate) fn open(turns: Vec<Turn>, capabilities: &Value) -> Self {
        Self::start(turns, &[]).play(&json!([
            {"do": "request", "id": "hello", "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": capabilities}},
            {"do": "await", "id": "hello"},
            {"do": "request", "id": "new", "method": "session/new", "params": {"cwd": "${work}", "mcpServers": []}},
            {"do": "await", "id": "new", "keep": {"session": "/result/sessionId"}},
            {"do": "expect", "method": "session/update", "holding": {"update": {"sessionUpdate": "available_commands_update"}}},
        ]))
    }

    #[track_caller]
    pub(crate) fn play(mut self, script: &Value) -> Self {
        if let Err(why) = self.client.play_script(script) {
            panic!("{why}");
        }
        self
    }

    /// Hangs up, and waits for the end of the process: what it said on stderr.
    #[track_caller]
    pub(crate) fn over(mut self) -> (String, Home, Models) {
        self.client.play_script(&json!([{"do": "hangup"}, {"do": "over"}])).unwrap();
        let Output { status, stderr, .. } = self.child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&stderr).into_owned();
        assert!(status.success(), "{status}: {said}");
        (said, self.home, self.models)
    }
}

pub(crate) fn prompt(id: i64, text: &str) -> Value {
    json!({"do": "request", "id": id, "method": "session/prompt",
        "params": {"sessionId": "${session}", "prompt": [{"type": "text", "text": text}]}})
}

pub(crate) fn stops(id: i64, reason: &str) -> Value {
    json!({"do": "await", "id": id, "holding": {"result": {"stopReason": reason}}})
}

pub(crate) fn update(holding: Value) -> Value {
    json!({"do": "expect", "method": "session/update", "holding": {"update": holding}})
}

pub(crate) fn allow() -> Value {
    json!({"do": "answer", "method": "session/request_permission",
        "result": {"outcome": {"outcome": "selected", "optionId": "allow-once"}}})
}
