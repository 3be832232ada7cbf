//! Letters with their places to a text as it is read: rows, columns one after the other, tables row by row.

use std::collections::BTreeMap;

use crate::collect::Letter;
use crate::rows::{Piece, Row, rows};

/// The narrowest gap between columns, in sizes of the font.
const GUTTER: f64 = 0.9;
/// A column has as many rows at least.
const COLUMN_ROWS: usize = 3;
/// Half of a column's rows are as wide at least, in sizes of the font; what is narrower is a table.
const COLUMN_WIDTH: f64 = 8.0;
/// Half of a column's rows fill as much of it.
const COLUMN_FILL: f64 = 0.5;
/// Columns of one page at most; more of them are a table.
const COLUMNS: usize = 6;
/// Rows that are looked at to find columns.
const AHEAD: usize = 300;
/// Rows of a page in which columns are looked for.
const ROWS: usize = 2_000;
/// Columns in columns.
const NESTED: usize = 3;
/// The distance of rows at which a new paragraph is seen, in sizes of the font.
const PARAGRAPH: f64 = 1.75;

/// The text of a page.
pub(crate) fn text(letters: Vec<Letter>) -> String {
    let mut ways: BTreeMap<i32, Vec<&Letter>> = BTreeMap::new();
    for letter in &letters {
        ways.entry(way(letter)).or_default().push(letter);
    }
    let mut ways: Vec<Vec<&Letter>> = ways.into_values().collect();
    // What runs another way than the rest stands at the margin.
    ways.sort_by_key(|letters| std::cmp::Reverse(letters.len()));
    let mut out = Out::default();
    for letters in ways {
        lay(&rows(&letters), &mut out, 0);
        out.paragraph();
    }
    out.text.trim_end().to_owned()
}

/// The direction in which a letter's text runs, in steps of 5 degrees.
fn way(letter: &Letter) -> i32 {
    let degrees = letter.along.y.atan2(letter.along.x).to_degrees();
    #[expect(clippy::cast_possible_truncation, reason = "it is between -36 and 36")]
    let step = (degrees / 5.0).round() as i32;
    step.rem_euclid(72)
}

/// What was written so far.
#[derive(Default)]
struct Out {
    text: String,
    open: bool,
}

impl Out {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
        self.open = true;
    }

    fn paragraph(&mut self) {
        if self.open {
            self.text.push('\n');
            self.open = false;
        }
    }
}

fn lay(rows: &[Row], out: &mut Out, nested: usize) {
    let mut plain = Vec::new();
    let mut at = 0;
    let found = |at: usize| if nested < NESTED && rows.len() <= ROWS { columns(&rows[at..]) } else { None };
    while at < rows.len() {
        let Some(columns) = found(at) else {
            plain.push(&rows[at]);
            at += 1;
            continue;
        };
        write(&std::mem::take(&mut plain), out);
        out.paragraph();
        for column in &columns.bounds {
            let inner: Vec<Row> =
                rows[at..at + columns.rows].iter().filter_map(|row| within(row, *column)).collect();
            lay(&inner, out, nested + 1);
            out.paragraph();
        }
        at += columns.rows;
    }
    write(&plain, out);
}

/// The part of a row that stands in a column.
fn within(row: &Row, (from, to): (f64, f64)) -> Option<Row> {
    let inside = |piece: &&Piece| piece.from >= from - 0.01 && piece.to <= to + 0.01;
    let pieces: Vec<Piece> = row.pieces.iter().filter(inside).cloned().collect();
    (!pieces.is_empty()).then_some(Row { pieces, ..*row })
}

fn write(rows: &[&Row], out: &mut Out) {
    let left =
        rows.iter().filter_map(|row| row.pieces.first()).map(|piece| piece.from).fold(f64::MAX, f64::min);
    let mut before: Option<&Row> = None;
    for row in rows {
        if let Some(before) = before
            && row.at - before.at > PARAGRAPH * row.size.max(before.size)
        {
            out.paragraph();
        }
        out.line(&line(row, left));
        before = Some(row);
    }
}

/// A row as one line. Where letters stand in a grid, as in listings of programs, it keeps its indentation.
fn line(row: &Row, left: f64) -> String {
    let mut line = String::new();
    if let (Some(pitch), Some(first)) = (row.pitch, row.pieces.first()) {
        let blanks = ((first.from - left) / pitch).round().clamp(0.0, 80.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between 0 and 80"
        )]
        line.extend(std::iter::repeat_n(' ', blanks as usize));
    }
    for (index, piece) in row.pieces.iter().enumerate() {
        line.push_str(if index > 0 { "  " } else { "" });
        line.push_str(&piece.text);
    }
    line
}

/// Columns that begin at a row.
struct Columns {
    /// So many rows have them.
    rows: usize,
    /// Where each begins and ends.
    bounds: Vec<(f64, f64)>,
}

/// The columns that begin with the first of these rows, if they do.
fn columns(rows: &[Row]) -> Option<Columns> {
    let ahead = &rows[..rows.len().min(AHEAD)];
    let width = extent(ahead)?;
    let mut bounds: Vec<(f64, f64)> = Vec::new();
    let mut seen: usize = 0;
    let mut parted = false;
    for row in ahead {
        join(&mut bounds, row);
        let one = bounds.len() < 2;
        // A row across all columns ends them, and a wide one begins none.
        if one && (parted || bounds.first().is_some_and(|(from, to)| to - from > 0.6 * width)) {
            break;
        }
        parted |= !one;
        seen += 1;
    }
    if !parted {
        return None;
    }
    // A page number in the middle may be the last that fits between columns.
    (seen.saturating_sub(4)..=seen).rev().find_map(|rows| sound(&ahead[..rows]))
}

fn sound(rows: &[Row]) -> Option<Columns> {
    let mut bounds = Vec::new();
    for row in rows {
        join(&mut bounds, row);
    }
    let holds = |bound: &(f64, f64)| {
        let inner: Vec<Row> = rows.iter().filter_map(|row| within(row, *bound)).collect();
        let mut widths: Vec<f64> = inner.iter().filter_map(|row| Some(span(row)?.1 - span(row)?.0)).collect();
        widths.sort_by(f64::total_cmp);
        let middle = widths.get(widths.len() / 2).copied().unwrap_or(0.0);
        let mut sizes: Vec<f64> = inner.iter().map(|row| row.size).collect();
        sizes.sort_by(f64::total_cmp);
        let size = sizes.get(sizes.len() / 2).copied().unwrap_or(1.0);
        inner.len() >= COLUMN_ROWS
            && middle >= COLUMN_WIDTH * size
            && middle >= COLUMN_FILL * (bound.1 - bound.0)
    };
    let all_hold = (2..=COLUMNS).contains(&bounds.len()) && bounds.iter().all(holds);
    all_hold.then_some(Columns { rows: rows.len(), bounds })
}

/// Adds the pieces of a row to what is covered.
fn join(bounds: &mut Vec<(f64, f64)>, row: &Row) {
    bounds.extend(row.pieces.iter().map(|piece| (piece.from, piece.to)));
    bounds.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut joined: Vec<(f64, f64)> = Vec::with_capacity(bounds.len());
    for (from, to) in bounds.drain(..) {
        match joined.last_mut() {
            Some(last) if from - last.1 < GUTTER * row.size => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    *bounds = joined;
}

fn span(row: &Row) -> Option<(f64, f64)> {
    let to = row.pieces.iter().map(|piece| piece.to).fold(f64::MIN, f64::max);
    Some((row.pieces.first()?.from, to))
}

fn extent(rows: &[Row]) -> Option<f64> {
    let spans: Vec<(f64, f64)> = rows.iter().filter_map(span).collect();
    let from = spans.iter().map(|span| span.0).min_by(f64::total_cmp)?;
    let to = spans.iter().map(|span| span.1).max_by(f64::total_cmp)?;
    Some(to - from)
}
