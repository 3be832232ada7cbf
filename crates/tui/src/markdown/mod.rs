//! Markdown as lines, also while it is still being written.

mod blocks;
mod cursor;
mod inline;
mod marks;
mod out;
mod table;

use std::borrow::Cow;

use crate::text::Line;
use blocks::Blocks;

/// Markdown that is still being written. Each line of it is read once; what is kept is the block that is not finished.
#[derive(Clone, Default)]
pub struct Markdown {
    blocks: Blocks,
    /// The line whose end has not come.
    line: String,
}

impl Markdown {
    /// Nothing written yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more text; gives the lines that are finished and will never change. `width` is for tables.
    pub fn push(&mut self, text: &str, width: usize) -> Vec<Line> {
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece);
            if piece.ends_with('\n') {
                self.end_line(width);
            }
        }
        std::mem::take(&mut self.blocks.out.lines)
    }

    /// The lines of what is not finished yet, as they would look if the text ended here. A last line that is only marks is left out until it is clear
    /// what it marks: a paragraph would be a heading for as long as it takes to write the rest of `- item`.
    pub fn open(&self, width: usize) -> Vec<Line> {
        self.clone().ended(width)
    }

    /// The last of these lines: those that can be seen in so many rows, and maybe more. However long a block gets, it costs no more than what is seen.
    /// Emphasis that began far above is not known there.
    pub fn open_end(&self, width: usize, rows: usize) -> Vec<Line> {
        // Signs take up to two bytes for each of their cells.
        let room = 2 * width.max(1) * rows.max(1);
        let copy = Self { blocks: self.blocks.end(room, rows), line: end_of(&self.line, room).into_owned() };
        copy.ended(width)
    }

    fn ended(self, width: usize) -> Vec<Line> {
        let mut copy = self;
        if copy.line.chars().all(|c| " \t\r#>*+-=_`~|:".contains(c)) {
            copy.line.clear();
        }
        copy.finish(width)
    }

    /// The rest, at the end of the text.
    pub fn finish(&mut self, width: usize) -> Vec<Line> {
        if !self.line.is_empty() {
            self.end_line(width);
        }
        self.blocks.finish(width);
        std::mem::take(self).blocks.out.lines
    }

    fn end_line(&mut self, width: usize) {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix('\n').unwrap_or(&line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        for line in line.split('\r') {
            self.blocks.line(line, width);
        }
    }
}

/// Bytes of what a text begins with.
const BEGINNING: usize = 64;
/// How far the end of a sentence is looked for.
const SENTENCE: usize = 512;

/// A text without its middle if it is long: the marks it begins with, and nearly so many bytes of its end or more. Where the end begins moves in steps, so
/// that it looks the same while a text grows. It begins with a sentence where it can: within code or emphasis, all marks behind would be misread.
pub(crate) fn end_of(text: &str, room: usize) -> Cow<'_, str> {
    let from = text.len() / room.max(1) * room;
    let Some(from) = from.checked_sub(room).filter(|from| *from > BEGINNING) else {
        return Cow::Borrowed(text);
    };
    let is_mark = |byte: &u8| b" \t>*+-#|()[].xX0123456789".contains(byte);
    let marks = text.bytes().take(BEGINNING).take_while(is_mark).count();
    let end = text.get(text.floor_char_boundary(from)..).unwrap_or_default();
    let near = end.get(..end.floor_char_boundary(SENTENCE.min(room / 4))).unwrap_or_default();
    let stop = near.find(". ").map(|stop| stop + 1).or_else(|| near.find(['\n', ' '])).unwrap_or(0);
    Cow::Owned(text.get(..marks).unwrap_or_default().to_owned() + end.get(stop..).unwrap_or_default())
}

/// A whole text at once.
pub fn render(text: &str, width: usize) -> Vec<Line> {
    let mut markdown = Markdown::new();
    let mut lines = markdown.push(text, width);
    lines.extend(markdown.finish(width));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that were looked at while a text came in small pieces.
    fn work(text: &str) -> usize {
        let mut markdown = Markdown::new();
        let chars: Vec<_> = text.chars().collect();
        for piece in chars.chunks(7) {
            markdown.push(&piece.iter().collect::<String>(), 80);
        }
        markdown.blocks.finish(80);
        markdown.blocks.work
    }

    #[test]
    fn the_work_grows_as_the_text_does() {
        for text in [
            "a line\n",
            "a paragraph\n\n",
            "- item\n",
            "> quote\n>\n",
            "| a | b |\n|--|--|\n| c | d |\n\n",
            "# heading\n",
            "- a\n\n      code\n\n",
        ] {
            for start in ["", "```text\n", "- ```\n", "| a | b |\n|--|--|\n", "<div>\n"] {
                let text = start.to_owned() + &text.repeat(400);
                assert!(work(&text) <= 3 * text.len(), "{} for {} of {start:?}", work(&text), text.len());
            }
        }
    }

    #[test]
    fn any_line_end_is_one() {
        let lines = render("# a\nb\n\nc", 80);
        for text in ["# a\r\nb\r\n\r\nc", "# a\rb\r\rc", "# a\rb\n\rc\r\n"] {
            assert_eq!(render(text, 80), lines, "{text:?}");
        }
    }

    #[test]
    fn what_stands_before_a_line_is_bounded() {
        for mark in [">", "- ", "1. "] {
            let lines = render(&mark.repeat(10_000), 80);
            assert!(lines.iter().all(|line| line.spans.len() < 40), "{mark}");
        }
    }

    #[test]
    fn the_end_of_a_long_block_is_the_end_of_all_of_it() {
        let words: String = (0..20_000).map(|nth| format!("word{nth} ")).collect();
        let row = |nth: usize| format!("| {nth} | `cell` {} |\n", "x".repeat(nth % 30));
        let table = (0..3_000).map(row).fold("| a | b |\n|--:|---|\n".to_owned(), |table, row| table + &row);
        let lines = "a line of text\n".repeat(5_000);
        for text in [
            words.as_str(),
            &format!("- [ ] {words}"),
            &format!("> {words}"),
            &format!("```\n{words}"),
            &table,
            &lines,
        ] {
            for width in [20, 80] {
                let mut markdown = Markdown::new();
                markdown.push(text, width);
                let (end, all) = (markdown.open_end(width, 12), markdown.open(width));
                assert!(end.len() <= 40 && end.iter().map(|line| line.text().len()).sum::<usize>() < 6_000);
                let last = |lines: &[Line]| {
                    lines.last().map(|line| line.text().chars().rev().take(200).collect::<String>())
                };
                assert_eq!(last(&end), last(&all), "{:?}", text.get(..20));
                if text.starts_with('|') {
                    let same = |lines: &[Line]| lines.iter().rev().take(12).cloned().collect::<Vec<_>>();
                    assert_eq!(same(&end), same(&all));
                }
            }
        }
    }

    #[test]
    fn where_a_long_text_is_cut_marks_keep_their_meaning() {
        // Blanks within code and emphasis, at every place relative to the cut.
        let sentence = "It was `rail serve` again that said **so very much** of _all that_. ";
        for begun in 0..sentence.len() {
            let text = "x".repeat(begun) + &format!(" {}", sentence.repeat(300));
            for (width, rows) in [(60, 12), (100, 36)] {
                let mut markdown = Markdown::new();
                markdown.push(&text, width);
                let last = |lines: &[Line]| -> Vec<_> {
                    lines
                        .last()
                        .map(|line| line.spans.iter().rev().take(6).cloned().collect())
                        .unwrap_or_default()
                };
                assert_eq!(
                    last(&markdown.open_end(width, rows)),
                    last(&markdown.open(width)),
                    "{begun} in {width}"
                );
            }
        }
    }

    #[test]
    fn what_is_kept_is_only_what_is_not_finished() {
        let mut markdown = Markdown::new();
        for (text, finished, open) in [
            ("# A", 0, 1),
            ("\nsome text", 1, 2),
            ("\ngoes on\n", 0, 2),
            ("\n- a\n", 2, 2),
            ("- b", 0, 3),
            ("\n\n```rust\nfn", 3, 2),
            (" f() {\n", 2, 0),
            ("``", 0, 0),
            ("`\n", 0, 0),
            ("after\n-", 0, 2),
        ] {
            assert_eq!(markdown.push(text, 80).len(), finished, "{text:?}");
            assert_eq!(markdown.open(80).len(), open, "{text:?}");
        }
    }
}
