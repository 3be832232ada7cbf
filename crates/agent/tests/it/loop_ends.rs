//! Interruptions, queued words, limits, broken answers and denied calls.

use rail_agent::machine::Bounds;
use rail_model::{Stop, Usage};
use rail_permit::Mode;
use rail_proto::{Answer, Command, Finish, Reason, SessionEvent, Shown};
use rail_testkit::{Turn, call, text};
use serde_json::json;

use crate::loop_bed::{Bed, assert_valid, texts};

fn run(command: &str) -> rail_model::Part {
    call("bash", json!({"command": command}))
}

fn says(words: &str) -> Turn {
    Turn::reply(vec![text(words)])
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interruption_while_an_answer_streams_keeps_what_was_shown() {
    let bed = Bed::new(vec![Turn::stall(vec![text("Half of an")]), says("Whole.")]);
    let mut talk = bed.open();
    talk.say("Go.");
    talk.sees(|event| matches!(event, SessionEvent::Text { text, .. } if text.ends_with("an"))).await;
    talk.send(Command::Interrupt);
    assert_eq!(talk.done().await.reason, Reason::Interrupted);
    assert_eq!(talk.ask("And now?").await.text, "Whole.");
    talk.end().await;
    assert_valid(&bed.last());
    assert_eq!(texts(&bed.last()), ["Go.", "Half of an", "And now?"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interruption_while_a_command_runs_gives_it_a_result() {
    let bed = Bed::new(vec![
        Turn::reply(vec![run("echo begun; sleep 300"), run("echo never >> never.txt")]),
        says("Right."),
    ]);
    let mut talk = bed.open();
    talk.say("Go.");
    talk.sees(|event| matches!(event, SessionEvent::ToolProgress { text, .. } if text.contains("begun")))
        .await;
    talk.send(Command::Interrupt);
    assert_eq!(talk.done().await.reason, Reason::Interrupted);
    assert_eq!(talk.results().len(), 2, "{:#?}", talk.seen);
    assert_eq!(talk.ask("And now?").await.text, "Right.");
    talk.end().await;
    assert_valid(&bed.last());
    let said = texts(&bed.last());
    assert!(said[2].contains("interrupted") || said[2].contains("cancel"), "{said:#?}");
    assert!(!bed.work().join("never.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn words_that_come_with_an_interruption_are_not_lost() {
    let bed = Bed::new(vec![Turn::reply(vec![run("echo begun; sleep 300")]), says("Other thing done.")]);
    let mut talk = bed.open();
    talk.say("Go.");
    talk.sees(|event| matches!(event, SessionEvent::ToolProgress { text, .. } if text.contains("begun")))
        .await;
    talk.say("Do another thing.");
    talk.send(Command::Interrupt);
    assert_eq!(talk.done().await.reason, Reason::Interrupted);
    assert_eq!(talk.done().await.text, "Other thing done.");
    talk.end().await;
    assert_valid(&bed.last());
    assert!(texts(&bed.last()).last().unwrap().ends_with("\nDo another thing."));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interruption_right_behind_the_words_counts() {
    let bed = Bed::new(vec![Turn::stall(vec![]).repeat()]);
    let mut talk = bed.open();
    talk.say("Go.");
    talk.send(Command::Interrupt);
    assert_eq!(talk.done().await.reason, Reason::Interrupted);
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interruption_while_a_question_is_open_ends_the_call_undone() {
    let mut bed = Bed::new(vec![Turn::reply(vec![run("echo x > x.txt")]), says("Right.")]);
    bed.mode = Mode::Default;
    let mut talk = bed.open();
    talk.say("Go.");
    talk.sees(|event| matches!(event, SessionEvent::Permission(_))).await;
    talk.send(Command::Interrupt);
    assert_eq!(talk.done().await.reason, Reason::Interrupted);
    assert_eq!(talk.ask("And now?").await.text, "Right.");
    talk.end().await;
    assert_valid(&bed.last());
    assert!(!bed.work().join("x.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_words_are_taken_in_order_at_the_next_step() {
    let first = Turn::reply(vec![text("On it."), run("echo one")]).gate_before_end("end").reached("said");
    let bed = Bed::new(vec![first, says("All three.")]);
    let mut talk = bed.open();
    talk.say("Go.");
    talk.sees(|event| matches!(event, SessionEvent::Text { .. })).await;
    for number in 1..=5 {
        talk.say(&format!("More {number}."));
    }
    let mut left = 5;
    talk.until(|event| {
        left -= i32::from(matches!(event, SessionEvent::Queued(_)));
        (left == 0).then_some(())
    })
    .await;
    bed.models.open("end");
    assert_eq!(talk.done().await.text, "All three.");
    talk.end().await;
    assert_valid(&bed.last());
    let said = texts(&bed.last()).join("\n");
    assert!(said.ends_with("More 1.\nMore 2.\nMore 3.\nMore 4.\nMore 5."), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_says_which_rule_would_allow_it_and_only_in_its_own_task() {
    let mut bed = Bed::new(vec![Turn::reply(vec![run("touch x.txt")]), says("Not allowed."), says("Fine.")]);
    bed.mode = Mode::Default;
    let mut talk = bed.open();
    talk.answer = Some(Answer::Nobody { why: None });
    let done = talk.ask("Go.").await;
    let [(tool, way)] = done.denials.as_slice() else { panic!("{done:?}") };
    assert_eq!((tool.as_str(), way.as_str()), ("bash", "allow it by `--allow 'Bash(touch x.txt)'`"));
    let (success, result) = talk.results().remove(0);
    assert!(!success && result.contains("--allow 'Bash(touch x.txt)'"), "{result}");
    assert_eq!(talk.ask("And?").await.denials, []);
    talk.end().await;
    assert_valid(&bed.last());
    assert!(!bed.work().join("x.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_refused_is_shown_in_short_and_is_no_denial() {
    let mut bed = Bed::new(vec![Turn::reply(vec![run("touch x.txt")]), says("As you like.")]);
    bed.mode = Mode::Default;
    let mut talk = bed.open();
    talk.answer = Some(Answer::No { why: Some("not now".to_owned()) });
    assert_eq!(talk.ask("Go.").await.denials, []);
    let end = talk.seen.iter().find_map(|event| match event {
        SessionEvent::ToolEnd(end) => Some((end.end, end.shown.clone())),
        _ => None,
    });
    assert_eq!(end, Some((Finish::Denied, Some(Shown::Summary { text: "you said no".to_owned() }))));
    assert!(talk.results()[0].1.contains("not now"), "{:?}", talk.results());
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_answers_nonsense_allowed_nothing_and_the_way_is_told() {
    let mut bed = Bed::new(vec![Turn::reply(vec![run("touch x.txt")]), says("I see.")]);
    bed.mode = Mode::Default;
    let mut talk = bed.open();
    talk.answer = Some(Answer::Nobody { why: Some("the answer was no JSON".to_owned()) });
    assert_eq!(talk.ask("Go.").await.denials.len(), 1);
    let result = talk.results().remove(0).1;
    assert!(result.contains("the answer was no JSON") && result.contains("--allow"), "{result}");
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_waited_has_figures_of_its_own() {
    let refusal = Turn::reply(vec![text("No more.")]).stop(Stop::Refusal).gate_before_end("end");
    let mut bed = Bed::new(vec![Turn::reply(vec![run("touch x.txt")]), refusal, says("Fine.")]);
    bed.mode = Mode::Default;
    let mut talk = bed.open();
    talk.answer = Some(Answer::Nobody { why: None });
    talk.say("Go.");
    talk.sees(|event| matches!(event, SessionEvent::Text { .. })).await;
    talk.say("And this.");
    talk.sees(|event| matches!(event, SessionEvent::Queued(_))).await;
    bed.models.open("end");
    let first = talk.done().await;
    assert_eq!((first.reason, first.denials.len()), (Reason::Refused, 1));
    let second = talk.done().await;
    assert_eq!((second.text.as_str(), second.denials.len()), ("Fine.", 0));
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_input_the_user_changed_runs_as_changed() {
    let mut bed = Bed::new(vec![Turn::reply(vec![run("touch x.txt")]), says("I see.")]);
    bed.mode = Mode::Default;
    let mut talk = bed.open();
    talk.answer = Some(Answer::Changed { input: json!({"command": "touch y.txt"}) });
    talk.ask("Go.").await;
    let (success, result) = talk.results().remove(0);
    assert!(success, "{result}");
    assert_eq!(["x.txt", "y.txt"].map(|name| bed.work().join(name).exists()), [false, true]);
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_goes_round_in_circles_is_told_and_stopped() {
    let bed = Bed::new(vec![Turn::reply(vec![run("cat nothing.txt")]).repeat()]);
    let mut talk = bed.open();
    let done = talk.ask("Go.").await;
    assert_eq!(done.reason, Reason::Failed);
    assert!(done.text.contains("same"), "{}", done.text);
    assert!(done.turns < 20, "{done:?}");
    let all = texts(&bed.last());
    assert!(all.iter().any(|text| text.contains("same call") || text.contains("again")), "{all:#?}");
    talk.end().await;
    bed.requests().iter().for_each(assert_valid);
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_money_and_tokens_are_counted_before_a_request() {
    let again = |_| {
        Turn::reply(vec![run("true")]).usage(Usage {
            input: Some(1000),
            output: Some(1000),
            ..Usage::default()
        })
    };
    let mut bed = Bed::new((0..9).map(again).collect());
    bed.bounds = Bounds { turns: Some(3), ..Bounds::default() };
    let mut talk = bed.open();
    let done = talk.ask("Go.").await;
    assert_eq!((done.reason, done.turns, bed.requests().len()), (Reason::TurnLimit, 3, 3));
    talk.end().await;

    let mut bed = Bed::new((0..9).map(again).collect());
    bed.price = ", price = { input = 1, output = 9 }";
    bed.bounds = Bounds { usd: Some(0.015), ..Bounds::default() };
    let mut talk = bed.open();
    let done = talk.ask("Go.").await;
    assert_eq!((done.reason, done.turns, bed.requests().len()), (Reason::Budget, 2, 2), "{done:?}");
    assert!((done.cost_usd - 0.02).abs() < 1e-9, "{done:?}");
    talk.end().await;

    let mut bed = Bed::new((0..9).map(again).collect());
    bed.bounds = Bounds { tokens: Some(5_000), ..Bounds::default() };
    let mut talk = bed.open();
    let done = talk.ask("Go.").await;
    assert_eq!((done.reason, done.turns, bed.requests().len()), (Reason::Budget, 3, 3), "{done:?}");
    assert!(done.text.contains("6000 tokens"), "{done:?}");
    // The next task has tokens of its own.
    assert_eq!(talk.ask("Again.").await.turns, 3);
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_ends_when_its_time_is_over_whatever_it_is_at() {
    let limit = std::time::Duration::from_millis(300);
    let calls = Turn::reply(vec![run("echo begun; sleep 300")]);
    for turn in [Turn::stall(vec![text("Half of an")]), Turn::stall(vec![]), calls] {
        let mut bed = Bed::new(vec![turn, says("Right.")]);
        bed.bounds = Bounds { time: Some(limit), ..Bounds::default() };
        let mut talk = bed.open();
        let done = talk.ask("Go.").await;
        assert_eq!((done.reason, done.text.contains("300ms")), (Reason::Budget, true), "{done:?}");
        let folder = bed.session();
        talk.end().await;
        bed.bounds = Bounds::default();
        let mut talk = bed.resume(&folder);
        assert_eq!(talk.ask("And now?").await.text, "Right.");
        talk.end().await;
        assert_valid(&bed.last());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_answer_is_asked_again_and_that_is_told() {
    for broken in [
        Turn::cut(vec![text("Half of an answer that is cut")]),
        Turn::cut(vec![text("I run it."), run("echo twice >> twice.txt")]),
        Turn::markerless(vec![text("No end")]),
    ] {
        let bed = Bed::new(vec![broken, Turn::reply(vec![run("echo once >> once.txt")]), says("Done.")]);
        let mut talk = bed.open();
        let done = talk.ask("Go.").await;
        assert_eq!((done.reason, done.text.as_str()), (Reason::Answered, "Done."), "{:#?}", talk.seen);
        assert!(
            talk.seen.iter().any(|event| matches!(event, SessionEvent::Restarted { .. })),
            "{:#?}",
            talk.seen
        );
        talk.end().await;
        bed.requests().iter().for_each(assert_valid);
        assert_eq!(bed.read("once.txt"), "once\n");
        assert!(!bed.work().join("twice.txt").exists());
        let said = texts(&bed.last()).join("\n");
        assert!(!said.contains("Half of") && !said.contains("No end"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_answer_is_asked_again() {
    let mut bed = Bed::new(vec![Turn::stall(vec![text("Still here")]), says("Done.")]);
    bed.provider_lines = "timeouts = { idle = \"200ms\" }";
    let mut talk = bed.open();
    let done = talk.ask("Go.").await;
    assert_eq!((done.reason, done.text.as_str()), (Reason::Answered, "Done."), "{:#?}", talk.seen);
    assert!(talk.seen.iter().any(|event| matches!(event, SessionEvent::Restarted { .. })));
    talk.end().await;
    assert_eq!(texts(&bed.last()), ["Go."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_empty_or_cut_off_are_gone_on_with_and_a_refusal_ends() {
    let cut = Turn::reply(vec![text("One, ")]).stop(Stop::MaxTokens);
    let bed = Bed::new(vec![cut, says("two."), Turn::reply(vec![text("No.")]).stop(Stop::Refusal)]);
    let mut talk = bed.open();
    assert_eq!(talk.ask("Count.").await.text, "two.");
    assert_eq!(talk.ask("Do harm.").await.reason, Reason::Refused);
    let ended = talk.end().await;
    assert!(
        !ended.iter().any(|event| matches!(event, SessionEvent::ToolEnd(end) if end.end == Finish::Crashed))
    );
    bed.requests().iter().for_each(assert_valid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_is_spent_only_where_prices_are_known() {
    let mut bed = Bed::new(vec![says("Never asked.")]);
    let far = "[providers.far]\nprotocol = \"openai-chat\"\nkey = \"none\"\nbase_url = \"https://models.invalid/v1\"\n";
    bed.config = format!("{far}models = {{ x = {{ window = 64000, max_output = 4000 }} }}\n");
    bed.bounds = Bounds { usd: Some(1.0), ..Bounds::default() };
    let mut talk = bed.open();
    talk.send(Command::SetModel("far,x".to_owned()));
    let done = talk.ask("Go.").await;
    assert_eq!(done.reason, Reason::Failed, "{done:?}");
    assert!(done.text.contains("price is not known") && done.text.contains("[providers.far]"), "{done:?}");
    talk.end().await;
    assert_eq!(bed.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_hold_also_where_nobody_says_what_an_answer_took() {
    // Each step is another one: a circle would be ended for being one.
    let silent = |at: usize| Turn::reply(vec![run(&format!("echo {at}"))]).usage(Usage::default());
    let budget = Bounds { tokens: Some(20_000), turns: Some(40), ..Bounds::default() };
    let dollars = Bounds { usd: Some(0.05), turns: Some(40), ..Bounds::default() };
    for bounds in [budget, dollars] {
        let mut bed = Bed::new((0..40).map(silent).collect());
        bed.price = ", price = { input = 1, output = 9 }";
        bed.bounds = bounds;
        let mut talk = bed.open();
        let done = talk.ask("Go.").await;
        assert_eq!(done.reason, Reason::Budget, "{done:?}");
        talk.end().await;
    }
}
