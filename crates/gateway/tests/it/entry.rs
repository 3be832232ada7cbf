//! Which requests come in, and how the others are told.

use rail_ledger::{Ending, NewKey};
use serde_json::{Value, json};

use crate::door::{Door, memory};
use crate::wire::{HELLO, Wire, ask, request};

#[tokio::test]
async fn the_gateways_own_pages() {
    let door = Door::open("").await;
    for (line, status, body) in [
        ("GET /healthz", 200, "ok\n"),
        ("GET /readyz", 200, "ready\n"),
        ("HEAD /", 200, ""),
        ("POST /healthz", 405, ""),
    ] {
        let answer = ask(door.addr, line, &[], "").await;
        assert_eq!(answer.status, status, "{line}");
        assert!(answer.header("x-request-id").is_some_and(|id| id.starts_with("req_")), "{line}: {answer:?}");
        if status == 200 {
            assert_eq!(answer.body, body, "{line}");
        }
    }
}

#[tokio::test]
async fn every_endpoint_is_reached() {
    let door = Door::open("").await;
    let gemini = r#"{"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}"#;
    let responses = r#"{"model": "m", "input": "hello"}"#;
    for (line, body) in [
        ("POST /v1/messages", HELLO),
        ("POST /v1/messages?beta=true", HELLO),
        ("POST /v1/chat/completions", HELLO),
        ("POST /chat/completions", HELLO),
        ("POST /v1/v1/messages", HELLO),
        ("POST /v1/responses", responses),
        ("POST /responses", responses),
        ("POST /v1beta/models/m:generateContent", gemini),
        ("GET /v1/models", ""),
        ("GET /v1beta/models", ""),
    ] {
        let answer = ask(door.addr, line, &[], body).await;
        assert_eq!(answer.status, 200, "{line}: {answer:?}");
    }
}

#[tokio::test]
async fn errors_are_told_in_the_clients_protocol() {
    let door = Door::open("").await;
    let anthropic = ask(door.addr, "POST /nothing", &["anthropic-version: 2023-06-01"], "{}").await;
    let error: Value = serde_json::from_str(&anthropic.body).unwrap();
    assert_eq!(
        (anthropic.status, &error["type"], &error["error"]["type"]),
        (404, &json!("error"), &json!("not_found_error"))
    );
    assert_eq!(anthropic.header("request-id"), anthropic.header("x-request-id"));
    assert_eq!(anthropic.header("connection"), Some("close"), "its body was not read");

    let gemini = ask(door.addr, "GET /v1beta/nothing", &[], "").await;
    let error: Value = serde_json::from_str(&gemini.body).unwrap();
    assert_eq!((gemini.status, &error["error"]["status"]), (404, &json!("NOT_FOUND")));
    assert_eq!((gemini.header("request-id"), gemini.header("connection")), (None, None));

    let wrong = ask(door.addr, "PUT /v1/messages", &[], "").await;
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("POST")));
    assert!(wrong.message().contains("does not take PUT"), "{wrong:?}");
}

#[tokio::test]
async fn ids_are_sorted_and_no_two_are_the_same() {
    let door = Door::open("").await;
    let mut wire = Wire::to(door.addr).await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        wire.send(request("GET /healthz", &["x-request-id: mine"], "")).await;
        ids.push(wire.answer().await.unwrap().header("x-request-id").unwrap().to_owned());
    }
    let mut sorted = ids.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(ids, sorted);
}

#[tokio::test]
async fn other_names_and_other_sites_are_kept_out() {
    let door = Door::open("hosts = [\"gateway.example\"]").await;
    for (host, status) in [
        ("host: localhost", 200),
        ("host: 127.0.0.1:4141", 200),
        ("host: [::1]:4141", 200),
        ("host: gateway.example", 200),
        ("host: evil.example", 403),
        ("host: localhost.evil.example:80", 403),
        ("host: 192.168.0.1", 403),
        ("host: a b", 400),
        ("host: localhost\r\nhost: localhost", 400),
    ] {
        for line in ["GET /v1/models", "GET /healthz", "GET /metrics"] {
            let answer = ask(door.addr, line, &[host], "").await;
            assert_eq!(answer.status, status, "{line} {host}");
        }
    }
    let answer = ask(door.addr, "GET /v1/models", &["host: evil.example"], "").await;
    assert!(answer.message().contains("gateway.hosts"), "{answer:?}");
    for (origin, status) in [
        ("origin: http://localhost:3000", 200),
        ("origin: https://gateway.example", 200),
        ("origin: https://evil.example", 403),
        ("origin: null", 403),
    ] {
        let answer = ask(door.addr, "POST /v1/messages", &[origin], HELLO).await;
        assert_eq!(answer.status, status, "{origin}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[tokio::test]
async fn a_websocket_is_told_to_use_http() {
    let door = Door::open("").await;
    let upgrade =
        ["connection: Upgrade", "upgrade: websocket", "sec-websocket-version: 13", "sec-websocket-key: AAAA"];
    for line in ["GET /v1/responses", "GET /responses", "GET /v1/realtime"] {
        let answer = ask(door.addr, line, &upgrade, "").await;
        assert_eq!(answer.status, 426, "{line}");
        assert!(answer.message().contains("over HTTP"), "{answer:?}");
    }
    let answer = ask(door.addr, "GET /v1/models", &["connection: upgrade", "upgrade: h2c"], "").await;
    assert_eq!(answer.status, 200, "other upgrades are offers that need not be taken");
}

#[tokio::test]
async fn what_is_turned_away_is_recorded_without_keys() {
    let door = Door::open("limits = { body = \"10B\" }").await;
    let headers =
        ["user-agent: claude-cli/2.1 (external)", "x-api-key: sk-secret", "anthropic-version: 2023-06-01"];
    let answer = ask(door.addr, "POST /v1/messages", &headers, HELLO).await;
    assert_eq!(answer.status, 413);
    door.ledger.flush().await.unwrap();
    let [entry] = <[_; 1]>::try_from(door.ledger.recent(10, None).await.unwrap()).unwrap();
    assert_eq!(Some(entry.id.as_str()), answer.header("x-request-id"));
    assert_eq!(
        (
            entry.ending,
            entry.status,
            entry.protocol.as_str(),
            entry.operation.as_str(),
            entry.client.as_str()
        ),
        (Ending::Refused, 413, "anthropic", "generate", "claude-cli")
    );
    assert!(!format!("{entry:?}").contains("secret"));
}

#[tokio::test]
async fn nobody_else_may_come_in_without_keys() {
    let door = Door::on("0.0.0.0:0", "", memory().await).await;
    let refused = crate::wire::soon(door.served).await.unwrap().unwrap_err();
    assert!(refused.to_string().contains("`rail key create NAME`"), "{refused}");
}

#[tokio::test]
async fn strangers_take_no_room_in_the_ledger_from_who_has_a_key() {
    let ledger = memory().await;
    let new = NewKey { name: "team".to_owned(), ..NewKey::default() };
    let key = ledger.create_key(&new, 1_700_000_000_000).await.unwrap().1;
    let key = format!("x-api-key: {}", key.reveal());
    let door = Door::on("127.0.0.1:0", "limits = { body = \"10B\" }", ledger).await;
    let mut wire = Wire::to(door.addr).await;
    // More than are recorded in two minutes, should one end meanwhile.
    for _ in 0..250 {
        wire.send(request("POST /v1/messages", &[], "")).await;
        assert_eq!(wire.answer().await.unwrap().status, 401);
    }
    assert_eq!(ask(door.addr, "POST /v1/messages", &[&key], HELLO).await.status, 413);
    door.ledger.flush().await.unwrap();
    let entries = door.ledger.recent(1000, None).await.unwrap();
    assert_eq!(entries.iter().filter(|entry| entry.key.is_some()).count(), 1);
    let written = entries.len() - 1;
    let metrics = ask(door.addr, "GET /metrics", &[&key], "").await.body;
    let counted = format!("switchrail_dropped_total{{what=\"refusals\"}} {}", 250 - written);
    assert!((120..=240).contains(&written) && metrics.contains(&counted), "{written} {metrics}");
}
