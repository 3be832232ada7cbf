//! What clients of the Responses API enforce, Codex above all, and what the API demands, by the traps of the trade.

use std::time::Duration;

use rail_model::{
    ApiError, CallId, CallKind, Delta, ErrorKind, Event, Extras, Media, MediaKind, MediaSource, Opaque,
    PartKind, ProtocolId, Seal, Stop, Usage,
};
use rail_wire::{BodyKind, Protocol, ReplyTo, WireErrorKind, openai_responses};
use serde_json::{Value, json};

use crate::corpus::{events, frames, json as parse, read_request, write_answer, write_request};

pub(crate) const P: &Protocol = &openai_responses::PROTOCOL;
const ELSEWHERE: ProtocolId = ProtocolId::new("elsewhere");

pub(crate) fn started() -> Event {
    Event::Started { id: Some("a1".into()), model: Some("m".into()), extras: Extras::NONE }
}
pub(crate) fn open(at: usize, kind: PartKind) -> Event {
    Event::Opened { at, kind, extras: Extras::NONE }
}
pub(crate) fn delta(at: usize, delta: Delta) -> Event {
    Event::Delta { at, delta, extras: Extras::NONE }
}
pub(crate) fn text(at: usize, text: &str) -> Event {
    delta(at, Delta::Text(text.into()))
}
pub(crate) fn close(at: usize) -> Event {
    Event::Closed { at, extras: Extras::NONE }
}
pub(crate) fn finished(stop: Stop) -> Event {
    Event::Finished { stop, extras: Extras::NONE }
}
pub(crate) fn call(id: &str, name: &str, kind: CallKind) -> PartKind {
    PartKind::ToolCall { id: CallId::Given(id.into()), name: name.into(), kind }
}

/// Writes a stream for a client that asked so, and holds it against what client libraries expect.
fn stream_to(reply_to: &ReplyTo, events: &[Event]) -> Vec<Value> {
    let mut encoder = P.inbound.encoder(BodyKind::Stream, reply_to);
    let mut out = Vec::new();
    events.iter().for_each(|event| encoder.push(event, &mut out));
    encoder.finish(&mut out);
    let frames = frames(&out);
    check(&frames);
    frames
}

fn stream(events: &[Event]) -> Vec<Value> {
    stream_to(&ReplyTo::default(), events)
}

/// The rules of the official stream: numbers without gaps, one item at a time, complete texts that repeat their
/// pieces, and an end that repeats the items.
pub(crate) fn check(frames: &[Value]) {
    let mut items: Vec<Value> = Vec::new();
    let mut open: Option<String> = None;
    let mut said = String::new();
    for (at, frame) in frames.iter().enumerate() {
        let kind = frame["type"].as_str().unwrap();
        assert_eq!(frame["sequence_number"], at, "{frame}");
        let fits = |id: &Option<String>| frame["item_id"].as_str() == id.as_deref();
        match kind {
            "response.created" => assert_eq!((at, &frame["response"]["output"]), (0, &json!([]))),
            "response.output_item.added" => {
                assert_eq!(
                    (&open, frame["output_index"].as_u64()),
                    (&None, Some(items.len() as u64)),
                    "{frame}"
                );
                open = Some(frame["item"]["id"].as_str().unwrap().to_owned());
            }
            "response.output_item.done" => {
                assert_eq!(open.take().as_deref(), frame["item"]["id"].as_str(), "{frame}");
                items.push(frame["item"].clone());
            }
            "response.completed" | "response.incomplete" => {
                assert_eq!((at + 1, &open), (frames.len(), &None), "the end is the end");
                assert_eq!(frame["response"]["output"], Value::Array(items.clone()));
            }
            "response.failed" => assert_eq!(at + 1, frames.len()),
            _ if kind.ends_with("part.added") => said.clear(),
            _ if kind.ends_with(".delta") => {
                assert!(fits(&open), "{frame}");
                said.push_str(frame["delta"].as_str().unwrap());
            }
            _ if frame.get("item_id").is_some() => {
                assert!(fits(&open), "{frame}");
                let complete =
                    ["text", "refusal", "arguments", "input"].iter().find_map(|key| frame[*key].as_str());
                if let Some(complete) = complete {
                    assert_eq!(complete, std::mem::take(&mut said));
                }
            }
            _ => {}
        }
    }
}

fn types(frames: &[Value]) -> Vec<&str> {
    frames.iter().map(|frame| frame["type"].as_str().unwrap().trim_start_matches("response.")).collect()
}

#[test]
fn the_whole_sequence_of_an_answer_of_another_protocol() {
    let seal = Seal { issuer: "anthropic".into(), data: "sig".into() };
    let events = [
        started(),
        open(0, PartKind::Thinking),
        delta(0, Delta::Thinking("hm".into())),
        delta(0, Delta::Seal(seal.clone())),
        close(0),
        open(1, PartKind::Text),
        open(2, call("toolu_1", "bash", CallKind::Function)),
        text(1, "let me"),
        delta(2, Delta::Arguments("{\"a\":1}".into())),
        text(1, " look"),
        close(2),
        close(1),
        finished(Stop::ToolUse),
    ];
    let frames = stream(&events);
    let expected = "created in_progress output_item.added reasoning_summary_part.added reasoning_summary_text.delta \
        reasoning_summary_text.done reasoning_summary_part.done output_item.done output_item.added content_part.added \
        output_text.delta output_text.delta output_text.done content_part.done output_item.done output_item.added \
        function_call_arguments.delta function_call_arguments.done output_item.done completed";
    assert_eq!(types(&frames).join(" "), expected.split_whitespace().collect::<Vec<_>>().join(" "));
    let output = &frames.last().unwrap()["response"]["output"];
    assert_eq!(output[0]["encrypted_content"], "rail1.anthropic.sig", "the seal travels in the native field");
    assert_eq!(output[2]["call_id"], "toolu_1");
    // The client gives it all back: the seal is its issuer's again, and no id that we made up goes anywhere.
    let body = json!({"model": "m", "input": [output[0], output[1], output[2], {"type": "function_call_output", "call_id": "toolu_1", "output": "x"}]});
    let request = read_request(P, body.to_string().as_bytes()).unwrap();
    assert_eq!(request.messages[0].parts[0].seal, Some(seal));
    let (sent, losses) = write_request(P, &request);
    assert!(!sent.to_string().contains("rail"), "{sent}");
    assert_eq!(sent["input"].as_array().unwrap().len(), 3, "reasoning of another issuer is not sent");
    assert!(!losses.is_empty(), "and its loss is named");
}

#[test]
fn trap_04_a_blank_part_makes_no_item() {
    let frames =
        stream(&[started(), open(0, PartKind::Text), text(0, ""), close(0), finished(Stop::EndTurn)]);
    assert_eq!(types(&frames), ["created", "in_progress", "completed"]);
    let whole = write_answer(
        P,
        BodyKind::Whole,
        &[started(), open(0, PartKind::Text), close(0), finished(Stop::EndTurn)],
    );
    assert_eq!(parse(&whole.0)["output"], json!([]));
}

#[test]
fn trap_10_only_the_end_event_ends_a_stream_and_done_is_not_demanded() {
    let end = b"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[]}}\n\n";
    let begin =
        b"data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"status\":\"in_progress\"}}\n\n";
    let both = [&begin[..], &end[..]].concat();
    assert!(events(P, BodyKind::Stream, &both).is_ok());
    let with_done = [&both[..], b"data: [DONE]\n\ndata: {\"type\":\"x\"}\n\n"].concat();
    assert_eq!(events(P, BodyKind::Stream, &with_done), events(P, BodyKind::Stream, &both));
    for cut in [&begin[..], &both[..both.len() - 20], b"", b"data: [DONE]\n\n"] {
        assert_eq!(events(P, BodyKind::Stream, cut).unwrap_err().kind, WireErrorKind::Truncated);
    }
    let unfinished = stream(&[started(), open(0, PartKind::Text), text(0, "x")]);
    assert_eq!(unfinished.last().unwrap()["response"]["error"]["code"], "server_error", "and we say so");
}

#[test]
fn trap_11_keep_alives_are_events() {
    assert_eq!(frames(P.inbound.keep_alive()), [json!({"type": "keepalive"})]);
    let frames = stream(&[started(), Event::Ping, Event::Ping, finished(Stop::EndTurn)]);
    assert_eq!(types(&frames), ["created", "in_progress", "keepalive", "completed"]);
}

#[test]
fn trap_17_ids_and_seals_of_others_come_back() {
    let seal = Seal { issuer: "gemini".into(), data: "a.b+/=".into() };
    let events = [
        started(),
        open(0, call("functions.bash:0", "bash", CallKind::Function)),
        delta(0, Delta::Seal(seal.clone())),
        delta(0, Delta::Arguments("{}".into())),
        close(0),
        finished(Stop::ToolUse),
    ];
    let item = stream(&events).last().unwrap()["response"]["output"][0].clone();
    let id = item["call_id"].clone();
    let body =
        json!({"model": "m", "input": [item, {"type": "function_call_output", "call_id": id, "output": ""}]});
    let request = read_request(P, body.to_string().as_bytes()).unwrap();
    let part = &request.messages[0].parts[0];
    assert_eq!(part.seal, Some(seal));
    let rail_model::PartBody::ToolCall(call) = &part.body else { panic!("{part:?}") };
    assert_eq!(call.id, CallId::Given("functions.bash:0".into()));
    let rail_model::PartBody::ToolResult(result) = &request.messages[1].parts[0].body else { panic!() };
    assert_eq!(result.id, call.id);
}

#[test]
fn trap_30_errors_inside_http_200() {
    let body = br#"{"error":{"message":"Slow","code":"rate_limit_exceeded","type":"requests"}}"#;
    let whole = events(P, BodyKind::Whole, body).unwrap();
    assert!(matches!(&whole[..], [Event::Failed(error)] if error.kind == ErrorKind::RateLimited));
    let stream = [&b"data: "[..], &body[..], b"\n\n"].concat();
    let streamed = events(P, BodyKind::Stream, &stream).unwrap();
    assert!(matches!(&streamed[..], [Event::Failed(error)] if error.kind == ErrorKind::RateLimited));
}

#[test]
fn trap_38_codex_can_read_every_end() {
    let usages = [
        (None, Value::Null),
        (
            Some(Usage { input: Some(5), ..Usage::default() }),
            json!({"input_tokens": 5, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "output_tokens": 0,
                "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 5}),
        ),
        (
            Some(Usage {
                input: Some(5),
                cache_read: Some(7),
                cache_write: Some(2),
                output: Some(3),
                reasoning: Some(4),
                ..Usage::default()
            }),
            json!({"input_tokens": 14, "input_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 2}, "output_tokens": 7,
                "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 21}),
        ),
    ];
    for (usage, expected) in usages {
        let anonymous = Event::Started { id: None, model: None, extras: Extras::NONE };
        let events: Vec<Event> =
            [anonymous].into_iter().chain(usage.map(Event::Usage)).chain([finished(Stop::EndTurn)]).collect();
        let frames = stream(&events);
        let response = &frames.last().unwrap()["response"];
        assert!(response["id"].as_str().unwrap().starts_with("resp_"));
        assert_eq!(response["usage"], expected);
    }
}

#[test]
fn trap_39_a_cut_answer_is_incomplete_unless_the_client_can_not_bear_it() {
    let events = [started(), open(0, PartKind::Text), text(0, "half"), close(0), finished(Stop::MaxTokens)];
    let last = stream(&events).pop().unwrap();
    assert_eq!(
        (last["type"].as_str(), &last["response"]["incomplete_details"]),
        (Some("response.incomplete"), &json!({"reason": "max_output_tokens"}))
    );
    let mut lenient = ReplyTo::default();
    lenient.echo.insert(openai_responses::COMPLETE_ON_LENGTH.to_owned(), Value::Bool(true));
    let last = stream_to(&lenient, &events).pop().unwrap();
    assert_eq!(
        (last["type"].as_str(), last["response"]["status"].as_str()),
        (Some("response.completed"), Some("completed"))
    );
}

#[test]
fn trap_40_the_code_of_a_failure_tells_codex_what_to_do() {
    use ErrorKind as K;
    let table = [
        (K::ContextLength, "context_length_exceeded"),
        (K::Quota, "insufficient_quota"),
        (K::Refused, "invalid_prompt"),
        (K::InvalidRequest, "invalid_prompt"),
        (K::Server, "server_error"),
        (K::Timeout, "server_error"),
    ];
    for (kind, code) in table {
        let frames = stream(&[started(), Event::Failed(ApiError::new(kind, "why"))]);
        assert_eq!(frames.last().unwrap()["response"]["error"], json!({"code": code, "message": "why"}));
    }
    let frames = stream(&[started(), Event::Failed(ApiError::new(K::Overloaded, "Busy."))]);
    let waits = json!({"code": "rate_limit_exceeded", "message": "Busy. Please try again in 5.000s."});
    assert_eq!(
        frames.last().unwrap()["response"]["error"],
        waits,
        "an overload passes, so Codex must wait and ask again"
    );
    let mut error = ApiError::new(K::RateLimited, "Too many.");
    error.retry_after = Some(Duration::from_millis(3200));
    let frames = stream(&[Event::Failed(error)]);
    assert_eq!(types(&frames), ["created", "failed"], "a failure needs a beginning");
    let expected = json!({"code": "rate_limit_exceeded", "message": "Too many. Please try again in 3.200s."});
    assert_eq!(frames[1]["response"]["error"], expected);
}

#[test]
fn what_can_not_be_said_is_named_once() {
    let mut extras = Extras::NONE;
    extras.insert(ELSEWHERE, "mood", json!("good"));
    let medium =
        |kind, source| PartKind::Media(Media { kind, mime: Some("image/png".into()), source, name: None });
    let opaque = |value| Opaque { origin: ELSEWHERE, value };
    let events = [
        started(),
        Event::Opaque(opaque(json!({"type": "tick"}))),
        Event::Opaque(opaque(json!({"type": "tick"}))),
        open(0, PartKind::Opaque(opaque(json!({})))),
        close(0),
        open(1, medium(MediaKind::Audio, MediaSource::Base64("AA".into()))),
        close(1),
        open(2, medium(MediaKind::Image, MediaSource::Base64("AAEC".into()))),
        close(2),
        Event::Opened { at: 3, kind: PartKind::Text, extras },
        text(3, "x"),
        delta(3, Delta::Extra { origin: ELSEWHERE, key: "notes", value: json!(1) }),
        delta(3, Delta::Extra { origin: ELSEWHERE, key: "notes", value: json!(2) }),
        close(3),
        finished(Stop::Pause),
    ];
    let (_, losses) = write_answer(P, BodyKind::Stream, &events);
    let paths: Vec<&str> = losses.iter().map(|loss| loss.path.as_str()).collect();
    assert_eq!(paths, ["event.elsewhere", "output[0]", "output[1].mood", "output[1].notes", "stop"]);
    let output = stream(&events).last().unwrap()["response"]["output"].clone();
    assert_eq!((&output[0]["type"], &output[0]["result"]), (&json!("image_generation_call"), &json!("AAEC")));
}
