//! The recorded answers of a real weak model, from the server's bytes to calls: every call found, none invented.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::process::rail;

/// Each recorded answer as a case for `rail debug decode`, with what a careful reader sees in it.
fn answers() -> Vec<(Value, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../repair/tests/cassettes");
    let files = fs::read_dir(folder).unwrap().flat_map(|model| fs::read_dir(model.unwrap().path()).unwrap());
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    files
        .iter()
        .map(read)
        .flat_map(|cassette: Value| [of(&cassette, "whole"), of(&cassette, "stream")])
        .collect()
}

fn of(cassette: &Value, way: &str) -> (Value, Value) {
    let (chunks, finish) = match &cassette[way] {
        Value::Array(pieces) => deltas(pieces),
        // The codec takes a whole answer where a chunk should be, and with it the end.
        whole => (vec![whole.clone()], Value::Null),
    };
    let declared =
        cassette["request"]["tools"].as_array().into_iter().flatten().map(|tool| tool["function"].clone());
    let tools: Vec<Value> =
        declared.chain(cassette["tools"].as_array().into_iter().flatten().cloned()).collect();
    let expect = [format!("expect_{way}"), "expect".to_owned()];
    let expect = expect.iter().find_map(|key| cassette.get(key)).cloned().unwrap_or_default();
    let id = format!("{} {way}", cassette["id"].as_str().unwrap());
    let options = json!({"finish_reason": finish, "prompted": cassette["prompted"] == true});
    (json!({"id": id, "kind": "openai_stream", "chunks": chunks, "tools": tools, "options": options}), expect)
}

/// The deltas of a stream, and why it ended.
fn deltas(pieces: &[Value]) -> (Vec<Value>, Value) {
    let choices: Vec<&Value> = pieces.iter().filter_map(|piece| piece.pointer("/choices/0")).collect();
    let finish = choices.iter().map(|choice| &choice["finish_reason"]).rfind(|reason| reason.is_string());
    (choices.iter().map(|choice| choice["delta"].clone()).collect(), finish.cloned().unwrap_or_default())
}

#[test]
fn every_call_of_a_real_weak_model_is_found_and_none_invented() {
    let answers = answers();
    assert!(answers.len() >= 80, "{} answers", answers.len());
    let cases: Vec<String> = answers.iter().map(|(case, _)| case.to_string()).collect();
    let output = rail(&["debug", "decode", "--cases", "-"], cases.join("\n").as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let decoded: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(decoded.len(), answers.len());
    let wrong: Vec<String> =
        decoded.iter().zip(&answers).filter_map(|(got, (case, want))| differs(got, case, want)).collect();
    assert!(
        wrong.is_empty(),
        "{} of {} answers are read wrongly:\n{}",
        wrong.len(),
        answers.len(),
        wrong.join("\n")
    );
}

fn differs(got: &Value, case: &Value, want: &Value) -> Option<String> {
    let plain = |call: &Value| json!({"name": call["name"], "arguments": call["arguments"]});
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let calls: Vec<Value> = list(&got["calls"]).iter().map(plain).collect();
    let content = got["content"].as_str().unwrap_or_default();
    let kept = list(&want["content_contains"]).iter().all(|text| content.contains(text.as_str().unwrap()));
    let same = calls == list(&want["calls"]) && list(&got["incomplete"]) == list(&want["incomplete"]) && kept;
    (!same).then(|| format!("{}\n   got {got}\n  want {want}\n  from {}", case["id"], case["chunks"]))
}
