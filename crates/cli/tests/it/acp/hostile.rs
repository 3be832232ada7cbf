//! Clients that die, never answer, or say nothing that makes sense: no process is left, and nothing but the protocol is on stdout.

use std::time::{Duration, Instant};

use rail_testkit::{Turn, call, text};
use serde_json::json;

use super::{Editor, allow, prompt, stops, update};

/// How long a process that was started may take to be gone.
const GONE: Duration = Duration::from_secs(10);

#[test]
fn a_client_that_dies_while_a_command_runs_leaves_nothing() {
    let editor = Editor::open(
        vec![Turn::reply(vec![call("bash", json!({"command": "echo $$ > pid; sleep 600"}))])],
        &json!({}),
    );
    let running = update(json!({"sessionUpdate": "tool_call", "kind": "execute"}));
    let editor = editor.play(&json!([prompt(1, "Sleep."), running, allow()]));
    let file = editor.home.path("work/pid");
    let began = now();
    while std::fs::read_to_string(&file).unwrap_or_default().trim().is_empty() {
        assert!(now().duration_since(began) < GONE, "the command did not begin");
        std::thread::yield_now();
    }
    let pid = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    editor.over();
    let began = now();
    while std::path::Path::new("/proc").join(&pid).exists() {
        assert!(now().duration_since(began) < GONE, "the command is left: {pid}");
        std::thread::yield_now();
    }
}

#[test]
fn a_client_that_never_answers_can_still_leave() {
    let editor =
        Editor::open(vec![Turn::reply(vec![call("bash", json!({"command": "touch a"}))])], &json!({}));
    let asked = json!({"do": "expect", "method": "session/request_permission"});
    let (_, home, _) = editor.play(&json!([prompt(1, "Touch."), asked])).over();
    assert!(!home.path("work/a").exists());
}

#[test]
fn nonsense_harms_nothing() {
    let editor = Editor::open(vec![Turn::reply(vec![text("Still here.")])], &json!({}));
    let (said, _, _) = editor
        .play(&json!([
            {"do": "raw", "line": "nonsense"}, {"do": "await", "id": null, "holding": {"error": {"code": -32700}}},
            {"do": "request", "id": 3, "method": "session/fork", "params": {}}, {"do": "await", "id": 3, "holding": {"error": {"code": -32601}}},
            {"do": "request", "id": 4, "method": "session/load", "params": {"sessionId": "../../etc", "cwd": "${work}", "mcpServers": []}},
            {"do": "await", "id": 4, "holding": {"error": {"code": -32002}}},
            {"do": "request", "id": 5, "method": "session/new", "params": {"cwd": "${work}/none", "mcpServers": []}},
            {"do": "await", "id": 5, "holding": {"error": {"code": -32602}}},
            prompt(1, "Are you there?"), update(json!({"sessionUpdate": "agent_message_chunk"})), stops(1, "end_turn"),
        ]))
        .over();
    assert_eq!(said, "");
}

#[expect(clippy::disallowed_methods, reason = "a process of the system is waited for, and not for ever")]
fn now() -> Instant {
    Instant::now()
}
