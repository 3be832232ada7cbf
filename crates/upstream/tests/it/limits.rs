//! Time limits, on a clock that the test moves, over plain HTTP and over TLS.

use std::sync::Arc;
use std::time::Duration;

use rail_model::{ErrorKind, Event};
use rail_testkit::{Conversation, Peer, Step, Turn, chunk, http_head, sse_head, text as say};
use rail_upstream::Reply;
use tokio::time::advance;

use crate::counted::Counted;
use crate::over::{Over, over_both};
use crate::world::{CHAT, Frozen, attempt, plan, reached, record, request, text, upstream, upstream_over};

over_both! {
    a_stall_before_the_first_byte,
    a_stall_in_mid_stream_before_content,
    an_error_that_does_not_end,
    pings_are_no_content,
    a_stall_after_content_breaks_the_answer,
    a_wait_that_is_given_up_and_begun_again_goes_on,
    an_endless_answer_ends_with_the_total_limit,
    a_whole_answer_has_no_first_token,
    the_budget_for_retries_is_a_time_too,
}

const HELLO: &str = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"hello\"}}]}\n\n";
const START: &str = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";

const FIRST_TOKEN: Duration = Duration::from_secs(20);
const IDLE: Duration = Duration::from_secs(10);

fn peer(over: &Over, steps: impl IntoIterator<Item = Step>) -> Arc<Peer> {
    let steps = [Step::ReadRequest].into_iter().chain(steps);
    Arc::new(over.peer(vec![Conversation::new(steps)]))
}

/// Asks a peer that gives no content until the limit has passed, and then a good one.
async fn stalls(over: &Over, counted: &Counted, a: &Peer, test: impl Future<Output = ()>) -> Reply {
    let b = over.good();
    let plan = plan([attempt(over.of("a", a)), attempt(over.b(&b))]);
    let mut world = Frozen::new();
    let mut reply = world.ask_while(&upstream_over(counted), &plan, &request(), test).await.unwrap();
    assert_eq!(text(&mut reply).await.unwrap(), "from b");
    assert_eq!(world.elapsed(), FIRST_TOKEN, "no longer than the limit, and no pause after it");
    reply
}

#[tokio::test(start_paused = true)]
async fn a_secure_channel_that_never_comes_about() {
    let over = Over::tls();
    let stalls = |mark| Conversation::new([Step::Reached(mark), Step::Stall]);
    let a = Arc::new(Peer::start(vec![stalls("first"), stalls("second")]).unwrap());
    let b = over.good();
    let silent = over.provider("a", over.url(&a.addr().to_string()));
    let connect = silent.timeouts.connect;
    let plan = plan([attempt(silent), attempt(over.b(&b))]);
    let mut world = Frozen::new();
    let test = async {
        for mark in ["first", "second"] {
            reached(&a, mark).await;
            advance(connect).await;
        }
    };
    let mut reply = world.ask_while(&upstream(), &plan, &request(), test).await.unwrap();
    assert_eq!(record(reply.sent()), ["a - passing", "a - passing", "b 200 answered"]);
    assert_eq!(text(&mut reply).await.unwrap(), "from b");
    assert!(world.elapsed() <= connect * 2 + Duration::from_secs(1), "two limits and a pause");
}

async fn a_stall_before_the_first_byte(over: &Over) {
    let a = peer(over, [Step::Reached("asked"), Step::Stall]);
    let test = async {
        reached(&a, "asked").await;
        advance(FIRST_TOKEN).await;
    };
    let reply = stalls(over, &Counted::default(), &a, test).await;
    assert_eq!(record(reply.sent()), ["a - passing $", "b 200 answered"]);
}

async fn a_stall_in_mid_stream_before_content(over: &Over) {
    let a = peer(over, [Step::Send([sse_head(), chunk(START)].concat()), Step::Stall]);
    let counted = Counted::default();
    let test = async {
        counted.handed(START.len()).await;
        advance(FIRST_TOKEN).await;
    };
    let reply = stalls(over, &counted, &a, test).await;
    assert_eq!(record(reply.sent()), ["a 200 passing $", "b 200 answered"]);
}

async fn an_error_that_does_not_end(over: &Over) {
    let half = "{\"error\":";
    let head = http_head(400, &[("content-length", "1000")]);
    let a = peer(over, [Step::Send([head, half.into()].concat()), Step::Stall]);
    let b = over.good();
    let mut quick = over.of("a", &a);
    quick.timeouts.first_token = Duration::from_secs(2);
    let plan = plan([attempt(quick), attempt(over.b(&b))]);
    let (counted, mut world) = (Counted::default(), Frozen::new());
    let test = async {
        counted.handed(half.len()).await;
        advance(Duration::from_secs(2)).await;
    };
    let mut reply = world.ask_while(&upstream_over(&counted), &plan, &request(), test).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 400 request", "b 200 answered"], "its status says enough");
    assert_eq!(text(&mut reply).await.unwrap(), "from b");
    assert_eq!(world.elapsed(), Duration::from_secs(2));
}

async fn pings_are_no_content(over: &Over) {
    const PING: &str = ": keep-alive\n\n";
    let ping = || Step::Send(chunk(PING));
    let begun = Step::Send([sse_head(), chunk(START)].concat());
    let a = peer(over, [begun, Step::Gate("9"), ping(), Step::Gate("18"), ping(), Step::Stall]);
    let counted = Counted::default();
    let test = async {
        counted.handed(START.len()).await;
        for (pings, gate) in [(1, "9"), (2, "18")] {
            advance(Duration::from_secs(9)).await;
            a.open(gate);
            counted.handed(START.len() + pings * PING.len()).await;
        }
        advance(Duration::from_secs(2)).await;
    };
    let reply = stalls(over, &counted, &a, test).await;
    assert_eq!(record(reply.sent()), ["a 200 passing $", "b 200 answered"]);
}

/// Reads up to the next piece of text.
async fn delta(reply: &mut Reply) {
    while !matches!(reply.next().await, Some(Ok(Event::Delta { .. }))) {}
}

async fn a_stall_after_content_breaks_the_answer(over: &Over) {
    let a = peer(over, [Step::Send([sse_head(), chunk(HELLO)].concat()), Step::Stall]);
    let b = over.good();
    let plan = plan([attempt(over.of("a", &a)), attempt(over.b(&b))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    delta(&mut reply).await;
    let (broken, ()) = tokio::join!(biased; reply.next(), advance(IDLE));
    let broken = broken.unwrap().unwrap_err();
    assert_eq!(broken.error.kind, ErrorKind::Timeout);
    assert_eq!(broken.error.message, "the answer stopped for 10 s; raise `timeouts.idle` if that is usual");
    assert_eq!(reply.next().await, None, "nothing comes after the end");
    assert_eq!(world.elapsed(), IDLE);
    assert_eq!(b.turns_taken(), 0, "never a second target after content");
}

async fn a_wait_that_is_given_up_and_begun_again_goes_on(over: &Over) {
    let a = peer(over, [Step::Send([sse_head(), chunk(HELLO)].concat()), Step::Stall]);
    let plan = plan([attempt(over.of("a", &a))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    delta(&mut reply).await;
    for _ in 0..2 {
        tokio::select! {
            biased;
            _ = reply.next() => panic!("the peer stalls"),
            () = advance(Duration::from_secs(4)) => {}
        }
    }
    let (broken, ()) = tokio::join!(biased; reply.next(), advance(Duration::from_secs(2)));
    assert_eq!(broken.unwrap().unwrap_err().error.kind, ErrorKind::Timeout);
    assert_eq!(world.elapsed(), IDLE, "keep-alives to a client do not make the limit longer");
}

async fn an_endless_answer_ends_with_the_total_limit(over: &Over) {
    let more = || Step::Send(chunk(HELLO));
    let head = Step::Send([sse_head(), chunk(HELLO)].concat());
    let a = peer(
        over,
        [head, Step::Gate("1"), more(), Step::Gate("2"), more(), Step::Gate("3"), more(), Step::Stall],
    );
    let mut slow = over.of("a", &a);
    slow.timeouts.total = Duration::from_secs(25);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan([attempt(slow)]), &request()).await.unwrap();
    delta(&mut reply).await;
    for gate in ["1", "2"] {
        advance(Duration::from_secs(8)).await;
        a.open(gate);
        delta(&mut reply).await;
    }
    let (broken, ()) = tokio::join!(biased; reply.next(), advance(Duration::from_secs(9)));
    let broken = broken.unwrap().unwrap_err();
    assert_eq!(
        broken.error.message,
        "the answer took longer than 25 s; raise `timeouts.total` if that is usual"
    );
    a.open("3");
}

async fn a_whole_answer_has_no_first_token(over: &Over) {
    let a = over.models(vec![Turn::reply(vec![say("slow")]).gate("answer")]);
    let plan = plan([attempt(over.provider("a", a.base_url(CHAT)))]);
    let mut asked = request();
    asked.stream = false;
    let mut world = Frozen::new();
    let test = async {
        advance(Duration::from_secs(90)).await;
        a.open("answer");
    };
    let mut reply = world.ask_while(&upstream(), &plan, &asked, test).await.unwrap();
    assert_eq!(text(&mut reply).await.unwrap(), "slow");
    assert_eq!(world.elapsed(), Duration::from_secs(90));
}

async fn the_budget_for_retries_is_a_time_too(over: &Over) {
    let a = Arc::new(over.peer(vec![
        Conversation::new([Step::ReadRequest, Step::Reached("asked"), Step::Gate("fail"), Step::Close]),
        Conversation::new([Step::ReadRequest, Step::Close]),
    ]));
    let b = over.good();
    let mut slow = over.of("a", &a);
    (slow.timeouts.first_token, slow.retry.tries) = (Duration::from_secs(90), 5);
    let plan = plan([attempt(slow), attempt(over.b(&b))]);
    let mut world = Frozen::new();
    let test = async {
        reached(&a, "asked").await;
        advance(Duration::from_secs(16)).await;
        a.open("fail");
    };
    let reply = world.ask_while(&upstream(), &plan, &request(), test).await.unwrap();
    assert_eq!(
        record(reply.sent()),
        ["a - passing $", "b 200 answered"],
        "15 s after the first send it is not tried again"
    );
    assert_eq!(world.elapsed(), Duration::from_secs(16));
}
