//! The blocks are those of the standard: another parser, which reads a text as a whole, finds the same.

use std::collections::BTreeMap;

use proptest::prelude::*;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use rail_tui::markdown::render;
use rail_tui::text::{Flow, Line, Role};

/// What blocks are made of; `@` is a word.
const PIECES: &[&str] = &[
    "@", "@\n", "@ @\n", "\n", "\n\n", " ", "  ", "   ", "    ", "- ", "-\n", "* @\n", "+ ", "1. ", "2. @\n",
    "10) ", "> ", ">", "> @\n", "# ", "## @\n", "#\n", "```\n", "~~~\n", "````\n", "---\n", "===\n", "***\n",
    "    @\n", "  - @\n", "   @\n", "- - @\n", "1. > @\n",
];

/// Where a word stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Code,
    Heading { quotes: usize, items: usize },
    Text { quotes: usize, items: usize },
}

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..14).prop_map(|pieces| {
        let mut words = 0;
        let mut text = String::new();
        for piece in pieces.concat().split_inclusive('@') {
            text.push_str(piece.trim_end_matches('@'));
            if piece.ends_with('@') {
                text.push_str(&format!("w{words}q"));
                words += 1;
            }
        }
        text
    })
}

fn words(text: &str, place: Place, into: &mut BTreeMap<String, Place>) {
    let words = text.split_inclusive('q').filter_map(|piece| Some(&piece[piece.rfind('w')?..]));
    into.extend(words.filter(|word| word.ends_with('q')).map(|word| (word.to_owned(), place)));
}

fn ours(lines: &[Line]) -> BTreeMap<String, Place> {
    let mut places = BTreeMap::new();
    for line in lines {
        let is_heading = line.spans.iter().any(|span| span.look.role == Role::Heading);
        let place = match &line.flow {
            Flow::Terminal => Place::Code,
            Flow::Words(hang) => {
                let quotes = hang.iter().filter(|span| span.look.role == Role::Quote).count();
                place(is_heading, quotes, hang.len() - quotes)
            }
        };
        words(&line.text(), place, &mut places);
    }
    places
}

fn place(is_heading: bool, quotes: usize, items: usize) -> Place {
    if is_heading { Place::Heading { quotes, items } } else { Place::Text { quotes, items } }
}

fn theirs(text: &str) -> BTreeMap<String, Place> {
    let mut places = BTreeMap::new();
    let (mut quotes, mut items, mut is_code, mut is_heading) = (0, 0, false, false);
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::Start(Tag::Item) => items += 1,
            Event::End(TagEnd::Item) => items -= 1,
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            Event::Start(Tag::Heading { .. }) => is_heading = true,
            Event::End(TagEnd::Heading(_)) => is_heading = false,
            Event::Text(text) | Event::Code(text) => {
                let place = if is_code { Place::Code } else { place(is_heading, quotes, items) };
                words(&text, place, &mut places);
            }
            _ => {}
        }
    }
    places
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_are_those_of_the_standard(text in soup()) {
        prop_assert_eq!(ours(&render(&text, 80)), theirs(&text), "{}", text);
    }
}
