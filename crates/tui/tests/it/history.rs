//! Walking through what was sent, and searching in it.

use proptest::collection::vec;
use proptest::prelude::*;
use rail_tui::complete::Choice;
use rail_tui::input::{Editor, Entry, History, Keys, Search, read_history, write_history};

use crate::keys::{LONG, keys, marked, typing};

fn history(texts: &[&str]) -> History {
    History::new(texts.iter().map(|text| Entry::new(*text)))
}

#[test]
fn entries_are_kept_once_in_a_row_and_in_bounds() {
    let mut history = history(&["a", "a", "b", " ", "a"]);
    let texts = |history: &History| history.entries().iter().map(|e| e.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&history), ["a", "b", "a"]);
    for at in 0..1_500 {
        history.push(Entry::new(at.to_string()));
    }
    assert_eq!(history.entries().len(), 1_000);
    assert_eq!(history.entries()[0].text, "500");
}

#[test]
fn nothing_typed_is_lost_on_a_walk() {
    let mut history = history(&["one", "two\nlines"]);
    let mut editor = Editor::new(Keys::Usual);
    typing(&mut editor, "dr<Paste>aft<Left><Left>");
    let draft = marked(&editor);

    assert!(!history.newer(&mut editor));
    assert!(history.older(&mut editor));
    assert_eq!(marked(&editor), "two\nlines|");
    typing(&mut editor, "!");
    assert!(history.older(&mut editor));
    assert_eq!(editor.text(), "one");
    assert!(!history.older(&mut editor));
    assert_eq!(editor.text(), "one");
    assert!(history.newer(&mut editor));
    assert_eq!(editor.text(), "two\nlines!");
    assert!(history.newer(&mut editor));
    assert_eq!(marked(&editor), draft);
    assert!(!history.newer(&mut editor));
    assert_eq!(editor.take().text, format!("dr{LONG}aft"));

    // What is sent ends the walk.
    history.push(Entry::new("three"));
    assert!(history.older(&mut editor));
    assert_eq!(editor.text(), "three");
    assert!(history.older(&mut editor));
    assert_eq!(editor.text(), "two\nlines");
}

#[test]
fn lines_of_json_are_read_and_written() {
    let entries = vec![Entry { text: "two\nlines \"é\"".into(), at: Some(1_700_000_000) }, Entry::new("x")];
    let lines = write_history(&entries);
    assert_eq!(lines, "{\"text\":\"two\\nlines \\\"é\\\"\",\"at\":1700000000}\n{\"text\":\"x\"}\n");
    assert_eq!(read_history(&lines), entries);
    let broken = format!("{{\"text\":\n[]\n{{\"text\":7}}\n\n{lines}{{\"text\":\"cut");
    assert_eq!(read_history(&broken), entries);
}

#[test]
fn a_search_finds_the_newest_first() {
    let history = history(&["Fix the parser", "run\nthe tests", "fix it", "commit", "fix it"]);
    let mut search = Search::new(&history);
    let hits = |search: &Search| search.hits().map(|hit| hit.text.clone()).collect::<Vec<_>>();
    assert_eq!(hits(&search), ["fix it", "commit", "run\nthe tests", "Fix the parser"]);
    for key in keys("FIX") {
        assert_eq!(search.key(key), Choice::Taken);
    }
    assert_eq!(hits(&search), ["fix it", "Fix the parser"]);
    assert_eq!(search.key(keys("<C-r>")[0]), Choice::Taken);
    assert_eq!(search.selected().unwrap().text, "Fix the parser");
    let view: Vec<_> = search.view(30).iter().map(|line| line.text()).collect();
    assert_eq!(view, ["search: FIX  2 of 4", "  fix it", "› Fix the parser"]);
    assert_eq!(search.key(keys("<CR>")[0]), Choice::Accept(1));
    assert_eq!(search.key(keys("<Esc>")[0]), Choice::Dismiss);

    // A hit in another line is shown by that line.
    for key in keys("<C-u>tests") {
        search.key(key);
    }
    assert_eq!(search.view(30)[1].text(), "› the tests  2 lines");
    // Only if it stands nowhere, its characters in order.
    for key in keys("<C-u>fxp") {
        search.key(key);
    }
    assert_eq!(hits(&search), ["Fix the parser"]);
    for key in keys("zzz") {
        search.key(key);
    }
    assert_eq!(search.selected(), None);
    assert_eq!(search.key(keys("<CR>")[0]), Choice::Passed);
}

proptest! {
    #[test]
    fn any_lines_are_read(text in "[{}\"a-z:\\\\n,\n ]{0,80}", texts in vec(".{0,12}", 0..4)) {
        read_history(&text);
        let entries: Vec<_> = texts.into_iter().map(Entry::new).collect();
        prop_assert_eq!(read_history(&write_history(&entries)), entries);
    }

    #[test]
    fn any_walk_comes_back_to_the_draft(texts in vec("[a-c]{1,2}", 0..6), draft in "[a-c ]{0,4}", ways in vec(any::<bool>(), 0..20)) {
        let mut history = History::new(texts.into_iter().map(Entry::new));
        let mut editor = Editor::new(Keys::Usual);
        typing(&mut editor, &draft);
        for is_older in ways {
            if is_older { history.older(&mut editor) } else { history.newer(&mut editor) };
        }
        while history.newer(&mut editor) {}
        prop_assert_eq!(editor.text(), draft);
    }
}
