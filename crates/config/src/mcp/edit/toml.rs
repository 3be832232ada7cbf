//! Servers in our own TOML.

use std::collections::BTreeMap;

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::With;
use crate::settings::{McpOauth, McpServer, SecretText};

/// The text with a server in it.
pub(super) fn with(text: &str, name: &str, server: &McpServer) -> Result<With, String> {
    let mut document = parsed(text)?;
    let servers = servers(&mut document)?;
    let replaced = servers.get(name).is_some();
    servers.insert(name, Item::Table(table(server)));
    Ok(With { text: document.to_string(), replaced })
}

/// The text without a server; None when it has none of this name.
pub(super) fn without(text: &str, name: &str) -> Result<Option<String>, String> {
    let mut document = parsed(text)?;
    let mcp = document.get_mut("mcp").and_then(Item::as_table_like_mut);
    let servers = mcp.and_then(|mcp| mcp.get_mut("servers")).and_then(Item::as_table_like_mut);
    let removed = servers.and_then(|servers| servers.remove(name));
    Ok(removed.map(|_| document.to_string()))
}

fn parsed(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.to_string().trim_end().to_owned())
}

fn servers(document: &mut DocumentMut) -> Result<&mut dyn TableLike, String> {
    let mcp = document.entry("mcp").or_insert_with(heading);
    let mcp = mcp.as_table_like_mut().ok_or("`mcp` is no table")?;
    let servers = mcp.entry("servers").or_insert_with(heading);
    servers.as_table_like_mut().ok_or_else(|| "`mcp.servers` is no table".to_owned())
}

/// A table that has no heading of its own.
fn heading() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn table(server: &McpServer) -> Table {
    let McpServer { transport, command, args, env, cwd, url, headers, enabled, .. } = server;
    let mut table = Table::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            table.insert(key, Item::Value(value));
        }
    };
    put("type", transport.map(|transport| transport.word().into()));
    put("command", command.as_deref().map(Value::from));
    put("args", list(args));
    put("env", map(env));
    put("cwd", cwd.as_deref().map(Value::from));
    put("url", url.as_deref().map(Value::from));
    put("headers", map(headers));
    put("enabled", (!enabled).then_some(Value::from(false)));
    put("timeout", server.timeout.map(|wait| wait.to_string().into()));
    put("start_timeout", server.start_timeout.map(|wait| wait.to_string().into()));
    put("enabled_tools", server.enabled_tools.as_ref().map(|tools| Value::Array(tools.iter().collect())));
    put("disabled_tools", list(&server.disabled_tools));
    put("oauth", server.oauth.as_ref().map(oauth));
    table
}

fn list(texts: &[String]) -> Option<Value> {
    (!texts.is_empty()).then(|| Value::Array(texts.iter().collect::<Array>()))
}

fn map(texts: &BTreeMap<String, SecretText>) -> Option<Value> {
    let table: InlineTable =
        texts.iter().map(|(name, text)| (name.as_str(), Value::from(text.0.reveal()))).collect();
    (!table.is_empty()).then_some(Value::InlineTable(table))
}

fn oauth(oauth: &McpOauth) -> Value {
    let McpOauth { client_id, client_secret, scopes, callback_port } = oauth;
    let mut table = InlineTable::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            table.insert(key, value);
        }
    };
    put("client_id", client_id.as_deref().map(Value::from));
    put("client_secret", client_secret.as_ref().map(|secret| secret.0.reveal().into()));
    put("scopes", list(scopes));
    put("callback_port", callback_port.map(|port| i64::from(port).into()));
    Value::InlineTable(table)
}
