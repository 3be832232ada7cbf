//! Keys that were meant for the input line answer no question.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rail_proto::{Answer, Command, SessionEvent};
use rail_tui::screen::Size;
use rail_tui::{App, Out};

use crate::screens_ask::command;
use crate::screens_script::start;

#[test]
fn a_question_that_comes_up_while_somebody_types_is_not_answered_by_it() {
    let mut app = App::new(start(), Size { columns: 80, rows: 24 });
    let press = |app: &mut App, c: char, ms: u64| {
        app.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), Duration::from_millis(ms));
        app.take_out()
    };
    press(&mut app, 'a', 1_000);
    app.event(&SessionEvent::Permission(command()), Duration::from_millis(1_050));
    assert_eq!(press(&mut app, '1', 1_100), [], "it goes on with what is typed");
    let answers = press(&mut app, '1', 3_000);
    let [Out::Send(Command::Answer { answer: Answer::Once, .. })] = answers.as_slice() else {
        panic!("after a pause it answers: {answers:?}")
    };
}
