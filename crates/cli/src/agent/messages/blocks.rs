//! Content in the shape of Anthropic's messages.

use rail_model::{Media, MediaKind, MediaSource, Part, PartBody, ToolResult, Usage};
use serde_json::{Map, Value, json};

/// How tools are called in messages.
pub(crate) type Naming = Box<dyn Fn(&str) -> String + Send>;

/// The parts of an answer as content blocks.
pub(crate) fn blocks(parts: &[Part], naming: &Naming) -> Vec<Value> {
    parts.iter().map(|part| block(part, naming)).collect()
}

/// A part as a content block. A thought without a signature has an empty one: readers want the key.
fn block(part: &Part, naming: &Naming) -> Value {
    match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) => json!({"type": "text", "text": text}),
        PartBody::Thinking(text) => {
            let signature = part.seal.as_ref().map(|seal| seal.data.as_str()).unwrap_or_default();
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        PartBody::Redacted(seal) => json!({"type": "redacted_thinking", "data": seal.data}),
        PartBody::ToolCall(call) => json!({
            "type": "tool_use",
            "id": call.id.as_str(),
            "name": naming(&call.name),
            "input": input(&call.arguments),
        }),
        PartBody::ToolResult(result) => tool_result(result, naming),
        PartBody::Media(media) => medium(media),
        // Readers want to know what kind a block is.
        PartBody::Opaque(opaque) if opaque.value.get("type").is_some_and(Value::is_string) => {
            opaque.value.clone()
        }
        PartBody::Opaque(opaque) => json!({"type": "opaque", "value": opaque.value}),
    }
}

/// The arguments of a call; those that are no JSON stand as they were written.
pub(crate) fn input(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(input)) => Value::Object(input),
        Ok(other) => json!({ "input": other }),
        Err(_) if arguments.trim().is_empty() => Value::Object(Map::new()),
        Err(_) => json!({ "input": arguments }),
    }
}

/// A result of a call; text alone is text, so that simple readers need no blocks.
pub(crate) fn tool_result(result: &ToolResult, naming: &Naming) -> Value {
    let content = match result.content.as_slice() {
        [] => Value::from(""),
        [Part { body: PartBody::Text(text), .. }] => Value::from(text.as_str()),
        parts => blocks(parts, naming).into(),
    };
    json!({
        "type": "tool_result",
        "tool_use_id": result.id.as_str(),
        "content": content,
        "is_error": result.is_error.unwrap_or(false),
    })
}

fn medium(media: &Media) -> Value {
    let kind = match media.kind {
        MediaKind::Image => "image",
        MediaKind::Document => "document",
        MediaKind::Audio => "audio",
        MediaKind::Video => "video",
    };
    let mime = media.mime.as_deref().unwrap_or("application/octet-stream");
    let source = match &media.source {
        MediaSource::Base64(data) => json!({"type": "base64", "media_type": mime, "data": data}),
        MediaSource::Text(text) => json!({"type": "text", "media_type": "text/plain", "data": text}),
        MediaSource::Url(url) => json!({"type": "url", "url": url}),
        MediaSource::FileId(id) => json!({"type": "file", "file_id": id}),
    };
    json!({"type": kind, "source": source})
}

/// Tokens in Anthropic's words.
pub(crate) fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input.unwrap_or(0),
        "cache_creation_input_tokens": usage.cache_write.unwrap_or(0),
        "cache_read_input_tokens": usage.cache_read.unwrap_or(0),
        "output_tokens": usage.all_output(),
    })
}
