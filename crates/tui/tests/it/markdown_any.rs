//! Any text, written in any pieces.

use proptest::prelude::*;
use rail_tui::markdown::{Markdown, render};
use rail_tui::text::{Flow, Line};

/// What Markdown is made of; `@` is a word that must not be lost.
const PIECES: &[&str] = &[
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "  ",
    "    ",
    "\t",
    "@",
    "@ ",
    "@\n",
    "@ @\n",
    "@  \n",
    "@\\\n",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "2) ",
    "1. @\n",
    "- @\n",
    "  - @\n",
    "- [ ] @",
    "- [x] @\n",
    "> ",
    "> @\n",
    ">",
    "# ",
    "# @\n",
    "### @ ###\n",
    "#",
    "```\n",
    "```rust\n",
    "~~~\n",
    "````\n",
    "   ```\n",
    "    @\n",
    "\t@\n",
    "`@`",
    "``@ ` @``",
    "*@*",
    "**@**",
    "_@_",
    "***",
    "**",
    "__@",
    "~~@~~",
    "~@~ ",
    "\\*",
    "\\",
    "[@](@)",
    "[@](",
    "[@](<@> \"@\")",
    "![@](@)",
    "[@]",
    "[^@]: @\n",
    "[@]: @\n",
    "<@>",
    "<b>@</b>",
    "<br>",
    "<!-- @ -->",
    "<div>@\n",
    "</div>\n",
    "<https://@.@/>",
    "&amp;",
    "&#10;",
    "&",
    "| @ | @ |\n",
    "|---|:-:|\n",
    "|--|\n",
    "@ | @\n",
    "--|--\n",
    "|",
    "---\n",
    "===\n",
    "***\n",
    "日本@",
    "👩‍💻",
    "e\u{301}",
    "\u{1b}[31m",
    "\0",
    "\u{205f}",
    "\u{7}",
    "{\"a\": 1}\n",
    "fn f() {\n",
    "\u{202e}",
];

/// What cells are made of.
const CELLS: &[&str] = &[
    "|",
    "|",
    "\n",
    "\n",
    "@",
    "@ ",
    " ",
    "日本",
    "日本@",
    "👩‍💻",
    "**@**",
    "`@ @`",
    "\\",
    "\\|",
    "[@](@)",
    "<br>",
    "e\u{301}",
];

/// Random Markdown and the words in it.
fn soup(pieces: &'static [&'static str]) -> impl Strategy<Value = (String, Vec<String>)> {
    prop::collection::vec(prop::sample::select(pieces), 0..40).prop_map(|pieces| {
        let mut words = Vec::new();
        let mut text = String::new();
        for c in pieces.concat().chars() {
            if c == '@' {
                words.push(format!("w{}q", words.len()));
                text.extend(words.last().map(String::as_str));
            } else {
                text.push(c);
            }
        }
        (text, words)
    })
}

/// The text in pieces.
fn written(text: &str, cuts: &[prop::sample::Index], width: usize) -> Vec<Line> {
    let ends: Vec<_> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut cuts: Vec<_> = cuts.iter().map(|cut| *cut.get(&ends)).chain([0, text.len()]).collect();
    cuts.sort_unstable();
    let mut markdown = Markdown::new();
    let mut lines = Vec::new();
    for pair in cuts.windows(2) {
        lines.extend(markdown.push(&text[pair[0]..pair[1]], width));
        // Looking at it changes nothing.
        markdown.open(width);
    }
    lines.extend(markdown.finish(width));
    lines
}

/// A word that is not shown.
fn lost(lines: &[Line], words: Vec<String>) -> Option<String> {
    let shown: String = lines.iter().map(|line| line.text() + "\n").collect();
    words.into_iter().find(|word| !shown.contains(word))
}

fn is_clean(line: &Line) -> bool {
    let hang = match &line.flow {
        Flow::Words(hang) => hang.as_slice(),
        Flow::Terminal => &[],
    };
    line.spans.iter().chain(hang).all(|span| !span.text().contains(char::is_control))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_do_not_matter((text, words) in soup(PIECES), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12), width in 0_usize..100) {
        let lines = render(&text, width);
        prop_assert_eq!(&written(&text, &cuts, width), &lines);
        prop_assert!(lines.iter().all(is_clean));
        prop_assert_eq!(lost(&lines, words), None, "{}", text);
        let is_empty = |line: Option<&Line>| line.is_some_and(|line| line.spans.is_empty());
        let code = text.contains("```") || text.contains("~~~");
        prop_assert!(code || !is_empty(lines.first()) && !is_empty(lines.last()));
    }

    #[test]
    fn tables_of_any_width((rows, words) in soup(CELLS), width in 0_usize..60) {
        let lines = render(&format!("| a | b | c |\n|--|:-:|-:|\n|{rows}"), width);
        prop_assert_eq!(lost(&lines, words), None, "{}", rows);
        // Columns are cut to the width; records are left to whoever wraps words.
        let is_grid = |line: &&Line| line.flow == Flow::Terminal && line.text().contains('│');
        prop_assert!(lines.iter().filter(is_grid).all(|line| line.width() <= width));
    }

    #[test]
    fn any_text_at_all(text in "\\PC*|(?s).{0,200}", cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6), width in 0_usize..100) {
        let lines = render(&text, width);
        prop_assert_eq!(&written(&text, &cuts, width), &lines);
        prop_assert!(lines.iter().all(is_clean));
    }

    #[test]
    fn what_is_open_is_how_it_would_end((text, _) in soup(PIECES)) {
        let mut markdown = Markdown::new();
        let mut lines = markdown.push(&format!("{text}."), 80);
        lines.extend(markdown.open(80));
        prop_assert_eq!(lines, render(&format!("{text}."), 80));
    }
}
