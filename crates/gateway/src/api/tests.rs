use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::BodyExt;
use rail_ledger::{Bodies, Entry, KeyId, Ledger, Place};
use rail_route::{Attempt, Plan, Provider, Retry, Target};
use rail_upstream::{Live, LiveSettings, Upstream};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::*;
use crate::observe::world::{CONFIGURATION, came, entry, loaded, observe, sending};
use crate::{Configuration, Parts};

async fn gateway_of(configuration: &str) -> Gateway {
    let (upstream, problem) = Upstream::learning_at(Arc::new(Live::new(LiveSettings::default())), learned());
    assert_eq!(problem, None);
    Gateway::new(Parts {
        configuration: Configuration::Fixed(Arc::new(loaded(configuration))),
        upstream,
        ledger: Ledger::open(&Place::Memory).await.unwrap(),
        observe: observe(configuration).0,
    })
}

/// A file of what was learned. It is read at once, and nothing is written to it.
fn learned() -> std::path::PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/learned.json");
    assert!(path.exists());
    path
}

/// Asks a target where nobody listens.
async fn fail(gateway: &Gateway, target: &Target) {
    let loaded = gateway.configuration();
    let provider = (*loaded.routing.providers[&target.provider]).clone();
    let retry = Retry { tries: 0, ..provider.retry };
    let base_url = format!("http://{}/v1", rail_testkit::refused_addr().unwrap());
    let attempt = Attempt {
        target: target.clone(),
        provider: Arc::new(Provider { retry, base_url, ..provider }),
        profile: Arc::default(),
        why: String::new(),
    };
    let plan = Plan {
        asked: String::new(),
        virtual_model: None,
        why: String::new(),
        estimated: 0,
        attempts: vec![attempt],
        skipped: Vec::new(),
    };
    gateway.upstream().ask(&plan, &rail_model::Request::default(), &()).await.unwrap_err();
}

/// A gateway with a request that ended, one on its way, a conversation, and a target that failed.
pub(super) async fn gateway() -> Gateway {
    let gateway = gateway_of(CONFIGURATION).await;
    let bodies = Bodies { request: "{\"a\":1}".to_owned(), answer: "{}".to_owned() };
    for id in ["r1", "r2", "r3"] {
        gateway.ledger().record(Entry { bodies: Some(bodies.clone()), ..entry(id) }, None);
    }
    gateway.ledger().flush().await.unwrap();
    gateway.observe().came(&came("r4"));
    gateway.observe().noted("r4", &sending("p,a"));
    let target = Target::new("p", "a");
    fail(&gateway, &target).await;
    let now = tokio::time::Instant::now().into_std();
    let usage = rail_model::Usage { cache_read: Some(10), output: Some(5), ..Default::default() };
    gateway.sessions().lock().unwrap().saw(rail_route::SessionKey(7), &target, Some("coding"), &usage, now);
    gateway
}

async fn ask(gateway: &Gateway, request: Request<Bytes>) -> (u16, http::HeaderMap, String) {
    let response = page(gateway, &request).await.expect("a page");
    let (head, body) = response.into_parts();
    let body = body.collect().await.map_err(|_| "cut").unwrap().to_bytes();
    (head.status.as_u16(), head.headers, String::from_utf8(body.to_vec()).unwrap())
}

pub(super) fn get(path: &str) -> Request<Bytes> {
    Request::get(path).body(Bytes::new()).unwrap()
}

pub(super) fn post(path: &str, kind: &str, body: &str) -> Request<Bytes> {
    let request = Request::post(path).header("content-type", kind);
    request.body(Bytes::copy_from_slice(body.as_bytes())).unwrap()
}

pub(super) async fn json_of(gateway: &Gateway, request: Request<Bytes>) -> Value {
    let (status, headers, body) = ask(gateway, request).await;
    assert_eq!((status, &headers["content-type"]), (200, &"application/json".parse().unwrap()), "{body}");
    serde_json::from_str(&body).unwrap()
}

pub(super) const ASKED: &str =
    r#"{"model": "claude-opus-4-5", "max_tokens": 10, "messages": [{"role": "user", "content": "hello"}]}"#;

#[tokio::test]
async fn the_newest_requests_come_first_with_those_on_their_way() {
    let gateway = gateway().await;
    let list = json_of(&gateway, get("/api/requests?limit=2")).await;
    let ids = |list: &Value, key: &str| -> Vec<String> {
        list[key].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (ids(&list, "on_their_way"), ids(&list, "requests")),
        (vec!["r4".to_owned()], vec!["r3".to_owned(), "r2".to_owned()])
    );
    assert_eq!(list["next"], "r2");
    assert_eq!(
        (&list["on_their_way"][0]["state"], &list["on_their_way"][0]["target"]),
        (&json!("sending"), &json!("p,a"))
    );
    assert!(list["requests"][0].get("bodies").is_none());
    let list = json_of(&gateway, get("/api/requests?limit=1000")).await;
    assert_eq!((list["requests"].as_array().unwrap().len(), &list["next"]), (3, &Value::Null));
    assert_eq!(json_of(&gateway, get("/api/requests/r2")).await["bodies"]["request"], "{\"a\":1}");
    assert_eq!(json_of(&gateway, get("/api/requests/r4")).await["state"], "sending");
    for path in ["/api/requests/none", "/api/requests/%ff", "/api/requests/", "/api/nothing", "/api"] {
        let (status, _, body) = ask(&gateway, get(path)).await;
        assert_eq!(status, 404, "{path}: {body}");
    }
}

#[tokio::test]
async fn wrong_questions_are_told_what_is_wrong() {
    let gateway = gateway().await;
    let wrong = |request| async {
        let (status, _, body) = ask(&gateway, request).await;
        format!(
            "{status} {}",
            serde_json::from_str::<Value>(&body).unwrap()["error"]["message"].as_str().unwrap()
        )
    };
    let told = [
        wrong(get("/api/requests?limit=0")).await,
        wrong(get("/api/requests?limit=1001")).await,
        wrong(get("/api/requests?limit=x")).await,
        wrong(get("/api/requests?since=1")).await,
        wrong(get("/api/status?limit=1")).await,
        wrong(get("/api/config?all=yes")).await,
        wrong(get("/api/usage?since=yesterday")).await,
        wrong(get("/api/usage?since=7&until=7")).await,
        wrong(get("/api/usage?by=colour")).await,
        wrong(get("/api/usage/series?since=7d&step=1m")).await,
        wrong(get("/api/usage/series?step=2024-01-01")).await,
        wrong(get("/api/usage/series?step=0m")).await,
        wrong(post("/api/requests", "application/json", "")).await,
        wrong(get("/api/explain")).await,
        wrong(post("/api/explain", "text/plain", ASKED)).await,
        wrong(post("/api/explain", "application/x-www-form-urlencoded", "")).await,
        wrong(post("/api/explain", "application/json", "{half")).await,
        wrong(post("/api/explain", "application/json", "{}")).await,
        wrong(post("/api/explain?protocol=soap", "application/json", "{}")).await,
        wrong(post("/api/explain?protocol=anthropic", "application/json", "[]")).await,
    ];
    insta::assert_snapshot!(told.join("\n"));
    let (_, headers, _) = ask(&gateway, post("/metrics", "application/json", "")).await;
    assert_eq!(headers["allow"], "GET, HEAD");
    assert!(page(&gateway, &get("/v1/nothing")).await.is_none());
}

#[tokio::test]
async fn every_page_is_closed_to_other_sites() {
    let gateway = gateway().await;
    for request in [
        get("/"),
        get("/metrics"),
        get("/api/status"),
        get("/api/none"),
        post("/api/explain", "application/json", ASKED),
    ] {
        let path = request.uri().clone();
        let (_, headers, _) = ask(&gateway, request).await;
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{path}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}");
        let style = STANDARD.encode(Sha256::digest(home::STYLE));
        assert!(policy.contains(&format!("style-src 'sha256-{style}';")), "write {style} into the policy");
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(header("cache-control"), "no-store", "{path}");
        assert!(headers.keys().all(|name| !name.as_str().starts_with("access-control")), "{path}");
    }
}

#[tokio::test]
async fn a_plan_is_explained_as_the_command_does() {
    let gateway = gateway().await;
    let explained = json_of(&gateway, post("/api/explain", "application/json; charset=utf-8", ASKED)).await;
    assert_eq!(explained["attempts"], json!([{"target": "p,a", "why": explained["attempts"][0]["why"]}]));
    assert_eq!((&explained["asked"], &explained["virtual_model"]), (&json!("claude-opus-4-5"), &Value::Null));
    let smart =
        json_of(&gateway, post("/api/explain?model=smart&client=codex", "application/json", ASKED)).await;
    assert_eq!((&smart["virtual_model"], &smart["facts"]["client"]), (&json!("coding"), &json!("codex")));
    let gemini = r#"{"contents": [{"parts": [{"text": "hello"}]}]}"#;
    let path = "/api/explain?path=/v1beta/models/p%2Cb:generateContent";
    let gemini = json_of(&gateway, post(path, "application/json", gemini)).await;
    assert_eq!(gemini["attempts"][0]["target"], "p,b");
}

#[tokio::test]
async fn keys_that_are_no_admin_s_see_little() {
    let gateway = gateway().await;
    let with = |path: &str, admin: bool| {
        let mut request = get(path);
        let key = Key {
            id: KeyId("k".to_owned()),
            name: "n".to_owned(),
            admin,
            models: Vec::new(),
            rate: None,
            budget: None,
            created: 0,
            expires: None,
            revoked: None,
        };
        request.extensions_mut().insert(key);
        request
    };
    for path in [
        "/api/requests",
        "/api/requests/r1",
        "/api/config",
        "/api/keys",
        "/api/events",
        "/api/usage",
        "/api/health",
        "/api/models",
    ] {
        assert_eq!(ask(&gateway, with(path, false)).await.0, 403, "{path}");
    }
    for path in ["/api/status", "/metrics"] {
        assert_eq!(ask(&gateway, with(path, false)).await.0, 200, "{path}");
    }
    assert_eq!(ask(&gateway, with("/api/requests", true)).await.0, 200);
}

#[tokio::test]
async fn no_secret_is_on_any_page() {
    let gateway = gateway_of(CONFIGURATION).await;
    let said = "configured-key-of-p sk-live-1234567890abcdef".to_owned();
    let bodies = Bodies { request: said.clone(), answer: said.clone() };
    let problem = Some(said.clone());
    gateway.ledger().record(
        Entry {
            problem,
            asked: said,
            bodies: Some(bodies),
            ending: rail_ledger::Ending::Failed,
            ..entry("r1")
        },
        None,
    );
    gateway.ledger().flush().await.unwrap();
    for path in [
        "/",
        "/api/requests",
        "/api/requests/r1",
        "/api/config?all=true",
        "/api/health",
        "/api/routes",
        "/api/models",
        "/metrics",
    ] {
        let (status, _, body) = ask(&gateway, get(path)).await;
        assert_eq!(status, 200, "{path}");
        assert!(!body.contains("configured-key") && !body.contains("sk-live"), "{path}: {body}");
    }
    assert!(ask(&gateway, get("/api/requests/r1")).await.2.contains("*** ***"));
}

#[tokio::test]
async fn the_page_shows_hostile_names_as_text() {
    let gateway = gateway_of(CONFIGURATION).await;
    let hostile = "<script>alert(1)</script>\"'&\u{1b}[2J".to_owned();
    let problem = Some(hostile.clone());
    let entry = Entry {
        asked: hostile.clone(),
        client: hostile.clone(),
        target: Some(hostile.clone()),
        problem,
        ending: rail_ledger::Ending::Failed,
        ..entry("r1")
    };
    gateway.ledger().record(entry, None);
    gateway.ledger().flush().await.unwrap();
    let mut request = get("/");
    request.headers_mut().insert("host", "<b>\"x".parse().unwrap());
    let (status, headers, body) = ask(&gateway, request).await;
    assert_eq!((status, &headers["content-type"]), (200, &"text/html; charset=utf-8".parse().unwrap()));
    assert!(!body.contains("<script") && !body.contains("<b>") && !body.contains('\u{1b}'), "{body}");
    assert!(body.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\u{1b}"), "{body}");
    assert!(body.contains("ANTHROPIC_BASE_URL=http://127.0.0.1:4141 "), "{body}");
    assert!(!body.contains("src=") && !body.contains("href="), "nothing from elsewhere");
    let mut request = get("/");
    request.headers_mut().insert("host", "gate.example:8080".parse().unwrap());
    assert!(ask(&gateway, request).await.2.contains("GOOGLE_GEMINI_BASE_URL=http://gate.example:8080 "));
}

#[tokio::test]
async fn events_are_streamed_kept_alive_and_resumed() {
    let gateway = gateway().await;
    let response = page(&gateway, &get("/api/events")).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    async fn next(body: &mut Body) -> String {
        let frame = body.frame().await.unwrap().map_err(|_| "cut").unwrap();
        String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
    }
    assert_eq!(next(&mut body).await, "retry: 1000\n\n");
    // From here on the clock moves by itself while nothing else happens.
    tokio::time::pause();
    assert_eq!(next(&mut body).await, ": alive\n\n");
    gateway.observe().came(&came("r5"));
    gateway.observe().ended(&entry("r5"));
    let came_event = next(&mut body).await;
    assert!(came_event.contains("event: came\ndata: {\"id\":\"r5\""), "{came_event}");
    drop(body);
    let id = came_event.lines().next().unwrap().strip_prefix("id: ").unwrap().to_owned();
    let mut request = get("/api/events");
    request.headers_mut().insert("last-event-id", id.parse().unwrap());
    let mut body = page(&gateway, &request).await.unwrap().into_body();
    assert_eq!(next(&mut body).await, "retry: 1000\n\n");
    assert!(next(&mut body).await.contains("event: ended\n"));
    gateway.observe().close_events();
    assert!(body.frame().await.is_none(), "the end of the gateway ends the stream");
    assert_eq!(ask(&gateway, get("/api/events")).await.0, 503);
}
