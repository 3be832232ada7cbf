use rail_model::{
    Assembler, CallId, CallKind, Delta, Event, Extras, Media, MediaKind, MediaSource, Opaque, Part, PartBody,
    PartKind, ProtocolId, Reply, Seal, Stop, ToolCall, Usage,
};
use rail_wire::{BodyKind, ReplyTo, WireErrorKind, gemini};
use serde_json::{Value, json};

use super::{decode, events, payloads, written};

const OTHER: ProtocolId = ProtocolId::new("anthropic");

fn sse(frames: &[Value]) -> Vec<u8> {
    frames.iter().map(|frame| format!("data: {frame}\r\n\r\n")).collect::<String>().into_bytes()
}

fn folded(events: Vec<Event>) -> Reply {
    let mut assembler = Assembler::default();
    events.into_iter().for_each(|event| assembler.push(event));
    assembler.finish().unwrap().unwrap()
}

fn chunk(parts: Value) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}], "responseId": "r"})
}

fn last(parts: Value) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}], "responseId": "r"})
}

#[test]
fn text_and_thoughts_run_on_and_each_call_is_a_part_of_its_own() {
    let stream = sse(&[
        chunk(json!([{"text": "hm", "thought": true}])),
        chunk(json!([{"text": "m", "thought": true}, {"text": "a"}])),
        chunk(
            json!([{"text": "b"}, {"functionCall": {"name": "f", "args": {"x": 1.0}}}, {"functionCall": {"name": "f"}}]),
        ),
        last(json!([{"text": "c"}])),
    ]);
    let reply = folded(events(BodyKind::Stream, &stream, 5));
    let bodies: Vec<&PartBody> = reply.parts.iter().map(|part| &part.body).collect();
    assert!(matches!(bodies.as_slice(), [
        PartBody::Thinking(thought), PartBody::Text(first), PartBody::ToolCall(f), PartBody::ToolCall(g), PartBody::Text(then)
    ] if thought == "hmm" && first == "ab" && f.arguments == r#"{"x":1.0}"# && g.arguments.is_empty() && then == "c"));
    assert_eq!(reply.stop, Stop::ToolUse, "trap 36: STOP is said even with calls");
}

#[test]
fn trap_35_calls_without_id_get_the_same_minted_one_every_time() {
    let stream = sse(&[last(
        json!([{"functionCall": {"name": "f", "args": {}}}, {"functionCall": {"name": "f", "args": {}}}]),
    )]);
    let ids = |reply: Reply| -> Vec<CallId> {
        let call = |part: Part| if let PartBody::ToolCall(call) = part.body { call.id } else { panic!() };
        reply.parts.into_iter().map(call).collect()
    };
    let first = ids(folded(events(BodyKind::Stream, &stream, 1000)));
    assert_eq!(first, ids(folded(events(BodyKind::Stream, &stream, 1))));
    assert!(matches!(first.as_slice(), [CallId::Minted(a), CallId::Minted(b)] if a != b));
}

#[test]
fn trap_34_signatures_are_kept_where_they_stood() {
    let stream = sse(&[
        chunk(json!([{"text": "a"}])),
        chunk(json!([{"text": "b", "thoughtSignature": "AAA="}, {"text": "c"}])),
        chunk(json!([{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "BBB="}])),
        last(json!([{"text": "", "thoughtSignature": "CCC="}])),
    ]);
    let reply = folded(events(BodyKind::Stream, &stream, 9));
    let seals: Vec<Option<&str>> =
        reply.parts.iter().map(|part| part.seal.as_ref().map(|seal| seal.data.as_str())).collect();
    assert_eq!(seals, [None, Some("AAA="), None, Some("BBB="), None]);
    assert!(
        matches!(&reply.parts[4].body, PartBody::Redacted(Seal { issuer, data }) if issuer == "gemini" && data == "CCC=")
    );
}

#[test]
fn trap_34_a_signature_that_comes_later_belongs_to_the_thought_before_it() {
    let thought = |text: &str| json!({"text": text, "thought": true});
    let sealed = [
        json!({"text": "", "thought": true, "thoughtSignature": "AAA="}),
        json!({"thought": true, "thoughtSignature": "AAA="}),
        json!({"text": "m", "thought": true, "thoughtSignature": "AAA=", "partMetadata": {"a": 1}}),
    ];
    for sealed in sealed {
        let words = format!("hm{}", sealed["text"].as_str().unwrap_or_default());
        let later = [chunk(json!([thought("hm")])), chunk(json!([sealed])), last(json!([{"text": "a"}]))];
        let beside = [chunk(json!([thought("hm"), sealed])), last(json!([{"text": "a"}]))];
        for frames in [later.to_vec(), beside.to_vec()] {
            let events = events(BodyKind::Stream, &sse(&frames), 7);
            assert_eq!(payloads(BodyKind::Stream, &written(BodyKind::Stream, &events)), frames);
            let reply = folded(events);
            let seal = Seal { issuer: "gemini".to_owned(), data: "AAA=".to_owned() };
            let said: Vec<_> = reply.parts.iter().map(|part| (&part.body, part.seal.as_ref())).collect();
            let (thought, answer) = (PartBody::Thinking(words.clone()), PartBody::Text("a".to_owned()));
            assert_eq!(said, [(&thought, Some(&seal)), (&answer, None)], "{frames:?}");
        }
    }
    // After a seal the next thought is another one, and a call's seal stays the call's.
    let reply = folded(events(
        BodyKind::Stream,
        &sse(&[
            chunk(
                json!([thought("a"), {"text": "", "thought": true, "thoughtSignature": "AAA="}, thought("b")]),
            ),
            last(json!([{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "BBB="}])),
        ]),
        9,
    ));
    let seals: Vec<Option<&str>> =
        reply.parts.iter().map(|part| part.seal.as_ref().map(|seal| seal.data.as_str())).collect();
    assert_eq!(seals, [Some("AAA="), None, Some("BBB=")]);
}

#[test]
fn trap_36_a_candidate_without_content_is_an_empty_answer() {
    for body in [
        json!({"candidates": [{"finishReason": "MAX_TOKENS", "index": 0}]}),
        json!({"candidates": [{"content": {}, "finishReason": "MAX_TOKENS"}]}),
        json!({"candidates": [{"content": {"parts": []}, "finishReason": "MAX_TOKENS"}]}),
    ] {
        let reply = folded(events(BodyKind::Whole, body.to_string().as_bytes(), 1000));
        assert_eq!((reply.parts.len(), &reply.stop), (0, &Stop::MaxTokens));
        assert_eq!(payloads(BodyKind::Whole, &written(BodyKind::Whole, &reply.into_events())), [body]);
    }
}

#[test]
fn ends_have_their_meaning_and_keep_their_word() {
    let table = [
        ("STOP", Stop::EndTurn),
        ("MAX_TOKENS", Stop::MaxTokens),
        ("SAFETY", Stop::Refusal),
        ("RECITATION", Stop::Refusal),
        ("IMAGE_SAFETY", Stop::Refusal),
        ("SPII", Stop::Refusal),
        ("MALFORMED_FUNCTION_CALL", Stop::MalformedCall),
        ("LANGUAGE", Stop::Other("LANGUAGE".into())),
        ("OTHER", Stop::Other("OTHER".into())),
    ];
    for (word, stop) in table {
        let frame = json!({"candidates": [{"finishReason": word, "index": 0}]});
        let events = events(BodyKind::Stream, &sse(std::slice::from_ref(&frame)), 1000);
        assert!(matches!(events.last(), Some(Event::Finished { stop: got, .. }) if *got == stop), "{word}");
        assert_eq!(payloads(BodyKind::Stream, &written(BodyKind::Stream, &events)), [frame], "{word}");
    }
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    assert!(matches!(
        events(BodyKind::Stream, &sse(&[blocked]), 1000).last(),
        Some(Event::Finished { stop: Stop::Refusal, .. })
    ));
}

#[test]
fn trap_37_usage_is_disjoint_inside_and_googles_outside() {
    let tokens = json!({"promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 7, "thoughtsTokenCount": 5,
        "toolUsePromptTokenCount": 3, "totalTokenCount": 115});
    let body = json!({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}], "usageMetadata": tokens});
    let reply = folded(events(BodyKind::Whole, body.to_string().as_bytes(), 1000));
    let usage = reply.usage.unwrap();
    assert_eq!(
        (usage.input, usage.cache_read, usage.output, usage.reasoning),
        (Some(63), Some(40), Some(7), Some(5))
    );
    assert_eq!(usage.total(), 115);
    let foreign = Usage {
        input: Some(10),
        cache_read: Some(20),
        cache_write: Some(5),
        output: Some(4),
        reasoning: None,
        extras: Extras::NONE,
    };
    let out = written(BodyKind::Whole, &said(&[], Some(foreign), Stop::EndTurn));
    let expected = json!({"promptTokenCount": 35, "cachedContentTokenCount": 20, "candidatesTokenCount": 4, "totalTokenCount": 39});
    assert_eq!(payloads(BodyKind::Whole, &out)[0]["usageMetadata"], expected);
}

/// An answer of another protocol, as events.
fn said(parts: &[Part], usage: Option<Usage>, stop: Stop) -> Vec<Event> {
    let (id, model) = (Some("msg_1".to_owned()), Some("claude".to_owned()));
    Reply { id, model, parts: parts.to_vec(), stop, usage, extras: Extras::NONE, end: Extras::NONE }
        .into_events()
}

fn call(id: &str, arguments: &str) -> Part {
    let id = CallId::Given(id.into());
    Part::new(PartBody::ToolCall(ToolCall {
        id,
        name: "f".into(),
        arguments: arguments.into(),
        kind: CallKind::Function,
    }))
}

#[test]
fn an_answer_of_another_protocol_goes_out_piece_by_piece() {
    let seal = |data: &str| Some(Seal { issuer: "anthropic".into(), data: data.into() });
    let thought = Part { seal: seal("sig"), ..Part::new(PartBody::Thinking("hm".into())) };
    let called = Part { seal: seal("enc"), ..call("toolu_1", r#"{"a":1}"#) };
    let usage = Usage { input: Some(3), output: Some(2), ..Usage::default() };
    let events = said(&[thought, Part::text("Hi"), called, call("c.2", "")], Some(usage), Stop::ToolUse);
    let frames = payloads(BodyKind::Stream, &written(BodyKind::Stream, &events));
    let parts: Vec<&Value> =
        frames.iter().map(|frame| &frame["candidates"][0]["content"]["parts"][0]).collect();
    assert_eq!(parts[0], &json!({"text": "hm", "thought": true}));
    assert_eq!(parts[2], &json!({"text": "Hi"}));
    assert_eq!(parts[3]["functionCall"], json!({"id": "toolu_1", "name": "f", "args": {"a": 1}}));
    assert_eq!(parts[4], &json!({"functionCall": {"id": "c.2", "name": "f", "args": {}}}));
    assert_eq!(parts[5], &json!({"text": ""}));
    let end = &frames[5];
    assert_eq!(end["candidates"][0]["finishReason"], "STOP");
    assert_eq!(
        end["usageMetadata"],
        json!({"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5})
    );
    assert!(
        frames[..5]
            .iter()
            .all(|frame| frame.get("usageMetadata").is_none() && frame["modelVersion"] == "claude")
    );
    assert_eq!(payloads(BodyKind::Array, &written(BodyKind::Array, &events)), frames, "as an array the same");

    // What the client sends back holds the seals again, for the issuer alone.
    let whole = payloads(BodyKind::Whole, &written(BodyKind::Whole, &events)).remove(0);
    let streamed: Vec<&Value> = parts[..5].to_vec();
    for content in [whole["candidates"][0]["content"].clone(), json!({"role": "model", "parts": streamed})] {
        let back = decode(&json!({"contents": [content]}));
        let parts = &back.messages[0].parts;
        assert!(matches!(&parts[0].body, PartBody::Thinking(text) if text == "hm"), "{parts:?}");
        assert_eq!(parts[0].seal, seal("sig"));
        assert_eq!((parts[2].seal.clone(), parts[3].seal.clone()), (seal("enc"), None));
    }
}

#[test]
fn what_an_answer_cannot_say_is_told_once() {
    let image = Media {
        kind: MediaKind::Image,
        mime: Some("image/png".into()),
        source: MediaSource::Base64("AA==".into()),
        name: None,
    };
    let mut text = Part::text("x");
    text.extras.insert(OTHER, "citations", json!([1]));
    let opaque =
        Part::new(PartBody::Opaque(Opaque { origin: OTHER, value: json!({"type": "server_tool_use"}) }));
    let mut events =
        said(&[text, opaque, Part::new(PartBody::Media(image)), call("1", "not json")], None, Stop::Pause);
    events.insert(1, Event::Opaque(Opaque { origin: OTHER, value: json!({}) }));
    let mut encoder = gemini::PROTOCOL
        .inbound
        .encoder(BodyKind::Stream, &ReplyTo { model: Some("mine".into()), ..ReplyTo::default() });
    let mut out = Vec::new();
    events.iter().for_each(|event| encoder.push(event, &mut out));
    let frames = payloads(BodyKind::Stream, &out);
    assert!(frames.iter().all(|frame| frame["modelVersion"] == "mine"));
    assert_eq!(
        frames[1]["candidates"][0]["content"]["parts"][0],
        json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}})
    );
    assert_eq!(
        frames[2]["candidates"][0]["content"]["parts"][0]["functionCall"]["args"],
        json!({"_raw": "not json"})
    );
    let losses: Vec<String> = encoder.losses().into_iter().map(|loss| loss.path).collect();
    assert_eq!(losses, ["event", "parts[0].citations", "parts[1]", "parts[3]", "stop"]);
    assert!(encoder.losses().is_empty());
}

#[test]
fn no_frame_goes_out_without_parts() {
    let delta = |delta| Event::Delta { at: 0, delta, extras: Extras::NONE };
    let events = [
        Event::Started { id: None, model: None, extras: Extras::NONE },
        Event::Opened { at: 0, kind: PartKind::Text, extras: Extras::NONE },
        delta(Delta::Text(String::new())),
        delta(Delta::Extra { origin: OTHER, key: "citations", value: json!(1) }),
        delta(Delta::Text("x".into())),
        Event::Closed { at: 0, extras: Extras::NONE },
        Event::Finished { stop: Stop::EndTurn, extras: Extras::NONE },
    ];
    let frames = payloads(BodyKind::Stream, &written(BodyKind::Stream, &events));
    let parts: Vec<&Value> = frames.iter().map(|frame| &frame["candidates"][0]["content"]["parts"]).collect();
    assert_eq!(parts, [&json!([{"text": "x"}]), &json!([{"text": ""}])]);
}

#[test]
fn arguments_on_several_lines_stay_one_event() {
    let events = said(&[call("1", "{\n  \"a\": \"x\\n\",\r\n  \"b\": 1.50\n}")], None, Stop::ToolUse);
    let out = written(BodyKind::Stream, &events);
    assert_eq!(out.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"data: ")).count(), 2);
    let args =
        payloads(BodyKind::Stream, &out)[0]["candidates"][0]["content"]["parts"][0]["functionCall"]["args"]
            .to_string();
    assert_eq!(args, r#"{"a":"x\n","b":1.50}"#);
}

#[test]
fn overlapping_parts_come_one_after_the_other() {
    let open = |at, kind| Event::Opened { at, kind, extras: Extras::NONE };
    let delta = |at, delta| Event::Delta { at, delta, extras: Extras::NONE };
    let close = |at| Event::Closed { at, extras: Extras::NONE };
    let kind =
        PartKind::ToolCall { id: CallId::Given("1".into()), name: "f".into(), kind: CallKind::Function };
    let events = [
        Event::Started { id: None, model: None, extras: Extras::NONE },
        open(0, kind.clone()),
        open(1, kind),
        delta(1, Delta::Arguments("{\"b\":".into())),
        delta(0, Delta::Arguments("{}".into())),
        delta(1, Delta::Arguments("2}".into())),
        close(1),
        close(0),
        Event::Finished { stop: Stop::ToolUse, extras: Extras::NONE },
    ];
    let frames = payloads(BodyKind::Stream, &written(BodyKind::Stream, &events));
    let args: Vec<&Value> = frames[..2]
        .iter()
        .map(|frame| &frame["candidates"][0]["content"]["parts"][0]["functionCall"]["args"])
        .collect();
    assert_eq!(args, [&json!({}), &json!({"b": 2})]);
}

#[test]
fn trap_10_a_stream_without_its_end_is_truncated() {
    for body in [Vec::new(), sse(&[chunk(json!([{"text": "a"}]))])] {
        let mut decoder = gemini::PROTOCOL.outbound.decoder(BodyKind::Stream);
        let mut out = Vec::new();
        decoder.push(&body, &mut out).unwrap();
        let error = decoder.finish(&mut out).unwrap_err();
        assert_eq!(error.kind, WireErrorKind::Truncated);
    }
    let half = said(&[Part::text("x")], None, Stop::EndTurn);
    for kind in [BodyKind::Stream, BodyKind::Array, BodyKind::Whole] {
        let frames = payloads(kind, &written(kind, &half[..3]));
        assert_eq!(frames.last().unwrap()["error"]["status"], "INTERNAL", "{kind:?}");
    }
}

#[test]
fn tokens_may_come_after_the_end_and_odd_frames_keep_their_form() {
    let frames = [
        json!({"candidates": [{"content": {"parts": [{"text": "a"}, {"text": ""}, {"text": "b"}], "role": "model"}}], "modelVersion": "m"}),
        json!({"candidates": [{"content": {"parts": [{"text": "c"}]}, "index": 0, "safetyRatings": []}], "modelVersion": "other"}),
        json!({"candidates": [{"content": {"role": "model"}}]}),
        json!({"candidates": [{"content": {"parts": [{"text": "d", "x": 1}], "role": "model"}, "finishReason": "STOP", "tokenCount": 3}], "modelVersion": "m"}),
        json!({"usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 1}, "modelVersion": "m"}),
        json!({"usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 4, "totalTokenCount": 5}, "x": 1}),
    ];
    let events = events(BodyKind::Stream, &sse(&frames), 11);
    assert_eq!(payloads(BodyKind::Stream, &written(BodyKind::Stream, &events)), frames);
    let whole = payloads(BodyKind::Whole, &written(BodyKind::Whole, &events)).remove(0);
    assert_eq!(whole["candidates"][0]["finishReason"], "STOP");
    assert_eq!(whole["usageMetadata"]["totalTokenCount"], 5);
    assert_eq!(folded(events).usage.unwrap().output, Some(4));
    let blocked = [
        json!({"candidates": [{"finishReason": "SAFETY"}]}),
        json!({"usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 1}}),
    ];
    let events = super::events(BodyKind::Stream, &sse(&blocked), 11);
    assert_eq!(payloads(BodyKind::Stream, &written(BodyKind::Stream, &events)), blocked);
}

#[test]
fn older_models_say_the_end_with_every_frame() {
    let frames = [
        last(json!([{"text": "a"}])),
        last(json!([{"text": "b"}])),
        last(json!([{"functionCall": {"name": "f", "args": {}}}])),
    ];
    let events = events(BodyKind::Stream, &sse(&frames), 1000);
    assert_eq!(payloads(BodyKind::Stream, &written(BodyKind::Stream, &events)), frames);
    let reply = folded(events);
    assert_eq!((reply.parts.len(), reply.parts[0].as_text(), reply.stop), (2, Some("ab"), Stop::ToolUse));
}

#[test]
fn the_client_sees_the_model_it_asked_for() {
    let mut frames = vec![chunk(json!([{"text": "a"}])), json!({"x": 1}), last(json!([{"text": "b"}]))];
    frames.iter_mut().for_each(|frame| frame["modelVersion"] = json!("upstream"));
    frames[2]["modelVersion"] = json!("another");
    let mut encoder = gemini::PROTOCOL
        .inbound
        .encoder(BodyKind::Stream, &ReplyTo { model: Some("mine".into()), ..ReplyTo::default() });
    let mut out = Vec::new();
    events(BodyKind::Stream, &sse(&frames), 1000).iter().for_each(|event| encoder.push(event, &mut out));
    let seen = payloads(BodyKind::Stream, &out);
    assert!(seen.len() == 3 && seen.iter().all(|frame| frame["modelVersion"] == "mine"), "{seen:?}");
}

#[test]
fn keep_alive_is_nothing_to_everybody() {
    let mut stream = gemini::PROTOCOL.inbound.keep_alive().to_vec();
    stream.extend(sse(&[last(json!([{"text": "x"}]))]));
    assert_eq!(folded(events(BodyKind::Stream, &stream, 1)).parts.len(), 1);
    assert!(stream.starts_with(b"\r\n"), "a comment would break Google's Python SDK");
}
