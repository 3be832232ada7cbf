//! Relay is translate: what goes on as it came says what the codecs would have said.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rail_model::Request;
use rail_wire::{
    ALL, BodyKind, EventEnds, HttpCall, MaxTokensKey, Protocol, Quirks, ReasoningBack, ReplyTo, TargetSpec,
    ThinkingStyle, gemini, openai_responses, rename_model,
};
use serde_json::{Value, json};

use crate::corpus::{Fixture, events, fixtures, frames, json, without_nulls};
use crate::gemini::corpus::in_camel_case;

/// Targets that depart from their protocol, each in one way.
fn targets() -> Vec<(&'static str, TargetSpec)> {
    let usual = || TargetSpec::new("the/target");
    let quirky = |quirks| TargetSpec { quirks, ..usual() };
    let thinks = |thinking| TargetSpec { thinking, ..usual() };
    let quirks = Quirks::default;
    vec![
        ("usual", usual()),
        ("counting", TargetSpec { count_usage: true, ..usual() }),
        ("another issuer", TargetSpec { issuer: Some("provider:p".to_owned()), ..usual() }),
        ("little output", TargetSpec { max_output: Some(64), ..usual() }),
        ("blind", TargetSpec { images: None, ..usual() }),
        ("never thinks", thinks(ThinkingStyle::Never)),
        ("thinks by budget", thinks(ThinkingStyle::Budget)),
        ("thinks as it likes", thinks(ThinkingStyle::Adaptive)),
        ("thinks by effort", thinks(ThinkingStyle::Effort)),
        ("no developers", quirky(Quirks { developer_role: false, ..quirks() })),
        ("newer limit", quirky(Quirks { max_tokens_key: MaxTokensKey::MaxCompletionTokens, ..quirks() })),
        ("reasoning back", quirky(Quirks { reasoning_back: ReasoningBack::Always, ..quirks() })),
        ("no images in results", quirky(Quirks { image_in_tool_result: false, ..quirks() })),
        ("functions only", quirky(Quirks { custom_tools: false, ..quirks() })),
        ("no usage in streams", quirky(Quirks { stream_usage: false, ..quirks() })),
    ]
}

fn read(protocol: &Protocol, body: &[u8]) -> Option<Request> {
    let path = match protocol.id == gemini::ID {
        true => "/v1beta/models/gemini-3-pro:streamGenerateContent",
        false => "",
    };
    let headers =
        vec![("anthropic-beta".to_owned(), "b".to_owned()), ("openai-beta".to_owned(), "b".to_owned())];
    protocol.inbound.decode_request(&HttpCall { headers, ..HttpCall::post(path, body.to_vec()) }).ok()
}

/// Whether the request goes on as it came; if so, it must be what the encoder writes.
fn forwarded(protocol: &Protocol, body: &[u8], target: &TargetSpec) -> Result<bool, String> {
    let Some(request) = read(protocol, body) else { return Ok(false) };
    let Some(call) = protocol.outbound.forward(&request, target, body) else { return Ok(false) };
    let encoded = protocol.outbound.encode_request(&request, target);
    // Gemini allows two spellings of every key; its encoder has one.
    // A null says nothing.
    let spelled =
        |value| without_nulls(if protocol.id == gemini::ID { in_camel_case(&value) } else { value });
    let said = |call: &HttpCall| {
        (
            call.method.clone(),
            call.path.clone(),
            call.query.clone(),
            call.headers.clone(),
            spelled(json(&call.body)),
        )
    };
    let (raw, written) = (said(&call), said(&encoded.call));
    // Of a field that is malformed the encoder may spell out what it was taken for.
    let same = raw == written || read(protocol, &call.body) == read(protocol, &encoded.call.body);
    if !same
        || raw.1 != written.1
        || raw.2 != written.2
        || raw.3 != written.3
        || !encoded.losses.is_empty()
        || !encoded.restore.is_empty()
    {
        return Err(format!(
            "{raw:?}\n  was forwarded, and would have been written as\n{written:?}\n{:?}",
            encoded.losses
        ));
    }
    Ok(true)
}

fn requests() -> Vec<(&'static Protocol, Fixture)> {
    ALL.iter()
        .flat_map(|protocol| fixtures(protocol, "request", ".json").into_iter().map(|f| (*protocol, f)))
        .collect()
}

#[test]
fn requests_that_go_on_as_they_came_are_what_the_encoder_writes() {
    let mut counts = BTreeMap::new();
    for (protocol, fixture) in requests() {
        for (about, target) in targets() {
            let goes = forwarded(protocol, &fixture.bytes, &target)
                .unwrap_or_else(|problem| panic!("{} {} to {about}: {problem}", protocol.id, fixture.name));
            let count: &mut [usize; 2] = counts.entry((about, protocol.id.name())).or_default();
            count[0] += usize::from(goes);
            count[1] += 1;
        }
    }
    let lines =
        counts.iter().map(|((about, protocol), [went, of])| format!("{about}, {protocol}: {went} of {of}"));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

/// A request as its protocol's clients send it, and what must not go on as it came.
fn plain(protocol: &Protocol) -> Value {
    match protocol.id.name() {
        "anthropic" => {
            json!({"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "q"}]})
        }
        "openai-chat" => {
            json!({"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "q"}]})
        }
        "openai-responses" => json!({"model": "m", "input": [{"role": "user", "content": "q"}]}),
        _ => json!({"contents": [{"role": "user", "parts": [{"text": "q"}]}]}),
    }
}

#[test]
fn plain_requests_go_on_and_those_that_hold_what_only_we_can_read_do_not() {
    for protocol in ALL {
        let body = plain(protocol).to_string();
        let target = TargetSpec { count_usage: true, ..TargetSpec::new("t") };
        let goes = |body: &str| forwarded(protocol, body.as_bytes(), &target).unwrap();
        assert!(goes(&body), "{}", protocol.id);
        let request = read(protocol, body.as_bytes()).unwrap();
        for other in ALL.iter().filter(|other| other.id != protocol.id) {
            assert!(other.outbound.forward(&request, &target, body.as_bytes()).is_none(), "{}", other.id);
        }
        for folded in ["rail-call_2e1", "msg_rail_0123"] {
            assert!(!goes(&body.replacen('{', &format!("{{\"x\":{{\"id\":\"{folded}\"}},"), 1)), "{folded}");
        }
        assert!(goes(&body.replacen('{', "{\"x\":{\"id\":\"rails\"},", 1)));
        assert!(!goes(&body.replacen('{', "{\"x\":1,\"x\":2,", 1)), "which of two counts is not ours to say");
    }
}

#[test]
fn a_stream_without_usage_is_not_passed_on_where_somebody_counts() {
    let chat = &rail_wire::openai_chat::PROTOCOL;
    let counting = TargetSpec { count_usage: true, ..TargetSpec::new("t") };
    for (options, goes) in [
        (json!({"stream": true}), false),
        (json!({"stream": true, "stream_options": {"include_usage": false}}), false),
        (json!({"stream": true, "stream_options": {"include_usage": true}}), true),
        (json!({"stream": false}), true),
        (json!({}), true),
    ] {
        let mut body = plain(chat);
        body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let text = body.to_string();
        assert_eq!(forwarded(chat, text.as_bytes(), &counting), Ok(goes), "{options}");
        let written = chat.outbound.encode_request(&read(chat, text.as_bytes()).unwrap(), &counting);
        let asked = json(&written.call.body).pointer("/stream_options/include_usage").cloned();
        assert_eq!(asked, (options["stream"] == true).then_some(json!(true)), "{options}");
    }
}

type Folder = (&'static str, &'static str, BodyKind);
/// Answers as the protocols' makers give them.
const STANDARD: [Folder; 2] = [("stream", ".sse", BodyKind::Stream), ("response", ".json", BodyKind::Whole)];
/// Answers as others give them.
const ODD: [Folder; 1] = [("compat", ".sse", BodyKind::Stream)];

/// The answers of the corpus in these folders.
#[test]
fn a_probability_without_its_number_goes_on_as_it_came() {
    for token in [json!({"token": "a", "logprob": null}), json!({"logprob": -0.5}), json!({})] {
        let logprobs =
            json!([{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": [token]}, token]);
        let content = json!([{"type": "output_text", "text": "a", "annotations": [], "logprobs": logprobs}]);
        let said = json!({"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content});
        let body = json!({"model": "m", "input": [said, {"role": "user", "content": "go on"}]});
        let body = serde_json::to_vec(&body).unwrap();
        for (about, target) in targets() {
            if let Err(problem) = forwarded(&openai_responses::PROTOCOL, &body, &target) {
                panic!("{token} to {about}: {problem}");
            }
        }
    }
}

fn answers(folders: &[Folder]) -> Vec<(&'static Protocol, BodyKind, Fixture)> {
    let all = ALL.iter().flat_map(|protocol| {
        folders.iter().flat_map(move |(folder, ending, kind)| {
            fixtures(protocol, folder, ending).into_iter().map(move |fixture| (*protocol, *kind, fixture))
        })
    });
    all.collect()
}

/// The bytes of an answer as they are passed on, frame by whole frame.
fn passed_on<'a>(protocol: &Protocol, kind: BodyKind, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let (mut ends, mut making, mut out) = (EventEnds::default(), Vec::new(), Vec::new());
    let rename = |frame: &[u8], out: &mut Vec<u8>| {
        rename_model(frame, kind, protocol.outbound.model_paths(), "asked", out)
    };
    for mut piece in pieces {
        while kind == BodyKind::Stream
            && let Some(end) = ends.next(piece)
        {
            let (frame, rest) = piece.split_at(end);
            making.extend_from_slice(frame);
            rename(&std::mem::take(&mut making), &mut out);
            piece = rest;
        }
        making.extend_from_slice(piece);
    }
    rename(&making, &mut out);
    out
}

#[test]
fn answers_that_are_passed_on_say_what_the_encoder_would() {
    let spoken = |(_, _, fixture): &(_, _, Fixture)| !fixture.name.starts_with("failed");
    for (protocol, kind, fixture) in answers(&STANDARD).into_iter().filter(spoken) {
        let raw = passed_on(protocol, kind, [&*fixture.bytes].into_iter());
        let reply_to = ReplyTo { model: Some("asked".to_owned()), ..ReplyTo::default() };
        let mut encoder = protocol.inbound.encoder(kind, &reply_to);
        let mut body = Vec::new();
        events(protocol, kind, &fixture.bytes)
            .unwrap()
            .iter()
            .for_each(|event| encoder.push(event, &mut body));
        encoder.finish(&mut body);
        let said = |body: &[u8]| match kind {
            BodyKind::Whole => json(body),
            BodyKind::Stream | BodyKind::Array => without_nulls(Value::Array(frames(body))),
        };
        assert_eq!(said(&raw), said(&body), "{} {kind:?} {}", protocol.id, fixture.name);
    }
}

/// Every place in a value.
fn places(value: &Value, at: String, out: &mut Vec<String>) {
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), value))
            .collect(),
        Value::Array(list) => {
            list.iter().enumerate().map(|(key, value)| (format!("{at}/{key}"), value)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for (at, value) in inside {
        places(value, at.clone(), out);
        out.push(at);
    }
}

/// What a change puts in a place; None takes it away.
fn other() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        2 => Just(None),
        3 => prop::sample::select(vec![json!(""), json!(" "), json!(null), json!([]), json!({}), json!(0), json!(5000), json!(true), json!("x"),
            json!("tool"), json!("system"), json!("assistant"), json!("call 1"), json!("x".repeat(70)), json!("rail1.gemini.x"), json!("rail_1"),
            json!([{"type": "text", "text": ""}]), json!("x-anthropic-billing-header: y")]).prop_map(Some),
    ]
}

fn change(body: &mut Value, pointer: &str, other: Option<Value>) {
    if let Some(other) = other {
        *body.pointer_mut(pointer).unwrap() = other;
        return;
    }
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match body.pointer_mut(parent).unwrap() {
        Value::Object(map) => {
            map.shift_remove(&key.replace("~1", "/").replace("~0", "~"));
        }
        Value::Array(list) => {
            list.remove(key.parse().unwrap());
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn changed_requests_go_on_only_as_the_encoder_would_write_them(
        pick: prop::sample::Index,
        to: prop::sample::Index,
        changes in prop::collection::vec((any::<prop::sample::Index>(), other()), 1..3),
    ) {
        thread_local! { static REQUESTS: Vec<(&'static Protocol, Fixture)> = requests(); }
        REQUESTS.with(|requests| {
            let (protocol, fixture) = pick.get(requests);
            let mut body = json(&fixture.bytes);
            for (place, other) in changes {
                let mut all = Vec::new();
                places(&body, String::new(), &mut all);
                if !all.is_empty() {
                    change(&mut body, place.get::<String>(&all), other);
                }
            }
            let targets = targets();
            let (about, target) = to.get(&targets);
            let body = serde_json::to_vec(&body).unwrap();
            if let Err(problem) = forwarded(protocol, &body, target) {
                return Err(TestCaseError::fail(format!("{} {} to {about}: {problem}", protocol.id, fixture.name)));
            }
            Ok(())
        })?;
    }

    #[test]
    fn any_split_is_passed_on_alike(pick: prop::sample::Index, sizes in prop::collection::vec(1_usize..60, 1..6)) {
        thread_local! { static ANSWERS: Vec<(&'static Protocol, BodyKind, Fixture)> = [answers(&STANDARD), answers(&ODD)].into_iter().flatten().collect(); }
        ANSWERS.with(|answers| {
            let (protocol, kind, fixture) = pick.get(answers);
            let (mut rest, mut pieces) = (&*fixture.bytes, Vec::new());
            for size in sizes.iter().cycle() {
                if rest.is_empty() { break; }
                let (piece, more) = rest.split_at((*size).min(rest.len()));
                pieces.push(piece);
                rest = more;
            }
            let whole = passed_on(protocol, *kind, [&*fixture.bytes].into_iter());
            prop_assert_eq!(passed_on(protocol, *kind, pieces.into_iter()), whole);
            Ok(())
        })?;
    }

    #[test]
    fn events_end_where_the_standard_ends_them(lines in prop::collection::vec(prop_oneof![Just(""), Just("data: x"), Just(":")], 0..12), ending in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")], size in 1_usize..5) {
        let text: String = lines.iter().map(|line| format!("{line}{ending}")).collect();
        let cut = |pieces: &[&[u8]]| {
            let (mut ends, mut at, mut found) = (EventEnds::default(), 0, Vec::new());
            for piece in pieces {
                let mut from = 0;
                while let Some(end) = ends.next(&piece[from..]) {
                    from += end;
                    found.push(at + from);
                }
                at += piece.len();
            }
            found
        };
        let whole = cut(&[text.as_bytes()]);
        prop_assert_eq!(whole.len(), lines.iter().filter(|line| line.is_empty()).count());
        let bytewise = cut(&text.as_bytes().chunks(size).collect::<Vec<_>>());
        // A line feed that comes later belongs to what follows.
        prop_assert!(whole.iter().zip(&bytewise).all(|(whole, cut)| whole - cut <= 1) && whole.len() == bytewise.len());
    }
}
