//! A row for every condition of the built-in virtual models, in both forms of each option.

use rail_route::{
    Client, ImageMatch, Options, ReasoningMatch, Routing, Session, Stickiness, WebSearchMatch, classify,
    facts,
};
use serde_json::{Value, json};

use crate::setup::{called, image, request, start, target, tools};

fn check(options: Options, fields: Value, tokens: u64, expected: &str) {
    let routing = Routing { options, ..Routing::default() };
    let request = request(fields.clone());
    let wanted = classify(&routing, &facts(&request, &Client::default(), tokens), None);
    assert_eq!(format!("{}: {}", wanted.virtual_model, wanted.why), expected, "{fields}");
    assert_eq!(wanted.rule, None);
}

fn usual(fields: Value, tokens: u64, expected: &str) {
    check(Options::default(), fields, tokens, expected);
}

#[test]
fn long_context_is_more_tokens_than_the_threshold() {
    usual(json!({}), 72_340, "longContext: 72,340 tokens are more than the threshold of 60,000");
    usual(json!({}), 60_000, "default: no other rule takes it: 60,000 tokens, 0 tools");
    let low = Options { long_context_threshold: 10, ..Options::default() };
    check(low, json!({}), 11, "longContext: 11 tokens are more than the threshold of 10");
}

#[test]
fn image_processing_is_an_image_in_the_last_turn_or_an_image_file_just_read() {
    let old = json!([
        {"role": "user", "content": [image()]},
        {"role": "assistant", "content": "nice"},
        {"role": "user", "content": "and now?"},
    ]);
    let with = |messages: Value| json!({"messages": messages});
    usual(
        with(json!([{"role": "user", "content": [image()]}])),
        1,
        "imageProcessing: the last user turn holds 1 image",
    );
    usual(
        with(called("Read", json!({"file_path": "a.md"}), json!([image(), image()]))),
        1,
        "imageProcessing: the last user turn holds 2 images",
    );
    usual(
        with(called("read_file", json!({"path": "a.jpg"}), json!("…"))),
        1,
        "imageProcessing: `read_file` was just called on an image file",
    );
    usual(with(old.clone()), 1, "default: no other rule takes it: 1 token, 0 tools");
    let any = Options { image_match: ImageMatch::Any, ..Options::default() };
    check(any.clone(), with(old), 1, "imageProcessing: the conversation holds 1 image");
    check(any, json!({}), 1, "default: no other rule takes it: 1 token, 0 tools");
}

#[test]
fn web_search_by_what_is_declared_or_called() {
    let declared = |names: &[&str]| json!({"tools": tools(names)});
    usual(declared(&["WebSearch"]), 1, "webSearch: the only declared tool, `WebSearch`, is a web tool");
    usual(declared(&["WebSearch", "WebFetch"]), 1, "webSearch: all 2 declared tools are web tools");
    usual(
        declared(&["WebSearch", "Bash"]),
        1,
        "coding: 1 of 2 declared tools are neither web nor image tools",
    );
    usual(
        declared(&["search_files"]),
        1,
        "coding: the tool `search_files` is declared, which is neither a web nor an image tool",
    );
    let any = || Options { web_search_match: WebSearchMatch::Any, ..Options::default() };
    check(
        any(),
        declared(&["WebSearch", "Bash"]),
        1,
        "webSearch: the names of 1 of 2 tools hold `web`, `search` or `browser`",
    );
    check(
        any(),
        declared(&["search_files"]),
        1,
        "webSearch: the names of 1 of 1 tool hold `web`, `search` or `browser`",
    );
    check(
        any(),
        declared(&["Bash"]),
        1,
        "coding: the tool `Bash` is declared, which is neither a web nor an image tool",
    );
    let just_called = || Options { web_search_match: WebSearchMatch::Called, ..Options::default() };
    let mut fields = declared(&["WebFetch", "Bash"]);
    check(just_called(), fields.clone(), 1, "coding: 1 of 2 declared tools are neither web nor image tools");
    fields["messages"] = called("WebFetch", json!({"url": "https://x.test"}), json!("ok"));
    check(just_called(), fields, 1, "webSearch: the last assistant turn called the web tool `WebFetch`");
}

#[test]
fn a_web_search_of_the_provider_always_counts() {
    let tools = json!([
        {"name": "Bash", "input_schema": {"type": "object"}},
        {"type": "web_search_20250305", "name": "web_search"},
    ]);
    for web_search_match in [WebSearchMatch::DeclaredOnly, WebSearchMatch::Called, WebSearchMatch::Any] {
        check(
            Options { web_search_match, ..Options::default() },
            json!({"tools": tools}),
            1,
            "webSearch: the provider's own web search `web_search_20250305` is declared",
        );
    }
}

#[test]
fn reasoning_is_thinking_asked_for_explicitly_or_at_all() {
    let any = || Options { reasoning_match: ReasoningMatch::Any, ..Options::default() };
    let thinking = |kind: &str| json!({"thinking": {"type": kind}});
    let on = json!({"thinking": {"type": "enabled", "budget_tokens": 2000}});
    let nothing = "default: no other rule takes it: 1 token, 0 tools";
    usual(on, 1, "reasoning: thinking is switched on");
    usual(
        json!({"output_config": {"effort": "high"}}),
        1,
        "reasoning: thinking is asked for, with the effort `high`",
    );
    usual(json!({"output_config": {"effort": "medium"}}), 1, nothing);
    usual(thinking("adaptive"), 1, nothing);
    check(
        any(),
        thinking("adaptive"),
        1,
        "reasoning: something is said of thinking, and `reasoning_match` is `any`",
    );
    check(
        any(),
        json!({"output_config": {"effort": "low"}}),
        1,
        "reasoning: thinking is asked for, with the effort `low`",
    );
    check(any(), thinking("disabled"), 1, nothing);
    check(any(), json!({}), 1, nothing);
}

#[test]
fn coding_is_any_tool_that_is_neither_web_nor_image() {
    let declared = |names: &[&str]| json!({"tools": tools(names)});
    usual(declared(&["Read", "Edit"]), 1, "coding: 2 of 2 declared tools are neither web nor image tools");
    usual(
        declared(&["Bash", "WebFetch", "screenshot"]),
        1,
        "coding: 1 of 3 declared tools are neither web nor image tools",
    );
    usual(declared(&["WebFetch", "screenshot"]), 1, "default: no other rule takes it: 1 token, 2 tools");
    usual(declared(&["screenshot"]), 1, "default: no other rule takes it: 1 token, 1 tool");
}

#[test]
fn the_first_in_the_order_of_priority_wins() {
    // Each step takes away what the rule before it needs.
    let everything = json!({
        "messages": [{"role": "user", "content": [image()]}],
        "tools": [{"type": "web_search_20250305", "name": "web_search"}, {"name": "Bash", "input_schema": {"type": "object"}}],
        "thinking": {"type": "enabled", "budget_tokens": 2000},
    });
    let mut order = Vec::new();
    let mut fields = everything;
    let mut take = |fields: &Value, tokens| {
        let request = request(fields.clone());
        order.push(
            classify(&Routing::default(), &facts(&request, &Client::default(), tokens), None).virtual_model,
        );
    };
    take(&fields, 60_001);
    take(&fields, 1);
    fields["messages"] = json!([{"role": "user", "content": "hi"}]);
    take(&fields, 1);
    fields["tools"] = tools(&["Bash"]);
    take(&fields, 1);
    fields["thinking"] = json!({"type": "adaptive"});
    take(&fields, 1);
    fields["tools"] = json!([]);
    take(&fields, 1);
    assert_eq!(order, ["longContext", "imageProcessing", "webSearch", "reasoning", "coding", "default"]);
    assert_eq!(order, rail_route::built_in_virtual_models().collect::<Vec<_>>());
}

#[test]
fn long_context_falls_back_only_when_clearly_below_the_threshold() {
    let request = request(json!({}));
    let session = |virtual_model: &str| Session {
        target: target("a,b"),
        virtual_model: Some(virtual_model.to_owned()),
        in_a_row: 1,
        cached_tokens: 0,
        output_tokens: 0,
        seen: start(),
    };
    let stays = "longContext: the conversation was longContext, and 48,000 tokens are not clearly below the threshold \
                 of 60,000: less than 48,000 would be";
    let falls = |tokens: &str| format!("default: no other rule takes it: {tokens} tokens, 0 tools");
    for (was, tokens, stickiness, expected) in [
        ("longContext", 48_000, Stickiness::Auto, stays.to_owned()),
        ("longContext", 47_999, Stickiness::Auto, falls("47,999")),
        ("coding", 48_000, Stickiness::Auto, falls("48,000")),
        ("longContext", 48_000, Stickiness::Off, falls("48,000")),
    ] {
        let routing = Routing { options: Options { stickiness, ..Options::default() }, ..Routing::default() };
        let wanted = classify(&routing, &facts(&request, &Client::default(), tokens), Some(&session(was)));
        assert_eq!(format!("{}: {}", wanted.virtual_model, wanted.why), expected, "{was} {tokens}");
    }
}
