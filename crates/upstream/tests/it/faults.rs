//! Each fault of a provider, over plain HTTP and over TLS: who answers instead, or with which error it ends, and what the
//! record says.

use std::io::Write;
use std::time::Duration;

use rail_model::{ApiError, ErrorKind};
use rail_testkit::{
    Authority, Conversation, Peer, Step, Turn, chunk, garbage, http_head, http_whole, last_chunk, sse_head,
};
use rail_wire::BodyKind;

use crate::over::{Over, over_both};
use crate::world::{
    ANTHROPIC, CHAT, Client, Frozen, attempt, plan, provider, record, relayed, request, text, upstream,
};

over_both! {
    connection_refused,
    connection_reset,
    connection_closed_in_mid_head,
    kept_connections_that_close_instead_of_answering,
    connection_that_ends_without_goodbye,
    bytes_that_were_damaged_on_the_way,
    a_host_without_address,
    a_certificate_without_trust,
    no_tls_where_it_is_due,
    statuses_that_pass,
    statuses_that_are_the_targets_fault,
    a_redirect_is_not_followed,
    retry_after_is_obeyed_when_short,
    retry_after_that_is_long_means_the_next_target,
    cut_in_mid_event,
    cut_after_content,
    an_end_without_end_marker,
    bad_utf8_and_bad_json,
    truncated_gzip,
    a_web_page_with_status_200,
    an_error_inside_200,
    overload_after_the_start_and_before_content,
    an_anthropic_overload_after_message_start,
    a_wrong_content_type_with_a_good_body,
    duplicate_events,
    an_empty_answer_is_given_only_when_there_is_no_other,
}

const HELLO: &str =
    r#"data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"hello"}}]}"#;
const STOP: &str = r#"data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const START: &str = r#"data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#;

fn event(data: &str) -> Vec<u8> {
    chunk(format!("{data}\n\n"))
}

/// A stream of these frames that ends as HTTP wants it.
fn streams(over: &Over, frames: &[&str]) -> Peer {
    let frames = frames.iter().flat_map(|frame| event(frame));
    over.answers(sse_head().into_iter().chain(frames).chain(last_chunk()).collect())
}

/// Asks the server at `a` and then a good one; what the record says, what was answered, and how far the clock went.
async fn asked(over: &Over, a: String) -> (Vec<String>, String, Duration) {
    let b = over.good();
    let plan = plan([attempt(over.provider("a", a)), attempt(over.b(&b))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(world.heard.sent(), reply.sent(), "the notes tell what the record says");
    (record(reply.sent()), text(&mut reply).await.unwrap(), world.elapsed())
}

/// The same for a server that always does the same: that an answer is passed on as it came can't matter.
async fn asked_both_ways(over: &Over, a: String) -> (Vec<String>, String, Duration) {
    let (record, text, elapsed) = asked(over, a.clone()).await;
    let b = over.good();
    let plan = plan([attempt(over.provider("a", a)), attempt(over.b(&b))]);
    let relayed = relayed(&plan, &Client::new(CHAT, BodyKind::Stream)).await;
    assert_eq!(relayed, (record.clone(), Ok(text.clone())), "passed on as it came");
    (record, text, elapsed)
}

/// The fault of an address that fails each time: it is asked twice within its limits, then the other at once.
async fn twice_at(over: &Over, a: String, line: &str) {
    let (record, text, elapsed) = asked_both_ways(over, a).await;
    assert_eq!(
        (record, text.as_str()),
        (vec![line.to_owned(), line.to_owned(), "b 200 answered".to_owned()], "from b")
    );
    assert!(elapsed <= Duration::from_secs(1), "one pause of at most a second: {elapsed:?}");
}

/// The fault of a server that fails each time.
async fn twice(over: &Over, peer: Peer, line: &str) {
    twice_at(over, peer.url("/v1"), line).await;
}

/// The fault of a server that is not asked again.
async fn once(over: &Over, peer: Peer, line: &str) {
    let (record, text, elapsed) = asked_both_ways(over, peer.url("/v1")).await;
    assert_eq!((record, text.as_str()), (vec![line.to_owned(), "b 200 answered".to_owned()], "from b"));
    assert_eq!(elapsed, Duration::ZERO, "no pause before another target");
}

/// What is no fault: the first server answers.
async fn answered(over: &Over, peer: Peer, expected: &str) {
    let (record, text, elapsed) = asked_both_ways(over, peer.url("/v1")).await;
    assert_eq!((record, text.as_str()), (vec!["a 200 answered".to_owned()], expected));
    assert_eq!(elapsed, Duration::ZERO);
}

/// The fault of a server that fails after content: the answer breaks, and nobody else is asked.
async fn breaks(over: &Over, peer: Peer, kind: ErrorKind) {
    let b = over.good();
    let plan = plan([attempt(over.of("a", &peer)), attempt(over.b(&b))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 200 answered"]);
    let broken = text(&mut reply).await.unwrap_err();
    assert_eq!(broken.error.kind, kind, "{broken}");
    assert_eq!((b.turns_taken(), world.elapsed()), (0, Duration::ZERO));
    let client = Client::new(CHAT, BodyKind::Stream);
    assert_eq!(relayed(&plan, &client).await, (vec!["a 200 answered".to_owned()], Err(kind)));
}

async fn connection_refused(over: &Over) {
    twice_at(over, over.nowhere(), "a - passing").await;
}

async fn connection_reset(over: &Over) {
    twice(over, over.always([Step::Reset]), "a - passing $").await;
}

async fn connection_closed_in_mid_head(over: &Over) {
    twice(over, over.answers(b"HTTP/1.1 200 OK\r\ncontent-ty".to_vec()), "a - passing $").await;
}

async fn kept_connections_that_close_instead_of_answering(over: &Over) {
    let good =
        || Step::Send([sse_head(), event(HELLO), event(STOP), event("data: [DONE]"), last_chunk()].concat());
    // Each connection answers once, then reads a second request and closes.
    let once = || Conversation::new([Step::ReadRequest, good(), Step::ReadRequest, Step::Close]);
    let a = over.peer(vec![once(), once(), Conversation::new([Step::ReadRequest, Step::Close]).repeat()]);
    let b = over.good();
    let plan = plan([attempt(over.of("a", &a)), attempt(over.b(&b))]);
    let (upstream, mut world) = (upstream(), Frozen::new());
    for (sends, answer, requests) in [
        (&["a 200 answered"][..], "hello", 1),
        // Both requests were read, so both may be charged.
        (&["a - stale $", "a 200 answered"], "hello", 3),
        (&["a - stale $", "a - passing $", "a - passing $", "b 200 answered"], "from b", 6),
    ] {
        let mut reply = world.ask(&upstream, &plan, &request()).await.unwrap();
        assert_eq!(record(reply.sent()), sends);
        assert_eq!(text(&mut reply).await.unwrap(), answer);
        assert_eq!(a.requests().len(), requests);
    }
    assert!(world.elapsed() <= Duration::from_secs(1), "one pause, and none for connections that were gone");
}

async fn connection_that_ends_without_goodbye(over: &Over) {
    twice(over, over.always([Step::Vanish]), "a - passing $").await;
    let start = [sse_head(), event(START)].concat();
    twice(over, over.always([Step::Send(start), Step::Vanish]), "a 200 passing $").await;
}

async fn bytes_that_were_damaged_on_the_way(over: &Over) {
    // Over TLS a record that can't be opened, else no HTTP at all.
    let damaged = || Step::SendRaw([&[23, 3, 3, 0, 20][..], &[7; 20]].concat());
    twice(over, over.always([damaged()]), "a - passing $").await;

    let begun = [sse_head(), event(HELLO)].concat();
    let a = over.always([Step::Send(begun), Step::Gate("content is here"), damaged()]);
    let plan = plan([attempt(over.of("a", &a))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    a.open("content is here");
    assert_eq!(text(&mut reply).await.unwrap_err().error.kind, ErrorKind::Server);
}

async fn a_host_without_address(over: &Over) {
    twice_at(over, over.url("a.invalid"), "a - passing").await;
}

async fn a_certificate_without_trust(over: &Over) {
    let stranger = Authority::new().unwrap();
    for cert in [stranger.server(), stranger.expired(), stranger.wrong_name()] {
        let peer = Peer::start_tls(vec![Conversation::new([Step::Stall]).repeat()], &cert.unwrap()).unwrap();
        once(over, peer, "a - target").await;
    }
}

async fn no_tls_where_it_is_due(over: &Over) {
    let closes = Peer::start(vec![Conversation::new([Step::Close]).repeat()]).unwrap();
    let closes = closes.url("/v1").replace("http://", "https://");
    // A server that starts, or something before it: that may pass.
    twice_at(over, closes, "a - passing").await;
}

async fn statuses_that_pass(over: &Over) {
    for status in [408, 429, 500, 502, 503, 504, 529] {
        let peer = over.answers(http_whole(status, "application/json", "{}"));
        twice(over, peer, &format!("a {status} passing")).await;
    }
}

async fn statuses_that_are_the_targets_fault(over: &Over) {
    for status in [401, 402, 403, 404] {
        let peer = over.answers(http_whole(status, "application/json", r#"{"error":{"message":"no"}}"#));
        once(over, peer, &format!("a {status} target")).await;
    }
}

async fn a_redirect_is_not_followed(over: &Over) {
    let head = http_head(301, &[("location", "https://elsewhere/v1"), ("content-length", "0")]);
    once(over, over.answers(head), "a 301 target").await;
}

async fn retry_after_is_obeyed_when_short(over: &Over) {
    let wait = http_head(429, &[("retry-after", "3"), ("content-length", "0"), ("connection", "close")]);
    let good = [sse_head(), event(HELLO), event(STOP), last_chunk()].concat();
    let peer = over.peer(vec![
        Conversation::new([Step::ReadRequest, Step::Send(wait)]),
        Conversation::new([Step::ReadRequest, Step::Send(good)]),
    ]);
    let (record, text, elapsed) = asked(over, peer.url("/v1")).await;
    assert_eq!((record, text.as_str()), (vec!["a 429 passing".into(), "a 200 answered".into()], "hello"));
    assert_eq!(elapsed, Duration::from_secs(3));
}

async fn retry_after_that_is_long_means_the_next_target(over: &Over) {
    let endless = ["9223372036854775808", "99999999999999999999", "Fri, 01 Jan 2100 00:00:00 GMT"];
    for long in ["6"].into_iter().chain(endless) {
        let wait = http_head(429, &[("retry-after", long), ("content-length", "0")]);
        once(over, over.answers(wait), "a 429 passing").await;
    }
}

async fn cut_in_mid_event(over: &Over) {
    let cut = "data: {\"id\":\"1\",\"choi";
    twice(over, over.answers([sse_head(), chunk(cut)].concat()), "a 200 passing $").await;
    twice(over, streams(over, &[cut]), "a 200 passing $").await;
    twice(over, streams(over, &[START, cut]), "a 200 passing $").await;
}

async fn cut_after_content(over: &Over) {
    let begun = [sse_head(), event(HELLO), chunk("data: {\"id\":\"1\",\"choi")].concat();
    breaks(over, over.answers(begun.clone()), ErrorKind::Server).await;
    breaks(over, over.always([Step::Send(begun), Step::Vanish]), ErrorKind::Server).await;
    breaks(over, streams(over, &[HELLO, "data: {\"id\":\"1\",\"choi"]), ErrorKind::Server).await;
    breaks(over, streams(over, &[HELLO, "data: {\"id\":}"]), ErrorKind::Server).await;
}

async fn an_end_without_end_marker(over: &Over) {
    twice(over, streams(over, &[START]), "a 200 passing $").await;
    breaks(over, streams(over, &[HELLO]), ErrorKind::Server).await;
}

async fn bad_utf8_and_bad_json(over: &Over) {
    let stream = |body: &[u8]| [sse_head(), chunk(body), last_chunk()].concat();
    twice(over, over.answers(stream(b"data: {\"id\":\"\xff\xfe\"}\n\n")), "a 200 passing $").await;
    twice(over, streams(over, &["data: {\"id\":}"]), "a 200 passing $").await;
    twice(over, over.answers(stream(&garbage(5000, 7))), "a 200 passing $").await;
    let late = [sse_head(), event(HELLO), chunk(b"data: {\"id\":\"\xff\"}\n\n"), last_chunk()].concat();
    breaks(over, over.answers(late), ErrorKind::Server).await;
}

/// A good answer, packed: before its first content, up to it, and all of it.
fn packed() -> (usize, usize, Vec<u8>) {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut flushed = |frame: &str| {
        write!(encoder, "{frame}\n\n").unwrap();
        encoder.flush().unwrap();
        encoder.get_ref().len()
    };
    let (start, hello) = (flushed(START), flushed(HELLO));
    flushed(STOP);
    flushed("data: [DONE]");
    (start, hello, encoder.finish().unwrap())
}

async fn truncated_gzip(over: &Over) {
    let (start, hello, whole) = packed();
    let head = |length: (&str, &str)| http_head(200, &[("content-encoding", "gzip"), length]);
    // As HTTP has it the answer is whole, and then broken off as well.
    let cuts = |end: usize| {
        let part = &whole[..end];
        let ends = [head(("transfer-encoding", "chunked")), chunk(part), last_chunk()].concat();
        let breaks_off = [head(("content-length", "9999")), part.to_vec()].concat();
        [ends, breaks_off]
    };
    for before in [0, 1, 3, 10, start / 2, start, start + 1] {
        for cut in cuts(before) {
            twice(over, over.answers(cut), "a 200 passing $").await;
        }
    }
    for after in [hello, hello + 1, hello + 5] {
        for cut in cuts(after) {
            breaks(over, over.answers(cut), ErrorKind::Server).await;
        }
    }
    // All that was said is here; only the sum over it is missing.
    for cut in cuts(whole.len() - 4) {
        answered(over, over.answers(cut), "hello").await;
    }
}

async fn a_web_page_with_status_200(over: &Over) {
    let page = http_whole(200, "text/html", "<!doctype html>\n<html><title>Please log in</title></html>");
    twice(over, over.answers(page.clone()), "a 200 passing").await;
    let peer = over.answers(page);
    let plan = plan([attempt(over.of("a", &peer))]);
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

async fn an_error_inside_200(over: &Over) {
    let error = r#"{"error":{"message":"Provider returned error","code":502}}"#;
    let whole = || over.answers(http_whole(200, "application/json", error));
    twice(over, streams(over, &[&format!("data: {error}")]), "a 200 passing $").await;
    twice(over, whole(), "a 200 passing $").await;
    let peer = whole();
    let (plan, mut asked) = (plan([attempt(over.of("a", &peer))]), request());
    asked.stream = false;
    let none = Frozen::new().ask(&upstream(), &plan, &asked).await.unwrap_err();
    assert_eq!((none.error.status, none.error.message.as_str()), (502, "Provider returned error"));
}

async fn overload_after_the_start_and_before_content(over: &Over) {
    let busy = r#"data: {"error":{"message":"overloaded","code":"server_is_overloaded"}}"#;
    twice(over, streams(over, &[START, busy]), "a 200 passing $").await;
}

async fn an_anthropic_overload_after_message_start(over: &Over) {
    let overloaded = ApiError::new(ErrorKind::Overloaded, "Overloaded");
    let a = over.models(vec![Turn::breaks(vec![], overloaded).pings(3).repeat()]);
    let b = over.good();
    let mut first = over.provider("a", a.base_url(ANTHROPIC));
    first.protocol = ANTHROPIC;
    let plan = plan([attempt(first), attempt(over.b(&b))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 200 passing $", "a 200 passing $", "b 200 answered"]);
    assert_eq!(text(&mut reply).await.unwrap(), "from b");
}

async fn a_wrong_content_type_with_a_good_body(over: &Over) {
    let body = format!("{HELLO}\n\n{STOP}\n\ndata: [DONE]\n\n");
    for kind in ["text/plain", "application/json", "text/html", "image/png", ""] {
        answered(over, over.answers(http_whole(200, kind, &body)), "hello").await;
    }
    let whole = r#"{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"whole"},"finish_reason":"stop"}]}"#;
    answered(over, over.answers(http_whole(200, "text/event-stream", whole)), "whole").await;
}

async fn duplicate_events(over: &Over) {
    let twofold = [START, START, HELLO, STOP, STOP, "data: [DONE]", "data: [DONE]"];
    answered(over, streams(over, &twofold), "hello").await;
}

async fn an_empty_answer_is_given_only_when_there_is_no_other(over: &Over) {
    let empty = || streams(over, &[START, STOP, "data: [DONE]"]);
    once(over, empty(), "a 200 empty $").await;

    let (a, b) = (empty(), empty());
    let plan_of_two = plan([attempt(over.of("a", &a)), attempt(over.of("b", &b))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan_of_two, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 200 empty $", "b 200 empty $"]);
    assert_eq!(reply.target().provider, "a");
    assert_eq!(text(&mut reply).await.unwrap(), "");

    let plan = plan([attempt(over.of("a", &a)), attempt(provider("b", over.nowhere()))]);
    let reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(reply.target().provider, "a", "an empty answer is better than none");
}
