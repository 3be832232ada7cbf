//! All that models take is told and paid for: what tools ask them, and what nobody hears to its end.

use base64::Engine;
use rail_agent::team::types;
use rail_model::{Request, Usage};
use rail_proto::{Command, Reason, SessionEvent, Spent};
use rail_testkit::{Models, Turn, call, text};
use serde_json::json;

use crate::loop_bed::{Bed, texts};

/// A dollar for a thousand tokens.
const PRICE: &str = ", price = { input = 1000.0, output = 1000.0 }";
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

fn used(input: u64, output: u64) -> Usage {
    Usage { input: Some(input), output: Some(output), ..Usage::default() }
}

fn said(words: &str) -> Turn {
    Turn::reply(vec![text(words)]).usage(used(90, 10))
}

fn spent(seen: &[SessionEvent]) -> Vec<&Spent> {
    let all = seen.iter().filter_map(|event| match event {
        SessionEvent::Spent(spent) => Some(spent),
        _ => None,
    });
    all.collect()
}

fn with_picture(bed: &Bed) {
    let bytes = base64::engine::general_purpose::STANDARD.decode(PNG).unwrap();
    std::fs::write(bed.work().join("a.png"), bytes).unwrap();
}

/// One who looks at a picture when it is told to, and sets an agent to work for it when told so.
fn looks(request: &Request) -> Turn {
    let first = texts(request).first().cloned().unwrap_or_default();
    match (first.as_str(), request.messages.len()) {
        ("delegate", 1) => {
            let task = json!({"description": "look", "prompt": "look", "subagent_type": "general-purpose"});
            Turn::reply(vec![call("task", task)]).usage(used(90, 10))
        }
        ("look", 1) => Turn::reply(vec![call("image", json!({"prompt": "What is it?", "image": "a.png"}))])
            .usage(used(90, 10)),
        ("look" | "delegate", _) => said("done"),
        (_, _) => Turn::reply(vec![text("A dot.")]).usage(used(900, 100)),
    }
}

#[tokio::test]
async fn what_a_tool_asks_of_a_model_is_told_with_the_conversation_s_window() {
    let mut bed = Bed::on(Models::answering(looks).unwrap());
    bed.price = PRICE;
    with_picture(&bed);
    let mut talk = bed.open();
    let done = talk.ask("look").await;
    assert_eq!(talk.results()[0].1.lines().next(), Some("A dot."), "{:?}", talk.results());
    let all = spent(&talk.seen);
    let [first, aside, last] = all.as_slice() else { panic!("{all:#?}") };
    assert_eq!((aside.aside.as_deref(), aside.usage.total()), (Some("image"), 1_000));
    assert_eq!((first.aside.as_ref(), last.aside.as_ref()), (None, None));
    assert_eq!((aside.step, aside.window), (first.step, first.window));
    assert_eq!(aside.cost_usd, Some(1.0));
    assert!((done.cost_usd - 1.2).abs() < 1e-9, "{done:?}");
    talk.end().await;
    let view = rail_journal::view(&bed.session()).unwrap();
    assert_eq!((view.state.sum.totals.requests, view.state.sum.totals.input), (3, 1_080));
}

#[tokio::test]
async fn what_an_agent_s_tools_ask_is_part_of_its_figures() {
    let mut bed = Bed::on(Models::answering(looks).unwrap());
    bed.agents = types::built_in();
    bed.price = PRICE;
    with_picture(&bed);
    let mut talk = bed.open();
    let done = talk.ask("delegate").await;
    let ended = talk.seen.iter().find_map(|event| match event {
        SessionEvent::AgentEnded(ended) => Some(ended.clone()),
        _ => None,
    });
    let ended = ended.unwrap();
    assert_eq!((ended.tokens, ended.tool_uses), (1_200, 1));
    assert!((ended.cost_usd - 1.2).abs() < 1e-9, "{ended:?}");
    assert!((done.cost_usd - 1.4).abs() < 1e-9, "{done:?}");
}

#[tokio::test]
async fn an_answer_that_is_interrupted_or_breaks_is_paid_for() {
    let error = rail_model::ApiError::new(rail_model::ErrorKind::Overloaded, "out of order");
    let mut bed = Bed::new(vec![
        Turn::stall(vec![text("I am ")]),
        Turn::breaks(vec![text("I was ")], error),
        said("done"),
    ]);
    bed.price = PRICE;
    let mut talk = bed.open();
    talk.say("go");
    talk.sees(|event| matches!(event, SessionEvent::Text { .. })).await;
    talk.send(Command::Interrupt);
    let done = talk.done().await;
    assert_eq!(done.reason, Reason::Interrupted);
    let all = spent(&talk.seen);
    let [cut] = all.as_slice() else { panic!("before the task is over: {:#?}", talk.seen) };
    assert!(
        cut.usage.total() > 0 && (done.cost_usd - cut.cost_usd.unwrap()).abs() < 1e-9,
        "{cut:?} {done:?}"
    );

    let done = talk.ask("again").await;
    assert_eq!(done.reason, Reason::Answered, "{done:?}");
    let all = spent(&talk.seen);
    let [_, broken, last] = all.as_slice() else { panic!("{all:#?}") };
    assert!(broken.usage.total() > 0, "{broken:?}");
    let sum = broken.cost_usd.unwrap() + last.cost_usd.unwrap();
    assert!((done.cost_usd - sum).abs() < 1e-9, "{done:?} {sum}");
}

#[tokio::test]
async fn a_request_that_nobody_answers_costs_nothing() {
    let error = rail_model::ApiError::new(rail_model::ErrorKind::InvalidRequest, "not so");
    let mut bed = Bed::new(vec![Turn::error(error), said("done")]);
    bed.price = PRICE;
    bed.bounds.tokens = Some(50);
    let mut talk = bed.open();
    assert_eq!(talk.ask("go").await.reason, Reason::Failed);
    // A small budget lets a first request through, whatever it may take.
    let done = talk.ask("again").await;
    assert_eq!((done.reason, spent(&talk.seen).len()), (Reason::Answered, 1), "{done:?}");
}
