//! The whole matrix: every fixture of every protocol to every protocol.
//!
//! Chosen fixtures are golden files, to be reviewed as such; all others are held to what must always be true: what was said
//! is still said, and what we write can be read.

use std::fmt::Write;

use rail_model::{Assembler, Event, PartBody, Reply, Request};
use rail_wire::{ALL, BodyKind, Protocol, find};
use serde_json::Value;

use crate::corpus::{
    Fixture, error_reply, events, fixtures, frames, json, read_request, write_answer, write_request,
};

/// Fixtures whose translations are golden files, by kind.
const GOLDEN: &[(&str, &str, &[&str])] = &[
    (
        "request",
        "anthropic",
        &[
            "documents_citations",
            "images_base64_url_file",
            "sampling_all",
            "server_tools_web",
            "structured_output",
            "system_blocks_cached",
            "system_role_in_conversation",
            "thinking_adaptive_effort",
            "thinking_enabled_history",
            "thinking_redacted",
            "tool_choice_auto_serial",
            "tool_result_with_image",
            "tool_results_mixed",
            "tools_parallel_calls",
            "unknown_everywhere",
        ],
    ),
    (
        "request",
        "openai-chat",
        &[
            "custom_tool_freeform",
            "developer_role",
            "image_and_file_parts",
            "legacy_functions",
            "reasoning_cache_and_account",
            "sampling_all",
            "structured_output_schema",
            "thinking_all",
            "thinking_enable",
            "thinking_reasoning",
            "thinking_reasoning_effort",
            "thinking_switch",
            "thinking_switch_off",
            "thinking_template",
            "thinking_unread",
            "tool_choice_allowed",
            "tool_results",
            "tools_parallel_calls",
            "unknown_everywhere",
        ],
    ),
    (
        "request",
        "openai-responses",
        &[
            "codex_style",
            "custom_tool_freeform",
            "image_and_file_parts",
            "items_shell_and_patch",
            "message_forms",
            "reasoning_items_encrypted",
            "sampling_all",
            "server_tools_search",
            "structured_output_schema",
            "tool_calls_and_results",
            "unknown_everywhere",
        ],
    ),
    (
        "request",
        "gemini",
        &[
            "builtin_tools",
            "function_declarations_schemas",
            "media_inline_file_video",
            "sampling_all",
            "snake_case",
            "structured_response_schema",
            "thinking_budget_dynamic",
            "thinking_level_signatures",
            "tool_config_any_allowed",
            "tool_response_with_media",
            "tools_calls_with_id",
            "tools_parallel_calls_no_id",
            "unknown_everywhere",
        ],
    ),
    (
        "response",
        "anthropic",
        &[
            "citations_all",
            "refusal",
            "stop_sequence",
            "text_usage_full",
            "thinking_and_redacted",
            "tools_parallel_calls",
            "unknown_everywhere",
        ],
    ),
    (
        "response",
        "openai-chat",
        &[
            "annotations_url_citations",
            "custom_tool_call",
            "finish_length",
            "logprobs_two_choices",
            "refusal",
            "text_and_tool_call",
            "usage_all_details",
            "unknown_everywhere",
        ],
    ),
    (
        "response",
        "openai-responses",
        &[
            "custom_tool_calls",
            "failed",
            "function_calls_parallel",
            "incomplete_max_output_tokens",
            "reasoning_and_text",
            "refusal",
            "server_tool_items",
            "unknown_everywhere",
        ],
    ),
    (
        "response",
        "gemini",
        &[
            "code_execution",
            "grounding_search",
            "logprobs",
            "malformed_function_call",
            "prompt_blocked_safety",
            "thought_signatures",
            "tools_parallel_calls_no_id",
            "usage_full",
            "unknown_everywhere",
        ],
    ),
    (
        "stream",
        "anthropic",
        &["citations", "error_midstream", "thinking_interleaved_redacted", "tools_parallel_calls"],
    ),
    (
        "stream",
        "openai-chat",
        &["error_midstream", "logprobs", "text_then_tool_call", "text_with_usage", "tool_calls_parallel"],
    ),
    (
        "stream",
        "openai-responses",
        &[
            "custom_tool_freeform",
            "failed_rate_limit_first",
            "function_calls_parallel",
            "reasoning_summary_encrypted_then_text",
            "refusal",
        ],
    ),
    (
        "stream",
        "gemini",
        &["error_midstream", "thoughts_then_text", "tools_parallel_calls", "prompt_blocked"],
    ),
];

fn golden(kind: &str, translate: impl Fn(&Protocol, &Protocol, &Fixture) -> String) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("../golden/{kind}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (_, from, names) in GOLDEN.iter().filter(|(of, ..)| *of == kind) {
        let from = find(from).unwrap();
        let all = fixtures(from, kind, if kind == "stream" { ".sse" } else { ".json" });
        for name in *names {
            let fixture = all
                .iter()
                .find(|fixture| fixture.name == *name)
                .unwrap_or_else(|| panic!("{} {kind} {name}", from.id));
            let mut text = String::new();
            for to in ALL.iter().filter(|to| to.id != from.id) {
                write!(text, "== {}\n{}", to.id, translate(from, to, fixture)).unwrap();
            }
            settings.bind(|| insta::assert_snapshot!(format!("{}.{name}", from.id), text));
        }
    }
}

fn with_losses(body: &str, losses: &[rail_model::Loss]) -> String {
    let losses: String =
        losses.iter().map(|loss| format!("-- lost {}: {}\n", loss.path, loss.reason)).collect();
    format!("{body}\n{losses}\n")
}

#[test]
fn golden_requests() {
    golden("request", |from, to, fixture| {
        let request = read_request(from, &fixture.bytes).unwrap();
        let (body, losses) = write_request(to, &request);
        with_losses(&serde_json::to_string_pretty(&body).unwrap(), &losses)
    });
}

#[test]
fn golden_answers() {
    golden("response", |from, to, fixture| {
        let events = events(from, BodyKind::Whole, &fixture.bytes).unwrap();
        let (body, losses) = write_answer(to, BodyKind::Whole, &events);
        with_losses(&serde_json::to_string_pretty(&json(&body)).unwrap(), &losses)
    });
}

#[test]
fn golden_streams() {
    golden("stream", |from, to, fixture| {
        let events = events(from, BodyKind::Stream, &fixture.bytes).unwrap();
        let (body, losses) = write_answer(to, BodyKind::Stream, &events);
        let lines: Vec<String> = frames(&body)
            .iter()
            .map(|frame| frame.as_str().map_or_else(|| frame.to_string(), str::to_owned))
            .collect();
        with_losses(&lines.join("\n"), &losses)
    });
}

#[test]
fn golden_errors() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../golden/error");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for from in ALL {
        let mut text = String::new();
        for ending in [".json", ".html", ".txt"] {
            for fixture in fixtures(from, "error", ending) {
                let error = from.outbound.read_error(&error_reply(&fixture));
                writeln!(
                    text,
                    "== {}: {:?}, fault {:?}, retry after {:?}",
                    fixture.name,
                    error.kind,
                    error.fault(),
                    error.retry_after
                )
                .unwrap();
                for to in ALL.iter().filter(|to| to.id != from.id) {
                    let reply = to.inbound.write_error(&error);
                    writeln!(text, "{} {} {}", to.id, reply.status, String::from_utf8(reply.body).unwrap())
                        .unwrap();
                }
            }
        }
        settings.bind(|| insta::assert_snapshot!(from.id.name(), text));
    }
}

/// Everything a request says that any protocol can say.
fn said(request: &Request) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut text = |text: &str| out.extend((!text.trim().is_empty()).then(|| text.trim().to_owned()));
    for part in request.system.iter().chain(request.messages.iter().flat_map(|message| &message.parts)) {
        match &part.body {
            PartBody::Text(words) | PartBody::Refusal(words) => text(words),
            PartBody::ToolCall(call) => {
                text(&call.name);
                strings(
                    &serde_json::from_str(&call.arguments).unwrap_or(Value::from(call.arguments.as_str())),
                    &mut text,
                );
            }
            PartBody::ToolResult(result) => {
                result.content.iter().filter_map(|part| part.as_text()).for_each(&mut text)
            }
            PartBody::Thinking(_) | PartBody::Redacted(_) | PartBody::Media(_) | PartBody::Opaque(_) => {}
        }
    }
    out
}

/// Every string in a value, and in JSON inside strings.
fn strings(value: &Value, sink: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => {
            sink(text);
            if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
                strings(&inner, sink);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| strings(value, sink)),
        Value::Object(map) => map.values().for_each(|value| strings(value, sink)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn what_a_request_says_is_still_said_in_every_protocol() {
    let mut missing = Vec::new();
    for from in ALL {
        for fixture in fixtures(from, "request", ".json") {
            let request = read_request(from, &fixture.bytes).unwrap();
            // The same protocol is held to more than this by `identity`, and may say a flat name in two words.
            for to in ALL.iter().filter(|to| to.id != from.id) {
                let (body, _) = write_request(to, &request);
                let mut all = String::new();
                strings(&body, &mut |text| all.extend([text, "\u{1}"]));
                let mut request = request.clone();
                if to.id == rail_wire::gemini::ID {
                    // Gemini can't go on from words of its own; named as lost.
                    request.messages.pop_if(|message| message.role == rail_model::Role::Assistant);
                }
                // The billing line of Claude Code is for Anthropic only, and named as lost elsewhere.
                let meant = |words: &&String| !words.starts_with("x-anthropic-billing-header:");
                for words in said(&request).iter().filter(meant).filter(|words| !all.contains(words.as_str()))
                {
                    missing.push(format!("{} {} -> {}: {words:?}", from.id, fixture.name, to.id));
                }
                let again = read_request(to, body.to_string().as_bytes());
                assert!(again.is_ok(), "{} {} -> {}: {again:?}\n{body}", from.id, fixture.name, to.id);
            }
        }
    }
    assert!(missing.is_empty(), "{} missing:\n{}", missing.len(), missing.join("\n"));
}

/// An answer without what is spelled differently from protocol to protocol.
#[derive(PartialEq, Debug)]
struct Essence {
    text: String,
    thinking: String,
    calls: Vec<(String, Value)>,
    tokens: Option<(u64, u64)>,
}

fn essence(events: Vec<Event>) -> Option<Essence> {
    let mut assembler = Assembler::default();
    events.into_iter().for_each(|event| assembler.push(event));
    let Reply { parts, usage, .. } = assembler.finish()?.ok()?;
    let mut essence =
        Essence { text: String::new(), thinking: String::new(), calls: Vec::new(), tokens: None };
    for part in &parts {
        match &part.body {
            PartBody::Text(text) | PartBody::Refusal(text) => essence.text.push_str(text),
            PartBody::Thinking(text) => essence.thinking.push_str(text),
            PartBody::ToolCall(call) => {
                let arguments = if call.arguments.is_empty() { "{}" } else { &call.arguments };
                let value = serde_json::from_str(arguments)
                    .ok()
                    .filter(Value::is_object)
                    .unwrap_or_else(|| serde_json::json!({"_raw": arguments}));
                essence.calls.push((call.name.clone(), value));
            }
            PartBody::Redacted(_) | PartBody::ToolResult(_) | PartBody::Media(_) | PartBody::Opaque(_) => {}
        }
    }
    essence.text.retain(|char| !char.is_whitespace());
    essence.thinking.retain(|char| !char.is_whitespace());
    essence.tokens = usage.map(|usage| (usage.all_input(), usage.all_output()));
    Some(essence)
}

#[test]
fn what_an_answer_says_is_still_said_in_every_protocol() {
    let mut differ = Vec::new();
    for from in ALL {
        let folders = [
            ("response", ".json", BodyKind::Whole),
            ("stream", ".sse", BodyKind::Stream),
            ("compat", ".sse", BodyKind::Stream),
        ];
        for (folder, ending, kind) in folders {
            for fixture in fixtures(from, folder, ending) {
                let Ok(events) = events(from, kind, &fixture.bytes) else { continue };
                for to in ALL {
                    let (body, _) = write_answer(to, kind, &events);
                    let what = format!("{} {folder} {} -> {}", from.id, fixture.name, to.id);
                    let again = crate::corpus::events(to, kind, &body).unwrap_or_else(|error| {
                        panic!("{what}: {error}\n{}", String::from_utf8_lossy(&body))
                    });
                    let (before, after) = (essence(events.clone()), essence(again));
                    if without_unsaid_usage(&before, &after) {
                        continue;
                    }
                    differ.push(format!("{what}:\n  {before:?}\n  {after:?}"));
                }
            }
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}

/// Equal, where tokens that the upstream never told count as any.
fn without_unsaid_usage(before: &Option<Essence>, after: &Option<Essence>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => {
            let tokens = before.tokens.is_none() || before.tokens == after.tokens;
            tokens
                && (&before.text, &before.thinking, &before.calls)
                    == (&after.text, &after.thinking, &after.calls)
        }
        (before, after) => before == after,
    }
}

#[test]
fn streams_for_anthropic_clients_keep_their_librarys_rules() {
    for from in ALL {
        for folder in ["stream", "compat"] {
            for fixture in fixtures(from, folder, ".sse") {
                let Ok(events) = events(from, BodyKind::Stream, &fixture.bytes) else { continue };
                let (body, _) = write_answer(find("anthropic").unwrap(), BodyKind::Stream, &events);
                crate::anthropic::check(&frames(&body));
            }
        }
    }
}
