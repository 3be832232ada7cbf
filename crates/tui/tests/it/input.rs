//! The usual keys, pastes, undo and the view of the input.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rail_tui::input::{Editor, Handled, Keys};
use rail_tui::text::Role;

use crate::keys::{LONG, image, keys, marked, typing, with};

fn check(cases: &[(&str, &str, &str)]) {
    for (before, typed, after) in cases {
        let mut editor = with(Keys::Usual, before);
        typing(&mut editor, typed);
        assert_eq!(marked(&editor), *after, "{before:?} {typed}");
    }
}

#[test]
fn movement() {
    check(&[
        ("one| two", "<Left><Left>x", "ox|ne two"),
        ("one| two", "<Right><C-f><C-b>", "one |two"),
        ("|", "<Left><Right><C-b><C-f>", "|"),
        ("ab\ncd|\nef", "<Home>x", "ab\nx|cd\nef"),
        ("ab\nc|d\nef", "<C-e>x", "ab\ncdx|\nef"),
        ("ab\nc|d\nef", "<C-a><C-a><C-a>", "ab\n|cd\nef"),
        ("ab\nc|d\nef", "<C-Home>", "|ab\ncd\nef"),
        ("ab\nc|d\nef", "<C-End>", "ab\ncd\nef|"),
        ("ab\nc|d", "<A-lt>", "|ab\ncd"),
        ("one two.three|", "<A-b>", "one two.|three"),
        ("one two.three|", "<C-Left><A-Left>", "one |two.three"),
        ("|one two.three", "<A-f><C-Right>", "one two|.three"),
        ("one|  ", "<A-f>", "one  |"),
        ("  |one", "<A-b>", "|  one"),
        // Graphemes: a combining mark, a family, a flag, a wide character.
        ("e\u{301}👩‍💻🇩🇪日|", "<Left>", "e\u{301}👩‍💻🇩🇪|日"),
        ("e\u{301}👩‍💻🇩🇪|日", "<Left>", "e\u{301}👩‍💻|🇩🇪日"),
        ("e\u{301}👩‍💻|", "<Left>", "e\u{301}|👩‍💻"),
        ("e\u{301}|", "<Left>", "|e\u{301}"),
    ]);
}

#[test]
fn deletion_and_putting_back() {
    check(&[
        ("ab|c", "<BS>", "a|c"),
        ("ab|c", "<Del><Del>", "ab|"),
        ("ab|c", "<C-h><C-d>", "a|"),
        ("e\u{301}👩‍💻|", "<BS>", "e\u{301}|"),
        ("e\u{301}|", "<BS>", "|"),
        ("a\n|b", "<BS>", "a|b"),
        ("one two.three|", "<C-w>", "one |"),
        ("one two.three|", "<A-BS>", "one two.|"),
        ("one two.three|", "<C-BS>", "one two.|"),
        ("|one two", "<A-d><A-d>", "|"),
        ("|one two", "<C-Del>", "| two"),
        ("one| two\nthree", "<C-k>", "one|\nthree"),
        ("one|\nthree", "<C-k>", "one|three"),
        ("one\ntw|o", "<C-u>", "one\n|o"),
        ("one\n|o", "<C-u>", "one|o"),
        ("one two|", "<C-w><C-y><C-y>", "one twotwo|"),
        // Cuts in a row are one.
        ("one two three|", "<C-w><C-w><C-y>", "one two three|"),
        ("|one two three", "<A-d><A-d><End><C-y>", " threeone two|"),
        ("one two three|", "<C-w><Left><C-w><C-y>", "one two| "),
        // An empty cut is none.
        ("one|", "<C-w>x<C-k><C-u><C-y>", "x|"),
        ("a b|", "<C-w><Left><Right><C-w><C-y><A-y>", "b|"),
        ("a b|", "<A-y>", "a b|"),
        ("a|", "<C-y>", "a|"),
    ]);
}

#[test]
fn lines_and_sending() {
    for (before, typed, after, handled) in [
        ("one|", "<CR>", "one|", Handled::Submit),
        ("one|two", "<S-CR>", "one\n|two", Handled::Taken),
        ("one|", "<A-CR>", "one\n|", Handled::Taken),
        ("one|", "<C-j>", "one\n|", Handled::Taken),
        ("one\\|", "<CR>", "one\n|", Handled::Taken),
        ("one\\ |", "<CR>", "one\\ |", Handled::Submit),
    ] {
        let mut editor = with(Keys::Usual, before);
        assert_eq!(typing(&mut editor, typed), handled, "{before} {typed}");
        assert_eq!(marked(&editor), after, "{before} {typed}");
    }
}

#[test]
fn what_is_not_the_editors_is_passed() {
    let passed = "<C-l> <C-c> <Esc> <Tab> <BackTab> <C-g> <C-o> <C-r> <C-t> <C-v> <C-z> <PageUp> <PageDown> \
                  <A-x> <C-S-c> <D-a> <Up> <Down> <C-p> <C-n>";
    for key in passed.split_whitespace() {
        let mut editor = with(Keys::Usual, "on|e");
        assert_eq!(typing(&mut editor, key), Handled::Passed, "{key}");
        assert_eq!(marked(&editor), "on|e", "{key}");
    }
    for key in ["<C-d>", "<BS>", "<Del>"] {
        assert_eq!(typing(&mut Editor::new(Keys::Usual), key), Handled::Passed, "{key}");
    }
    assert_eq!(typing(&mut with(Keys::Usual, "one|"), "<C-d>"), Handled::Taken);
}

#[test]
fn characters_of_all_keyboards_are_text() {
    let mut editor = Editor::new(Keys::Usual);
    typing(&mut editor, "<S-A>b<C-A-@><C-A-€>é日");
    assert_eq!(editor.text(), "Ab@€é日");
    let release = KeyEvent::new_with_kind(KeyCode::Char('x'), KeyModifiers::NONE, KeyEventKind::Release);
    editor.key(release);
    assert_eq!(editor.text(), "Ab@€é日");
    let repeat = KeyEvent::new_with_kind(KeyCode::Char('x'), KeyModifiers::NONE, KeyEventKind::Repeat);
    editor.key(repeat);
    assert_eq!(editor.text(), "Ab@€é日x");
}

#[test]
fn undo_goes_back_by_what_belongs_together() {
    check(&[
        ("|", "one two three<C-_>", "one two |"),
        ("|", "one two three<C-/><C-7>", "one |"),
        ("|", "one two<C-_><C-_><A-_>", "one |"),
        ("|", "one two<C-_><C-_><C-S-z><C-S-z>", "one two|"),
        ("|", "one two<C-_>x<A-_>", "one x|"),
        ("|", "abc<Left>x<C-_>", "ab|c"),
        ("abc|", "<BS><BS><C-_>", "abc|"),
        ("one two|", "<C-w><C-_>", "one two|"),
        ("one two|", "<C-w><C-y><A-y><C-_>", "one |"),
        ("|", "<Paste>x<C-_>", "[Pasted text #1 +12 lines]|"),
    ]);
}

#[test]
fn rows_are_those_that_are_seen() {
    let mut editor = with(Keys::Usual, "the quick brown fox\njumps|");
    editor.view(11, 9);
    let expected = [("<Up>", 15), ("<Up>", 5), ("<Up>", 5), ("<Down>", 15), ("<Down>", 25), ("<Down>", 25)];
    for (key, cursor) in expected {
        typing(&mut editor, key);
        assert_eq!(editor.cursor(), cursor, "{}", marked(&editor));
    }
    // The column is remembered over a short row.
    check(&[("long line\n\nlong line|", "<Up><Up>", "long line|\n\nlong line")]);
    check(&[("日本語\nab|c", "<Up>", "日|本語\nabc")]);
    assert_eq!(typing(&mut with(Keys::Usual, "a|\nb"), "<Up>"), Handled::Passed);
    assert_eq!(typing(&mut with(Keys::Usual, "a\nb|"), "<Down>"), Handled::Passed);
}

#[test]
fn long_pastes_are_atoms() {
    check(&[
        ("a|b", "<Paste>", "a[Pasted text #1 +12 lines]|b"),
        ("a|b", "<Paste><Left>", "a|[Pasted text #1 +12 lines]b"),
        ("a|b", "<Paste><BS>", "a|b"),
        ("a|b", "<Paste><BS><C-_>", "a[Pasted text #1 +12 lines]|b"),
        ("a|b", "<Paste><Paste><A-b><C-d>", "a[Pasted text #1 +12 lines]|b"),
        ("a|b", "<Image>", "a[Image #1]|b"),
        ("|", "<Image><Left>\u{301}<Right><BS>", "\u{301}|"),
    ]);
}

#[test]
fn what_is_taken_is_what_was_pasted() {
    let mut editor = Editor::new(Keys::Usual);
    typing(&mut editor, "a <Paste> b<Left><Left><C-w><C-y><C-y>");
    let typed = editor.take();
    assert_eq!(typed.text, format!("a {LONG}{LONG} b"));
    assert_eq!(typed.shown, "a [Pasted text #1 +12 lines][Pasted text #1 +12 lines] b");
    assert!(editor.is_empty());
    typing(&mut editor, "<C-_>");
    assert!(editor.is_empty());

    // The same characters by hand are only characters.
    typing(&mut editor, "[Pasted text #1 +12 lines]<BS>");
    assert_eq!(editor.take().text, "[Pasted text #1 +12 lines");
}

#[test]
fn attachments_come_in_the_order_of_their_places() {
    let mut editor = Editor::new(Keys::Usual);
    editor.attach(image("first"));
    editor.key(keys("<Home>")[0]);
    editor.attach(image("second"));
    editor.attach(image("third"));
    typing(&mut editor, "<BS>");
    let typed = editor.take();
    assert_eq!(typed.text, "[Image #2][Image #1]");
    assert_eq!(typed.attachments, [image("second"), image("first")]);
}

#[test]
fn short_pastes_are_text() {
    let ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    let thousand = "x".repeat(1000);
    for (pasted, text) in [
        ("a\r\nb\rc", "a\nb\nc"),
        ("\u{1b}[31mred\u{7}\tx\u{9b}", "[31mred\tx"),
        (ten, ten),
        (&thousand, &thousand),
        (&format!("{thousand}y"), "[Pasted text #1 +1 line]"),
    ] {
        let mut editor = Editor::new(Keys::Usual);
        editor.paste(pasted);
        assert_eq!(editor.text(), text);
    }
}

#[test]
fn a_completion_replaces_a_range() {
    let mut editor = with(Keys::Usual, "see @sr| now");
    editor.replace(4..7, "@src/main.rs");
    assert_eq!(marked(&editor), "see @src/main.rs| now");
    typing(&mut editor, "<C-_>");
    assert_eq!(marked(&editor), "see @sr| now");
    // A range from nowhere is cut to what there is.
    editor.replace(90..100, "!");
    assert_eq!(editor.text(), "see @sr now!");
}

#[test]
fn the_view_shows_the_rows_around_the_cursor() {
    let rows = |editor: &mut Editor, width, rows| {
        let view = editor.view(width, rows);
        let texts: Vec<_> = view.rows.iter().map(|row| row.text()).collect();
        (texts.join("/"), view.cursor, view.above, view.below)
    };
    let mut editor = with(Keys::Usual, "the quick brown fox|");
    assert_eq!(rows(&mut editor, 80, 5), ("the quick brown fox".into(), (0, 19), 0, 0));
    assert_eq!(rows(&mut editor, 11, 5), ("the quick /brown fox".into(), (1, 9), 0, 0));
    assert_eq!(rows(&mut editor, 6, 2), ("brown /fox".into(), (1, 3), 2, 0));
    typing(&mut editor, "<Up>");
    assert_eq!(rows(&mut editor, 6, 2), ("brown /fox".into(), (0, 3), 2, 0));
    typing(&mut editor, "<Up>");
    assert_eq!(rows(&mut editor, 6, 2), ("quick /brown ".into(), (0, 3), 1, 1));

    assert_eq!(rows(&mut with(Keys::Usual, "|"), 5, 3), (String::new(), (0, 0), 0, 0));
    assert_eq!(rows(&mut with(Keys::Usual, "a\n|"), 5, 3), ("a/".into(), (1, 0), 0, 0));
    // A blank in the last column leaves no cell for the cursor.
    assert_eq!(rows(&mut with(Keys::Usual, "abcd |"), 5, 3), ("abcd /".into(), (1, 0), 0, 0));
    assert_eq!(rows(&mut with(Keys::Usual, "abcdefgh|"), 5, 3), ("abcd/efgh".into(), (1, 4), 0, 0));
    assert_eq!(rows(&mut with(Keys::Usual, "日本語日本|"), 8, 3), ("日本語/日本".into(), (1, 4), 0, 0));
    assert_eq!(rows(&mut with(Keys::Usual, "a\tb|"), 20, 3), ("a    b".into(), (0, 6), 0, 0));

    let mut editor = with(Keys::Usual, "a |b");
    typing(&mut editor, "<Image>");
    let spans = editor.view(40, 1).rows.remove(0).spans;
    let looks: Vec<_> = spans.iter().map(|span| (span.text(), span.look.role)).collect();
    assert_eq!(looks, [("a ", Role::Plain), ("[Image #1]", Role::Accent), ("b", Role::Plain)]);
}
