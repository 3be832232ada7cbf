//! MCP servers that an editor brings, as they are written elsewhere.

use rail_acp::{McpServer, Refused};
use rail_config::mcp::wrong_name;
use serde_json::{Map, Value, json};

/// The servers as one object of `mcpServers`; nothing where there are none.
pub(super) fn given(servers: &[McpServer]) -> Result<Option<String>, Refused> {
    let mut all = Map::new();
    for server in servers {
        let (name, written) = written(server)?;
        let name = fitting(name);
        if let Some(why) = wrong_name(&name) {
            return Err(Refused::Wrong(format!("the MCP server `{name}`: {why}")));
        }
        all.insert(name, written);
    }
    Ok((!all.is_empty()).then(|| json!({ "mcpServers": all }).to_string()))
}

/// Editors have names for people; what is no part of a tool's name is left out of them.
fn fitting(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").chars().take(40).collect()
}

fn written(server: &McpServer) -> Result<(&str, Value), Refused> {
    let pairs = |list: Vec<(&String, &String)>| -> Map<String, Value> {
        list.into_iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect()
    };
    Ok(match server {
        McpServer::Stdio(server) => {
            let env = pairs(server.env.iter().map(|pair| (&pair.name, &pair.value)).collect());
            let command = server.command.to_string_lossy();
            (&server.name, json!({"type": "stdio", "command": command, "args": server.args, "env": env}))
        }
        McpServer::Http(server) => {
            let headers = pairs(server.headers.iter().map(|pair| (&pair.name, &pair.value)).collect());
            (&server.name, json!({"type": "http", "url": server.url, "headers": headers}))
        }
        McpServer::Sse(server) => {
            let headers = pairs(server.headers.iter().map(|pair| (&pair.name, &pair.value)).collect());
            (&server.name, json!({"type": "sse", "url": server.url, "headers": headers}))
        }
        _ => {
            return Err(Refused::Wrong(
                "there is an MCP server whose transport is not known here".to_owned(),
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_written_as_elsewhere() {
        let servers = json!([
            {"name": "My files", "command": "/bin/files", "args": ["-x"], "env": [{"name": "A", "value": "1"}]},
            {"type": "http", "name": "web", "url": "https://example.com/mcp", "headers": [{"name": "B", "value": "2"}]},
            {"type": "sse", "name": "old", "url": "https://example.com/sse", "headers": []},
        ]);
        let servers: Vec<McpServer> = serde_json::from_value(servers).unwrap();
        insta::assert_snapshot!(given(&servers).unwrap().unwrap(), @r#"{"mcpServers":{"My-files":{"type":"stdio","command":"/bin/files","args":["-x"],"env":{"A":"1"}},"web":{"type":"http","url":"https://example.com/mcp","headers":{"B":"2"}},"old":{"type":"sse","url":"https://example.com/sse","headers":{}}}}"#);
        assert_eq!(given(&[]).unwrap(), None);
    }
}
