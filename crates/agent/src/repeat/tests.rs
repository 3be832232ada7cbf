use proptest::prelude::*;
use rail_model::{CallId, CallKind};

use super::*;

fn call(name: &str, arguments: &str) -> ToolCall {
    let id = CallId::Given("c".into());
    ToolCall { id, name: name.into(), arguments: arguments.into(), kind: CallKind::Function }
}

fn result(text: &str, is_error: bool) -> ToolResult {
    ToolResult {
        id: CallId::Given("c".into()),
        name: None,
        content: vec![Part::text(text)],
        is_error: Some(is_error),
        kind: CallKind::Function,
    }
}

/// One letter a call: `TOOL ARGUMENTS=RESULT`, with `!` for a failure. Gives one letter a verdict.
fn run(steps: &[&str]) -> String {
    let mut repeats = Repeats::default();
    let letter = |verdict| match verdict {
        Verdict::Fine => '.',
        Verdict::Tell(_) => 't',
        Verdict::Stop(_) => 'S',
    };
    let mut out = String::new();
    for step in steps {
        let verdict = match step.split_once('=') {
            Some((asked, gave)) => {
                let (name, arguments) = asked.split_once(' ').unwrap_or((asked, "{}"));
                repeats
                    .saw(&call(name, arguments), &result(gave.trim_start_matches('!'), gave.starts_with('!')))
            }
            None if *step == "user" => {
                repeats.user_spoke();
                continue;
            }
            None => repeats.said(step),
        };
        out.push(letter(verdict));
    }
    out
}

fn times<'a>(steps: &[&'a str], times: usize) -> Vec<&'a str> {
    steps.repeat(times)
}

#[test]
fn circles_are_noticed() {
    for (steps, verdicts) in [
        (times(&["bash=!no"], 5), "..ttS"),
        (times(&["bash=ok"], 5), "..ttS"),
        (vec!["bash=!1", "bash=!2", "bash=!3", "bash=!4", "bash=!5"], "..ttS"),
        (vec![r#"f {"a":1,"b":2}=x"#, r#"f {"b": 2, "a": 1}=x"#, r#"f {"a":1,"b":2}=x"#], "..t"),
        (times(&["a=1", "b=2"], 5), ".....t.t.S"),
        (times(&["a=!1", "b=2"], 5), ".....t.t.S"),
        (times(&["a=1", "b=2", "c=3"], 5), "........t..t..S"),
        (times(&["I am done."], 5), "..ttS"),
        (vec!["I  am done.", "I am\ndone.", "I am done. "], "..t"),
        (times(&["Let me see.", "a=!1"], 5), ".....ttttS"),
    ] {
        assert_eq!(run(&steps), verdicts, "{steps:?}");
    }
}

#[test]
fn progress_is_none() {
    let polls: Vec<String> = (0..50).map(|line| format!("bash_output=line {line}")).collect();
    let pages: Vec<String> =
        (0..50).map(|page| format!("read_file {{\"offset\":{page}}}=the same line")).collect();
    let edits: Vec<String> = (0..50)
        .flat_map(|edit| [format!("edit_file {edit}=done"), "bash=!3 tests fail".to_owned()])
        .collect();
    let spoken: Vec<String> =
        (0..20).flat_map(|page| ["Let me see.".to_owned(), format!("read_file {page}=x")]).collect();
    for steps in [polls, pages, edits, spoken] {
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let found = run(&steps);
        assert!(found.chars().all(|verdict| verdict == '.'), "{steps:?}: {found}");
    }
    assert_eq!(run(&["a=!1", "a=!1", "b=2", "a=!1", "a=!1"]), ".....");
    assert_eq!(run(&["a=!1", "a=!1", "user", "a=!1", "a=!1"]), "....");
    assert_eq!(run(&["done", "done", "user", "done", "done"]), "....");
}

#[test]
fn a_command_that_prints_nothing_for_long_may_be_waited_for() {
    let found = run(&times(&["bash_output=nothing new"], 20));
    assert_eq!(found, "...........ttttttttS");
    assert_eq!(run(&times(&["bash_output=!no such shell"], 5)), "..ttS");
}

#[test]
fn what_is_said_names_the_calls() {
    let mut repeats = Repeats::new(Patience { tell_after: 2, stop_after: 3 });
    let mut failing = || repeats.saw(&call("bash", "{}"), &result("no", true));
    assert_eq!(failing(), Verdict::Fine);
    assert_eq!(
        failing(),
        Verdict::Tell("the model called `bash` 2 times in a row with the same arguments, and it failed each time. Doing it again will not help: read what the results say, then try another way, or tell the user what is in the way.".into())
    );
    assert_eq!(
        failing(),
        Verdict::Stop("the model called `bash` 3 times in a row with the same arguments, and it failed each time: it was stopped".into())
    );
    let mut repeats = Repeats::default();
    let calls = [("a", "1"), ("b", "2")].repeat(5);
    let last = calls.iter().map(|(name, gave)| repeats.saw(&call(name, "{}"), &result(gave, false))).last();
    assert_eq!(
        last,
        Some(Verdict::Stop("the model called `a`, `b` 5 times in turn with the same arguments and the same results: it was stopped".into()))
    );
}

proptest! {
    #[test]
    fn calls_that_differ_are_never_held_up(results: Vec<(String, bool)>) {
        let mut repeats = Repeats::default();
        for (nth, (text, is_error)) in results.iter().enumerate() {
            let call = call("f", &format!("{{\"nth\":{nth}}}"));
            prop_assert_eq!(repeats.saw(&call, &result(text, *is_error)), Verdict::Fine);
        }
    }

    #[test]
    fn a_circle_is_stopped_whatever_came_before(before in prop::collection::vec(0_u8..4, 0..30), circle in prop::collection::vec(0_u8..4, 1..4)) {
        let mut repeats = Repeats::default();
        let mut step = |name: u8| repeats.saw(&call(&name.to_string(), "{}"), &result("x", false));
        before.iter().for_each(|name| { step(*name); });
        let stopped = circle.repeat(5).iter().any(|name| matches!(step(*name), Verdict::Stop(_)));
        prop_assert!(stopped);
    }
}
