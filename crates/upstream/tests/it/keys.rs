//! Several keys of one provider.

use std::collections::BTreeMap;
use std::time::Duration;

use rail_model::{ApiError, ErrorKind, ProtocolId};
use rail_route::Provider;
use rail_stdx::Secret;
use rail_testkit::{Models, Turn, text as say};
use rail_upstream::{Note, Upstream};

use crate::world::{ANTHROPIC, CHAT, Frozen, attempt, plan, provider, record, request, upstream};

fn keyed(name: &str, models: &Models, keys: &[&str]) -> Provider {
    let keys = keys.iter().map(|key| Secret::new(*key)).collect();
    Provider { keys, ..provider(name, models.base_url(CHAT)) }
}

/// The key that each request came with.
fn seen(models: &Models) -> Vec<String> {
    let asked = models.requests();
    asked.iter().map(|asked| asked.call.header("authorization").unwrap_or_default().to_owned()).collect()
}

fn said(kind: ErrorKind, retry_after: Option<u64>) -> Turn {
    Turn::error(ApiError { retry_after: retry_after.map(Duration::from_secs), ..ApiError::new(kind, "no") })
}

fn good() -> Turn {
    Turn::reply(vec![say("good")])
}

#[tokio::test(start_paused = true)]
async fn keys_take_turns() {
    let a = Models::start(vec![good().repeat()]).unwrap();
    let plan = plan([attempt(keyed("a", &a, &["one", "two"]))]);
    let upstream = upstream();
    for _ in 0..3 {
        Frozen::new().ask(&upstream, &plan, &request()).await.unwrap();
    }
    assert_eq!(seen(&a), ["Bearer one", "Bearer two", "Bearer one"]);
}

#[tokio::test(start_paused = true)]
async fn another_key_is_tried_at_once_and_the_refused_one_rests() {
    for (kind, rests) in [
        (ErrorKind::RateLimited, 60),
        (ErrorKind::Authentication, 600),
        (ErrorKind::Permission, 600),
        (ErrorKind::Quota, 600),
    ] {
        let a = Models::start(vec![said(kind, None), good().repeat()]).unwrap();
        let plan = plan([attempt(keyed("a", &a, &["one", "two"]))]);
        let (upstream, mut world) = (upstream(), Frozen::new());
        let reply = world.ask(&upstream, &plan, &request()).await.unwrap();
        assert_eq!((reply.sent().len(), world.elapsed()), (2, Duration::ZERO), "{kind:?}");
        for _ in 0..2 {
            world.ask(&upstream, &plan, &request()).await.unwrap();
        }
        tokio::time::advance(Duration::from_secs(rests)).await;
        for _ in 0..2 {
            world.ask(&upstream, &plan, &request()).await.unwrap();
        }
        let expected = ["one", "two", "two", "two", "two", "one"].map(|key| format!("Bearer {key}"));
        // Five requests draw one, two, one, two, one; while the first rests the second stands in for it.
        let got = seen(&a);
        assert_eq!(got[..4], expected[..4], "{kind:?}");
        assert!(got[4..].contains(&"Bearer one".to_owned()), "{kind:?}: it is back");
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_to_rest_for_ever_does_no_harm() {
    let a = Models::start(vec![said(ErrorKind::RateLimited, Some(1 << 63)), good().repeat()]).unwrap();
    let plan = plan([attempt(keyed("a", &a, &["one", "two"]))]);
    let reply = Frozen::new().ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 429 passing", "a 200 answered"]);
}

#[tokio::test(start_paused = true)]
async fn when_no_key_is_left_the_class_decides() {
    let wrong = || said(ErrorKind::Authentication, None);
    let a = Models::start(vec![wrong(), wrong().repeat()]).unwrap();
    let b = Models::start(vec![good().repeat()]).unwrap();
    let both = plan([attempt(keyed("a", &a, &["one", "two"])), attempt(keyed("b", &b, &[]))]);
    let mut world = Frozen::new();
    let reply = world.ask(&upstream(), &both, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 401 target", "a 401 target", "b 200 answered"]);
    assert_eq!(world.elapsed(), Duration::ZERO);

    let busy = || said(ErrorKind::RateLimited, Some(2));
    let a = Models::start(vec![busy(), busy(), good().repeat()]).unwrap();
    let plan = plan([attempt(keyed("a", &a, &["one", "two"]))]);
    let mut world = Frozen::new();
    let reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 429 passing", "a 429 passing", "a 200 answered"]);
    assert_eq!(world.elapsed(), Duration::from_secs(2), "only when both were busy");
}

#[tokio::test(start_paused = true)]
async fn keys_are_never_shown() {
    let key = "sk-a-very-secret-key-of-some-length-000000";
    let a = Models::start(vec![said(ErrorKind::Authentication, None), good().repeat()]).unwrap();
    let plan = plan([attempt(keyed("a", &a, &[key, "sk-b-another-secret-key-of-some-length-1"]))]);
    let (upstream, mut world): (Upstream, _) = (upstream(), Frozen::new());
    let reply = world.ask(&upstream, &plan, &request()).await.unwrap();
    let told = format!("{:?} {reply:?} {plan:?}", world.heard.notes());
    assert!(!told.contains("secret"), "{told}");
    let hints: Vec<_> = reply.sent().iter().map(|sent| sent.key.clone().unwrap()).collect();
    assert_eq!(hints, ["sk-a-ver…", "sk-b-ano…"]);
    assert!(matches!(&world.heard.notes()[0], Note::Sending { key: Some(hint), .. } if hint == "sk-a-ver…"));
}

#[tokio::test(start_paused = true)]
async fn each_protocol_has_its_own_header() {
    let a = Models::start(vec![good().repeat()]).unwrap();
    let headers = BTreeMap::from([("anthropic", "x-api-key"), ("gemini", "x-goog-api-key")]);
    for (name, header) in headers {
        let protocol = rail_wire::find(name).map(|protocol| protocol.id).unwrap_or(ANTHROPIC);
        let keys = vec![Secret::new("k")];
        let extra = vec![("X-Team".to_owned(), Secret::new("t"))];
        let own = Provider { protocol, keys, headers: extra, ..provider("a", a.base_url(protocol)) };
        Frozen::new().ask(&upstream(), &plan([attempt(own)]), &request()).await.unwrap();
        let asked = a.requests().pop().unwrap();
        assert_eq!((asked.call.header(header), asked.call.header("x-team")), (Some("k"), Some("t")));
        assert_eq!(asked.protocol, ProtocolId::new(name));
    }
}
