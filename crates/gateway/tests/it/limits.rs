//! Limits on size, number and time.

use rail_ledger::Ending;
use tokio::net::TcpSocket;

use crate::door::Door;
use crate::wire::{HELLO, Wire, ask, request, soon};

/// A head after which the gateway asks for the body as soon as it begins to read it.
fn head(length: usize) -> String {
    format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n"
    )
}

/// A request whose body is being read, so that it has its place.
async fn half_sent(door: &Door) -> Wire {
    let mut wire = Wire::to(door.addr).await;
    wire.send(head(HELLO.len())).await;
    assert_eq!(wire.answer().await.unwrap().status, 100);
    wire
}

#[tokio::test]
async fn a_body_too_large_is_refused_before_it_comes() {
    let door = Door::open("limits = { body = \"200B\" }").await;
    assert_eq!(ask(door.addr, "POST /v1/messages", &[], HELLO).await.status, 200);
    let mut wire = Wire::to(door.addr).await;
    wire.send(head(201)).await;
    let answer = wire.answer().await.unwrap();
    assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
    assert!(answer.message().contains("larger than 200 bytes"), "{answer:?}");
    assert!(wire.is_over().await || door.stop.is_cancelled());
}

#[tokio::test]
async fn a_body_too_large_is_refused_while_it_comes() {
    let door = Door::open("limits = { body = \"200B\" }").await;
    let mut wire = Wire::to(door.addr).await;
    wire.send("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n").await;
    for _ in 0..20 {
        wire.send("14\r\n01234567890123456789\r\n").await;
    }
    // The client is still sending; it gets its answer all the same.
    let answer = wire.answer().await.unwrap();
    assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
}

#[tokio::test]
async fn a_large_body_that_is_refused_does_not_cost_the_client_its_answer() {
    let door = Door::open("limits = { body = \"1KB\" }").await;
    let mut wire = Wire::to(door.addr).await;
    let body = "x".repeat(8 << 20);
    wire.send(request("POST /v1/messages", &[], &body)).await;
    let answer = wire.answer().await;
    assert_eq!(answer.map(|answer| answer.status), Some(413), "it was not lost to a reset");
}

#[tokio::test]
async fn a_head_too_large_is_refused() {
    let door = Door::open("limits = { head = \"9KB\" }").await;
    let long = format!("x-long: {}", "x".repeat(8000));
    assert_eq!(ask(door.addr, "GET /healthz", &[&long], "").await.status, 200);
    let longer = format!("x-long: {}", "x".repeat(20_000));
    assert_eq!(ask(door.addr, "GET /healthz", &[&longer], "").await.status, 431);
    let path = format!("GET /{}", "x".repeat(20_000));
    assert_eq!(ask(door.addr, &path, &[], "").await.status, 431);
    let many: Vec<String> = (0..200).map(|at| format!("x-{at}: y")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(ask(door.addr, "GET /healthz", &many, "").await.status, 431);
    assert_eq!(ask(door.addr, "GET /healthz", &many[..90], "").await.status, 200);
}

#[tokio::test]
async fn too_many_requests_wait_and_are_then_told_to_come_back() {
    let door = Door::open("limits = { requests = 1 }").await;
    let mut first = half_sent(&door).await;
    let answer = ask(door.addr, "POST /v1/messages", &["anthropic-version: 2023-06-01"], HELLO).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    assert!(answer.body.contains("overloaded_error"), "{answer:?}");
    assert_eq!(
        ask(door.addr, "GET /healthz", &[], "").await.status,
        200,
        "the gateway's own pages need no place"
    );
    let mut second = Wire::to(door.addr).await;
    second.send(request("POST /v1/messages", &[], HELLO)).await;
    first.send(HELLO).await;
    assert_eq!(first.answer().await.unwrap().status, 200);
    assert_eq!(second.answer().await.unwrap().status, 200, "its turn came");
}

#[tokio::test]
async fn a_place_is_given_back_by_who_leaves() {
    let door = Door::open("limits = { requests = 1 }").await;
    drop(half_sent(&door).await);
    let mut wire = Wire::to(door.addr).await;
    wire.send(request("POST /v1/messages", &[], HELLO)).await;
    assert_eq!(wire.answer().await.unwrap().status, 200);
}

#[tokio::test]
async fn too_many_connections_wait() {
    let door = Door::open("limits = { connections = 1 }").await;
    let mut first = Wire::to(door.addr).await;
    first.send(request("GET /healthz", &[], "")).await;
    assert_eq!(first.answer().await.unwrap().status, 200);
    let mut second = Wire::to(door.addr).await;
    second.send(request("GET /healthz", &[], "")).await;
    // Meanwhile the first is answered many times, any of which would have been enough for the second.
    let served = async {
        for _ in 0..200 {
            first.send(request("GET /healthz", &[], "")).await;
            assert_eq!(first.answer().await.unwrap().status, 200);
        }
        drop(first);
    };
    tokio::select! {
        biased;
        answer = second.answer() => panic!("{answer:?}"),
        () = served => {}
    }
    assert_eq!(second.answer().await.unwrap().status, 200, "its turn came");
}

#[tokio::test]
async fn a_slow_head_and_a_connection_at_rest_come_to_an_end() {
    let door = Door::open("limits = { head_wait = \"50ms\" }").await;
    let mut slow = Wire::to(door.addr).await;
    slow.send("POST /v1/messages HTTP/1.1\r\nhost: loc").await;
    assert!(slow.is_over().await);
    let mut silent = Wire::to(door.addr).await;
    assert!(silent.is_over().await);
    let mut resting = Wire::to(door.addr).await;
    resting.send(request("GET /healthz", &[], "")).await;
    assert_eq!(resting.answer().await.unwrap().status, 200);
    assert!(resting.is_over().await);
}

#[tokio::test]
async fn a_slow_body_comes_to_an_end() {
    let door = Door::open("limits = { body_wait = \"50ms\" }").await;
    let mut wire = half_sent(&door).await;
    wire.send(&HELLO[..10]).await;
    let answer = wire.answer().await.unwrap();
    assert_eq!((answer.status, answer.header("connection")), (408, Some("close")));
    assert!(answer.message().contains("50ms"), "{answer:?}");
}

#[tokio::test]
async fn bodies_that_do_not_fit_together_wait_and_are_then_told_to_come_back() {
    let door = Door::open("limits = { bodies = \"100KB\" }").await;
    let text = "x".repeat(90_000);
    let large = format!(
        r#"{{"model": "m", "max_tokens": 9, "messages": [{{"role": "user", "content": "{text}"}}]}}"#
    );
    let mut first = Wire::to(door.addr).await;
    first.send(head(large.len())).await;
    assert_eq!(first.answer().await.unwrap().status, 100);
    let again = || ask(door.addr, "POST /v1/chat/completions", &[], &large);
    assert_eq!(again().await.status, 200, "what was only announced takes no room");
    let (begun, rest) = large.split_at(80_000);
    first.send(begun).await;
    let mut answer = again().await;
    // It may have been faster than what was sent before it.
    while answer.status == 200 {
        answer = again().await;
    }
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    assert!(answer.message().contains("gateway.limits.bodies"), "{answer:?}");
    first.send(rest).await;
    assert_eq!(first.answer().await.unwrap().status, 200);
    assert_eq!(ask(door.addr, "POST /v1/messages", &[], &large).await.status, 200, "the room is free again");
}

#[tokio::test]
async fn a_client_that_does_not_take_its_answer_is_left() {
    let door = Door::open("limits = { requests = 1, body_wait = \"200ms\" }").await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut lazy = Wire::of(socket.connect(door.addr).await.unwrap());
    // As a stream the answer is many times as large, and more than any buffer on the way holds.
    let text = "much to say ".repeat(400_000);
    let body = format!(
        r#"{{"model": "m", "max_tokens": 9, "stream": true, "messages": [{{"role": "user", "content": "{text}"}}]}}"#
    );
    lazy.send(request("POST /v1/messages", &[], &body)).await;
    // It has the only place for as long as it is waited for.
    soon(async { while Box::pin(ask(door.addr, "POST /v1/messages", &[], HELLO)).await.status != 200 {} })
        .await;
    door.ledger.flush().await.unwrap();
    let entries = door.ledger.recent(100, None).await.unwrap();
    let endings: Vec<Ending> =
        entries.iter().filter(|entry| entry.stream).map(|entry| entry.ending).collect();
    assert_eq!(endings, [Ending::Left]);
    drop(lazy);
}
