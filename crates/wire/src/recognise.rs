use serde_json::{Map, Value};

use crate::Protocol;

/// The protocol that a request's body is written in, told by its fields; None when it is no request of any.
///
/// What is legal in both the Anthropic and the OpenAI chat protocol counts as Anthropic only if it has the `max_tokens` that
/// Anthropic demands, and has `thinking` or names one of its models.
pub fn recognise(body: &Value) -> Option<&'static Protocol> {
    let body = body.as_object()?;
    if body.contains_key("contents") {
        return Some(&crate::gemini::PROTOCOL);
    }
    if !body.contains_key("messages") {
        let responses = body.contains_key("input") || body.contains_key("prompt");
        return responses.then_some(&crate::openai_responses::PROTOCOL);
    }
    Some(if is_anthropic(body) { &crate::anthropic::PROTOCOL } else { &crate::openai_chat::PROTOCOL })
}

fn is_anthropic(body: &Map<String, Value>) -> bool {
    let messages = items(body.get("messages"));
    let tools = items(body.get("tools"));
    let chat = CHAT_KEYS.iter().any(|key| body.contains_key(*key))
        || messages.iter().any(|message| {
            let role = text(message, "role");
            matches!(role, "tool" | "developer" | "function") || message.get("tool_calls").is_some()
        })
        || tools.iter().any(|tool| tool.get("function").is_some());
    if chat {
        return false;
    }
    let anthropic = ANTHROPIC_KEYS.iter().any(|key| body.contains_key(*key))
        || tools.iter().any(|tool| tool.get("input_schema").is_some())
        || messages
            .iter()
            .flat_map(|message| items(message.get("content")))
            .any(|block| block.get("source").is_some() || ANTHROPIC_BLOCKS.contains(&text(block, "type")));
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    let either = body.contains_key("thinking") || model.contains("claude");
    anthropic || (either && body.contains_key("max_tokens"))
}

/// Fields of the body that only OpenAI chat has.
const CHAT_KEYS: &[&str] = &[
    "chat_template_kwargs",
    "enable_thinking",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "n",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "stream_options",
    "thinking_budget",
];
/// Fields of the body that only Anthropic has.
const ANTHROPIC_KEYS: &[&str] =
    &["anthropic_version", "context_management", "output_config", "stop_sequences", "system"];
/// Blocks that only Anthropic has.
const ANTHROPIC_BLOCKS: &[&str] = &["tool_use", "tool_result", "thinking", "redacted_thinking"];

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_are_told_by_their_fields() {
        let hello = json!([{"role": "user", "content": "hello"}]);
        for (body, expected) in [
            (json!({"contents": []}), Some("gemini")),
            (json!({"model": "gpt-5", "input": "hello"}), Some("openai-responses")),
            (json!({"model": "gpt-4o", "messages": hello}), Some("openai-chat")),
            (json!({"model": "gpt-4o", "messages": hello, "max_tokens": 5}), Some("openai-chat")),
            (json!({"model": "claude-opus-4-5", "messages": hello, "max_tokens": 5}), Some("anthropic")),
            (json!({"model": "claude-opus-4-5", "messages": hello}), Some("openai-chat")),
            (json!({"messages": hello, "system": "be brief"}), Some("anthropic")),
            (json!({"messages": hello, "tools": [{"name": "a", "input_schema": {}}]}), Some("anthropic")),
            (
                json!({"messages": hello, "tools": [{"type": "function", "function": {}}]}),
                Some("openai-chat"),
            ),
            (
                json!({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]}),
                Some("anthropic"),
            ),
            (
                json!({"messages": [{"role": "tool", "content": "x"}], "thinking": {"type": "enabled"}}),
                Some("openai-chat"),
            ),
            (json!({"messages": hello, "thinking": {"type": "enabled"}}), Some("openai-chat")),
            (json!({"messages": hello, "thinking": {"type": "enabled"}, "max_tokens": 5}), Some("anthropic")),
            (json!({}), None),
            (json!([1]), None),
            (json!("text"), None),
        ] {
            assert_eq!(recognise(&body).map(|protocol| protocol.id.name()), expected, "{body}");
        }
    }
}
