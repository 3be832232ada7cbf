//! What holds for any keys.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::collection::vec;
use proptest::prelude::*;
use rail_tui::input::{Editor, Handled, Keys};
use unicode_segmentation::GraphemeCursor;

use crate::keys::{LONG, image};

#[derive(Clone, Debug)]
enum Step {
    Key(KeyEvent),
    Paste(String),
    Attach,
    Replace(usize, usize, String),
    View(usize, usize),
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("a"),
        Just("B"),
        Just(" "),
        Just("\n"),
        Just("\t"),
        Just("."),
        Just("\""),
        Just("("),
        Just(")"),
        Just("é"),
        Just("e\u{301}"),
        Just("\u{301}"),
        Just("\u{200d}"),
        Just("👩"),
        Just("💻"),
        Just("🇩"),
        Just("日"),
        Just("\u{202e}"),
        Just("[Image #1]"),
        Just("\r"),
        Just("\u{1b}"),
    ];
    vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn key() -> impl Strategy<Value = KeyEvent> {
    use KeyCode::*;
    let named = prop_oneof![
        Just(Left),
        Just(Right),
        Just(Up),
        Just(Down),
        Just(Home),
        Just(End),
        Just(Backspace),
        Just(Delete),
        Just(Enter),
        Just(Esc)
    ];
    let modifiers = prop_oneof![
        4 => Just(KeyModifiers::NONE),
        2 => Just(KeyModifiers::CONTROL),
        2 => Just(KeyModifiers::ALT),
        1 => Just(KeyModifiers::SHIFT),
        1 => Just(KeyModifiers::CONTROL | KeyModifiers::SHIFT),
    ];
    let chars: Vec<char> =
        "abcdefghijklmnopqrstuvwxyzABCDEFGIJOPSTVWX0123$^~.;,\"([{_/ \u{301}\u{200d}👩💻🇩日"
            .chars()
            .collect();
    let typed = proptest::sample::select(chars).prop_map(Char);
    (prop_oneof![1 => named, 3 => typed], modifiers).prop_map(|(code, mods)| KeyEvent::new(code, mods))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => key().prop_map(Step::Key),
        2 => text().prop_map(Step::Paste),
        1 => Just(Step::Paste(LONG.to_owned())),
        1 => Just(Step::Attach),
        1 => (0_usize..40, 0_usize..40, text()).prop_map(|(from, to, text)| Step::Replace(from, to, text)),
        2 => (0_usize..12, 0_usize..4).prop_map(|(width, rows)| Step::View(width, rows)),
    ]
}

fn take(editor: &mut Editor, step: &Step) {
    match step {
        Step::Key(key) => {
            editor.key(*key);
        }
        Step::Paste(text) => editor.paste(text),
        Step::Attach => editor.attach(image("any")),
        Step::Replace(from, to, text) => editor.replace(*from..*to, text),
        Step::View(width, rows) => {
            editor.view(*width, *rows);
        }
    }
}

/// Where the labels of atoms are that only atoms can be: nothing here types `Pasted`.
fn pasted(text: &str) -> Vec<std::ops::Range<usize>> {
    let starts = text.match_indices("[Pasted text #").map(|(at, _)| at);
    starts.map(|at| at..at + text[at..].find(']').map_or(0, |end| end + 1)).collect()
}

fn sound(editor: &Editor) -> Result<(), TestCaseError> {
    let (text, cursor) = (editor.text(), editor.cursor());
    prop_assert!(text.is_char_boundary(cursor));
    prop_assert!(!text.contains(['\r', '\x1b']));
    let atoms = pasted(text);
    prop_assert!(atoms.iter().all(|atom| cursor <= atom.start || atom.end <= cursor), "{text:?} {cursor}");
    if !text.contains("[Image") {
        let start = atoms.iter().map(|atom| atom.end).filter(|end| *end <= cursor).max().unwrap_or(0);
        let end =
            atoms.iter().map(|atom| atom.start).filter(|start| *start >= cursor).min().unwrap_or(text.len());
        let bound = GraphemeCursor::new(cursor - start, end - start, true).is_boundary(&text[start..end], 0);
        prop_assert_eq!(bound, Ok(true), "{:?} {}", text, cursor);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_keys_leave_a_sound_text(
        is_vim in any::<bool>(), steps in vec(step(), 0..60), width in 1_usize..14, rows in 1_usize..5,
    ) {
        let mut editor = Editor::new(if is_vim { Keys::Vim } else { Keys::Usual });
        for step in &steps {
            take(&mut editor, step);
            sound(&editor)?;
        }
        let view = editor.view(width, rows);
        let (row, column) = view.cursor;
        prop_assert!(row < view.rows.len() && view.rows.len() <= rows && column < width, "{view:?}");
        // Where a character is as wide as it is shown at most, no row is wider than it may be.
        prop_assert!(width < 7 || view.rows.iter().all(|row| row.width() <= width), "{view:?}");
        let pastes = pasted(editor.text()).len();
        let typed = editor.take();
        prop_assert_eq!(typed.text.matches(LONG).count(), pastes);
        prop_assert!(editor.is_empty());
    }

    #[test]
    fn undo_leads_back_and_redo_forth(first in text(), steps in vec(step(), 0..40)) {
        let mut editor = Editor::new(Keys::Usual);
        editor.paste(&first);
        let first = editor.take().text;
        editor.set(&first);
        for step in &steps {
            take(&mut editor, step);
        }
        let last = editor.text().to_owned();
        let press = |editor: &mut Editor, c, mods| { editor.key(KeyEvent::new(KeyCode::Char(c), mods)); };
        for _ in 0..100 {
            press(&mut editor, '_', KeyModifiers::CONTROL);
            sound(&editor)?;
        }
        prop_assert_eq!(editor.text(), "");
        press(&mut editor, '_', KeyModifiers::ALT);
        if !first.is_empty() && !steps.iter().any(undoes) {
            prop_assert_eq!(editor.text(), &first);
        }
        for _ in 0..100 {
            press(&mut editor, '_', KeyModifiers::ALT);
            sound(&editor)?;
        }
        if !steps.iter().any(undoes) {
            prop_assert_eq!(editor.text(), &last);
        }
    }

    #[test]
    fn undo_leads_back_in_vim_too(steps in vec(step(), 0..40)) {
        let mut editor = Editor::new(Keys::Vim);
        for step in &steps {
            take(&mut editor, step);
        }
        for code in [KeyCode::Esc, KeyCode::Esc].into_iter().chain([KeyCode::Char('u'); 100]) {
            editor.key(KeyEvent::new(code, KeyModifiers::NONE));
            sound(&editor)?;
        }
        prop_assert_eq!(editor.text(), "");
    }

    #[test]
    fn every_row_is_passed_on_the_way_down_and_up(parts in vec((text(), any::<bool>()), 0..4), width in 1_usize..30) {
        let mut editor = Editor::new(Keys::Usual);
        for (text, is_long) in parts {
            editor.paste(if is_long { LONG } else { &text });
        }
        editor.replace(0..0, "");
        let rows = editor.view(width, 1_000).rows.len();
        for code in [KeyCode::Down, KeyCode::Up] {
            let mut pressed = 0;
            while editor.key(KeyEvent::new(code, KeyModifiers::NONE)) == Handled::Taken {
                sound(&editor)?;
                pressed += 1;
                prop_assert!(pressed < rows);
            }
            let row = editor.view(width, 1_000).cursor.0;
            prop_assert_eq!(row, if code == KeyCode::Down { rows - 1 } else { 0 });
        }
    }

    #[test]
    fn what_is_taken_is_what_was_put_in(parts in vec((text(), any::<bool>()), 0..6)) {
        let mut editor = Editor::new(Keys::Usual);
        let mut expected = String::new();
        for (text, is_long) in parts {
            let text = if is_long { format!("{text}{LONG}") } else { text };
            editor.paste(&text);
            let clean = text.replace("\r\n", "\n").replace('\r', "\n").replace('\u{1b}', "");
            expected.push_str(&clean);
        }
        prop_assert_eq!(editor.take().text, expected);
    }
}

fn undoes(step: &Step) -> bool {
    let Step::Key(key) = step else { return false };
    matches!(key.code, KeyCode::Char('_' | '/' | '7' | 'z' | 'y')) && !key.modifiers.is_empty()
}
