//! OpenAI Chat: answers of other protocols for its clients, its own for others.

use rail_model::{
    ApiError, CallId, CallKind, Delta, ErrorKind, Event, Extras, Part, PartBody, PartKind, ProtocolId, Reply,
    Seal, Stop, ToolCall, Usage,
};
use rail_wire::openai_chat::PROTOCOL;
use rail_wire::{BodyKind, ReplyTo};
use serde_json::{Value, json};

use crate::corpus::{events, fixtures, frames, json as parsed, write_answer};

const ANTHROPIC: ProtocolId = ProtocolId::new("anthropic");

fn started() -> Event {
    Event::Started { id: Some("msg_1".into()), model: Some("claude".into()), extras: Extras::NONE }
}
fn opened(at: usize, kind: PartKind) -> Event {
    Event::Opened { at, kind, extras: Extras::NONE }
}
fn delta(at: usize, delta: Delta) -> Event {
    Event::Delta { at, delta, extras: Extras::NONE }
}
fn closed(at: usize) -> Event {
    Event::Closed { at, extras: Extras::NONE }
}
fn finished(stop: Stop) -> Event {
    Event::Finished { stop, extras: Extras::NONE }
}
fn called(id: &str) -> PartKind {
    PartKind::ToolCall { id: CallId::Given(id.into()), name: "bell".into(), kind: CallKind::Function }
}
fn usage() -> Event {
    let usage = Usage {
        input: Some(2),
        cache_read: Some(5),
        cache_write: Some(1),
        output: Some(3),
        reasoning: Some(4),
        extras: Extras::NONE,
    };
    Event::Usage(usage)
}

/// What a foreign answer with everything in it is made of.
fn answer() -> Vec<Event> {
    vec![
        started(),
        opened(0, PartKind::Thinking),
        delta(0, Delta::Thinking("Hm.".into())),
        delta(0, Delta::Seal(Seal { issuer: "anthropic".into(), data: "s".into() })),
        closed(0),
        opened(1, PartKind::Redacted(Seal { issuer: "anthropic".into(), data: "r".into() })),
        closed(1),
        opened(2, PartKind::Text),
        delta(2, Delta::Text("Ring".into())),
        delta(2, Delta::Text("ing.".into())),
        closed(2),
        opened(3, called("toolu_1")),
        delta(3, Delta::Arguments("{\"n\":".into())),
        delta(3, Delta::Arguments("1}".into())),
        closed(3),
        opened(4, called("toolu_2")),
        delta(4, Delta::Seal(Seal { issuer: "gemini".into(), data: "U2ln".into() })),
        closed(4),
        usage(),
        finished(Stop::ToolUse),
    ]
}

fn encode(kind: BodyKind, reply_to: &ReplyTo, events: &[Event]) -> (Vec<u8>, Vec<String>) {
    let mut encoder = PROTOCOL.inbound.encoder(kind, reply_to);
    let mut out = Vec::new();
    events.iter().for_each(|event| encoder.push(event, &mut out));
    encoder.finish(&mut out);
    (out, encoder.losses().into_iter().map(|loss| loss.path).collect())
}

#[test]
fn a_foreign_stream_has_the_official_shape() {
    let reply_to = ReplyTo { model: Some("asked".into()), now: 7, ..ReplyTo::default() };
    let (bytes, losses) = encode(BodyKind::Stream, &reply_to, &answer());
    let chunk = |delta: Value, finish: Value| {
        json!({"id": "msg_1", "object": "chat.completion.chunk", "created": 7, "model": "asked",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]})
    };
    let piece = |delta| chunk(delta, Value::Null);
    let counts = json!({"prompt_tokens": 8, "completion_tokens": 7, "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 1}, "completion_tokens_details": {"reasoning_tokens": 4}});
    let expected = vec![
        piece(json!({"role": "assistant", "content": ""})),
        piece(json!({"reasoning_content": "Hm."})),
        piece(json!({"content": "Ring"})),
        piece(json!({"content": "ing."})),
        piece(
            json!({"tool_calls": [{"index": 0, "id": "toolu_1", "type": "function", "function": {"name": "bell", "arguments": ""}}]}),
        ),
        piece(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"n\":"}}]})),
        piece(json!({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]})),
        piece(
            json!({"tool_calls": [{"index": 1, "id": "rail-toolu_5f2-gemini-VTJsbg", "type": "function", "function": {"name": "bell", "arguments": ""}}]}),
        ),
        piece(json!({"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]})),
        chunk(json!({}), json!("tool_calls")),
        json!({"id": "msg_1", "object": "chat.completion.chunk", "created": 7, "model": "asked", "choices": [], "usage": counts}),
        json!("[DONE]"),
    ];
    assert_eq!(frames(&bytes), expected);
    assert_eq!(losses, ["parts[0].seal", "parts[1]"]);
}

#[test]
fn a_client_that_did_not_ask_for_usage_gets_no_frame_without_choices() {
    let silent = ReplyTo { include_usage: Some(false), ..ReplyTo::default() };
    let (bytes, _) = encode(BodyKind::Stream, &silent, &answer());
    let list = frames(&bytes);
    assert!(list.iter().all(|frame| frame.get("usage").is_none()));
    assert_eq!(list.last(), Some(&json!("[DONE]")));
}

#[test]
fn trap_12_a_foreign_whole_answer_joins_its_texts() {
    let text = |text: &str| Part::text(text);
    let thinking = Part::new(PartBody::Thinking("Hm.".into()));
    let call = ToolCall {
        id: CallId::Given("toolu_1".into()),
        name: "bell".into(),
        arguments: String::new(),
        kind: CallKind::Function,
    };
    let mut extras = Extras::NONE;
    extras.insert(ANTHROPIC, "container", json!({"id": 1}));
    let reply = Reply {
        id: None,
        model: Some("claude".into()),
        parts: vec![thinking, text("One "), text("string."), PartBody::ToolCall(call).into()],
        stop: Stop::ToolUse,
        usage: None,
        extras,
        end: Extras::NONE,
    };
    let reply_to = ReplyTo { seed: "s1".into(), now: 7, ..ReplyTo::default() };
    let (bytes, losses) = encode(BodyKind::Whole, &reply_to, &reply.into_events());
    assert_eq!(
        parsed(&bytes),
        json!({"id": "chatcmpl-s1", "object": "chat.completion", "created": 7, "model": "claude", "choices": [{
            "index": 0, "logprobs": null, "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": "One string.", "refusal": null, "reasoning_content": "Hm.",
                "tool_calls": [{"id": "toolu_1", "type": "function", "function": {"name": "bell", "arguments": "{}"}}]}}]})
    );
    assert_eq!(losses, ["container"]);
}

#[test]
fn stop_reasons_both_ways() {
    let table = [
        (Stop::EndTurn, "stop"),
        (Stop::MaxTokens, "length"),
        (Stop::StopSequence(Some("END".into())), "stop"),
        (Stop::Refusal, "content_filter"),
        (Stop::ContextFull, "length"),
        (Stop::Other("x".into()), "stop"),
        (Stop::ToolUse, "stop"),
    ];
    for (stop, word) in table {
        let (bytes, _) = encode(BodyKind::Stream, &ReplyTo::default(), &[started(), finished(stop.clone())]);
        assert_eq!(frames(&bytes)[1]["choices"][0]["finish_reason"], word, "{stop:?}");
    }
    let read = |word: &str, delta: Value| {
        let chunk = json!({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": word}]});
        let list = events(&PROTOCOL, BodyKind::Stream, format!("data: {chunk}\n\n").as_bytes()).unwrap();
        let Some(Event::Finished { stop, .. }) = list.last() else { panic!("{list:?}") };
        stop.clone()
    };
    let call =
        json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "bell", "arguments": "{}"}}]});
    assert_eq!(read("stop", call.clone()), Stop::ToolUse, "trap 8: a call is a call");
    assert_eq!(read("tool_calls", json!({})), Stop::EndTurn, "trap 8: no call, nothing to run");
    assert_eq!(read("function_call", call.clone()), Stop::ToolUse);
    assert_eq!(read("length", call), Stop::MaxTokens);
    assert_eq!(read("content_filter", json!({})), Stop::Refusal);
    assert_eq!(read("x_new", json!({})), Stop::Other("x_new".into()));
}

#[test]
fn trap_3_a_chunk_with_everything_is_split_in_order_and_put_together_again() {
    let fixture = fixtures(&PROTOCOL, "compat", "reasoning_text_and_tool_in_one_chunk.sse").remove(0);
    let list = events(&PROTOCOL, BodyKind::Stream, &fixture.bytes).unwrap();
    let kinds = list.iter().filter_map(|event| match event {
        Event::Opened { kind, .. } => Some(format!("{kind:?}").split([' ', '(']).next().unwrap().to_owned()),
        _ => None,
    });
    assert_eq!(kinds.collect::<Vec<_>>(), ["Thinking", "Text", "ToolCall"]);
    let (bytes, _) = write_answer(&PROTOCOL, BodyKind::Stream, &list);
    assert_eq!(frames(&bytes)[0]["choices"][0]["delta"], frames(&fixture.bytes)[0]["choices"][0]["delta"]);
}

#[test]
fn trap_6_and_7_the_finish_waits_for_usage_and_nothing_is_counted_twice() {
    let fixture = fixtures(&PROTOCOL, "compat", "usage_on_every_chunk.sse").remove(0);
    let list = events(&PROTOCOL, BodyKind::Stream, &fixture.bytes).unwrap();
    let last: Vec<_> = list.iter().rev().take(2).collect();
    assert!(matches!(last[0], Event::Finished { stop: Stop::EndTurn, .. }), "{last:?}");
    let (bytes, _) = encode(BodyKind::Whole, &ReplyTo::default(), &list);
    let usage = json!({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10, "prompt_tokens_details": {"cached_tokens": 2}});
    assert_eq!(parsed(&bytes)["usage"], usage);
}

#[test]
fn trap_9_a_failure_in_mid_stream_is_an_error_frame() {
    let failed = ApiError {
        said: Some((ANTHROPIC, json!({"type": "error"}))),
        ..ApiError::new(ErrorKind::Overloaded, "busy")
    };
    let (bytes, _) = encode(
        BodyKind::Stream,
        &ReplyTo::default(),
        &[started(), Event::Failed(failed), finished(Stop::EndTurn)],
    );
    let error = json!({"error": {"message": "busy", "type": "server_error", "param": null, "code": "service_unavailable"}});
    assert_eq!(frames(&bytes)[1..], [error]);
    let (bytes, _) = encode(BodyKind::Stream, &ReplyTo::default(), &[started()]);
    assert!(frames(&bytes)[1]["error"]["message"].as_str().unwrap().contains("end marker"));
}

#[test]
fn minted_ids_are_the_same_for_the_same_answer() {
    let fixture = fixtures(&PROTOCOL, "compat", "tool_no_id.sse").remove(0);
    let read = || events(&PROTOCOL, BodyKind::Stream, &fixture.bytes).unwrap();
    assert_eq!(read(), read());
}

#[test]
fn usage_beside_another_choice_may_come_first() {
    let body = b"data: {\"id\":\"c\",\"choices\":[{\"index\":1,\"delta\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n";
    let events = events(&PROTOCOL, BodyKind::Stream, body).unwrap();
    assert!(
        events.iter().any(|event| matches!(event, Event::Usage(usage) if usage.input == Some(7))),
        "{events:?}"
    );
}

#[test]
fn the_choice_with_the_lowest_index_is_the_answer() {
    let choice = |index: u64, text: &str| json!({"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
    let body = json!({"id": "c", "choices": [choice(2, "two"), choice(1, "one")]});
    let list = events(&PROTOCOL, BodyKind::Whole, body.to_string().as_bytes()).unwrap();
    let anthropic = rail_wire::find("anthropic").unwrap();
    let (out, losses) = write_answer(anthropic, BodyKind::Whole, &list);
    assert_eq!(parsed(&out)["content"], json!([{"type": "text", "text": "one"}]));
    assert!(losses.iter().any(|loss| loss.path == "choices[1..]"), "{losses:?}");
    let (out, losses) = write_answer(&PROTOCOL, BodyKind::Whole, &list);
    assert_eq!(parsed(&out)["choices"], json!([choice(1, "one"), choice(2, "two")]));
    assert!(losses.is_empty(), "{losses:?}");
}

#[test]
fn other_choices_of_a_stream_are_named_where_they_are_lost() {
    let body =
        b"data: {\"id\":\"c\",\"choices\":[{\"index\":1,\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n";
    let list = events(&PROTOCOL, BodyKind::Stream, body).unwrap();
    let lost = |to: &rail_wire::Protocol, kind| -> Vec<String> {
        write_answer(to, kind, &list).1.into_iter().map(|loss| loss.path).collect()
    };
    for name in ["anthropic", "gemini", "openai-responses"] {
        for kind in [BodyKind::Stream, BodyKind::Whole] {
            let paths = lost(rail_wire::find(name).unwrap(), kind);
            assert!(paths.contains(&"choices[1..]".to_owned()), "{name}: {paths:?}");
        }
    }
    assert_eq!(lost(&PROTOCOL, BodyKind::Whole), ["choices"]);
    assert!(lost(&PROTOCOL, BodyKind::Stream).is_empty());
}
