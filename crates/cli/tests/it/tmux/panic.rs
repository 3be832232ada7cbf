//! A fault of the program itself does not leave a broken terminal.

use rail_testkit::{Models, Turn};
use rail_tui::{EditText, Start, Wires};
use tokio::sync::mpsc;

use super::leaving::is_given_back;
use super::pane::{Pane, home, is_there};

/// Says that the test runs inside of the terminal, where it plays the interface that breaks.
const INSIDE: &str = "RAIL_TEST_BREAKS_INSIDE";

/// A terminal in which a test plays an interface; None where this is inside of it, or there is none.
#[expect(clippy::disallowed_methods, reason = "the test starts itself in another terminal")]
fn outside(test: &str, inside: impl FnOnce() -> EditText) -> Option<Pane> {
    if std::env::var_os(INSIDE).is_some() {
        play(inside());
        return None;
    }
    if !is_there() {
        return None;
    }
    let models = Models::start(vec![Turn::echo().repeat()]).unwrap();
    let pane = Pane::open(home(&models), 100, 30);
    let itself = std::env::current_exe().unwrap();
    pane.types(&format!("{INSIDE}=1 {} --exact --nocapture tmux::panic::{test}", itself.display()));
    pane.presses("Enter");
    pane.sees("what is to be done?");
    Some(pane)
}

#[test]
fn a_panic_is_told_on_a_terminal_that_was_given_back() {
    let breaks = || -> EditText { Box::new(|_| panic!("a fault of our own")) };
    let Some(pane) = outside("a_panic_is_told_on_a_terminal_that_was_given_back", breaks) else { return };
    pane.presses("C-g");
    pane.sees("a fault of our own");
    is_given_back(&pane);
}

#[test]
fn a_panic_elsewhere_is_told_and_the_interface_goes_on() {
    let breaks = || -> EditText {
        Box::new(|text| {
            Box::pin(async move {
                let broken = tokio::spawn(async { panic!("a fault of a task") }).await;
                assert!(broken.is_err());
                Ok(text)
            })
        })
    };
    let Some(pane) = outside("a_panic_elsewhere_is_told_and_the_interface_goes_on", breaks) else { return };
    pane.types("half");
    pane.presses("C-g");
    pane.sees("a part of rail broke off: a fault of a task");
    pane.types(" a thought");
    pane.sees("› half a thought");
    assert!(!pane.screen().contains("panicked at"), "{}", pane.screen());
    pane.presses("C-c");
    pane.sees("what is to be done?");
    pane.presses("C-d");
    is_given_back(&pane);
}

/// An interface with this editor.
fn play(edit: EditText) {
    let (commands, _of_commands) = mpsc::unbounded_channel();
    let (_events_to, events) = mpsc::unbounded_channel();
    let (wants, _of_wants) = mpsc::unbounded_channel();
    let (_news_to, news) = mpsc::unbounded_channel();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let wires = Wires { commands, events, wants, news, edit };
    runtime.block_on(rail_tui::run(Start::default(), None, wires)).unwrap();
}
