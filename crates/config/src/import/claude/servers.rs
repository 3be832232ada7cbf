use serde_json::{Map, Value};

use crate::endpoint;
use crate::import::draft::{Draft, take, take_map, take_text, texts, variable};

/// Writes the MCP servers.
pub(super) fn write(draft: &mut Draft, servers: Map<String, Value>) {
    for (name, server) in servers {
        match server {
            Value::Object(server) => one(draft, &name, server),
            _ => draft.note(format!("MCP server `{name}` is left out: it is no object")),
        }
    }
}

fn one(draft: &mut Draft, name: &str, mut server: Map<String, Value>) {
    let place = format!("MCP server `{name}`");
    let (command, url) = (take_text(&mut server, &["command"]), take_text(&mut server, &["url"]));
    if command.is_none() && url.is_none() {
        return draft.note(format!("{place} is left out: it has neither a command nor a url"));
    }
    if url.as_ref().is_some_and(|url| !endpoint::is_http(url)) {
        return draft.note(format!("{place} is left out: only `http://` and `https://` are spoken"));
    }
    draft.table(&["mcp", "servers", name]);
    match take_text(&mut server, &["type"]).as_deref() {
        Some("streamable-http" | "http") => draft.pair("type", "http"),
        Some(kind @ ("stdio" | "sse")) => draft.pair("type", kind),
        Some(kind) => draft.note(format!("{place}: there is no type `{kind}`")),
        None => {}
    }
    for (key, value) in [("command", command), ("url", url)] {
        let Some(value) = value else { continue };
        if value.contains("${") {
            draft.note(format!("{place}: variables in `{key}` are not expanded; write what they stand for"));
        }
        let value = match key {
            "url" => draft.address(&format!("MCP_{name}_URL"), &value),
            _ => value,
        };
        draft.pair(key, value);
    }
    if server.get("args").is_some_and(Value::is_array) {
        let args = texts(take(&mut server, &["args"]).as_ref());
        if args.iter().any(|arg| arg.contains("${")) {
            draft.note(format!("{place}: variables in `args` are not expanded; write what they stand for"));
        }
        draft.list("args", &args);
    }
    for key in ["env", "headers"] {
        let values = take_map(&mut server, &[key]);
        let mut hidden = Vec::new();
        for (variable, value) in values {
            match value.as_str() {
                Some(value) => {
                    if value.contains("${") && self::variable(value).is_none() {
                        draft.note(format!("{place}: variables in `{key}.{variable}` are not expanded; write what they stand for"));
                    }
                    let value = draft.hidden(&format!("MCP_{name}_{variable}"), value);
                    hidden.push((variable, value));
                }
                None => draft.note(format!("{place}: `{key}.{variable}` is no text")),
            }
        }
        if !hidden.is_empty() {
            draft.inline(key, &hidden);
        }
    }
    draft.left_over(&place, &server);
}
