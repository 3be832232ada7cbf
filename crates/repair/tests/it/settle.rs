use proptest::prelude::*;
use rail_model::{CallId, CallKind, ToolCall};
use rail_repair::{CallFault, Catalog, Effect, End, Settled, Tool, settle};
use serde_json::{Value, json};

pub(crate) fn tool(name: &str, effect: Effect, schema: Value) -> Tool {
    let mut tool = Tool::new(name, Some(schema));
    tool.effect = effect;
    tool
}

/// The tools that most tests call.
pub(crate) fn catalog() -> Catalog {
    let mut catalog = Catalog::default();
    catalog.add(tool(
        "list_dir",
        Effect::Reads,
        json!({"type": "object", "properties": {"path": {"type": "string"}, "recursive": {"type": "boolean"}, "depth": {"type": "integer"}}, "required": ["path"]}),
    ));
    catalog.add(tool(
        "run_command",
        Effect::Acts,
        json!({"type": "object", "properties": {"command": {"type": "string"}, "timeout_ms": {"type": "integer"}}, "required": ["command"]}),
    ));
    catalog.add(tool("get_time", Effect::Reads, json!({"type": "object", "properties": {}})));
    catalog.add(tool(
        "todo_write",
        Effect::Acts,
        json!({"type": "object", "properties": {"items": {"type": "array", "items": {"type": "object", "properties": {
            "text": {"type": "string"}, "done": {"type": "boolean"}, "note": {"type": ["string", "null"]},
        }, "required": ["text"]}}, "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["items"]}),
    ));
    let mut patch = Tool::new("patch", None);
    patch.free_text = true;
    catalog.add(patch);
    catalog.add(Tool::new("anything", None));
    catalog
}

pub(crate) fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId::Given("c1".to_owned()),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        kind: CallKind::Function,
    }
}

/// The arguments and repairs of a call that settles, or what is said of one that does not.
fn settled(name: &str, arguments: &str, end: End) -> (String, Vec<String>) {
    let said = |settled: &Settled| {
        settled.repairs.iter().map(|repair| format!("{} {}", repair.step, repair.path)).collect::<Vec<_>>()
    };
    match settle(&call(name, arguments), &catalog(), end) {
        Ok(done) => (done.call.arguments.clone(), said(&done)),
        Err(fault) => (fault.to_string(), Vec::new()),
    }
}

#[track_caller]
fn check(name: &str, arguments: &str, expected: &str, repairs: &[&str]) {
    assert_eq!(
        settled(name, arguments, End::Closed),
        (expected.to_owned(), repairs.iter().map(|&one| one.to_owned()).collect()),
        "{name} {arguments}"
    );
}

#[test]
fn what_is_right_keeps_its_bytes() {
    for text in [
        "{\"path\": \"a\"}",
        " { \"path\" : \"\\u0061\", \"depth\":1e0 }\n",
        "{\"path\": \"C:\\new\"}",
        "{\"path\": \"a\\\\nb\"}",
        "{\"path\": \"x\", \"unknown\": null}",
    ] {
        check("list_dir", text, text, &[]);
    }
}

#[test]
fn every_wrapping_comes_off() {
    let path = "{\"path\":\"x\"}";
    let unwrapped: &[&str] = &["unwrapped arguments"];
    check("list_dir", "\"{\\\"path\\\": \\\"x\\\"}\"", path, unwrapped);
    check("list_dir", &json!(json!(path).to_string()).to_string(), path, unwrapped);
    check("list_dir", "```json\n{\"path\": \"x\"}\n```", path, unwrapped);
    check("list_dir", &json!("```json\n{\"path\": \"x\"}\n```").to_string(), path, unwrapped);
    check("list_dir", "[{\"path\": \"x\"}]", path, unwrapped);
    for key in ["arguments", "input", "parameters", "args", "properties"] {
        check("list_dir", &json!({key: {"path": "x"}}).to_string(), path, unwrapped);
        check("list_dir", &json!({key: {"arguments": "{\"path\": \"x\"}"}}).to_string(), path, unwrapped);
    }
    check("list_dir", "\"src\"", "{\"path\":\"src\"}", &["unwrapped arguments.path"]);
    check("list_dir", "src/lib.rs", "{\"path\":\"src/lib.rs\"}", &["unwrapped arguments.path"]);
    check("list_dir", "{}{\"path\": \"x\"}", path, &["fragments arguments"]);
    check("list_dir", "{\"path\": \"x\"}{\"path\": \"x\"}", path, &["fragments arguments"]);
    for nothing in
        ["null", "\"\"", "[]", "\"{}\"", "\"null\"", "```\n```", "{\"arguments\": {}}", "{\"input\": null}"]
    {
        check("get_time", nothing, "{}", unwrapped);
    }
    check("get_time", "", "{}", &[]);
    check("get_time", " \n", "{}", &[]);
}

#[test]
fn what_a_schema_declares_or_does_not_list_is_not_unwrapped() {
    check("anything", "{\"input\": {\"a\": 1}}", "{\"input\": {\"a\": 1}}", &[]);
    let mut catalog = Catalog::default();
    catalog.add(tool("t", Effect::Reads, json!({"properties": {"input": {"type": "object"}}})));
    let done = settle(&call("t", "{\"input\": {\"a\": 1}}"), &catalog, End::Closed).unwrap();
    assert_eq!((done.call.arguments.as_str(), done.repairs.len()), ("{\"input\": {\"a\": 1}}", 0));
}

#[test]
fn defects_and_types_are_mended_together() {
    check(
        "list_dir",
        "{'path': 'x', 'recursive': True, 'depth': '2',}",
        "{\"path\":\"x\",\"recursive\":true,\"depth\":2}",
        &["tolerant arguments", "coerced arguments.depth"],
    );
    check("list_dir", "{\"path\": \"x\"}}", "{\"path\":\"x\"}", &["tolerant arguments"]);
    check(
        "list_dir",
        "{\"input\": {\"path\": \"x\"}, \"depth\": null}",
        "{\"path\":\"x\"}",
        &["dropped arguments.depth", "unwrapped arguments"],
    );
    check(
        "todo_write",
        "{\"items\": \"[{'text': 1, 'done': 'true'}]\", \"tags\": \"a\"}",
        "{\"items\":[{\"text\":\"1\",\"done\":true}],\"tags\":[\"a\"]}",
        &[
            "coerced arguments.items",
            "coerced arguments.items[0].text",
            "coerced arguments.items[0].done",
            "coerced arguments.tags",
        ],
    );
}

#[test]
fn a_cut_call_is_never_completed() {
    const CUT: &str = "was cut off";
    let table: &[(&str, &str, [&str; 3])] = &[
        // What the model closed, what just ended, what the limit cut.
        ("list_dir", "{\"path\": \"x", [CUT, CUT, CUT]),
        ("list_dir", "{\"path\": \"x\"", ["{\"path\":\"x\"}", "{\"path\":\"x\"}", CUT]),
        ("list_dir", "{\"path\": \"x\",", [CUT, CUT, CUT]),
        ("list_dir", "{\"path\": \"x\", \"depth\":", [CUT, CUT, CUT]),
        ("run_command", "{\"command\": \"x\"", ["{\"command\":\"x\"}", CUT, CUT]),
        ("run_command", "{\"command\": \"rm -rf /tmp", [CUT, CUT, CUT]),
        (
            "run_command",
            "{\"command\": \"ls\"}",
            ["{\"command\": \"ls\"}", "{\"command\": \"ls\"}", "{\"command\": \"ls\"}"],
        ),
        ("run_command", "ls -la", ["{\"command\":\"ls -la\"}", CUT, CUT]),
        ("list_dir", "src", ["{\"path\":\"src\"}", "{\"path\":\"src\"}", CUT]),
    ];
    for (name, arguments, expected) in table {
        for (end, expected) in [End::Closed, End::Stopped, End::Cut].into_iter().zip(expected) {
            let (said, _) = settled(name, arguments, end);
            let right = if *expected == CUT { said.contains(CUT) } else { said == *expected };
            assert!(right, "{name} {arguments} {end:?}: {said}");
        }
    }
    assert_eq!(settled("list_dir", "{\"path\": \"x\"", End::Stopped).1, ["closed arguments"]);
}

#[test]
fn what_cannot_be_run_says_what_to_do() {
    let table = [
        (
            "list_dir",
            "{\"path\": 1} x",
            "the arguments of `list_dir` are not a JSON object: text follows the value at byte 11; send the call again with valid JSON",
        ),
        (
            "list_dir",
            "{\"path\": \"a\"}{\"path\": \"b\"}",
            "the arguments of `list_dir` are not a JSON object: they hold several objects; send a separate call for each; send the call again with valid JSON",
        ),
        (
            "todo_write",
            "42",
            "the arguments of `todo_write` are not a JSON object: an object is expected, with a member for each parameter; send the call again with valid JSON",
        ),
        (
            "list_dir",
            "{\"path\": \"a\", \"depth\": \"ten\"}",
            "the arguments of `list_dir` do not fit: `depth` is a string, but must be an integer",
        ),
        (
            "list_dir",
            "{\"depth\": null}",
            "the arguments of `list_dir` do not fit: `path` is missing and must be a string",
        ),
        ("nope", "{}", "there is no tool `nope`; call one of the declared tools"),
    ];
    for (name, arguments, expected) in table {
        assert_eq!(settled(name, arguments, End::Closed), (expected.to_owned(), Vec::new()));
    }
    let fault = settle(&call("list_dir", "{\"depth\": null}"), &catalog(), End::Closed).unwrap_err();
    let CallFault::Invalid { settled, .. } = fault else { panic!("{fault:?}") };
    assert_eq!(
        (settled.call.arguments.as_str(), settled.repairs.len()),
        ("{}", 1),
        "the mended call is kept"
    );
}

#[test]
fn words_that_name_their_parameter_are_not_its_value() {
    for words in ["command=\"rm -rf /\"", "(command='ls')", " command : ls"] {
        let (said, _) = settled("run_command", words, End::Closed);
        assert!(said.starts_with("the arguments of `run_command` are not a JSON object"), "{words}: {said}");
    }
    check("run_command", "ls command=x", r#"{"command":"ls command=x"}"#, &["unwrapped arguments.command"]);
}

#[test]
fn free_text_is_nobodys_to_mend() {
    let text = "*** Begin Patch\n{'a': 1,}";
    let done = settle(&call("patch", text), &catalog(), End::Stopped).unwrap();
    assert_eq!((done.call.arguments.as_str(), done.arguments, done.repairs), (text, json!(text), vec![]));
}

#[test]
fn only_an_object_around_free_text_shows_that_it_is_whole() {
    const CUT: &str = "was cut off";
    let table: &[(&str, [&str; 3])] = &[
        // What the model closed, what just ended, what the limit cut.
        ("{\"input\": \"a\"}", ["a", "a", "a"]),
        ("\"{\\\"input\\\": \\\"a\\\"}\"", ["a", "a", "a"]),
        ("a", ["a", "a", CUT]),
        // It may be the beginning of a text that begins with a quote.
        ("\"use strict\"", ["use strict", "use strict", CUT]),
        ("\"{i?nput_tokens\"\n", ["{i?nput_tokens", "{i?nput_tokens", CUT]),
    ];
    for (text, expected) in table {
        for (end, expected) in [End::Closed, End::Stopped, End::Cut].into_iter().zip(expected) {
            let (said, _) = settled("patch", text, end);
            let right = if *expected == CUT { said.contains(CUT) } else { said == *expected };
            assert!(right, "{text} {end:?}: {said}");
            if let Ok(done) = settle(&call("patch", text), &catalog(), end) {
                let again = settle(&done.call, &catalog(), End::Closed).unwrap();
                assert_eq!((again.call, again.repairs), (done.call, vec![]), "{text} {end:?}");
            }
        }
    }
}

#[test]
fn deep_arguments_need_no_call_stack() {
    let nested = |depth: usize| format!("{{\"a\": {}1{}}}", "[".repeat(depth), "]".repeat(depth));
    for depth in [130, 511] {
        let done = settle(&call("anything", &nested(depth)), &catalog(), End::Closed).unwrap();
        assert_eq!(done.call.arguments, nested(depth));
    }
    assert!(settle(&call("anything", &nested(100_000)), &catalog(), End::Closed).is_err());
    let deep = nested(200);
    let mut encoded = deep.clone();
    for _ in 0..3 {
        encoded = json!(encoded).to_string();
    }
    assert!(settle(&call("anything", &encoded), &catalog(), End::Closed).is_ok());
}

/// Arguments that are nearly what some tool asks for.
pub(crate) fn near_arguments() -> impl Strategy<Value = String> {
    let pieces = vec![
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        ",",
        ":",
        "\\",
        "\n",
        " ",
        "\"path\": ",
        "\"depth\": ",
        "\"command\": ",
        "\"items\": ",
        "\"text\": ",
        "\"tags\": ",
        "\"input\": ",
        "\"x\"",
        "\"2\"",
        "'y'",
        "null",
        "True",
        "3",
        "{\"path\": \"a\"",
        "\"a \\n b\"",
        "\\u00e9",
        "\"C:\\new\"",
        "\"[1]\"",
        "\"{}\"",
        "```json\n",
        "\n```",
        "// c\n",
        "é",
        "say \"hi\" ",
        "\", \"command\": \"",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..16).prop_map(|pieces| pieces.concat())
}

pub(crate) fn near_object() -> impl Strategy<Value = String> {
    let keys = vec![
        "path",
        "depth",
        "recursive",
        "command",
        "timeout_ms",
        "items",
        "tags",
        "input",
        "arguments",
        "other",
    ];
    let values = vec![
        "\"x\"",
        "\"2\"",
        "2",
        "2.5",
        "null",
        "true",
        "\"false\"",
        "[]",
        "{}",
        "\"[\\\"a\\\"]\"",
        "[{\"text\": 1, \"note\": 2}]",
        "\"[{'text': 'a',}]\"",
        "{\"path\": \"q\"}",
        "\"{\\\"path\\\": 1}\"",
        "'s'",
        "None",
        "\"a\\\\b\\n\\u00e9\"",
        "\"\\d\"",
        "\"C:\\temp\"",
        "\"say \"hi\" now\"",
        "word",
    ];
    let member = (prop::sample::select(keys), prop::sample::select(values));
    prop::collection::vec(member, 0..5).prop_map(|members| {
        let members: Vec<String> = members.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
        format!("{{{}}}", members.join(", "))
    })
}

pub(crate) const TOOLS: [&str; 6] =
    ["list_dir", "run_command", "get_time", "todo_write", "anything", "patch"];

pub(crate) fn end() -> impl Strategy<Value = End> {
    prop::sample::select(vec![End::Closed, End::Stopped, End::Cut])
}

proptest! {
    #[test]
    fn a_settled_call_settles_to_itself(
        text in prop_oneof![near_arguments(), near_object(), any::<String>()],
        name in prop::sample::select(TOOLS.to_vec()),
        end in end(),
    ) {
        let catalog = catalog();
        let (done, fits) = match settle(&call(name, &text), &catalog, end) {
            Ok(done) => (done, true),
            Err(CallFault::Invalid { settled, .. }) => (*settled, false),
            Err(CallFault::Unknown { .. } | CallFault::Incomplete { .. } | CallFault::Malformed { .. }) => return Ok(()),
        };
        for end in [End::Closed, End::Stopped, End::Cut] {
            let again = match settle(&done.call, &catalog, end) {
                Err(CallFault::Incomplete { .. }) if name == "patch" && end == End::Cut => continue,
                Ok(again) if fits => again,
                Err(CallFault::Invalid { settled, .. }) if !fits => *settled,
                other => panic!("{done:?} became {other:?}"),
            };
            prop_assert_eq!(&again.call, &done.call);
            prop_assert_eq!(&again.arguments, &done.arguments);
            prop_assert_eq!(again.repairs, vec![]);
        }
        if name != "patch" {
            let read: Value = serde_json::from_str(&done.call.arguments).unwrap();
            prop_assert_eq!(&read, &done.arguments, "the text says what the value is");
        }
    }

    #[test]
    fn strict_arguments_without_a_schema_are_never_changed(value in "\\{\"[a-z]{1,4}\": ?\"[^\"\\\\\\x00-\\x1f]{0,10}\"\\}") {
        let done = settle(&call("anything", &value), &catalog(), End::Closed).unwrap();
        prop_assert_eq!((done.call.arguments, done.repairs), (value, vec![]));
    }
}
