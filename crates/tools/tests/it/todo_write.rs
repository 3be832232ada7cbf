//! The list of things to do.

use rail_permit::Mode;
use rail_tool::{Display, OutputNote, Todo, TodoStatus};
use serde_json::{Value, json};

use crate::scratch::Scratch;

fn list(entries: &[(&str, &str)]) -> Value {
    let todos: Vec<Value> = entries
        .iter()
        .map(|(content, status)| json!({"content": content, "status": status, "activeForm": format!("{content}ing")}))
        .collect();
    json!({ "todos": todos })
}

fn marked(scratch: &Scratch) -> Vec<String> {
    rail_tools::todos(&scratch.session).iter().map(Todo::to_string).collect()
}

#[test]
fn each_list_replaces_the_one_before_and_is_told() {
    let scratch = Scratch::new();
    let said = scratch.says("todo_write", &list(&[("Read", "in_progress"), ("Fix", "pending")]));
    assert_eq!(said, "ok: The list has 2 entries now: 0 done, 1 in progress, 1 to do. Go on with: Read.");
    let outcome = scratch.run("TodoWrite", &list(&[("Read", "completed"), ("Fix", "pending")]));
    let todos: Vec<Todo> = [("Read", TodoStatus::Completed), ("Fix", TodoStatus::Pending)]
        .map(|(content, status)| Todo {
            content: content.to_owned(),
            status,
            active_form: Some(format!("{content}ing")),
        })
        .to_vec();
    assert_eq!(outcome.notes, [OutputNote::Todos(todos.clone())]);
    assert_eq!(outcome.display, Some(Display::Todos(todos.clone())));
    assert_eq!(rail_tools::todos(&scratch.session), todos);
    assert_eq!(
        outcome.text(),
        "The list has 2 entries now: 1 done, 0 in progress, 1 to do. Next: Fix. Mark it `in_progress` when you begin it."
    );
}

#[test]
fn the_result_says_how_to_go_on() {
    let scratch = Scratch::new();
    let cases: [(&[(&str, &str)], &str); 3] = [
        (&[], "ok: The list is empty now."),
        (&[("Read", "completed")], "ok: The list has 1 entry now: 1 done, 0 in progress, 0 to do."),
        (
            &[("Read", "in_progress"), ("Fix", "in_progress")],
            "ok: The list has 2 entries now: 0 done, 2 in progress, 0 to do. Work on one thing at a time: keep one entry `in_progress`.",
        ),
    ];
    for (entries, expected) in cases {
        assert_eq!(scratch.says("todo_write", &list(entries)), expected);
    }
}

#[test]
fn a_list_that_can_t_be_shown_leaves_the_one_before() {
    let scratch = Scratch::new();
    scratch.run("todo_write", &list(&[("Read", "in_progress")]));
    assert_eq!(
        scratch.says("todo_write", &list(&[("Fix", "pending"), ("  ", "pending")])),
        "error: the list was left as it is: entry 2 has no `content`: say what to do, or leave it out"
    );
    assert_eq!(
        scratch.says("todo_write", &list(&[("Fix ", "pending"), ("Test", "pending"), (" Fix", "completed")])),
        "error: the list was left as it is: entries 1 and 3 are both `Fix`: write each thing once"
    );
    let said = scratch.says("todo_write", &list(&[("Fix", "someday")]));
    assert!(said.starts_with("error: ") && said.contains("in_progress"), "{said}");
    assert_eq!(marked(&scratch), ["[>] Reading"]);
}

#[test]
fn lists_of_other_dialects_come_home() {
    let scratch = Scratch::new();
    let gemini = json!({"todos": [{"description": "Fix", "status": "in_progress"}]});
    assert!(scratch.run("write_todos", &gemini).success());
    assert_eq!(marked(&scratch), ["[>] Fix"]);
    let codex =
        json!({"plan": [{"step": "Test", "status": "completed"}, {"step": "Tell", "status": "pending"}]});
    assert!(scratch.run("update_plan", &codex).success());
    assert_eq!(marked(&scratch), ["[x] Test", "[ ] Tell"]);
}

#[test]
fn it_needs_no_leave_in_any_mode() {
    let scratch = Scratch::new();
    for mode in [Mode::Default, Mode::AcceptEdits, Mode::Plan, Mode::Bypass] {
        scratch.executor.change_policy(|policy| policy.mode = mode);
        assert!(scratch.run("todo_write", &list(&[("Read", "pending")])).success(), "{mode:?}");
    }
}

#[test]
fn a_session_that_goes_on_has_its_list_again() {
    let (before, after) = (Scratch::new(), Scratch::new());
    let notes = before.run("todo_write", &list(&[("Read", "completed"), ("Fix", "pending")])).notes;
    notes.iter().for_each(|note| rail_tools::recall(&after.session, note));
    assert_eq!(marked(&after), ["[x] Read", "[ ] Fix"]);
}
