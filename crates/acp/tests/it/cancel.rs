//! Cancellation, at each point of a turn.

use rail_proto::Command;
use serde_json::{Value, json};

use crate::bed::{Bed, prompt};

fn cancel() -> Value {
    json!({"do": "notify", "method": "session/cancel", "params": {"sessionId": "${session}"}})
}

fn stops(id: i64, reason: &str) -> Value {
    json!({"do": "await", "id": id, "holding": {"result": {"stopReason": reason}}})
}

#[test]
fn each_end_has_its_reason() {
    let mut bed = Bed::open();
    for (at, (text, reason)) in
        [("hi", "end_turn"), ("limit", "max_turn_requests"), ("budget", "max_tokens"), ("refuse", "refusal")]
            .into_iter()
            .enumerate()
    {
        let id = 10 + i64::try_from(at).unwrap();
        bed = bed.play(json!([prompt(id, text), stops(id, reason)]));
    }
    let failed = json!({"do": "await", "id": 20, "holding": {"error": {"code": -32603, "message": "Internal error: it broke"}}});
    bed.play(json!([prompt(20, "fail"), failed, prompt(21, "still there?"), stops(21, "end_turn")])).over();
}

#[test]
fn before_anything_was_said_there_is_nothing_to_cancel() {
    Bed::open()
        .play(json!([
            cancel(),
            prompt(2, "hi"),
            stops(2, "end_turn"),
            cancel(),
            prompt(3, "hi"),
            stops(3, "end_turn")
        ]))
        .over();
}

#[test]
fn while_it_works() {
    let begun = json!({"do": "expect", "method": "session/update", "holding": {"update": {"content": {"text": "begun"}}}});
    let host = Bed::open()
        .play(json!([
            prompt(2, "hang"),
            begun,
            cancel(),
            stops(2, "cancelled"),
            prompt(3, "hi"),
            stops(3, "end_turn")
        ]))
        .over();
    assert!(host.commands.lock().unwrap().contains(&Command::Interrupt));
}

#[test]
fn as_soon_as_it_was_said() {
    Bed::open().play(json!([prompt(2, "hang"), cancel(), stops(2, "cancelled")])).over();
}

#[test]
fn while_somebody_is_asked_who_never_answers() {
    let asked = json!({"do": "expect", "method": "session/request_permission"});
    let taken_back = json!({"do": "expect", "method": "$/cancel_request", "holding": {"requestId": 0}});
    let late = json!({"do": "answer", "method": "session/request_permission",
        "result": {"outcome": {"outcome": "selected", "optionId": "allow-once"}}});
    let host = Bed::open()
        .play(json!([
            prompt(2, "ask"),
            asked,
            cancel(),
            stops(2, "cancelled"),
            taken_back,
            // An answer that comes too late is of no effect.
            late,
            prompt(3, "hi"),
            stops(3, "end_turn"),
        ]))
        .over();
    let answered = |command: &Command| matches!(command, Command::Answer { .. });
    assert!(!host.commands.lock().unwrap().iter().any(answered));
}

#[test]
fn with_the_answer_that_the_protocol_asks_for() {
    let asked = json!({"do": "expect", "method": "session/request_permission"});
    let closed = json!({"do": "answer", "method": "session/request_permission", "result": {"outcome": {"outcome": "cancelled"}}});
    Bed::open()
        .play(json!([
            prompt(2, "ask"),
            asked,
            cancel(),
            closed,
            stops(2, "cancelled"),
            prompt(3, "hi"),
            stops(3, "end_turn")
        ]))
        .over();
}

#[test]
fn prompts_that_wait_are_cancelled_too() {
    Bed::open()
        .play(json!([
            prompt(2, "hang"),
            prompt(3, "hi"),
            prompt(4, "hi"),
            cancel(),
            stops(2, "cancelled"),
            stops(3, "cancelled"),
            stops(4, "cancelled"),
            prompt(5, "hi"),
            stops(5, "end_turn"),
        ]))
        .over();
}

#[test]
fn one_request_is_taken_back() {
    let take_back =
        |id: i64| json!({"do": "notify", "method": "$/cancel_request", "params": {"requestId": id}});
    Bed::open()
        .play(json!([
            prompt(2, "hang"), prompt(3, "hi"), take_back(3),
            {"do": "await", "id": 3, "holding": {"error": {"code": -32800}}},
            take_back(2), stops(2, "cancelled"),
        ]))
        .over();
}

#[test]
fn a_session_that_is_closed_ends_its_turn() {
    let close =
        json!({"do": "request", "id": 9, "method": "session/close", "params": {"sessionId": "${session}"}});
    Bed::open()
        .play(json!([
            prompt(2, "hang"), prompt(3, "hi"), close, stops(2, "cancelled"), stops(3, "cancelled"),
            {"do": "await", "id": 9, "holding": {"result": {}}},
            prompt(4, "hi"), {"do": "await", "id": 4, "holding": {"error": {"code": -32002}}},
        ]))
        .over();
}

#[test]
fn answers_are_obeyed() {
    let asked = json!({"do": "expect", "method": "session/request_permission", "holding": {
        "toolCall": {"toolCallId": "call", "kind": "execute", "title": "`touch a`"},
        "options": [{"kind": "allow_once"}, {"kind": "allow_always", "name": "Always allow Bash(touch:*) in this project"}, {"kind": "reject_once"}],
    }});
    let answer = |option: &str| {
        json!({"do": "answer", "method": "session/request_permission",
        "result": {"outcome": {"outcome": "selected", "optionId": option}}})
    };
    let refuse = json!({"do": "refuse", "method": "session/request_permission", "code": -32601});
    let ended = |status: &str| json!({"do": "expect", "method": "session/update", "holding": {"update": {"toolCallId": "call", "status": status}}});
    Bed::open()
        .play(json!([
            prompt(2, "ask"),
            asked,
            answer("allow-once"),
            ended("completed"),
            stops(2, "end_turn"),
            prompt(3, "ask"),
            asked,
            answer("reject-once"),
            ended("failed"),
            stops(3, "end_turn"),
            prompt(4, "ask"),
            asked,
            answer("whatever"),
            ended("failed"),
            stops(4, "end_turn"),
            prompt(5, "ask"),
            asked,
            refuse,
            ended("failed"),
            stops(5, "end_turn"),
        ]))
        .over();
}
