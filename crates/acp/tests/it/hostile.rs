//! Whatever a client says: it gets an error, and nothing else is harmed.

use std::io::{BufRead, BufReader};

use rail_proto::Command;
use serde_json::{Value, json};

use crate::bed::{Bed, Raw, prompt};

fn error(id: Value, code: i64) -> Value {
    json!({"do": "await", "id": id, "holding": {"error": {"code": code}}})
}

fn fine(id: i64) -> Value {
    json!([prompt(id, "hi"), {"do": "await", "id": id, "holding": {"result": {"stopReason": "end_turn"}}}])
}

#[test]
fn lines_that_are_no_messages() {
    let mut bed = Bed::open();
    for line in [
        "{",
        "[]",
        "1",
        "null",
        "\"x\"",
        "\u{1}\u{2}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"1.0\",\"method\":\"initialize\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"initialize\"}",
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}]",
    ] {
        bed = bed.play(
            json!([{"do": "raw", "line": line}, {"do": "await", "id": null, "holding": {"error": {}}}]),
        );
    }
    // What has no answer is of no effect.
    for line in [
        "",
        " ",
        "{\"jsonrpc\":\"2.0\",\"method\":\"unknown\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}",
    ] {
        bed = bed.play(json!([{"do": "raw", "line": line}]));
    }
    bed.play(fine(50)).over();
}

#[test]
fn a_line_without_end() {
    Bed::open()
        .play(json!([{"do": "long", "bytes": 65 << 20}, error(Value::Null, -32600)]))
        .play(fine(2))
        .over();
}

#[test]
fn nothing_before_the_beginning() {
    let new =
        json!({"do": "request", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}});
    let hello = |id: i64| json!({"do": "request", "id": id, "method": "initialize", "params": {"protocolVersion": 99}});
    Bed::new()
        .play(json!([
            new, error(json!(1), -32600),
            {"do": "request", "id": 2, "method": "initialize", "params": {}}, error(json!(2), -32602),
            // The version that both know is ours.
            hello(3), {"do": "await", "id": 3, "holding": {"result": {"protocolVersion": 1, "agentInfo": {"name": "rail", "version": "1.2.3"}}}},
            hello(4), error(json!(4), -32600),
        ]))
        .over();
}

#[test]
fn wrong_methods_and_parameters() {
    let request =
        |method: &str, params: Value| json!({"do": "request", "id": "r", "method": method, "params": params});
    let mut bed = Bed::open();
    for (method, params, code) in [
        ("session/forget", json!({}), -32601),
        ("", json!({}), -32601),
        ("session/prompt", json!({}), -32602),
        ("session/prompt", json!([1, 2]), -32602),
        ("session/prompt", json!({"sessionId": 1, "prompt": []}), -32602),
        ("session/prompt", json!({"sessionId": "${session}", "prompt": []}), -32602),
        ("session/prompt", json!({"sessionId": "none", "prompt": [{"type": "text", "text": "x"}]}), -32002),
        ("session/prompt", json!({"sessionId": "${session}", "prompt": [{"type": "hologram"}]}), -32602),
        ("session/new", json!({"cwd": "relative", "mcpServers": []}), -32602),
        ("session/load", json!({"cwd": "/", "mcpServers": [], "sessionId": "unknown"}), -32002),
        ("session/set_mode", json!({"sessionId": "${session}", "modeId": "yolo"}), -32602),
        (
            "session/set_config_option",
            json!({"sessionId": "${session}", "configId": "model", "value": "none"}),
            -32602,
        ),
        (
            "session/set_config_option",
            json!({"sessionId": "${session}", "configId": "x", "value": "y"}),
            -32602,
        ),
        (
            "session/set_config_option",
            json!({"sessionId": "${session}", "configId": "mode", "type": "boolean", "value": true}),
            -32602,
        ),
        ("session/list", json!({"cursor": "nowhere"}), -32602),
        ("session/close", json!({"sessionId": "none"}), -32002),
        ("authenticate", json!({"methodId": "password"}), -32602),
        ("authenticate", json!({"methodId": "configuration"}), -32000),
        ("logout", json!({}), -32601),
    ] {
        bed = bed.play(json!([request(method, params), error(json!("r"), code)]));
    }
    bed.play(fine(50)).over();
}

#[test]
fn an_id_that_is_in_use() {
    let cancel = json!({"do": "notify", "method": "session/cancel", "params": {"sessionId": "${session}"}});
    Bed::open()
        .play(json!([
            prompt(7, "hang"), prompt(7, "hi"), error(Value::Null, -32600), cancel,
            {"do": "await", "id": 7, "holding": {"result": {"stopReason": "cancelled"}}},
        ]))
        // What has its answer is no more in use.
        .play(fine(7))
        .over();
}

#[test]
fn a_client_that_dies_in_mid_prompt() {
    Bed::open().play(json!([prompt(2, "hang"), prompt(3, "hang")])).over();
    Bed::open()
        .play(json!([prompt(2, "ask"), {"do": "expect", "method": "session/request_permission"}]))
        .over();
    Bed::new().over();
}

#[test]
fn many_sessions_but_not_any_number() {
    let mut bed = Bed::begun();
    let new = |id: i64| json!({"do": "request", "id": id, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}});
    for id in 1..=64 {
        bed = bed.play(json!([new(id), {"do": "await", "id": id, "holding": {"result": {}}, "keep": {"session": "/result/sessionId"}}]));
    }
    bed.play(json!([new(65), error(json!(65), -32600)])).play(fine(70)).over();
}

/// A client that has a session, has it say more than it reads, and reads nothing from there on.
fn not_reading() -> Raw {
    let mut raw = Raw::new();
    let request = |id: i64, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    raw.say(&request(0, "initialize", json!({"protocolVersion": 1})));
    raw.say(&request(1, "session/new", json!({"cwd": "/", "mcpServers": []})));
    let mut lines = BufReader::new(&raw.from).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("\"session-0\"")), "there is no session");
    drop(lines);
    let text = json!([{"type": "text", "text": "flood"}]);
    raw.say(&request(2, "session/prompt", json!({"sessionId": "session-0", "prompt": text})));
    raw
}

#[test]
fn a_client_that_does_not_read_can_leave() {
    not_reading().hung_up().over();
}

#[test]
fn a_client_that_does_not_read_can_be_left() {
    let raw = not_reading();
    raw.stop.cancel();
    raw.over();
}

#[test]
fn a_client_that_asks_much_and_reads_nothing_can_leave_or_be_left() {
    let unknown = json!({"jsonrpc": "2.0", "id": "x", "method": "y".repeat(500)});
    for stops in [true, false] {
        let mut raw = not_reading();
        for _ in 0..800 {
            raw.say(&unknown);
        }
        if stops {
            raw.stop.cancel();
            raw.over();
        } else {
            raw.hung_up().over();
        }
    }
}

#[test]
fn a_client_that_does_not_read_can_cancel() {
    let mut raw = not_reading();
    // More requests than wait for a session.
    for id in 10..90 {
        let params = json!({"sessionId": "session-0", "modeId": "plan"});
        raw.say(&json!({"jsonrpc": "2.0", "id": id, "method": "session/set_mode", "params": params}));
    }
    raw.say(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "session-0"}}));
    let host = std::sync::Arc::clone(&raw.host);
    host.commands.wait(&Command::Interrupt);
    raw.hung_up().over();
}
