use std::time::Duration;

use rail_model::{ApiError, ErrorKind, Event};
use rail_wire::{BodyKind, HttpReply, gemini};

use super::{events, payloads, written};

#[test]
fn trap_30_errors_inside_a_good_status_fail_the_answer() {
    let error =
        r#"{"error":{"code":429,"message":"Slow. Please retry in 2.5s.","status":"RESOURCE_EXHAUSTED"}}"#;
    for (kind, body) in [
        (BodyKind::Whole, error.to_owned()),
        (BodyKind::Whole, format!("[{error}]")),
        (BodyKind::Stream, format!("data: {error}\n\n")),
        (BodyKind::Stream, error.to_owned()),
        (BodyKind::Stream, format!("[{error}]")),
        (BodyKind::Array, format!("[{error}]")),
        (BodyKind::Array, error.to_owned()),
    ] {
        let events = events(kind, body.as_bytes(), 3);
        let [Event::Failed(failed)] = events.as_slice() else { panic!("{kind:?} {body}: {events:?}") };
        assert_eq!((failed.status, failed.kind), (429, ErrorKind::RateLimited));
        assert_eq!(failed.retry_after, Some(Duration::from_millis(2500)));
        assert_eq!(payloads(kind, &written(kind, &events))[0]["error"]["code"], 429);
    }
}

#[test]
fn errors_have_their_kind() {
    let read = |status, body: &str| {
        gemini::PROTOCOL.outbound.read_error(&HttpReply {
            status,
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
        })
    };
    let corpus = |name: &str| {
        std::fs::read_to_string(format!("{}/tests/corpus/gemini/error/{name}", env!("CARGO_MANIFEST_DIR")))
            .unwrap()
    };
    let table = [
        ("resource_exhausted_minute.429.json", ErrorKind::RateLimited, Some(30.5)),
        ("resource_exhausted_day.429.json", ErrorKind::Quota, Some(43200.0)),
        ("resource_exhausted_bare.429.json", ErrorKind::RateLimited, None),
        ("token_limit.400.json", ErrorKind::ContextLength, None),
        ("api_key_invalid.400.json", ErrorKind::Authentication, None),
        ("invalid_argument.400.json", ErrorKind::InvalidRequest, None),
        ("array_form.503.json", ErrorKind::Overloaded, None),
        ("not_found.404.json", ErrorKind::NotFound, None),
        ("page.502.html", ErrorKind::Server, None),
        ("empty.503.txt", ErrorKind::Overloaded, None),
        ("unknown_everywhere.418.json", ErrorKind::InvalidRequest, None),
    ];
    for (name, kind, delay) in table {
        let error = read(name.split('.').nth(1).unwrap().parse().unwrap(), &corpus(name));
        assert_eq!((error.kind, error.retry_after.map(|delay| delay.as_secs_f64())), (kind, delay), "{name}");
    }
    let named = read(400, &corpus("invalid_argument.400.json"));
    assert_eq!(named.param.as_deref(), Some("tools[0].function_declarations[0].parameters"));
    let limited = ApiError {
        retry_after: Some(Duration::from_millis(30_500)),
        ..ApiError::new(ErrorKind::RateLimited, "Slow down.")
    };
    let reply = gemini::PROTOCOL.inbound.write_error(&limited);
    assert_eq!(reply.header("retry-after"), Some("31"));
    let again = gemini::PROTOCOL.outbound.read_error(&reply);
    assert_eq!((again.kind, again.retry_after), (limited.kind, limited.retry_after));
    let busy = ApiError { status: 529, ..ApiError::new(ErrorKind::Overloaded, "busy") };
    let reply = gemini::PROTOCOL.inbound.write_error(&busy);
    assert_eq!(reply.status, 503, "clients of this API know no 529");
    for kind in [
        ErrorKind::Quota,
        ErrorKind::ContextLength,
        ErrorKind::Authentication,
        ErrorKind::Overloaded,
        ErrorKind::NotFound,
    ] {
        let reply = gemini::PROTOCOL.inbound.write_error(&ApiError::new(kind, "no"));
        assert_eq!(gemini::PROTOCOL.outbound.read_error(&reply).kind, kind);
    }
}
