//! Who reports that it used tokens is paid, answer or not.

use rail_ledger::{Ending, Money};
use rail_model::{ApiError, ErrorKind, Usage};
use rail_testkit::{Models, Turn, text};

use super::world::{World, arrival, body, protocol, question};

fn uses(turn: Turn) -> Turn {
    turn.usage(Usage { input: Some(1000), output: Some(10), ..Usage::default() })
}

/// Ending, input tokens, cost in nanodollars, and for each send what it was and whether it may have been charged for.
async fn asked(turns: Vec<Turn>, stream: bool) -> (Ending, u64, Option<Money>, Vec<String>) {
    let models: Vec<Models> = turns.into_iter().map(|turn| Models::start(vec![turn]).unwrap()).collect();
    let anthropic = protocol("anthropic");
    let names = ["a", "b", "c"];
    let chain: Vec<_> = names.iter().zip(&models).map(|(name, models)| (*name, anthropic, models)).collect();
    let world = World::on(&chain).await;
    drop(body(world.ask(arrival(anthropic, &question(stream))).await).await);
    let entry = world.record().await;
    let sent = entry.sent.iter().map(|sent| format!("{} {}", sent.outcome, sent.possible_charge)).collect();
    (entry.ending, entry.tokens.input, entry.cost, sent)
}

#[tokio::test]
async fn what_was_used_for_nothing_is_paid_at_the_price_of_who_used_it() {
    // A thousand tokens of input and ten of output, at a dollar and two for a million.
    let each = 1_020_000;
    let answer = || uses(Turn::reply(vec![text("here")]));
    let empty = || uses(Turn::reply(vec![]));
    let fails = || uses(Turn::breaks(vec![], ApiError::new(ErrorKind::Server, "broken")));
    let refuses = || Turn::error(ApiError::new(ErrorKind::InvalidRequest, "no"));
    for stream in [true, false] {
        for (turns, ending, paid, sent) in [
            (vec![answer()], Ending::Answered, 1, vec!["answered false"]),
            (vec![empty(), answer()], Ending::Answered, 2, vec!["empty true", "answered false"]),
            (
                vec![empty(), empty(), answer()],
                Ending::Answered,
                3,
                vec!["empty true", "empty true", "answered false"],
            ),
            (vec![empty(), empty()], Ending::Answered, 2, vec!["empty true", "empty true"]),
            (vec![refuses(), empty()], Ending::Answered, 1, vec!["failed false", "empty true"]),
            (vec![refuses()], Ending::Failed, 0, vec!["failed false"]),
        ] {
            let got = asked(turns, stream).await;
            let expected: Vec<String> = sent.into_iter().map(str::to_owned).collect();
            assert_eq!(
                got,
                (ending, 1000 * paid, Some(Money(each * paid as i64)), expected),
                "stream {stream}"
            );
        }
    }
    // Before it breaks, a stream has reported its input.
    let (ending, input, cost, sent) = asked(vec![fails(), answer()], true).await;
    assert_eq!((ending, input), (Ending::Answered, 2000), "{cost:?} {sent:?}");
    let (ending, input, _, sent) = asked(vec![fails()], true).await;
    assert_eq!((ending, input), (Ending::Failed, 1000), "{sent:?}");
}
