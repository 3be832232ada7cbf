//! The screen on a real terminal emulator.

use std::num::NonZero;

use proptest::prelude::*;
use rail_tui::screen::{Live, Screen, Size};
use rail_tui::text::{Line, Role, Span};
use rail_tui::theme::Theme;

/// A terminal, and what is known of it.
struct Pair {
    screen: Screen,
    terminal: vt100::Parser,
    written: usize,
}

fn terminal(rows: u16, columns: u16) -> vt100::Parser {
    let cells = |count: u16| NonZero::new(count).unwrap_or(NonZero::<u16>::MIN);
    vt100::Parser::new(cells(rows), cells(columns), 10_000)
}

impl Pair {
    fn new(rows: u16, columns: u16) -> Self {
        let size = Size { columns: columns.into(), rows: rows.into() };
        let screen = Screen::new(size, Theme::Dark);
        Self { screen, terminal: terminal(rows, columns), written: 0 }
    }

    fn frame(&mut self, done: &[&str], live: &[&str], cursor: Option<(usize, usize)>) {
        let lines =
            |texts: &[&str]| -> Vec<Line> { texts.iter().map(|text| Line::of(text, Role::Plain)).collect() };
        let bytes = self.screen.frame(&lines(done), &Live { lines: lines(live), cursor });
        self.written = bytes.len();
        self.terminal.process(bytes.as_bytes());
    }

    /// What is seen, without empty rows below.
    fn seen(&self) -> String {
        self.terminal.screen().contents().trim_end().to_owned()
    }

    /// All there is, scrolled-off rows included.
    fn everything(&mut self) -> Vec<String> {
        let columns = self.terminal.screen().size().1;
        let mut rows = Vec::new();
        self.terminal.screen_mut().set_scrollback(usize::MAX);
        let mut left = self.terminal.screen().scrollback();
        while left > 0 {
            self.terminal.screen_mut().set_scrollback(left);
            rows.extend(self.terminal.screen().rows(0, columns.into()).next());
            left -= 1;
        }
        self.terminal.screen_mut().set_scrollback(0);
        rows.extend(self.terminal.screen().rows(0, columns.into()));
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

#[test]
fn finished_lines_go_to_the_scrollback_and_the_live_region_stays_below() {
    let mut pair = Pair::new(5, 20);
    pair.frame(&[], &["> ", "status"], Some((0, 2)));
    assert_eq!(pair.seen(), "> \nstatus".trim_end());
    assert_eq!(pair.terminal.screen().cursor_position(), (0, 2));
    for at in 0..10 {
        pair.frame(&[&format!("line {at}")], &["> ", "status"], Some((0, 2)));
    }
    assert_eq!(pair.seen(), "line 7\nline 8\nline 9\n> \nstatus");
    assert_eq!(pair.terminal.screen().cursor_position(), (3, 2));
    let all: Vec<String> = (0..10)
        .map(|at| format!("line {at}"))
        .chain(["> ".trim_end().to_owned(), "status".to_owned()])
        .collect();
    assert_eq!(pair.everything().iter().map(|row| row.trim_end().to_owned()).collect::<Vec<_>>(), all);
}

#[test]
fn of_a_row_that_grows_only_what_is_new_is_written() {
    let mut pair = Pair::new(5, 80);
    pair.frame(&[], &["The quick brown fox jumps over the lazy", "> ", "status"], Some((1, 2)));
    pair.frame(&[], &["The quick brown fox jumps over the lazy dog", "> ", "status"], Some((1, 2)));
    assert_eq!(pair.seen(), "The quick brown fox jumps over the lazy dog\n> \nstatus");
    assert!(pair.written < 60, "{} bytes for four letters", pair.written);
    pair.frame(&[], &["The quick brown fox jumps over the lazy dog", "> ", "status"], Some((1, 2)));
    assert_eq!(pair.written, 0);
}

#[test]
fn a_live_region_that_shrinks_leaves_nothing_behind() {
    let mut pair = Pair::new(6, 20);
    pair.frame(&[], &["a", "b", "c", "d"], Some((3, 1)));
    pair.frame(&[], &["x"], Some((0, 1)));
    assert_eq!(pair.seen(), "x");
    pair.frame(&["done"], &["y", "z"], None);
    assert_eq!(pair.seen(), "done\ny\nz");
    assert!(pair.terminal.screen().hide_cursor());
}

#[test]
fn what_does_not_fit_shows_its_end() {
    let mut pair = Pair::new(3, 10);
    pair.frame(&[], &["1", "2", "3", "4", "0123456789abc"], Some((4, 12)));
    assert_eq!(pair.seen(), "4\n0123456789\nabc");
    assert_eq!(pair.terminal.screen().cursor_position(), (2, 2));
}

#[test]
fn leaving_gives_the_rows_back() {
    let mut pair = Pair::new(6, 20);
    pair.frame(&["kept"], &["a", "b"], Some((1, 0)));
    let bytes = pair.screen.leave();
    pair.terminal.process(bytes.as_bytes());
    assert_eq!(pair.seen(), "kept");
    assert_eq!(pair.terminal.screen().cursor_position(), (1, 0));
    assert!(!pair.terminal.screen().hide_cursor());
}

#[test]
fn long_code_is_one_line_of_the_terminal() {
    let mut pair = Pair::new(6, 10);
    pair.frame(&["0123456789abcdef", "next"], &["> "], Some((0, 2)));
    assert!(pair.terminal.screen().row_wrapped(0), "the terminal wrapped it, so that it is copied whole");
    assert_eq!(pair.seen(), "0123456789abcdef\nnext\n>");
}

#[test]
fn a_row_at_the_edge_keeps_its_last_cell() {
    let mut pair = Pair::new(4, 10);
    pair.frame(&[], &["012345678", "> "], Some((1, 2)));
    pair.frame(&[], &["0123456789", "> "], Some((1, 2)));
    assert_eq!(pair.seen(), "0123456789\n>");
    pair.frame(&[], &["012345678X", "> "], Some((1, 2)));
    assert_eq!(pair.seen(), "012345678X\n>");
    pair.frame(&[], &["日本日本日", "> "], Some((1, 2)));
    pair.frame(&[], &["日本日本x", "> "], Some((1, 2)));
    assert_eq!(pair.seen(), "日本日本x\n>");
}

#[test]
fn joined_signs_leave_nothing_behind() {
    // This terminal gives the first sign four cells, and a heart one.
    for sign in ["👩\u{200d}💻", "❤\u{fe0f}"] {
        let mut pair = Pair::new(4, 20);
        pair.frame(&[], &[&format!("{sign} abcd"), "> "], Some((1, 2)));
        pair.frame(&[], &[&format!("{sign} abxy"), "> "], Some((1, 2)));
        assert_eq!(pair.seen(), format!("{sign} abxy\n>"));
        pair.frame(&[], &[&format!("{sign} a"), "> "], Some((1, 2)));
        assert_eq!(pair.seen(), format!("{sign} a\n>"));
    }
}

proptest! {
    /// Whatever was shown before, a frame shows what it says, and finished lines stay in order.
    #[test]
    fn frames_show_what_they_say(
        frames in prop::collection::vec(
            (prop::collection::vec("[a-z]{0,9}", 0..3), prop::collection::vec("[a-z日é ]{0,14}", 1..5), 0usize..5),
            1..12,
        )
    ) {
        let mut pair = Pair::new(8, 10);
        let mut finished = Vec::new();
        for (done, live, row) in &frames {
            let row = row % live.len();
            let done: Vec<&str> = done.iter().map(String::as_str).collect();
            let live: Vec<&str> = live.iter().map(String::as_str).collect();
            pair.frame(&done, &live, Some((row, 0)));
            finished.extend(done.iter().map(|line| (*line).to_owned()));
            let mut fresh = Pair::new(8, 10);
            let texts: Vec<&str> = finished.iter().map(String::as_str).collect();
            fresh.frame(&texts, &live, Some((row, 0)));
            prop_assert_eq!(pair.everything(), fresh.everything());
        }
    }

    #[test]
    fn looks_do_not_leak(one in "[a-z]{1,5}", two in "[a-z]{1,5}") {
        let mut screen = Screen::new(Size { columns: 20, rows: 5 }, Theme::Dark);
        let mut shown = terminal(5, 20);
        let live = |text: &str, role| Live {
            lines: vec![Line::new([Span::new(text, role), Span::plain("|")]), Line::of("plain", Role::Plain)],
            cursor: None,
        };
        shown.process(screen.frame(&[], &live(&one, Role::Added)).as_bytes());
        shown.process(screen.frame(&[], &live(&two, Role::Removed)).as_bytes());
        let bar = two.len().try_into().unwrap_or(0);
        let cell = shown.screen().cell(0, bar).unwrap();
        prop_assert_eq!((cell.contents(), cell.bgcolor()), ("|", vt100::Color::Default));
        let cell = shown.screen().cell(0, 0).unwrap();
        prop_assert_eq!(cell.bgcolor(), vt100::Color::Idx(52));
    }
}
