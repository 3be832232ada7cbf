//! Tools of MCP servers that live in the client's process: JSON-RPC goes to and fro inside of control messages.

use std::collections::BTreeSet;
use std::sync::Arc;

use rail_model::Part;
use rail_permit::{Facet, Level};
use rail_tool::{
    Admitted, AnyTool, BoxFuture, Card, Example, FacetCx, Generation, Given, InputFault, Lane, Shown,
    Telling, ToolCx, ToolFault, ToolOutput,
};
use serde_json::{Value, json};

use super::client::Client;
use super::line;

/// The version of MCP that we speak.
const PROTOCOL: &str = "2025-06-18";
/// More pages of tools than this are a server that turns in circles.
const MOST_PAGES: usize = 100;

/// A server in the client's process.
#[derive(Clone)]
pub(crate) struct Server {
    client: Arc<Client>,
    name: String,
}

/// A tool that a server has.
pub(crate) struct Listed {
    /// The server's own name of it.
    pub(crate) name: String,
    pub(crate) tool: Arc<dyn AnyTool>,
}

impl Listed {
    /// The name that a model calls it by.
    pub(crate) fn shown(&self) -> &str {
        self.tool.card().name
    }
}

impl Server {
    pub(crate) fn new(client: Arc<Client>, name: String) -> Self {
        Self { client, name }
    }

    /// The tools that it has.
    ///
    /// # Errors
    /// What went wrong, in a sentence.
    pub(crate) async fn tools(&self) -> Result<Vec<Listed>, String> {
        let info = json!({"name": "rail", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": info});
        self.call("initialize", hello).await?;
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})).await?;
        let mut tools = Vec::new();
        let mut cursor = Value::Null;
        for _ in 0..MOST_PAGES {
            let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
            let page = self.call("tools/list", params).await?;
            let listed = page.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
            tools.extend(listed.iter().filter_map(|tool| self.tool(tool)));
            cursor = page.get("nextCursor").cloned().unwrap_or_default();
            if cursor.is_null() {
                break;
            }
        }
        Ok(tools)
    }

    fn tool(&self, listed: &Value) -> Option<Listed> {
        let name = listed.get("name")?.as_str()?.to_owned();
        let schema =
            listed.get("inputSchema").cloned().unwrap_or_else(|| json!({"type": "object", "properties": {}}));
        let says = listed.get("description").and_then(Value::as_str).unwrap_or_default();
        let reads =
            listed.get("annotations").and_then(|hints| hints.get("readOnlyHint")) == Some(&Value::Bool(true));
        let shown = format!("mcp__{}__{}", plain(&self.name), plain(&name));
        let says = if says.is_empty() { name.clone() } else { says.to_owned() };
        let tool = Arc::new(Remote { server: self.clone(), name: name.clone(), shown, says, reads, schema });
        Some(Listed { name, tool })
    }

    /// The text that a tool gives.
    ///
    /// # Errors
    /// It failed, or can't be reached; in a sentence.
    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> Result<String, String> {
        let result = self.call("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        let content = result.get("content").and_then(Value::as_array).into_iter().flatten();
        let texts: Vec<&str> = content.filter_map(|block| block.get("text")?.as_str()).collect();
        let text = texts.join("\n");
        if result.get("isError") == Some(&Value::Bool(true)) {
            return Err(format!("`{tool}` failed: {text}"));
        }
        Ok(text)
    }

    /// Calls a method and gives its result.
    async fn call(&self, method: &str, params: Value) -> Result<Value, String> {
        // One call at a time is in each control message, so that they need not be told apart.
        let reply = self.send(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).await?;
        match (reply.get("result"), reply.get("error")) {
            (_, Some(error)) if !error.is_null() => {
                let why = error.get("message").and_then(Value::as_str).unwrap_or("it gave no reason");
                Err(format!("the MCP server `{}` refused `{method}`: {why}", self.name))
            }
            (Some(result), _) => Ok(result.clone()),
            (None, _) => Err(format!("the MCP server `{}` gave no result to `{method}`", self.name)),
        }
    }

    async fn send(&self, message: Value) -> Result<Value, String> {
        let request = json!({"subtype": "mcp_message", "server_name": self.name, "message": message});
        let reply = self.client.request(request).await;
        let reply = reply.map_err(|why| format!("the MCP server `{}` can't be reached: {why}", self.name))?;
        Ok(reply.get("mcp_response").cloned().unwrap_or_default())
    }
}

/// The servers that the client has: those of `--mcp-config` and those it names when it begins.
pub(crate) fn servers(configured: &[String], initialize: Option<&Value>) -> BTreeSet<String> {
    let named = initialize.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    configured.iter().cloned().chain(named.map(str::to_owned)).collect()
}

/// A name with nothing in it that a model's API refuses.
fn plain(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

/// One tool of such a server.
struct Remote {
    server: Server,
    name: String,
    shown: String,
    says: String,
    reads: bool,
    schema: Value,
}

impl AnyTool for Remote {
    fn card(&self) -> Card<'_> {
        Card {
            name: &self.shown,
            title: &self.shown,
            summary: &self.says,
            prompt: &self.says,
            generation: Generation::Gen1,
            level: if self.reads { Level::Read } else { Level::Execute },
            lane: if self.reads { Lane::Shared } else { Lane::Exclusive },
            shown: Shown::Whole,
        }
    }

    fn schema(&self) -> Value {
        self.schema.clone()
    }

    fn examples(&self) -> &'static [Example] {
        &[]
    }

    fn admit(&self, arguments: Value) -> Result<Box<dyn Admitted>, InputFault> {
        Ok(Box::new(Call { server: self.server.clone(), name: self.name.clone(), arguments }))
    }
}

struct Call {
    server: Server,
    name: String,
    arguments: Value,
}

impl Admitted for Call {
    fn facets(&self, _: &FacetCx<'_>) -> Vec<Facet> {
        vec![Facet::Foreign]
    }

    fn run(self: Box<Self>, _: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolFault>> {
        Box::pin(async move {
            let params = json!({"name": self.name, "arguments": self.arguments});
            let result = self.server.call("tools/call", params).await.map_err(ToolFault::new)?;
            output(&result)
        })
    }
}

/// What a call gave, in our words.
fn output(result: &Value) -> Result<ToolOutput, ToolFault> {
    let content = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut parts: Vec<Part> = content.iter().map(piece).collect();
    if let (true, Some(structured)) = (parts.is_empty(), result.get("structuredContent")) {
        parts.push(Part::text(structured.to_string()));
    }
    if result.get("isError") == Some(&Value::Bool(true)) {
        let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
        // A server's own words: names in them are not ours to change.
        return Err(ToolFault { say: Telling::shown(texts.join("\n")), cause: None });
    }
    let parts = parts.into_iter().map(Given::Part).collect();
    Ok(ToolOutput { parts, ..ToolOutput::default() })
}

/// A piece of a result. What is neither text nor a medium is told as it is.
fn piece(block: &Value) -> Part {
    let inside = block.get("resource").and_then(|resource| resource.get("text")).and_then(Value::as_str);
    match (line::part(block), inside) {
        (Ok(part), _) => part,
        (Err(_), Some(text)) => Part::text(text),
        (Err(_), None) => Part::text(block.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_text_and_images() {
        let given = json!({"content": [
            {"type": "text", "text": "42"},
            {"type": "image", "data": "AA==", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "a:b", "text": "inside"}},
            {"type": "resource_link", "uri": "a:b"},
        ]});
        let parts = output(&given).unwrap().parts;
        let body = |given: &Given| match given {
            Given::Part(part) => serde_json::to_string(&part.body).unwrap(),
            Given::Text(text) => panic!("a server's text is a part: {text:?}"),
        };
        let written: Vec<String> = parts.iter().map(body).collect();
        insta::assert_snapshot!(written.join("\n"), @r#"
        {"text":"42"}
        {"media":{"kind":"image","mime":"image/png","source":{"base64":"AA=="}}}
        {"text":"inside"}
        {"text":"{\"type\":\"resource_link\",\"uri\":\"a:b\"}"}
        "#);
        let failed = json!({"isError": true, "content": [{"type": "text", "text": "no such file"}]});
        assert_eq!(output(&failed), Err(ToolFault { say: Telling::shown("no such file"), cause: None }));
        let structured = json!({"content": [], "structuredContent": {"a": 1}});
        assert_eq!(
            output(&structured),
            Ok(ToolOutput { parts: vec![Given::Part(Part::text(r#"{"a":1}"#))], ..ToolOutput::default() })
        );
    }

    #[test]
    fn names_fit_every_api() {
        assert_eq!(plain("my server/tool.x"), "my_server_tool_x");
        let named = json!(["b", "a"]);
        let all: Vec<String> = servers(&["c".to_owned(), "a".to_owned()], Some(&named)).into_iter().collect();
        assert_eq!(all, ["a", "b", "c"]);
    }
}
