use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What MCP servers offer the user at the moment.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Offered {
    /// Their prompts, as slash commands.
    pub commands: Vec<OfferedCommand>,
    /// Their resources, which a prompt can name.
    pub resources: Vec<OfferedResource>,
}

/// A slash command.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct OfferedCommand {
    /// Its name, without the slash: `server:prompt (MCP)`.
    pub name: String,
    /// Its name in one word, which means the same: `mcp__server__prompt`.
    pub word: String,
    /// What may be typed behind the name: `<needed>` and `[other]`.
    pub hint: String,
    /// What it does, in the server's words.
    pub help: String,
}

/// Something that can be named with `@`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct OfferedResource {
    /// Its name behind the `@`: `server:uri`.
    pub name: String,
    /// What it is, in the server's words.
    pub help: String,
}
