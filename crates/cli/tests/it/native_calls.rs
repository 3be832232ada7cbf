//! Calls of a chat stream, from the bytes of a server to what is settled: the codec and the native stage together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rail_model::{Assembler, CallId, Grammar, PartBody};
use rail_repair::{Catalog, Effect, NativeStage, Note, Stage, Step, Tool};
use rail_wire::{BodyKind, openai_chat};
use serde_json::{Value, json};

/// A name and arguments.
type Call = (&'static str, &'static str);

/// What is left to later steps, by case, and the calls that must come out of these two.
const LEFT: &[(&str, &str, &[Call])] = &[
    ("oa-reasoning-field", "empty arguments", &[("get_time", "")]),
    ("oa-name-functions-prefix", "a decorated name", &[("functions.list_dir", "{\"path\": \"fp\"}")]),
    ("oa-name-doubled", "a doubled name", &[("get_timeget_time", "{}")]),
    (
        "oa-args-double-encoded",
        "encoded twice",
        &[("read_file", "\"{\\\"file_path\\\": \\\"src/app.rs\\\", \\\"limit\\\": 30}\"")],
    ),
    ("oa-args-trailing-comma", "not quite JSON", &[("list_dir", "{\"path\": \"t\",}")]),
    ("oa-args-missing-brace-stop", "not closed", &[("read_file", "{\"file_path\": \"m.txt\"")]),
    ("oa-args-truncated-length", "cut", &[("write_file", "{\"file_path\": \"b\", \"content\": \"part")]),
    (
        "oa-args-truncated-string-mislabelled",
        "cut",
        &[("write_file", "{\"file_path\": \"b\", \"content\": \"part")],
    ),
    ("oa-args-truncated-missing-key-length", "cut", &[("write_file", "{\"file_path\": \"only.rs\"")]),
    (
        "oa-args-concatenated-distinct",
        "several calls",
        &[("list_dir", "{\"path\": \"c1\"}{\"path\": \"c2\"}")],
    ),
    ("oa-args-alias-params", "other names", &[("Read", "{\"filePath\": \"/z\"}")]),
    ("oa-content-hermes", "calls in text", &[]),
    ("oa-content-kimi-tokens", "calls in text", &[]),
    ("oa-content-think-tags", "reasoning in text", &[]),
    ("oa-reasoning-kimi-tokens", "calls in reasoning", &[]),
];

struct Answer {
    /// Names and arguments.
    calls: Vec<(String, String)>,
    ids: Vec<CallId>,
    words: String,
    reasoning: String,
    notes: Vec<Note>,
}

fn catalog(tools: &Value) -> Arc<Catalog> {
    let mut catalog = Catalog::default();
    for tool in tools.as_array().into_iter().flatten() {
        let name = tool["name"].as_str().unwrap().to_owned();
        let mut tool = Tool::new(name, tool.get("parameters").cloned());
        tool.effect = Effect::Reads;
        catalog.add(tool);
    }
    Arc::new(catalog)
}

/// The deltas as a server sends them.
fn sse(deltas: &[Value], finish: &str) -> Vec<u8> {
    let frame = |delta: &Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "choices": [choice]}))
    };
    let mut text: String = deltas.iter().map(|delta| frame(delta, Value::Null)).collect();
    text.push_str(&frame(&json!({}), json!(finish)));
    text.push_str("data: [DONE]\n\n");
    text.into_bytes()
}

fn run(deltas: &[Value], tools: &Value, finish: &str) -> Answer {
    let mut decoder = openai_chat::PROTOCOL.outbound.decoder(BodyKind::Stream);
    let (mut decoded, mut events) = (Vec::new(), Vec::new());
    decoder.push(&sse(deltas, finish), &mut decoded).unwrap();
    decoder.finish(&mut decoded).unwrap();
    let mut stage = NativeStage::new(catalog(tools));
    decoded.into_iter().for_each(|event| stage.event(event, &mut events));
    stage.finish(&mut events);
    let (mut grammar, mut assembler) = (Grammar::default(), Assembler::default());
    for event in events {
        grammar.accept(&event).unwrap();
        assembler.push(event);
    }
    grammar.end().unwrap();
    let mut answer = Answer {
        calls: Vec::new(),
        ids: Vec::new(),
        words: String::new(),
        reasoning: String::new(),
        notes: stage.notes(),
    };
    for part in assembler.finish().unwrap().unwrap().parts {
        match part.body {
            PartBody::ToolCall(call) => {
                answer.calls.push((call.name, call.arguments));
                answer.ids.push(call.id);
            }
            PartBody::Text(text) => answer.words.push_str(&text),
            PartBody::Thinking(text) => answer.reasoning.push_str(&text),
            other => panic!("{other:?}"),
        }
    }
    answer
}

fn distinct(ids: &[CallId], what: &str) {
    let distinct: BTreeSet<&str> = ids.iter().map(CallId::as_str).collect();
    assert!(distinct.len() == ids.len() && !distinct.contains(""), "{what}: {ids:?}");
}

fn cases() -> Vec<Value> {
    let text = include_str!("../../../repair/tests/corpus/cases.jsonl");
    let cases = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    cases.filter(|case| case["kind"] == "openai_stream").collect()
}

#[test]
fn every_case_of_a_native_stream_comes_out_or_is_left_to_a_later_step() {
    let left: BTreeMap<_, _> = LEFT.iter().map(|(id, _, calls)| (*id, *calls)).collect();
    let cases = cases();
    assert_eq!(cases.len(), 54);
    assert!(left.keys().all(|id| cases.iter().any(|case| case["id"] == *id)));
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let finish = case["options"]["finish_reason"].as_str().unwrap_or("tool_calls");
        let answer = run(case["chunks"].as_array().unwrap(), &case["tools"], finish);
        distinct(&answer.ids, id);
        if let Some(calls) = left.get(id) {
            let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
            assert_eq!(answer.calls, calls.iter().map(owned).collect::<Vec<_>>(), "{id}");
            continue;
        }
        let expect = &case["expect"];
        let calls: Vec<Value> = answer
            .calls
            .iter()
            .map(|(name, text)| json!({"name": name, "arguments": serde_json::from_str::<Value>(text).unwrap()}))
            .collect();
        let expected: Vec<Value> = expect["calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| json!({"name": call["name"], "arguments": call["arguments"]}))
            .collect();
        assert_eq!(calls, expected, "{id}");
        assert_eq!(answer.words, expect["content"].as_str().unwrap_or_default(), "{id}");
        assert_eq!(answer.reasoning, expect["reasoning"].as_str().unwrap_or_default(), "{id}");
    }
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
fn other_streams_of_the_same_kinds() {
    use Value::Null as N;
    let tools = json!([
        {"name": "list_dir", "parameters": {"properties": {"path": {}, "depth": {}}, "required": ["path"]}},
        {"name": "list", "parameters": {"properties": {"all": {}}, "required": ["all"]}},
        {"name": "get_time", "parameters": {"type": "object"}},
    ]);
    let a = |text: &str| json!(text);
    let e = |index: u64, id: &str, name: &str, text: &str| {
        let said = |text: &str| if text.is_empty() { N } else { json!(text) };
        entry(json!(index), said(id), said(name), json!(text))
    };
    let whole = r#"{"path":"p"}"#;
    type Row = (&'static str, Vec<Value>, &'static [&'static str], &'static [Step]);
    let table: Vec<Row> = vec![
        (
            "a name in pieces whose head has empty arguments",
            vec![e(0, "a", "list", ""), e(0, "", "_dir", ""), e(0, "", "", whole)],
            &[r#"list_dir {"path":"p"}"#],
            &[Step::Fragments],
        ),
        (
            "the same, with the id each time",
            vec![e(0, "a", "list", ""), e(0, "a", "_dir", ""), e(0, "a", "", whole)],
            &[r#"list_dir {"path":"p"}"#],
            &[Step::Fragments],
        ),
        (
            "a name that grows, with empty arguments",
            vec![e(0, "a", "get", ""), e(0, "a", "get_time", ""), e(0, "a", "get_time", "{}")],
            &["get_time {}"],
            &[Step::Fragments],
        ),
        (
            "a declared name that is the beginning of another",
            vec![e(0, "a", "list", ""), e(0, "", "", r#"{"all":1}"#)],
            &[r#"list {"all":1}"#],
            &[],
        ),
        (
            "a declared name is never overwritten",
            vec![
                entry(json!(0), a("a"), a("get_time"), N),
                entry(json!(0), N, a("tool"), N),
                e(0, "", "", "{}"),
            ],
            &["get_time {}"],
            &[Step::Fragments],
        ),
        (
            "two heads with ids are two calls",
            vec![e(0, "a", "list", ""), e(1, "b", "get_time", ""), e(0, "", "", r#"{"all":1}"#)],
            &[r#"list {"all":1}"#, "get_time "],
            &[],
        ),
        (
            "grown arguments, id and name each time",
            vec![
                e(0, "a", "list_dir", r#"{"pa"#),
                e(0, "a", "list_dir", r#"{"path":"#),
                e(0, "a", "list_dir", whole),
            ],
            &[r#"list_dir {"path":"p"}"#],
            &[Step::Fragments],
        ),
        (
            "grown arguments, name only",
            vec![
                entry(N, N, a("list_dir"), a(r#"{"pa"#)),
                entry(N, N, a("list_dir"), a(r#"{"path":"#)),
                entry(N, N, a("list_dir"), a(whole)),
                entry(N, N, a("list_dir"), a(whole)),
            ],
            &[r#"list_dir {"path":"p"}"#],
            &[Step::Fragments],
        ),
        (
            "an object that looks grown",
            vec![e(0, "a", "list_dir", r#"{"path":"#), e(0, "", "", r#"{"path":1}}"#)],
            &[r#"list_dir {"path":{"path":1}}"#],
            &[],
        ),
        (
            "the whole once more at the end, without a name",
            vec![e(0, "a", "list_dir", r#"{"path":"#), e(0, "", "", r#""p"}"#), e(0, "", "", whole)],
            &[r#"list_dir {"path":"p"}"#],
            &[Step::Fragments],
        ),
        (
            "an object holds the place",
            vec![
                entry(json!(0), a("a"), a("list_dir"), json!({})),
                e(0, "", "", r#"{"path""#),
                e(0, "", "", r#":"p"}"#),
            ],
            &[r#"list_dir {"path":"p"}"#],
            &[Step::Fragments],
        ),
        (
            "null holds the place",
            vec![e(0, "a", "list_dir", "null"), e(0, "", "", whole)],
            &[r#"list_dir {"path":"p"}"#],
            &[Step::Fragments],
        ),
        (
            "nothing, null and the word null pass",
            vec![
                entry(json!(0), a("a"), a("get_time"), N),
                json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "get_time", "arguments": null}}]}),
                e(2, "c", "get_time", "null"),
                e(3, "d", "get_time", ""),
            ],
            &["get_time ", "get_time ", "get_time null", "get_time "],
            &[],
        ),
        (
            "objects before the name",
            vec![
                entry(json!(0), a("a"), N, json!({"path": "p"})),
                entry(json!(0), N, N, json!({"depth": 2})),
                entry(json!(0), N, a("list_dir"), N),
            ],
            &[r#"list_dir {"path":"p","depth":2}"#],
            &[Step::Fragments],
        ),
        (
            "a list of calls said twice, one by one and without ids",
            vec![
                entry(N, N, a("list_dir"), a(whole)),
                entry(N, N, a("get_time"), a("{}")),
                entry(N, N, a("list_dir"), a(whole)),
                entry(N, N, a("get_time"), a("{}")),
            ],
            &[r#"list_dir {"path":"p"}"#, "get_time {}"],
            &[],
        ),
        (
            "a call said again in pieces",
            vec![
                entry(N, N, a("list_dir"), a(whole)),
                entry(N, N, a("list_dir"), a(r#"{"path":"#)),
                entry(N, N, N, a(r#""p"}"#)),
            ],
            &[r#"list_dir {"path":"p"}"#],
            &[],
        ),
        (
            "a closed call said again in pieces under its id",
            vec![
                e(0, "a", "list_dir", whole),
                e(1, "b", "get_time", "{}"),
                e(0, "a", "list_dir", r#"{"path":"#),
                e(0, "a", "", r#" "p"}"#),
            ],
            &[r#"list_dir {"path":"p"}"#, "get_time {}"],
            &[],
        ),
        (
            "two calls of one tool without ids",
            vec![
                entry(N, N, a("list_dir"), a(whole)),
                entry(N, N, a("list_dir"), a(r#"{"path":"#)),
                entry(N, N, N, a(r#""q"}"#)),
                json!({"content": "so"}),
            ],
            &[r#"list_dir {"path":"p"}"#, r#"list_dir {"path":"q"}"#],
            &[],
        ),
        (
            "a name that only one tool can have",
            vec![
                e(0, "a", "", r#"{"depth":1,"#),
                e(0, "", "", r#""path":"p"}"#),
                e(1, "b", "get_time", "{}"),
            ],
            // Its name may come as late as the end, so that is where it stands.
            &["get_time {}", r#"list_dir {"depth":1,"path":"p"}"#],
            &[Step::Inferred],
        ),
        (
            "a name that nobody has",
            vec![e(0, "a", "", r#"{"else":1}"#)],
            &[r#"unknown_tool {"else":1}"#],
            &[],
        ),
        (
            "no calls in many ways",
            vec![
                json!({"content": "a", "tool_calls": null}),
                json!({"content": "b", "tool_calls": []}),
                json!({"tool_calls": [{"index": 0, "function": null}]}),
            ],
            &[],
            &[],
        ),
        (
            "one call, not a list, with flat fields",
            vec![json!({"tool_calls": {"index": "0", "id": "a", "name": "list_dir", "arguments": whole}})],
            &[r#"list_dir {"path":"p"}"#],
            &[],
        ),
        (
            "several at once, by their place",
            vec![
                json!({"tool_calls": [{"function": {"name": "list_dir", "arguments": "{\"path\":"}}, {"function": {"name": "get_time", "arguments": ""}}]}),
                json!({"tool_calls": [{"function": {"arguments": "\"p\"}"}}, {"function": {"arguments": "{}"}}]}),
            ],
            &[r#"list_dir {"path":"p"}"#, "get_time {}"],
            &[],
        ),
    ];
    for (what, deltas, expected, steps) in table {
        let answer = run(&deltas, &tools, "tool_calls");
        let calls: Vec<String> = answer.calls.iter().map(|(name, text)| format!("{name} {text}")).collect();
        assert_eq!(calls, expected, "{what}");
        distinct(&answer.ids, what);
        let noted = answer.notes.iter().map(|note| match note {
            Note::Repaired { repair, .. } => repair.step,
            Note::Unknown { .. } | Note::Incomplete { .. } | Note::Invalid { .. } => panic!("{note:?}"),
        });
        assert_eq!(noted.collect::<Vec<_>>(), steps, "{what}");
    }
}
