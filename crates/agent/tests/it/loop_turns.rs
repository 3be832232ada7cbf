//! Tasks of twenty turns: every protocol in every dialect, with real tools, and what goes out each time.

use rail_model::{PartBody, ToolCall};
use rail_proto::{Command, Reason};
use rail_testkit::{Asked, Turn, call, text};
use serde_json::{Value, json};

use crate::loop_bed::{Bed, PROTOCOLS, assert_valid, texts};

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
        let (written, edited) = match dialect {
            "codex" => (
                json!({"input": format!("*** Begin Patch\n*** Add File: {file}\n+line {round}\n+last\n*** End Patch\n")}),
                json!({"input": format!("*** Begin Patch\n*** Update File: {file}\n@@\n-line {round}\n+better {round}\n last\n*** End Patch\n")}),
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
            let both = vec![
                call(run, json!({"command": format!("cat {file}")})),
                call(read, json!({"file_path": file})),
            ];
            turns.push(Turn::reply(both));
        }
    }
    turns.push(Turn::reply(vec![text("All is done.")]));
    turns
}

/// What stays the same of a body from one request to the next: all that stands before the end of the messages.
fn body(asked: &Asked) -> Value {
    let mut body: Value = serde_json::from_slice(&asked.call.body).unwrap();
    unmarked(&mut body);
    body
}

/// The same without cache marks, which move on.
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

/// The messages of a body, and the body without them.
fn split(mut body: Value) -> (Vec<Value>, Value) {
    let map = body.as_object_mut().unwrap();
    let key = ["messages", "input", "contents"].into_iter().find(|key| map.contains_key(*key)).unwrap();
    let Some(Value::Array(messages)) = map.remove(key) else { panic!("{body}") };
    (messages, body)
}

/// Each request says what the one before said, and more behind it.
fn assert_prefix(asked: &[Asked]) {
    for pair in asked.windows(2) {
        let [(before, head_before), (after, head)] = [&pair[0], &pair[1]].map(|asked| split(body(asked)));
        assert_eq!(head_before, head);
        assert!(after.len() > before.len());
        assert_eq!(before, after[..before.len()]);
    }
}

fn calls(request: &rail_model::Request) -> Vec<ToolCall> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let calls = parts
        .filter_map(|part| if let PartBody::ToolCall(call) = &part.body { Some(call.clone()) } else { None });
    calls.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_turns_in_every_protocol_and_dialect() {
    for protocol in PROTOCOLS {
        for dialect in DIALECTS {
            let mut bed = Bed::new(task(dialect));
            bed.provider = protocol;
            bed.config = format!("[agent]\ndialect = \"{dialect}\"\n");
            let mut talk = bed.open();
            let done = talk.ask("Write the notes.").await;
            assert_eq!(
                (done.reason, done.text.as_str(), done.turns),
                (Reason::Answered, "All is done.", 20),
                "{protocol} {dialect}: {:#?}",
                talk.seen
            );
            assert!(
                talk.results().iter().all(|(success, _)| *success),
                "{protocol} {dialect}: {:#?}",
                talk.results()
            );
            talk.end().await;
            for round in 0..5 {
                assert_eq!(
                    bed.read(&format!("notes/{round}.txt")),
                    format!("better {round}\nlast\n"),
                    "{protocol} {dialect}"
                );
            }
            let asked = bed.models.requests();
            assert_eq!(asked.len(), 20);
            assert!(asked.iter().all(|asked| asked.protocol.name() == protocol));
            assert_prefix(&asked);
            for request in bed.requests() {
                assert_valid(&request);
                for name in names(dialect) {
                    assert!(request.tools.iter().any(|tool| tool.name == name), "{dialect}: {name}");
                }
            }
            let last = bed.last();
            assert_eq!(calls(&last).len(), 23);
            assert!(
                calls(&last).iter().all(|call| names(dialect).contains(&call.name.as_str())),
                "{protocol} {dialect}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_changes_in_mid_session_between_any_two_protocols() {
    let mut script = Vec::new();
    let all = PROTOCOLS.iter().flat_map(|from| PROTOCOLS.iter().map(move |to| (*from, *to)));
    let pairs: Vec<_> = all.filter(|(from, to)| from != to).collect();
    for (number, (from, to)) in pairs.iter().enumerate() {
        for name in [from, to] {
            let thought = rail_testkit::thinking("Hm.", Some("c2lnbmVk"));
            script.push(Turn::reply(vec![
                thought,
                text("I look."),
                call("bash", json!({"command": format!("echo {name} {number}")})),
                call("read_file", json!({"file_path": "a.txt"})),
            ]));
            script.push(Turn::reply(vec![text(format!("I am {name}."))]));
        }
    }
    let bed = Bed::new(script);
    bed.write("a.txt", "here\n");
    let mut talk = bed.open();
    for (from, to) in &pairs {
        for name in [from, to] {
            talk.send(Command::SetModel(format!("{name},m")));
            let done = talk.ask("Who are you?").await;
            assert_eq!((done.reason, done.text), (Reason::Answered, format!("I am {name}.")));
            let asked = bed.models.requests();
            assert_eq!(asked.last().unwrap().protocol.name(), *name);
        }
    }
    talk.end().await;
    let requests = bed.requests();
    requests.iter().for_each(assert_valid);
    let last = texts(requests.last().unwrap()).join("\n");
    for (from, to) in pairs {
        assert!(last.contains(&format!("I am {from}.")) && last.contains(&format!("=> {to} ")), "{last}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn images_in_the_prompt_and_in_results_reach_every_protocol() {
    /// One red dot.
    const PNG: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
    use base64::Engine as _;
    for protocol in PROTOCOLS {
        let script = vec![
            Turn::reply(vec![call("read_file", json!({"file_path": "dot.png"}))]),
            Turn::reply(vec![text("Two dots.")]),
        ];
        let mut bed = Bed::new(script);
        bed.provider = protocol;
        std::fs::write(
            bed.work().join("dot.png"),
            base64::engine::general_purpose::STANDARD.decode(PNG).unwrap(),
        )
        .unwrap();
        let mut talk = bed.open();
        let parts = vec![text("What is this?"), rail_testkit::image("image/png", PNG)];
        talk.send(Command::Submit(rail_proto::Prompt { id: None, parts }));
        assert_eq!(talk.done().await.text, "Two dots.", "{protocol}: {:#?}", talk.seen);
        talk.end().await;
        let last = bed.last();
        assert_valid(&last);
        let body = String::from_utf8(bed.models.requests().pop().unwrap().call.body.to_vec()).unwrap();
        assert_eq!(body.matches("iVBORw0KGgo").count(), 2, "{protocol}: {body}");
    }
}
