//! The engines, as scripted servers.

use rail_stdx::Secret;
use rail_testkit::{Peer, Recorded, http_head, http_whole};
use rail_web::{Engine, EngineKind, Fetcher, Found, Query, WebSetup};
use serde_json::{Value, json};

use crate::site::site;

const KEY: &str = "key-that-nobody-may-see";

/// What an engine makes of an answer, and what it was asked.
async fn asked(
    kind: EngineKind,
    path: &str,
    query: &Query,
    answer: Vec<u8>,
) -> (Result<Vec<Found>, String>, Recorded) {
    let server = site([answer]);
    let said = ask(kind, &server, path, query).await;
    (said, server.requests().remove(0))
}

async fn ask(kind: EngineKind, server: &Peer, path: &str, query: &Query) -> Result<Vec<Found>, String> {
    let engine = Engine {
        kind,
        key: (kind != EngineKind::Searxng).then(|| Secret::new(KEY.to_owned())),
        url: Some(server.url(path)),
    };
    // The address is configured, so nothing has to be allowed.
    let found = Fetcher::new(WebSetup::default()).search(&engine, query).await;
    found.map_err(|fault| fault.to_string().replace(&server.addr().port().to_string(), "{port}"))
}

fn query(words: &str, count: usize) -> Query {
    Query { words: words.to_owned(), count, ..Query::default() }
}

fn ok(body: &Value) -> Vec<u8> {
    http_whole(200, "application/json", body.to_string())
}

fn shown(found: &[Found]) -> String {
    let line =
        |found: &Found| format!("{} | {} | {} | {:?}", found.title, found.url, found.description, found.age);
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn brave() {
    let answer = json!({"type": "search", "query": {"original": "x"}, "web": {"type": "search", "results": [
        {"title": "Rust &amp; <strong>more</strong>", "url": "https://a.example/x", "description": "About <strong>Rust</strong>\n&#x27;s book", "age": "2 days ago"},
        {"title": "Second", "url": "https://b.example/", "description": "", "page_age": "2025-01-02T00:00:00"},
        {"title": "Third", "url": "https://c.example/"},
        {"title": "No address", "url": "javascript:alert(1)"},
    ]}});
    let (found, request) =
        asked(EngineKind::Brave, "/res/v1/web/search", &query("rust & c++ größe", 2), ok(&answer)).await;
    insta::assert_snapshot!(shown(&found.unwrap()), @r#"
    Rust & more | https://a.example/x | About Rust 's book | Some("2 days ago")
    Second | https://b.example/ |  | Some("2025-01-02T00:00:00")
    "#);
    assert_eq!(
        (request.method.as_str(), request.target.as_str()),
        ("GET", "/res/v1/web/search?q=rust+%26+c%2B%2B+gr%C3%B6%C3%9Fe&count=2")
    );
    assert_eq!(request.header("x-subscription-token"), Some(KEY));
    let nothing = json!({"type": "search", "query": {"original": "x"}});
    assert_eq!(asked(EngineKind::Brave, "/", &query("x", 5), ok(&nothing)).await.0, Ok(Vec::new()));
}

#[tokio::test]
async fn tavily() {
    let answer = json!({"query": "x", "results": [
        {"title": "One", "url": "https://a.example/x", "content": "Text <b>of</b> it", "score": 0.9, "published_date": "Mon, 06 Jan 2025"},
        {"title": "Of no use", "url": "https://sub.bad.example/", "content": "b"},
    ]});
    let query = Query {
        blocked_domains: vec!["bad.example".to_owned()],
        allowed_domains: vec!["a.example".to_owned()],
        ..query("x", 7)
    };
    let (found, request) = asked(EngineKind::Tavily, "/search", &query, ok(&answer)).await;
    insta::assert_snapshot!(shown(&found.unwrap()), @r#"One | https://a.example/x | Text of it | Some("Mon, 06 Jan 2025")"#);
    assert_eq!(
        (request.method.as_str(), request.header("authorization")),
        ("POST", Some(format!("Bearer {KEY}").as_str()))
    );
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(
        body,
        json!({"query": "x", "max_results": 7, "search_depth": "basic", "include_domains": ["a.example"], "exclude_domains": ["bad.example"]})
    );
}

#[tokio::test]
async fn searxng() {
    let answer = json!({"query": "x", "results": [{"title": "One", "url": "https://a.example/x", "content": "Text", "publishedDate": null}]});
    for (path, target) in [
        ("", "/search?q=x+%28site%3Aa.example+OR+site%3Ab.example%29+-site%3Ac.example&format=json"),
        ("/sx/", "/sx/search?q=x+%28site%3Aa.example+OR+site%3Ab.example%29+-site%3Ac.example&format=json"),
        ("/search", "/search?q=x+%28site%3Aa.example+OR+site%3Ab.example%29+-site%3Ac.example&format=json"),
    ] {
        let query = Query {
            allowed_domains: vec!["a.example".to_owned(), "b.example".to_owned()],
            blocked_domains: vec!["c.example".to_owned()],
            ..query("x", 5)
        };
        let (found, request) = asked(EngineKind::Searxng, path, &query, ok(&answer)).await;
        assert_eq!(shown(&found.unwrap()), "One | https://a.example/x | Text | None");
        assert_eq!((request.target.as_str(), request.header("authorization")), (target, None));
    }
}

#[tokio::test]
async fn faults_say_what_to_do_and_no_key() {
    let with = |status: u16, header: (&str, &str), body: &str| {
        let length = body.len().to_string();
        [http_head(status, &[header, ("content-length", &length)]), body.as_bytes().to_vec()].concat()
    };
    let json = ("content-type", "application/json");
    let detail = r#"{"type": "ErrorResponse", "error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The provided subscription token is invalid."}}"#;
    let mut all = Vec::new();
    for (kind, answer) in [
        (EngineKind::Brave, with(422, json, detail)),
        (
            EngineKind::Tavily,
            with(401, json, r#"{"detail": {"error": "Unauthorized: missing or invalid API key."}}"#),
        ),
        (
            EngineKind::Tavily,
            with(432, json, r#"{"detail": {"error": "This request exceeds your plan's set usage limit."}}"#),
        ),
        (EngineKind::Brave, with(429, ("retry-after", "1"), "")),
        (EngineKind::Brave, with(429, json, "")),
        (EngineKind::Brave, with(500, json, "oops")),
        (EngineKind::Brave, with(301, ("location", "https://elsewhere.example/"), "")),
        (EngineKind::Searxng, with(403, json, "<html>Forbidden")),
        (EngineKind::Searxng, http_whole(200, "text/html", "<html>results")),
        (EngineKind::Brave, http_whole(200, "application/json", "[1]")),
        (EngineKind::Brave, Vec::new()),
    ] {
        let said = asked(kind, "/", &query("x", 5), answer).await.0.unwrap_err();
        assert!(!said.contains(KEY), "{said}");
        all.push(said);
    }
    insta::assert_snapshot!(all.join("\n"));
    let engine = |kind| Engine { kind, key: None, url: None };
    let fetcher = Fetcher::new(WebSetup::default());
    let missing = fetcher.search(&engine(EngineKind::Brave), &query("x", 5)).await.unwrap_err();
    insta::assert_snapshot!(missing, @"Brave needs a key; the user can set `BRAVE_API_KEY`, or write `key` under [web.search] in the configuration");
    let missing = fetcher.search(&engine(EngineKind::Searxng), &query("x", 5)).await.unwrap_err();
    insta::assert_snapshot!(missing, @"SearXNG has no address; the user can write `url` under [web.search] in the configuration");
}
