//! The interface for screen readers.

use rail_testkit::{Models, Turn, call, text};
use serde_json::json;

use super::pane::{Pane, home, is_there};

#[test]
fn on_a_simple_terminal_lines_are_only_added() {
    if !is_there() {
        return;
    }
    let models = Models::start(vec![
        Turn::reply(vec![call("bash", json!({"command": "touch made.txt"}))]),
        Turn::reply(vec![text("**Made** it.")]),
        Turn::echo().repeat(),
    ])
    .unwrap();
    let pane = Pane::open(home(&models), 100, 40);
    pane.types("export TERM=dumb; ");
    pane.rail("| tee all.txt");
    // Through a pipe there is no terminal, and that is said.
    pane.sees("there is no terminal here");
    pane.rail("");
    pane.until("a prompt", |screen| {
        screen.trim_end().ends_with('>') && !screen.trim_end().ends_with("shell>")
    });
    pane.types("make it");
    pane.presses("Enter");
    pane.sees("Run this command?");
    pane.sees("1. Yes, this once");
    pane.sees("Answer with a number, or in your own words.");
    pane.types("1");
    pane.presses("Enter");
    pane.sees("Made it.");
    assert!(pane.home.path("work/made.txt").exists());
    pane.types("/quit");
    pane.presses("Enter");
    pane.until("the shell", |screen| screen.trim_end().ends_with("shell>"));
}
