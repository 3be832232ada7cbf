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
