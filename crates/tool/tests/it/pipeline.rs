//! Every end of a call is a result, with its events in order.

use std::sync::Arc;

use rail_permit::{Answer, Question, Rule, Scope};
use rail_tool::{Before, BoxFuture, HookAnswer, HookSay, HookedCall, Hooks, NoHooks, Outcome, Reply};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bed::{Bed, Stage, of, told};

#[test]
fn a_call_is_told_from_start_to_end() {
    let bed = Bed::new();
    let outcomes = bed.run(&[("look_around", r#"{"order":"say","text":"hello"}"#)]);
    assert_eq!(told(&outcomes), ["call_0 Done: hello"]);
    assert_eq!(bed.events("call_0"), ["tool_call_start", "tool_call_end"]);
    let mut shown = outcomes[0].to_json();
    shown["duration_ms"] = json!(0);
    assert_eq!(
        shown,
        json!({"tool_call_id": "call_0", "success": true, "output": "hello", "duration_ms": 0})
    );
}

#[test]
fn what_can_t_be_run_says_what_to_do() {
    let bed = Bed::new();
    let outcomes = bed.run(&[
        ("look_arond", r#"{"order":"say"}"#),
        ("no_such_thing_at_all", "{}"),
        ("look_around", r#"{"text":"x"}"#),
        ("look_around", r#"{"order":"#),
        ("look_around", r#"{"order":"say","text":{"a":1}}"#),
    ]);
    insta::assert_snapshot!(told(&outcomes).join("\n"), @r"
    call_0 Refused: there is no tool `look_arond`; did you mean `look_around`?
    call_1 Refused: there is no tool `no_such_thing_at_all`; there are `look_around`, `change_it`, `rare_thing`
    call_2 Refused: the arguments of `look_around` do not fit: `order` is missing and must be a string
    call_3 Refused: the call of `look_around` was cut off before its arguments were complete and was not run; send it again, in smaller pieces if it is long
    call_4 Refused: the arguments of `look_around` do not fit: `text` is an object, but must be a string
    ");
}

#[test]
fn a_tool_of_a_server_that_is_not_there_is_none_of_ours() {
    let bed = Bed::new();
    let outcomes = bed.run(&[("mcp__files__look_around", r#"{"order":"say","text":"ours"}"#)]);
    let expected = "call_0 Refused: there is no tool `mcp__files__look_around`; did you mean `look_around`?";
    assert_eq!(told(&outcomes), [expected]);
}

#[test]
fn a_tool_that_fails_or_breaks_off_has_a_result() {
    let bed = Bed::new();
    let outcomes = bed.run(&[
        ("look_around", r#"{"order":"fail","text":"the disk is full; remove something"}"#),
        ("look_around", r#"{"order":"panic","text":"oh"}"#),
        ("look_around", r#"{"order":"say","text":"still here"}"#),
    ]);
    insta::assert_snapshot!(told(&outcomes).join("\n"), @r"
    call_0 Failed: the disk is full; remove something
    call_1 Crashed: `look_around` broke off, which is a fault of the tool and not of the call; try another way
    call_2 Done: still here
    ");
    assert_eq!(outcomes[0].cause.as_deref(), Some("errno 5"));
    assert!(outcomes[1].cause.as_deref().is_some_and(|cause| cause.contains("panicked")));
    assert_eq!(bed.events("call_1"), ["tool_call_start", "tool_call_end"]);
}

#[test]
fn a_cancelled_call_has_a_result_and_those_behind_it_do_not_begin() {
    let said = "the call was cancelled before it was done; what it had changed until then is not undone";
    // A tool that ends in time says itself how far it was.
    for (order, first_says) in [("wait", "interrupted"), ("hang", said)] {
        let bed = Bed::new();
        let cancel = CancellationToken::new();
        *bed.front.cancel_at_progress.lock().unwrap() = Some(cancel.clone());
        let first = format!(r#"{{"order":"{order}","text":"1"}}"#);
        let calls = [("change_it", first.as_str()), ("change_it", r#"{"order":"say","text":"2"}"#)];
        let outcomes = bed.run_until(&calls, &cancel);
        let expected = [format!("call_0 Cancelled: {first_says}"), format!("call_1 Cancelled: {said}")];
        assert_eq!(told(&outcomes), expected);
        assert_eq!(bed.events("call_0"), ["tool_call_start", "tool_call_progress", "tool_call_end"]);
        let log = bed.session.services.get::<Stage>().log.lock().unwrap().clone();
        assert!(!log.contains(&"begin 2".to_owned()), "{log:?}");
    }
}

#[test]
fn work_on_a_thread_ran_on_when_its_call_was_dropped() {
    let bed = Bed::new();
    let begun = CancellationToken::new();
    *bed.front.cancel_at_progress.lock().unwrap() = Some(begun.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let never = CancellationToken::new();
        let calls = of(&[("look_around", r#"{"order":"block","text":"1"}"#)]);
        tokio::select! {
            _ = bed.executor.run(calls, &never) => panic!("it waits to be told"),
            () = begun.cancelled() => {}
        }
    });
    // It waits for the threads that still run.
    runtime.shutdown_timeout(std::time::Duration::from_secs(30));
    let log = bed.session.services.get::<Stage>().log.lock().unwrap().clone();
    assert_eq!(log, ["begin 1", "ended"]);
}

#[test]
fn an_open_question_ends_with_its_call() {
    let bed = Bed::new();
    let outside = bed.root.path().join("outside");
    std::fs::write(&outside, "x").unwrap();
    let call = json!({"order": "read", "text": outside}).to_string();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let outcomes = bed.run_until(&[("look_around", &call)], &cancel);
    assert_eq!(outcomes[0].end, rail_tool::End::Cancelled);
}

#[test]
fn a_long_output_is_cut_and_kept() {
    let bed = Bed::with(Arc::new(NoHooks), |session, _| session.limits.output_chars = 6);
    let outcomes = bed.run(&[("look_around", r#"{"order":"say","text":"0123456789"}"#)]);
    let kept = bed.session.folder.join("outputs/call_0-0.txt");
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "0123456789");
    assert!(outcomes[0].text().starts_with("012\n\n[4 characters are left out here"));
}

#[test]
fn a_tool_declared_in_short_is_explained_once() {
    let bed = Bed::new();
    let said = |outcome: &Outcome| outcome.text();
    let call = ("rare_thing", r#"{"order":"say","text":"x"}"#);
    let explained = "How `rare_thing` is used:\nDoes as it is told.\n- `order`: What to do: `say`, `read`, `meet`, `wait`, `panic`, `fail`.\n- `text`: What to say, or the file to read.";
    assert_eq!(said(&bed.run(&[call])[0]), format!("x\n{explained}"));
    assert_eq!(said(&bed.run(&[call])[0]), "x");
    let failed = Bed::new().run(&[("rare_thing", r#"{"order":"fail","text":"x"}"#)]);
    assert!(said(&failed[0]).ends_with(&format!("\n{explained}")), "{}", said(&failed[0]));
}

#[test]
fn a_long_error_is_cut_and_kept_too() {
    let bed = Bed::with(Arc::new(NoHooks), |session, _| session.limits.output_chars = 40);
    let outcomes = bed.run(&[(&"x".repeat(100), "{}")]);
    assert!(outcomes[0].text().starts_with("there is no tool `xx\n\n["), "{}", outcomes[0].text());
    let kept = std::fs::read_to_string(bed.session.folder.join("outputs/call_0-0.txt")).unwrap();
    assert!(kept.contains(&"x".repeat(100)), "{kept}");
}

/// Hooks that say what a test tells them.
#[derive(Default)]
struct Says {
    before: Before,
    asked: Option<HookAnswer>,
    after: Option<&'static str>,
}

impl Hooks for Says {
    fn before<'a>(&'a self, _: &'a HookedCall) -> BoxFuture<'a, Before> {
        Box::pin(std::future::ready(self.before.clone()))
    }

    fn asked<'a>(&'a self, _: &'a HookedCall, _: &'a Question) -> BoxFuture<'a, Option<HookAnswer>> {
        Box::pin(std::future::ready(self.asked.clone()))
    }

    fn after<'a>(&'a self, call: &'a HookedCall, outcome: &'a Outcome) -> BoxFuture<'a, Option<String>> {
        let said = self
            .after
            .map(|said| format!("{said} {} {} {}", call.tool, call.input["text"], outcome.success()));
        Box::pin(std::future::ready(said))
    }
}

fn hooked(input: Option<Value>, say: Option<HookSay>, after: Option<&'static str>) -> Bed {
    let before = Before { input, say, ..Before::default() };
    Bed::with(Arc::new(Says { before, after, ..Says::default() }), |_, _| ())
}

#[test]
fn a_hook_may_change_refuse_and_add() {
    let call = ("look_around", r#"{"order":"say","text":"a"}"#);
    let changed = hooked(Some(json!({"order": "say", "text": "b"})), None, Some("seen:"));
    assert_eq!(told(&changed.run(&[call])), ["call_0 Done: b\nseen: look_around \"b\" true"]);
    let broken = hooked(Some(json!({"text": "b"})), None, None);
    insta::assert_snapshot!(told(&broken.run(&[call])).join("\n"), @"call_0 Refused: a hook changed this call to one that can't be run: the arguments of `look_around` do not fit: `order` is missing and must be a string");
    let refused = hooked(None, Some(HookSay::Deny("not on Mondays".to_owned())), None);
    assert_eq!(told(&refused.run(&[call])), ["call_0 Hooked: a hook refused this call: not on Mondays"]);
}

#[test]
fn what_a_hook_changed_is_judged() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    let bed = hooked(Some(json!({"order": "read", "text": outside.path()})), None, None);
    bed.front.answers.lock().unwrap().push(Answer::No(None).into());
    let inside = bed.file("a.txt", "inside");
    let call = json!({"order": "read", "text": inside}).to_string();
    let outcomes = bed.run(&[("look_around", &call)]);
    assert_eq!(outcomes[0].end, rail_tool::End::Rejected, "{:?}", told(&outcomes));
    assert_eq!(bed.events("call_0"), ["tool_call_start", "permission_request", "tool_call_end"]);
}

#[test]
fn a_hook_may_ask_for_a_question() {
    let bed = hooked(None, Some(HookSay::Ask("look twice".to_owned())), None);
    bed.front.answers.lock().unwrap().push(Answer::No(Some("use the other file".to_owned())).into());
    let outcomes = bed.run(&[("look_around", r#"{"order":"say","text":"a"}"#)]);
    assert_eq!(outcomes[0].end, rail_tool::End::Rejected);
    assert!(outcomes[0].text().contains("use the other file"), "{}", outcomes[0].text());
}

#[test]
fn names_of_any_dialect_are_understood() {
    let bed = Bed::new();
    let outcomes = bed.run(&[
        ("functions.look_around", r#"{"order":"say","text":"a"}"#),
        ("LookAround", r#"{"order":"say","text":"a"}"#),
    ]);
    assert_eq!(told(&outcomes), ["call_0 Done: a", "call_1 Done: a"]);
    assert_eq!(outcomes[1].repairs.len(), 1);
}

/// A bed with a file outside its workspace, and a call that reads it.
fn outside(bed: &Bed) -> String {
    let path = bed.root.path().canonicalize().unwrap().join("outside");
    std::fs::write(&path, "outside").unwrap();
    json!({"order": "read", "text": path}).to_string()
}

#[test]
fn what_was_allowed_for_longer_is_not_asked_again() {
    for (scope, kept) in [(Scope::Session, 0), (Scope::Always, 1)] {
        let bed = Bed::new();
        let call = outside(&bed);
        *bed.front.takes.lock().unwrap() = Some(scope);
        assert_eq!(told(&bed.run(&[("look_around", &call)])), ["call_0 Done: outside"]);
        // Whoever is asked again says no.
        bed.front.answers.lock().unwrap().push(Answer::No(None).into());
        assert_eq!(told(&bed.run(&[("look_around", &call)])), ["call_0 Done: outside"]);
        assert_eq!(bed.front.kept.lock().unwrap().len(), kept, "{scope:?}");
    }
}

#[test]
fn a_hook_s_leave_spares_a_question_but_not_one_that_is_always_asked() {
    let bed = hooked(None, Some(HookSay::Allow), None);
    let call = outside(&bed);
    assert_eq!(told(&bed.run(&[("look_around", &call)])), ["call_0 Done: outside"]);
    assert_eq!(bed.events("call_0"), ["tool_call_start", "tool_call_end"]);
    bed.front.answers.lock().unwrap().push(Answer::No(None).into());
    let through = r#"{"order": "read", "text": "/proc/1/root/etc/hostname"}"#;
    assert_eq!(bed.run(&[("look_around", through)])[0].end, rail_tool::End::Rejected);
}

#[test]
fn what_a_hook_adds_before_a_call_stands_behind_its_result() {
    for (say, expected) in [
        (None, "call_0 Done: a\nknow this\nand this"),
        (
            Some(HookSay::Deny("no".to_owned())),
            "call_0 Hooked: a hook refused this call: no\nknow this\nand this",
        ),
    ] {
        let context = vec!["know this".to_owned(), "and this".to_owned()];
        let before = Before { say, context, ..Before::default() };
        let bed = Bed::with(Arc::new(Says { before, ..Says::default() }), |_, _| ());
        assert_eq!(told(&bed.run(&[("look_around", r#"{"order":"say","text":"a"}"#)])), [expected]);
    }
}

#[test]
fn a_hook_may_answer_in_place_of_the_user() {
    let answered = |asked| Bed::with(Arc::new(Says { asked, ..Says::default() }), |_, _| ());
    let bed = answered(Some(HookAnswer::Allow(None)));
    let call = outside(&bed);
    assert_eq!(told(&bed.run(&[("look_around", &call)])), ["call_0 Done: outside"]);
    assert_eq!(bed.events("call_0"), ["tool_call_start", "tool_call_end"]);
    // What always asks is asked all the same.
    bed.front.answers.lock().unwrap().push(Answer::No(None).into());
    let through = r#"{"order": "read", "text": "/proc/1/root/etc/hostname"}"#;
    assert_eq!(bed.run(&[("look_around", through)])[0].end, rail_tool::End::Rejected);

    let bed = answered(Some(HookAnswer::Deny("not there".to_owned())));
    let call = outside(&bed);
    let refused = ["call_0 Hooked: a hook refused this call: not there"];
    assert_eq!(told(&bed.run(&[("look_around", &call)])), refused);
    assert_eq!(bed.events("call_0"), ["tool_call_start", "tool_call_end"]);
    // Nobody is asked about what is allowed, so there is nothing to answer.
    let inside = json!({"order": "read", "text": bed.file("a.txt", "inside")}).to_string();
    assert_eq!(told(&bed.run(&[("look_around", &inside)])), ["call_0 Done: inside"]);
}

#[test]
fn the_input_that_a_hook_answers_with_is_judged_anew() {
    let other = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(other.path(), "other").unwrap();
    for (input, end) in [
        (json!({"order": "read", "text": other.path()}), rail_tool::End::Done),
        (json!({"order": "read", "text": "/proc/1/root/etc/hostname"}), rail_tool::End::Rejected),
        (json!({"text": "no order"}), rail_tool::End::Refused),
    ] {
        let asked = Some(HookAnswer::Allow(Some(input.clone())));
        let bed = Bed::with(Arc::new(Says { asked, ..Says::default() }), |_, _| ());
        bed.front.answers.lock().unwrap().push(Answer::No(None).into());
        let call = outside(&bed);
        assert_eq!(bed.run(&[("look_around", &call)])[0].end, end, "{input}");
    }
}

#[test]
fn the_input_that_the_user_answers_with_is_judged_anew() {
    let other = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(other.path(), "other").unwrap();
    for (input, expected) in [
        (json!({"order": "read", "text": other.path()}), "call_0 Done: other"),
        (json!({"text": "no order"}), "call_0 Refused: the user changed this call to one that can't be run"),
        (json!({"order": "read", "text": "kept.secret"}), "call_0 Denied: "),
    ] {
        let bed = Bed::with(Arc::new(Says::default()), |_, policy| {
            let native = |_: &str| Some("read_file".to_owned());
            policy.rules.deny.push(Rule::parse("Read(*.secret)", "test", &native).unwrap());
        });
        bed.file("kept.secret", "hidden");
        bed.front.answers.lock().unwrap().push(Reply::Changed(input));
        let call = outside(&bed);
        let said = told(&bed.run(&[("look_around", &call)]));
        assert!(said[0].starts_with(expected), "{said:?}");
    }
}
