//! The scripted models, read back by our own decoders in every protocol.

use std::time::Duration;

use rail_model::{
    ApiError, Assembler, ErrorKind, Message, Part, PartBody, Reply, Request, Role, Stop, Usage,
};
use rail_testkit::{
    COUNTED, Models, Question, SCRIPTED_MODEL, Turn, call, image, read_script, text, thinking, vector,
};
use rail_wire::{ALL, BodyKind, HttpCall, HttpReply, Operation, Protocol, TargetSpec, WireError};
use serde_json::{Value, json};

use crate::client::{Client, Got};

fn ask(words: &str, stream: bool) -> Request {
    Request {
        model: "m-1".to_owned(),
        messages: vec![Message::new(Role::User, vec![Part::text(words)])],
        stream,
        ..Request::default()
    }
}

/// The request as `protocol` writes it, below the version that its base URL has.
fn written(protocol: &Protocol, request: &Request) -> HttpCall {
    let call = protocol.outbound.encode_request(request, &TargetSpec::new(request.model.clone())).call;
    let version = if protocol.id.name() == "gemini" { "/v1beta" } else { "/v1" };
    HttpCall { path: format!("{version}{}", call.path), ..call }
}

fn kinds(protocol: &Protocol) -> Vec<(BodyKind, &'static str)> {
    match protocol.id.name() {
        "gemini" => vec![(BodyKind::Whole, ""), (BodyKind::Stream, "alt=sse"), (BodyKind::Array, "")],
        _ => vec![(BodyKind::Whole, ""), (BodyKind::Stream, "")],
    }
}

fn asked_as(protocol: &Protocol, kind: BodyKind, query: &str, words: &str) -> HttpCall {
    let call = written(protocol, &ask(words, kind != BodyKind::Whole));
    HttpCall { query: query.to_owned(), ..call }
}

fn decoded(protocol: &Protocol, kind: BodyKind, body: &[u8]) -> Result<Result<Reply, ApiError>, WireError> {
    let mut decoder = protocol.outbound.decoder(kind);
    let mut events = Vec::new();
    decoder.push(body, &mut events)?;
    decoder.finish(&mut events)?;
    let mut assembler = Assembler::default();
    events.into_iter().for_each(|event| assembler.push(event));
    Ok(assembler.finish().expect("an answer that was read has an end"))
}

/// Kind and words of each part.
fn said(parts: &[Part]) -> Vec<String> {
    let said = parts.iter().map(|part| match &part.body {
        PartBody::Text(text) => format!("text {text}"),
        PartBody::Thinking(text) => format!("thinking {text}"),
        PartBody::ToolCall(call) => {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
            format!("call {} {} {arguments}", call.id.as_str(), call.name)
        }
        other => format!("{other:?}"),
    });
    said.collect()
}

/// Does the same for every protocol and every kind of body.
fn each(script: impl Fn() -> Vec<Turn>, check: impl Fn(&'static Protocol, BodyKind, Got)) {
    for protocol in ALL {
        for (kind, query) in kinds(protocol) {
            let models = Models::start(script()).unwrap();
            let got = Client::to(models.addr()).call(&asked_as(protocol, kind, query, "Hi"));
            check(protocol, kind, got);
            let asked = models.requests();
            let request = asked[0].request().expect("a request that was read");
            assert_eq!((asked.len(), asked[0].protocol, &*request.model), (1, protocol.id, "m-1"));
            assert_eq!(request.messages[0].parts[0].as_text(), Some("Hi"));
        }
    }
}

#[test]
fn a_turn_is_said_in_every_protocol() {
    let arguments = json!({"path": "ä/b", "deep": {"list": [1, "two", null]}});
    let expected = [
        "thinking Hm, let me see.".to_owned(),
        "text Grüße, Welt — 你好 👋 and a few more words".to_owned(),
        format!("call call_1_1 read_file {arguments}"),
        "call call_1_2 list {}".to_owned(),
    ];
    let usage = Usage {
        input: Some(7),
        cache_read: Some(3),
        output: Some(20),
        reasoning: Some(4),
        ..Usage::default()
    };
    let script = || {
        let parts = vec![
            thinking("Hm, let me see.", None),
            text("Grüße, Welt — 你好 👋 and a few more words"),
            call("read_file", arguments.clone()),
            call("list", json!({})),
        ];
        vec![Turn::reply(parts).usage(usage.clone()).pings(2)]
    };
    each(script, |protocol, kind, got| {
        let what = format!("{} {kind:?}", protocol.id);
        assert!(got.whole && got.reply.status == 200, "{what}");
        let reply = decoded(protocol, kind, &got.reply.body).unwrap().unwrap();
        assert_eq!(said(&reply.parts), expected, "{what}");
        assert_eq!((reply.stop, reply.model.as_deref()), (Stop::ToolUse, Some("m-1")), "{what}");
        let told = reply.usage.unwrap();
        assert_eq!((told.all_input(), told.cache_read, told.all_output()), (10, Some(3), 24), "{what}");
    });
}

#[test]
fn an_error_comes_before_anything_else() {
    let error = ApiError {
        retry_after: Some(Duration::from_secs(7)),
        ..ApiError::new(ErrorKind::RateLimited, "slow down")
    };
    each(
        || vec![Turn::error(error.clone())],
        |protocol, kind, got| {
            let read = protocol.outbound.read_error(&got.reply);
            let what = format!("{} {kind:?}", protocol.id);
            assert_eq!((read.status, read.kind), (429, ErrorKind::RateLimited), "{what}");
            assert_eq!(read.retry_after, error.retry_after, "{what}");
            // Some clients read the delay from the message, so it may be said there as well.
            assert!(read.message.starts_with("slow down"), "{what}: {}", read.message);
        },
    );
}

#[test]
fn an_answer_breaks_in_mid_stream() {
    let error = ApiError::new(ErrorKind::Overloaded, "too busy");
    each(
        || vec![Turn::breaks(vec![text("half of")], error.clone())],
        |protocol, kind, got| {
            let read = match kind {
                BodyKind::Whole => protocol.outbound.read_error(&got.reply),
                BodyKind::Stream | BodyKind::Array => {
                    decoded(protocol, kind, &got.reply.body).unwrap().unwrap_err()
                }
            };
            let what = format!("{} {kind:?}", protocol.id);
            if protocol.id.name() == "openai-responses" && kind == BodyKind::Stream {
                // Codex waits only for this kind, so an overload is said as it, with a delay.
                let said = (read.kind, read.retry_after, &*read.message);
                let wait = Some(Duration::from_secs(5));
                assert_eq!(
                    said,
                    (ErrorKind::RateLimited, wait, "too busy Please try again in 5.000s."),
                    "{what}"
                );
                return;
            }
            assert_eq!((read.kind, &*read.message), (ErrorKind::Overloaded, "too busy"), "{what}");
        },
    );
}

#[test]
fn a_cut_or_markerless_answer_is_seen_as_truncated() {
    for (turn, ends) in [(Turn::cut as fn(Vec<Part>) -> Turn, false), (Turn::markerless, true)] {
        each(
            || vec![turn(vec![text("half of it")])],
            |protocol, kind, got| {
                let what = format!("{} {kind:?}", protocol.id);
                assert_eq!(got.whole, ends && kind != BodyKind::Whole, "{what}");
                assert!(decoded(protocol, kind, &got.reply.body).is_err(), "{what}");
            },
        );
    }
}

#[test]
fn a_connection_serves_turn_after_turn_and_then_says_that_the_script_is_over() {
    let script = vec![Turn::reply(vec![text("one")]), Turn::echo()];
    let models = Models::start(script).unwrap();
    let mut client = Client::to(models.addr());
    for protocol in ALL {
        let done = models.turns_taken();
        let Got { reply, .. } = client.call(&written(protocol, &ask("again", false)));
        if done < 2 {
            let reply = decoded(protocol, BodyKind::Whole, &reply.body).unwrap().unwrap();
            assert_eq!(said(&reply.parts), [["text one", "text again"][done]]);
        } else {
            let error = protocol.outbound.read_error(&reply);
            assert_eq!((error.status, error.kind), (500, ErrorKind::Server));
            assert!(error.message.contains("the script is over: all its 2 turns were taken"), "{error}");
        }
    }
    assert_eq!((models.connections(), models.requests().len()), (1, ALL.len()));
}

#[test]
fn a_repeated_turn_goes_on_and_its_ids_stay_unique() {
    let models = Models::start(vec![Turn::reply(vec![call("x", json!({}))]).repeat()]).unwrap();
    let protocol = &rail_wire::anthropic::PROTOCOL;
    let mut client = Client::to(models.addr());
    for number in 1..4 {
        let Got { reply, .. } = client.call(&written(protocol, &ask("go", true)));
        let reply = decoded(protocol, BodyKind::Stream, &reply.body).unwrap().unwrap();
        assert_eq!(said(&reply.parts), [format!("call call_{number}_1 x {{}}")]);
    }
    let turns: Vec<_> = models.requests().iter().map(|asked| asked.turn).collect();
    assert_eq!(turns, [Some(0), Some(1), Some(2)]);
    let early = vec![Turn::echo().repeat(), Turn::echo()];
    let refused = Models::start(early).unwrap_err().to_string();
    assert_eq!(refused, "turn 0 repeats, so those after it would never be played");
}

#[test]
fn gates_hold_and_marks_tell() {
    let turn = Turn::reply(vec![text("now")]).gate("begin").reached("said").gate_before_end("end");
    let models =
        Models::start(vec![turn, Turn::stall(vec![text("then nothing")]).reached("stalled")]).unwrap();
    let protocol = &rail_wire::anthropic::PROTOCOL;
    let call = written(protocol, &ask("go", true));
    let mut client = Client::to(models.addr());
    client.send(&call);
    models.open("begin");
    models.wait_for("said");
    let (status, _) = client.head();
    assert_eq!((status, models.turns_taken()), (200, 1));
    models.open("end");
    drop(client);

    let mut client = Client::to(models.addr());
    client.send(&call);
    models.wait_for("stalled");
    assert_eq!(models.requests()[1].turn, Some(1));
    drop(client);
    assert_eq!(models.client_left(1).step, 1);
}

#[test]
fn raw_bytes_go_out_as_they_are() {
    let models =
        Models::start(vec![Turn::raw("HTTP/1.1 418 Teapot\r\ncontent-length: 3\r\n\r\ntea")]).unwrap();
    let got = Client::to(models.addr()).call(&written(ALL[0], &ask("Hi", false)));
    assert_eq!((got.reply.status, &*got.reply.body), (418, &b"tea"[..]));
}

#[test]
fn a_request_that_cannot_be_read_is_answered_in_its_protocol_and_takes_no_turn() {
    for protocol in ALL {
        let models = Models::start(vec![Turn::echo()]).unwrap();
        let call = HttpCall { body: b"[1".to_vec(), ..written(protocol, &ask("Hi", false)) };
        let got = Client::to(models.addr()).call(&call);
        let error = protocol.outbound.read_error(&got.reply);
        assert_eq!((error.status, error.kind), (400, ErrorKind::InvalidRequest), "{}", protocol.id);
        assert!(matches!(models.requests()[0].question, Question::Unreadable(_)));
        assert_eq!(models.turns_taken(), 0);
    }
}

#[test]
fn lists_counts_and_vectors_take_no_turn() {
    let models = Models::start(vec![]).unwrap();
    let mut client = Client::to(models.addr());
    for protocol in ALL {
        for endpoint in protocol.inbound.endpoints() {
            let path = endpoint.path.replace("{model}", "m-1");
            let request = ask("Hi there", false);
            let target = TargetSpec::new("m-1");
            let mut call = match endpoint.operation {
                Operation::Generate | Operation::GenerateStream => continue,
                Operation::Models => HttpCall { method: "GET".to_owned(), ..HttpCall::default() },
                Operation::Count => protocol.outbound.encode_count(&request, &target).unwrap().call,
                // Two forms of endpoints take embeddings; the SDKs try them all.
                Operation::Embed => continue,
            };
            call.path = path;
            let version = ("anthropic-version".to_owned(), "2023-06-01".to_owned());
            call.headers.extend((protocol.id.name() == "anthropic").then_some(version));
            let HttpReply { status, body, .. } = client.call(&call).reply;
            let what = format!("{} {}", protocol.id, endpoint.path);
            assert_eq!(status, 200, "{what}");
            match endpoint.operation {
                Operation::Count => {
                    assert_eq!(protocol.outbound.read_count(&body).unwrap().input, COUNTED, "{what}")
                }
                _ => assert!(String::from_utf8_lossy(&body).contains(SCRIPTED_MODEL), "{what}"),
            }
        }
    }
    assert_eq!(vector("a", 3), vector("a", 3));
    assert_ne!(vector("a", 3), vector("b", 3));
}

#[test]
fn a_request_to_nowhere_is_told_where_to_go() {
    let models = Models::start(vec![]).unwrap();
    let mut client = Client::to(models.addr());
    let version = vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())];
    let call = HttpCall { headers: version, ..HttpCall::post("/v2/messages", Vec::new()) };
    let got = client.call(&call).reply;
    let body: Value = serde_json::from_slice(&got.body).unwrap();
    assert_eq!((got.status, &body["error"]["type"]), (404, &json!("not_found_error")));
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("no endpoint at POST /v2/messages; there are GET /v1/models, "), "{message}");
    let head = HttpCall { method: "HEAD".to_owned(), path: "/".to_owned(), ..HttpCall::default() };
    assert_eq!(client.call(&head).reply.status, 200);
    assert_eq!(models.requests().len(), 0);
}

#[test]
fn scripts_are_read_and_their_faults_named() {
    let script = r#"[
        {"text": "Hello"},
        {"thinking": "…", "signature": "s", "calls": [{"name": "read_file", "arguments": {"path": "a"}}]},
        {"image": {"mime": "image/png", "data": "AAAA"}, "stop": "max_tokens", "usage": {"input": 3}, "pings": 1},
        {"error": {"kind": "overloaded", "message": "busy", "retry_after_seconds": 3}},
        {"text": "half", "break": "gone"}, {"text": "half", "cut": true}, {"stall": true},
        {"echo": true, "repeat": true}
    ]"#;
    assert_eq!(read_script(script).unwrap().len(), 8);
    for (script, problem) in [
        ("{", "script: EOF while parsing an object at line 1 column 1"),
        ("{}", "script: must be a list of turns"),
        (r#"[{"text": "a"}, 1]"#, "turn 1: must be an object"),
        (r#"[{"text": 1}]"#, "turn 0.text: must be a string"),
        (r#"[{"calls": [{"arguments": {}}]}]"#, "turn 0.calls[0].name: is missing"),
        (r#"[{"usage": {"input": -1}, "text": ""}]"#, "turn 0.usage.input: must be a whole number"),
        (r#"[{}]"#, "turn 0: says nothing: give it `text`, `calls`, `error`, …"),
        (r#"[{"cut": true, "stall": true}]"#, "turn 0: has both `cut` and `stall`"),
        (r#"[{"echo": true, "text": ""}]"#, "turn 0: an `echo` or `error` says nothing else"),
        (
            r#"[{"echo": true, "repeat": true}, {"echo": true}]"#,
            "turn 0.repeat: only the last turn may repeat",
        ),
    ] {
        assert_eq!(read_script(script).unwrap_err().to_string(), problem);
    }
    let unknown = read_script(r#"[{"error": {"kind": "bad"}}]"#).unwrap_err().to_string();
    assert!(
        unknown.starts_with("turn 0.error.kind: `bad` is no kind; there are invalid_request, "),
        "{unknown}"
    );
    let field = read_script(r#"[{"txt": "a"}]"#).unwrap_err().to_string();
    assert!(field.starts_with("turn 0.txt: no such field; there are thinking, "), "{field}");
}

#[test]
fn images_are_scripted_too() {
    // Not every protocol can say them; what it can't is a named loss.
    for protocol in ALL {
        let models =
            Models::start(vec![Turn::reply(vec![image("image/png", "iVBORw0KGgo="), text("see")])]).unwrap();
        let got = Client::to(models.addr()).call(&written(protocol, &ask("draw", false)));
        let reply = decoded(protocol, BodyKind::Whole, &got.reply.body).unwrap().unwrap();
        let told = reply.parts.len() == 2;
        let lost = !models.requests()[0].losses.is_empty();
        assert!(
            told != lost,
            "{}: said {:?}, lost {:?}",
            protocol.id,
            reply.parts,
            models.requests()[0].losses
        );
    }
}

#[test]
fn a_model_may_answer_by_what_is_asked() {
    let models =
        Models::answering(|request| Turn::reply(vec![text(format!("{} was asked", request.model))])).unwrap();
    for protocol in ALL {
        for model in ["m-2", "m-1", "m-2"] {
            let asked = Request { model: model.to_owned(), ..ask("who?", false) };
            let got = Client::to(models.addr()).call(&written(protocol, &asked));
            let reply = decoded(protocol, BodyKind::Whole, &got.reply.body).unwrap().unwrap();
            assert_eq!(said(&reply.parts), [format!("text {model} was asked")]);
        }
    }
    assert_eq!(models.turns_taken(), ALL.len() * 3);
}
