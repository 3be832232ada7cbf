//! Each fault of a provider, one test: who answers instead, or with which error it ends, and what the record says.

use std::sync::Arc;
use std::time::Duration;

use rail_model::ErrorKind;
use rail_testkit::{
    Authority, Conversation, Models, Peer, Step, Turn, chunk, http_head, http_whole, last_chunk,
    refused_addr, sse_head, text as say,
};
use rail_upstream::Reply;

use crate::world::{ANTHROPIC, CHAT, Frozen, attempt, plan, provider, record, request, text, upstream};

const HELLO: &str =
    r#"data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"hello"}}]}"#;
const STOP: &str = r#"data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const START: &str = r#"data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#;

fn event(data: &str) -> Vec<u8> {
    chunk(format!("{data}\n\n"))
}

/// A server that does the same on every connection: it reads the request, then does this.
fn always(steps: impl IntoIterator<Item = Step>) -> Peer {
    let steps = [Step::ReadRequest].into_iter().chain(steps);
    Peer::start(vec![Conversation::new(steps).repeat()]).unwrap()
}

fn answers(bytes: Vec<u8>) -> Peer {
    always([Step::Send(bytes)])
}

/// A stream of these frames that ends as HTTP wants it.
fn streams(frames: &[&str]) -> Peer {
    let frames = frames.iter().flat_map(|frame| event(frame));
    answers(sse_head().into_iter().chain(frames).chain(last_chunk()).collect())
}

fn good() -> Models {
    Models::start(vec![Turn::reply(vec![say("from b")]).repeat()]).unwrap()
}

/// Asks the server at `a` and then a good one; what the record says, what was answered, and how far the clock went.
async fn asked(a: String) -> (Vec<String>, String, Duration) {
    let b = good();
    let plan = plan([attempt(provider("a", a)), attempt(provider("b", b.base_url(CHAT)))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(world.heard.sent(), reply.sent(), "the notes tell what the record says");
    (record(reply.sent()), text(&mut reply).await.unwrap(), world.elapsed())
}

/// The fault of a server that fails each time: it is asked twice within its limits, then the other at once.
async fn twice(peer: Peer, line: &str) {
    let (record, text, elapsed) = asked(peer.url("/v1")).await;
    assert_eq!(
        (record, text.as_str()),
        (vec![line.to_owned(), line.to_owned(), "b 200 answered".to_owned()], "from b")
    );
    assert!(elapsed <= Duration::from_secs(1), "one pause of at most a second: {elapsed:?}");
}

/// The fault of a server that is not asked again.
async fn once(a: String, line: &str) {
    let (record, text, elapsed) = asked(a).await;
    assert_eq!((record, text.as_str()), (vec![line.to_owned(), "b 200 answered".to_owned()], "from b"));
    assert_eq!(elapsed, Duration::ZERO, "no pause before another target");
}

#[tokio::test(start_paused = true)]
async fn connection_refused() {
    let (record, text, _) = asked(format!("http://{}/v1", refused_addr().unwrap())).await;
    assert_eq!(
        (record, text.as_str()),
        (vec!["a - passing".into(), "a - passing".into(), "b 200 answered".into()], "from b")
    );
}

#[tokio::test(start_paused = true)]
async fn connection_reset() {
    twice(always([Step::Reset]), "a - passing $").await;
}

#[tokio::test(start_paused = true)]
async fn connection_closed_in_mid_head() {
    twice(answers(b"HTTP/1.1 200 OK\r\ncontent-ty".to_vec()), "a - passing $").await;
}

#[tokio::test(start_paused = true)]
async fn statuses_that_pass() {
    for status in [408, 429, 500, 502, 503, 504, 529] {
        twice(answers(http_whole(status, "application/json", "{}")), &format!("a {status} passing")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn statuses_that_are_the_targets_fault() {
    for status in [401, 402, 403, 404] {
        let peer = answers(http_whole(status, "application/json", r#"{"error":{"message":"no"}}"#));
        once(peer.url("/v1"), &format!("a {status} target")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_not_followed() {
    let head = http_head(301, &[("location", "https://elsewhere/v1"), ("content-length", "0")]);
    once(answers(head).url("/v1"), "a 301 target").await;
}

#[tokio::test(start_paused = true)]
async fn a_host_without_address_and_a_certificate_without_trust() {
    let (record, _, _) = asked("http://a.invalid/v1".to_owned()).await;
    assert_eq!(record, ["a - passing", "a - passing", "b 200 answered"]);
    let authority = Authority::new().unwrap();
    for cert in [authority.server(), authority.expired(), authority.wrong_name()] {
        let peer = Peer::start_tls(vec![Conversation::new([Step::Stall]).repeat()], &cert.unwrap()).unwrap();
        once(peer.url("/v1"), "a - target").await;
    }
    let gone = Peer::start(vec![Conversation::new([Step::Close]).repeat()]).unwrap();
    // What is no TLS at all may be so for a moment: a server that starts, or something before it.
    let (record, _, _) = asked(gone.url("/v1").replace("http://", "https://")).await;
    assert_eq!(record.len(), 3, "{record:?}");
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_obeyed_when_short() {
    let wait = http_head(429, &[("retry-after", "3"), ("content-length", "0")]);
    let good = sse_head().into_iter().chain(event(HELLO)).chain(event(STOP)).chain(last_chunk()).collect();
    let peer = Peer::start(vec![
        Conversation::new([Step::ReadRequest, Step::Send(wait)]),
        Conversation::new([Step::ReadRequest, Step::Send(good)]),
    ]);
    let peer = peer.unwrap();
    let (record, text, elapsed) = asked(peer.url("/v1")).await;
    assert_eq!((record, text.as_str()), (vec!["a 429 passing".into(), "a 200 answered".into()], "hello"));
    assert_eq!(elapsed, Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn retry_after_that_is_long_means_the_next_target() {
    let wait = http_head(429, &[("retry-after", "6"), ("content-length", "0")]);
    once(answers(wait).url("/v1"), "a 429 passing").await;
}

#[tokio::test(start_paused = true)]
async fn cut_in_mid_event() {
    twice(answers([sse_head(), chunk("data: {\"id\":\"1\",\"choi")].concat()), "a 200 passing $").await;
    twice(streams(&["data: {\"id\":\"1\",\"choi"]), "a 200 passing $").await;
}

#[tokio::test(start_paused = true)]
async fn an_end_without_end_marker() {
    twice(streams(&[START]), "a 200 passing $").await;
}

#[tokio::test(start_paused = true)]
async fn bad_utf8_and_bad_json() {
    let bad = [sse_head(), chunk(b"data: {\"id\":\"\xff\xfe\"}\n\n"), last_chunk()].concat();
    twice(answers(bad), "a 200 passing $").await;
    twice(streams(&["data: {\"id\":}"]), "a 200 passing $").await;
    let garbage =
        [Step::Send(sse_head()), Step::Send(chunk(rail_testkit::garbage(5000, 7))), Step::Send(last_chunk())];
    twice(always(garbage), "a 200 passing $").await;
}

#[tokio::test(start_paused = true)]
async fn truncated_gzip() {
    let head = http_head(200, &[("content-encoding", "gzip"), ("content-length", "3")]);
    twice(answers([head, b"\x1f\x8b\x08".to_vec()].concat()), "a 200 passing $").await;
}

#[tokio::test(start_paused = true)]
async fn a_web_page_with_status_200() {
    let page = http_whole(200, "text/html", "<!doctype html>\n<html><title>Please log in</title></html>");
    twice(answers(page.clone()), "a 200 passing").await;
    let peer = answers(page);
    let plan = plan([attempt(provider("a", peer.url("/v1")))]);
    for stream in [true, false] {
        let mut asked = request();
        asked.stream = stream;
        let none = Frozen::new().ask(&upstream(), &plan, &asked).await.unwrap_err();
        assert_eq!(
            none.error.message,
            "a web page came instead of an answer (Please log in); check `base_url`"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_inside_200() {
    let error = r#"{"error":{"message":"Provider returned error","code":502}}"#;
    twice(streams(&[&format!("data: {error}")]), "a 200 passing $").await;
    twice(answers(http_whole(200, "application/json", error)), "a 200 passing $").await;
    let peer = answers(http_whole(200, "application/json", error));
    let (plan, mut whole) = (plan([attempt(provider("a", peer.url("/v1")))]), request());
    whole.stream = false;
    let none = Frozen::new().ask(&upstream(), &plan, &whole).await.unwrap_err();
    assert_eq!((none.error.status, none.error.message.as_str()), (502, "Provider returned error"));
}

#[tokio::test(start_paused = true)]
async fn overload_after_the_start_and_before_content() {
    let busy = r#"data: {"error":{"message":"overloaded","code":"server_is_overloaded"}}"#;
    twice(streams(&[START, busy]), "a 200 passing $").await;
}

#[tokio::test(start_paused = true)]
async fn an_anthropic_overload_after_message_start() {
    let overloaded = rail_model::ApiError::new(ErrorKind::Overloaded, "Overloaded");
    let (a, b) = (Models::start(vec![Turn::breaks(vec![], overloaded).pings(3).repeat()]).unwrap(), good());
    let mut first = provider("a", a.base_url(ANTHROPIC));
    first.protocol = ANTHROPIC;
    let plan = plan([attempt(first), attempt(provider("b", b.base_url(CHAT)))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 200 passing $", "a 200 passing $", "b 200 answered"]);
    assert_eq!(text(&mut reply).await.unwrap(), "from b");
}

#[tokio::test(start_paused = true)]
async fn a_wrong_content_type_with_a_good_body() {
    let body = format!("{HELLO}\n\n{STOP}\n\ndata: [DONE]\n\n");
    for kind in ["text/plain", "application/json", "text/html"] {
        let (record, text, _) = asked(answers(http_whole(200, kind, &body)).url("/v1")).await;
        assert_eq!((record, text.as_str()), (vec!["a 200 answered".into()], "hello"), "{kind}");
    }
    let whole = r#"{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"whole"},"finish_reason":"stop"}]}"#;
    let (record, text, _) = asked(answers(http_whole(200, "text/event-stream", whole)).url("/v1")).await;
    assert_eq!((record, text.as_str()), (vec!["a 200 answered".into()], "whole"));
}

#[tokio::test(start_paused = true)]
async fn duplicate_events() {
    let (record, text, _) =
        asked(streams(&[START, START, HELLO, STOP, STOP, "data: [DONE]", "data: [DONE]"]).url("/v1")).await;
    assert_eq!((record, text.as_str()), (vec!["a 200 answered".into()], "hello"));
}

#[tokio::test(start_paused = true)]
async fn an_empty_answer_is_given_only_when_there_is_no_other() {
    let empty = [START, STOP, "data: [DONE]"];
    once(streams(&empty).url("/v1"), "a 200 empty").await;

    let (a, b) = (streams(&empty), streams(&empty));
    let plan_of_two = plan([attempt(provider("a", a.url("/v1"))), attempt(provider("b", b.url("/v1")))]);
    let mut reply: Reply = Frozen::new().ask(&upstream(), &plan_of_two, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 200 empty", "b 200 empty"]);
    assert_eq!(reply.target().provider, "a");
    assert_eq!(text(&mut reply).await.unwrap(), "");

    let refused = provider("b", format!("http://{}/v1", refused_addr().unwrap()));
    let plan = plan([attempt(provider("a", a.url("/v1"))), attempt(refused)]);
    let reply = Frozen::new().ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(reply.target().provider, "a", "an empty answer is better than none");
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_too_long_goes_to_larger_windows_only() {
    let overflow = r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}"#;
    let full = answers(http_whole(400, "application/json", overflow));
    let b = good();
    let sized = |name: &str, url: String, window| {
        crate::world::attempt_as(
            provider(name, url),
            rail_route::ModelProfile { window, ..crate::world::profile() },
        )
    };
    let a = || sized("a", full.url("/v1"), Some(8192));
    let table = [
        (
            vec![a(), sized("small", full.url("/v1"), Some(8192)), sized("b", b.base_url(CHAT), Some(9000))],
            Some("b"),
            2,
        ),
        (vec![a(), sized("b", b.base_url(CHAT), None)], Some("b"), 2),
        (vec![sized("a", full.url("/v1"), None), sized("b", b.base_url(CHAT), Some(1))], Some("b"), 2),
        (vec![a(), sized("small", b.base_url(CHAT), Some(4096))], None, 1),
    ];
    for (attempts, expected, sends) in table {
        match Frozen::new().ask(&upstream(), &plan(attempts), &request()).await {
            Ok(reply) => {
                assert_eq!((Some(reply.target().provider.as_str()), reply.sent().len()), (expected, sends))
            }
            Err(none) => {
                assert_eq!((None, none.sent.len()), (expected, sends));
                assert_eq!(none.error.kind, ErrorKind::ContextLength, "so that the client compacts");
                assert!(none.error.said.is_some(), "in the provider's own words");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_every_target_calls_invalid_is_the_first_ones_error() {
    let invalid = |words: &str| {
        answers(http_whole(400, "application/json", format!(r#"{{"error":{{"message":"{words}"}}}}"#)))
    };
    let (a, c) = (invalid("bad question"), invalid("really bad"));
    let plan_of_two = plan([attempt(provider("a", a.url("/v1"))), attempt(provider("c", c.url("/v1")))]);
    let none = Frozen::new().ask(&upstream(), &plan_of_two, &request()).await.unwrap_err();
    assert_eq!(record(&none.sent), ["a 400 request", "c 400 request"]);
    assert_eq!((none.error.kind, none.error.message.as_str()), (ErrorKind::InvalidRequest, "bad question"));
    assert!(none.error.said.is_some());
    once(a.url("/v1"), "a 400 request").await;
}

#[tokio::test(start_paused = true)]
async fn when_none_answers_the_error_lists_them_all() {
    let busy = |seconds: &str| answers(http_head(429, &[("retry-after", seconds), ("content-length", "0")]));
    let (a, b) = (busy("90"), busy("30"));
    let plan = plan([attempt(provider("a", a.url("/v1"))), attempt(provider("b", b.url("/v1")))]);
    let none = Frozen::new().ask(&upstream(), &plan, &request()).await.unwrap_err();
    assert_eq!((none.error.status, none.error.retry_after), (429, Some(Duration::from_secs(30))));
    assert_eq!(
        none.error.message,
        "no target answered:\n- a,m: HTTP 429 with an empty body (429)\n- b,m: HTTP 429 with an empty body (429)"
    );
    let none = Frozen::new().ask(&upstream(), &crate::world::plan([]), &request()).await.unwrap_err();
    assert_eq!((none.error.kind, none.sent.len()), (ErrorKind::NotFound, 0));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_reported_once_until_the_target_answers_again() {
    let peer = Arc::new(answers(http_whole(401, "application/json", r#"{"error":{"message":"bad key"}}"#)));
    let plan = plan([attempt(provider("a", peer.url("/v1")))]);
    let (upstream, mut world) = (upstream(), Frozen::new());
    for _ in 0..3 {
        world.ask(&upstream, &plan, &request()).await.unwrap_err();
    }
    let refusals =
        world.heard.notes().into_iter().filter(|note| matches!(note, rail_upstream::Note::Refused { .. }));
    assert_eq!(refusals.count(), 1);
}
