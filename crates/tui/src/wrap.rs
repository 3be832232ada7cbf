//! Lines fitted to a width.

use unicode_segmentation::UnicodeSegmentation;

use crate::text::{Flow, Line, Look, Span, width};

/// What becomes of what is longer than a row and has no place to break it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Long {
    /// It is left to the terminal, which copies it whole.
    Leave,
    /// It goes on in the next row: every row fits.
    Split,
}

/// The rows of a line. Empty lines have one.
pub fn rows(line: &Line, columns: usize, long: Long) -> Vec<Vec<Span>> {
    let columns = columns.max(1);
    if line.width() <= columns {
        return vec![line.spans.clone()];
    }
    match (&line.flow, long) {
        (Flow::Terminal, Long::Leave) => vec![line.spans.clone()],
        (Flow::Terminal, Long::Split) => Wrapping::new(columns, &[], long).cells(&line.spans),
        (Flow::Words(prefix), long) => {
            let hang = prefix.iter().map(Span::width).sum::<usize>();
            // A prefix that leaves no room for words is left out.
            let prefix = if hang + 8 <= columns { prefix.as_slice() } else { &[] };
            Wrapping::new(columns, prefix, long).words(&line.spans)
        }
    }
}

struct Wrapping<'a> {
    columns: usize,
    prefix: &'a [Span],
    long: Long,
    rows: Vec<Vec<Span>>,
    row: Vec<Span>,
    used: usize,
    /// Whether the row has more than its prefix.
    begun: bool,
}

impl<'a> Wrapping<'a> {
    fn new(columns: usize, prefix: &'a [Span], long: Long) -> Self {
        Self { columns, prefix, long, rows: Vec::new(), row: Vec::new(), used: 0, begun: false }
    }

    fn cells(mut self, spans: &[Span]) -> Vec<Vec<Span>> {
        for span in spans {
            for grapheme in span.text().graphemes(true) {
                self.put(grapheme, span.look);
            }
        }
        self.done()
    }

    fn words(mut self, spans: &[Span]) -> Vec<Vec<Span>> {
        let mut blanks = Vec::new();
        for word in pieces(spans) {
            match word {
                Piece::Blank(text, look) => blanks.push((text, look)),
                Piece::Word(parts) => {
                    self.word(&blanks, &parts);
                    blanks.clear();
                }
            }
        }
        self.done()
    }

    /// A word with the blanks before it; where a row ends, these go.
    fn word(&mut self, blanks: &[(&str, Look)], parts: &[(&str, Look)]) {
        let cells = |parts: &[(&str, Look)]| parts.iter().map(|(text, _)| width(text)).sum::<usize>();
        let (before, long) = (cells(blanks), cells(parts));
        if self.begun && self.used + before + long > self.columns {
            self.next_row();
        } else {
            blanks.iter().for_each(|(text, look)| self.push(text, *look));
        }
        if self.used + long <= self.columns || self.long == Long::Leave {
            parts.iter().for_each(|(text, look)| self.push(text, *look));
            return;
        }
        for (text, look) in parts {
            for grapheme in text.graphemes(true) {
                self.put(grapheme, *look);
            }
        }
    }

    fn put(&mut self, grapheme: &str, look: Look) {
        if self.begun && self.used + width(grapheme) > self.columns {
            self.next_row();
        }
        self.push(grapheme, look);
    }

    fn push(&mut self, text: &str, look: Look) {
        self.used += width(text);
        self.begun = true;
        match self.row.last_mut() {
            Some(last) if last.look == look => last.push(text),
            _ => self.row.push(Span::new(text, look)),
        }
    }

    fn next_row(&mut self) {
        self.rows.push(std::mem::replace(&mut self.row, self.prefix.to_vec()));
        self.used = self.prefix.iter().map(Span::width).sum();
        self.begun = false;
    }

    fn done(mut self) -> Vec<Vec<Span>> {
        self.rows.push(self.row);
        self.rows
    }
}

enum Piece<'a> {
    Blank(&'a str, Look),
    /// A word may have several looks.
    Word(Vec<(&'a str, Look)>),
}

/// Words and what is between them. Between characters of two cells a row may end as it may between words: their scripts have no blanks.
fn pieces(spans: &[Span]) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut joins = false;
    for span in spans {
        let mut rest = span.text();
        // Most text is: there each byte is a cell.
        let ascii = rest.is_ascii();
        while !rest.is_empty() {
            let (kind, end) = if ascii { ascii_run(rest) } else { run(rest) };
            let (text, behind) = rest.split_at(end);
            rest = behind;
            match (kind, pieces.last_mut()) {
                (Kind::Blank, _) => pieces.push(Piece::Blank(text, span.look)),
                (Kind::Word, Some(Piece::Word(parts))) if joins => parts.push((text, span.look)),
                (Kind::Word | Kind::Wide, _) => pieces.push(Piece::Word(vec![(text, span.look)])),
            }
            joins = kind == Kind::Word;
        }
    }
    pieces
}

/// What a text begins with, and how long that is.
fn run(text: &str) -> (Kind, usize) {
    let mut signs = text.grapheme_indices(true);
    let Some((_, first)) = signs.next() else { return (Kind::Blank, 0) };
    let kind = kind(first);
    let end = match kind {
        Kind::Wide => first.len(),
        Kind::Blank | Kind::Word => {
            signs.find(|(_, sign)| self::kind(sign) != kind).map_or(text.len(), |(at, _)| at)
        }
    };
    (kind, end)
}

fn ascii_run(text: &str) -> (Kind, usize) {
    let blank = text.starts_with(' ');
    let end = text.bytes().position(|byte| (byte == b' ') != blank).unwrap_or(text.len());
    (if blank { Kind::Blank } else { Kind::Word }, end)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Word,
    Wide,
}

fn kind(grapheme: &str) -> Kind {
    match grapheme {
        " " => Kind::Blank,
        wide if width(wide) > 1 => Kind::Wide,
        _ => Kind::Word,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::Role;

    fn texts(line: &Line, columns: usize, long: Long) -> Vec<String> {
        let text = |row: Vec<Span>| row.iter().map(Span::text).collect();
        rows(line, columns, long).into_iter().map(text).collect()
    }

    #[test]
    fn words_break_between_words() {
        let line = Line::hanging([Span::plain("• one two three")], vec![Span::plain("  ")]);
        assert_eq!(texts(&line, 10, Long::Split), ["• one two", "  three"]);
        let line = Line::words([Span::plain("see "), Span::new("https://example.org/long", Role::Link)]);
        assert_eq!(texts(&line, 12, Long::Leave), ["see", "https://example.org/long"]);
        assert_eq!(texts(&line, 12, Long::Split), ["see", "https://exam", "ple.org/long"]);
        let line =
            Line::words([Span::plain("bo"), Span::new("ld", Look::default().bold()), Span::plain("er yes")]);
        assert_eq!(texts(&line, 6, Long::Split), ["bolder", "yes"]);
    }

    #[test]
    fn scripts_without_blanks_break_anywhere() {
        let line = Line::words([Span::plain("日本語の文章")]);
        assert_eq!(texts(&line, 5, Long::Split), ["日本", "語の", "文章"]);
    }

    #[test]
    fn code_is_left_alone_where_it_is_copied() {
        let line = Line::of("let a = 1; let b = 2;", Role::Plain);
        assert_eq!(texts(&line, 10, Long::Leave), ["let a = 1; let b = 2;"]);
        assert_eq!(texts(&line, 10, Long::Split), ["let a = 1;", " let b = 2", ";"]);
    }

    proptest! {
        #[test]
        fn every_row_fits_and_no_letter_is_lost(text in "[a-z 日本👩‍💻é]{0,60}", columns in 2usize..30) {
            for line in [Line::of(&text, Role::Plain), Line::words([Span::plain(&text)])] {
                let rows = texts(&line, columns, Long::Split);
                for row in &rows {
                    prop_assert!(width(row) <= columns, "{row:?} in {columns}");
                }
                let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
                prop_assert_eq!(letters(&rows.concat()), letters(&text));
            }
        }
    }
}
