//! What is written to the terminal while an answer streams in: little, nothing twice, and nothing where nothing changed.

use std::num::NonZero;
use std::time::Duration;

use rail_proto::{Prompt, SessionEvent};
use rail_tui::screen::{Live, Screen, Size};
use rail_tui::text::{Line, Role, Span};
use rail_tui::theme::Theme;
use rail_tui::{App, Start};

const SIZE: Size = Size { columns: 60, rows: 20 };
const WORDS: &str =
    "The parser keeps each line of its input until it is complete, and *then* hands it to the session. ";

/// An interface and the terminal it writes to.
struct Shown {
    app: App,
    screen: Screen,
    terminal: vt100::Parser,
}

impl Shown {
    fn new() -> Self {
        let cells = |count: u16| NonZero::<u16>::MIN.saturating_add(count - 1);
        let terminal = vt100::Parser::new(cells(20), cells(60), 10_000);
        let mut shown =
            Self { app: App::new(Start::default(), SIZE), screen: Screen::new(SIZE, Theme::Dark), terminal };
        shown.app.event(&SessionEvent::Prompted(Prompt::text("go on")), Duration::ZERO);
        shown.say("");
        shown.frame(Duration::ZERO);
        shown
    }

    fn say(&mut self, text: &str) {
        self.app.event(&SessionEvent::Text { step: 1, text: text.to_owned() }, Duration::ZERO);
    }

    fn frame(&mut self, now: Duration) -> usize {
        let finished = self.app.take_finished();
        let bytes = self.screen.frame(&finished, &self.app.live(now));
        self.terminal.process(bytes.as_bytes());
        bytes.len()
    }

    /// What each frame writes, with a frame for each piece of four characters.
    fn stream(&mut self, text: &str) -> Vec<usize> {
        let chars: Vec<char> = text.chars().collect();
        let piece = |piece: &[char]| {
            self.say(&piece.iter().collect::<String>());
            self.frame(Duration::ZERO)
        };
        chars.chunks(4).map(piece).collect()
    }

    /// All rows, with those that were scrolled off.
    fn everything(&mut self) -> Vec<String> {
        self.terminal.screen_mut().set_scrollback(usize::MAX);
        let mut left = self.terminal.screen().scrollback();
        let mut rows = Vec::new();
        while left > 0 {
            self.terminal.screen_mut().set_scrollback(left);
            rows.extend(self.terminal.screen().rows(0, 60).next());
            left -= 1;
        }
        self.terminal.screen_mut().set_scrollback(0);
        rows.extend(self.terminal.screen().rows(0, 60));
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }
}

fn mean(frames: &[usize]) -> usize {
    frames.iter().sum::<usize>() / frames.len()
}

#[test]
fn a_token_of_a_paragraph_takes_few_bytes() {
    let mut shown = Shown::new();
    let frames = shown.stream(&WORDS.repeat(6));
    assert!(mean(&frames) < 55, "{} bytes for a token", mean(&frames));
    assert!(frames.iter().all(|bytes| *bytes < 200), "{frames:?}");
}

#[test]
fn a_paragraph_that_is_longer_than_the_screen_is_moved_and_not_written_again() {
    let mut shown = Shown::new();
    let frames = shown.stream(&WORDS.repeat(60));
    assert!(mean(&frames) < 60, "{} bytes for a token", mean(&frames));
    // Rows fall elsewhere when the part of it that is still read begins further below.
    let many = frames.iter().filter(|bytes| **bytes > 150).count();
    assert!(many <= 3 && frames.iter().all(|bytes| *bytes < 600), "{frames:?}");
}

#[test]
fn rows_are_moved_also_when_the_sign_moves_with_them() {
    let mut shown = Shown::new();
    let text = (0..170).map(|nth| format!("word{nth} ")).collect::<String>();
    shown.stream(&text);
    for beat in 1..30 {
        shown.say(&format!("and{beat} more words for nearly one whole row of this screen "));
        let bytes = shown.frame(Duration::from_millis(120 * beat));
        assert!(bytes < 350, "{bytes} bytes for one more row at beat {beat}");
    }
}

#[test]
fn what_is_finished_is_not_written_again() {
    let mut shown = Shown::new();
    shown.stream(&WORDS.repeat(6));
    shown.say("\n");
    shown.frame(Duration::ZERO);
    shown.say("\n# ");
    let bytes = shown.frame(Duration::ZERO);
    assert!(bytes < 100, "{bytes} bytes to finish a paragraph that is seen");
    let frames = shown
        .stream("Code\n\n```rust\nfn main() {\n    let line = one(2);\n    println!(\"{line}\");\n}\n```\n");
    assert!(mean(&frames) < 80, "{} bytes for a token of code", mean(&frames));
}

#[test]
fn a_sign_that_moves_takes_few_bytes_and_what_rests_none() {
    let mut shown = Shown::new();
    shown.stream(WORDS);
    for beat in 1..30 {
        let now = Duration::from_millis(120 * beat);
        let bytes = shown.frame(now);
        assert!((1..100).contains(&bytes), "{bytes} bytes at {now:?}");
        assert_eq!(shown.frame(now), 0, "nothing changed");
    }
}

#[test]
fn however_it_streams_the_terminal_shows_the_same() {
    let table: String = (0..40).map(|nth| format!("| {nth} | {} |\n", "word ".repeat(nth % 9))).collect();
    let long = "let a_very_long_line = of_code(that, the, terminal, folds, itself, since, it_is, copied);";
    let text = format!(
        "# One\n\n{}\n\n- item\n- {WORDS}\n\n```rust\nfn f() {{\n{long}\n}}\n```\n\n| a | b |\n|--|--|\n{table}\n日本語の文章{}\n\nend",
        WORDS.repeat(30),
        "も同じように折り返されます".repeat(20),
    );
    let mut whole = Shown::new();
    whole.say(&text);
    whole.frame(Duration::ZERO);
    let all = whole.everything();
    for size in [1, 3, 7, 50, 400] {
        let mut shown = Shown::new();
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(size) {
            shown.say(&piece.iter().collect::<String>());
            shown.frame(Duration::ZERO);
        }
        let seen = shown.everything();
        let first = seen.iter().zip(&all).position(|(seen, all)| seen != all);
        assert_eq!(seen, all, "in pieces of {size}, from row {first:?}");
    }
}

#[test]
fn another_theme_is_seen_at_once() {
    let live = Live {
        lines: vec![Line::new([Span::new("sign", Role::Accent), Span::plain(" text")])],
        cursor: None,
    };
    let mut screen = Screen::new(SIZE, Theme::Dark);
    screen.frame(&[], &live);
    screen.set_theme(Theme::Light);
    let bytes = screen.frame(&[], &live);
    assert!(bytes.contains(&Theme::Light.sgr(Role::Accent.into())), "{bytes:?}");
    assert_eq!(screen.frame(&[], &live), "");
}
