//! OpenAI Chat: errors and answers that can't be read.

use std::time::Duration;

use rail_model::{ApiError, ErrorKind, Event, ProtocolId};
use rail_wire::openai_chat::PROTOCOL;
use rail_wire::{BodyKind, HttpReply};
use serde_json::json;

use crate::corpus::{error_reply, events, fixtures, json as parsed};

const ANTHROPIC: ProtocolId = ProtocolId::new("anthropic");

#[test]
fn trap_30_errors_inside_http_200() {
    for body in [
        r#"{"error":{"message":"busy","code":502}}"#,
        r#"{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"error"}]}"#,
    ] {
        let list = events(&PROTOCOL, BodyKind::Whole, body.as_bytes()).unwrap();
        assert!(matches!(list.as_slice(), [Event::Failed(_)]), "{list:?}");
    }
    let whole = fixtures(&PROTOCOL, "response", "text_and_tool_call.json").remove(0);
    let streamed = events(&PROTOCOL, BodyKind::Stream, &whole.bytes).unwrap();
    assert_eq!(
        streamed,
        events(&PROTOCOL, BodyKind::Whole, &whole.bytes).unwrap(),
        "a server that did not stream"
    );
}

#[test]
fn bad_answers_say_where() {
    let table = [
        (BodyKind::Whole, "{\"id\":\"x\"}", "openai-chat, choices: is missing"),
        (BodyKind::Whole, "{\"choices\":[{\"index\":0}]}", "openai-chat, choices[0].message: is missing"),
        (
            BodyKind::Stream,
            "data: {\"choices\":[{\"delta\":{\"content\":5}}]}\n\n",
            "openai-chat stream, frame 1, choices[0].delta.content",
        ),
        (BodyKind::Stream, "data: oops\n\n", "openai-chat stream, frame 1"),
    ];
    for (kind, body, expected) in table {
        let error = events(&PROTOCOL, kind, body.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn error_kinds_are_read_from_codes_types_and_words() {
    use ErrorKind as K;
    let table = [
        ("content_policy.400", K::Refused),
        ("context_length_exceeded.400", K::ContextLength),
        ("insufficient_quota.429", K::Quota),
        ("invalid_api_key.401", K::Authentication),
        ("invalid_prompt.400", K::Refused),
        ("invalid_request.400", K::InvalidRequest),
        ("model_not_found.404", K::NotFound),
        ("overloaded.503", K::Overloaded),
        ("permission.403", K::Permission),
        ("rate_limit.429", K::RateLimited),
        ("rate_limit_requests.429", K::RateLimited),
        ("request_too_large.413", K::TooLarge),
        ("server_error.500", K::Server),
        ("slow_down.503", K::Overloaded),
        ("tool_pairing.400", K::InvalidRequest),
        ("unknown_everywhere.418", K::InvalidRequest),
        ("unsupported_country.403", K::Permission),
        ("unsupported_parameter.400", K::InvalidRequest),
    ];
    let list = fixtures(&PROTOCOL, "error", ".json");
    assert_eq!(list.len(), table.len());
    for (fixture, (name, kind)) in list.iter().zip(table) {
        let error = PROTOCOL.outbound.read_error(&error_reply(fixture));
        assert_eq!((fixture.name.as_str(), error.kind), (name, kind), "{error:?}");
    }
    let delay = |at: usize| PROTOCOL.outbound.read_error(&error_reply(&list[at])).retry_after;
    assert_eq!([delay(9), delay(10)], [Some(Duration::from_millis(3200)), Some(Duration::from_secs(20))]);
}

#[test]
fn odd_error_bodies_still_say_something() {
    let read = |status, body: &str| {
        PROTOCOL.outbound.read_error(&HttpReply {
            status,
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
        })
    };
    let page = fixtures(&PROTOCOL, "error", ".html").remove(0);
    let page = String::from_utf8(page.bytes).unwrap();
    assert!(read(502, &page).message.starts_with("HTTP 502: 502 Bad Gateway"));
    assert_eq!(read(503, "").message, "HTTP 503 with an empty body");
    assert_eq!(read(500, "{\"error\":\"CUDA out of memory\"}").message, "CUDA out of memory");
    assert_eq!(read(404, "{\"detail\":\"Not Found\"}").kind, ErrorKind::NotFound);
    assert!(
        read(422, "{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"field required\"}]}")
            .message
            .contains("field required")
    );
    assert_eq!(read(400, "[{\"error\":{\"code\":400,\"message\":\"bad\"}}]").message, "bad");
    assert_eq!(
        read(400, "{\"object\":\"error\",\"message\":\"maximum context length is 4096 tokens\"}").kind,
        ErrorKind::ContextLength
    );
}

#[test]
fn foreign_errors_get_the_types_that_clients_react_to() {
    let said = Some((ANTHROPIC, json!({"type": "error"})));
    let retry_after = Some(Duration::from_millis(2500));
    let error = ApiError { status: 529, said, retry_after, ..ApiError::new(ErrorKind::Overloaded, "busy") };
    let reply = PROTOCOL.inbound.write_error(&error);
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("3")));
    let quota = PROTOCOL.inbound.write_error(&ApiError::new(ErrorKind::Quota, "empty"));
    assert_eq!((quota.status, &parsed(&quota.body)["error"]["code"]), (429, &json!("insufficient_quota")));
}

#[test]
fn an_error_told_by_the_events_name_alone_reaches_the_client() {
    let body = b"event: error\ndata: {\"code\":\"server_error\",\"message\":\"gone\"}\n\n";
    let events = events(&PROTOCOL, BodyKind::Stream, body).unwrap();
    let (out, _) = crate::corpus::write_answer(&PROTOCOL, BodyKind::Stream, &events);
    let frames = crate::corpus::frames(&out);
    assert_eq!(frames[0]["error"]["message"], "gone");
}

#[test]
fn a_choice_that_says_error_and_no_more_reaches_the_client_as_an_error() {
    let stream = br#"data: {"id":"c","choices":[{"index":0,"delta":{"content":"So"}}]}

data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"error"}],"error":null}

data: [DONE]

"#;
    let list = events(&PROTOCOL, BodyKind::Stream, stream).unwrap();
    let (out, _) = crate::corpus::write_answer(&PROTOCOL, BodyKind::Stream, &list);
    let last = crate::corpus::frames(&out).pop().unwrap();
    let error = json!({"message": "the upstream said finish_reason `error` and no more", "type": "server_error", "param": null, "code": null});
    assert_eq!((&last["error"], &last["choices"][0]["finish_reason"]), (&error, &json!("error")));

    let whole = br#"{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"error"}]}"#;
    let list = events(&PROTOCOL, BodyKind::Whole, whole).unwrap();
    let (out, _) = crate::corpus::write_answer(&PROTOCOL, BodyKind::Whole, &list);
    assert_eq!(parsed(&out)["error"], error);
}
