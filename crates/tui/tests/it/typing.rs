//! Keys that were meant for the input line answer no question.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rail_proto::{Answer, Command, PermissionAsk, SessionEvent};
use rail_tui::screen::Size;
use rail_tui::{App, Out};

use crate::screens_ask::command;
use crate::screens_script::start;

/// An interface, and what has to be done outside after a key or a drawing at some millisecond.
struct Typist(App);

impl Typist {
    fn new() -> Self {
        Self(App::new(start(), Size { columns: 80, rows: 24 }))
    }

    fn press(&mut self, code: KeyCode, ms: u64) -> Vec<Out> {
        self.0.key(KeyEvent::new(code, KeyModifiers::NONE), Duration::from_millis(ms));
        self.draw(ms);
        self.0.take_out()
    }

    fn asked(&mut self, id: &str, ms: u64) {
        let ask = PermissionAsk { id: id.to_owned(), ..command() };
        self.0.event(&SessionEvent::Permission(ask), Duration::from_millis(ms));
        self.draw(ms);
    }

    fn draw(&mut self, ms: u64) -> String {
        let live = self.0.live(Duration::from_millis(ms));
        live.lines.iter().map(|line| line.text() + "\n").collect()
    }
}

fn is_yes(out: &[Out], id: &str) -> bool {
    matches!(out, [Out::Send(Command::Answer { ask, answer: Answer::Once })] if ask == id)
}

#[test]
fn a_question_that_comes_up_while_somebody_types_is_not_answered_by_it() {
    let mut typist = Typist::new();
    typist.press(KeyCode::Char('a'), 1_000);
    typist.asked("one", 1_050);
    assert_eq!(typist.press(KeyCode::Char('1'), 1_100), [], "it goes on with what is typed");
    assert!(typist.draw(1_200).contains("you type: a1"), "and is seen");
    assert!(is_yes(&typist.press(KeyCode::Char('1'), 3_000), "one"), "after a pause it answers");
}

#[test]
fn an_empty_line_is_no_leave_to_answer_what_nobody_has_read() {
    let mut typist = Typist::new();
    typist.asked("one", 1_000);
    assert_eq!(typist.press(KeyCode::Enter, 1_200), []);
    assert!(typist.draw(1_300).contains("keys answer in a moment"));
    assert!(typist.draw(2_000).contains("enter chooses"));
    assert!(is_yes(&typist.press(KeyCode::Enter, 2_000), "one"));
}

#[test]
fn a_held_key_answers_one_question() {
    let mut typist = Typist::new();
    typist.asked("one", 1_000);
    typist.asked("two", 1_000);
    assert!(is_yes(&typist.press(KeyCode::Enter, 2_000), "one"));
    for ms in (2_040..5_000).step_by(40) {
        assert_eq!(typist.press(KeyCode::Enter, ms), []);
    }
    assert!(is_yes(&typist.press(KeyCode::Enter, 6_000), "two"));
}

#[test]
fn an_open_list_keeps_its_keys() {
    let mut typist = Typist::new();
    for c in "/theme".chars() {
        typist.press(KeyCode::Char(c), 1_000);
    }
    typist.press(KeyCode::Enter, 1_000);
    typist.asked("one", 2_000);
    assert!(typist.draw(4_000).contains("a question waits"));
    for code in [KeyCode::Down, KeyCode::Down, KeyCode::Enter] {
        let out = typist.press(code, 5_000);
        assert!(!out.iter().any(|out| matches!(out, Out::Send(_))), "{out:?}");
    }
    assert!(is_yes(&typist.press(KeyCode::Char('1'), 7_000), "one"), "once it is left, keys answer");
}

#[test]
fn a_paste_while_a_question_is_open_is_kept_for_the_line() {
    let mut typist = Typist::new();
    typist.asked("one", 1_000);
    typist.draw(2_000);
    typist.0.paste("and also this");
    assert!(is_yes(&typist.press(KeyCode::Char('1'), 4_000), "one"));
    assert!(typist.draw(4_000).contains("and also this"));
}

#[test]
fn what_happens_meanwhile_stands_below_the_answer() {
    let mut typist = Typist::new();
    typist.asked("one", 1_000);
    let note = SessionEvent::Note { kind: rail_proto::NoteKind::Hook, text: "meanwhile".to_owned() };
    typist.0.event(&note, Duration::from_millis(1_500));
    let texts = |typist: &mut Typist| -> Vec<String> {
        typist.0.take_finished().iter().map(|line| line.text()).collect()
    };
    let before = texts(&mut typist);
    assert!(before.iter().any(|line| line.contains("Run this command?")), "{before:?}");
    assert!(!before.iter().any(|line| line.contains("meanwhile")), "{before:?}");
    typist.draw(2_000);
    typist.press(KeyCode::Char('1'), 3_000);
    let behind = texts(&mut typist);
    let at = |words: &str| behind.iter().position(|line| line.contains(words));
    assert!(at("yes, this once") < at("meanwhile") && at("meanwhile").is_some(), "{behind:?}");
}
