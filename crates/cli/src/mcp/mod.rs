//! `rail mcp`.

mod serve;

use clap::Subcommand;

use crate::Failure;
use crate::setup::Common;

#[derive(Subcommand)]
pub(crate) enum McpCommand {
    /// Offer this agent's own tools over MCP, on stdin and stdout or over HTTP.
    ///
    /// Every client has a session of its own in this folder. A call passes what `rail` itself keeps to: rules, hooks, the sandbox. What
    /// would be asked about is asked of the client, if it can ask a person, and refused otherwise.
    Serve(serve::Serve),
}

impl McpCommand {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        match self {
            Self::Serve(serve) => serve.run(common),
        }
    }
}
