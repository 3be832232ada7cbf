//! Where keys lead: places in a text, from places.

use super::piece::{Class, Piece, Unit};

pub(super) fn left(piece: &Piece, at: usize) -> usize {
    piece.prev(at).map_or(at, |unit| unit.range.start)
}

pub(super) fn right(piece: &Piece, at: usize) -> usize {
    piece.next(at).map_or(at, |unit| unit.range.end)
}

pub(super) fn line_start(piece: &Piece, at: usize) -> usize {
    piece.get(0..at).rfind('\n').map_or(0, |newline| newline + 1)
}

pub(super) fn line_end(piece: &Piece, at: usize) -> usize {
    piece.get(at..piece.len()).find('\n').map_or(piece.len(), |newline| at + newline)
}

/// The first place of a line that is not blank.
pub(super) fn line_text(piece: &Piece, at: usize) -> usize {
    piece
        .units(line_start(piece, at))
        .find(|unit| unit.class != Class::Blank)
        .map_or(piece.len(), |u| u.range.start)
}

/// Behind the next word of letters and digits, or the next atom.
pub(super) fn word_right(piece: &Piece, at: usize) -> usize {
    let mut units = piece.units(at).skip_while(|unit| !is_word(unit));
    let Some(first) = units.next() else { return piece.len() };
    let rest = units.take_while(|unit| first.class == Class::Word && unit.class == Class::Word);
    rest.last().unwrap_or(first.clone()).range.end
}

/// At the start of the word of letters and digits, or the atom, before.
pub(super) fn word_left(piece: &Piece, at: usize) -> usize {
    let mut units = piece.units_back(at).skip_while(|unit| !is_word(unit));
    let Some(first) = units.next() else { return 0 };
    let rest = units.take_while(|unit| first.class == Class::Word && unit.class == Class::Word);
    rest.last().unwrap_or(first.clone()).range.start
}

/// At the start of what stands between blanks before.
pub(super) fn blank_word_left(piece: &Piece, at: usize) -> usize {
    piece
        .units_back(at)
        .skip_while(|unit| unit.class.is_space())
        .take_while(|unit| !unit.class.is_space())
        .last()
        .map_or(0, |unit| unit.range.start)
}

fn is_word(unit: &Unit) -> bool {
    matches!(unit.class, Class::Word | Class::Atom)
}
