//! Markdown as lines, also while it is still being written.

mod blocks;
mod cursor;
mod inline;
mod marks;
mod out;
mod table;

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
        let mut copy = self.clone();
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
