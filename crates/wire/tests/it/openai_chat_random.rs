//! OpenAI Chat: deltas in any order and any state of disrepair.

use proptest::collection::vec;
use proptest::prelude::*;
use rail_model::{Assembler, Event, Part, PartBody};
use rail_wire::BodyKind;
use rail_wire::openai_chat::PROTOCOL;
use serde_json::{Map, Value, json};

use crate::corpus::{events, write_answer};

fn maybe(values: &'static [&'static str]) -> impl Strategy<Value = Option<Value>> {
    let json = |text: &'static str| serde_json::from_str(text).unwrap();
    proptest::option::of(proptest::sample::select(values).prop_map(json))
}

fn object(fields: Vec<(&'static str, Option<Value>)>) -> Value {
    fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect::<Map<_, _>>().into()
}

fn piece() -> impl Strategy<Value = Value> {
    let arguments = maybe(&["\"\"", "\"{}\"", "\"{\\\"a\\\":\"", "\"1}\"", "{\"a\":1}", "null", "\"null\""]);
    let function = (maybe(&["\"x\"", "\"y\"", "\"\"", "null"]), arguments)
        .prop_map(|(name, arguments)| object(vec![("name", name), ("arguments", arguments)]));
    let fields = (
        maybe(&["0", "1", "null", "\"1\""]),
        maybe(&["\"a\"", "\"b\"", "\"\""]),
        maybe(&["\"function\"", "\"custom\"", "\"x_odd\""]),
        proptest::option::of(function),
        maybe(&["{\"google\":{\"thought_signature\":\"U2ln\"}}"]),
    );
    fields.prop_map(|(index, id, kind, function, extra)| {
        object(vec![
            ("index", index),
            ("id", id),
            ("type", kind),
            ("function", function),
            ("extra_content", extra),
        ])
    })
}

fn chunk() -> impl Strategy<Value = Value> {
    let delta = (
        maybe(&["\"\"", "\"text \"", "null", "[{\"type\":\"text\",\"text\":\"part\"},{\"type\":\"odd\"}]"]),
        maybe(&["\"thought \"", "\"\""]),
        maybe(&["\"no\""]),
        maybe(&[
            "[{\"type\":\"reasoning.encrypted\",\"data\":\"x\"}]",
            "[{\"type\":\"reasoning.text\",\"text\":\"t\"}]",
        ]),
        maybe(&["{\"name\":\"old\",\"arguments\":\"\"}", "{\"arguments\":\"{}\"}"]),
        proptest::option::weighted(0.6, vec(piece(), 0..3)),
        maybe(&["1"]),
    );
    let delta = delta.prop_map(|(content, reasoning, refusal, details, old, calls, odd)| {
        object(vec![
            ("content", content),
            ("reasoning_content", reasoning),
            ("refusal", refusal),
            ("reasoning_details", details),
            ("function_call", old),
            ("tool_calls", calls.map(Value::Array)),
            ("x_odd", odd),
        ])
    });
    (delta, maybe(&["\"stop\"", "\"tool_calls\"", "\"\""]), maybe(&["0", "1"])).prop_map(
        |(delta, finish, index)| {
            let choice = object(vec![("index", index), ("delta", Some(delta)), ("finish_reason", finish)]);
            json!({"id": "c", "model": "m", "choices": [choice]})
        },
    )
}

/// What a person would see; neighbours of one kind are one.
fn seen(events: Vec<Event>) -> Vec<(&'static str, String)> {
    let mut assembler = Assembler::default();
    events.into_iter().for_each(|event| assembler.push(event));
    let told = |part: &Part| match &part.body {
        PartBody::Text(text) => ("text", text.clone()),
        PartBody::Refusal(text) => ("refusal", text.clone()),
        PartBody::Thinking(text) => ("thinking", text.clone()),
        PartBody::Redacted(seal) => ("redacted", seal.data.clone()),
        PartBody::ToolCall(call) if call.arguments.is_empty() => ("call", format!("{} {{}}", call.name)),
        PartBody::ToolCall(call) => ("call", format!("{} {}", call.name, call.arguments)),
        PartBody::ToolResult(_) | PartBody::Media(_) | PartBody::Opaque(_) => {
            ("other", format!("{:?}", part.body))
        }
    };
    assembler.parts().iter().map(told).collect()
}

proptest! {
    #[test]
    fn any_deltas_keep_the_grammar_and_survive_a_second_writing(chunks in vec(chunk(), 0..8)) {
        let mut sse: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
        sse.push_str("data: [DONE]\n\n");
        // The decoder itself holds every event against the grammar.
        let first = events(&PROTOCOL, BodyKind::Stream, sse.as_bytes()).unwrap();
        let (bytes, _) = write_answer(&PROTOCOL, BodyKind::Stream, &first);
        let second = events(&PROTOCOL, BodyKind::Stream, &bytes).unwrap();
        // Nonsense arguments may go to another call the second time, and a call without a name may change its place.
        let calls = |list: Vec<(&'static str, String)>| {
            let calls = list.into_iter().filter(|(kind, _)| *kind == "call");
            let mut names: Vec<String> = calls.map(|(_, call)| call.split(' ').next().unwrap().to_owned()).collect();
            names.sort();
            names
        };
        let words = |list: Vec<(&'static str, String)>, wanted: &str| {
            list.into_iter().filter(|(kind, _)| *kind == wanted).map(|(_, text)| text).collect::<String>()
        };
        for kind in ["text", "refusal", "thinking"] {
            prop_assert_eq!(words(seen(first.clone()), kind), words(seen(second.clone()), kind), "{}", kind);
        }
        prop_assert_eq!(calls(seen(first)), calls(seen(second)));
    }
}
