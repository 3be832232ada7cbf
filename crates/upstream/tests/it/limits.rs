//! Time limits, on a clock that the test moves.

use std::sync::Arc;
use std::time::Duration;

use rail_model::{ErrorKind, Event};
use rail_testkit::{Conversation, Models, Peer, Step, Turn, chunk, sse_head, text as say};
use rail_upstream::Reply;
use tokio::time::advance;

use crate::counted::Counted;
use crate::world::{
    CHAT, Frozen, attempt, plan, provider, reached, record, request, text, upstream, upstream_over,
};

const HELLO: &str = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"hello\"}}]}\n\n";
const START: &str = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";

const FIRST_TOKEN: Duration = Duration::from_secs(20);
const IDLE: Duration = Duration::from_secs(10);

fn peer(steps: impl IntoIterator<Item = Step>) -> Arc<Peer> {
    let steps = [Step::ReadRequest].into_iter().chain(steps);
    Arc::new(Peer::start(vec![Conversation::new(steps)]).unwrap())
}

fn good() -> Models {
    Models::start(vec![Turn::reply(vec![say("from b")]).repeat()]).unwrap()
}

/// Asks a peer that gives no content until the limit has passed, and then a good one.
async fn stalls(counted: &Counted, a: &Arc<Peer>, test: impl Future<Output = ()>) -> Reply {
    let b = good();
    let plan = plan([attempt(provider("a", a.url("/v1"))), attempt(provider("b", b.base_url(CHAT)))]);
    let mut world = Frozen::new();
    let mut reply = world.ask_while(&upstream_over(counted), &plan, &request(), test).await.unwrap();
    assert_eq!(text(&mut reply).await.unwrap(), "from b");
    assert_eq!(world.elapsed(), FIRST_TOKEN, "no longer than the limit, and no pause after it");
    reply
}

#[tokio::test(start_paused = true)]
async fn a_stall_before_the_first_byte() {
    let a = peer([Step::Reached("asked"), Step::Stall]);
    let test = async {
        reached(&a, "asked").await;
        advance(FIRST_TOKEN).await;
    };
    let reply = stalls(&Counted::default(), &a, test).await;
    assert_eq!(record(reply.sent()), ["a - passing $", "b 200 answered"]);
}

#[tokio::test(start_paused = true)]
async fn a_stall_in_mid_stream_before_content() {
    let a = peer([Step::Send([sse_head(), chunk(START)].concat()), Step::Stall]);
    let counted = Counted::default();
    let test = async {
        counted.handed(START.len()).await;
        advance(FIRST_TOKEN).await;
    };
    let reply = stalls(&counted, &a, test).await;
    assert_eq!(record(reply.sent()), ["a 200 passing $", "b 200 answered"]);
}

#[tokio::test(start_paused = true)]
async fn pings_are_no_content() {
    const PING: &str = ": keep-alive\n\n";
    let ping = || Step::Send(chunk(PING));
    let begun = Step::Send([sse_head(), chunk(START)].concat());
    let a = peer([begun, Step::Gate("9"), ping(), Step::Gate("18"), ping(), Step::Stall]);
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
    let reply = stalls(&counted, &a, test).await;
    assert_eq!(record(reply.sent()), ["a 200 passing $", "b 200 answered"]);
}

/// Reads up to the next piece of text.
async fn delta(reply: &mut Reply) {
    while !matches!(reply.next().await, Some(Ok(Event::Delta { .. }))) {}
}

#[tokio::test(start_paused = true)]
async fn a_stall_after_content_breaks_the_answer() {
    let a = peer([Step::Send([sse_head(), chunk(HELLO)].concat()), Step::Stall]);
    let b = good();
    let plan = plan([attempt(provider("a", a.url("/v1"))), attempt(provider("b", b.base_url(CHAT)))]);
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

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_given_up_and_begun_again_goes_on() {
    let a = peer([Step::Send([sse_head(), chunk(HELLO)].concat()), Step::Stall]);
    let plan = plan([attempt(provider("a", a.url("/v1")))]);
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

#[tokio::test(start_paused = true)]
async fn an_endless_answer_ends_with_the_total_limit() {
    let more = || Step::Send(chunk(HELLO));
    let head = Step::Send([sse_head(), chunk(HELLO)].concat());
    let a =
        peer([head, Step::Gate("1"), more(), Step::Gate("2"), more(), Step::Gate("3"), more(), Step::Stall]);
    let mut slow = provider("a", a.url("/v1"));
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

#[tokio::test(start_paused = true)]
async fn a_whole_answer_has_no_first_token() {
    let a = Models::start(vec![Turn::reply(vec![say("slow")]).gate("answer")]).unwrap();
    let plan = plan([attempt(provider("a", a.base_url(CHAT)))]);
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

#[tokio::test(start_paused = true)]
async fn the_budget_for_retries_is_a_time_too() {
    let a = Arc::new(
        Peer::start(vec![
            Conversation::new([Step::ReadRequest, Step::Reached("asked"), Step::Gate("fail"), Step::Close]),
            Conversation::new([Step::ReadRequest, Step::Close]),
        ])
        .unwrap(),
    );
    let b = good();
    let mut slow = provider("a", a.url("/v1"));
    (slow.timeouts.first_token, slow.retry.tries) = (Duration::from_secs(90), 5);
    let plan = plan([attempt(slow), attempt(provider("b", b.base_url(CHAT)))]);
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
