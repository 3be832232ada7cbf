//! Where Vim's motions lead.

use super::parse::{Find, Motion, Words};
use crate::input::kill::Side;
use crate::input::motion::{left, line_end, line_start, line_text, right};
use crate::input::piece::{Class, Piece, Unit};

/// What a motion takes with it when something is done to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Span {
    /// Up to where it leads.
    Exclusive,
    /// With the character to which it leads.
    Inclusive,
    /// All lines between.
    Lines,
}

/// The way a motion spans what it passes. A find again spans as the one that is repeated, which is asked here.
pub(super) fn span(motion: Motion) -> Span {
    match motion {
        Motion::WordEnd(_) => Span::Inclusive,
        Motion::Find(find) if find.side == Side::Behind => Span::Inclusive,
        Motion::Up | Motion::Down | Motion::FirstLine | Motion::LastLine => Span::Lines,
        Motion::Left
        | Motion::Right
        | Motion::Word(_)
        | Motion::WordBack(_)
        | Motion::LineStart
        | Motion::LineText
        | Motion::LineEnd
        | Motion::Find(_)
        | Motion::FindAgain
        | Motion::FindBack => Span::Exclusive,
    }
}

/// Where a motion leads; nowhere if what is looked for is not there.
pub(super) fn reach(piece: &Piece, motion: Motion, count: Option<usize>, from: usize) -> Option<usize> {
    let times = count.unwrap_or(1);
    let line = |number: usize| piece.text().split_inclusive('\n').take(number).map(str::len).sum::<usize>();
    Some(match motion {
        Motion::Left => repeat(times, from, |at| left(piece, at).max(line_start(piece, at))),
        Motion::Right => repeat(times, from, |at| right(piece, at).min(line_end(piece, at))),
        Motion::Up => repeat(times, from, |at| line_start(piece, line_start(piece, at).saturating_sub(1))),
        Motion::Down => down(piece, times, from),
        Motion::Word(words) => repeat(times, from, |at| word(piece, at, words)),
        Motion::WordBack(words) => repeat(times, from, |at| word_back(piece, at, words)),
        Motion::WordEnd(words) => repeat(times, from, |at| word_end(piece, at, words)),
        Motion::LineStart => line_start(piece, from),
        Motion::LineText => line_text(piece, from),
        Motion::LineEnd => line_end(piece, down(piece, times.saturating_sub(1), from)),
        Motion::FirstLine => line_text(piece, line(times.saturating_sub(1)).min(piece.len())),
        Motion::LastLine => match count {
            Some(number) => line_text(piece, line_start(piece, line(number.saturating_sub(1)))),
            None => line_text(piece, piece.len()),
        },
        Motion::Find(find) => found(piece, find, times, from)?,
        Motion::FindAgain | Motion::FindBack => return None,
    })
}

/// The start of the line so many lines below, or of the last one.
pub(super) fn down(piece: &Piece, times: usize, from: usize) -> usize {
    repeat(times, from, |at| match line_end(piece, at) {
        end if end < piece.len() => end + 1,
        _ => at,
    })
}

/// Does a step so many times, or until it leads nowhere.
fn repeat(times: usize, from: usize, step: impl Fn(usize) -> usize) -> usize {
    let mut at = from;
    for _ in 0..times {
        match step(at) {
            to if to == at => break,
            to => at = to,
        }
    }
    at
}

/// What is one word with its neighbours.
pub(super) fn group(class: Class, words: Words) -> Class {
    match (class, words) {
        (Class::Newline | Class::Blank, _) => Class::Blank,
        (Class::Word | Class::Mark | Class::Atom, Words::Big) => Class::Word,
        (class, Words::Small) => class,
    }
}

fn word(piece: &Piece, at: usize, words: Words) -> usize {
    let end = run_end(piece, at, words);
    piece.units(end).find(|unit| !unit.class.is_space()).map_or(piece.len(), |unit| unit.range.start)
}

/// The end of the word or the blanks that begin here or go on here.
pub(super) fn run_end(piece: &Piece, at: usize, words: Words) -> usize {
    let Some(first) = piece.next(at) else { return at };
    let same = |unit: &Unit| group(unit.class, words) == group(first.class, words);
    piece.units(at).take_while(same).last().map_or(at, |unit| unit.range.end)
}

fn word_back(piece: &Piece, at: usize, words: Words) -> usize {
    let mut units = piece.units_back(at).skip_while(|unit| unit.class.is_space());
    let Some(last) = units.next() else { return 0 };
    let same = |unit: &Unit| group(unit.class, words) == group(last.class, words);
    units.take_while(same).last().unwrap_or(last.clone()).range.start
}

fn word_end(piece: &Piece, at: usize, words: Words) -> usize {
    let mut units = piece.units(right(piece, at)).skip_while(|unit| unit.class.is_space());
    let Some(first) = units.next() else { return at };
    left(piece, run_end(piece, first.range.start, words))
}

fn found(piece: &Piece, find: Find, times: usize, from: usize) -> Option<usize> {
    let is_it = |unit: &Unit| {
        let mut chars = piece.get(unit.range.clone()).chars();
        unit.class != Class::Atom && chars.next() == Some(find.what) && chars.next().is_none()
    };
    let in_line = |unit: &Unit| unit.class != Class::Newline;
    let skipped = times.checked_sub(1)?;
    match find.side {
        Side::Behind => {
            let units = piece.units(right(piece, from)).take_while(in_line);
            let start = units.filter(is_it).nth(skipped)?.range.start;
            Some(if find.is_till { left(piece, start) } else { start })
        }
        Side::Before => {
            let found = piece.units_back(from).take_while(in_line).filter(is_it).nth(skipped)?.range;
            Some(if find.is_till { found.end } else { found.start })
        }
    }
}
