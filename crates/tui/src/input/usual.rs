//! The keys of shells and Emacs.

use std::ops::Range;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::editor::{Editor, Handled, Last};
use super::kill::{Kill, Side};
use super::layout::{self, at_column, column_of, row_of};
use super::motion::{blank_word_left, left, line_end, line_start, right, word_left, word_right};
use super::piece::Piece;

const CTRL: KeyModifiers = KeyModifiers::CONTROL;
const ALT: KeyModifiers = KeyModifiers::ALT;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;

/// A way up or down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Up,
    Down,
}

impl Editor {
    /// Takes in a key, of which the last one is known.
    pub(super) fn usual_key(&mut self, key: KeyEvent, last: &Last) -> Handled {
        let mods = key.modifiers;
        if !(CTRL | ALT | SHIFT).contains(mods) {
            return Handled::Passed;
        }
        let (piece, at) = (self.buffer.piece(), self.cursor());
        let by_word = mods.intersects(CTRL | ALT);
        match key.code {
            KeyCode::Char(c) if is_text(c, mods) => self.typed(&c.to_string(), last),
            KeyCode::Char(c) if mods.contains(CTRL) => self.control(c, mods, last),
            KeyCode::Char(c) => self.meta(c, last),
            KeyCode::Enter if mods.is_empty() && !piece.get(0..at).ends_with('\\') => Handled::Submit,
            KeyCode::Enter if mods.is_empty() => {
                self.begin();
                self.buffer.edit(at - 1..at, Piece::plain("\n"));
                Handled::Taken
            }
            KeyCode::Enter => self.typed("\n", last),
            KeyCode::Backspace if by_word => self.kill(word_left(piece, at)..at, Side::Before, last),
            KeyCode::Backspace => self.erase(left(piece, at)..at, last),
            KeyCode::Delete if by_word => self.kill(at..word_right(piece, at), Side::Behind, last),
            KeyCode::Delete => self.erase(at..right(piece, at), last),
            KeyCode::Left => self.moved(if by_word { word_left(piece, at) } else { left(piece, at) }),
            KeyCode::Right => self.moved(if by_word { word_right(piece, at) } else { right(piece, at) }),
            KeyCode::Up if mods.is_empty() => self.row(Way::Up, last),
            KeyCode::Down if mods.is_empty() => self.row(Way::Down, last),
            KeyCode::Home => self.moved(if by_word { 0 } else { line_start(piece, at) }),
            KeyCode::End => self.moved(if by_word { piece.len() } else { line_end(piece, at) }),
            _ => Handled::Passed,
        }
    }

    fn control(&mut self, c: char, mods: KeyModifiers, last: &Last) -> Handled {
        let (piece, at) = (self.buffer.piece(), self.cursor());
        let is_upper = mods.contains(SHIFT) || c.is_ascii_uppercase();
        match c.to_ascii_lowercase() {
            // Without the newer protocol of terminals Ctrl+_ and Ctrl+/ are the byte that is read as Ctrl+7.
            '_' | '/' | '7' | '-' => self.travel(Way::Up),
            'z' if is_upper => self.travel(Way::Down),
            _ if is_upper || mods.contains(ALT) => Handled::Passed,
            'a' => self.moved(line_start(piece, at)),
            'e' => self.moved(line_end(piece, at)),
            'b' => self.moved(left(piece, at)),
            'f' => self.moved(right(piece, at)),
            'p' => self.row(Way::Up, last),
            'n' => self.row(Way::Down, last),
            'j' => self.typed("\n", last),
            'h' => self.erase(left(piece, at)..at, last),
            'd' => self.erase(at..right(piece, at), last),
            'w' => self.kill(blank_word_left(piece, at)..at, Side::Before, last),
            'k' => self.kill(at..or_next(line_end(piece, at), at, right(piece, at)), Side::Behind, last),
            'u' => self.kill(or_next(line_start(piece, at), at, left(piece, at))..at, Side::Before, last),
            'y' => self.yank(),
            _ => Handled::Passed,
        }
    }

    fn meta(&mut self, c: char, last: &Last) -> Handled {
        let (piece, at) = (self.buffer.piece(), self.cursor());
        match c {
            'b' => self.moved(word_left(piece, at)),
            'f' => self.moved(word_right(piece, at)),
            '<' => self.moved(0),
            '>' => self.moved(piece.len()),
            'd' => self.kill(at..word_right(piece, at), Side::Behind, last),
            'y' => self.yank_older(last),
            '_' => self.travel(Way::Down),
            _ => Handled::Passed,
        }
    }

    /// Moves the cursor.
    pub(super) fn moved(&mut self, to: usize) -> Handled {
        self.buffer.move_to(to);
        Handled::Taken
    }

    /// Moves the cursor by a row as it is seen, if there is one.
    pub(super) fn row(&mut self, way: Way, last: &Last) -> Handled {
        let (piece, at) = (self.buffer.piece(), self.cursor());
        let rows = layout::rows(piece, self.width);
        let row = row_of(&rows, at);
        let range = rows.get(row).cloned().unwrap_or_default();
        let column = if let Last::Row(column) = last { *column } else { column_of(piece, &range, at) };
        let to = match way {
            Way::Up => row.checked_sub(1),
            Way::Down => Some(row + 1).filter(|next| *next < rows.len()),
        };
        let Some(to) = to else { return Handled::Passed };
        let to = at_column(piece, &rows, to, column);
        // An atom can be longer than a row: it is left on the side on which it was not entered.
        let to = match way {
            Way::Up => piece.floor(to),
            Way::Down => piece.ceil(to),
        };
        self.buffer.move_to(to);
        self.last = Last::Row(column);
        Handled::Taken
    }

    /// Puts typed text at the cursor. What is typed in a row is undone by words.
    fn typed(&mut self, text: &str, last: &Last) -> Handled {
        let piece = Piece::plain(text);
        if piece.is_empty() {
            return Handled::Passed;
        }
        let at = self.cursor();
        let before = self.buffer.piece().get(0..at).chars().next_back();
        let begins = before.is_some_and(char::is_whitespace) && !text.starts_with(char::is_whitespace);
        let goes_on = match &self.vim {
            // As in Vim, all that is typed in one go is undone together.
            Some(_) => matches!(last, Last::Typed | Last::Erased),
            None => *last == Last::Typed && !begins,
        };
        if !goes_on {
            self.begin();
        }
        self.buffer.edit(at..at, piece);
        self.last = Last::Typed;
        Handled::Taken
    }

    /// Deletes a character, which is not kept.
    fn erase(&mut self, range: Range<usize>, last: &Last) -> Handled {
        if self.is_empty() {
            return Handled::Passed;
        }
        if !(*last == Last::Erased || self.vim.is_some() && *last == Last::Typed) {
            self.begin();
        }
        self.buffer.edit(range, Piece::default());
        self.last = Last::Erased;
        Handled::Taken
    }

    /// Cuts a range.
    fn kill(&mut self, range: Range<usize>, side: Side, last: &Last) -> Handled {
        if range.is_empty() {
            self.last = last.clone();
            return Handled::Taken;
        }
        self.begin();
        let piece = self.buffer.edit(range, Piece::default());
        match last {
            Last::Killed => self.kills.extend(side, piece),
            Last::Other | Last::Typed | Last::Erased | Last::Yanked | Last::Row(_) => {
                self.kills.push(Kill { piece, is_lines: false });
            }
        }
        self.last = Last::Killed;
        Handled::Taken
    }

    /// Puts back what was cut last.
    fn yank(&mut self) -> Handled {
        let kill = self.kills.newest().filter(|kill| !kill.piece.is_empty());
        let Some(piece) = kill.map(|kill| kill.piece.clone()) else { return Handled::Taken };
        let at = self.cursor();
        self.begin();
        self.buffer.edit(at..at, piece);
        self.last = Last::Yanked;
        Handled::Taken
    }

    /// Puts the cut before the last in the place of what was just put back.
    fn yank_older(&mut self, last: &Last) -> Handled {
        if *last != Last::Yanked {
            return Handled::Taken;
        }
        self.buffer.undo();
        self.kills.rotate();
        self.yank()
    }

    /// Back to what was before, or forth again.
    fn travel(&mut self, way: Way) -> Handled {
        match way {
            Way::Up => self.buffer.undo(),
            Way::Down => self.buffer.redo(),
        }
        Handled::Taken
    }

    /// What follows is undone apart from what was before, unless it is all one repeated change.
    pub(super) fn begin(&mut self) {
        if !self.is_repeating() {
            self.buffer.begin();
        }
    }
}

/// Whether a character is typed and not a command. AltGr is told as Ctrl and Alt on some systems, and then gives no plain letter or digit.
fn is_text(c: char, mods: KeyModifiers) -> bool {
    let is_alt_gr = mods.contains(CTRL | ALT) && !c.is_ascii_alphanumeric();
    SHIFT.contains(mods) || is_alt_gr
}

/// The end of a line, or, if the cursor is there already, what lies behind it.
fn or_next(end: usize, at: usize, next: usize) -> usize {
    if end == at { next } else { end }
}
