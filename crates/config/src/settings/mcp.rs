use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{SecretText, Wait};

/// Tools of others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mcp {
    /// The only servers that are used, by name, wherever they come from; all when not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled_servers: Option<Vec<String>>,
    /// Servers that are not used, by name, wherever they come from.
    pub disabled_servers: Vec<String>,
    /// How many tokens the declarations of all servers' tools may take in a request; where they take more, tools are found by a search instead.
    pub declare_tokens: u32,
    /// The servers, by a name of your own.
    pub servers: BTreeMap<String, McpServer>,
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            enabled_servers: None,
            disabled_servers: Vec::new(),
            declare_tokens: 6000,
            servers: BTreeMap::new(),
        }
    }
}

/// One server: a command to start, or a URL. One that a stronger file names again is meant as a whole: nothing of the weaker one is left.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpServer {
    /// How it is spoken with; when not said, `stdio` for a command and `http` for a URL.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub transport: Option<McpTransport>,
    /// The command that starts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The command's arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables that the command is given.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, SecretText>,
    /// The folder that the command starts in; the project's when not said. A relative one is meant from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "url"))]
    pub url: Option<String>,
    /// Headers sent to the URL.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, SecretText>,
    /// Whether it is used.
    #[serde(skip_serializing_if = "is_true")]
    pub enabled: bool,
    /// How long a call of one of its tools may take without a sign of progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Wait>,
    /// How long it may take to start and to say what it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_timeout: Option<Wait>,
    /// The only tools of it that are used, by its own names or patterns with `*`; all when not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled_tools: Option<Vec<String>>,
    /// Tools of it that are not used, by its own names or patterns with `*`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled_tools: Vec<String>,
    /// How one signs in to it, where it does not tell everything itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth: Option<McpOauth>,
}

impl Default for McpServer {
    fn default() -> Self {
        Self {
            transport: None,
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            url: None,
            headers: BTreeMap::new(),
            enabled: true,
            timeout: None,
            start_timeout: None,
            enabled_tools: None,
            disabled_tools: Vec::new(),
            oauth: None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives it so")]
fn is_true(value: &bool) -> bool {
    *value
}

/// How one signs in to an MCP server.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpOauth {
    /// The id of a client that is registered there; when not said, one is registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Its secret, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<SecretText>,
    /// What is asked for; what the server says it needs when not said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The port of this machine that the browser comes back to; any that is free when not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_port: Option<u16>,
}

/// How an MCP server is spoken with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum McpTransport {
    /// Over its standard input and output.
    Stdio,
    /// Over streamable HTTP.
    Http,
    /// Over HTTP with server-sent events, as older servers do.
    Sse,
}

impl McpTransport {
    /// Its word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

impl fmt::Display for McpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
