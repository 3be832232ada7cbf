//! Targets that keep failing are left alone for a while, and then tried by one request.

use std::sync::Arc;
use std::time::Duration;

use rail_model::{ApiError, ErrorKind};
use rail_route::{Circuit, Health, Plan, Target};
use rail_testkit::{Conversation, Models, Peer, Step, Turn, chunk, sse_head, text as say};
use rail_upstream::{Note, Upstream};
use tokio::time::{Instant, advance};

use crate::world::{CHAT, Frozen, attempt, plan, provider, record, request, rest, upstream};

fn good() -> Turn {
    Turn::reply(vec![say("good")])
}

fn circuit(upstream: &Upstream) -> Circuit {
    upstream.health().circuit(&Target::new("a", "m"), Instant::now().into_std())
}

fn planned(a: &Models, b: &Models) -> Plan {
    plan([attempt(provider("a", a.base_url(CHAT))), attempt(provider("b", b.base_url(CHAT)))])
}

#[tokio::test(start_paused = true)]
async fn a_refused_target_is_asked_last_until_one_request_finds_it_well() {
    let wrong = Turn::error(ApiError::new(ErrorKind::Authentication, "bad key"));
    let a = Models::start(vec![wrong, good().repeat()]).unwrap();
    let b = Models::start(vec![good().repeat()]).unwrap();
    let (plan, upstream, mut world) = (planned(&a, &b), upstream(), Frozen::new());
    let reply = world.ask(&upstream, &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 401 target", "b 200 answered"]);
    assert!(world.heard.notes().iter().any(|note| matches!(note, Note::CircuitOpened { .. })));
    let Circuit::Open(until) = circuit(&upstream) else { panic!("it is open") };

    let reply = world.ask(&upstream, &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["b 200 answered"]);
    assert!(world.heard.notes().iter().any(|note| matches!(note, Note::Deferred { .. })));

    advance(until - Instant::now().into_std()).await;
    let reply = world.ask(&upstream, &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 200 answered"]);
    assert!(world.heard.notes().iter().any(|note| matches!(note, Note::Probing { .. })));
    assert_eq!(circuit(&upstream), Circuit::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_another_process_left_open_is_open() {
    let [a, b] = [(); 2].map(|()| Models::start(vec![good().repeat()]).unwrap());
    let (plan, mut world, mut left) = (planned(&a, &b), Frozen::new(), Health::default());
    left.open_for(&Target::new("a", "m"), Duration::from_secs(30), Instant::now().into_std());
    let upstream = upstream().remembering(&left);
    let reply = world.ask(&upstream, &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["b 200 answered"]);
}

#[tokio::test(start_paused = true)]
async fn an_open_circuit_is_no_reason_to_give_up() {
    let wrong = Turn::error(ApiError::new(ErrorKind::Authentication, "bad key"));
    let a = Models::start(vec![wrong, good().repeat()]).unwrap();
    let plan = plan([attempt(provider("a", a.base_url(CHAT)))]);
    let (upstream, mut world) = (upstream(), Frozen::new());
    world.ask(&upstream, &plan, &request()).await.unwrap_err();
    let reply = world.ask(&upstream, &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 200 answered"], "nothing else is left");
}

#[tokio::test(start_paused = true)]
async fn only_one_request_at_a_time_tries_a_target_again() {
    let wrong = Turn::error(ApiError::new(ErrorKind::Authentication, "bad key"));
    let a = Models::start(vec![wrong, good().gate("answer").repeat()]).unwrap();
    let b = Models::start(vec![good().repeat()]).unwrap();
    let (plan, upstream, mut world) = (planned(&a, &b), upstream(), Frozen::new());
    world.ask(&upstream, &plan, &request()).await.unwrap();
    advance(Duration::from_secs(600)).await;
    let question = request();
    let probe = upstream.ask(&plan, &question, &());
    let other = async {
        let reply = world.ask(&upstream, &plan, &request()).await.unwrap();
        a.open("answer");
        reply
    };
    let (probe, other) = tokio::join!(biased; probe, other);
    assert_eq!(record(probe.unwrap().sent()), ["a 200 answered"]);
    assert_eq!(record(other.sent()), ["b 200 answered"]);

    // A probe that its client gave up does not stand in the way of the next.
    assert_eq!(circuit(&upstream), Circuit::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_was_given_up_makes_room_for_the_next() {
    let wrong = Turn::error(ApiError::new(ErrorKind::Authentication, "bad key"));
    let a = Models::start(vec![wrong, good().gate("answer").repeat()]).unwrap();
    let b = Models::start(vec![good().repeat()]).unwrap();
    let (plan, upstream, mut world) = (planned(&a, &b), upstream(), Frozen::new());
    world.ask(&upstream, &plan, &request()).await.unwrap();
    advance(Duration::from_secs(600)).await;
    let question = request();
    tokio::select! {
        biased;
        _ = upstream.ask(&plan, &question, &()) => panic!("the gate is closed"),
        () = std::future::ready(()) => {}
    }
    a.open("answer");
    let reply = world.ask(&upstream, &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 200 answered"]);
}

#[tokio::test(start_paused = true)]
async fn answers_that_break_count_too() {
    let hello = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n";
    let breaks = [Step::ReadRequest, Step::Send([sse_head(), chunk(hello)].concat()), Step::Gate("break")];
    let peer = Arc::new(Peer::start(vec![Conversation::new(breaks).repeat()]).unwrap());
    let plan = plan([attempt(provider("a", peer.url("/v1")))]);
    let (upstream, mut world) = (upstream(), Frozen::new());
    let mut reply = world.ask(&upstream, &plan, &request()).await.unwrap();
    peer.open("break");
    assert!(rest(&mut reply).await.is_err());
    let known = upstream.health().snapshot(Instant::now().into_std());
    assert_eq!((known[0].succeeded, known[0].failed), (1, 1));
}
