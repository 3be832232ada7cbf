//! What is read from real bodies of each protocol.

use rail_model::{Purpose, Request};
use rail_route::{Client, ThinkingAsked, facts};
use serde_json::json;

use crate::setup::{called, image, read, request, tools};

fn thinking(request: &Request) -> ThinkingAsked {
    facts(request, &Client::default(), 0).thinking
}

#[test]
fn thinking_in_every_protocols_words() {
    use ThinkingAsked::{Explicit, Off, Said, Unsaid};
    for (protocol, fields, expected) in [
        ("anthropic", json!({}), Unsaid),
        ("anthropic", json!({"thinking": {"type": "enabled", "budget_tokens": 2000}}), Explicit),
        ("anthropic", json!({"thinking": {"type": "adaptive"}}), Said),
        ("anthropic", json!({"thinking": {"type": "disabled"}}), Off),
        (
            "anthropic",
            json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}),
            Explicit,
        ),
        ("anthropic", json!({"thinking": {"type": "disabled"}, "output_config": {"effort": "high"}}), Off),
        ("openai-chat", json!({"reasoning_effort": "high"}), Explicit),
        ("openai-chat", json!({"reasoning_effort": "xhigh"}), Explicit),
        ("openai-chat", json!({"reasoning_effort": "medium"}), Said),
        ("openai-chat", json!({"reasoning_effort": "low"}), Said),
        ("openai-chat", json!({"reasoning_effort": "none"}), Off),
        ("openai-responses", json!({"reasoning": {"effort": "high", "summary": "auto"}}), Explicit),
        ("openai-responses", json!({"reasoning": {"effort": "medium", "summary": "auto"}}), Said),
        ("gemini", json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 512}}}), Explicit),
        ("gemini", json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": -1}}}), Said),
        ("gemini", json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true}}}), Said),
        ("gemini", json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}), Off),
        ("gemini", json!({"generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH"}}}), Explicit),
    ] {
        let said = json!([{"role": "user", "content": "hi"}]);
        let mut body = match protocol {
            "gemini" => json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}),
            "openai-responses" => json!({"model": "m", "input": said}),
            _ => json!({"model": "m", "max_tokens": 9, "messages": said}),
        };
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        assert_eq!(thinking(&read(protocol, &body)), expected, "{protocol} {fields}");
    }
}

#[test]
fn images_are_counted_in_the_last_user_turn_and_anywhere() {
    let words = |text: &str| json!([{"type": "text", "text": text}]);
    for (about, messages, expected) in [
        ("none", json!([{"role": "user", "content": "hi"}]), (0, 0)),
        ("with the question", json!([{"role": "user", "content": [image(), image()]}]), (2, 2)),
        (
            "ten turns ago",
            json!([
                {"role": "user", "content": [image()]},
                {"role": "assistant", "content": "nice"},
                {"role": "user", "content": "and now?"},
            ]),
            (0, 1),
        ),
        ("in a tool's result", called("Read", json!({"file_path": "a.md"}), json!([image()])), (1, 1)),
        (
            "a begun answer is no turn",
            json!([{"role": "user", "content": [image()]}, {"role": "assistant", "content": words("I see")}]),
            (1, 1),
        ),
    ] {
        let request = request(json!({"messages": messages}));
        let facts = facts(&request, &Client::default(), 0);
        assert_eq!((facts.last_images, facts.images), expected, "{about}");
    }
    // Chat Completions carries results in messages of their own, and images behind them.
    let chat = read(
        "openai-chat",
        &json!({"model": "m", "messages": [
            {"role": "user", "content": "look"},
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "view", "arguments": "{\"path\":\"a.png\"}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "see below"},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]},
        ]}),
    );
    let facts = facts(&chat, &Client::default(), 0);
    assert_eq!((facts.last_images, facts.image_read, facts.in_tool_loop), (1, Some("view"), true));
}

#[test]
fn only_the_last_assistant_turn_counts_as_just_called() {
    let mut messages = called("Read", json!({"file_path": "a.png"}), json!("gone"));
    let first = request(json!({"messages": messages}));
    let seen = facts(&first, &Client::default(), 0);
    assert_eq!((seen.image_read, seen.web_called, seen.in_tool_loop), (Some("Read"), None, true));
    let more =
        [json!({"role": "assistant", "content": "it is gone"}), json!({"role": "user", "content": "oh"})];
    messages.as_array_mut().unwrap().extend(more);
    let later = request(json!({"messages": messages}));
    let seen = facts(&later, &Client::default(), 0);
    assert_eq!((seen.image_read, seen.in_tool_loop), (None, false));
    let web =
        request(json!({"messages": called("WebFetch", json!({"url": "https://x.test/a.png"}), json!("ok"))}));
    let seen = facts(&web, &Client::default(), 0);
    assert_eq!((seen.image_read, seen.web_called), (None, Some("WebFetch")));
}

#[test]
fn tools_are_counted_by_kind() {
    let request = request(json!({"tools": tools(&["Bash", "WebFetch", "search_files", "take_screenshot"])}));
    let kinds = facts(&request, &Client::default(), 0).kinds;
    assert_eq!((kinds.literally_web, kinds.web, kinds.image, kinds.other), (2, 1, 1, 2));
}

#[test]
fn a_conversation_keeps_its_key_and_shares_it_with_no_other() {
    let key = |request: &Request, headers: &[(&str, &str)]| {
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        facts(request, &Client { headers: &headers, name: None }, 0).session
    };
    let first = request(json!({"system": "be kind"}));
    let later = request(json!({"system": "be kind", "messages": [
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes?"}, {"role": "user", "content": "go on"},
    ]}));
    let other = request(json!({"system": "be kind", "messages": [{"role": "user", "content": "hello"}]}));
    let strict = request(json!({"system": "be strict"}));
    assert_eq!(key(&first, &[]), key(&later, &[]), "it grows and stays the same");
    assert_ne!(key(&first, &[]), key(&other, &[]), "it begins with another question");
    assert_ne!(key(&first, &[]), key(&strict, &[]), "it has another system prompt");
    let [one, two] = ["1", "2"].map(|id| [("x-claude-code-session-id", id)]);
    assert_eq!(key(&first, &one), key(&later, &one));
    assert_eq!(key(&first, &one), key(&strict, &one), "who has an id may change the system prompt");
    assert_ne!(key(&first, &one), key(&first, &two));
    assert_ne!(key(&first, &one), key(&other, &one), "a title is asked for under the same id");
    let agent = [("x-claude-code-session-id", "1"), ("x-claude-code-agent-id", "a")];
    assert_ne!(key(&first, &one), key(&first, &agent), "a sub-agent is a conversation of its own");
    let [thread, session] = [("thread-id", "1"), ("session-id", "1")].map(|header| key(&first, &[header]));
    assert!(thread != key(&first, &[]) && session != key(&first, &[]));
    let chat = |cache_key: &str| {
        read(
            "openai-chat",
            &json!({"model": "m", "prompt_cache_key": cache_key, "messages": [{"role": "user", "content": "hi"}]}),
        )
    };
    assert_eq!(key(&chat("a"), &[]), key(&chat("a"), &[]));
    assert_ne!(key(&chat("a"), &[]), key(&chat("b"), &[]));
}

#[test]
fn the_client_and_the_purpose_come_from_the_headers() {
    let request = request(json!({}));
    let headers = [
        ("user-agent".to_owned(), "claude-cli/2.1.5 (external, cli)".to_owned()),
        ("x-claude-code-agent-id".to_owned(), "a".to_owned()),
    ];
    let facts = facts(&request, &Client { headers: &headers, name: None }, 7);
    assert_eq!((facts.client, facts.purpose, facts.tokens), ("claude-code", Purpose::SubAgent, 7));
    assert_eq!(facts.header("User-Agent"), Some("claude-cli/2.1.5 (external, cli)"));
}
