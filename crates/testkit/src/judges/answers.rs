//! What is scripted, and how each SDK must see it.

use rail_model::{Media, MediaSource, Part, PartBody, Seal, Stop, Usage};
use serde_json::{Value, json};

use super::{Expected, Language, Scenario};
use crate::{NOW, Turn, call, image, redacted, text, thinking};

/// Valid base64, which Google's SDKs demand of signatures.
const SIGNATURE: &str = "c2lnbmF0dXJlIG9mIGEga2luZA==";
const PNG: &str = "iVBORw0KGgo+/w==";
const REDACTED: &str = "cmVkYWN0ZWQgd29yZHM=";

/// A scripted answer.
struct Answer {
    name: &'static str,
    parts: Vec<Part>,
    stop: Stop,
    usage: Usage,
    pings: usize,
}

/// Answers of a model of one protocol, as a client of the same or another one must see them.
pub fn scenarios(sdk: &str, model: &str, language: Language) -> Vec<Scenario> {
    let mut all = Vec::new();
    for answer in answers(sdk, model) {
        for mode in ["whole", "stream", "helper"] {
            let turn = Turn::reply(answer.parts.clone()).usage(answer.usage.clone());
            let turn = turn.stop(answer.stop.clone()).pings(answer.pings);
            // OpenAI's own accumulation takes a truncated answer for an error, by design.
            if sdk.starts_with("openai")
                && mode == "helper"
                && matches!(answer.stop, Stop::MaxTokens | Stop::Refusal)
            {
                continue;
            }
            // And in Node it keeps only the last piece of a field that OpenAI itself does not have.
            let thinks = answer.parts.iter().any(|part| matches!(part.body, PartBody::Thinking(_)));
            if (sdk, language, mode) == ("openai-chat", Language::Node, "helper") && thinks {
                continue;
            }
            let expected = Expected::Saw(expected(sdk, model, &answer));
            let name = format!("{}, {mode}", answer.name);
            all.push(Scenario { name, mode, ask: "plain", turns: vec![turn], expected, sent_back: None });
        }
    }
    all
}

/// Answers with calls that the client runs and sends back: what it was told must come back to us.
pub fn loops(sdk: &str, language: Language) -> Vec<Scenario> {
    let foreign = Seal {
        issuer: if sdk == "gemini" { "anthropic" } else { "gemini" }.to_owned(),
        data: SIGNATURE.to_owned(),
    };
    let sealed = |part: Part| Part { seal: Some(foreign.clone()), ..part };
    let calls = || vec![text("I will."), call("read_file", json!({"path": "ä"})), call("list", json!({}))];
    let mut all = Vec::new();
    for mode in ["loop", "loop-whole"] {
        let mut own = calls();
        let mut others = calls();
        // A chat client has no place for a seal but a call's id, and in Node none for a streamed thought.
        if sdk == "openai-chat" {
            if (language, mode) != (Language::Node, "loop") {
                own.insert(0, thinking("Hm.", None));
            }
        } else {
            own.insert(0, thinking("Hm.", Some(SIGNATURE)));
            others.insert(0, sealed(thinking("Hm.", None)));
        }
        let others = others.into_iter().map(|part| match part.body {
            PartBody::ToolCall(_) => sealed(part),
            _ => part,
        });
        for (name, parts) in [("own", own), ("foreign seals", others.collect())] {
            let turns = vec![Turn::reply(parts.clone()), Turn::reply(vec![text("Done.")])];
            let expected = Expected::Saw(json!({"parts": [{"text": "Done."}]}));
            let name = format!("{name}, {mode}");
            all.push(Scenario { name, mode, ask: "plain", turns, expected, sent_back: Some(parts) });
        }
    }
    all
}

fn answers(sdk: &str, model: &str) -> Vec<Answer> {
    let signature = (model != "openai-chat").then_some(SIGNATURE);
    let usage = || Usage { input: Some(10), output: Some(5), ..Usage::default() };
    let answer = |name, parts, stop| Answer { name, parts, stop, usage: usage(), pings: 0 };
    let hard =
        "Grüße — 你好 👋🏽\n\t\"quoted\" \\ back\\slash </script> \u{7f}\u{feff} data: [DONE]\n\nevent: x";
    let large: String = (0..10_000).map(|at| format!("{at:05} ü 数 ")).collect();
    let arguments = json!({
        "path": "ä/数.txt", "deep": {"list": [1, 2.5, -3e2, true, null, {"a": []}], "": "empty key"},
        "text": "line\nbreak \"quote\" \\ \u{1f600}",
    });
    let calls = vec![text("I will."), call("read_file", arguments.clone()), call("list", json!({}))];
    let mut all = vec![
        answer("text", vec![text("Hello, world.")], Stop::EndTurn),
        answer("unicode", vec![text(hard)], Stop::EndTurn),
        answer("line separators", vec![text("one\u{85}two\u{2028}three\u{2029}four")], Stop::EndTurn),
        answer("large", vec![text(large)], Stop::EndTurn),
        answer("thinking", vec![thinking("Hm — 嗯.\nSo.", signature), text("Yes.")], Stop::EndTurn),
        answer("calls", calls, Stop::ToolUse),
        answer("only a call", vec![call("read_file", arguments)], Stop::ToolUse),
        answer(
            "thinking and a call",
            vec![thinking("Hm.", signature), call("list", json!({}))],
            Stop::ToolUse,
        ),
        answer("limit", vec![text("And then")], Stop::MaxTokens),
        answer("refusal", vec![text("I")], Stop::Refusal),
        Answer { pings: 3, ..answer("pings", vec![text("At last.")], Stop::EndTurn) },
        Answer {
            usage: Usage {
                input: Some(100),
                cache_read: Some(40),
                // Only Anthropic says what was written to its cache.
                cache_write: (model == "anthropic").then_some(7),
                output: Some(20),
                reasoning: Some(13),
                ..Usage::default()
            },
            ..answer("usage", vec![text("Counted.")], Stop::EndTurn)
        },
    ];
    // What only one protocol has words for.
    if sdk != model {
        return all;
    }
    if sdk == "anthropic" {
        let parts = vec![
            thinking("One.", signature),
            redacted(REDACTED),
            text("Two."),
            thinking("Three.", signature),
            call("list", json!({})),
        ];
        all.push(answer("redacted and interleaved", parts, Stop::ToolUse));
    }
    if sdk == "gemini" {
        all.push(answer("image", vec![text("Look:"), image("image/png", PNG)], Stop::EndTurn));
    }
    if sdk == "openai-responses" {
        all.push(answer("redacted", vec![redacted(REDACTED), text("Two.")], Stop::EndTurn));
    }
    all
}

fn expected(sdk: &str, model: &str, answer: &Answer) -> Value {
    let mut calls = 0;
    let parts = answer.parts.iter().map(|part| match &part.body {
        PartBody::Text(text) => json!({"text": text}),
        PartBody::Thinking(text) => match &part.seal {
            Some(seal) if sdk == model => json!({"thinking": text, "signature": seal.data}),
            Some(_) | None => json!({"thinking": text}),
        },
        PartBody::Redacted(seal) if sdk == "anthropic" => json!({"redacted": seal.data}),
        PartBody::Redacted(seal) => json!({"thinking": "", "signature": seal.data}),
        PartBody::ToolCall(call) => {
            calls += 1;
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            json!({"call": call.name, "id": format!("call_1_{calls}"), "arguments": arguments})
        }
        PartBody::Media(Media { mime, source: MediaSource::Base64(data), .. }) => {
            json!({"image": mime, "data": data})
        }
        other => panic!("{other:?} is not scripted here"),
    });
    let mut expected = json!({"parts": parts.collect::<Vec<_>>(), "stop": stop(sdk, &answer.stop)});
    expected["usage"] = usage(sdk, &answer.usage);
    expected["model"] = match sdk {
        "anthropic" => json!("claude-judge"),
        "gemini" => json!("gemini-judge"),
        _ => json!("gpt-judge"),
    };
    if sdk.starts_with("openai") {
        expected["created"] = json!(NOW);
    }
    expected
}

fn stop(sdk: &str, stop: &Stop) -> &'static str {
    match (sdk, stop) {
        ("anthropic", Stop::EndTurn) => "end_turn",
        ("anthropic", Stop::ToolUse) => "tool_use",
        ("anthropic", Stop::MaxTokens) => "max_tokens",
        ("openai-chat", Stop::EndTurn) => "stop",
        ("openai-chat", Stop::ToolUse) => "tool_calls",
        ("openai-chat", Stop::MaxTokens) => "length",
        ("openai-responses", Stop::EndTurn | Stop::ToolUse) => "completed",
        ("openai-responses", Stop::MaxTokens) => "incomplete:max_output_tokens",
        ("gemini", Stop::EndTurn | Stop::ToolUse) => "STOP",
        ("gemini", Stop::MaxTokens) => "MAX_TOKENS",
        ("anthropic", Stop::Refusal) => "refusal",
        ("openai-chat", Stop::Refusal) => "content_filter",
        ("openai-responses", Stop::Refusal) => "incomplete:content_filter",
        ("gemini", Stop::Refusal) => "SAFETY",
        other => panic!("no word for {other:?}"),
    }
}

/// Each protocol's own arithmetic over the disjoint buckets.
fn usage(sdk: &str, usage: &Usage) -> Value {
    let (input, output, total) = (usage.all_input(), usage.all_output(), usage.total());
    let (cached, thought) = (usage.cache_read, usage.reasoning);
    match sdk {
        "anthropic" => json!({
            "input": usage.input,
            "cache_read": cached.unwrap_or(0),
            "cache_write": usage.cache_write.unwrap_or(0),
            "output": output,
        }),
        "gemini" => json!({
            "input": input, "cache_read": cached, "output": usage.output, "reasoning": thought, "total": total,
        }),
        "openai-responses" => json!({
            "input": input,
            "cache_read": cached.unwrap_or(0),
            "output": output,
            "reasoning": thought.unwrap_or(0),
            "total": total,
        }),
        _ => json!({
            "input": input, "cache_read": cached, "output": output, "reasoning": thought, "total": total,
        }),
    }
}
