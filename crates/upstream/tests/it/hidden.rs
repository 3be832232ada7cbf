//! A key that a provider repeats is seen nowhere: not in errors, notes, records, what is learned, or how targets fare.

use std::sync::Arc;

use rail_model::ProtocolId;
use rail_route::Provider;
use rail_stdx::Secret;
use rail_testkit::{Conversation, Peer, Step, chunk, http_head, http_whole, last_chunk, sse_head};
use rail_upstream::Upstream;

use crate::counted::Counted;
use crate::world::{ANTHROPIC, CHAT, Frozen, attempt, plan, provider, request, rest};

const KEY: &str = "sk-live+0123/456789=abcdef";
/// As .NET, PHP and addresses write it, and in base64.
const SPELLINGS: [&str; 5] = [
    KEY,
    r"sk-live\u002B0123/456789=abcdef",
    r"sk-live+0123\/456789=abcdef",
    "sk-live%2B0123%2F456789%3Dabcdef",
    "c2stbGl2ZSswMTIzLzQ1Njc4OT1hYmNkZWY",
];

fn frame(data: &str) -> Vec<u8> {
    chunk(format!("data: {data}\n\n"))
}

/// All that is told of a request that is answered with these bytes, in words a person or a program may see.
async fn told(protocol: ProtocolId, steps: &[Vec<u8>]) -> String {
    let steps = steps.iter().cloned().map(Step::Send);
    let steps = [Step::ReadRequest].into_iter().chain(steps);
    let peer = Peer::start(vec![Conversation::new(steps).repeat()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (upstream, _) =
        Upstream::learning_at(Arc::new(Counted::default()), folder.path().join("learned.json"));
    let base_url = format!("{}?api-version=1&sig=in-the-address", peer.url("/v1"));
    let keys = vec![Secret::new(KEY)];
    let plan = plan([attempt(Provider { protocol, keys, ..provider("a", base_url) })]);
    let mut world = Frozen::new();
    let end = match world.ask(&upstream, &plan, &request()).await {
        Ok(mut reply) => format!("{:?}", rest(&mut reply).await.unwrap_err()),
        Err(none) => format!("{none:?} {none}"),
    };
    let health = upstream.health().snapshot(tokio::time::Instant::now().into_std());
    format!("{end} {:?} {health:?} {:?}", world.heard.notes(), upstream.learned())
}

fn check(about: &str, told: &str) {
    for hidden in SPELLINGS.iter().copied().chain(["in-the-address", "0123/456789"]) {
        assert!(!told.contains(hidden), "{about}: {told}");
    }
    assert!(told.contains("***"), "{about} says that something was there: {told}");
}

#[tokio::test(start_paused = true)]
async fn in_every_way_to_fail() {
    let start = r#"{"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"hello"}}]}"#;
    for key in SPELLINGS {
        let error = format!(r#"{{"error":{{"message":"wrong key {key}","code":"{key}","param":"{key}"}}}}"#);
        let aside = format!(r#"{{"error":{{"message":"it is *** or so","metadata":{{"key":"{key}"}}}}}}"#);
        let page = format!("<html><h1>{key} may not enter</h1></html>");
        let to = format!("https://elsewhere.test/{key}?sig=in-the-address");
        let moved = http_head(307, &[("location", &to), ("content-length", "0")]);
        for (about, steps) in [
            ("a status", vec![http_whole(401, "application/json", &error)]),
            ("beside the message", vec![http_whole(400, "application/json", &aside)]),
            ("inside 200", vec![http_whole(200, "application/json", &error)]),
            ("a page with a status", vec![http_whole(403, "text/html", &page)]),
            ("a page inside 200", vec![http_whole(200, "text/html", &page)]),
            ("a redirect", vec![moved]),
            ("a stream's error", vec![sse_head(), frame(&error), last_chunk()]),
            ("after content", vec![sse_head(), frame(start), frame(&error), last_chunk()]),
        ] {
            check(about, &told(CHAT, &steps).await);
        }
        let frame = chunk(format!(
            "event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"api_error\",\"message\":\"{key}\"}}}}\n\n"
        ));
        check("Anthropic's error", &told(ANTHROPIC, &[sse_head(), frame, last_chunk()]).await);
    }
}
