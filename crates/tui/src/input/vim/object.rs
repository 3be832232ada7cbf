//! Vim's text objects: a word, what is quoted, what is between brackets.

use std::ops::Range;

use super::motion::{group, run_end};
use super::parse::{Object, ObjectKind, Words};
use crate::input::motion::{line_end, line_start};
use crate::input::piece::{Class, Piece, Unit};

/// Where the object at a place is.
pub(super) fn range(piece: &Piece, object: Object, at: usize) -> Option<Range<usize>> {
    match object.kind {
        ObjectKind::Word(words) if object.is_around => Some(around_word(piece, at, words)),
        ObjectKind::Word(words) => Some(word(piece, at, words)),
        ObjectKind::Quoted(mark) => quoted(piece, at, mark, object.is_around),
        ObjectKind::Pair(open, close) => {
            let (open, close) = pair(piece, at, open, close)?;
            Some(if object.is_around { open.start..close.end } else { open.end..close.start })
        }
    }
}

fn word(piece: &Piece, at: usize, words: Words) -> Range<usize> {
    let Some(first) = piece.next(at).filter(|unit| unit.class != Class::Newline) else { return at..at };
    let same =
        |unit: &Unit| unit.class != Class::Newline && group(unit.class, words) == group(first.class, words);
    let start = piece.units_back(at).take_while(same).last().map_or(at, |unit| unit.range.start);
    let end = piece.units(at).take_while(same).last().map_or(at, |unit| unit.range.end);
    start..end
}

/// A word with the blanks behind it, or, if there are none, those before it; blanks with the word behind them.
fn around_word(piece: &Piece, at: usize, words: Words) -> Range<usize> {
    let Range { start, end } = word(piece, at, words);
    let is_blank = |unit: &Unit| unit.class == Class::Blank;
    if piece.next(at).is_some_and(|unit| unit.class == Class::Blank) {
        let is_word = piece.next(end).is_some_and(|unit| unit.class != Class::Newline);
        return start..if is_word { run_end(piece, end, words) } else { end };
    }
    let behind = piece.units(end).take_while(is_blank).last();
    match behind {
        Some(blank) => start..blank.range.end,
        None => {
            let before = piece.units_back(start).take_while(is_blank).last();
            before.map_or(start, |unit| unit.range.start)..end
        }
    }
}

/// What is quoted around a place or behind it, in its line.
fn quoted(piece: &Piece, at: usize, mark: char, is_around: bool) -> Option<Range<usize>> {
    let (start, end) = (line_start(piece, at), line_end(piece, at));
    let line = piece.units(start).take_while(|unit| unit.range.start < end);
    let mut open: Option<Range<usize>> = None;
    let mut is_escaped = false;
    for unit in line {
        let text = piece.get(unit.range.clone());
        if !is_escaped && unit.class != Class::Atom && text.chars().eq([mark]) {
            match open.take() {
                None => open = Some(unit.range.clone()),
                Some(from) if at < unit.range.end => {
                    let inner = from.end..unit.range.start;
                    return Some(if is_around { from.start..unit.range.end } else { inner });
                }
                Some(_) => {}
            }
        }
        is_escaped = text == "\\" && !is_escaped;
    }
    None
}

/// The brackets around a place, or those on which it is.
fn pair(piece: &Piece, at: usize, open: char, close: char) -> Option<(Range<usize>, Range<usize>)> {
    let is = |unit: &Unit, mark: char| {
        unit.class != Class::Atom && piece.get(unit.range.clone()).chars().eq([mark])
    };
    let here = piece.next(at);
    let first = match here {
        Some(unit) if is(&unit, open) => unit,
        _ => {
            let mut depth = 0_usize;
            piece.units_back(at).find(|unit| {
                let is_ours = is(unit, open) && depth == 0;
                depth = depth.saturating_sub(is(unit, open).into()) + usize::from(is(unit, close));
                is_ours
            })?
        }
    };
    let mut depth = 0_usize;
    let last = piece.units(first.range.end).find(|unit| {
        let is_ours = is(unit, close) && depth == 0;
        depth = depth.saturating_sub(is(unit, close).into()) + usize::from(is(unit, open));
        is_ours
    })?;
    Some((first.range, last.range))
}
