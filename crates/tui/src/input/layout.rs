//! A text in rows of a width: where it is broken, and which place is where.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::piece::{Class, Piece};
use crate::text::{harmless, width as cells_of};

/// The rows of a text at a width, without line ends. A place belongs to the last row that begins at or before it.
///
/// The last column is kept free for a cursor at the end of a row; a blank may stand there, so that no row begins with one.
pub(super) fn rows(piece: &Piece, width: usize) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut line = Vec::new();
    let mut start = 0;
    for unit in piece.units(0) {
        match unit.class {
            Class::Newline => {
                wrap(&line, start..unit.range.start, width, &mut rows);
                line.clear();
                start = unit.range.end;
            }
            Class::Blank | Class::Word | Class::Mark => {
                let text = piece.get(unit.range.clone());
                line.push(Cell { at: unit.range.start, cells: cells(text), kind: Kind::of(unit.class) });
            }
            Class::Atom => {
                for (at, text) in piece.get(unit.range.clone()).grapheme_indices(true) {
                    line.push(Cell { at: unit.range.start + at, cells: cells(text), kind: Kind::Solid });
                }
            }
        }
    }
    wrap(&line, start..piece.len(), width, &mut rows);
    rows
}

/// How many cells a piece of text takes as it is shown.
fn cells(text: &str) -> usize {
    if text.is_ascii() && !text.contains('\t') { text.len() } else { cells_of(&harmless(text)) }
}

struct Cell {
    at: usize,
    cells: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Solid,
}

impl Kind {
    fn of(class: Class) -> Self {
        if class == Class::Blank { Self::Blank } else { Self::Solid }
    }
}

/// Breaks one line between words, and inside of a word that is longer than a row.
fn wrap(line: &[Cell], range: Range<usize>, width: usize, rows: &mut Vec<Range<usize>>) {
    let solid = width.saturating_sub(1).max(1);
    let (mut start, mut column) = (range.start, 0);
    // Where the row can be broken, and the column of that place.
    let mut gap: Option<(usize, usize)> = None;
    let mut was_blank = false;
    for cell in line {
        let is_blank = cell.kind == Kind::Blank;
        if (was_blank || cell.cells > 1) && !is_blank {
            gap = Some((cell.at, column));
        }
        let limit = if is_blank { width } else { solid };
        while column + cell.cells > limit && cell.at > start {
            match gap.take().filter(|gap| gap.0 > start) {
                Some((at, before)) if !is_blank => {
                    rows.push(start..at);
                    (start, column) = (at, column - before);
                }
                Some(_) | None => {
                    rows.push(start..cell.at);
                    (start, column) = (cell.at, 0);
                }
            }
        }
        column += cell.cells;
        was_blank = is_blank;
    }
    rows.push(start..range.end);
    if column >= width && range.end > start {
        rows.push(range.end..range.end);
    }
}

/// The row that a place is in.
pub(super) fn row_of(rows: &[Range<usize>], at: usize) -> usize {
    rows.partition_point(|row| row.start <= at).saturating_sub(1)
}

/// The column of a place in its row.
pub(super) fn column_of(piece: &Piece, row: &Range<usize>, at: usize) -> usize {
    cells_of(&harmless(piece.get(row.start..at)))
}

/// The place in a row that is nearest to a column, at it or before. It can be inside of an atom.
pub(super) fn at_column(piece: &Piece, rows: &[Range<usize>], row: usize, column: usize) -> usize {
    let Some(range) = rows.get(row) else { return piece.len() };
    // The end of a row that goes on below is the start of the next row.
    let goes_on = rows.get(row + 1).is_some_and(|next| next.start == range.end);
    let (mut at, mut cells_before) = (range.start, 0);
    for grapheme in piece.get(range.clone()).graphemes(true) {
        let end = at + grapheme.len();
        cells_before += cells(grapheme);
        if cells_before > column || goes_on && end == range.end {
            break;
        }
        at = end;
    }
    at
}
