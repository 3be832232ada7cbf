//! `rail debug translate`, the whole matrix.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::process::{rail, start};

const PROTOCOLS: [&str; 4] = ["anthropic", "openai-chat", "openai-responses", "gemini"];

fn translate(from: &str, to: &str, kind: &str, more: &[&str], input: &[u8]) -> Output {
    let args = ["debug", "translate", "--from", from, "--to", to, "--kind", kind];
    rail(&[&args, more].concat(), input)
}

fn corpus(protocol: &str, file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/corpus").join(protocol).join(file)
}

fn losses(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
fn every_pair_and_kind_translates() {
    for from in PROTOCOLS {
        for to in PROTOCOLS {
            for (kind, file) in [
                ("request", "request/minimal.json"),
                ("response", "response/minimal.json"),
                ("stream", "stream/parallel"),
                ("error", "error/"),
            ] {
                let path = match kind {
                    "stream" | "error" => first(from, file),
                    _ => corpus(from, file),
                };
                let output = translate(from, to, kind, &["--status", "429"], &fs::read(&path).unwrap());
                let shown = String::from_utf8_lossy(&output.stdout);
                assert_eq!(output.status.code(), Some(0), "{from} -> {to} {}: {output:?}", path.display());
                assert!(!shown.is_empty());
                for loss in losses(&output) {
                    assert!(loss["path"].is_string() && loss["reason"].is_string(), "{loss}");
                }
                if kind != "stream" {
                    serde_json::from_str::<Value>(&shown).unwrap();
                }
            }
        }
    }
}

/// The first fixture of a protocol in this folder whose name begins so.
fn first(protocol: &str, start: &str) -> PathBuf {
    let (folder, start) = start.split_once('/').unwrap();
    let mut names: Vec<PathBuf> =
        fs::read_dir(corpus(protocol, folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    names
        .into_iter()
        .find(|path| {
            name(path).contains(start) && (name(path).ends_with(".sse") || name(path).ends_with(".json"))
        })
        .unwrap_or_else(|| panic!("{protocol}/{folder}/{start}*"))
}

#[test]
fn the_readme_example_becomes_a_chat_request() {
    let example =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/claude-code-request.json"))
            .unwrap();
    let output = translate("anthropic", "openai-chat", "request", &["--model", "qwen3-coder-plus"], &example);
    let body: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(body["model"], "qwen3-coder-plus");
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
    assert_eq!(
        body["messages"][2]["tool_calls"][0]["function"],
        json!({"name": "read_file", "arguments": "{\"path\": \"src/main.rs\"}"})
    );
}

#[test]
fn bad_input_exits_1_and_says_where() {
    let output = translate(
        "anthropic",
        "gemini",
        "request",
        &[],
        br#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":7}]}]}"#,
    );
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("rail: anthropic, messages[0].content[0].text: invalid type: integer `7`"),
        "{said}"
    );
}

#[test]
fn a_cut_stream_exits_1_and_ends_with_the_clients_own_error() {
    let body = fs::read(corpus("openai-chat", "compat/truncated_clean_eof.sse")).unwrap();
    let output = translate("openai-chat", "anthropic", "stream", &[], &body);
    assert_eq!(output.status.code(), Some(1));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("event: error\ndata: {\"type\":\"error\""), "{shown}");
    assert!(
        shown.contains("without finish_reason and without [DONE]"),
        "the client learns the reason: {shown}"
    );
    assert!(String::from_utf8(output.stderr).unwrap().contains("rail: openai-chat stream, frame"));
}

#[test]
fn a_broken_stream_ends_at_once_though_the_upstream_stays() {
    let args = ["debug", "translate", "--from", "openai-chat", "--to", "anthropic", "--kind", "stream"];
    let mut child = start(&args);
    let mut upstream = child.stdin.take().unwrap();
    upstream.write_all(b"data: {broken\n\n").unwrap();
    let mut shown = String::new();
    child.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(shown.starts_with("event: error\n"), "{shown}");
    drop(upstream);
}

#[test]
fn wrong_arguments_exit_2() {
    let no_protocol = translate("anthropic", "klingon", "request", &[], b"{}");
    assert_eq!(no_protocol.status.code(), Some(2));
    assert!(
        String::from_utf8(no_protocol.stderr)
            .unwrap()
            .contains("there are anthropic, openai-chat, openai-responses, gemini")
    );
    let no_such_call = translate(
        "gemini",
        "anthropic",
        "embed-request",
        &["--model", "m"],
        br#"{"content":{"parts":[{"text":"x"}]}}"#,
    );
    assert_eq!(no_such_call.status.code(), Some(2), "{no_such_call:?}");
    assert_eq!(rail(&[], b"").status.code(), Some(2));
    assert_eq!(rail(&["--version"], b"").status.code(), Some(0));
}

#[test]
fn an_upstream_error_becomes_the_clients_own() {
    let body = fs::read(corpus("openai-chat", "error/rate_limit.429.json")).unwrap();
    let output = translate("openai-chat", "anthropic", "error", &["--status", "429"], &body);
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&shown["type"], &shown["error"]["type"]), (&json!("error"), &json!("rate_limit_error")));
}
