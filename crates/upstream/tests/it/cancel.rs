//! Whoever no longer waits cancels the request, at any time, and the record says that it may have cost something.

use std::sync::Arc;

use rail_model::Event;
use rail_testkit::{Conversation, Peer, Step, chunk, last_chunk, sse_head};
use rail_upstream::{Note, Outcome, Reply};

use crate::world::{Frozen, attempt, plan, provider, reached, record, request, rest, upstream};

const START: &str = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
const HELLO: &str = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n";
const STOP: &str = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn peer(sends: Option<&str>) -> Arc<Peer> {
    let sends = sends.map(|data| Step::Send([sse_head(), chunk(data)].concat()));
    let steps = [Step::ReadRequest].into_iter().chain(sends).chain([Step::Reached("here"), Step::Stall]);
    Arc::new(Peer::start(vec![Conversation::new(steps)]).unwrap())
}

/// Waits until the connection was left.
async fn left(peer: &Arc<Peer>) {
    let peer = Arc::clone(peer);
    tokio::task::spawn_blocking(move || peer.client_left(0)).await.unwrap();
}

/// Drops the request when the peer has come to its stall.
async fn dropped_while_waiting(sends: Option<&str>) {
    let peer = peer(sends);
    let plan = plan([attempt(provider("a", peer.url("/v1")))]);
    let (upstream, world) = (upstream(), Frozen::new());
    let question = request();
    let asked = upstream.ask(&plan, &question, &*world.heard);
    tokio::select! {
        _ = asked => panic!("the peer stalls"),
        () = reached(&peer, "here") => {}
    }
    left(&peer).await;
    let sent = world.heard.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!((&sent[0].outcome, sent[0].possible_charge), (&Outcome::Left, true));
    assert!(matches!(world.heard.notes()[..], [Note::Sending { .. }, Note::Sent(_)]));
}

#[tokio::test(start_paused = true)]
async fn while_waiting_for_headers() {
    dropped_while_waiting(None).await;
}

#[tokio::test(start_paused = true)]
async fn while_waiting_for_content() {
    dropped_while_waiting(Some(START)).await;
}

#[tokio::test(start_paused = true)]
async fn in_mid_stream() {
    let peer = peer(Some(HELLO));
    let plan = plan([attempt(provider("a", peer.url("/v1")))]);
    let mut world = Frozen::new();
    let reply: Reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 200 answered"]);
    drop(reply);
    left(&peer).await;
}

#[tokio::test(start_paused = true)]
async fn waiting_for_an_event_can_be_given_up_without_loss() {
    let steps = [
        Step::ReadRequest,
        Step::Send([sse_head(), chunk(HELLO)].concat()),
        Step::Gate("more"),
        Step::Send([chunk(STOP), last_chunk()].concat()),
    ];
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    let plan = plan([attempt(provider("a", peer.url("/v1")))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    let mut events = Vec::new();
    let given_up = loop {
        tokio::select! {
            biased;
            event = reply.next() => events.push(event.unwrap().unwrap()),
            () = std::future::ready(()) => break events.len(),
        }
    };
    assert!(given_up > 0, "what was there came at once");
    peer.open("more");
    events.extend(rest(&mut reply).await.unwrap());
    assert!(matches!(events.last(), Some(Event::Finished { .. })), "{events:?}");
}
