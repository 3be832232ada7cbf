//! How sessions begin, go on and end, and what is told of them.

use rail_proto::{Command, Mode};
use serde_json::{Value, json};

use crate::bed::{Bed, prompt};

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"do": "request", "id": id, "method": method, "params": params})
}

#[test]
fn what_was_said_is_told_before_the_answer() {
    let mut bed = Bed::begun().play(json!([
        request(1, "session/load", json!({"sessionId": "old", "cwd": "/", "mcpServers": []})),
        {"do": "await", "id": 1, "holding": {"result": {"modes": {"currentModeId": "default"}}}},
    ]));
    bed.client.play_script(&json!([{"do": "expect", "method": "session/update", "holding": {"update": {"sessionUpdate": "available_commands_update"}}}])).unwrap();
    let transcript = bed.client.transcript();
    let place = |word: &str| transcript.find(word).unwrap_or_else(|| panic!("{word}: {transcript}"));
    assert!(place("user_message_chunk") < place("agent_message_chunk"));
    assert!(place("agent_message_chunk") < place("currentModeId"));
    assert!(place("currentModeId") < place("available_commands_update"));
    bed.over();
}

#[test]
fn a_session_that_is_open_begins_anew() {
    let load = |id: i64| request(id, "session/resume", json!({"sessionId": "old", "cwd": "/"}));
    let say = |id: i64, text: &str| {
        request(id, "session/prompt", json!({"sessionId": "old", "prompt": [{"type": "text", "text": text}]}))
    };
    Bed::begun()
        .play(json!([
            load(1), {"do": "await", "id": 1}, say(2, "hang"), load(3),
            {"do": "await", "id": 2, "holding": {"result": {"stopReason": "cancelled"}}}, {"do": "await", "id": 3},
            say(4, "hi"), {"do": "await", "id": 4, "holding": {"result": {"stopReason": "end_turn"}}},
        ]))
        .over();
}

#[test]
fn what_can_not_be_opened_anew_stays_open() {
    let again = |id: i64, method: &str| {
        request(id, method, json!({"sessionId": "${session}", "cwd": "/wrong", "mcpServers": []}))
    };
    let mut bed = Bed::open().play(json!([prompt(2, "hang")]));
    for (id, method) in [(3, "session/load"), (4, "session/resume")] {
        bed = bed.play(
            json!([again(id, method), {"do": "await", "id": id, "holding": {"error": {"code": -32602}}}]),
        );
    }
    bed.play(json!([
        {"do": "notify", "method": "session/cancel", "params": {"sessionId": "${session}"}},
        {"do": "await", "id": 2, "holding": {"result": {"stopReason": "cancelled"}}},
        prompt(5, "hi"), {"do": "await", "id": 5, "holding": {"result": {"stopReason": "end_turn"}}},
    ]))
    .over();
}

#[test]
fn an_open_session_is_ended_before_it_is_deleted() {
    Bed::open()
        .play(json!([
            prompt(2, "hang"), request(3, "session/delete", json!({"sessionId": "${session}"})),
            {"do": "await", "id": 2, "holding": {"result": {"stopReason": "cancelled"}}},
            {"do": "await", "id": 3, "holding": {"result": {}}},
        ]))
        .over();
}

#[test]
fn modes_and_models_are_chosen() {
    let host = Bed::open()
        .play(json!([
            request(2, "session/set_mode", json!({"sessionId": "${session}", "modeId": "plan"})),
            {"do": "await", "id": 2, "holding": {"result": {}}},
            {"do": "expect", "method": "session/update", "holding": {"update": {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}}},
            request(3, "session/set_config_option", json!({"sessionId": "${session}", "configId": "model", "value": "one,big"})),
            {"do": "await", "id": 3, "holding": {"result": {"configOptions": [{"id": "mode", "currentValue": "plan"}, {"id": "model", "currentValue": "one,big"}]}}},
            {"do": "expect", "method": "session/update", "holding": {"update": {"sessionUpdate": "config_option_update",
                "configOptions": [{"id": "model", "currentValue": "one,big"}]}}},
            request(4, "session/set_config_option", json!({"sessionId": "${session}", "configId": "mode", "value": "accept-edits"})),
            {"do": "await", "id": 4, "holding": {"result": {"configOptions": [{"id": "mode", "currentValue": "accept-edits"}]}}},
        ]))
        .over();
    let commands = host.commands.lock().unwrap();
    let expected = [
        Command::SetMode(Mode::Plan),
        Command::SetModel("one,big".to_owned()),
        Command::SetMode(Mode::AcceptEdits),
    ];
    assert_eq!(commands[..3], expected);
}

#[test]
fn sessions_are_listed() {
    Bed::begun()
        .play(json!([
            request(1, "session/list", json!({"cwd": "/"})),
            {"do": "await", "id": 1, "holding": {"result": {"sessions": [{"sessionId": "a", "cwd": "/", "updatedAt": "1970-01-01T00:00:00.000Z"}]}}},
        ]))
        .over();
}
