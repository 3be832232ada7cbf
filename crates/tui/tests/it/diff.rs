//! Changes of files and the lines they become.

use insta::assert_snapshot;
use proptest::prelude::*;
use rail_proto::{FileChange, Hunk, Line, Mark};
use rail_tui::diff::{Extent, files, lines};

use crate::look;

/// A hunk from lines behind their signs.
fn hunk(old_start: usize, new_start: usize, text: &str) -> Hunk {
    let line = |line: &str| {
        let (mark, text) = match line.split_at(1) {
            ("+", text) => (Mark::Added, text),
            ("-", text) => (Mark::Removed, text),
            (_, text) => (Mark::Same, text),
        };
        Line { mark, text: text.to_owned() }
    };
    Hunk { old_start, new_start, lines: text.lines().map(line).collect() }
}

fn change(path: &str, hunks: Vec<Hunk>) -> FileChange {
    let count = |mark| hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.mark == mark).count();
    let (added, removed) = (count(Mark::Added), count(Mark::Removed));
    FileChange { path: path.to_owned(), moved_from: None, hunks, added, removed }
}

fn sample() -> FileChange {
    let first = hunk(8, 8, " fn a() {\n-    let x = old(1);\n-    gone();\n+    let x = new(1);\n }\n \n");
    let second = hunk(120, 119, " // b\n+fn whole() {}\n+\n-other\n }\n");
    FileChange { moved_from: Some("src/old.rs".to_owned()), ..change("src/new.rs", vec![first, second]) }
}

#[test]
fn a_change_with_everything() {
    assert_snapshot!(look::lines(&lines(&sample(), Extent::All)), @"
    ~⟨*:src/new.rs⟩ ⟨added:+3⟩ ⟨removed:-3⟩⟨faint: moved from src/old.rs⟩
    =⟨number:  8 ⟩  ⟨keyword:fn⟩ ⟨function:a⟩⟨mark:()⟩ ⟨mark:{⟩
    =⟨number:  9 ⟩⟨removed:- ⟩⟨removed:    let x = ⟩⟨removedword:old⟩⟨removed:(1);⟩
    =⟨number: 10 ⟩⟨removed:- ⟩⟨removed:    gone();⟩
    =⟨number:  9 ⟩⟨added:+ ⟩⟨added:    let x = ⟩⟨addedword:new⟩⟨added:(1);⟩
    =⟨number: 10 ⟩  ⟨mark:}⟩
    =⟨number: 11 ⟩ 
    =⟨faint:  ⋮⟩
    =⟨number:119 ⟩  ⟨comment:// b⟩
    =⟨number:120 ⟩⟨added:+ ⟩⟨added:fn whole() {}⟩
    =⟨number:121 ⟩⟨added:+⟩
    =⟨number:121 ⟩⟨removed:- ⟩⟨removed:other⟩
    =⟨number:122 ⟩  }
    ");
}

#[test]
fn only_the_first_lines() {
    assert_snapshot!(look::lines(&lines(&sample(), Extent::First(3))), @"
    ~⟨*:src/new.rs⟩ ⟨added:+3⟩ ⟨removed:-3⟩⟨faint: moved from src/old.rs⟩
    =⟨number:  8 ⟩  ⟨keyword:fn⟩ ⟨function:a⟩⟨mark:()⟩ ⟨mark:{⟩
    =⟨number:  9 ⟩⟨removed:- ⟩⟨removed:    let x = ⟩⟨removedword:old⟩⟨removed:(1);⟩
    =⟨number: 10 ⟩⟨removed:- ⟩⟨removed:    gone();⟩
    =⟨faint:… 8 more lines⟩
    ");
    assert_snapshot!(look::lines(&lines(&sample(), Extent::First(0))), @"
    ~⟨*:src/new.rs⟩ ⟨added:+3⟩ ⟨removed:-3⟩⟨faint: moved from src/old.rs⟩
    =⟨faint:… 11 more lines⟩
    ");
    assert_eq!(lines(&sample(), Extent::First(11)), lines(&sample(), Extent::All));
}

#[test]
fn several_files_share_the_extent() {
    let new = change("notes.txt", vec![hunk(0, 1, "+one\n+\ttwo\u{1b}[31m")]);
    assert_snapshot!(look::lines(&files(&[new.clone(), sample(), new], Extent::First(4))), @"
    ~⟨*:notes.txt⟩ ⟨added:+2⟩
    =⟨number:1 ⟩⟨added:+ ⟩⟨added:one⟩
    =⟨number:2 ⟩⟨added:+ ⟩⟨added:    two␛[31m⟩
    =
    ~⟨*:src/new.rs⟩ ⟨added:+3⟩ ⟨removed:-3⟩⟨faint: moved from src/old.rs⟩
    =⟨number:  8 ⟩  ⟨keyword:fn⟩ ⟨function:a⟩⟨mark:()⟩ ⟨mark:{⟩
    =⟨number:  9 ⟩⟨removed:- ⟩⟨removed:    let x = ⟩⟨removedword:old⟩⟨removed:(1);⟩
    =⟨faint:… 9 more lines⟩
    =
    ~⟨*:notes.txt⟩ ⟨added:+2⟩
    =⟨faint:… 2 more lines⟩
    ");
}

#[test]
fn a_large_change_carries_only_its_first_lines() {
    let large = FileChange { added: 10_000, ..change("a.json", vec![hunk(1, 1, "-{}\n+{\"a\": 1,")]) };
    assert_snapshot!(look::lines(&lines(&large, Extent::All)), @r#"
    ~⟨*:a.json⟩ ⟨added:+10000⟩ ⟨removed:-1⟩
    =⟨number:1 ⟩⟨removed:- ⟩⟨removed:{}⟩
    =⟨number:1 ⟩⟨added:+ ⟩⟨added:{"a": 1,⟩
    =⟨faint:… 9999 more lines⟩
    "#);
}

#[test]
fn a_comment_does_not_reach_into_the_next_hunk() {
    let change = change("a.rs", vec![hunk(1, 1, " /* begins"), hunk(9, 9, " fn f();")]);
    assert_snapshot!(look::lines(&lines(&change, Extent::All)), @"
    ~⟨*:a.rs⟩
    =⟨number:1 ⟩  ⟨comment:/* begins⟩
    =⟨faint:⋮⟩
    =⟨number:9 ⟩  ⟨keyword:fn⟩ ⟨function:f⟩⟨mark:();⟩
    ");
}

#[test]
fn without_hunks_there_is_only_the_name() {
    let moved = FileChange { moved_from: Some("a".to_owned()), ..change("b", Vec::new()) };
    assert_snapshot!(look::lines(&lines(&moved, Extent::First(5))), @"~⟨*:b⟩⟨faint: moved from a⟩");
}

fn any_change() -> impl Strategy<Value = FileChange> {
    let mark = prop::sample::select(vec![Mark::Same, Mark::Added, Mark::Removed]);
    let text = prop_oneof!["[a-c (){}\"]{0,12}", any::<String>(), Just("x(y) ".repeat(600))];
    let line = (mark, text).prop_map(|(mark, text)| Line { mark, text });
    let hunk = (any::<usize>(), 0_usize..2000, prop::collection::vec(line, 0..12))
        .prop_map(|(old_start, new_start, lines)| Hunk { old_start, new_start, lines });
    let path = prop::sample::select(vec!["a.rs", "b.py", "c", "d.txt"]);
    (path, prop::collection::vec(hunk, 0..4)).prop_map(|(path, hunks)| change(path, hunks))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_line_is_shown_behind_its_sign(change in any_change(), limit in 0_usize..40) {
        let all: Vec<_> = change.hunks.iter().flat_map(|hunk| &hunk.lines).collect();
        for (extent, count) in [(Extent::All, all.len()), (Extent::First(limit), all.len().min(limit))] {
            let shown = lines(&change, extent);
            let body: Vec<_> = shown.iter().skip(1).map(rail_tui::text::Line::text).collect();
            let body: Vec<_> = body.iter().filter(|text| !text.starts_with('…') && !text.ends_with('⋮')).collect();
            prop_assert_eq!(body.len(), count);
            for (text, line) in body.iter().zip(&all) {
                let sign = match line.mark { Mark::Same => " ", Mark::Added => "+", Mark::Removed => "-" };
                let blank = if line.text.is_empty() { "" } else { " " };
                let end = format!(" {sign}{blank}{}", rail_tui::text::harmless(&line.text));
                prop_assert!(text.ends_with(&end), "{text:?} {end:?}");
                prop_assert!(!text.contains(char::is_control));
            }
            let more = shown.last().is_some_and(|line| line.text().starts_with('…'));
            prop_assert_eq!(more, count < all.len());
        }
    }
}
