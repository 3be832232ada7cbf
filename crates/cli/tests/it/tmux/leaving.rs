//! The terminal is given back, whatever happens.

use std::path::Path;

use rail_testkit::{Models, Turn, call, text};
use serde_json::json;

use super::pane::{Pane, home, is_there, wait};

/// Whether the shell has its terminal as it was: it echoes, and the cursor is there.
pub(super) fn is_given_back(pane: &Pane) {
    pane.until("the shell", |screen| screen.trim_end().ends_with("shell>"));
    pane.types("stty -a | tr ';' '\\n' | grep -o -w -E '.?(icanon|echo|isig)' | tr '\\n' ' '");
    pane.presses("Enter");
    pane.sees("isig icanon echo");
    assert_eq!(
        pane.tmux(&["display-message", "-p", "#{cursor_flag}#{bracket_paste_flag}"]).trim().get(..1),
        Some("1")
    );
}

#[test]
fn ctrl_c_twice_and_ctrl_d_end_it() {
    if !is_there() {
        return;
    }
    let models = Models::start(vec![Turn::echo().repeat()]).unwrap();
    let pane = Pane::with_rail(home(&models), 80, 24);
    pane.presses("C-c");
    pane.sees("ctrl+c once more ends");
    pane.presses("C-c");
    is_given_back(&pane);
    pane.tmux(&["clear-history"]);
    pane.presses("C-l");
    pane.rail("-c");
    pane.until("no session yet", |screen| {
        screen.contains("there is no session") || screen.contains("what is to be done?")
    });
    pane.rail("");
    pane.sees("what is to be done?");
    pane.presses("C-d");
    is_given_back(&pane);
}

#[test]
fn a_signal_ends_it_and_gives_the_terminal_back() {
    if !is_there() {
        return;
    }
    for signal in ["TERM", "HUP", "INT", "QUIT"] {
        let models =
            Models::start(vec![Turn::stall(vec![text("half an")]).reached("begun"), Turn::echo().repeat()])
                .unwrap();
        let pane = Pane::with_rail(home(&models), 80, 24);
        pane.types("go");
        pane.presses("Enter");
        models.wait_for("begun");
        pane.sees("half an");
        kill(signal, &rail_in(&pane));
        is_given_back(&pane);
    }
}

#[test]
fn what_is_switched_on_is_switched_off_as_often() {
    if !is_there() {
        return;
    }
    let models = Models::start(vec![Turn::echo().repeat()]).unwrap();
    let pane = Pane::open(home(&models), 80, 24);
    let written = pane.home.path("written");
    pane.tmux(&["pipe-pane", "-o", &format!("cat > {}", written.display())]);
    pane.rail("");
    pane.sees("what is to be done?");
    let goes_on = |typed: &str| {
        pane.until("the shell", |screen| screen.trim_end().ends_with("shell>"));
        pane.types("clear; fg");
        pane.presses("Enter");
        pane.types(typed);
        pane.sees(&format!("› {typed}"));
        pane.presses("C-c");
        pane.sees("what is to be done?");
    };
    for typed in ["once", "twice"] {
        pane.presses("C-z");
        pane.sees("Stopped");
        goes_on(typed);
    }
    // Stopped by somebody else it could give nothing back.
    kill("STOP", &rail_in(&pane));
    pane.sees("Stopped");
    goes_on("thrice");
    pane.presses("C-d");
    is_given_back(&pane);
    let all = || std::fs::read_to_string(&written).unwrap_or_default();
    wait(|| all().contains("isig icanon echo"), all);
    let all = all();
    let count = |sequence: &str| all.matches(sequence).count();
    assert_eq!(count("\u{1b}[>1u"), count("\u{1b}[<u"), "{all:?}");
    assert!(count("\u{1b}[<u") >= 4, "{all:?}");
}

#[test]
fn it_is_suspended_and_goes_on() {
    if !is_there() {
        return;
    }
    let models = Models::start(vec![Turn::echo().repeat()]).unwrap();
    let pane = Pane::with_rail(home(&models), 80, 24);
    pane.types("half a thought");
    pane.sees("half a thought");
    pane.presses("C-z");
    pane.sees("Stopped");
    pane.types("echo the shell is here");
    pane.presses("Enter");
    pane.until("the shell's answer", |screen| screen.lines().any(|line| line == "the shell is here"));
    pane.types("fg");
    pane.presses("Enter");
    pane.until("the input line again", |screen| {
        screen.trim_end().lines().rev().take(3).any(|line| line.starts_with("› half a thought"))
    });
    pane.types(" goes on");
    pane.presses("Enter");
    pane.until("the answer", |screen| screen.matches("half a thought goes on").count() >= 2);
}

#[test]
fn it_ends_with_its_terminal_and_leaves_no_process() {
    if !is_there() {
        return;
    }
    let models = Models::start(vec![
        Turn::reply(vec![call("bash", json!({"command": "sleep 600", "run_in_background": true}))]),
        Turn::echo().repeat(),
    ])
    .unwrap();
    let home = super::pane::home_with(&models, "[permissions]\nallow = [\"Bash(sleep:*)\"]\n");
    let pane = Pane::with_rail(home, 80, 24);
    pane.types("wait");
    pane.presses("Enter");
    pane.sees("& sleep 600");
    let shell = pane.tmux(&["display-message", "-p", "#{pane_pid}"]).trim().to_owned();
    let rail = rail_in(&pane);
    let sleeping = children_of(&rail);
    assert!(!sleeping.is_empty(), "the command runs below rail");
    kill("KILL", &shell);
    for process in std::iter::once(rail).chain(sleeping) {
        wait(|| !Path::new("/proc").join(&process).exists(), || format!("process {process} to end"));
    }
}

#[expect(clippy::disallowed_methods, reason = "a signal is sent by another process, as a user does")]
fn kill(signal: &str, process: &str) {
    let sent = std::process::Command::new("kill").args([&format!("-{signal}"), process]).status().unwrap();
    assert!(sent.success());
}

/// The interface's process.
fn rail_in(pane: &Pane) -> String {
    child_of(pane.tmux(&["display-message", "-p", "#{pane_pid}"]).trim())
}

/// The one process that this one started.
fn child_of(process: &str) -> String {
    let children = children_of(process);
    assert_eq!(children.len(), 1, "children of {process}: {children:?}");
    children.into_iter().next().unwrap()
}

fn children_of(process: &str) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let of = |thread: std::fs::DirEntry| {
        std::fs::read_to_string(thread.path().join("children")).unwrap_or_default()
    };
    let all: String = threads.filter_map(Result::ok).map(of).collect();
    all.split_whitespace().map(str::to_owned).collect()
}
