//! A fault of the program itself does not leave a broken terminal.

use rail_testkit::{Models, Turn};
use rail_tui::{Start, Wires};
use tokio::sync::mpsc;

use super::leaving::is_given_back;
use super::pane::{Pane, home, is_there};

/// Says that the test runs inside of the terminal, where it plays the interface that breaks.
const INSIDE: &str = "RAIL_TEST_BREAKS_INSIDE";

#[test]
#[expect(clippy::disallowed_methods, reason = "the test starts itself in another terminal")]
fn a_panic_is_told_on_a_terminal_that_was_given_back() {
    if std::env::var_os(INSIDE).is_some() {
        return breaks();
    }
    if !is_there() {
        return;
    }
    let models = Models::start(vec![Turn::echo().repeat()]).unwrap();
    let pane = Pane::open(home(&models), 100, 30);
    let itself = std::env::current_exe().unwrap();
    let test = "tmux::panic::a_panic_is_told_on_a_terminal_that_was_given_back";
    pane.types(&format!("{INSIDE}=1 {} --exact --nocapture {test}", itself.display()));
    pane.presses("Enter");
    pane.sees("what is to be done?");
    pane.presses("C-g");
    pane.sees("a fault of our own");
    is_given_back(&pane);
}

/// An interface whose editor breaks.
fn breaks() {
    let (commands, _of_commands) = mpsc::unbounded_channel();
    let (_events_to, events) = mpsc::unbounded_channel();
    let (wants, _of_wants) = mpsc::unbounded_channel();
    let (_news_to, news) = mpsc::unbounded_channel();
    let edit: rail_tui::EditText = Box::new(|_| panic!("a fault of our own"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let wires = Wires { commands, events, wants, news, edit };
    runtime.block_on(rail_tui::run(Start::default(), None, wires)).unwrap();
}
