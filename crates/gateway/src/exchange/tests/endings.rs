//! However a request ends, it is recorded once.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

use http_body_util::BodyExt;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rail_ledger::Ending;
use rail_model::{ApiError, ErrorKind};
use rail_testkit::{Models, Turn, text};
use rail_wire::ALL;

use super::world::{World, arrival, question};

/// How a target behaves.
#[derive(Clone, Copy, Debug)]
enum Target {
    Answers,
    Refuses,
    Breaks,
    Cuts,
    Stalls,
    StallsAtOnce,
}

/// When a client leaves: after so many polls for its answer, at the latest when that begins, or after so many pieces of it.
#[derive(Clone, Copy, Debug)]
enum Client {
    Stays,
    LeavesAfterPolls(u32),
    LeavesAfterPieces(u32),
}

fn turn(target: Target) -> Turn {
    let parts = || vec![text("one"), text("two")];
    let error = || ApiError::new(ErrorKind::Server, "broken");
    match target {
        Target::Answers => Turn::reply(parts()),
        Target::Refuses => Turn::error(ApiError::new(ErrorKind::InvalidRequest, "no")),
        Target::Breaks => Turn::breaks(parts(), error()),
        Target::Cuts => Turn::cut(parts()),
        Target::Stalls => Turn::stall(parts()),
        Target::StallsAtOnce => Turn::stall(vec![]),
    }
}

async fn run((client, server): (usize, usize), stream: bool, target: Target, stays: Client) -> (World, bool) {
    let models = Models::start(vec![turn(target)]).unwrap();
    let world = World::on(&[("a", ALL[server], &models)]).await;
    let mut stayed = false;
    {
        let mut answering = pin!(world.ask(arrival(ALL[client], &question(stream))));
        let mut polls = 0;
        let answered = std::future::poll_fn(|cx| match stays {
            Client::LeavesAfterPolls(most) if polls >= most => Poll::Ready(None),
            Client::Stays | Client::LeavesAfterPolls(_) | Client::LeavesAfterPieces(_) => {
                polls += 1;
                // Leaving is counted in polls, so there must be some although nothing happens.
                cx.waker().wake_by_ref();
                answering.as_mut().poll(cx).map(Some)
            }
        });
        if let Some(response) = answered.await {
            let (mut body, mut pieces) = (response.into_body(), 0);
            loop {
                stayed = match stays {
                    Client::Stays => true,
                    Client::LeavesAfterPolls(_) => false,
                    Client::LeavesAfterPieces(most) => pieces < most,
                };
                if !stayed || body.frame().await.is_none() {
                    break;
                }
                pieces += 1;
            }
        }
    }
    (world, stayed)
}

#[test]
fn a_request_is_recorded_once_however_it_ends() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let targets = prop_oneof![
        Just(Target::Answers),
        Just(Target::Refuses),
        Just(Target::Breaks),
        Just(Target::Cuts),
        Just(Target::Stalls),
        Just(Target::StallsAtOnce),
    ];
    let clients = prop_oneof![
        Just(Client::Stays),
        (0..300_u32).prop_map(Client::LeavesAfterPolls),
        (0..3_u32).prop_map(Client::LeavesAfterPieces),
    ];
    let all = ((0..ALL.len(), 0..ALL.len()), any::<bool>(), targets, clients);
    let mut runner = TestRunner::new(Config { cases: 64, ..Config::default() });
    let ran = runner.run(&all, |(pair, stream, target, stays)| {
        let stays = match (target, stays) {
            // Whoever stays with a target that stalls waits for its time limit; leaving is what is tested here.
            (Target::StallsAtOnce, Client::Stays | Client::LeavesAfterPieces(_)) => {
                Client::LeavesAfterPolls(100)
            }
            (Target::Stalls, Client::Stays | Client::LeavesAfterPieces(_)) if !stream => {
                Client::LeavesAfterPolls(100)
            }
            (Target::Stalls, Client::Stays | Client::LeavesAfterPieces(_)) => Client::LeavesAfterPieces(1),
            (_, stays) => stays,
        };
        let (world, stayed) = runtime.block_on(run(pair, stream, target, stays));
        let entries = runtime.block_on(world.records());
        // A future that was never polled was no request yet.
        let expected = usize::from(!matches!(stays, Client::LeavesAfterPolls(0)));
        prop_assert_eq!(entries.len(), expected, "{:?}", entries);
        let Some(entry) = entries.first() else { return Ok(()) };
        if stayed {
            let ending = match target {
                Target::Answers => Ending::Answered,
                Target::Refuses => Ending::Failed,
                Target::Breaks | Target::Cuts | Target::Stalls | Target::StallsAtOnce => Ending::Broken,
            };
            // A whole answer that is cut has no content that anybody could have seen: it is a failure like any other.
            let unseen = !stream && entry.ending == Ending::Failed;
            prop_assert!(entry.ending == ending || unseen, "{:?}", entry);
        }
        prop_assert!(entry.sent.len() <= 1 && entry.total_ms < 60_000, "{:?}", entry);
        Ok(())
    });
    ran.unwrap();
}
