//! The end of a gateway.

use tokio::net::TcpStream;

use crate::door::Door;
use crate::wire::{HELLO, Wire, ask, request, soon};

#[tokio::test]
async fn what_is_on_its_way_is_finished_and_nothing_else_is_taken() {
    let door = Door::open("").await;
    let mut resting = Wire::to(door.addr).await;
    resting.send(request("GET /healthz", &[], "")).await;
    assert_eq!(resting.answer().await.unwrap().status, 200);
    let mut halves = Vec::new();
    for (line, body) in [("POST /v1/messages", HELLO), ("GET /healthz", "")] {
        let mut wire = Wire::to(door.addr).await;
        let whole = request(line, &[], body);
        let (before, after) = whole.split_at(20);
        wire.send(before).await;
        halves.push((wire, after.to_owned()));
    }
    // Connections are taken in order: once this is answered, the halves before it have come.
    let mut last = Wire::to(door.addr).await;
    last.send(request("GET /healthz", &[], "")).await;
    assert_eq!(last.answer().await.unwrap().status, 200);
    door.stop.cancel();
    assert!(resting.is_over().await, "a connection at rest is closed at once");
    let mut statuses = Vec::new();
    for (mut wire, after) in halves {
        wire.send(after).await;
        let answer = wire.answer().await.unwrap();
        assert_eq!(answer.header("connection"), Some("close"));
        statuses.push((answer.status, answer.body));
    }
    assert_eq!(statuses[0].0, 200);
    assert_eq!(statuses[1], (200, "ok\n".to_owned()));
    soon(door.served).await.unwrap().unwrap();
    assert!(TcpStream::connect(door.addr).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn who_comes_while_it_stops_is_told_so() {
    let door = Door::open("").await;
    let mut on_its_way = Wire::to(door.addr).await;
    let length = HELLO.len();
    on_its_way
        .send(format!(
            "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n"
        ))
        .await;
    assert_eq!(on_its_way.answer().await.unwrap().status, 100);
    door.stop.cancel();
    let ready = ask(door.addr, "GET /readyz", &[], "").await;
    assert_eq!((ready.status, ready.body.as_str()), (503, "stopping\n"));
    assert_eq!(ask(door.addr, "GET /healthz", &[], "").await.status, 200);
    let mut wire = Wire::to(door.addr).await;
    wire.send(request("POST /v1/messages", &[], HELLO)).await;
    let turned = wire.answer().await.unwrap();
    assert_eq!(
        (turned.status, turned.header("connection"), turned.header("retry-after")),
        (503, Some("close"), Some("1"))
    );
    assert!(wire.is_over().await);
    on_its_way.send(HELLO).await;
    assert_eq!(on_its_way.answer().await.unwrap().status, 200);
    soon(door.served).await.unwrap().unwrap();
    assert!(TcpStream::connect(door.addr).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn what_does_not_end_is_cut() {
    let door = Door::open("grace = \"50ms\"").await;
    let mut wire = Wire::to(door.addr).await;
    wire.send(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n",
    )
    .await;
    assert_eq!(wire.answer().await.unwrap().status, 100);
    door.stop.cancel();
    soon(door.served).await.unwrap().unwrap();
    assert!(wire.is_over().await);
}

#[tokio::test]
async fn nothing_goes_on_when_it_is_dropped() {
    let door = Door::open("").await;
    let mut wire = Wire::to(door.addr).await;
    wire.send(request("GET /healthz", &[], "")).await;
    assert_eq!(wire.answer().await.unwrap().status, 200);
    door.served.abort();
    assert!(soon(door.served).await.is_err());
    assert!(wire.is_over().await);
}
