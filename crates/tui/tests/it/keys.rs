//! A small language for tests of keys: `<C-w>`, `<A-b>`, `<S-CR>`, `<Left>`, letters; a text has its cursor as `|`.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rail_model::{Media, MediaKind, MediaSource};
use rail_tui::input::{Editor, Handled, Keys, VimMode};

/// A long text, as `<Paste>` pastes it.
pub(crate) const LONG: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12";

/// What was typed, key by key.
pub(crate) fn keys(text: &str) -> Vec<KeyEvent> {
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let name = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        match name {
            Some((name, behind)) => {
                keys.push(named(name));
                rest = behind;
            }
            None => {
                keys.push(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    keys
}

fn named(name: &str) -> KeyEvent {
    let mut mods = KeyModifiers::NONE;
    let mut name = name;
    while let Some((first, rest)) = name.split_once('-').filter(|(_, rest)| !rest.is_empty()) {
        mods |= match first {
            "C" => KeyModifiers::CONTROL,
            "A" => KeyModifiers::ALT,
            "S" => KeyModifiers::SHIFT,
            "D" => KeyModifiers::SUPER,
            other => panic!("{other}"),
        };
        name = rest;
    }
    let code = match name {
        "CR" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "BackTab" => KeyCode::BackTab,
        "BS" => KeyCode::Backspace,
        "Del" => KeyCode::Delete,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PageUp" => KeyCode::PageUp,
        "PageDown" => KeyCode::PageDown,
        "lt" => KeyCode::Char('<'),
        other => match *other.chars().collect::<Vec<_>>() {
            [one] => KeyCode::Char(one),
            _ => panic!("{other}"),
        },
    };
    KeyEvent::new(code, mods)
}

pub(crate) fn image(name: &str) -> Media {
    let source = MediaSource::Base64(name.to_owned());
    Media { kind: MediaKind::Image, mime: Some("image/png".into()), source, name: None }
}

/// Types keys, of which `<Paste>` and `<Image>` are none; gives back what became of the last one.
pub(crate) fn typing(editor: &mut Editor, text: &str) -> Handled {
    let mut last = Handled::Taken;
    for (at, part) in text.split("<Paste>").enumerate() {
        if at > 0 {
            editor.paste(LONG);
        }
        for (at, part) in part.split("<Image>").enumerate() {
            if at > 0 {
                editor.attach(image("one"));
            }
            for key in keys(part) {
                last = editor.key(key);
            }
        }
    }
    last
}

/// An editor with this text. Vim is in normal mode.
pub(crate) fn with(kind: Keys, marked: &str) -> Editor {
    let mut editor = Editor::new(kind);
    let Some((before, behind)) = marked.split_once('|') else { panic!("no cursor: {marked}") };
    editor.set(&format!("{before}{behind}"));
    if editor.mode() == Some(VimMode::Insert) {
        editor.key(keys("<Esc>")[0]);
    }
    editor.replace(before.len()..before.len(), "");
    editor
}

/// The text with its cursor.
pub(crate) fn marked(editor: &Editor) -> String {
    let (before, behind) = editor.text().split_at(editor.cursor());
    format!("{before}|{behind}")
}
