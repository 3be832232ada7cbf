use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SecretText, Size, Wait};

/// The gateway, `rail serve`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gateway {
    /// The address it listens on, `host:port`. Other than on this machine itself it needs keys: `rail key create NAME`.
    #[schemars(extend("format" = "listen"))]
    pub listen: String,
    /// Names by which clients may call it besides `localhost` and addresses, such as `gateway.example.com`; others are refused.
    pub hosts: Vec<String>,
    /// Whether a key may stand in the address, `?key=…`, where logs and histories keep it.
    pub url_keys: bool,
    /// Where the ledger with its keys is: a PostgreSQL database, `postgres://user@host/name`, which several gateways may share; a file in the state folder when not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<SecretText>,
    /// Whether the ledger keeps the bodies of requests and answers, which hold whatever was said.
    pub log_bodies: bool,
    /// How it logs.
    pub log: GatewayLog,
    /// Where traces are sent, over OTLP; an address such as `http://127.0.0.1:4318`. Nowhere when not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "url"))]
    pub otlp: Option<String>,
    /// After how long a waiting client is told that it still waits, and again each time.
    pub keep_alive: Wait,
    /// How long the first content is awaited before the answer begins without it; failures before that can have their own status.
    pub hold: Wait,
    /// How long answers may go on after the gateway is told to stop.
    pub grace: Wait,
    /// What clients may ask of it.
    pub limits: GatewayLimits,
}

impl Default for Gateway {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:4141".to_owned(),
            hosts: Vec::new(),
            url_keys: false,
            ledger: None,
            log_bodies: false,
            log: GatewayLog::default(),
            otlp: None,
            keep_alive: Wait(Duration::from_secs(10)),
            hold: Wait(Duration::from_secs(15)),
            grace: Wait(Duration::from_secs(30)),
            limits: GatewayLimits::default(),
        }
    }
}

/// How the gateway logs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GatewayLog {
    /// Nothing but what is wrong.
    Quiet,
    /// A line for people.
    #[default]
    Text,
    /// A line of JSON.
    Json,
}

/// What clients may ask of the gateway.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GatewayLimits {
    /// The largest body.
    pub body: Size,
    /// The most bytes of all bodies together that are being read or wait for an answer; more wait for a moment, and are then told to come back.
    pub bodies: Size,
    /// The largest head of a request: its line and its headers.
    pub head: Size,
    /// How many connections may be open.
    #[schemars(range(min = 1))]
    pub connections: u32,
    /// How many requests may be on their way; more wait for a moment, and are then told to come back.
    #[schemars(range(min = 1))]
    pub requests: u32,
    /// How long a client may take for the head of a request, or let a connection rest.
    pub head_wait: Wait,
    /// How long a client may send or take nothing in the middle of a body. The whole of a body may take as long, and a second more for each 16 KiB of it.
    pub body_wait: Wait,
}

impl Default for GatewayLimits {
    fn default() -> Self {
        Self {
            body: Size(64_000_000),
            bodies: Size(1_000_000_000),
            head: Size(64_000),
            connections: 10_000,
            requests: 8192,
            head_wait: Wait(Duration::from_secs(60)),
            body_wait: Wait(Duration::from_secs(60)),
        }
    }
}

/// Commands that run at certain moments of a session. Each moment has a list of groups: a matcher, and its hooks. All that the user's,
/// the project's and other files say count together.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct Hooks {
    /// A session begins or goes on.
    pub session_start: Vec<HookGroup>,
    /// The user has said something.
    pub user_prompt_submit: Vec<HookGroup>,
    /// A tool is about to run.
    pub pre_tool_use: Vec<HookGroup>,
    /// The user is about to be asked for permission.
    pub permission_request: Vec<HookGroup>,
    /// A tool has run.
    pub post_tool_use: Vec<HookGroup>,
    /// A tool has failed.
    pub post_tool_use_failure: Vec<HookGroup>,
    /// The user is told something.
    pub notification: Vec<HookGroup>,
    /// A sub-agent begins.
    pub subagent_start: Vec<HookGroup>,
    /// A sub-agent has ended.
    pub subagent_stop: Vec<HookGroup>,
    /// The conversation is about to be made shorter.
    pub pre_compact: Vec<HookGroup>,
    /// The agent has answered.
    pub stop: Vec<HookGroup>,
    /// A session has ended.
    pub session_end: Vec<HookGroup>,
}

/// Hooks for what a matcher picks.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookGroup {
    /// What it is for, all when not said or `*`: names with `|` between them, or a regular expression. Of tools these are their names
    /// (`Bash`, `Edit|Write`, `mcp__.*`), of `SessionStart` `startup`, `resume`, `clear` or `compact`, of `PreCompact` `manual` or
    /// `auto`, of sub-agents their type, of `Notification` its kind and of `SessionEnd` the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// What runs.
    pub hooks: Vec<Hook>,
}

/// One hook: it gets JSON on its standard input and answers by its exit status (0 goes on, 2 blocks and says why on standard error) or
/// in JSON on its standard output.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// What it is.
    #[serde(rename = "type", default)]
    pub kind: HookKind,
    /// The shell command.
    pub command: String,
    /// How many seconds it may take; 60 when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout: Option<u32>,
}

/// What a hook is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HookKind {
    /// A shell command.
    #[default]
    Command,
}
