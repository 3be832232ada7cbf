//! Whether an answer comes as plain text or as chunks, one a line.

use std::io::BufRead;

use anyhow::{Context, Result};
use serde_json::Value;

/// What a delta or a chunk of OpenAI Chat has; a call written as JSON text has none of them at its top.
const KEYS: &[&str] = &[
    "content",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "function_call",
    "role",
    "choices",
    "refusal",
];

/// The first line, if its first character leaves it open what it is; else nothing, and nothing is waited for.
pub(super) fn head(input: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let known = input.fill_buf().context("cannot read stdin")?;
    if known.first().is_some_and(|byte| matches!(byte, b'"' | b'{' | b'd' | b':' | b'e')) {
        input.read_until(b'\n', &mut head).context("cannot read stdin")?;
    }
    Ok(head)
}

/// Whether a first line is a chunk: a piece of text as a JSON string, a delta, or a line of server-sent events.
pub(super) fn is_chunk(line: &[u8]) -> bool {
    let Some(json) = payload(line) else {
        return [&b":"[..], b"event:", b"data:"].iter().any(|field| line.starts_with(field));
    };
    match serde_json::from_slice(json) {
        Ok(Value::String(_)) => true,
        Ok(Value::Object(delta)) => {
            let calls = delta.get("tool_calls").is_some_and(is_delta);
            delta.is_empty() || calls || KEYS.iter().any(|key| delta.contains_key(*key))
        }
        Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) | Err(_) => false,
    }
}

/// `{"tool_calls": […]}` is also a way to write calls as text; a delta's entries have a `function` or an index.
fn is_delta(calls: &Value) -> bool {
    let first = calls.get(0).unwrap_or(calls);
    first.is_null() || first.get("index").is_some() || first.get("function").is_some_and(Value::is_object)
}

/// What a line holds besides the trappings of server-sent events; None for a line that holds nothing.
pub(super) fn payload(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii();
    let json = line.strip_prefix(b"data:").map_or(line, <[u8]>::trim_ascii);
    let is_other = json.is_empty()
        || json == b"[DONE]"
        || [&b":"[..], b"event:", b"id:", b"retry:"].iter().any(|field| line.starts_with(field));
    (!is_other).then_some(json)
}

#[cfg(test)]
mod tests {
    use super::is_chunk;

    #[test]
    fn a_first_line_tells_what_follows() {
        let table = [
            (r#""I look""#, true),
            (r#"{"content": "I look"}"#, true),
            (r#"{"tool_calls": [{"index": 0, "function": {"name": "f"}}]}"#, true),
            (r#"data: {"choices": []}"#, true),
            (": keep-alive", true),
            ("", false),
            ("I look", false),
            ("\"I look\" she said", false),
            (r#"{"name": "f", "arguments": {}}"#, false),
            (r#"{"tool_calls": [{"tool": "f", "args": {}}]}"#, false),
            (r#"{"tool": "f", "args": {"content": ""}}"#, false),
        ];
        for (line, expected) in table {
            assert_eq!(is_chunk(line.as_bytes()), expected, "{line}");
        }
    }
}
