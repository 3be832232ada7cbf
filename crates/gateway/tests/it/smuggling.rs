//! Requests that two servers in a row might understand differently: each is one request to us, or none.

use crate::door::Door;
use crate::wire::{HELLO, Wire, ask, request};

/// What follows a request that may hide it.
const HIDDEN: &str = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// The statuses of all answers that these bytes get.
async fn answers(door: &Door, bytes: &[u8]) -> Vec<u16> {
    let mut wire = Wire::to(door.addr).await;
    wire.send(bytes).await;
    wire.end().await;
    let mut statuses = Vec::new();
    while let Some(answer) = wire.answer().await {
        statuses.push(answer.status);
    }
    statuses
}

fn post(headers: &str, body: &str) -> String {
    format!("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n{body}")
}

#[tokio::test]
async fn a_request_ends_where_it_says_and_nothing_hides_behind_it() {
    let door = Door::open("").await;
    let length = HELLO.len();
    let chunked = format!("{length:x}\r\n{HELLO}\r\n0\r\n\r\n");
    let cases = [
        ("two lengths", post("content-length: 4\r\ncontent-length: 44\r\n", HIDDEN), &[400][..]),
        ("two lengths in one", post("content-length: 4, 44\r\n", HIDDEN), &[400]),
        ("a signed length", post("content-length: +4\r\n", HIDDEN), &[400]),
        ("a huge length", post("content-length: 99999999999999999999\r\n", HIDDEN), &[400]),
        ("an unknown coding", post("transfer-encoding: xchunked\r\n", HIDDEN), &[400]),
        ("chunked is not last", post("transfer-encoding: chunked, gzip\r\n", HIDDEN), &[400]),
        ("a space before the colon", post("content-length : 4\r\n", HIDDEN), &[400]),
        ("a folded line", post("x-a: b\r\n c\r\n", HIDDEN), &[400]),
        ("a NUL in a value", post("x-a: b\0c\r\n", HIDDEN), &[400]),
        ("a control in a name", post("x\u{1}a: b\r\n", HIDDEN), &[400]),
        ("a bare CR", post("x-a: b\rx-c: d\r\n", HIDDEN), &[400]),
        ("no version", "GET /healthz\r\n\r\n".to_owned(), &[400]),
        ("a version to come", "GET /healthz HTTP/3.0\r\nhost: localhost\r\n\r\n".to_owned(), &[400]),
        ("a bad chunk size", post("transfer-encoding: chunked\r\n", &format!("zz\r\n{HIDDEN}")), &[400]),
        ("a negative chunk", post("transfer-encoding: chunked\r\n", &format!("-1\r\n{HIDDEN}")), &[400]),
        (
            "a chunk too long",
            post("transfer-encoding: chunked\r\n", &format!("fffffffffffffffff\r\n{HIDDEN}")),
            &[400],
        ),
        (
            "a chunk without its end",
            post("transfer-encoding: chunked\r\n", &format!("2\r\n{{}}x{HIDDEN}")),
            &[400],
        ),
        (
            "HTTP/1.0 in chunks",
            "POST /v1/messages HTTP/1.0\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
                .to_owned(),
            &[400],
        ),
        // Both lengths: the chunks count, and nothing more is taken from that connection.
        (
            "chunks and a length",
            post(
                &format!("content-length: {length}\r\ntransfer-encoding: chunked\r\n"),
                &format!("{chunked}{HIDDEN}"),
            ),
            &[200],
        ),
        (
            "a length and chunks",
            post("transfer-encoding: chunked\r\ncontent-length: 3\r\n", &format!("{chunked}{HIDDEN}")),
            &[200],
        ),
    ];
    for (name, bytes, expected) in cases {
        assert_eq!(answers(&door, bytes.as_bytes()).await, expected, "{name}");
    }
}

#[tokio::test]
async fn unusual_but_clear_requests_are_understood() {
    let door = Door::open("").await;
    let length = HELLO.len();
    let cases = [
        ("two requests at once", format!("{HIDDEN}{HIDDEN}"), &[200, 200][..]),
        (
            "the same length twice",
            post(
                &format!("content-length: {length}\r\ncontent-length: {length}\r\n"),
                &format!("{HELLO}{HIDDEN}"),
            ),
            &[200, 200],
        ),
        ("HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n".to_owned(), &[200]),
        ("lines that end by LF alone", "GET /healthz HTTP/1.1\nhost: localhost\n\n".to_owned(), &[200]),
        ("an empty line first", format!("\r\n{HIDDEN}"), &[200]),
        // A body that nobody reads ends the connection.
        (
            "a body on GET",
            format!(
                "GET /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{HIDDEN}{HIDDEN}",
                HIDDEN.len()
            ),
            &[200],
        ),
    ];
    for (name, bytes, expected) in cases {
        let mut wire = Wire::to(door.addr).await;
        wire.send(&bytes).await;
        for status in expected {
            assert_eq!(wire.answer().await.map(|answer| answer.status), Some(*status), "{name}");
        }
        wire.end().await;
        assert!(wire.is_over().await, "{name}");
    }
}

#[tokio::test]
async fn this_is_no_proxy() {
    let door = Door::open("").await;
    for line in [
        "GET http://localhost/healthz",
        "GET http://evil.example/healthz",
        "CONNECT localhost:443",
        "CONNECT evil.example:443",
    ] {
        let answer = ask(door.addr, line, &[], "").await;
        assert_eq!(answer.status, 400, "{line}");
        assert!(answer.message().contains("no proxy"), "{line}: {answer:?}");
    }
    assert_eq!(ask(door.addr, "OPTIONS *", &[], "").await.status, 404);
    let mut wire = Wire::to(door.addr).await;
    wire.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await;
    assert!(wire.is_over().await, "HTTP/2 is not spoken");
}

#[tokio::test]
async fn no_other_spelling_of_a_path_gets_in() {
    let door = Door::open("").await;
    for path in [
        "//v1/messages",
        "/v1//messages",
        "/v1/messages/",
        "/v1/./messages",
        "/healthz/../v1/messages",
        "/%761/messages",
        "/v1/messages;a=b",
        "/v1/messages%3Fbeta",
        "/V1/MESSAGES",
    ] {
        let answer = ask(door.addr, &format!("POST {path}"), &[], HELLO).await;
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn an_error_is_the_end_of_a_connection_with_bytes_left() {
    let door = Door::open("").await;
    let mut wire = Wire::to(door.addr).await;
    wire.send(format!("POST /nothing HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{HIDDEN}"))
        .await;
    let answer = wire.answer().await.unwrap();
    assert_eq!((answer.status, answer.header("connection")), (404, Some("close")));
    assert!(wire.is_over().await);
    let mut wire = Wire::to(door.addr).await;
    wire.send(request("POST /nothing", &[], "")).await;
    assert_eq!(wire.answer().await.unwrap().status, 404);
    wire.send(request("GET /healthz", &[], "")).await;
    assert_eq!(wire.answer().await.unwrap().status, 200, "nothing was left: it goes on");
}
