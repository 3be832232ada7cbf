//! The official Claude Agent SDKs with `rail` as their program: two tasks in one session, with a permission callback, a hook and a
//! tool of the program's own, on a scripted model.

use std::path::Path;
use std::process::Output;

use rail_model::ProtocolId;
use rail_testkit::judges::{Language, judge_of};
use rail_testkit::{Models, Turn, call, text};
use serde_json::{Value, json};

use crate::home::Home;

#[test]
fn python_agent_sdk() {
    plays(Language::Python, "agent.py", include_str!("../judges/requirements.txt"));
}

#[test]
fn node_agent_sdk() {
    plays(Language::Node, "agent.mjs", include_str!("../judges/package.json"));
}

fn plays(language: Language, script: &str, list: &str) {
    let Some(judge) = judge_of(language, list, Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let models = Models::start(vec![
        Turn::reply(vec![call("mcp__calc__add", json!({"a": 2, "b": 3}))]),
        Turn::reply(vec![call("Bash", json!({"command": "echo one > made.txt"}))]),
        Turn::reply(vec![text("It is 5.")]),
        Turn::reply(vec![call("Bash", json!({"command": "rm made.txt"}))]),
        Turn::reply(vec![text("I left it.")]),
    ]);
    let models = models.unwrap();
    let home = Home::with(&configuration(&models));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges").join(script);
    let mut command = judge.command(&script);
    command.arg(env!("CARGO_BIN_EXE_rail")).arg(home.path("work")).arg(judge.folder());
    command.envs(home.variables()).current_dir(home.path("work"));
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let seen: Vec<Value> =
        stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    sees_all(&seen);
    // What the callback made of the command is what was done, and what it denied was not.
    assert_eq!(home.read("work/made.txt"), "two\n");
    let requests = models.requests();
    let first = requests[0].request().unwrap();
    assert!(first.tools.iter().any(|tool| tool.name == "mcp__calc__add"));
    let system = serde_json::to_string(&first.system).unwrap();
    assert!(system.contains("You are tested."), "{system}");
    assert_eq!(requests.len(), 5);
}

pub(crate) fn configuration(models: &Models) -> String {
    format!(
        "[providers.one]\nprotocol = \"anthropic\"\nbase_url = \"{}\"\nkey = \"k\"\nmodels = [\"big\"]\n[router]\ndefault = \"one,big\"\n",
        models.base_url(ProtocolId::new("anthropic"))
    )
}

/// The callbacks and the messages, in an order of their own each.
fn sees_all(seen: &[Value]) {
    let with = |key: &str| -> Vec<&Value> { seen.iter().filter(|line| line.get(key).is_some()).collect() };
    assert_eq!(
        with("system")[0],
        &json!({"system": "init", "servers": [{"name": "calc", "status": "connected"}], "tool": true})
    );
    assert_eq!(with("ran"), [&json!({"ran": "add", "arguments": {"a": 2, "b": 3}})]);
    let asked: Vec<(&Value, &Value)> =
        with("asked").iter().map(|line| (&line["asked"], &line["input"]["command"])).collect();
    assert_eq!(
        asked,
        [(&json!("Bash"), &json!("echo one > made.txt")), (&json!("Bash"), &json!("rm made.txt"))]
    );
    assert!(with("asked")[0]["suggestions"].as_u64().is_some_and(|count| count > 0));
    assert_eq!(with("hook"), [&json!({"hook": "PreToolUse", "tool": "Bash"}); 2]);
    let results: Vec<&Value> = with("user").iter().map(|line| &line["user"][0]).collect();
    assert_eq!(results[0], &json!({"result": "5", "failed": false}));
    assert_eq!(results[1]["failed"], false);
    assert_eq!(results[2]["failed"], true);
    assert!(results[2]["result"].as_str().unwrap().contains("keep it"), "{}", results[2]);
    let calls: Vec<&Value> = with("assistant")
        .iter()
        .map(|line| &line["assistant"][0]["call"])
        .filter(|call| !call.is_null())
        .collect();
    assert_eq!(calls, ["mcp__calc__add", "Bash", "Bash"]);
    assert_eq!(
        with("done"),
        [
            &json!({"done": "success", "error": false, "turns": 3, "text": "It is 5.", "denied": []}),
            &json!({"done": "success", "error": false, "turns": 2, "text": "I left it.", "denied": ["Bash"]}),
        ]
    );
}
