//! Tasks of twenty turns: every protocol in every dialect.

use rail_model::{PartBody, Request};
use rail_testkit::{Asked, Turn, call, text};
use serde_json::{Value, json};

use super::{TaskBed, assert_valid};

const DIALECTS: [&str; 4] = ["native", "claude", "gemini", "codex"];

/// The names of the tools that write, read, edit and run, in a dialect.
fn names(dialect: &str) -> [&'static str; 4] {
    match dialect {
        "native" => ["write_file", "read_file", "edit_file", "bash"],
        "claude" => ["Write", "Read", "Edit", "Bash"],
        "gemini" => ["write_file", "read_file", "replace", "run_shell_command"],
        _ => ["apply_patch", "read_file", "apply_patch", "shell_command"],
    }
}

/// A task of 20 answers: files are written, read, edited, and looked at by a command.
fn task(dialect: &str) -> Vec<Turn> {
    let [write, read, edit, run] = names(dialect);
    let mut turns = Vec::new();
    for round in 0..5 {
        let file = format!("notes/{round}.txt");
        let patch = |lines: &str| json!({"input": format!("*** Begin Patch\n{lines}*** End Patch\n")});
        let (written, edited) = match dialect {
            "codex" => (
                patch(&format!("*** Add File: {file}\n+line {round}\n+last\n")),
                patch(&format!("*** Update File: {file}\n@@\n-line {round}\n+better {round}\n last\n")),
            ),
            _ => (
                json!({"file_path": file, "content": format!("line {round}\nlast\n")}),
                json!({"file_path": file, "old_string": format!("line {round}"), "new_string": format!("better {round}")}),
            ),
        };
        turns.push(Turn::reply(vec![text(format!("Round {round}.")), call(write, written)]));
        turns.push(Turn::reply(vec![call(read, json!({"file_path": file}))]));
        turns.push(Turn::reply(vec![call(edit, edited)]));
        if round < 4 {
            let look = call(run, json!({"command": format!("cat {file}")}));
            turns.push(Turn::reply(vec![look, call(read, json!({"file_path": file}))]));
        }
    }
    turns.push(Turn::reply(vec![text("All is done.")]));
    turns
}

/// A body without cache marks, which move on: its messages, and the rest of it.
fn split(asked: &Asked) -> (Vec<Value>, Value) {
    let mut body: Value = serde_json::from_slice(&asked.call.body).unwrap();
    unmarked(&mut body);
    let map = body.as_object_mut().unwrap();
    let key = ["messages", "input", "contents"].into_iter().find(|key| map.contains_key(*key)).unwrap();
    let Some(Value::Array(messages)) = map.remove(key) else { panic!("{body}") };
    (messages, body)
}

fn unmarked(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("cache_control");
            map.values_mut().for_each(unmarked);
        }
        Value::Array(list) => list.iter_mut().for_each(unmarked),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Each request says what the one before said, byte for byte, and more behind it.
fn assert_prefix(asked: &[Asked]) {
    for pair in asked.windows(2) {
        let [(before, head_before), (after, head)] = [split(&pair[0]), split(&pair[1])];
        assert_eq!(head_before.to_string(), head.to_string());
        assert!(after.len() > before.len());
        let written = |messages: &[Value]| messages.iter().map(Value::to_string).collect::<Vec<_>>();
        assert_eq!(written(&before), written(&after[..before.len()]));
    }
}

fn calls(request: &Request) -> Vec<String> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let name = |part: &rail_model::Part| match &part.body {
        PartBody::ToolCall(call) => Some(call.name.clone()),
        _ => None,
    };
    parts.filter_map(name).collect()
}

fn plays(protocol: &str) {
    for dialect in DIALECTS {
        let bed = TaskBed::new(task(dialect));
        let model = format!("{protocol},m");
        let result = bed.task(&["Write the notes.", "-m", &model, "--dialect", dialect], "");
        assert_eq!(
            (&result["result"], &result["num_turns"], &result["is_error"]),
            (&json!("All is done."), &json!(20), &json!(false)),
            "{dialect}"
        );
        assert_eq!(result["targets"], json!([model]));
        for round in 0..5 {
            let notes = bed.home.read(&format!("work/notes/{round}.txt"));
            assert_eq!(notes, format!("better {round}\nlast\n"), "{dialect}");
        }
        let asked = bed.models.requests();
        assert_eq!(asked.len(), 20, "{dialect}");
        assert!(asked.iter().all(|asked| asked.protocol.name() == protocol));
        assert_prefix(&asked);
        let requests = bed.requests();
        for request in &requests {
            assert_valid(request);
            for name in names(dialect) {
                assert!(request.tools.iter().any(|tool| tool.name == name), "{dialect}: {name}");
            }
        }
        let called = calls(requests.last().unwrap());
        assert_eq!(called.len(), 23, "{dialect}");
        assert!(called.iter().all(|name| names(dialect).contains(&name.as_str())), "{dialect}: {called:?}");
    }
}

#[test]
fn twenty_turns_on_anthropic_in_every_dialect() {
    plays("anthropic");
}

#[test]
fn twenty_turns_on_openai_chat_in_every_dialect() {
    plays("openai-chat");
}

#[test]
fn twenty_turns_on_openai_responses_in_every_dialect() {
    plays("openai-responses");
}

#[test]
fn twenty_turns_on_gemini_in_every_dialect() {
    plays("gemini");
}
