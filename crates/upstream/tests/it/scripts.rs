//! Any targets that fail in any order: what holds always.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use proptest::prelude::*;
use rail_model::Request;
use rail_route::Plan;
use rail_stdx::Secret;
use rail_upstream::{
    Body, BoxFuture, Incoming, NoAnswer, Note, Notes, Outcome, Outgoing, Reply, Sent, Transport,
    TransportError, TransportErrorKind, Upstream,
};
use serde_json::Number;
use tokio::time::Instant;

use crate::world::{attempt, plan, provider, request};

/// What a target does with one request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Good,
    Empty,
    Status(u16),
    RetryAfter(u64),
    Unreachable,
    Stale,
    Stall,
    StallInBody,
    Cut,
    Refuses(&'static str),
    TooLong,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => Just(Act::Good),
        1 => Just(Act::Empty),
        3 => prop::sample::select(vec![400, 401, 403, 404, 408, 413, 429, 500, 503, 529]).prop_map(Act::Status),
        1 => (0_u64..9).prop_map(Act::RetryAfter),
        1 => Just(Act::Unreachable),
        1 => Just(Act::Stale),
        1 => Just(Act::Stall),
        1 => Just(Act::StallInBody),
        1 => Just(Act::Cut),
        2 => prop::sample::select(vec!["temperature", "seed", "top_p", "user", "nothing"]).prop_map(Act::Refuses),
        1 => Just(Act::TooLong),
    ]
}

/// A target: what it does with each request (the last act goes on), and how many keys it has.
fn target() -> impl Strategy<Value = (Vec<Act>, usize)> {
    (prop::collection::vec(act(), 1..6), 0_usize..4)
}

/// Plays the acts of each provider, and keeps who was asked.
struct Stage {
    acts: Mutex<BTreeMap<String, Vec<Act>>>,
    asked: Mutex<Vec<String>>,
}

impl Transport for Stage {
    fn send<'a>(&'a self, call: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>> {
        let name = call.provider.name.clone();
        self.asked.lock().unwrap().push(name.clone());
        let mut acts = self.acts.lock().unwrap();
        let acts = acts.get_mut(&name).unwrap();
        let act = if acts.len() > 1 { acts.remove(0) } else { acts[0] };
        Box::pin(play(act))
    }
}

async fn play(act: Act) -> Result<Incoming, TransportError> {
    let answer = |status, headers: &[(&str, String)], pieces: &[&str], end| {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let pieces = pieces.iter().rev().map(|piece| Bytes::from((*piece).to_owned())).collect();
        Ok(Incoming { status, headers, body: Body::new(Pieces { pieces, end }) })
    };
    let refusal = |status, message: &str| {
        let body = format!("{{\"error\":{{\"message\":\"{message}\"}}}}");
        answer(status, &[], &[body.as_str()], End::Whole)
    };
    match act {
        Act::Good => answer(200, &[], &[START, HELLO, STOP], End::Whole),
        Act::Empty => answer(200, &[], &[START, STOP], End::Whole),
        Act::Status(status) => refusal(status, "no"),
        Act::RetryAfter(seconds) => answer(429, &[("retry-after", seconds.to_string())], &[], End::Whole),
        Act::Unreachable => Err(failed(TransportErrorKind::Connect)),
        Act::Stale => Err(failed(TransportErrorKind::Stale)),
        Act::Stall => std::future::pending().await,
        Act::StallInBody => answer(200, &[], &[START], End::Never),
        Act::Cut => answer(200, &[], &[START, "data: {\"id"], End::Broken),
        Act::Refuses(field) => {
            refusal(400, &format!("Unsupported parameter: '{field}' is not supported with this model."))
        }
        Act::TooLong => refusal(400, "prompt is too long"),
    }
}

const START: &str = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
const HELLO: &str = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n";
const STOP: &str = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn failed(kind: TransportErrorKind) -> TransportError {
    TransportError { kind, problem: "it failed".to_owned() }
}

#[derive(Clone, Copy)]
enum End {
    Whole,
    Broken,
    Never,
}

/// Pieces, the last one first, and what comes after them.
struct Pieces {
    pieces: Vec<Bytes>,
    end: End,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        match (self.pieces.pop(), self.end) {
            (Some(piece), _) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            (None, End::Whole) => Poll::Ready(None),
            (None, End::Broken) => Poll::Ready(Some(Err(failed(TransportErrorKind::Broken)))),
            (None, End::Never) => Poll::Pending,
        }
    }
}

#[derive(Default)]
struct Kept(Mutex<Vec<Sent>>);

impl Notes for Kept {
    fn note(&self, note: Note) {
        if let Note::Sent(sent) = note {
            self.0.lock().unwrap().push(sent);
        }
    }
}

const TRIES: usize = 1;
const STALE: usize = 2;
const FIXES: usize = 4;

/// Asks once, on a clock that jumps over every wait; who was asked, what was told, and how long it took.
fn run(targets: &[(Vec<Act>, usize)]) -> (Result<Reply, NoAnswer>, Plan, Vec<String>, Vec<Sent>, Duration) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let name = |at: usize| format!("p{at}");
        let attempts = targets.iter().enumerate().map(|(at, (_, keys))| {
            let mut provider = provider(&name(at), "http://h/v1".to_owned());
            provider.keys = (0..*keys).map(|key| Secret::new(format!("key {key}"))).collect();
            attempt(provider)
        });
        let plan = plan(attempts);
        let acts = targets.iter().enumerate().map(|(at, (acts, _))| (name(at), acts.clone())).collect();
        let stage = Arc::new(Stage { acts: Mutex::new(acts), asked: Mutex::default() });
        let (kept, began) = (Kept::default(), Instant::now());
        let upstream = Upstream::new(Arc::<Stage>::clone(&stage));
        let answer = upstream.ask(&plan, &question(), &kept).await;
        let asked = stage.asked.lock().unwrap().clone();
        (answer, plan, asked, kept.0.into_inner().unwrap(), began.elapsed())
    })
}

fn question() -> Request {
    let mut asked = request();
    asked.sampling.temperature = Some(Number::from(1));
    asked.sampling.top_p = Some(Number::from(1));
    asked.sampling.seed = Some(Number::from(1));
    asked.user = Some("u".to_owned());
    asked
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_holds_always(targets in prop::collection::vec(target(), 0..5)) {
        let (answer, plan, asked, told, elapsed) = run(&targets);
        let sent = match &answer {
            Ok(reply) => reply.sent(),
            Err(none) => &none.sent,
        };
        // The record is complete, and was told as it happened.
        let recorded: Vec<_> = sent.iter().map(|sent| sent.target.provider.clone()).collect();
        prop_assert_eq!(&recorded, &asked);
        prop_assert_eq!(sent, &told[..]);

        // Targets are asked in the plan's order, each until it is left for good.
        let mut order = recorded.clone();
        order.dedup();
        let planned: Vec<_> = plan.attempts.iter().map(|attempt| attempt.target.provider.clone()).collect();
        prop_assert_eq!(&order[..], &planned[..order.len()]);

        // No target is asked more often than it may be.
        for (name, (_, keys)) in planned.iter().zip(&targets) {
            let sends = recorded.iter().filter(|asked| *asked == name).count();
            prop_assert!(sends <= 1 + TRIES + STALE + FIXES + keys, "{} was asked {} times", name, sends);
        }

        // There is no pause before another target, and none at the end.
        for pair in sent.windows(2) {
            let end = pair[0].began + pair[0].took;
            prop_assert!(pair[1].began >= end);
            prop_assert!(pair[0].target == pair[1].target || pair[1].began == end, "a pause between targets");
        }
        let end = sent.last().map_or(Duration::ZERO, |sent| sent.began + sent.took);
        prop_assert_eq!(elapsed, end);

        // The first that gives content answers, and only one does.
        let answered = sent.iter().position(|sent| sent.outcome == Outcome::Answered);
        let empty = sent.iter().position(|sent| sent.outcome == Outcome::Empty);
        match &answer {
            Ok(reply) => {
                let at = answered.or(empty);
                prop_assert_eq!(at.map(|at| &sent[at].target), Some(reply.target()));
                prop_assert!(answered.is_none_or(|at| at + 1 == sent.len()), "nothing is sent after an answer");
                prop_assert!(answered.is_some() || order.len() == planned.len(), "an empty answer is the last resort");
            }
            Err(_) => {
                prop_assert_eq!((answered, empty), (None, None));
                prop_assert_eq!(order.len(), planned.len(), "all were asked");
            }
        }
        if let Some(first) = targets.iter().position(|(acts, _)| acts[0] == Act::Good) {
            prop_assert!(order.len() <= first + 1 && answered.is_some(), "a good target ends the search");
        }
    }
}
