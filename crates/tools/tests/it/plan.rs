//! Plan mode: into it and out of it.

use std::sync::Arc;

use rail_model::{CallId, CallKind, ToolCall};
use rail_permit::Mode;
use rail_tool::{About, Chosen, Display, Edits, End, Outcome, OutputNote, Picked, PlanStep};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::person::Person;
use crate::scratch::Scratch;

const PLAN: &str = "# Plan\n1. Do it\n2. Check it";

fn planning(person: Arc<Person>) -> Scratch {
    let scratch = Scratch::asking(person);
    scratch.executor.change_policy(|policy| policy.mode = Mode::Plan);
    scratch
}

fn mode(scratch: &Scratch) -> Mode {
    scratch.executor.policy().mode
}

/// Calls of one answer.
fn answer(scratch: &Scratch, calls: &[(&str, Value)]) -> Vec<Outcome> {
    let call = |(tool, input): &(&str, Value)| ToolCall {
        id: CallId::Given((*tool).to_owned()),
        name: (*tool).to_owned(),
        arguments: input.to_string(),
        kind: CallKind::Function,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(scratch.executor.run(calls.iter().map(call).collect(), &CancellationToken::new()))
}

#[test]
fn an_approved_plan_ends_plan_mode_as_the_user_says() {
    let cases = [
        (0, Edits::Accepted, Mode::AcceptEdits, "files of the workspace are edited without asking"),
        (1, Edits::Asked, Mode::Default, "the user is asked about each edit"),
    ];
    for (option, edits, expected, how) in cases {
        let person = Person::picking(vec![Picked::option(option)]);
        let scratch = planning(person.clone());
        let outcome = scratch.run("ExitPlanMode", &json!({ "plan": PLAN }));
        assert_eq!(
            outcome.text(),
            format!(
                "The user approved the plan; plan mode is off, and {how}. Carry it out now; if it has several steps, keep them with `todo_write`."
            )
        );
        assert_eq!(outcome.notes, [OutputNote::Plan(PlanStep::Leave { plan: PLAN.to_owned(), edits })]);
        assert_eq!(outcome.display, Some(Display::Preview { text: PLAN.to_owned(), lines: 3 }));
        assert_eq!(mode(&scratch), expected);
        let (id, choices) = person.asked().remove(0);
        assert_eq!(id, "call_1");
        assert_eq!(choices.about, About::LeavePlan { plan: PLAN.to_owned() });
        let labels: Vec<&str> =
            choices.questions[0].options.iter().map(|option| option.label.as_str()).collect();
        assert_eq!(labels, ["Yes, and accept edits", "Yes, and ask for each edit", "No, keep planning"]);
    }
}

#[test]
fn words_of_the_user_reach_the_model() {
    let both = Picked { options: vec![1], said: Some("tests first".to_owned()) };
    let said = planning(Person::picking(vec![both])).says("exit_plan_mode", &json!({ "plan": PLAN }));
    assert!(said.contains("each edit. They add: tests first Carry it out now"), "{said}");
}

#[test]
fn anything_but_a_yes_keeps_plan_mode_on() {
    let answered = |answers: Vec<Picked>| Chosen::Answered { answers };
    let asks = "Ask what should be different, change the plan, then call this again.";
    let told = "They say: smaller\nChange the plan accordingly, then call this again.";
    let with = |option| Picked { options: vec![option], said: Some("smaller".to_owned()) };
    let cases = [
        (answered(vec![Picked::option(2)]), asks),
        (answered(vec![with(2)]), told),
        (answered(vec![Picked::words("smaller")]), told),
        (answered(vec![Picked { options: vec![0, 2], said: None }]), asks),
        (answered(vec![Picked::option(7)]), asks),
        (answered(vec![]), asks),
        (Chosen::Dismissed { said: None }, asks),
        (Chosen::Dismissed { said: Some("smaller".to_owned()) }, told),
    ];
    for (chosen, next) in cases {
        let scratch = planning(Person::saying(chosen.clone()));
        let outcome = scratch.run("exit_plan_mode", &json!({ "plan": PLAN }));
        let expected = format!("The user did not approve the plan; plan mode stays on. {next}");
        assert_eq!((outcome.text(), outcome.end), (expected, End::Done), "{chosen:?}");
        assert_eq!((mode(&scratch), outcome.notes), (Mode::Plan, vec![]), "{chosen:?}");
    }
}

#[test]
fn without_anybody_the_plan_is_the_answer() {
    let scratch = planning(Person::saying(Chosen::Nobody));
    let outcome = scratch.run("exit_plan_mode", &json!({ "plan": PLAN }));
    assert_eq!(
        outcome.text(),
        "Nobody is there to approve the plan, and plan mode stays on. The plan is your final answer: give it as your answer and stop here."
    );
    assert_eq!((mode(&scratch), outcome.notes), (Mode::Plan, vec![]));
}

#[test]
fn a_plan_outside_plan_mode_changes_no_mode() {
    let person = Person::first();
    let scratch = Scratch::asking(person.clone());
    assert_eq!(
        scratch.says("exit_plan_mode", &json!({ "plan": PLAN })),
        "error: plan mode is not on, so there is nothing to leave: go on with the work, or propose to plan first with `plan_mode`"
    );
    assert_eq!((mode(&scratch), person.asked()), (Mode::Bypass, vec![]));
}

#[test]
fn an_interrupted_approval_leaves_plan_mode_on() {
    let cancel = CancellationToken::new();
    let scratch = planning(Person::cancelling(cancel.clone()));
    let outcome = scratch.run_cancelled_by("exit_plan_mode", &json!({ "plan": PLAN }), &cancel);
    assert_eq!((outcome.end, mode(&scratch)), (End::Cancelled, Mode::Plan));
}

#[test]
fn plan_mode_is_the_user_s_choice() {
    let person = Person::first();
    let scratch = Scratch::asking(person.clone());
    let outcome = scratch.run("EnterPlanMode", &json!({"reason": "It is large."}));
    assert!(outcome.text().starts_with("Plan mode is on: "), "{}", outcome.text());
    assert_eq!(outcome.notes, [OutputNote::Plan(PlanStep::Enter)]);
    assert_eq!(mode(&scratch), Mode::Plan);
    let (_, choices) = person.asked().remove(0);
    assert_eq!(choices.about, About::EnterPlan);
    assert_eq!(choices.questions[0].question, "Plan first, before anything is changed? It is large.");
    // It is not asked again when it is on.
    let said = scratch.says("plan_mode", &json!({}));
    assert!(said.starts_with("ok: Plan mode is on already."), "{said}");
    assert_eq!(person.asked().len(), 1);
}

#[test]
fn without_a_yes_plan_mode_stays_off() {
    let no = "ok: The user does not want a plan first: plan mode is off, go on with the work.";
    let told = format!("{no} They say: just do it");
    let nobody =
        "ok: Nobody is there to approve a plan, so plan mode stays off: go on by your best judgement.";
    let cases = [
        (Chosen::Answered { answers: vec![Picked::option(1)] }, no),
        (Chosen::Answered { answers: vec![Picked::words("just do it")] }, &told),
        (Chosen::Answered { answers: vec![] }, no),
        (Chosen::Dismissed { said: Some("just do it".to_owned()) }, &told),
        (Chosen::Nobody, nobody),
    ];
    for (chosen, expected) in cases {
        let scratch = Scratch::asking(Person::saying(chosen));
        assert_eq!(scratch.says("plan_mode", &json!({})), expected);
        assert_eq!(mode(&scratch), Mode::Bypass);
    }
}

#[test]
fn a_step_holds_from_the_next_call_of_the_same_answer() {
    let scratch = Scratch::asking(Person::first());
    let write = |name: &str| json!({"file_path": scratch.path(name), "content": "x\n"});
    let outcomes = answer(
        &scratch,
        &[
            ("plan_mode", json!({})),
            ("write_file", write("planned.txt")),
            ("exit_plan_mode", json!({ "plan": PLAN })),
            ("write_file", write("approved.txt")),
        ],
    );
    let ends: Vec<End> = outcomes.iter().map(|outcome| outcome.end).collect();
    assert_eq!(ends, [End::Done, End::Denied, End::Done, End::Done]);
    assert!(!scratch.path("planned.txt").exists() && scratch.path("approved.txt").exists());
}
