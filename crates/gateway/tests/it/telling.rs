//! What is told of a request that really came, on pages that were really asked for.

use rail_ledger::NewKey;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::door::{Door, memory};
use crate::wire::{HELLO, ask, soon};

/// Reads a stream until it has this in it.
async fn until(stream: &mut TcpStream, seen: &mut String, wanted: &str) {
    soon(async {
        while !seen.contains(wanted) {
            let mut buffer = [0; 4096];
            let read = stream.read(&mut buffer).await.unwrap();
            assert!(read > 0, "it ended before `{wanted}`: {seen}");
            seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    })
    .await;
}

#[tokio::test]
async fn a_request_is_seen_everywhere() {
    let door = Door::open("").await;
    let mut events = TcpStream::connect(door.addr).await.unwrap();
    events.write_all(b"GET /api/events HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut seen = String::new();
    until(&mut events, &mut seen, "retry: 1000").await;
    assert!(seen.contains("content-type: text/event-stream"), "{seen}");

    let answer = ask(door.addr, "POST /v1/messages", &[], HELLO).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    until(&mut events, &mut seen, "event: ended").await;
    let places = ["came", "routed", "note", "ended"].map(|name| seen.find(&format!("event: {name}\n")));
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{seen}");

    door.ledger.flush().await.unwrap();
    let list = ask(door.addr, "GET /api/requests", &[], "").await;
    let list: Value = serde_json::from_str(&list.body).unwrap();
    let request = &list["requests"][0];
    assert_eq!(request["id"].as_str(), answer.header("x-request-id"));
    assert_eq!((&request["target"], &request["ending"]), (&"p,m".into(), &"answered".into()), "{request}");
    let metrics = ask(door.addr, "GET /metrics", &[], "").await.body;
    // This door's gateway observes without knowing the configuration, so that its target has no name.
    let counted = "switchrail_requests_total{protocol=\"anthropic\",operation=\"generate\",target=\"other\",ending=\"answered\",status=\"200\"} 1";
    assert!(metrics.contains(counted) && metrics.contains("switchrail_connections_open "), "{metrics}");
    let explained = ask(door.addr, "POST /api/explain", &["content-type: application/json"], HELLO).await;
    assert!(explained.body.contains("\"target\":\"p,m\""), "{explained:?}");
    let status: Value = serde_json::from_str(&ask(door.addr, "GET /api/status", &[], "").await.body).unwrap();
    assert_eq!(status["address"], door.addr.to_string());

    door.stop.cancel();
    soon(async { while events.read(&mut [0; 4096]).await.unwrap() > 0 {} }).await;
    soon(door.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_gateway_with_keys_shows_little_to_who_is_no_admin() {
    let ledger = memory().await;
    let new = |name: &str, admin| NewKey { name: name.to_owned(), admin, ..NewKey::default() };
    let (_, user) = ledger.create_key(&new("user", false), 1).await.unwrap();
    let (_, admin) = ledger.create_key(&new("admin", true), 1).await.unwrap();
    let door = Door::on("127.0.0.1:0", "", ledger).await;
    let [user, admin] = [user, admin].map(|secret| format!("authorization: Bearer {}", secret.reveal()));
    for (path, alone, with_user, with_admin) in [
        ("/", 200, 200, 200),
        ("/metrics", 401, 200, 200),
        ("/api/status", 401, 200, 200),
        ("/api/requests", 401, 403, 200),
        ("/api/keys", 401, 403, 200),
        ("/api/config", 401, 403, 200),
        ("/api/usage", 401, 403, 200),
    ] {
        let line = format!("GET {path}");
        let mut statuses = Vec::new();
        for headers in [&[][..], &[user.as_str()], &[admin.as_str()]] {
            statuses.push(ask(door.addr, &line, headers, "").await.status);
        }
        assert_eq!(statuses, [alone, with_user, with_admin], "{path}");
    }
    let home = ask(door.addr, "GET /", &[], "").await.body;
    assert!(home.contains("has keys") && !home.contains("Last requests"), "{home}");
    let keys = ask(door.addr, "GET /api/keys", &[&admin], "").await.body;
    assert!(keys.contains("\"name\":\"user\"") && !keys.contains("rail_"), "{keys}");
}
