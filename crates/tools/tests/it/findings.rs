//! Notes while planning.

use rail_permit::Mode;
use rail_tool::{Finding, OutputNote};
use serde_json::json;

use crate::scratch::Scratch;

fn finding(number: u64, text: &str, file: Option<&str>) -> Finding {
    Finding { number, text: text.to_owned(), file: file.map(str::to_owned) }
}

/// A session in plan mode with three notes.
fn three() -> Scratch {
    let scratch = Scratch::new();
    scratch.executor.change_policy(|policy| policy.mode = Mode::Plan);
    for input in [
        json!({"action": "add", "text": " The cache grows. ", "file": "src/cache.rs:40"}),
        json!({"action": "add", "text": "Nobody\ncalls it.", "file": "src/cache.rs"}),
        json!({"action": "add", "text": "Tests need a clock."}),
    ] {
        assert!(scratch.run("findings", &input).success());
    }
    scratch
}

#[test]
fn notes_are_kept_and_listed() {
    let scratch = three();
    assert_eq!(
        scratch.says("findings", &json!({"action": "list"})),
        "ok: 3 findings:\n1. `src/cache.rs:40`: The cache grows.\n2. `src/cache.rs`: Nobody\ncalls it.\n3. Tests need a clock."
    );
    assert_eq!(
        scratch.says("findings", &json!({"action": "list", "file": "src/cache.rs"})),
        "ok: 2 findings:\n1. `src/cache.rs:40`: The cache grows.\n2. `src/cache.rs`: Nobody\ncalls it."
    );
    assert_eq!(
        scratch.says("findings", &json!({"action": "list", "file": "src/cache"})),
        "ok: There are no findings about `src/cache`, of 3 findings in all."
    );
}

#[test]
fn every_change_is_told_to_the_session() {
    let scratch = three();
    let outcome = scratch.run("findings", &json!({"action": "remove", "number": 2}));
    assert_eq!(outcome.text(), "Finding 2 is removed, 2 left.");
    let left = vec![
        finding(1, "The cache grows.", Some("src/cache.rs:40")),
        finding(3, "Tests need a clock.", None),
    ];
    assert_eq!(outcome.notes, [OutputNote::Findings(left.clone())]);
    assert_eq!(rail_tools::findings(&scratch.session), left);
    assert_eq!(scratch.run("findings", &json!({"action": "list"})).notes, []);
    // A session that goes on has them again.
    let later = Scratch::new();
    outcome.notes.iter().for_each(|note| rail_tools::recall(&later.session, note));
    assert_eq!(rail_tools::findings(&later.session), left);
    let said = later.run("findings", &json!({"action": "add", "text": "More"})).text();
    assert!(said.starts_with("Noted as finding 4."), "{said}");
    assert_eq!(scratch.says("findings", &json!({"action": "clear"})), "ok: 2 findings removed.");
    assert_eq!(scratch.says("findings", &json!({"action": "list"})), "ok: There are no findings yet.");
}

#[test]
fn a_note_is_kept_once() {
    let scratch = three();
    let again = json!({"action": "add", "text": "The cache grows.", "file": "src/cache.rs:40"});
    assert_eq!(scratch.says("findings", &again), "ok: That is finding 1 already.");
    assert_eq!(rail_tools::findings(&scratch.session).len(), 3);
}

#[test]
fn what_can_t_be_done_says_why() {
    let scratch = three();
    let cases = [
        (json!({"action": "add"}), "nothing was noted: `add` needs `text`, what you found out"),
        (json!({"action": "add", "text": " "}), "nothing was noted: `add` needs `text`, what you found out"),
        (
            json!({"action": "add", "text": "ä".repeat(2_001)}),
            "nothing was noted: it has 2,001 characters of 2,000 at most; say it shorter, and name the file",
        ),
        (
            json!({"action": "remove"}),
            "nothing was removed: `remove` needs `number`; `list` shows the numbers",
        ),
        (
            json!({"action": "remove", "number": 9}),
            "nothing was removed: there is no finding 9; `list` shows the numbers",
        ),
    ];
    for (input, why) in cases {
        assert_eq!(scratch.says("findings", &input), format!("error: {why}"));
    }
    assert_eq!(rail_tools::findings(&scratch.session).len(), 3);
}

#[test]
fn notes_are_bounded() {
    let scratch = Scratch::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let add = |text: String| {
        let input = json!({"action": "add", "text": text});
        runtime.block_on(scratch.call("findings", &input, &tokio_util::sync::CancellationToken::new()))
    };
    for nth in 0..200 {
        assert!(add(format!("{nth} {}", "x".repeat(1_990))).success());
    }
    let refused = add("one more".to_owned()).text();
    assert_eq!(
        refused,
        "nothing was noted: there are 200, which is the most; remove some that do not matter"
    );
    let listed = scratch.run("findings", &json!({"action": "list"})).text();
    assert!(
        listed.chars().count() < 31_000 && listed.contains("the whole output is in `"),
        "{}",
        listed.len()
    );
}
