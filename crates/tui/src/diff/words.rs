//! What changed within a line.

use imara_diff::{Algorithm, Diff, InternedInput};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Bytes of a line; in longer ones nobody looks for a word, and comparing costs more than their length.
const MAX_LINE: usize = 2_000;

/// A line in pieces that stay or change.
pub(super) type Pieces<'a> = Vec<(&'a str, Piece)>;

/// Whether a piece of a line is in the other one too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    Same,
    Changed,
}

/// The pieces of a line and of the one that took its place; none if they have so little in common that it is simply another line.
pub(super) fn compare<'a>(old: &'a str, new: &'a str) -> Option<(Pieces<'a>, Pieces<'a>)> {
    if old.len().max(new.len()) > MAX_LINE {
        return None;
    }
    let (before, after) = (words(old), words(new));
    let mut input = InternedInput::default();
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    let diff = Diff::compute(Algorithm::Myers, &input);
    let piece = |is_changed: bool| if is_changed { Piece::Changed } else { Piece::Same };
    let old = pieces(old, before.into_iter().zip((0..).map(|nth| piece(diff.is_removed(nth)))));
    let new = pieces(new, after.into_iter().zip((0..).map(|nth| piece(diff.is_added(nth)))));
    let (same, all) = (said(&old, Some(Piece::Same)), said(&old, None).max(said(&new, None)));
    (same * 3 >= all).then_some((old, new))
}

/// How much the pieces of a kind say: the bytes that are no blanks.
fn said(pieces: &Pieces<'_>, kind: Option<Piece>) -> usize {
    let counted = pieces.iter().filter(|(_, piece)| kind.is_none_or(|kind| kind == *piece));
    counted.map(|(text, _)| text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count()).sum()
}

/// Words of one kind beside each other as one piece.
fn pieces<'a>(line: &'a str, words: impl Iterator<Item = (&'a str, Piece)>) -> Pieces<'a> {
    let mut pieces: Vec<(usize, usize, Piece)> = Vec::new();
    let mut at = 0;
    for (word, piece) in words {
        let end = at + word.len();
        match pieces.last_mut() {
            Some((_, last, same)) if *same == piece => *last = end,
            _ => pieces.push((at, end, piece)),
        }
        at = end;
    }
    pieces.into_iter().map(|(from, to, piece)| (line.get(from..to).unwrap_or_default(), piece)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Name,
    Blank,
    Sign,
}

/// Names and numbers, blanks, and each other sign for itself.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut from, mut last) = (0, Kind::Sign);
    for (at, sign) in line.grapheme_indices(true) {
        let kind = kind(sign);
        if kind == Kind::Sign || kind != last {
            words.extend(line.get(from..at).filter(|word| !word.is_empty()));
            from = at;
        }
        last = kind;
    }
    words.extend(line.get(from..).filter(|word| !word.is_empty()));
    words
}

fn kind(sign: &str) -> Kind {
    match sign.chars().next() {
        Some(' ' | '\t') => Kind::Blank,
        // Where signs are wide, words are not told apart by blanks.
        Some(c) if (c.is_alphanumeric() || c == '_') && sign.width() < 2 => Kind::Name,
        Some(_) | None => Kind::Sign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &Pieces<'_>) -> String {
        let piece = |(text, piece): &(&str, Piece)| match piece {
            Piece::Same => (*text).to_owned(),
            Piece::Changed => format!("[{text}]"),
        };
        pieces.iter().map(piece).collect()
    }

    #[test]
    fn changed_words() {
        for (old, new, expected) in [
            ("let a = 1;", "let b = 1;", Some(("let [a] = 1;", "let [b] = 1;"))),
            ("f(a)", "f(a, b)", Some(("f(a)", "f(a[, b])"))),
            ("  same", "    same", Some(("[  ]same", "[    ]same"))),
            ("a.b.c_d()", "a.x.c_d()", Some(("a.[b].c_d()", "a.[x].c_d()"))),
            ("日本語です", "日本人です", Some(("日本[語]です", "日本[人]です"))),
            ("return;", "while x { y(z) }", None),
            ("e\u{301}a, b", "ea, b", Some(("[e\u{301}a], b", "[ea], b"))),
        ] {
            let found = compare(old, new).map(|(old, new)| (shown(&old), shown(&new)));
            let expected = expected.map(|(old, new)| (old.to_owned(), new.to_owned()));
            assert_eq!(found, expected, "{old} → {new}");
        }
    }

    #[test]
    fn words_are_the_line() {
        for line in ["", " ", "a", "a  b", "fn f(x: &str) -> u32 { 3.14 }", "日本 e\u{301}👩‍💻\tx"] {
            assert_eq!(words(line).concat(), line);
        }
    }
}
