//! Declared tools, in whatever spelling a file holds them.

use anyhow::{Context, Result, anyhow, bail};
use rail_model::ToolDecl;
use rail_wire::{HttpCall, Protocol, anthropic, gemini, openai_chat, openai_responses};
use serde_json::{Value, json};

/// The tools of a list, or of a request that holds one under `tools`. Each entry may be in any protocol's spelling.
pub(super) fn read(value: &Value) -> Result<Vec<ToolDecl>> {
    let list = match value {
        Value::Object(request) => request.get("tools").unwrap_or(value),
        other => other,
    };
    let Value::Array(list) = list else {
        bail!("a list of tools is expected, such as [{{\"name\": …, \"parameters\": {{…}}}}]")
    };
    let mut tools = Vec::new();
    for (at, entry) in list.iter().enumerate() {
        tools.extend(one(entry).with_context(|| format!("tools[{at}]"))?);
    }
    Ok(tools)
}

/// An entry declares one tool; Gemini's declare several at once. The codec of its protocol reads it.
fn one(entry: &Value) -> Result<Vec<ToolDecl>> {
    let Value::Object(fields) = entry else { bail!("an object is expected") };
    let has = |key: &str| fields.contains_key(key);
    let mut entry = entry.clone();
    let protocol = if has("functionDeclarations") || has("function_declarations") {
        &gemini::PROTOCOL
    } else if has("parametersJsonSchema") {
        entry = json!({"functionDeclarations": [entry]});
        &gemini::PROTOCOL
    } else if has("input_schema") {
        &anthropic::PROTOCOL
    } else if has("function") {
        &openai_chat::PROTOCOL
    } else {
        if !has("name") {
            bail!("`name` is missing");
        }
        if !has("type")
            && let Value::Object(fields) = &mut entry
        {
            fields.insert("type".to_owned(), json!("function"));
        }
        &openai_responses::PROTOCOL
    };
    declared(protocol, &entry)
}

fn declared(protocol: &Protocol, entry: &Value) -> Result<Vec<ToolDecl>> {
    let body = json!({
        "model": "any", "max_tokens": 1, "messages": [], "input": [], "contents": [], "tools": [entry],
    });
    let call = HttpCall::post("", body.to_string().into_bytes());
    let request = protocol.inbound.decode_request(&call).map_err(|error| anyhow!(error.message))?;
    Ok(request.tools)
}
