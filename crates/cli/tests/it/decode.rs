//! `rail debug decode`, from the command line to the object.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::{rail, start};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../repair/tests/corpus/cases.jsonl")
}

/// A file of its own for each test.
fn scratch(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn list_dir() -> Value {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    json!([{"name": "list_dir", "parameters": schema}])
}

#[test]
fn cases_become_objects() {
    let cases = [
        json!({"id": "plain", "kind": "text", "chunks": ["a < b", " and c"], "tools": list_dir()}),
        json!({
            "id": "call", "kind": "text", "tools": list_dir(),
            "chunks": ["<think>hm</think>Here.\n<tool_", "call>{\"name\": \"list_dir\", \"arguments\": ",
                "{\"path\": \".\"}}</tool_call>"],
        }),
        json!({"id": "no-tools", "kind": "text", "chunks": ["<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"]}),
        json!({
            "id": "unknown", "kind": "text", "tools": list_dir(),
            "chunks": ["<tool_call>{\"name\": \"warp_drive\", \"arguments\": {\"speed\": 9}}</tool_call>"],
        }),
        json!({
            "id": "cut", "kind": "text", "tools": list_dir(), "options": {"finish_reason": "length"},
            "chunks": ["<tool_call>{\"name\": \"list_dir\", \"arguments\": {\"path\": \"sr"],
        }),
        json!({
            "id": "prefilled", "kind": "text", "tools": [], "options": {"starts_in_reasoning": true},
            "chunks": ["so</think>yes"],
        }),
        json!({
            "id": "native", "kind": "openai_stream", "tools": list_dir(),
            "chunks": [
                {"reasoning_content": "look"},
                {"content": "On it."},
                {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "list_dir", "arguments": "{\"path\""}}]},
                {"tool_calls": [{"index": 0, "function": {"arguments": ": \"src\"}"}}]},
            ],
        }),
    ];
    let text: Vec<String> = cases.iter().map(Value::to_string).collect();
    let output = rail(&["debug", "decode", "--cases", "-"], text.join("\n").as_bytes());
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    let object = |id: &str,
                  content: &str,
                  reasoning: &str,
                  calls: Value,
                  incomplete: Value,
                  repairs: Value| {
        json!({
            "id": id, "content": content, "reasoning": reasoning, "calls": calls, "incomplete": incomplete,
            "repairs": repairs,
        })
    };
    let none = || json!([]);
    let found = |place: &str| json!([{"step": "found:hermes", "path": place}]);
    let markup = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    let expected = [
        object("plain", "a < b and c", "", none(), none(), none()),
        object(
            "call",
            "Here.",
            "hm",
            json!([{"id": "rail_7a90e83ba4a9_t0", "name": "list_dir", "arguments": {"path": "."}}]),
            none(),
            found("calls[0]"),
        ),
        object("no-tools", markup, "", none(), none(), none()),
        object(
            "unknown",
            "",
            "",
            json!([{"id": "rail_65c7bd1f3959_t0", "name": "warp_drive", "arguments": {"speed": 9}, "unknown": true}]),
            none(),
            found("calls[0]"),
        ),
        object("cut", "", "", none(), json!(["list_dir"]), none()),
        object("prefilled", "yes", "so", none(), none(), none()),
        object(
            "native",
            "On it.",
            "look",
            json!([{"id": "c1", "name": "list_dir", "arguments": {"path": "src"}}]),
            none(),
            none(),
        ),
    ];
    assert_eq!(lines(&output), expected);
}

#[test]
fn the_bytes_of_a_case_say_the_same_as_its_chunks() {
    let file = corpus();
    let file = file.to_str().unwrap();
    let [chunks, bytes] =
        [&["debug", "decode", "--cases", file][..], &["debug", "decode", "--cases", file, "--bytes"]]
            .map(|args| rail(args, b""));
    assert_eq!((chunks.status.code(), stderr(&chunks)), (Some(0), ""));
    assert_eq!(lines(&bytes), lines(&chunks));
    // Without the flag the bytes are not looked at; with it nothing else is.
    let case = json!({"id": "b", "kind": "text", "chunks": ["chunks"], "bytes_b64": ["5Y", "Y=", "iIc="]});
    let output = rail(&["debug", "decode", "--cases", "-", "--bytes"], case.to_string().as_bytes());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let case =
        json!({"id": "b", "kind": "text", "chunks": ["chunks"], "bytes_b64": ["5Q==", "iIc=", "/w=="]});
    let output = rail(&["debug", "decode", "--cases", "-", "--bytes"], case.to_string().as_bytes());
    assert_eq!(lines(&output)[0]["content"], "切\u{fffd}");
}

#[test]
fn a_bad_case_is_named_and_the_others_are_decoded() {
    let bad = r#"{"id": 3}
{"id": "a", "kind": "text", "chunks": ["fine", 7]}
{"id": "a", "kind": "verse", "chunks": []}
{"id": "a", "chunks": []}
[]
{"id": "a", "kind": "text", "chunks": []

{"id": "a", "kind": "text", "chunks": [], "tools": [{"description": "d"}]}
{"id": "a", "kind": "text", "chunks": [], "options": {"prompted": 1}}
{"id": "a", "kind": "openai_stream", "chunks": [{"content": "x"}, 4]}
{"id": "good", "kind": "text", "chunks": ["fine"]}
"#;
    let file = scratch("bad.jsonl", bad);
    let output = rail(&["debug", "decode", "--cases", &file], b"");
    assert_eq!(output.status.code(), Some(1));
    let said = [
        ":1: id: a string is expected, not 3",
        ":2: chunks[1]: a string is expected",
        ":3: kind: `text` or `openai_stream` is expected, not `verse`",
        ":4: kind is missing; it is `text` or `openai_stream`",
        ":5: a case is an object",
        ":6: EOF while parsing an object at line 1 column 40",
        ":8: tools[0]: `name` is missing",
        ":9: options.prompted: true or false is expected, not 1",
        ":10: chunks[1]: a chunk is a string or an object",
    ];
    let mut said: Vec<String> = said.iter().map(|what| format!("rail: {file}{what}")).collect();
    said.push("rail: 9 cases could not be decoded\n".to_owned());
    assert_eq!(stderr(&output), said.join("\n"));
    assert_eq!(lines(&output).iter().map(|line| &line["id"]).collect::<Vec<_>>(), ["good"]);
}

#[test]
fn wrong_arguments_exit_2() {
    let not_tools = scratch("not-tools.json", "{\"name\": \"f\"}");
    let no_json = scratch("no-json.json", "[");
    for (args, said) in [
        (&[][..], "<--cases <FILE>|--tools <FILE>>"),
        (&["--cases", "no/such/file"], "rail: no/such/file: No such file or directory"),
        (&["--tools", "no/such/file"], "rail: no/such/file: No such file or directory"),
        (&["--tools", &not_tools], "not-tools.json: a list of tools is expected"),
        (&["--tools", &no_json], "no-json.json: EOF while parsing a list"),
        (&["--cases", "-", "--tools", "x"], "cannot be used with"),
        (&["--cases", "-", "--events"], "cannot be used with"),
    ] {
        let output = rail(&[&["debug", "decode"][..], args].concat(), b"");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        assert!(stderr(&output).contains(said), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn tools_are_read_in_every_spelling() {
    let schema = json!({"type": "object", "properties": {}});
    let entries = [
        json!({"name": "f"}),
        json!({"name": "f", "parameters": schema}),
        json!({"type": "function", "name": "f", "parameters": schema}),
        json!({"type": "function", "function": {"name": "f", "parameters": schema}}),
        json!({"name": "f", "input_schema": schema}),
        json!({"name": "f", "parametersJsonSchema": schema}),
        json!({"functionDeclarations": [{"name": "other"}, {"name": "f", "parameters": {"type": "OBJECT"}}]}),
    ];
    let text = b"{\"name\": \"f\", \"arguments\": {}}";
    for (at, entry) in entries.iter().enumerate() {
        for file in [json!([entry]), json!({"model": "m", "tools": [entry]})] {
            let file = scratch(&format!("tools-{at}.json"), &file.to_string());
            let output = rail(&["debug", "decode", "--tools", &file], text);
            let calls = json!([{"id": "rail_0cad53eda57d_t0", "name": "f", "arguments": {}}]);
            assert_eq!(lines(&output)[0]["calls"], calls, "{entry}: {}", stderr(&output));
        }
    }
}

/// A line that should be there by now and is not will never come.
const PATIENCE: Duration = Duration::from_secs(60);

/// The lines of a stream as they come, so that a test can stop waiting for one.
fn lines_of(stream: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            if line.is_err() || send.send(line.unwrap()).is_err() {
                return;
            }
        }
    });
    lines
}

#[test]
fn text_is_decoded_as_it_arrives() {
    let tools = scratch("tools-live.json", &list_dir().to_string());
    let mut child = start(&["debug", "decode", "--tools", &tools, "--events"]);
    let mut model = child.stdin.take().unwrap();
    let shown = lines_of(child.stdout.take().unwrap());
    let next = || serde_json::from_str::<Value>(&shown.recv_timeout(PATIENCE).unwrap()).unwrap();
    // Half a character and half a marker are held, the rest is shown at once.
    model.write_all(b"Fine \xe5\x88").unwrap();
    model.flush().unwrap();
    assert_eq!(next(), json!({"event": "started", "id": "stdin", "model": null}));
    assert_eq!(next(), json!({"event": "opened", "at": 0, "part": "text"}));
    assert_eq!(next(), json!({"event": "delta", "at": 0, "text": "Fine"}));
    model.write_all(b"\x87\xff <tool_").unwrap();
    model.flush().unwrap();
    assert_eq!(next(), json!({"event": "delta", "at": 0, "text": " 切\u{fffd}"}));
    model
        .write_all(b"call>{\"name\": \"list_dir\", \"arguments\": {\"path\": \".\"}}</tool_call>\xe5")
        .unwrap();
    drop(model);
    let id = "rail_0cad53eda57d_t0";
    let rest = [
        json!({"event": "closed", "at": 0}),
        json!({"event": "opened", "at": 1, "part": "call", "id": id, "name": "list_dir"}),
        json!({"event": "delta", "at": 1, "arguments": "{\"path\": \"."}),
        json!({"event": "delta", "at": 1, "arguments": "\"}"}),
        json!({"event": "closed", "at": 1}),
        json!({"note": "repaired", "call": id, "step": "found:hermes", "path": ""}),
        json!({"event": "opened", "at": 2, "part": "text"}),
        json!({"event": "delta", "at": 2, "text": "\u{fffd}"}),
        json!({"event": "closed", "at": 2}),
        json!({"event": "finished", "stop": "tool_use"}),
        json!({
            "id": "stdin", "content": "Fine 切\u{fffd}\n\u{fffd}", "reasoning": "",
            "calls": [{"id": id, "name": "list_dir", "arguments": {"path": "."}}],
            "incomplete": [], "repairs": [{"step": "found:hermes", "path": "calls[0]"}],
        }),
    ];
    for line in rest {
        assert_eq!(next(), line);
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_readme_example_becomes_a_call() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let answer = fs::read(examples.join("leaked-call.txt")).unwrap();
    let tools = examples.join("tools.json");
    let output = rail(&["debug", "decode", "--tools", tools.to_str().unwrap()], &answer);
    let arguments = json!({"file_path": "src/main.rs", "limit": 40});
    assert_eq!(
        lines(&output),
        [json!({
            "id": "stdin", "content": "Let me look at it.", "reasoning": "The user wants the top of the file.",
            "calls": [{"id": "rail_0cad53eda57d_t0", "name": "read_file", "arguments": arguments}],
            "incomplete": [], "repairs": [{"step": "found:hermes", "path": "calls[0]"}],
        })]
    );
}

#[test]
fn lines_are_strings_deltas_or_chunks() {
    let tools = scratch("tools-lines.json", &list_dir().to_string());
    let decode = |input: &str, more: &[&str]| {
        rail(&[&["debug", "decode", "--tools", &tools, "--json-lines"], more].concat(), input.as_bytes())
    };
    let strings = decode("\"Wel\"\n\"come\"\n", &[]);
    assert_eq!(lines(&strings)[0]["content"], "Welcome");
    let stream = "\
: a comment
data: {\"id\": \"x\", \"choices\": [{\"index\": 0, \"delta\": {\"role\": \"assistant\", \"content\": \"Go.\"}}]}

data: {\"choices\": [{\"index\": 0, \"delta\": {\"tool_calls\": [{\"index\": 0, \"id\": \"c1\", \"function\": {\"name\": \"list_dir\", \"arguments\": \"{}\"}}]}}]}

data: {\"choices\": [{\"index\": 0, \"delta\": {}, \"finish_reason\": \"tool_calls\"}]}
data: [DONE]
";
    let output = decode(stream, &[]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    assert_eq!(
        lines(&output),
        [json!({
            "id": "stdin", "content": "Go.", "reasoning": "",
            "calls": [{"id": "c1", "name": "list_dir", "arguments": {}}], "incomplete": [], "repairs": [],
        })]
    );
    let broken = decode("\"kept\"\n{\"content\": \n", &[]);
    assert_eq!(broken.status.code(), Some(1));
    assert_eq!(stderr(&broken), "rail: stdin:2: EOF while parsing a value at line 1 column 11\n");
    assert_eq!(lines(&broken)[0]["content"], "kept");
    let failed = decode("\"kept\"\n{\"error\": {\"message\": \"out of memory\"}}\n", &[]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(stderr(&failed).contains("out of memory"), "{failed:?}");
    assert_eq!(lines(&failed)[0]["content"], "kept");
    let cut = decode(
        "{\"tool_calls\": [{\"id\": \"c\", \"function\": {\"name\": \"list_dir\", \"arguments\": \"{\\\"pa\"}}]}",
        &["--finish", "length"],
    );
    assert_eq!(lines(&cut)[0]["incomplete"], json!(["list_dir"]));
}

/// Every case of the corpus through the real binary, by the corpus's own rules of comparison.
#[test]
fn every_case_becomes_what_it_should() {
    let output = rail(&["debug", "decode", "--cases", corpus().to_str().unwrap()], b"");
    let cases = fs::read_to_string(corpus()).unwrap();
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let got = lines(&output);
    assert_eq!(got.len(), cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .zip(&got)
        .filter_map(|(case, got)| Some(format!("{}: {}", case["id"], difference(case, got)?)))
        .collect();
    assert!(wrong.is_empty(), "{} cases are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn difference(case: &Value, got: &Value) -> Option<String> {
    let expect = &case["expect"];
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (calls, incomplete) = (list(&expect["calls"]), list(&expect["incomplete"]));
    let without_id = |call: &Value| {
        let mut call = call.clone();
        call.as_object_mut().unwrap().shift_remove("id");
        call
    };
    let got_calls: Vec<Value> = list(&got["calls"]).iter().map(without_id).collect();
    if !same(&json!(got_calls), &json!(calls)) || got["incomplete"] != json!(incomplete) {
        return Some(format!("got {got}, expected {expect}"));
    }
    let mut ids: Vec<&str> =
        got["calls"].as_array().unwrap().iter().map(|call| call["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() != calls.len() || ids.contains(&"") {
        return Some(format!("ids {}", got["calls"]));
    }
    let words =
        |value: &Value| value.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let is_stripped = list(&case["tags"]).contains(&json!("strip"));
    let untouched = calls.is_empty() && incomplete.is_empty() && words(&expect["reasoning"]).is_empty();
    let right = if untouched && !is_stripped && case["kind"] == "text" {
        let text: String =
            list(&case["chunks"]).iter().map(|chunk| chunk.as_str().unwrap().to_owned()).collect();
        got["content"] == text && got["reasoning"] == ""
    } else {
        ["content", "reasoning"].iter().all(|key| words(&got[key]) == words(&expect[key]))
    };
    (!right).then(|| format!("got {got}, expected {expect}"))
}

/// Equal as JSON, with 1 equal to 1.0.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

#[test]
fn mappings_of_a_user_are_added() {
    let tools = scratch("tools-mapped.json", &list_dir().to_string());
    let mapping =
        "[[tools]]\nname = \"peek\"\nnative = \"list_directory\"\nunderstood = { place = \"path\" }\n";
    let mapping = scratch("mapping.toml", mapping);
    let said = r#"<tool_call>{"name": "peek", "arguments": {"place": "src"}}</tool_call>"#;
    let decode =
        |more: &[&str]| rail(&[&["debug", "decode", "--tools", &tools], more].concat(), said.as_bytes());
    let calls = |output: &Output| lines(output)[0]["calls"].clone();
    let plain = calls(&decode(&[]));
    assert_eq!(plain[0]["unknown"], true, "{plain}");
    let mapped = calls(&decode(&["--mapping", &mapping]));
    assert_eq!((&mapped[0]["name"], &mapped[0]["arguments"]), (&json!("list_dir"), &json!({"path": "src"})));
    let wrong = decode(&["--mapping", "nobody"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&wrong.stderr).contains("lm-studio-qwen"),
        "it names those that there are"
    );
}
