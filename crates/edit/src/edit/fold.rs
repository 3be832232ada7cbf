//! A text with differences taken out of it that do not count, and the way back to the text itself.

use std::ops::Range;

use super::punctuation;
use crate::lines::{Ends, lines_ending};

/// Which differences do not count; those before one in this list do not count either.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fold {
    /// How lines end.
    Endings,
    /// Blanks at the ends of lines.
    Trailing,
    /// Blanks at both ends of lines.
    Both,
    /// Blanks at the ends of lines, and which quotes, dashes and blanks are used.
    Punctuation,
}

/// A text without the differences that do not count.
#[derive(Debug, Default)]
pub(super) struct Folded {
    /// What is left.
    pub(super) text: String,
    /// What was changed, in order.
    pieces: Vec<Piece>,
    taken: usize,
}

#[derive(Debug)]
struct Piece {
    folded: Range<usize>,
    whole: Range<usize>,
}

impl Folded {
    pub(super) fn of(text: &str, ends: Ends, fold: Fold) -> Self {
        let mut folded = Self { text: String::with_capacity(text.len()), ..Self::default() };
        for line in lines_ending(text, ends) {
            let kept = line.body.trim_end_matches(is_blank);
            match fold {
                Fold::Endings => folded.keep(line.body),
                Fold::Trailing => folded.keep(kept),
                Fold::Both => {
                    let inner = kept.trim_start_matches(is_blank);
                    folded.swap(kept.len() - inner.len(), "");
                    folded.keep(inner);
                }
                Fold::Punctuation => punctuation::fold(line.body, &mut folded),
            }
            match fold {
                Fold::Endings | Fold::Punctuation => {}
                Fold::Trailing | Fold::Both => folded.swap(line.body.len() - kept.len(), ""),
            }
            match line.ending {
                "" => {}
                "\n" => folded.keep("\n"),
                other => folded.swap(other.len(), "\n"),
            }
        }
        folded
    }

    /// What comes next stays as it is.
    pub(super) fn keep(&mut self, same: &str) {
        self.text.push_str(same);
        self.taken += same.len();
    }

    /// So many bytes that come next become something else.
    pub(super) fn swap(&mut self, bytes: usize, with: &str) {
        if bytes == 0 && with.is_empty() {
            return;
        }
        let start = self.text.len();
        self.text.push_str(with);
        self.pieces.push(Piece { folded: start..self.text.len(), whole: self.taken..self.taken + bytes });
        self.taken += bytes;
    }

    /// Where the text itself has what is left from here on; what was taken out just before is not part of it.
    pub(super) fn start(&self, at: usize) -> Option<usize> {
        let before = self.pieces.partition_point(|piece| piece.folded.start <= at);
        let Some(piece) = before.checked_sub(1).and_then(|last| self.pieces.get(last)) else {
            return Some(at);
        };
        if piece.folded.end <= at {
            return Some(piece.whole.end + (at - piece.folded.end));
        }
        (piece.folded.start == at).then_some(piece.whole.start)
    }

    /// Where the text itself has what is left until here; what was taken out just behind is not part of it.
    pub(super) fn end(&self, at: usize) -> Option<usize> {
        let before = self.pieces.partition_point(|piece| piece.folded.start < at);
        let Some(piece) = before.checked_sub(1).and_then(|last| self.pieces.get(last)) else {
            return Some(at);
        };
        (piece.folded.end <= at).then(|| piece.whole.end + (at - piece.folded.end))
    }
}

/// A blank that indents a line or stands unseen at its end.
pub(super) fn is_blank(letter: char) -> bool {
    letter == ' ' || letter == '\t'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folded(text: &str, fold: Fold) -> Folded {
        Folded::of(text, Ends::of(text), fold)
    }

    #[test]
    fn what_does_not_count_is_gone() {
        let text = "\ta \r\n  “b” – c\u{a0}\r\n";
        assert_eq!(folded(text, Fold::Endings).text, "\ta \n  “b” – c\u{a0}\n");
        assert_eq!(folded(text, Fold::Trailing).text, "\ta\n  “b” – c\u{a0}\n");
        assert_eq!(folded(text, Fold::Both).text, "a\n“b” – c\u{a0}\n");
        assert_eq!(folded(text, Fold::Punctuation).text, "\ta\n  \"b\" - c\n");
        assert_eq!(folded("a\rb\r", Fold::Endings).text, "a\nb\n");
    }

    #[test]
    fn every_place_has_a_way_back() {
        let text = "a  \r\nb…c";
        let folded = folded(text, Fold::Punctuation);
        assert_eq!(folded.text, "a\nb...c");
        let starts: Vec<_> = (0..=folded.text.len()).map(|at| folded.start(at)).collect();
        assert_eq!(starts, [Some(0), Some(3), Some(5), Some(6), None, None, Some(9), Some(10)]);
        let ends: Vec<_> = (0..=folded.text.len()).map(|at| folded.end(at)).collect();
        assert_eq!(ends, [Some(0), Some(1), Some(5), Some(6), None, None, Some(9), Some(10)]);
    }

    proptest! {
        #[test]
        fn what_is_found_folds_to_what_was_sought(text in "[ab \t\r\n“…]{0,40}", at in 0_usize..40, len in 0_usize..40) {
            for fold in [Fold::Endings, Fold::Trailing, Fold::Both, Fold::Punctuation] {
                let folded = folded(&text, fold);
                let (Some(sought), Some(start), Some(end)) = (folded.text.get(at..at + len), folded.start(at), folded.end(at + len)) else {
                    continue;
                };
                if start > end {
                    continue;
                }
                prop_assert!(text.get(start..end).is_some());
                if fold == Fold::Endings {
                    let found = text[start..end].replace("\r\n", "\n").replace('\r', "\n");
                    prop_assert_eq!(found, sought.replace('\r', "\n"));
                }
            }
        }
    }
}
