//! What is written to the terminal: finished lines, which are its own from then on, and a live region below them that changes.
//!
//! Nothing is addressed but relative to the cursor, so that it works wherever the terminal stands. Each frame is one synchronized update, and of the
//! live region only what changed is written.

use std::cmp::Reverse;
use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

use crate::text::{Line, Look, Span, width};
use crate::theme::Theme;
use crate::wrap::{Long, rows};

/// A row of the terminal.
type Row = Vec<Span>;

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
    rows: Vec<Row>,
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
/// Cells that are sooner written than moved.
const MOVE: usize = 20;

impl Screen {
    /// A terminal whose cursor stands at the beginning of an empty row.
    pub fn new(size: Size, theme: Theme) -> Self {
        Self { size, theme, rows: vec![Row::new()], at: 0, column: 0, cursor: Some((0, 0)), shown: true }
    }

    /// Its size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Another theme from the next frame on.
    pub fn set_theme(&mut self, theme: Theme) {
        self.theme = theme;
        // What is the same would not be written again.
        self.rows.iter_mut().flatten().for_each(|span| span.look.reverse = !span.look.reverse);
    }

    /// The bytes that put finished lines above the live region and bring that to what it is now; none where nothing changed.
    pub fn frame(&mut self, done: &[Line], live: &Live) -> String {
        let (live, cursor) = self.fitted(live);
        if done.is_empty() && live == self.rows && cursor == self.cursor {
            return String::new();
        }
        let mut out = String::from(BEGIN);
        if self.shown {
            out.push_str(HIDE);
        }
        let columns = self.size.columns;
        let mut all: Vec<Row> = done.iter().flat_map(|line| rows(line, columns, Long::Leave)).collect();
        let finished = all.len();
        // Lines that the terminal folds, and more than it has rows, are written as they come.
        let plain = finished + live.len() > self.size.rows || all.iter().any(|row| cells_of(row) > columns);
        all.extend(live);
        if plain && finished > 0 {
            self.go(0, 0, &mut out);
            out.push_str(BELOW);
            self.write_all(&all, finished, &mut out);
        } else {
            // What is finished was in the live region in large part: it stays where it is, and that begins below it.
            self.change(&all, &mut out);
            if self.at < finished {
                self.go(finished, 0, &mut out);
            }
            self.at -= finished;
        }
        self.rows = all.split_off(finished);
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
        let folded = |row: &Row| cells_of(row).max(1).div_ceil(columns);
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

    /// The bytes that begin an empty live region where the cursor stands, since nobody knows what is above it.
    pub fn anew(&mut self) -> String {
        self.forget();
        format!("\r{BELOW}{SHOW}")
    }

    fn forget(&mut self) {
        self.rows = vec![Row::new()];
        (self.at, self.column) = (0, 0);
        self.cursor = Some((0, 0));
        self.shown = true;
    }

    /// The rows of the live region, cut to what fits, and where the cursor stands in them.
    fn fitted(&self, live: &Live) -> (Vec<Row>, Option<(usize, usize)>) {
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
    fn change(&mut self, rows: &[Row], out: &mut String) {
        let mut old = std::mem::take(&mut self.rows);
        self.shift(&mut old, rows, out);
        let known = old.len();
        for (at, row) in rows.iter().enumerate() {
            let Some(old) = old.get(at) else {
                self.go(at - 1, 0, out);
                self.down(1, out);
                self.write(row, out);
                continue;
            };
            if old != row {
                self.change_row(at, old, row, out);
            }
        }
        if rows.len() < known {
            self.go(rows.len(), 0, out);
            out.push_str(BELOW);
        }
    }

    /// Moves rows that only stand elsewhere now: those that go are taken out, and empty ones put in where others come.
    fn shift(&mut self, old: &mut Vec<Row>, new: &[Row], out: &mut String) {
        let above = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let room = old.len().min(new.len()) - above;
        let below =
            old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(old, new)| old == new).count();
        let gone = scrolled(
            old.get(above..old.len() - below).unwrap_or_default(),
            new.get(above..new.len() - below).unwrap_or_default(),
        );
        let gone = gone.max(if below > 0 { old.len().saturating_sub(new.len()) } else { 0 });
        if gone > 0 {
            self.go(above, 0, out);
            let _ = write!(out, "\u{1b}[{gone}M");
            old.drain(above..above + gone);
        }
        let come = new.len().saturating_sub(old.len());
        if come > 0 && below > 0 {
            self.go(old.len() - 1, 0, out);
            self.down(come, out);
            let at = old.len() - below;
            self.go(at, 0, out);
            let _ = write!(out, "\u{1b}[{come}L");
            old.splice(at..at, std::iter::repeat_n(Row::new(), come));
        }
    }

    /// Writes what changed of a row.
    fn change_row(&mut self, at: usize, old: &[Span], new: &[Span], out: &mut String) {
        // Terminals do not agree on how wide some signs are, and behind these no cell is sure.
        let sure = is_sure(old) && is_sure(new);
        let same = if sure { common(cells(old), cells(new), usize::MAX) } else { 0 };
        let all = cells_of(new);
        let as_long = sure && cells_of(old) == all;
        let end = if as_long { all - common(cells_back(old), cells_back(new), all - same) } else { all };
        self.go(at, same, out);
        self.write_part(new, same, end, out);
        // At the very edge of the terminal a cursor stands on the last cell, which would be taken away.
        if !as_long && self.column < self.size.columns {
            out.push_str(RIGHT);
        }
    }

    /// Writes all rows, the first so many of which are finished.
    fn write_all(&mut self, rows: &[Row], finished: usize, out: &mut String) {
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                out.push_str("\r\n");
            }
            (self.at, self.column) = (at.saturating_sub(finished), 0);
            self.write(row, out);
        }
    }

    fn write(&mut self, row: &[Span], out: &mut String) {
        self.write_part(row, 0, usize::MAX, out);
    }

    /// Writes the cells of a row from one to another, where the cursor stands.
    fn write_part(&mut self, row: &[Span], from: usize, to: usize, out: &mut String) {
        let mut last = Look::default();
        let mut at = 0;
        for span in row {
            let (start, end) = (at, at + span.width());
            at = end;
            let text =
                if start >= from && end <= to { span.text() } else { part(span.text(), start, from, to) };
            if text.is_empty() {
                continue;
            }
            if span.look != last {
                if last != Look::default() {
                    out.push_str(RESET);
                }
                out.push_str(&self.theme.sgr(span.look));
                last = span.look;
            }
            out.push_str(text);
            self.column += width(text);
        }
        if last != Look::default() {
            out.push_str(RESET);
        }
    }

    /// Goes to the beginning of a row below, which the terminal makes where there is none.
    fn down(&mut self, rows: usize, out: &mut String) {
        out.extend(std::iter::repeat_n("\r\n", rows));
        (self.at, self.column) = (self.at + rows, 0);
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

/// How many rows were scrolled off the top, if more stays the same for it than without: the last rows may have changed as well.
fn scrolled(old: &[Row], new: &[Row]) -> usize {
    let stays = |gone: usize| {
        let same = old.iter().skip(gone).zip(new).filter(|(old, new)| old == new);
        same.map(|(row, _)| cells_of(row)).sum::<usize>()
    };
    let enough = stays(0) + MOVE;
    let best = (1..old.len()).map(|gone| (stays(gone), Reverse(gone))).max();
    best.filter(|(stays, _)| *stays > enough).map_or(0, |(_, Reverse(gone))| gone)
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

/// The cells of a row from the left.
fn cells(row: &[Span]) -> impl Iterator<Item = (&str, Look)> {
    row.iter().flat_map(|span| span.text().graphemes(true).map(|text| (text, span.look)))
}

/// The cells of a row from the right.
fn cells_back(row: &[Span]) -> impl Iterator<Item = (&str, Look)> {
    row.iter().rev().flat_map(|span| span.text().graphemes(true).rev().map(|text| (text, span.look)))
}

fn cells_of(row: &[Span]) -> usize {
    row.iter().map(Span::width).sum()
}

/// How many cells two rows have in common, at most so many.
fn common<'a>(
    old: impl Iterator<Item = (&'a str, Look)>,
    new: impl Iterator<Item = (&'a str, Look)>,
    at_most: usize,
) -> usize {
    let mut same = 0;
    for (_, (text, _)) in old.zip(new).take_while(|(old, new)| old == new) {
        let cells = width(text);
        if same + cells > at_most {
            break;
        }
        same += cells;
    }
    same
}

/// What of a text that begins in one cell stands between two others.
fn part(text: &str, start: usize, from: usize, to: usize) -> &str {
    let place = |cell: usize| {
        let mut at = start;
        let before = |grapheme: &&str| {
            let is = at < cell;
            at += width(grapheme);
            is
        };
        text.graphemes(true).take_while(before).map(str::len).sum::<usize>()
    };
    text.get(place(from)..place(to)).unwrap_or_default()
}
