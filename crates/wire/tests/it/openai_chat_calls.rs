//! OpenAI Chat: the calls of a stream.

use rail_model::{CallId, Delta, Event, Part, PartBody, PartKind, mark};
use rail_wire::BodyKind;
use rail_wire::openai_chat::PROTOCOL;
use serde_json::{Value, json};

use crate::corpus::{events, write_answer};

/// Calls as `name id arguments`, from deltas as a server sends them.
fn calls(deltas: Value) -> Vec<String> {
    let mut sse = String::new();
    for calls in deltas.as_array().unwrap() {
        let chunk = json!({"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": calls}}]});
        sse.push_str(&format!("data: {chunk}\n\n"));
    }
    sse.push_str("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n");
    let mut assembler = rail_model::Assembler::default();
    events(&PROTOCOL, BodyKind::Stream, sse.as_bytes())
        .unwrap()
        .into_iter()
        .for_each(|event| assembler.push(event));
    assembler.parts().iter().map(told).collect()
}

fn told(part: &Part) -> String {
    match &part.body {
        PartBody::ToolCall(call) => {
            let id = if matches!(call.id, CallId::Minted(_)) { "-" } else { call.id.as_str() };
            format!("{} {id} {}", call.name, call.arguments)
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn trap_28_pieces_find_their_call() {
    let f = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    let args = |arguments: &str| json!({"arguments": arguments});
    let table: &[(&str, Value, &[&str])] = &[
        (
            "same index, other ids",
            json!([[{"index": 0, "id": "a", "function": f("x", "{\"p\":")}], [{"index": 0, "function": args("1}")}], [{"index": 0, "id": "b", "function": f("x", "{}")}]]),
            &["x a {\"p\":1}", "x b {}"],
        ),
        (
            "same index, no ids",
            json!([[{"index": 0, "function": f("x", "{\"p\":1}")}], [{"index": 0, "function": f("x", "{\"p\":2}")}]]),
            &["x - {\"p\":1}", "x - {\"p\":2}"],
        ),
        (
            "no index",
            json!([[{"id": "a", "function": f("x", "{}")}], [{"id": "b", "function": f("y", "")}], [{"function": args("{}")}]]),
            &["x a {}", "y b {}"],
        ),
        (
            "nothing but names",
            json!([[{"function": f("x", "{\"p\":")}], [{"function": args("1}")}], [{"function": f("y", "{}")}]]),
            &["x - {\"p\":1}", "y - {}"],
        ),
        (
            "several at once without index",
            json!([[{"function": f("x", "{}")}, {"function": f("x", "{}")}]]),
            &["x - {}", "x - {}"],
        ),
        (
            "index as text",
            json!([[{"index": "0", "id": "a", "function": f("x", "")}], [{"index": "0", "function": args("{}")}]]),
            &["x a {}"],
        ),
        (
            "interleaved",
            json!([[{"index": 0, "id": "a", "function": f("x", "")}, {"index": 1, "id": "b", "function": f("y", "")}], [{"index": 1, "function": args("{\"q")}], [{"index": 0, "function": args("{}")}], [{"index": 1, "function": args("\":1}")}]]),
            &["x a {}", "y b {\"q\":1}"],
        ),
        (
            "arguments under another index",
            json!([[{"index": 0, "id": "a", "function": f("x", "{}")}], [{"index": 0, "id": "b", "function": f("y", "")}], [{"index": 1, "function": args("{\"q\":1}")}]]),
            &["x a {}", "y b {\"q\":1}"],
        ),
        (
            "id changes all the time",
            json!([[{"index": 0, "id": "a", "function": f("x", "{\"p\"")}], [{"index": 0, "id": "b", "function": args(":1}")}]]),
            &["x a {\"p\":1}"],
        ),
        (
            "late id",
            json!([[{"index": 0, "function": f("x", "")}], [{"index": 0, "id": "a", "function": args("{}")}]]),
            &["x a {}"],
        ),
        (
            "name in pieces",
            json!([[{"index": 0, "id": "a", "function": {"name": "re"}}], [{"index": 0, "function": {"name": "ad"}}], [{"index": 0, "function": args("{}")}]]),
            &["read a {}"],
        ),
        (
            "name grows",
            json!([[{"index": 0, "id": "a", "function": {"name": "re"}}], [{"index": 0, "function": f("read", "")}], [{"index": 0, "function": args("{}")}]]),
            &["read a {}"],
        ),
        (
            "name every time",
            json!([[{"index": 0, "id": "a", "function": f("x", "{\"p\"")}], [{"index": 0, "function": f("x", ":1}")}]]),
            &["x a {\"p\":1}"],
        ),
        (
            "said twice",
            json!([[{"index": 0, "id": "a", "function": f("x", "{\"p\":1}")}], [{"index": 0, "id": "a", "function": f("x", "{\"p\":1}")}]]),
            &["x a {\"p\":1}"],
        ),
        (
            "phantom",
            json!([[{"index": 0, "id": "a", "function": f("x", "{}")}], [{"index": 1}], [{"index": 1, "function": args("")}]]),
            &["x a {}"],
        ),
        (
            "one object, not a list",
            json!([{"index": 0, "id": "a", "name": "x", "arguments": {"p": 1}}]),
            &["x a {\"p\":1}"],
        ),
        (
            "two bare heads at one index",
            json!([[{"index": 0, "function": f("x", "")}], [{"index": 0, "function": f("y", "")}]]),
            &["x - ", "y - "],
        ),
    ];
    for (what, deltas, expected) in table {
        assert_eq!(calls(deltas.clone()), *expected, "{what}");
    }
}

/// The order in which parts begin and end, with the frame in which they do.
fn spans(frames: &[Value]) -> Vec<String> {
    let mut decoder = PROTOCOL.outbound.decoder(BodyKind::Stream);
    let mut list = Vec::new();
    for (frame, value) in frames.iter().enumerate() {
        let mut out = Vec::new();
        decoder.push(format!("data: {value}\n\n").as_bytes(), &mut out).unwrap();
        list.extend(out.iter().filter_map(|event| match event {
            Event::Opened { at, .. } => Some(format!("{frame}+{at}")),
            Event::Closed { at, .. } => Some(format!("{frame}-{at}")),
            _ => None,
        }));
    }
    list
}

#[test]
fn a_call_closes_once_its_arguments_are_whole_and_something_else_begins() {
    let chunk = |delta: Value| json!({"id": "c", "choices": [{"index": 0, "delta": delta}]});
    let head = |at: usize, arguments: &str| {
        chunk(
            json!({"tool_calls": [{"index": at, "id": format!("i{at}"), "function": {"name": "x", "arguments": arguments}}]}),
        )
    };
    let more = |at: usize, text: &str| {
        chunk(json!({"tool_calls": [{"index": at, "function": {"arguments": text}}]}))
    };
    let words = || chunk(json!({"content": "so"}));
    let end = || json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let table: &[(&str, Vec<Value>, &[&str])] = &[
        ("another call", vec![head(0, "{\"a\":"), more(0, "\"}\"}"), head(1, "")], &["0+0", "2-0", "2+1"]),
        ("words", vec![head(0, "{\"a\":1}"), words()], &["0+0", "1-0", "1+1"]),
        ("the reason", vec![head(0, "{\"a\":1}"), end()], &["0+0", "1-0"]),
        (
            "heads first",
            vec![head(0, ""), head(1, ""), more(0, "{\"a\":1}"), more(1, "{")],
            &["0+0", "1+1", "3-0"],
        ),
        ("not whole", vec![head(0, "{\"a\":\"}"), head(1, "")], &["0+0", "1+1"]),
        ("may be a placeholder", vec![head(0, "{}"), head(1, "")], &["0+0", "1+1"]),
        ("after a placeholder", vec![head(0, "{}"), more(0, "{\"a\":1}"), words()], &["0+0", "2-0", "2+1"]),
        ("two values", vec![head(0, "{\"a\":1}{\"a\":2}"), head(1, "")], &["0+0", "1+1"]),
        ("no object", vec![head(0, "[1]"), head(1, "")], &["0+0", "1+1"]),
    ];
    for (what, frames, expected) in table {
        assert_eq!(spans(frames), *expected, "{what}");
    }
}

#[test]
fn what_comes_for_a_closed_call_is_not_lost() {
    let f = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    let args = |arguments: &str| json!({"arguments": arguments});
    let two = |late: Value| json!([[{"index": 0, "id": "a", "function": f("x", "{\"p\":1}")}], [{"index": 1, "id": "b", "function": f("y", "{\"q\":2}")}], [late]]);
    let both = ["x a {\"p\":1}", "y b {\"q\":2}"];
    for late in ["", " \n", "}"] {
        assert_eq!(calls(two(json!({"index": 0, "function": args(late)}))), both, "{late:?}");
    }
    assert_eq!(calls(two(json!({"index": 0, "id": "a", "function": f("x", "{\"p\":1}")}))), both, "repeated");
    assert_eq!(
        calls(two(json!({"index": 0, "function": args("{\"p\":1}")}))),
        both,
        "repeated without a name"
    );
    let three = ["x a {\"p\":1}", "y b {\"q\":2}", "x - {\"p\":3}"];
    assert_eq!(calls(two(json!({"index": 0, "function": args("{\"p\":3}")}))), three);
    assert_eq!(calls(two(json!({"index": 0, "id": "a", "function": args("{\"p\":3}")}))), three);
    let open = json!([[{"index": 0, "id": "a", "function": f("x", "{\"p\":1}")}], [{"index": 1, "id": "b", "function": f("y", "")}], [{"index": 0, "function": args("{\"q\":2}")}]]);
    assert_eq!(calls(open), both, "to the open call");
    let signed = json!({"index": 0, "extra_content": {"google": {"thought_signature": "c2ln"}}});
    assert_eq!(calls(two(signed)), both, "a signature that comes too late");
}

#[test]
fn a_call_whose_name_never_comes_has_one_for_other_protocols_only() {
    let body = br#"data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{\"p\":1}"}}]}}]}

data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;
    let list = events(&PROTOCOL, BodyKind::Stream, body).unwrap();
    for name in ["anthropic", "gemini", "openai-responses"] {
        let to = rail_wire::find(name).unwrap();
        for kind in [BodyKind::Stream, BodyKind::Whole] {
            let out = String::from_utf8(write_answer(to, kind, &list).0).unwrap();
            assert!(out.contains("\"name\":\"unknown_tool\"") && !out.contains("\"name\":\"\""), "{out}");
        }
    }
    for kind in [BodyKind::Stream, BodyKind::Whole] {
        let out = String::from_utf8(write_answer(&PROTOCOL, kind, &list).0).unwrap();
        assert!(!out.contains("unknown_tool") && out.contains("\"name\":\"\""), "{out}");
    }
}

/// Heads and pieces of calls, with what is noted of them for whoever repairs calls.
fn noted(deltas: Value) -> Vec<String> {
    let mut sse = String::new();
    for calls in deltas.as_array().unwrap() {
        let chunk = json!({"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": [calls]}}]});
        sse.push_str(&format!("data: {chunk}\n\n"));
    }
    sse.push_str("data: [DONE]\n\n");
    let told = |event: &Event| {
        let (what, extras) = match event {
            Event::Opened { kind: PartKind::ToolCall { name, .. }, extras, .. } => (name, extras),
            Event::Delta { delta: Delta::Arguments(text), extras, .. } => (text, extras),
            _ => return None,
        };
        let marks = [mark::OBJECT, mark::NAMELESS, mark::AGAIN].into_iter().filter(|mark| extras.noted(mark));
        let names = extras.note(mark::NAMES).map(Value::to_string);
        Some(marks.map(str::to_owned).chain(names).fold(what.clone(), |what, mark| format!("{what} ~{mark}")))
    };
    let list = events(&PROTOCOL, BodyKind::Stream, sse.as_bytes()).unwrap();
    let (written, losses) = write_answer(&PROTOCOL, BodyKind::Stream, &list);
    let written = String::from_utf8(written).unwrap();
    assert!(!written.contains("~names") && losses.is_empty(), "{written} {losses:?}");
    list.iter().filter_map(told).collect()
}

#[test]
fn what_only_the_declared_tools_can_decide_is_noted() {
    let f = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    let table: &[(Value, &[&str])] = &[
        (
            json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": {"p": 1}}}, {"index": 0, "function": {"arguments": {"q": 2}}}]),
            &["x", "{\"p\":1} ~object", "{\"q\":2} ~object"],
        ),
        (
            json!([{"index": 0, "id": "a", "function": {"arguments": {"p": 1}}}, {"index": 0, "function": {"name": "x"}}]),
            &["x", "{\"p\":1} ~object"],
        ),
        (
            json!([{"index": 0, "id": "a", "function": {"arguments": "{}"}}]),
            &["unknown_tool ~nameless", "{}"],
        ),
        (
            json!([{"index": 0, "id": "a", "function": {"name": "re"}}, {"index": 0, "function": {"name": "ad"}}, {"index": 0, "function": f("", "{}")}]),
            &["read ~[\"re\",\"ad\"]", "{}"],
        ),
        (
            json!([{"index": 0, "id": "a", "function": f("re", "")}, {"index": 0, "id": "a", "function": f("ad", "")}, {"index": 0, "id": "a", "function": f("ad", "{}")}, {"index": 0, "id": "a", "function": f("x", " ")}]),
            &["re", " ~[\"ad\"]", "{} ~[\"ad\"]", " "],
        ),
        (
            json!([{"index": 0, "function": f("x", "{\"p\":1}")}, {"index": 0, "function": f("x", "{\"p\":2}")}, {"index": 0, "function": f("y", "{\"p\":2}")}]),
            &["x", "{\"p\":1}", "x ~again", "{\"p\":2}", "y", "{\"p\":2}"],
        ),
        (
            json!([{"index": 0, "id": "a", "function": f("x", "{\"p\":1}")}, {"index": 1, "id": "b", "function": f("x", "{}")}, {"index": 0, "id": "a", "function": f("x", "{\"p\"")}]),
            &["x", "{\"p\":1}", "x", "{}", "x ~again", "{\"p\""],
        ),
    ];
    for (deltas, expected) in table {
        assert_eq!(noted(deltas.clone()), *expected);
    }
}

#[test]
fn odd_calls_of_a_whole_answer_are_read_like_those_of_a_stream() {
    let table: &[(Value, &[&str])] = &[
        (Value::Null, &[]),
        (json!([]), &[]),
        (json!({"id": "a", "function": {"name": "x", "arguments": "{}"}}), &["x a {}"]),
        (json!([{"id": "a", "name": "x", "arguments": {"p": 1}}]), &["x a {\"p\":1}"]),
        (json!([{"id": "a", "function": {"name": "x", "arguments": {"p": 1}}}]), &["x a {\"p\":1}"]),
        (json!([{"id": "a", "function": {"name": "x", "arguments": null}}]), &["x a "]),
        (json!([{"id": "a", "type": "function", "function": {"name": "x"}}]), &["x a "]),
        (
            json!([{"id": "a", "function": {"name": null, "arguments": "{\"p\":1}"}}]),
            &["unknown_tool a {\"p\":1}"],
        ),
        (
            json!([{"id": "a", "function": {"name": "x", "arguments": "{}"}}, {"id": "b", "type": "function", "function": null}]),
            &["x a {}"],
        ),
    ];
    for (calls, expected) in table {
        let body = json!({"id": "c", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "", "tool_calls": calls}}]});
        let mut assembler = rail_model::Assembler::default();
        let list = events(&PROTOCOL, BodyKind::Whole, body.to_string().as_bytes());
        list.unwrap_or_else(|why| panic!("{why}: {body}"))
            .into_iter()
            .for_each(|event| assembler.push(event));
        let told: Vec<String> = assembler.parts().iter().map(told).collect();
        assert_eq!(told, *expected, "{body}");
    }
}
