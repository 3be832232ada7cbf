//! A whole task by keystrokes.

use rail_testkit::{Models, Turn, call, text};
use serde_json::json;

use super::pane::{Pane, home, is_there};

/// A line of code that is longer than any terminal here is wide.
fn long_code() -> String {
    format!("let all = [{}];", (100..140).map(|number| number.to_string()).collect::<Vec<_>>().join(", "))
}

#[test]
fn a_task_is_done_by_keys_and_copied_from_the_scrollback() {
    if !is_there() {
        return;
    }
    let code = long_code();
    let models = Models::start(vec![
        Turn::reply(vec![
            text("First the greeting."),
            call(
                "edit_file",
                json!({"file_path": "a.txt", "old_string": "hello", "new_string": "hello, world"}),
            ),
        ]),
        Turn::reply(vec![call("bash", json!({"command": "rm -r old"}))]),
        Turn::reply(vec![text(format!(
            "So it is:\n\n```rust\n{code}\n\tif x {{ y() }}\n```\n\n- one\n- two\n"
        ))]),
        Turn::echo().repeat(),
    ])
    .unwrap();
    let home = home(&models);
    home.write("work/a.txt", "say hello\n");
    home.write("work/old/kept.txt", "kept\n");
    let pane = Pane::with_rail(home, 80, 24);
    // The file has to be known before it is changed, so it is named.
    pane.types("change the greeting of @a.t");
    pane.sees("› a.txt");
    pane.presses("Tab");
    pane.presses("Enter");
    pane.sees("Change ");
    pane.sees("+ say hello, world");
    pane.sees("1. Yes, this once");
    // Keys answer once there was time to read.
    pane.sees("enter chooses");
    pane.presses("1");
    pane.sees("Run this command?");
    pane.sees("rm -r old");
    pane.sees("enter chooses");
    // The last answer takes words.
    pane.presses("Up");
    pane.presses("Enter");
    pane.types("keep it, it is needed");
    pane.presses("Enter");
    pane.sees("two");
    pane.sees("what is to be done?");
    assert_eq!(pane.home.read("work/a.txt"), "say hello, world\n");
    assert_eq!(pane.home.read("work/old/kept.txt"), "kept\n");
    let asked = models.requests();
    let last = format!("{:?}", asked.last().unwrap().request().unwrap());
    assert!(last.contains("keep it, it is needed"), "the model is told why not: {last}");
    let copied = pane.copied();
    for once in ["First the greeting.", &code, "    if x { y() }", "- one", "change the greeting of @a.txt"] {
        let lines = copied.lines().filter(|line| line.trim_end().ends_with(once)).count();
        assert_eq!(lines, 1, "{once:?} in\n{copied}");
    }
    assert!(
        copied.lines().any(|line| line == code),
        "code is copied as it is, without anything before it:\n{copied}"
    );
}

#[test]
fn another_size_in_the_middle_of_an_answer_leaves_nothing_behind() {
    if !is_there() {
        return;
    }
    let words = (1..=60).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
    let models = Models::start(vec![
        Turn::reply(vec![text(format!("Begin.\n\n{words}"))]).reached("begun").gate_before_end("on"),
        Turn::echo().repeat(),
    ])
    .unwrap();
    let pane = Pane::with_rail(home(&models), 100, 30);
    pane.types("go");
    pane.presses("Enter");
    models.wait_for("begun");
    pane.sees("word60");
    for (columns, rows) in [("50", "20"), ("120", "35"), ("40", "12"), ("100", "30")] {
        pane.tmux(&["resize-window", "-x", columns, "-y", rows]);
        pane.sees("word60");
        pane.until("one input line", |screen| screen.matches("say more").count() == 1);
    }
    models.open("on");
    pane.sees("what is to be done?");
    let copied = pane.copied();
    assert_eq!(copied.matches("word60").count(), 1, "{copied}");
    assert_eq!(copied.matches("what is to be done?").count(), 1, "{copied}");
    assert_eq!(copied.matches("esc interrupts").count(), 0, "{copied}");
}

#[test]
fn what_is_typed_meanwhile_is_taken_in_and_escape_interrupts() {
    if !is_there() {
        return;
    }
    let models = Models::start(vec![
        Turn::reply(vec![text("one moment")]).reached("begun").gate_before_end("on"),
        Turn::stall(vec![text("never")]).reached("again"),
        Turn::echo().repeat(),
    ])
    .unwrap();
    let pane = Pane::with_rail(home(&models), 80, 24);
    pane.types("begin");
    pane.presses("Enter");
    models.wait_for("begun");
    pane.types("and also this");
    pane.presses("Enter");
    pane.sees("queued: and also this");
    models.open("on");
    models.wait_for("again");
    pane.until("the queue is empty", |screen| !screen.contains("queued:"));
    pane.presses("Escape");
    pane.sees("interrupted");
    pane.sees("what is to be done?");
}
