//! Who is asked about calls, and what the user chooses.

use std::sync::Arc;

use anyhow::anyhow;
use rail_proto::{Choices, Command, PermissionAsk};
use serde_json::{Value, json};

use super::asking;
use super::client::Client;
use super::tools::{Listed, Server};

/// Who is to be asked about calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Asks {
    /// The client.
    Client,
    /// A tool of an MCP server, by the name that a model would call it.
    Tool(String),
    /// Nobody.
    Nobody,
}

/// Who is asked.
#[derive(Clone)]
pub(super) enum Asker {
    Client(Arc<Client>),
    /// A tool of a server, by the server's own name of it.
    Tool(Server, String),
}

impl Asker {
    /// Finds who is asked. A tool that answers questions is no tool of the model's, and is taken away.
    ///
    /// # Errors
    /// There is no such tool.
    pub(super) fn find(
        asks: &Asks,
        client: &Arc<Client>,
        tools: &mut Vec<(Server, Listed)>,
    ) -> Result<Option<Self>, anyhow::Error> {
        match asks {
            Asks::Nobody => Ok(None),
            Asks::Client => Ok(Some(Self::Client(Arc::clone(client)))),
            Asks::Tool(name) => {
                let Some(at) = tools.iter().position(|(_, listed)| listed.shown() == name) else {
                    let there: Vec<&str> = tools.iter().map(|(_, listed)| listed.shown()).collect();
                    let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
                    return Err(anyhow!(
                        "--permission-prompt-tool: no MCP server of the client has the tool `{name}`; there are: {there}"
                    ));
                };
                let (server, listed) = tools.remove(at);
                Ok(Some(Self::Tool(server, listed.name)))
            }
        }
    }

    /// The answer to a question in Claude Code's shape.
    async fn ask(&self, question: Value) -> Result<Value, String> {
        match self {
            Self::Client(client) => client.request(question).await,
            Self::Tool(server, tool) => {
                let field = |key: &str| question.get(key).cloned().unwrap_or_default();
                let input = json!({
                    "tool_name": field("tool_name"),
                    "input": field("input"),
                    "tool_use_id": field("tool_use_id"),
                });
                let text = server.text(tool, input).await?;
                serde_json::from_str(&text).map_err(|error| format!("`{tool}` answered no JSON: {error}"))
            }
        }
    }
}

/// Asks whether a call may be done, and returns what the answer comes to.
pub(super) async fn permission(asker: Asker, ask: PermissionAsk) -> Vec<Command> {
    let said = asker.ask(asking::permission(&ask)).await;
    asking::permitted(&ask, said)
}

/// Asks what the model wants to know, and returns what the answer comes to.
pub(super) async fn questions(asker: Asker, ask: String, choices: Choices) -> Vec<Command> {
    let said = asker.ask(asking::choice(&ask, &choices)).await;
    let chosen = asking::chosen(&choices, said);
    vec![Command::Choose { ask, chosen }]
}
