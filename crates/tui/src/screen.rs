//! What is written to the terminal: finished lines, which are its own from then on, and a live region below them that changes.
//!
//! Nothing is addressed but relative to the cursor, so that it works wherever the terminal stands. Each frame is one synchronized update, and of the
//! live region only what changed is written.

use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

use crate::text::{Line, Look, Span, width};
use crate::theme::Theme;
use crate::wrap::{Long, rows};

/// The size of a terminal in cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Columns.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

/// What the live region shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Live {
    /// Its lines; when there are more than fit, the last ones are shown.
    pub lines: Vec<Line>,
    /// Where the cursor stands: the line, and the cell in it. Without one it is hidden.
    pub cursor: Option<(usize, usize)>,
}

/// A terminal as it is known here: the live region and where the cursor is in it.
pub struct Screen {
    size: Size,
    theme: Theme,
    rows: Vec<Vec<Span>>,
    /// Where the terminal's cursor is, in rows of the live region.
    at: usize,
    column: usize,
    cursor: Option<(usize, usize)>,
    /// Whether the terminal's cursor is shown.
    shown: bool,
}

const BEGIN: &str = "\u{1b}[?2026h";
const END: &str = "\u{1b}[?2026l";
const HIDE: &str = "\u{1b}[?25l";
const SHOW: &str = "\u{1b}[?25h";
const BELOW: &str = "\u{1b}[J";
const RIGHT: &str = "\u{1b}[K";
const RESET: &str = "\u{1b}[0m";

impl Screen {
    /// A terminal whose cursor stands at the beginning of an empty row.
    pub fn new(size: Size, theme: Theme) -> Self {
        Self { size, theme, rows: vec![Vec::new()], at: 0, column: 0, cursor: Some((0, 0)), shown: true }
    }

    /// Its size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Another theme from the next frame on.
    pub fn set_theme(&mut self, theme: Theme) {
        self.theme = theme;
        // Rows that are the same would not be written again.
        self.rows.iter_mut().for_each(|row| row.push(Span::default()));
    }

    /// The bytes that put finished lines above the live region and bring that to what it is now; none where nothing changed.
    pub fn frame(&mut self, done: &[Line], live: &Live) -> String {
        let (rows, cursor) = self.fitted(live);
        if done.is_empty() && rows == self.rows && cursor == self.cursor {
            return String::new();
        }
        let mut out = String::from(BEGIN);
        if self.shown {
            out.push_str(HIDE);
        }
        if done.is_empty() {
            self.change(&rows, &mut out);
        } else {
            self.go(0, 0, &mut out);
            out.push_str(BELOW);
            for line in done {
                for row in self::rows(line, self.size.columns, Long::Leave) {
                    self.write(&row, &mut out);
                    out.push_str("\r\n");
                }
            }
            self.write_all(&rows, &mut out);
        }
        self.rows = rows;
        self.cursor = cursor;
        self.shown = cursor.is_some();
        if let Some((row, column)) = cursor {
            self.go(row, column, &mut out);
            out.push_str(SHOW);
        }
        out.push_str(END);
        out
    }

    /// The bytes that bring a terminal of another size to an empty live region; the next frame fills it.
    ///
    /// Terminals fold rows that became too long, so that the live region begins further above than it did. Rows that fit are safe whatever the terminal does.
    pub fn resize(&mut self, size: Size) -> String {
        let columns = size.columns.max(1);
        let folded = |row: &Vec<Span>| row.iter().map(Span::width).sum::<usize>().max(1).div_ceil(columns);
        let above = self.rows.iter().take(self.at).map(folded).sum::<usize>() + self.column / columns;
        let mut out = String::from("\r");
        up(above, &mut out);
        out.push_str(BELOW);
        self.size = size;
        self.forget();
        out
    }

    /// The bytes that take the live region away: what follows is written where it was.
    pub fn leave(&mut self) -> String {
        let mut out = String::new();
        self.go(0, 0, &mut out);
        out.push_str(BELOW);
        out.push_str(SHOW);
        self.forget();
        out
    }

    fn forget(&mut self) {
        self.rows = vec![Vec::new()];
        (self.at, self.column) = (0, 0);
        self.cursor = Some((0, 0));
        self.shown = true;
    }

    /// The rows of the live region, cut to what fits, and where the cursor stands in them.
    fn fitted(&self, live: &Live) -> (Vec<Vec<Span>>, Option<(usize, usize)>) {
        let columns = self.size.columns.max(1);
        let mut fitted = Vec::new();
        let mut cursor = None;
        for (at, line) in live.lines.iter().enumerate() {
            if let Some((row, column)) = live.cursor.filter(|(row, _)| *row == at) {
                let _ = row;
                cursor = Some((fitted.len() + column / columns, column % columns));
            }
            fitted.extend(rows(line, columns, Long::Split));
        }
        if fitted.is_empty() {
            fitted.push(Vec::new());
        }
        let hidden = fitted.len().saturating_sub(self.size.rows.max(1));
        fitted.drain(..hidden);
        let last = fitted.len() - 1;
        let cursor = cursor.and_then(|(row, column)| Some((row.checked_sub(hidden)?.min(last), column)));
        (fitted, cursor)
    }

    /// Writes the rows that changed.
    fn change(&mut self, rows: &[Vec<Span>], out: &mut String) {
        let known = self.rows.len();
        for (at, row) in rows.iter().enumerate() {
            if at >= known {
                self.go(at - 1, 0, out);
                out.push_str("\r\n");
                (self.at, self.column) = (at, 0);
                self.write(row, out);
                continue;
            }
            let old = self.rows.get(at).cloned().unwrap_or_default();
            if old == *row {
                continue;
            }
            // Terminals do not agree on how wide some signs are, and behind these no cell is sure.
            let same = if is_sure(&old) && is_sure(row) { common(&old, row) } else { 0 };
            self.go(at, same, out);
            let rest = behind(row, same);
            self.write(&rest, out);
            // At the very edge of the terminal a cursor stands on the last cell, which would be taken away.
            if self.column < self.size.columns {
                out.push_str(RIGHT);
            }
        }
        if rows.len() < known {
            self.go(rows.len(), 0, out);
            out.push_str(BELOW);
        }
    }

    fn write_all(&mut self, rows: &[Vec<Span>], out: &mut String) {
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                out.push_str("\r\n");
            }
            (self.at, self.column) = (at, 0);
            self.write(row, out);
        }
    }

    fn write(&mut self, row: &[Span], out: &mut String) {
        let mut last = Look::default();
        for span in row {
            if span.look != last {
                if last != Look::default() {
                    out.push_str(RESET);
                }
                out.push_str(&self.theme.sgr(span.look));
                last = span.look;
            }
            out.push_str(span.text());
            self.column += span.width();
        }
        if last != Look::default() {
            out.push_str(RESET);
        }
    }

    /// Moves the cursor to a cell of the live region.
    fn go(&mut self, row: usize, column: usize, out: &mut String) {
        // A cursor at the edge is in no cell; from the first column all is sure.
        if column < self.column || self.column >= self.size.columns {
            out.push('\r');
            self.column = 0;
        }
        up(self.at.saturating_sub(row), out);
        let down = row.saturating_sub(self.at);
        if down > 0 {
            // Writing to a string can't fail, here and below.
            let _ = write!(out, "\u{1b}[{down}B");
        }
        if column > self.column {
            let _ = write!(out, "\u{1b}[{}C", column - self.column);
        }
        (self.at, self.column) = (row, column);
    }
}

fn up(rows: usize, out: &mut String) {
    if rows > 0 {
        let _ = write!(out, "\u{1b}[{rows}A");
    }
}

/// Whether every terminal gives the row the same cells: not all of them know signs that several characters make up, and a mark that stands
/// alone joins whatever is before it.
fn is_sure(row: &[Span]) -> bool {
    let is_sure = |grapheme: &str| {
        let cells = width(grapheme);
        cells > 0 && cells == grapheme.chars().filter_map(UnicodeWidthChar::width).sum::<usize>()
    };
    row.iter().all(|span| span.text().is_ascii() || span.text().graphemes(true).all(is_sure))
}

/// How many cells two rows have in common from the left.
fn common(old: &[Span], new: &[Span]) -> usize {
    let cells = |row: &[Span]| -> Vec<(String, Look)> {
        row.iter()
            .flat_map(|span| span.text().graphemes(true).map(|text| (text.to_owned(), span.look)))
            .collect()
    };
    let both = cells(old).into_iter().zip(cells(new));
    both.take_while(|(old, new)| old == new).map(|((text, _), _)| width(&text)).sum()
}

/// What of a row stands behind so many cells.
fn behind(row: &[Span], cells: usize) -> Vec<Span> {
    let mut skipped = 0;
    let mut rest = Vec::new();
    for span in row {
        let mut text = String::new();
        for grapheme in span.text().graphemes(true) {
            if skipped < cells {
                skipped += width(grapheme);
            } else {
                text.push_str(grapheme);
            }
        }
        if !text.is_empty() {
            rest.push(Span::new(text, span.look));
        }
    }
    rest
}
