use std::ops::Range;

use super::piece::Piece;

/// How many changes can be undone: enough for hours of typing, and a bound.
const MAX_CHANGES: usize = 10_000;
/// How much text they may hold, in bytes: a walk through a history of long entries changes all each time.
const MAX_HELD: usize = 8 << 20;

/// A text, the cursor in it, and the way back.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    piece: Piece,
    cursor: usize,
    done: Vec<Change>,
    undone: Vec<Change>,
    /// Changes of one number are undone together.
    group: u64,
}

#[derive(Debug)]
struct Change {
    at: usize,
    removed: Piece,
    added: Piece,
    /// Where the cursor was and where it went.
    cursors: (usize, usize),
    group: u64,
}

impl Buffer {
    pub(super) fn piece(&self) -> &Piece {
        &self.piece
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Moves the cursor, to before the unit if it would be inside of one.
    pub(super) fn move_to(&mut self, at: usize) {
        self.cursor = self.piece.floor(at);
    }

    /// What follows is undone apart from what was before.
    pub(super) fn begin(&mut self) {
        self.group += 1;
    }

    /// Puts a piece in the place of a range, the cursor behind it, and gives back what was there. A range that cuts a unit takes it whole.
    pub(super) fn edit(&mut self, range: Range<usize>, with: Piece) -> Piece {
        let (start, end) = (self.piece.floor(range.start), self.piece.ceil(range.end));
        let range = start..end.max(start);
        let removed = self.piece.splice(range.clone(), &with);
        let before = self.cursor;
        // What is new can become one character with what stands behind it.
        self.cursor = self.piece.ceil(range.start + with.len());
        if !(removed.is_empty() && with.is_empty()) {
            let cursors = (before, self.cursor);
            let (added, group) = (with, self.group);
            self.done.push(Change { at: range.start, removed: removed.clone(), added, cursors, group });
            self.undone.clear();
            self.forget();
        }
        removed
    }

    pub(super) fn undo(&mut self) {
        let group = self.done.last().map(|change| change.group);
        while let Some(change) = self.done.pop_if(|change| Some(change.group) == group) {
            self.piece.splice(change.at..change.at + change.added.len(), &change.removed);
            self.cursor = change.cursors.0;
            self.undone.push(change);
        }
    }

    pub(super) fn redo(&mut self) {
        let group = self.undone.last().map(|change| change.group);
        while let Some(change) = self.undone.pop_if(|change| Some(change.group) == group) {
            self.piece.splice(change.at..change.at + change.removed.len(), &change.added);
            self.cursor = change.cursors.1;
            self.done.push(change);
        }
    }

    /// Forgets the oldest changes, in whole groups, when there are too many; the last group stays.
    fn forget(&mut self) {
        let held: usize = self.done.iter().map(Change::held).sum();
        if self.done.len() <= MAX_CHANGES && held <= MAX_HELD {
            return;
        }
        // More than must be, so that it is rare.
        let mut left = (self.done.len(), held);
        let is_enough = |left: (usize, usize)| left.0 <= MAX_CHANGES / 2 && left.1 <= MAX_HELD / 2;
        let mut last = None;
        for change in &self.done {
            if is_enough(left) {
                break;
            }
            left = (left.0 - 1, left.1 - change.held());
            last = Some(change.group);
        }
        let group = self.group;
        self.done.retain(|change| Some(change.group) > last || change.group == group);
    }
}

impl Change {
    fn held(&self) -> usize {
        self.removed.len() + self.added.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_undone_is_bounded() {
        let mut buffer = Buffer::default();
        for _ in 0..=MAX_CHANGES {
            buffer.begin();
            buffer.edit(0..0, Piece::plain("x"));
        }
        assert!(buffer.done.len() <= MAX_CHANGES);
        let long = "x".repeat(MAX_HELD / 8);
        for _ in 0..20 {
            buffer.begin();
            buffer.edit(0..buffer.piece.len(), Piece::plain(&long));
            assert!(buffer.done.iter().map(Change::held).sum::<usize>() <= MAX_HELD);
        }
        // A change that is larger than all that may be held can still be undone.
        let before = buffer.piece.clone();
        buffer.begin();
        buffer.edit(0..0, Piece::plain(&"y".repeat(MAX_HELD + 1)));
        buffer.undo();
        assert_eq!(buffer.piece, before);
    }
}
