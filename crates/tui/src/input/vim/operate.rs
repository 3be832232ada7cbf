//! What Vim's commands do to a text.

use std::ops::Range;

use super::motion::{Span, down, reach, run_end, span};
use super::parse::{Command, Motion, Operator, Target, Verb, Words};
use super::{VimMode, object};
use crate::input::editor::Editor;
use crate::input::kill::{Kill, Side};
use crate::input::motion::{left, line_end, line_start, line_text, right};
use crate::input::piece::{Class, Piece};

/// How large what is put back several times can become when it is sent, in bytes.
const MAX_PUT: usize = 1 << 20;

/// What a command is done to.
struct Reach {
    range: Range<usize>,
    is_lines: bool,
}

impl Command {
    /// Whether it changes the text, so that it can be repeated.
    pub(super) fn is_change(&self) -> bool {
        match self.verb {
            Verb::Operate(Operator::Delete | Operator::Change, _)
            | Verb::Insert(_)
            | Verb::Replace(_)
            | Verb::ToggleCase
            | Verb::Join
            | Verb::Put(_) => true,
            Verb::Operate(Operator::Yank, _)
            | Verb::Move(_)
            | Verb::Undo
            | Verb::Repeat
            | Verb::Select(_)
            | Verb::SelectObject(_)
            | Verb::Swap => false,
        }
    }
}

impl Editor {
    pub(super) fn operate(&mut self, operator: Operator, target: &Target, count: Option<usize>) {
        let Some(reach) = self.target(operator, target, count) else { return };
        self.leave_visual();
        let Reach { range, is_lines } = reach;
        let piece = self.buffer.piece().slice(range.clone());
        self.kills.push(Kill { piece, is_lines });
        match operator {
            Operator::Yank if is_lines => {}
            Operator::Yank => self.buffer.move_to(range.start),
            Operator::Delete => {
                self.begin();
                self.delete(range, is_lines);
            }
            Operator::Change => {
                self.begin();
                self.buffer.edit(range, Piece::default());
                self.insert(self.cursor());
            }
        }
    }

    fn delete(&mut self, range: Range<usize>, is_lines: bool) {
        let piece = self.buffer.piece();
        let Range { start, end } = range;
        let whole = match is_lines {
            false => start..end,
            true if end < piece.len() => start..end + 1,
            true => start.saturating_sub(1)..end,
        };
        self.buffer.edit(whole, Piece::default());
        if is_lines {
            let to = line_text(self.buffer.piece(), self.cursor());
            self.buffer.move_to(to);
        }
    }

    /// What an operator is done to.
    fn target(&mut self, operator: Operator, target: &Target, count: Option<usize>) -> Option<Reach> {
        let at = self.cursor();
        match target {
            Target::Motion(motion) => self.motion_target(operator, *motion, count),
            Target::Lines => {
                let piece = self.buffer.piece();
                let last = down(piece, count.unwrap_or(1).saturating_sub(1), at);
                Some(lines(piece, at, last))
            }
            Target::Object(object) => {
                let range = object::range(self.buffer.piece(), *object, at)?;
                Some(Reach { range, is_lines: false })
            }
            Target::Selection => {
                let is_lines = self.mode() == Some(VimMode::VisualLine);
                Some(Reach { range: self.selection()?, is_lines })
            }
        }
    }

    fn motion_target(&mut self, operator: Operator, motion: Motion, count: Option<usize>) -> Option<Reach> {
        let at = self.cursor();
        if let (Operator::Change, Motion::Word(words)) = (operator, motion) {
            return Some(self.change_word(words, count));
        }
        let (to, motion) = self.reach(motion, count)?;
        let piece = self.buffer.piece();
        let (first, last) = (at.min(to), at.max(to));
        let range = match span(motion) {
            Span::Lines => return Some(lines(piece, first, last)),
            Span::Exclusive => first..last,
            Span::Inclusive => first..right(piece, last),
        };
        let range = if matches!(motion, Motion::Word(_)) { in_line(piece, range) } else { range };
        Some(Reach { range, is_lines: false })
    }

    /// A changed word keeps the blanks behind it.
    fn change_word(&self, words: Words, count: Option<usize>) -> Reach {
        let (piece, at) = (self.buffer.piece(), self.cursor());
        let before = count.and_then(|count| count.checked_sub(1)).filter(|count| *count > 0);
        let last = match before {
            Some(_) => reach(piece, Motion::Word(words), before, at).unwrap_or(at),
            None => at,
        };
        let end = run_end(piece, last, words);
        Reach { range: in_line(piece, at..end), is_lines: false }
    }

    pub(super) fn replace_units(&mut self, with: char, count: Option<usize>) {
        let Some(range) = self.selected_or_next(count) else { return };
        self.begin();
        let start = range.start;
        self.each_unit(range, |_| with.to_string());
        let to = match self.leave_visual() {
            Some(()) => start,
            None => left(self.buffer.piece(), self.cursor()),
        };
        self.buffer.move_to(to);
    }

    pub(super) fn toggle_case(&mut self, count: Option<usize>) {
        let Some(range) = self.selected_or_next(count) else { return };
        self.begin();
        let start = range.start;
        self.each_unit(range, |text| text.chars().flat_map(toggled).collect());
        if self.leave_visual().is_some() {
            self.buffer.move_to(start);
        }
    }

    /// What is selected, or so many units behind the cursor in its line.
    fn selected_or_next(&self, count: Option<usize>) -> Option<Range<usize>> {
        let (piece, at) = (self.buffer.piece(), self.cursor());
        let next = || at..reach(piece, Motion::Right, count, at).unwrap_or(at);
        Some(self.selection().unwrap_or_else(next)).filter(|range| !range.is_empty())
    }

    /// Changes the characters of a range one by one; atoms and line ends stay.
    fn each_unit(&mut self, range: Range<usize>, change: impl Fn(&str) -> String) {
        let piece = self.buffer.piece();
        let mut changed = Piece::default();
        for unit in piece.units(range.start).take_while(|unit| unit.range.start < range.end) {
            match unit.class {
                Class::Atom | Class::Newline => changed.append(&piece.slice(unit.range)),
                Class::Blank | Class::Word | Class::Mark => {
                    changed.append(&Piece::plain(&change(piece.get(unit.range))));
                }
            }
        }
        self.buffer.edit(range, changed);
    }

    pub(super) fn join(&mut self, count: Option<usize>) {
        let selected = self.selection();
        self.leave_visual();
        self.begin();
        let times = match &selected {
            Some(range) => self.buffer.piece().get(range.clone()).matches('\n').count().max(1),
            None => count.unwrap_or(2).max(2) - 1,
        };
        let mut at = selected.map_or(self.cursor(), |range| range.start);
        for _ in 0..times {
            let piece = self.buffer.piece();
            let end = line_end(piece, at);
            if end == piece.len() {
                break;
            }
            let next = line_text(piece, end + 1);
            let needs_blank = end > line_start(piece, end) && next < line_end(piece, next);
            self.buffer.edit(end..next, Piece::plain(if needs_blank { " " } else { "" }));
            self.buffer.move_to(end);
            at = end;
        }
    }

    pub(super) fn put_back(&mut self, side: Side, count: Option<usize>) {
        let Some(Kill { piece, is_lines }) = self.kills.newest().cloned() else { return };
        self.begin();
        if let Some(range) = self.selection() {
            self.leave_visual();
            let old = self.buffer.edit(range, piece);
            self.kills.push(Kill { piece: old, is_lines: false });
            return;
        }
        let times = count.unwrap_or(1).min(MAX_PUT / piece.expanded().len().max(1)).max(1);
        let newline = Piece::plain("\n");
        let mut all = piece.clone();
        for _ in 1..times {
            if is_lines {
                all.append(&newline);
            }
            all.append(&piece);
        }
        let (text, at) = (self.buffer.piece(), self.cursor());
        match (is_lines, side) {
            (false, Side::Before) => self.put_characters(at, all),
            (false, Side::Behind) => self.put_characters(right(text, at).min(line_end(text, at)), all),
            (true, Side::Before) => {
                let start = line_start(text, at);
                all.append(&newline);
                self.put_lines(start, all, start);
            }
            (true, Side::Behind) => {
                let end = line_end(text, at);
                all.splice(0..0, &newline);
                self.put_lines(end, all, end + 1);
            }
        }
    }

    fn put_characters(&mut self, at: usize, piece: Piece) {
        self.buffer.edit(at..at, piece);
        self.buffer.move_to(left(self.buffer.piece(), self.cursor()));
    }

    fn put_lines(&mut self, at: usize, piece: Piece, cursor: usize) {
        self.buffer.edit(at..at, piece);
        self.buffer.move_to(line_text(self.buffer.piece(), cursor));
    }

    /// Ends visual mode, if it was on.
    fn leave_visual(&mut self) -> Option<()> {
        let is_on = matches!(self.mode(), Some(VimMode::Visual | VimMode::VisualLine));
        is_on.then(|| self.set_mode(VimMode::Normal))
    }
}

/// The lines of two places and those between, without the last line end.
fn lines(piece: &Piece, first: usize, last: usize) -> Reach {
    Reach { range: line_start(piece, first)..line_end(piece, last), is_lines: true }
}

/// A range of words without the line end and the indent of a line that it only just reaches.
fn in_line(piece: &Piece, range: Range<usize>) -> Range<usize> {
    let text = piece.get(range.clone());
    match text.rfind('\n') {
        Some(newline) if newline > 0 && text.get(newline..).is_some_and(|rest| rest.trim().is_empty()) => {
            range.start..range.start + newline
        }
        Some(_) | None => range,
    }
}

fn toggled(c: char) -> impl Iterator<Item = char> {
    let (lower, upper) =
        if c.is_uppercase() { (Some(c.to_lowercase()), None) } else { (None, Some(c.to_uppercase())) };
    lower.into_iter().flatten().chain(upper.into_iter().flatten())
}
