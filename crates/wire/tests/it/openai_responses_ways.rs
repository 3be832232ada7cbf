//! The Responses API by its many ways: servers that leave half of it out, and other protocols on the other side.

use std::sync::LazyLock;

use rail_model::{
    Assembler, CallKind, Delta, Event, Extras, Json, Message, Part, PartBody, PartKind, ProtocolId, Request,
    Role, Seal, Stop, Thinking, ThinkingMode, ToolCall, ToolDecl, ToolKind, ToolResult,
};
use rail_wire::{BodyKind, ReplyTo, TargetSpec, ThinkingStyle};
use serde_json::{Value, json};

use crate::corpus::{events, fixtures, frames, json as parse, read_request, write_answer, write_request};
use crate::openai_responses::{P, call, check, close, delta, finished, open, started};

const CHAT: ProtocolId = ProtocolId::new("openai-chat");

fn sse(frames: &[Value]) -> Vec<u8> {
    frames.iter().flat_map(|frame| format!("data: {frame}\n\n").into_bytes()).collect()
}

/// What a stream says, put together.
fn said(frames: &[Value]) -> Vec<Part> {
    let mut assembler = Assembler::default();
    events(P, BodyKind::Stream, &sse(frames)).unwrap().into_iter().for_each(|event| assembler.push(event));
    assembler.finish().unwrap().unwrap().parts
}

fn texts(parts: &[Part]) -> Vec<String> {
    let text = |part: &Part| match &part.body {
        PartBody::Text(text) => text.clone(),
        PartBody::Thinking(text) => format!("({text})"),
        PartBody::ToolCall(call) => format!("{}={}", call.name, call.arguments),
        other => format!("{other:?}"),
    };
    parts.iter().map(text).collect()
}

#[test]
fn what_the_end_says_counts_whatever_the_pieces_left_out() {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "Hello", "annotations": []}]});
    let call =
        json!({"id": "fc_1", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"a\":1}"});
    let thought = json!({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "E"});
    let end = json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [thought, message, call]}});
    let created = json!({"type": "response.created", "response": {"id": "r"}});
    let added = |index: u64, item: &Value| json!({"type": "response.output_item.added", "output_index": index, "item": item});
    let done = |index: u64, item: &Value| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let piece = |kind: &str, index: u64, delta: &str| json!({"type": format!("response.{kind}.delta"), "output_index": index, "content_index": 0, "delta": delta});
    let bare_call =
        json!({"id": "fc_1", "type": "function_call", "call_id": "c", "name": "f", "arguments": ""});
    let ways = [
        vec![end.clone()],
        vec![created.clone(), end.clone()],
        vec![created.clone(), done(0, &thought), done(1, &message), done(2, &call), end.clone()],
        vec![
            created.clone(),
            added(2, &bare_call),
            piece("output_text", 1, "Hel"),
            piece("function_call_arguments", 2, "{\"a\""),
            end.clone(),
        ],
        vec![
            created,
            piece("reasoning_summary_text", 0, "h"),
            done(0, &thought),
            piece("output_text", 1, "Hello"),
            json!({"type": "response.output_text.done", "output_index": 1, "content_index": 0, "text": "Hello"}),
            added(2, &bare_call),
            json!({"type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{\"a\":1}"}),
            end,
        ],
    ];
    for way in ways {
        let parts = said(&way);
        let mut all = texts(&parts);
        all.sort();
        assert_eq!(all, ["(hm)", "Hello", "f={\"a\":1}"], "{way:?}");
        assert!(parts.iter().any(|part| part.seal.as_ref().is_some_and(|seal| seal.data == "E")), "{way:?}");
    }
}

#[test]
fn a_stream_put_together_is_the_response_at_its_end() {
    for fixture in fixtures(P, "stream", ".sse") {
        let all = frames(&fixture.bytes);
        let last = all.last().unwrap();
        if last["response"]["status"] == "failed" || last["type"] == "error" {
            continue;
        }
        let (whole, losses) =
            write_answer(P, BodyKind::Whole, &events(P, BodyKind::Stream, &fixture.bytes).unwrap());
        assert_eq!(losses, [], "{}", fixture.name);
        assert_eq!(parse(&whole), last["response"], "{}", fixture.name);
    }
}

#[test]
fn a_whole_answer_can_be_streamed() {
    for fixture in fixtures(P, "response", ".json") {
        let events = events(P, BodyKind::Whole, &fixture.bytes).unwrap();
        let body = write_answer(P, BodyKind::Stream, &events).0;
        let all = frames(&body);
        check(&all);
        let whole = parse(&fixture.bytes);
        let usual = ["completed", "incomplete", "failed"].iter().any(|status| whole["status"] == *status);
        if usual {
            assert_eq!(all.last().unwrap()["response"]["output"], whole["output"], "{}", fixture.name);
            assert_eq!(all.last().unwrap()["response"]["status"], whole["status"], "{}", fixture.name);
        }
    }
}

/// A request of another protocol, as its decoder gives it.
fn foreign() -> Request {
    Request {
        model: "m".into(),
        origin: Some(ProtocolId::new("elsewhere")),
        messages: vec![Message::new(Role::User, vec![Part::text("hi")])],
        ..Request::default()
    }
}

#[test]
fn trap_16_images_stay_images_inside_results() {
    let body = json!({"model": "m", "input": [
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_image", "image_url": "data:image/png;base64,AAEC"}]}]});
    let request = read_request(P, body.to_string().as_bytes()).unwrap();
    let PartBody::ToolResult(result) = &request.messages[1].parts[0].body else { panic!() };
    assert!(
        matches!(&result.content[0].body, PartBody::Media(media) if media.mime.as_deref() == Some("image/png"))
    );
    let (sent, _) = write_request(P, &Request { origin: None, ..request });
    assert_eq!(sent["input"][1]["output"], body["input"][1]["output"]);
}

#[test]
fn trap_27_usage_is_split_and_added_up_again() {
    let body = json!({"id": "r", "status": "completed", "output": [], "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60},
        "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 999}});
    let events = events(P, BodyKind::Whole, body.to_string().as_bytes()).unwrap();
    let usage = events
        .iter()
        .find_map(|event| if let Event::Usage(usage) = event { Some(usage) } else { None })
        .unwrap();
    assert_eq!(
        (usage.input, usage.cache_read, usage.output, usage.reasoning),
        (Some(40), Some(60), Some(6), Some(4))
    );
    assert_eq!(
        parse(&write_answer(P, BodyKind::Whole, &events).0)["usage"],
        body["usage"],
        "totals that do not add up too"
    );
}

#[test]
fn trap_41_a_foreign_request_keeps_no_state_upstream_and_asks_for_sealed_reasoning() {
    let mut request = foreign();
    request.thinking =
        Some(Thinking { mode: Some(ThinkingMode::On), budget: Some(2048), ..Thinking::default() });
    request.sampling.temperature = serde_json::Number::from_f64(0.5);
    request.sampling.stop = vec!["END".into()];
    request.sampling.max_output = Some(1);
    let (body, losses) = write_request(P, &request);
    let expected = json!({"model": "m", "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "reasoning": {"effort": "medium", "summary": "auto"}, "include": ["reasoning.encrypted_content"], "max_output_tokens": 16, "store": false});
    assert_eq!(body, expected);
    let paths: Vec<&str> = losses.iter().map(|loss| loss.path.as_str()).collect();
    assert_eq!(paths, ["thinking.budget", "max_output", "temperature", "stop"]);
    let plain = TargetSpec { thinking: ThinkingStyle::Never, ..TargetSpec::new("m") };
    let body = parse(&P.outbound.encode_request(&request, &plain).call.body);
    assert_eq!(
        (body.get("include"), body.get("reasoning")),
        (None, None),
        "a model that does not think rejects both"
    );
}

#[test]
fn trap_41_reasoning_that_was_elsewhere_comes_back_as_one_item() {
    let seal = |issuer: &str| Seal { issuer: issuer.into(), data: "E".into() };
    let thought = |text: &str, seal| Part { seal, ..Part::new(PartBody::Thinking(text.into())) };
    let mut request = foreign();
    let own = vec![
        thought("a", None),
        thought("b", Some(seal("openai-responses"))),
        thought("c", Some(seal("anthropic"))),
        thought("d", None),
    ];
    request.messages.push(Message::new(Role::Assistant, own));
    request
        .messages
        .push(Message::new(Role::Assistant, vec![Part::new(PartBody::Redacted(seal("openai-responses")))]));
    let (body, _) = write_request(P, &request);
    let summary = json!([{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]);
    assert_eq!(body["input"][1], json!({"type": "reasoning", "summary": summary, "encrypted_content": "E"}));
    assert_eq!(body["input"][2], json!({"type": "reasoning", "summary": [], "encrypted_content": "E"}));
    assert_eq!(body["input"].as_array().unwrap().len(), 3, "what this API did not seal is not sent");
}

#[test]
fn trap_42_free_text_tools_and_namespaces() {
    let body = json!({"model": "m", "input": "x", "tools": [
        {"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark", "definition": "start: /x/"}},
        {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "find", "parameters": {"type": "object"}}]}]});
    let request = read_request(P, body.to_string().as_bytes()).unwrap();
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["apply_patch", "crm__find"], "other protocols know no namespaces");
    assert!(matches!(request.tools[0].kind, ToolKind::Custom { .. }));
    let answer = [
        started(),
        open(0, call("c1", "apply_patch", CallKind::Custom)),
        delta(0, Delta::Arguments("*** Begin".into())),
        close(0),
        open(1, call("c2", "crm__find", CallKind::Function)),
        close(1),
        finished(Stop::ToolUse),
    ];
    let reply_to: ReplyTo = P.inbound.reply_to(&request);
    let mut encoder = P.inbound.encoder(BodyKind::Stream, &reply_to);
    let mut out = Vec::new();
    answer.iter().for_each(|event| encoder.push(event, &mut out));
    let all = frames(&out);
    check(&all);
    let response = &all.last().unwrap()["response"];
    let fields = |at: usize, keys: [&str; 3]| keys.map(|key| response["output"][at][key].clone());
    assert_eq!(
        fields(0, ["type", "name", "input"]),
        [json!("custom_tool_call"), json!("apply_patch"), json!("*** Begin")]
    );
    assert_eq!(fields(1, ["namespace", "name", "arguments"]), [json!("crm"), json!("find"), json!("{}")]);
    assert_eq!(
        (&response["tools"], &response["model"]),
        (&body["tools"], &json!("m")),
        "the request is echoed"
    );
}

#[test]
fn trap_42_a_tool_search_call_has_an_object_for_arguments() {
    let item = json!({"type": "tool_search_call", "call_id": "c", "arguments": {"goal": "x"}});
    let body = json!({"model": "m", "input": [item]});
    let request = read_request(P, body.to_string().as_bytes()).unwrap();
    assert_eq!(write_request(P, &request).0, body);
}

#[test]
fn what_chat_completions_says_in_the_same_words_is_carried() {
    let mut request = Request { origin: Some(CHAT), ..foreign() };
    for (key, value) in [
        ("store", json!(true)),
        ("metadata", json!({"a": "b"})),
        ("verbosity", json!("low")),
        ("prompt_cache_key", json!("k")),
    ] {
        request.extras.insert(CHAT, key, value);
    }
    let format = json!({"type": "grammar", "grammar": {"syntax": "lark", "definition": "d"}});
    request.tools.push(ToolDecl {
        name: "t".into(),
        description: None,
        kind: ToolKind::Custom { format: Some(Json::from(format)) },
        strict: None,
        cache: None,
        extras: Extras::NONE,
    });
    let (body, losses) = write_request(P, &request);
    assert_eq!((losses, &body["store"], &body["text"]), (vec![], &json!(true), &json!({"verbosity": "low"})));
    assert_eq!((&body["metadata"], &body["prompt_cache_key"]), (&json!({"a": "b"}), &json!("k")));
    assert_eq!(body["tools"][0]["format"], json!({"type": "grammar", "syntax": "lark", "definition": "d"}));
    let citation = json!({"type": "url_citation", "url_citation": {"url": "u", "title": "t", "start_index": 0, "end_index": 1}});
    let events = [
        started(),
        open(0, PartKind::Text),
        delta(0, Delta::Text("x".into())),
        delta(0, Delta::Extra { origin: CHAT, key: "annotations", value: citation }),
        close(0),
        finished(Stop::EndTurn),
    ];
    let (stream, losses) = write_answer(P, BodyKind::Stream, &events);
    let flat = json!([{"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 1}]);
    assert_eq!(
        (losses, &frames(&stream).last().unwrap()["response"]["output"][0]["content"][0]["annotations"]),
        (vec![], &flat)
    );
}

#[test]
fn calls_and_results_of_another_protocol() {
    let mut request = foreign();
    let call = ToolCall {
        id: rail_model::CallId::Given("c".into()),
        name: "f".into(),
        arguments: String::new(),
        kind: CallKind::Function,
    };
    let result = ToolResult {
        id: call.id.clone(),
        name: None,
        content: vec![Part::text("a"), Part::text("b")],
        is_error: Some(true),
        kind: CallKind::Function,
    };
    request.messages.push(Message::new(
        Role::Assistant,
        vec![Part::text("x"), Part::text("y"), Part::new(PartBody::ToolCall(call))],
    ));
    request
        .messages
        .push(Message::new(Role::User, vec![Part::new(PartBody::ToolResult(result)), Part::text("go on")]));
    request.system = vec![Part::text("Be terse."), Part::text("Be kind.")];
    let (body, losses) = write_request(P, &request);
    assert_eq!(body["instructions"], "Be terse.\n\nBe kind.");
    let text = |kind: &str, text: &str| json!({"type": kind, "text": text});
    let expected = json!([
        {"type": "message", "role": "user", "content": [text("input_text", "hi")]},
        {"type": "message", "role": "assistant", "content": [text("output_text", "x"), text("output_text", "y")]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [text("input_text", "Error: a"), text("input_text", "b")]},
        {"type": "message", "role": "user", "content": [text("input_text", "go on")]},
    ]);
    assert_eq!(body["input"], expected);
    assert_eq!(losses, [], "that the tool failed is said in its text");
}

#[test]
fn nothing_of_an_ordinary_answer_is_a_loss_elsewhere() {
    let elsewhere = ProtocolId::new("elsewhere");
    for name in ["text_minimal", "function_calls_parallel", "reasoning_text_and_call", "custom_tool_freeform"]
    {
        let fixture = fixtures(P, "stream", ".sse").into_iter().find(|fixture| fixture.name == name).unwrap();
        for event in events(P, BodyKind::Stream, &fixture.bytes).unwrap() {
            let extras = match &event {
                Event::Started { extras, .. }
                | Event::Opened { extras, .. }
                | Event::Delta { extras, .. }
                | Event::Closed { extras, .. }
                | Event::Finished { extras, .. } => extras,
                Event::Usage(usage) => &usage.extras,
                Event::Failed(_) | Event::Ping => continue,
                Event::Opaque(opaque) => panic!("{name}: {opaque:?}"),
            };
            // A call that a program made says so; that is worth a name.
            let lost: Vec<&str> = extras.lost_on(elsewhere).filter(|key| *key != "(item)").collect();
            assert!(lost.is_empty(), "{name}: {lost:?} of {event:?}");
        }
    }
}

/// The frames of every stream of the corpus.
static STREAMS: LazyLock<Vec<Vec<Value>>> =
    LazyLock::new(|| fixtures(P, "stream", ".sse").iter().map(|fixture| frames(&fixture.bytes)).collect());

proptest::proptest! {
    /// The decoder holds every event against the grammar, and the writer's own stream must be a legal one.
    #[test]
    fn frames_in_any_order_break_nothing(picks in proptest::collection::vec((0usize..40, 0usize..100), 0..60), which in 0usize..40) {
        let all = &*STREAMS;
        let other = &all[which % all.len()];
        let pick = |(set, at): &(usize, usize)| {
            let set = if set % 4 == 0 { &all[set % all.len()] } else { other };
            set[at % set.len()].clone()
        };
        let body = sse(&picks.iter().map(pick).collect::<Vec<_>>());
        let mut decoder = P.outbound.decoder(BodyKind::Stream);
        let mut events = Vec::new();
        let _ = decoder.push(&body, &mut events).and_then(|()| decoder.finish(&mut events));
        for kind in [BodyKind::Stream, BodyKind::Whole] {
            write_answer(P, kind, &events);
        }
    }
}

#[test]
fn the_model_a_client_asked_for_is_the_one_it_sees() {
    let fixture =
        fixtures(P, "stream", ".sse").into_iter().find(|fixture| fixture.name == "text_minimal").unwrap();
    let reply_to = ReplyTo { model: Some("alias".into()), ..ReplyTo::default() };
    for kind in [BodyKind::Stream, BodyKind::Whole] {
        let mut encoder = P.inbound.encoder(kind, &reply_to);
        let mut out = Vec::new();
        events(P, BodyKind::Stream, &fixture.bytes)
            .unwrap()
            .iter()
            .for_each(|event| encoder.push(event, &mut out));
        encoder.finish(&mut out);
        let shown: Vec<Value> = if kind == BodyKind::Whole { vec![parse(&out)] } else { frames(&out) };
        let models =
            shown.iter().filter_map(|value| value.get("model").or_else(|| value.pointer("/response/model")));
        let models: Vec<&Value> = models.collect();
        assert!(!models.is_empty() && models.iter().all(|model| **model == "alias"), "{models:?}");
    }
}
