use std::collections::VecDeque;

use super::piece::Piece;

/// How many pieces that were cut are kept.
const MAX_KILLS: usize = 32;

/// What was cut and can be put back, the newest first.
#[derive(Debug, Default)]
pub(super) struct Kills {
    kills: VecDeque<Kill>,
}

/// A piece that was cut.
#[derive(Clone, Debug)]
pub(super) struct Kill {
    pub(super) piece: Piece,
    /// Whole lines, as Vim has them: put back above or below a line.
    pub(super) is_lines: bool,
}

/// Where a piece stood beside the one that was cut just before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Before,
    Behind,
}

impl Kills {
    pub(super) fn push(&mut self, kill: Kill) {
        if !kill.piece.is_empty() || kill.is_lines {
            self.kills.push_front(kill);
            self.kills.truncate(MAX_KILLS);
        }
    }

    /// Adds to the newest: what is cut by several keys in a row is put back as one.
    pub(super) fn extend(&mut self, side: Side, piece: Piece) {
        let Some(newest) = self.kills.front_mut() else {
            return self.push(Kill { piece, is_lines: false });
        };
        newest.is_lines = false;
        match side {
            Side::Behind => newest.piece.append(&piece),
            Side::Before => {
                newest.piece.splice(0..0, &piece);
            }
        }
    }

    pub(super) fn newest(&self) -> Option<&Kill> {
        self.kills.front()
    }

    /// The one before the newest becomes the newest, and the newest the oldest.
    pub(super) fn rotate(&mut self) {
        if !self.kills.is_empty() {
            self.kills.rotate_left(1);
        }
    }
}
