//! What Anthropic's clients enforce and what its API demands, by the traps of the trade.

use rail_model::{
    ApiError, CallId, CallKind, Delta, ErrorKind, Event, Extras, PartBody, PartKind, ProtocolId, Seal, Stop,
    Usage,
};
use rail_wire::{BodyKind, HttpCall, HttpReply, Protocol, TargetSpec, WireErrorKind, anthropic};
use serde_json::{Value, json};

use crate::corpus::{events, frames, json as parse, read_request, write_answer, write_request};

const P: &Protocol = &anthropic::PROTOCOL;
const ELSEWHERE: ProtocolId = ProtocolId::new("elsewhere");

fn started() -> Event {
    Event::Started { id: Some("a1".into()), model: Some("m".into()), extras: Extras::NONE }
}
fn open(at: usize, kind: PartKind) -> Event {
    Event::Opened { at, kind, extras: Extras::NONE }
}
fn delta(at: usize, delta: Delta) -> Event {
    Event::Delta { at, delta, extras: Extras::NONE }
}
fn text(at: usize, text: &str) -> Event {
    delta(at, Delta::Text(text.into()))
}
fn close(at: usize) -> Event {
    Event::Closed { at, extras: Extras::NONE }
}
fn finished(stop: Stop) -> Event {
    Event::Finished { stop, extras: Extras::NONE }
}
fn call(id: &str) -> PartKind {
    PartKind::ToolCall { id: CallId::Given(id.into()), name: "bash".into(), kind: CallKind::Function }
}

fn stream(events: &[Event]) -> Vec<Value> {
    let (body, _) = write_answer(P, BodyKind::Stream, events);
    let frames = frames(&body);
    check(&frames);
    frames
}

/// The state machine of Anthropic's own client library: what it throws on fails here.
pub(crate) fn check(frames: &[Value]) {
    let mut open: Option<(u64, String)> = None;
    let mut next = 0;
    for (at, frame) in frames.iter().enumerate() {
        let kind = frame["type"].as_str().unwrap();
        let index = frame["index"].as_u64();
        match kind {
            "message_start" => {
                assert_eq!(at, 0, "message_start comes first and once");
                assert_eq!(frame["message"]["content"], json!([]));
                for key in ["input_tokens", "output_tokens"] {
                    assert!(frame["message"]["usage"][key].is_u64(), "{frame}");
                }
            }
            "content_block_start" => {
                assert_eq!((&open, index), (&None, Some(next)), "one block at a time, index rising: {frame}");
                open = Some((next, frame["content_block"]["type"].as_str().unwrap().to_owned()));
                next += 1;
            }
            "content_block_delta" => {
                let (current, block) = open.as_ref().unwrap_or_else(|| panic!("no open block: {frame}"));
                assert_eq!(Some(*current), index, "{frame}");
                let fits = match frame["delta"]["type"].as_str().unwrap() {
                    "text_delta" | "citations_delta" => block == "text",
                    "thinking_delta" | "signature_delta" => block == "thinking",
                    "input_json_delta" => block.ends_with("tool_use"),
                    _ => true,
                };
                assert!(fits, "{frame} into a {block} block");
            }
            "content_block_stop" => assert_eq!(open.take().map(|(current, _)| current), index, "{frame}"),
            "message_delta" => {
                assert_eq!(open, None, "{frame}");
                assert!(frame["usage"]["output_tokens"].is_u64(), "{frame}");
            }
            "message_stop" => assert_eq!(at + 1, frames.len(), "nothing follows the end"),
            _ => {}
        }
    }
}

#[test]
fn trap_01_each_delta_goes_into_a_block_of_its_type() {
    let seal = Seal { issuer: "anthropic".into(), data: "sig".into() };
    let events = [
        started(),
        open(0, PartKind::Thinking),
        delta(0, Delta::Thinking(String::new())),
        delta(0, Delta::Thinking("hm".into())),
        delta(0, Delta::Seal(seal.clone())),
        close(0),
        open(1, PartKind::Redacted(seal)),
        close(1),
        open(2, PartKind::Text),
        text(2, "hello"),
        close(2),
        open(3, call("c1")),
        delta(3, Delta::Arguments("{}".into())),
        close(3),
        finished(Stop::ToolUse),
    ];
    let frames = stream(&events);
    let kinds: Vec<&str> = frames.iter().filter_map(|frame| frame["delta"]["type"].as_str()).collect();
    assert_eq!(
        kinds,
        ["thinking_delta", "signature_delta", "text_delta", "input_json_delta"],
        "no empty deltas"
    );
}

#[test]
fn trap_02_text_after_a_call_opens_a_new_block() {
    let events = [
        started(),
        open(0, PartKind::Text),
        open(1, call("c1")),
        open(2, PartKind::Text),
        text(0, "before"),
        text(2, "after"),
        delta(1, Delta::Arguments("{\"a\":1}".into())),
        close(0),
        close(2),
        close(1),
        finished(Stop::ToolUse),
    ];
    let starts = stream(&events)
        .iter()
        .filter_map(|f| f["content_block"]["type"].as_str().map(str::to_owned))
        .collect::<Vec<_>>();
    assert_eq!(starts, ["text", "tool_use", "text"]);
}

#[test]
fn trap_04_a_blank_part_makes_no_block() {
    let frames =
        stream(&[started(), open(0, PartKind::Text), text(0, ""), close(0), finished(Stop::EndTurn)]);
    assert!(!frames.iter().any(|frame| frame["type"] == "content_block_start"), "{frames:?}");
}

#[test]
fn trap_05_the_start_carries_usage_with_cache_fields() {
    let frames = stream(&[started(), finished(Stop::EndTurn)]);
    let usage = &frames[0]["message"]["usage"];
    assert_eq!(
        usage,
        &json!({"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0})
    );
}

#[test]
fn trap_06_usage_that_comes_last_is_in_the_one_message_delta() {
    let usage = Usage { input: Some(5), cache_read: Some(7), output: Some(3), ..Usage::default() };
    let frames = stream(&[started(), Event::Usage(usage), finished(Stop::EndTurn)]);
    let deltas: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "message_delta").collect();
    assert_eq!(deltas.len(), 1);
    assert_eq!(
        deltas[0]["usage"],
        json!({"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 3})
    );
}

#[test]
fn trap_07_counts_of_start_and_delta_are_not_added() {
    let body = b"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"input_tokens\":10,\"output_tokens\":5}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let mut assembler = rail_model::Assembler::default();
    events(P, BodyKind::Stream, body).unwrap().into_iter().for_each(|event| assembler.push(event));
    let usage = assembler.finish().unwrap().unwrap().usage.unwrap();
    assert_eq!((usage.input, usage.output), (Some(10), Some(5)));
}

#[test]
fn trap_08_the_stop_reason_says_what_the_client_must_do() {
    let with_call = |stop| {
        vec![started(), open(0, call("c")), delta(0, Delta::Arguments("{}".into())), close(0), finished(stop)]
    };
    let without = |stop| vec![started(), open(0, PartKind::Text), text(0, "x"), close(0), finished(stop)];
    let table = [
        (with_call(Stop::EndTurn), "tool_use"),
        (with_call(Stop::MaxTokens), "max_tokens"),
        (without(Stop::ToolUse), "end_turn"),
        (without(Stop::Refusal), "refusal"),
        (without(Stop::StopSequence(Some("END".into()))), "stop_sequence"),
        (without(Stop::ContextFull), "model_context_window_exceeded"),
        (without(Stop::Other("weird".into())), "end_turn"),
    ];
    for (events, expected) in table {
        let frames = stream(&events);
        let delta = frames.iter().find(|frame| frame["type"] == "message_delta").unwrap();
        assert_eq!(delta["delta"]["stop_reason"], expected);
        let (whole, _) = write_answer(P, BodyKind::Whole, &events);
        assert_eq!(parse(&whole)["stop_reason"], expected);
    }
}

#[test]
fn trap_09_a_failure_in_mid_stream_has_the_official_shape() {
    let error = ApiError::new(ErrorKind::Overloaded, "busy");
    let frames = stream(&[started(), open(0, PartKind::Text), text(0, "x"), Event::Failed(error)]);
    assert_eq!(
        frames.last().unwrap(),
        &json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})
    );
}

#[test]
fn trap_10_a_stream_without_message_stop_is_truncated() {
    let (body, _) = write_answer(P, BodyKind::Stream, &[started(), finished(Stop::EndTurn)]);
    let cut = body.len() - "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n".len();
    assert_eq!(events(P, BodyKind::Stream, &body[..cut]).unwrap_err().kind, WireErrorKind::Truncated);
    assert_eq!(events(P, BodyKind::Stream, &body[..cut + 30]).unwrap_err().kind, WireErrorKind::Truncated);
    assert_eq!(events(P, BodyKind::Stream, b"").unwrap_err().kind, WireErrorKind::Truncated);
    let (unfinished, _) = write_answer(P, BodyKind::Stream, &[started()]);
    assert_eq!(frames(&unfinished).last().unwrap()["type"], "error", "and we say so to our own client");
}

#[test]
fn trap_11_keep_alives_are_events() {
    assert_eq!(frames(P.inbound.keep_alive()), [json!({"type": "ping"})]);
}

#[test]
fn trap_12_whole_answers_have_every_field_a_client_reads() {
    let events = [
        started(),
        open(0, PartKind::Thinking),
        delta(0, Delta::Thinking("hm".into())),
        close(0),
        open(1, PartKind::Text),
        text(1, "x"),
        close(1),
        finished(Stop::EndTurn),
    ];
    let (body, _) = write_answer(P, BodyKind::Whole, &events);
    let expected = json!({
        "id": "a1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": "x"}],
        "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0},
    });
    assert_eq!(parse(&body), expected);
}

#[test]
fn trap_17_ids_of_other_servers_become_legal_and_come_back() {
    let events = [
        started(),
        open(0, call("functions.bash:0")),
        delta(0, Delta::Arguments("{}".into())),
        close(0),
        finished(Stop::ToolUse),
    ];
    let frames = stream(&events);
    let id = frames[1]["content_block"]["id"].as_str().unwrap().to_owned();
    assert!(id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{id}");
    let body = json!({"model": "m", "max_tokens": 5, "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "bash", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]},
    ]});
    let request = read_request(P, body.to_string().as_bytes()).unwrap();
    let PartBody::ToolCall(call) = &request.messages[1].parts[0].body else { panic!() };
    let PartBody::ToolResult(result) = &request.messages[2].parts[0].body else { panic!() };
    assert_eq!(call.id, CallId::Given("functions.bash:0".into()));
    assert_eq!(result.id, call.id);
}

#[test]
fn trap_22_seals_of_other_issuers_travel_to_the_client_and_back() {
    let seal = Seal { issuer: "gemini".into(), data: "c2ln/+==".into() };
    let events = [
        started(),
        open(0, PartKind::Thinking),
        delta(0, Delta::Thinking("hm".into())),
        delta(0, Delta::Seal(seal.clone())),
        close(0),
        open(1, call("c1")),
        delta(1, Delta::Seal(seal.clone())),
        delta(1, Delta::Arguments("{}".into())),
        close(1),
        finished(Stop::ToolUse),
    ];
    let (body, losses) = write_answer(P, BodyKind::Whole, &events);
    assert_eq!(losses, []);
    let content = parse(&body)["content"].clone();
    let streamed = stream(&events);
    assert_eq!(
        streamed.iter().find_map(|f| f["delta"]["signature"].as_str()),
        content[0]["signature"].as_str()
    );
    assert_eq!(streamed.iter().find_map(|f| f["content_block"]["id"].as_str()), content[1]["id"].as_str());
    let back =
        json!({"model": "m", "max_tokens": 9, "messages": [{"role": "assistant", "content": content}]});
    let request = read_request(P, back.to_string().as_bytes()).unwrap();
    let seals: Vec<_> = request.messages[0].parts.iter().map(|part| part.seal.clone()).collect();
    assert_eq!(seals, [Some(seal.clone()), Some(seal)]);
}

#[test]
fn trap_23_redacted_thinking_arrives_whole_and_is_replayed_verbatim() {
    let block = json!({"type": "redacted_thinking", "data": "ENC=="});
    let seal = Seal { issuer: "anthropic".into(), data: "ENC==".into() };
    let frames = stream(&[started(), open(0, PartKind::Redacted(seal)), close(0), finished(Stop::EndTurn)]);
    assert_eq!(frames[1]["content_block"], block);
    let body = json!({"model": "m", "max_tokens": 5, "messages": [
        {"role": "user", "content": "q"}, {"role": "assistant", "content": [block.clone(), {"type": "text", "text": "a"}]}, {"role": "user", "content": "q"}]});
    let (written, _) = write_request(P, &read_request(P, body.to_string().as_bytes()).unwrap());
    assert_eq!(written["messages"][1]["content"][0], block);
}

#[test]
fn trap_25_beta_headers_travel_with_the_body_and_only_here() {
    let mut call = HttpCall::post("/v1/messages", br#"{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"context_management":{"edits":[]}}"#.to_vec());
    call.headers.push(("anthropic-beta".into(), "context-management-2025-06-27".into()));
    let request = P.inbound.decode_request(&call).unwrap();
    let sent = P.outbound.encode_request(&request, &TargetSpec::new("m")).call;
    assert_eq!(sent.header("anthropic-beta"), Some("context-management-2025-06-27"));
    assert_eq!(sent.header("anthropic-version"), Some("2023-06-01"));
}

#[test]
fn what_another_protocol_said_besides_is_a_named_loss_once() {
    let mut extras = Extras::NONE;
    extras.insert(ELSEWHERE, "system_fingerprint", json!("fp"));
    let delta = |n: usize| Event::Delta { at: 0, delta: Delta::Text(n.to_string()), extras: extras.clone() };
    let events = [started(), open(0, PartKind::Text), delta(1), delta(2), close(0), finished(Stop::EndTurn)];
    let (_, losses) = write_answer(P, BodyKind::Stream, &events);
    assert_eq!(losses.len(), 1);
    assert_eq!(losses[0].path, "content[0].system_fingerprint");
}

#[test]
fn bad_requests_name_protocol_field_and_place() {
    let table = [
        ("{", "anthropic: EOF while parsing an object at line 1 column 1"),
        (r#"{"messages":[]}"#, "anthropic, model: is missing"),
        (r#"{"model":"m"}"#, "anthropic, messages: is missing"),
        (r#"{"model":"m","messages":[{"role":"user"}]}"#, "anthropic, messages[0].content: is missing"),
        (
            r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text"}]}]}"#,
            "anthropic, messages[0].content[0].text: is missing",
        ),
        (
            r#"{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":1}]}]}]}"#,
            "anthropic, messages[0].content[0].content[0].text: invalid type: integer `1`, expected a string",
        ),
        (
            r#"{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":[]}]}]}"#,
            "anthropic, messages[0].content[0].input: must be an object",
        ),
        (
            r#"{"model":"m","max_tokens":-1,"messages":[]}"#,
            "anthropic, max_tokens: a count below zero at line 1 column 28",
        ),
        (
            r#"{"model":"m","messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64"}}]}]}"#,
            "anthropic, messages[0].content[0].source.data: is missing",
        ),
    ];
    for (body, expected) in table {
        let error = read_request(P, body.as_bytes()).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::InvalidRequest, expected), "{body}");
    }
}

#[test]
fn errors_of_any_shape_are_read() {
    let table: &[(u16, &str, ErrorKind, &str)] = &[
        (
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}"#,
            ErrorKind::RateLimited,
            "slow",
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#,
            ErrorKind::ContextLength,
            "prompt is too long: 9 > 8",
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
            ErrorKind::Quota,
            "Your credit balance is too low",
        ),
        (502, "<html><title>Bad gateway</title></html>", ErrorKind::Server, "HTTP 502: Bad gateway"),
        (503, "", ErrorKind::Overloaded, "HTTP 503 with an empty body"),
        (401, "no", ErrorKind::Authentication, "HTTP 401: no"),
    ];
    for (status, body, kind, message) in table {
        let reply = HttpReply {
            status: *status,
            headers: vec![("retry-after".into(), "2".into())],
            body: body.as_bytes().to_vec(),
        };
        let error = P.outbound.read_error(&reply);
        assert_eq!((error.kind, error.message.as_str()), (*kind, *message));
        assert_eq!(P.inbound.write_error(&error).header("retry-after"), Some("2"));
    }
}

#[test]
fn an_image_without_a_type_is_not_called_a_document() {
    let image = json!({"type": "image", "source": {"type": "base64", "data": "/9j/4AAQ"}});
    let body = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [image]}]});
    let (written, _) = write_request(P, &read_request(P, body.to_string().as_bytes()).unwrap());
    assert_eq!(written, body);
}
