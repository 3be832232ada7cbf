//! What can be configured. The remarks on the fields are the reference for users: `docs/configuration.md` is made of them.

mod agent;
mod mcp;
mod provider;
mod router;
mod servers;
mod web;
mod words;

use std::collections::BTreeMap;

use rail_route::ProfilePatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use agent::{
    Agent, AutoLearn, Compaction, DialectChoice, Features, Generation, InputKeys, Limits, Memory, Mode,
    Permissions, PromptChoice, Theme, Tools, Tui,
};
pub use mcp::{Mcp, McpOauth, McpServer, McpTransport};
pub use provider::{Discovery, Models, ProviderSettings, RetrySettings, TimeoutSettings};
pub use router::RouterSettings;
pub use servers::{Gateway, GatewayLimits, GatewayLog, Hook, HookGroup, HookKind, Hooks};
pub use web::{SearchEngine, Web, WebSearch};
pub use words::{
    Address, ChainText, PermissionRule, PrivatePlace, SecretText, Size, SizeError, Wait, WaitError,
};

/// All settings, whatever layer said them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The endpoints that models are asked at, by a name of your own. It is the first half of a target, `provider,model`.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// Where model servers are looked for when no provider is configured.
    pub discovery: Discovery,
    /// Which targets serve which kind of request.
    pub router: RouterSettings,
    /// The last-resort chain of each virtual model: tried after its own chain, under the same names as in `[router]`.
    pub security: BTreeMap<String, ChainText>,
    /// Model names that are served by others: name, or pattern with `*`, to a chain `provider,model;…`, to the name of a virtual model, or to `virtual`, which classifies each request.
    pub aliases: BTreeMap<String, String>,
    /// What you know better of models than the built-in table of profiles, by name or pattern with `*`.
    pub models: BTreeMap<String, ProfilePatch>,
    /// What the agent may do without asking.
    pub permissions: Permissions,
    /// How the agent works.
    pub agent: Agent,
    /// How tools run.
    pub tools: Tools,
    /// How pages of the web are fetched and searched for.
    pub web: Web,
    /// The memory stores.
    pub memory: Memory,
    /// Tools of others, over the Model Context Protocol.
    pub mcp: Mcp,
    /// Commands that run at certain moments of a session, with the same contract as Claude Code's.
    pub hooks: Hooks,
    /// Parts of the product that are off unless switched on.
    pub features: Features,
    /// The gateway, `rail serve`.
    pub gateway: Gateway,
    /// The terminal interface.
    pub tui: Tui,
}
