//! Searching files, and lists to choose from.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use rail_tui::complete::{Choice, Files, Finder, Item, Picker, Popup, fuzzy};
use rail_tui::text::Line;

use crate::keys::keys;

const PATHS: &[&str] = &[
    "Cargo.toml",
    "README.md",
    "crates/",
    "crates/tui/",
    "crates/tui/Cargo.toml",
    "crates/tui/src/",
    "crates/tui/src/input/",
    "crates/tui/src/input/mod.rs",
    "crates/tui/src/input/editor.rs",
    "crates/tui/src/lib.rs",
    "crates/tui/src/markdown/mod.rs",
    "crates/web/src/lib.rs",
    "docs/editing the input.md",
    "docs/Übung.md",
    "src/SomeFileName.java",
];

fn found(files: &Files, query: &str) -> Vec<String> {
    files.search(query, 5).into_iter().map(|hit| hit.path).collect()
}

#[test]
fn the_best_paths_come_first() {
    let files = Files::new(PATHS.iter().copied());
    for (query, best) in [
        // A name before folders, a shorter path before a longer.
        ("cargo", "Cargo.toml"),
        ("tui", "crates/tui/"),
        ("lib", "crates/tui/src/lib.rs"),
        ("weblib", "crates/web/src/lib.rs"),
        ("input", "crates/tui/src/input/"),
        ("inputmod", "crates/tui/src/input/mod.rs"),
        ("input/mod", "crates/tui/src/input/mod.rs"),
        ("editor", "crates/tui/src/input/editor.rs"),
        ("edit input", "docs/editing the input.md"),
        ("übu", "docs/Übung.md"),
        ("sfn", "src/SomeFileName.java"),
        ("SFN", "src/SomeFileName.java"),
        ("./readme", "README.md"),
    ] {
        assert_eq!(found(&files, query).first().map(String::as_str), Some(best), "{query}");
    }
    assert_eq!(found(&files, "README"), ["README.md"]);
    assert_eq!(found(&files, "rEADME"), Vec::<String>::new());
    assert_eq!(found(&files, "xyz"), Vec::<String>::new());
    assert_eq!(files.search("lib", 1)[0].positions, [15, 16, 17]);
    assert_eq!(files.len(), PATHS.len());
}

#[test]
fn folders_are_listed() {
    let files = Files::new(PATHS.iter().copied());
    let shallow = ["Cargo.toml", "README.md", "crates/", "crates/tui/", "docs/editing the input.md"];
    assert_eq!(found(&files, ""), shallow);
    let inside = [
        "crates/tui/Cargo.toml",
        "crates/tui/src/",
        "crates/tui/src/input/",
        "crates/tui/src/lib.rs",
        "crates/tui/src/input/editor.rs",
    ];
    assert_eq!(found(&files, "crates/tui/"), inside);
    // What is no folder is searched for.
    assert_eq!(found(&files, "tui/input/")[0], "crates/tui/src/input/");
}

proptest! {
    #[test]
    fn narrowing_finds_what_a_new_search_finds(
        paths in vec("[abcA_./é]{1,10}", 0..40), query in "[abcA./é]{0,5}", cut in 0_usize..5,
    ) {
        let files = Arc::new(Files::new(paths));
        let mut finder = Finder::new(Arc::clone(&files));
        let mut typed = String::new();
        for c in query.chars() {
            typed.push(c);
            prop_assert_eq!(finder.search(&typed, 7), files.search(&typed, 7));
        }
        let shorter: String = typed.chars().take(cut).collect();
        prop_assert_eq!(finder.search(&shorter, 7), files.search(&shorter, 7));
    }

    #[test]
    fn all_that_has_the_query_is_found(paths in vec("[abcA_/é]{1,8}", 0..30), query in "[abA_é]{1,4}") {
        let files = Files::new(paths.iter().cloned());
        let mut hits: Vec<_> = files.search(&query, 100).into_iter().map(|hit| hit.path).collect();
        hits.sort();
        let mut expected: Vec<_> = paths.into_iter().filter(|path| fuzzy(path, &query).is_some()).collect();
        expected.sort();
        expected.dedup();
        prop_assert_eq!(hits, expected);
    }

    #[test]
    fn a_list_fits_any_width(labels in vec("[a/日 é]{0,30}", 0..6), width in 0_usize..40) {
        let items = labels.iter().map(|label| Item { positions: vec![0], ..Item::new(label, "what it is") });
        let mut picker = Picker::new(items.collect(), 4);
        for key in keys("a日a") {
            for line in picker.view(width) {
                prop_assert!(line.width() <= width, "{} {}", line.text(), width);
            }
            picker.key(key);
        }
    }
}

fn popup() -> Popup {
    Popup::new(
        ["one", "two", "three", "four"].map(|label| Item::new(label, format!("the {label}"))).into(),
        3,
    )
}

fn texts(lines: Vec<Line>) -> Vec<String> {
    lines.iter().map(Line::text).collect()
}

#[test]
fn a_list_is_walked_and_chosen_from() {
    let mut list = popup();
    assert_eq!(texts(list.view(40)), ["› one    the one", "  two    the two", "  three  the three"]);
    for (key, selected) in
        [("<Down>", 1), ("<C-n>", 2), ("<Down>", 3), ("<Down>", 0), ("<Up>", 3), ("<C-p>", 2)]
    {
        assert_eq!(list.key(keys(key)[0]), Choice::Taken);
        assert_eq!(list.selected(), Some(selected), "{key}");
    }
    assert_eq!(texts(list.view(40)), ["  two    the two", "› three  the three", "  four   the four"]);
    assert_eq!(list.key(keys("<CR>")[0]), Choice::Accept(2));
    assert_eq!(list.key(keys("<Tab>")[0]), Choice::Accept(2));
    assert_eq!(list.key(keys("<Esc>")[0]), Choice::Dismiss);
    for key in ["x", "<S-CR>", "<Left>", "<C-c>"] {
        assert_eq!(list.key(keys(key)[0]), Choice::Passed, "{key}");
    }
    list.set_items(Vec::new());
    assert_eq!(list.key(keys("<Down>")[0]), Choice::Passed);
    assert_eq!(list.key(keys("<CR>")[0]), Choice::Passed);
    assert!(list.view(40).is_empty());
}

#[test]
fn what_is_too_long_is_cut() {
    let list = |label: &str| texts(Popup::new(vec![Item::new(label, "")], 3).view(12));
    assert_eq!(list("crates/tui/src/lib.rs"), ["› …rc/lib.rs"]);
    assert_eq!(list("a long name of it"), ["› a long na…"]);
    let details = Popup::new(vec![Item::new("a long name of it", "and a long detail")], 3);
    assert_eq!(texts(details.view(20)), ["› a long name…  and…"]);
    let item = Item { positions: vec![0, 2], ..Item::new("abc", "") };
    let spans = Popup::new(vec![item], 3).view(12).remove(0).spans;
    let looks: Vec<_> = spans.iter().skip(1).map(|span| (span.text(), span.look.bold)).collect();
    assert_eq!(looks, [("a", true), ("b", false), ("c", true)]);
}

#[test]
fn a_picker_is_narrowed_by_typing() {
    let mut picker = Picker::new(popup().items().to_vec(), 3);
    for key in keys("z") {
        picker.key(key);
    }
    assert_eq!(picker.selected(), None);
    for key in keys("<BS>tr") {
        picker.key(key);
    }
    assert_eq!(texts(picker.view(40)), ["filter: tr  1 of 4", "› three  the three"]);
    assert_eq!(picker.key(keys("<CR>")[0]), Choice::Accept(2));
    for key in keys("<BS><BS>") {
        picker.key(key);
    }
    picker.select(3);
    assert_eq!(picker.key(keys("<CR>")[0]), Choice::Accept(3));
    assert_eq!(picker.key(keys("<BS>")[0]), Choice::Passed);
}
