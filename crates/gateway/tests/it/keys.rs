//! Keys.

use rail_ledger::{Ledger, NewKey};

use crate::door::{Door, memory};
use crate::wire::{Answer, HELLO, Wire, ask, request};

/// Long before any key of these tests ends.
const NOW: u64 = 1_700_000_000_000;

async fn key(ledger: &Ledger, name: &str, admin: bool) -> String {
    let new = NewKey { name: name.to_owned(), admin, ..NewKey::default() };
    ledger.create_key(&new, NOW).await.unwrap().1.reveal().to_owned()
}

async fn models(door: &Door, path: &str, headers: &[String]) -> Answer {
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    ask(door.addr, &format!("GET {path}"), &headers, "").await
}

#[tokio::test]
async fn without_keys_any_key_will_do() {
    let door = Door::open("").await;
    for headers in [&[][..], &["x-api-key: a"], &["authorization: Bearer a", "x-goog-api-key: b"]] {
        assert_eq!(ask(door.addr, "POST /v1/messages", headers, HELLO).await.status, 200, "{headers:?}");
    }
    let answer = ask(door.addr, "GET /v1beta/models?key=secret", &[], "").await;
    assert_eq!(answer.status, 401);
    assert!(answer.message().contains("x-goog-api-key") && !answer.body.contains("secret"), "{answer:?}");
}

#[tokio::test]
async fn with_keys_one_is_needed() {
    let ledger = memory().await;
    let (good, revoked) = (key(&ledger, "good", false).await, key(&ledger, "old", false).await);
    ledger.revoke("old", NOW).await.unwrap().unwrap();
    let door = Door::on("127.0.0.1:0", "", ledger).await;
    let good_key = || format!("x-api-key: {good}");
    let table: [(&str, Vec<String>, u16); 12] = [
        ("/v1/models", vec![good_key()], 200),
        ("/v1/models", vec![format!("authorization: Bearer {good}")], 200),
        ("/v1/models", vec![format!("x-goog-api-key: {good}")], 200),
        ("/v1/models", vec![good_key(), format!("authorization: Bearer {good}")], 200),
        ("/v1/models", vec![], 401),
        ("/v1/models", vec!["x-api-key: wrong".to_owned()], 401),
        ("/v1/models", vec![format!("x-api-key: {revoked}")], 401),
        ("/v1/models", vec![good_key(), "authorization: Bearer other".to_owned()], 401),
        ("/metrics", vec![], 401),
        ("/api/requests", vec![], 401),
        ("/healthz", vec![], 200),
        ("/readyz", vec![], 200),
    ];
    for (path, headers, status) in table {
        let answer = models(&door, path, &headers).await;
        assert_eq!(answer.status, status, "{path} {headers:?}");
        assert_eq!(answer.header("www-authenticate"), (status == 401).then_some("Bearer"));
        assert!(!answer.body.contains(&good) && !answer.body.contains("wrong"), "{answer:?}");
    }
    let answer = models(&door, &format!("/v1beta/models?key={good}"), &[]).await;
    assert_eq!(answer.status, 401, "a key in the address");
    // The pages of other sites have no key, and those that have one may use it.
    let answer = models(&door, "/v1/models", &[good_key(), "origin: https://app.example".to_owned()]).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_key_in_the_address_may_be_let_pass() {
    let ledger = memory().await;
    let good = key(&ledger, "good", false).await;
    let door = Door::on("127.0.0.1:0", "url_keys = true", ledger).await;
    for (path, headers, status) in [
        (format!("/v1beta/models?key={good}"), vec![], 200),
        (format!("/v1beta/models?key={good}"), vec![format!("x-goog-api-key: {good}")], 200),
        (format!("/v1beta/models?key={good}"), vec!["x-goog-api-key: other".to_owned()], 401),
        ("/v1beta/models?key=other".to_owned(), vec![], 401),
    ] {
        assert_eq!(models(&door, &path, &headers).await.status, status, "{path} {headers:?}");
    }
}

#[tokio::test]
async fn only_an_admin_changes_things() {
    let ledger = memory().await;
    let (user, admin) = (key(&ledger, "user", false).await, key(&ledger, "admin", true).await);
    let door = Door::on("127.0.0.1:0", "", ledger).await;
    let answer = ask(door.addr, "DELETE /api/keys/x", &[&format!("x-api-key: {user}")], "").await;
    assert_eq!(answer.status, 403, "{answer:?}");
    assert!(answer.message().contains("--admin"), "{answer:?}");
    let answer = ask(door.addr, "DELETE /api/keys/x", &[&format!("x-api-key: {admin}")], "").await;
    assert!(![401, 403].contains(&answer.status), "{answer:?}");
}

#[tokio::test]
async fn others_come_in_with_a_key_only() {
    let ledger = memory().await;
    let good = key(&ledger, "good", false).await;
    let door = Door::on("0.0.0.0:0", "", ledger).await;
    let addr = ([127, 0, 0, 1], door.addr.port()).into();
    assert_eq!(ask(addr, "GET /v1/models", &["host: 10.0.0.1"], "").await.status, 401);
    let good = format!("x-api-key: {good}");
    for (host, status) in [("host: 10.0.0.1", 200), ("host: localhost", 200), ("host: evil.example", 403)] {
        assert_eq!(ask(addr, "GET /v1/models", &[host, &good], "").await.status, status, "{host}");
    }
}

#[tokio::test]
async fn a_body_is_not_read_for_somebody_unknown() {
    let ledger = memory().await;
    key(&ledger, "good", false).await;
    let door = Door::on("127.0.0.1:0", "", ledger).await;
    let mut wire = Wire::to(door.addr).await;
    // Nothing of the body is ever sent, nor asked for by `100 Continue`.
    wire.send("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 1000000\r\n\r\n").await;
    let answer = wire.answer().await.unwrap();
    assert_eq!((answer.status, answer.header("connection")), (401, Some("close")));
    wire.send(request("GET /healthz", &[], "")).await;
    assert!(wire.answer().await.is_none(), "the connection is over");
}

#[tokio::test]
async fn a_guest_has_models_and_nobody_elses_business() {
    for keys in [false, true] {
        let ledger = memory().await;
        if keys {
            key(&ledger, "team", false).await;
        }
        let door = Door::for_guest("token-of-the-run", ledger).await;
        let token = "authorization: Bearer token-of-the-run".to_owned();
        let hello = ask(door.addr, "POST /v1/messages", &[&token], HELLO).await;
        assert_eq!(hello.status, 200, "{hello:?}");
        for (path, with, without) in [
            ("/v1/models", 200, 401),
            ("/api/models", 403, 401),
            ("/metrics", 200, 401),
            ("/api/requests", 403, 401),
            ("/api/keys", 403, 401),
            ("/api/events", 403, 401),
            ("/api/config", 403, 401),
        ] {
            assert_eq!(models(&door, path, &[]).await.status, without, "{path}, keys {keys}");
            let answer = models(&door, path, std::slice::from_ref(&token)).await;
            assert_eq!(answer.status, with, "{path}, keys {keys}: {answer:?}");
        }
        let home = models(&door, "/", &[]).await;
        assert_eq!(home.status, 200);
        assert!(!home.body.contains("Last requests") && !home.body.contains("p,m"), "{home:?}");
    }
}
