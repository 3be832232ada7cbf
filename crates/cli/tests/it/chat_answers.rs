//! Chat streams from the bytes of a server to settled calls: the codec and all stages together.

use std::sync::Arc;

use rail_model::{Assembler, Extras, Grammar, Json, PartBody, ToolDecl, ToolKind};
use rail_repair::{CallFault, Catalog, End, Note, Profile, Stage, settle, stages};
use rail_wire::{BodyKind, openai_chat};
use serde_json::{Value, json};

/// What an answer became.
#[derive(Clone, PartialEq, Debug, Default)]
struct Answer {
    content: String,
    reasoning: String,
    /// `name arguments`, with `?` before unknown names and `!` before calls that can't be run.
    calls: Vec<String>,
    values: Vec<Value>,
    incomplete: Vec<String>,
    stop: String,
}

fn tools(declared: &Value) -> Vec<ToolDecl> {
    let tool = |tool: &Value| ToolDecl {
        name: tool["name"].as_str().unwrap().to_owned(),
        description: None,
        kind: match tool.get("parameters") {
            Some(schema) => ToolKind::Function { parameters: Some(Json::from(schema)) },
            None => ToolKind::Custom { format: None },
        },
        strict: None,
        cache: None,
        extras: Extras::NONE,
    };
    declared.as_array().unwrap().iter().map(tool).collect()
}

/// The deltas as a server sends them.
fn sse(deltas: &[Value], finish: &str) -> Vec<u8> {
    let frame = |delta: &Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "choices": [choice]}))
    };
    let mut text: String = deltas.iter().map(|delta| frame(delta, Value::Null)).collect();
    if !finish.is_empty() {
        text.push_str(&frame(&json!({}), json!(finish)));
    }
    text.push_str("data: [DONE]\n\n");
    text.into_bytes()
}

fn run(deltas: &[Value], declared: &Value, profile: &Profile, finish: &str) -> Answer {
    let catalog = Arc::new(Catalog::new(&tools(declared)));
    let mut decoder = openai_chat::PROTOCOL.outbound.decoder(BodyKind::Stream);
    let (mut decoded, mut events) = (Vec::new(), Vec::new());
    decoder.push(&sse(deltas, finish), &mut decoded).unwrap();
    decoder.finish(&mut decoded).unwrap();
    let mut pipeline = stages(profile, &catalog);
    decoded.into_iter().for_each(|event| pipeline.event(event, &mut events));
    pipeline.finish(&mut events);
    let notes = pipeline.notes();
    let (mut grammar, mut assembler) = (Grammar::default(), Assembler::default());
    for event in events {
        grammar.accept(&event).unwrap();
        assembler.push(event);
    }
    grammar.end().unwrap();
    let reply = assembler.finish().unwrap().unwrap();
    let mut answer = Answer { stop: format!("{:?}", reply.stop), ..Answer::default() };
    let mut ids = Vec::new();
    for part in reply.parts {
        match part.body {
            PartBody::ToolCall(call) => {
                let id = call.id.as_str().to_owned();
                assert!(!id.is_empty() && !ids.contains(&id), "{id}");
                let cut = notes.iter().find_map(|note| match note {
                    Note::Incomplete { call, name } if *call == id => Some(name.clone()),
                    Note::Repaired { .. }
                    | Note::Unknown { .. }
                    | Note::Incomplete { .. }
                    | Note::Invalid { .. } => None,
                });
                ids.push(id);
                if let Some(name) = cut {
                    answer.incomplete.push(name);
                    continue;
                }
                let said = format!("{} {}", call.name, call.arguments);
                match settle(&call, &catalog, End::Closed) {
                    Ok(settled) => {
                        assert!(settled.repairs.is_empty(), "{said}: {:?}", settled.repairs);
                        answer.values.push(json!({"name": call.name, "arguments": settled.arguments}));
                        answer.calls.push(said);
                    }
                    Err(CallFault::Invalid { settled, .. }) => {
                        answer.values.push(json!({"name": call.name, "arguments": settled.arguments}));
                        answer.calls.push(format!("!{said}"));
                    }
                    Err(CallFault::Unknown { .. }) => {
                        let arguments =
                            serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
                        answer
                            .values
                            .push(json!({"name": call.name, "arguments": arguments, "unknown": true}));
                        answer.calls.push(format!("?{said}"));
                    }
                    Err(CallFault::Incomplete { .. } | CallFault::Malformed { .. }) => panic!("{said}"),
                }
            }
            PartBody::Text(text) => answer.content.push_str(&text),
            PartBody::Thinking(text) => answer.reasoning.push_str(&text),
            other => panic!("{other:?}"),
        }
    }
    answer
}

#[test]
fn every_case_of_a_stream_becomes_what_it_should() {
    let text = include_str!("../../../repair/tests/corpus/cases.jsonl");
    let cases = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut seen = 0;
    let mut wrong = Vec::new();
    for case in cases.filter(|case| case["kind"] == "openai_stream") {
        let finish = case["options"]["finish_reason"].as_str().unwrap_or("tool_calls");
        let answer = run(case["chunks"].as_array().unwrap(), &case["tools"], &Profile::default(), finish);
        let expect = &case["expect"];
        let incomplete = expect.get("incomplete").cloned().unwrap_or(json!([]));
        let said = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let got = (
            Value::from(answer.values),
            Value::from(answer.incomplete),
            said(&answer.content),
            said(&answer.reasoning),
        );
        let want = (
            expect["calls"].clone(),
            incomplete,
            said(expect["content"].as_str().unwrap_or_default()),
            said(expect["reasoning"].as_str().unwrap_or_default()),
        );
        if got != want {
            wrong.push(format!("{}\n  got {got:?}\n want {want:?}", case["id"]));
        }
        seen += 1;
    }
    assert_eq!(seen, 54);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn declared() -> Value {
    let string = json!({"type": "string"});
    json!([
        {"name": "list_dir", "parameters": {"type": "object", "properties": {"path": string, "recursive": {"type": "boolean"}}, "required": ["path"]}},
        {"name": "run_command", "parameters": {"type": "object", "properties": {"command": string, "timeout_ms": {"type": "integer"}}, "required": ["command"]}},
        {"name": "get_time", "parameters": {"type": "object", "properties": {}}},
        {"name": "apply_patch"}
    ])
}

/// One delta with one entry of `tool_calls`; `Null` fields are left out.
fn entry(index: Value, id: Value, name: Value, arguments: Value) -> Value {
    let said = |fields: Vec<(&str, Value)>| {
        let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
        Value::Object(fields.map(|(key, value)| (key.to_owned(), value)).collect())
    };
    let function = said(vec![("name", name), ("arguments", arguments)]);
    json!({"tool_calls": [said(vec![("index", index), ("id", id), ("function", function)])]})
}

#[test]
fn every_deviation_of_a_stream_is_mended_or_reported() {
    use Value::Null as N;
    let words = |text: &str| json!({"content": text});
    let hermes = r#"<tool_call>{"name": "list_dir", "arguments": {"path": "a"}}</tool_call>"#;
    let kimi = "<|tool_calls_section_begin|><|tool_call_begin|>functions.list_dir:0<|tool_call_argument_begin|>{\"path\": \"a\"}<|tool_call_end|><|tool_calls_section_end|>";
    let (a, b) = (r#"{"path":"a"}"#, r#"{"path":"b"}"#);
    let (list_a, list_b) = (r#"list_dir {"path":"a"}"#, r#"list_dir {"path":"b"}"#);
    let text_a = r#"list_dir {"path": "a"}"#;
    let list = |index: Value, id: Value, text: &str| entry(index, id, json!("list_dir"), json!(text));
    let part = |index: Value, text: &str| entry(index, N, N, json!(text));
    // What comes, how it ends, the calls, the cut ones, the words, and how it ends then.
    type Row<'r> = (Vec<Value>, &'r str, Vec<&'r str>, Vec<&'r str>, &'r str, &'r str);
    let table: Vec<Row<'_>> = vec![
        // No index, one index for all, heads and arguments apart.
        (
            vec![list(N, json!("x"), a), list(N, json!("y"), b)],
            "tool_calls",
            vec![list_a, list_b],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![list(json!(0), json!("x"), a), list(json!(0), json!("y"), b)],
            "tool_calls",
            vec![list_a, list_b],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![list(json!(0), json!("x"), a), list(json!(0), json!("y"), ""), part(json!(1), b)],
            "tool_calls",
            vec![list_a, list_b],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![list(json!(0), N, a), list(json!(1), N, b)],
            "stop",
            vec![list_a, list_b],
            vec![],
            "",
            "ToolUse",
        ),
        // Names.
        (
            vec![
                entry(json!(0), json!("x"), json!("list"), json!("")),
                entry(json!(0), N, json!("_dir"), json!(a)),
            ],
            "tool_calls",
            vec![list_a],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![entry(json!(0), json!("x"), json!("list_dir<|channel|>commentary"), json!(a))],
            "tool_calls",
            vec![list_a],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![entry(json!(0), json!("x"), json!("launch"), json!(a))],
            "tool_calls",
            vec![r#"?launch {"path":"a"}"#],
            vec![],
            "",
            "ToolUse",
        ),
        // Arguments.
        (
            vec![entry(json!(0), json!("x"), json!("list_dir"), json!({"path": "a"}))],
            "tool_calls",
            vec![list_a],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![list(json!(0), json!("x"), "{}"), part(json!(0), a)],
            "tool_calls",
            vec![list_a],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![list(json!(0), json!("x"), r#"{"path":"#), part(json!(0), r#"{"path":"a"}"#)],
            "tool_calls",
            vec![list_a],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![list(json!(0), json!("x"), &format!("{a}{b}"))],
            "tool_calls",
            vec![list_a, list_b],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![entry(json!(0), json!("x"), json!("get_time"), N)],
            "tool_calls",
            vec!["get_time {}"],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![entry(json!(0), json!("x"), json!("get_time"), json!("null"))],
            "tool_calls",
            vec!["get_time {}"],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![list(json!(0), json!("x"), r#"{"path": "a", "recursive": "True"}"#)],
            "tool_calls",
            vec![r#"list_dir {"path": "a","recursive":true}"#],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![list(json!(0), json!("x"), r#"{"recursive": 1}"#)],
            "tool_calls",
            vec![r#"!list_dir {"recursive": 1}"#],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![list(json!(0), json!("x"), a), list(json!(0), json!("x"), a)],
            "tool_calls",
            vec![list_a],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![json!({"function_call": {"name": "list_dir", "arguments": a}})],
            "function_call",
            vec![list_a],
            vec![],
            "",
            "ToolUse",
        ),
        // Cut, and said to be.
        (
            vec![entry(json!(0), json!("x"), json!("run_command"), json!(r#"{"command": "rm -rf /tmp"#))],
            "tool_calls",
            vec![],
            vec!["run_command"],
            "",
            "MaxTokens",
        ),
        (
            vec![entry(json!(0), json!("x"), json!("run_command"), json!(r#"{"command": "ls""#))],
            "stop",
            vec![],
            vec!["run_command"],
            "",
            "MaxTokens",
        ),
        (
            vec![list(json!(0), json!("x"), r#"{"path": "a""#)],
            "stop",
            vec![r#"list_dir {"path": "a"}"#],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![list(json!(0), json!("x"), r#"{"path": "a""#)],
            "length",
            vec![],
            vec!["list_dir"],
            "",
            "MaxTokens",
        ),
        (
            vec![
                list(json!(0), json!("x"), a),
                entry(json!(1), json!("y"), json!("run_command"), json!(r#"{"comm"#)),
            ],
            "length",
            vec![list_a],
            vec!["run_command"],
            "",
            "MaxTokens",
        ),
        // Calls in text, beside native ones or not.
        (vec![words("I look. "), words(hermes)], "stop", vec![text_a], vec![], "I look.", "ToolUse"),
        (vec![words(kimi)], "stop", vec![text_a], vec![], "", "ToolUse"),
        (
            vec![words(hermes), list(json!(0), json!("x"), a)],
            "tool_calls",
            vec![text_a],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![list(json!(0), json!("x"), a), words(hermes)],
            "tool_calls",
            vec![list_a],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![list(json!(0), json!("x"), b), words(kimi)],
            "tool_calls",
            vec![list_b, text_a],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![words("ok\n<｜DSML｜function_calls"), list(json!(0), json!("x"), a)],
            "tool_calls",
            vec![list_a],
            vec![],
            "ok",
            "ToolUse",
        ),
        (
            vec![json!({"reasoning_content": hermes}), list(json!(0), json!("x"), b)],
            "tool_calls",
            vec![list_b],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![json!({"reasoning_content": format!("so {kimi}")})],
            "stop",
            vec![text_a],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![words("<tool_call>\n<function=run_command>\n<parameter=command>\nls\n</parameter>\n")],
            "stop",
            vec![],
            vec!["run_command"],
            "",
            "MaxTokens",
        ),
        // Free text.
        (
            vec![entry(json!(0), json!("x"), json!("apply_patch"), json!(r#"{"input": "*** a\n"}"#))],
            "tool_calls",
            vec!["apply_patch *** a\n"],
            vec![],
            "",
            "ToolUse",
        ),
        (
            vec![words(r#"<tool_call>{"name": "apply_patch", "arguments": {"input": "*** a"}}</tool_call>"#)],
            "stop",
            vec!["apply_patch *** a"],
            vec![],
            "",
            "ToolUse",
        ),
    ];
    for (deltas, finish, calls, incomplete, content, stop) in table {
        let got = run(&deltas, &declared(), &Profile::default(), finish);
        let what = Value::from(deltas).to_string();
        assert_eq!(got.calls, calls, "{what}");
        assert_eq!(
            (got.incomplete, got.content.trim(), got.stop.as_str()),
            (incomplete.iter().map(|name| (*name).to_owned()).collect(), content, stop),
            "{what}"
        );
    }
}

#[test]
fn entities_of_a_server_that_escapes_are_decoded() {
    let escaped = entry(
        json!(0),
        json!("x"),
        json!("run_command"),
        json!(r#"{"command": "a &amp;&amp; b &gt; &quot;c&quot;"}"#),
    );
    let profile = Profile { escapes_entities: true, ..Profile::default() };
    let got = run(std::slice::from_ref(&escaped), &declared(), &profile, "tool_calls");
    assert_eq!(got.calls, [r#"run_command {"command": "a && b > \"c\""}"#]);
    let got = run(&[escaped], &declared(), &Profile::default(), "tool_calls");
    assert_eq!(got.calls, [r#"run_command {"command": "a &amp;&amp; b &gt; &quot;c&quot;"}"#]);
}
