//! The keys of Vim: insert mode with the usual keys, normal mode, and a simple visual mode.

mod motion;
mod object;
mod operate;
mod parse;

use std::ops::Range;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use self::motion::reach;
use self::parse::{Command, Extent, Find, Motion, Place, Stop, Verb};
use super::editor::{Editor, Handled, Last};
use super::kill::Side;
use super::motion::{left, line_end, line_start, line_text, right};
use super::piece::Piece;
use super::usual::Way;

/// The mode of Vim's keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum VimMode {
    /// Keys are text.
    #[default]
    Insert,
    /// Keys are commands.
    Normal,
    /// Commands are for a selection of characters.
    Visual,
    /// Commands are for a selection of lines.
    VisualLine,
}

/// What Vim's keys remember.
#[derive(Debug, Default)]
pub(super) struct Vim {
    mode: VimMode,
    /// The keys of a command that is not complete.
    pending: String,
    /// The end of the selection that does not move.
    anchor: usize,
    find: Option<Find>,
    /// The keys of the last change.
    change: Vec<KeyEvent>,
    /// The keys of the command that goes on, with what is typed in it.
    recorded: Option<Vec<KeyEvent>>,
    is_repeating: bool,
}

impl Vim {
    pub(super) fn mode(&self) -> VimMode {
        self.mode
    }

    /// Ready for another text; the last change can still be repeated.
    pub(super) fn restart(&mut self) {
        self.mode = VimMode::Insert;
        self.pending.clear();
        self.recorded = None;
    }
}

impl Editor {
    pub(super) fn vim_key(&mut self, key: KeyEvent) -> Handled {
        let last = std::mem::take(&mut self.last);
        let Some(vim) = &mut self.vim else { return Handled::Passed };
        if vim.mode == VimMode::Insert {
            vim.recorded.iter_mut().for_each(|keys| keys.push(key));
            return if key.code == KeyCode::Esc { self.leave_insert() } else { self.usual_key(key, &last) };
        }
        let is_pending = !vim.pending.is_empty();
        if !is_pending {
            vim.recorded = Some(Vec::new());
        }
        vim.recorded.iter_mut().for_each(|keys| keys.push(key));
        match (key.code, key.modifiers) {
            (KeyCode::Char('r'), KeyModifiers::CONTROL) if vim.mode == VimMode::Normal => {
                vim.pending.clear();
                self.buffer.redo();
                self.clamp();
                Handled::Taken
            }
            (KeyCode::Esc, _) => {
                let is_taken = is_pending || vim.mode != VimMode::Normal;
                vim.pending.clear();
                vim.mode = VimMode::Normal;
                if is_taken { Handled::Taken } else { Handled::Passed }
            }
            (KeyCode::Enter, KeyModifiers::NONE) => {
                vim.pending.clear();
                Handled::Submit
            }
            (code, mods) => match command_char(code, mods, is_pending) {
                Some(c) => self.command_char(c, &last),
                None => {
                    vim.pending.clear();
                    // Ctrl+C and the like are the caller's at any time; others only end the command.
                    let is_ours = is_pending && !mods.contains(KeyModifiers::CONTROL);
                    if is_ours { Handled::Taken } else { Handled::Passed }
                }
            },
        }
    }

    fn command_char(&mut self, c: char, last: &Last) -> Handled {
        let Some(vim) = &mut self.vim else { return Handled::Passed };
        vim.pending.push(c);
        let is_visual = vim.mode != VimMode::Normal;
        let parsed = if is_visual { parse::visual(&vim.pending) } else { parse::normal(&vim.pending) };
        let is_first = vim.pending.chars().nth(1).is_none();
        match parsed {
            Err(Stop::More) => return Handled::Taken,
            Err(Stop::Nothing) => {
                vim.pending.clear();
                return if is_first { Handled::Passed } else { Handled::Taken };
            }
            Ok(_) => vim.pending.clear(),
        }
        let Ok(command) = parsed else { return Handled::Taken };
        let is_change = !is_visual && command.is_change();
        let handled = self.run(command, last);
        self.clamp();
        self.keep(is_change);
        handled
    }

    /// Keeps the keys of a change that is complete, to repeat it.
    fn keep(&mut self, is_change: bool) {
        let Some(vim) = self.vim.as_mut().filter(|vim| !vim.is_repeating) else { return };
        if !is_change {
            vim.recorded = None;
        } else if vim.mode == VimMode::Normal {
            vim.change = vim.recorded.take().unwrap_or_default();
        }
    }

    fn run(&mut self, command: Command, last: &Last) -> Handled {
        let Command { count, verb } = command;
        let at = self.cursor();
        match verb {
            Verb::Move(motion) => return self.go(motion, count, last),
            Verb::Operate(operator, target) => self.operate(operator, &target, count),
            Verb::Insert(place) => self.insert_at(place),
            Verb::Replace(c) => self.replace_units(c, count),
            Verb::ToggleCase => self.toggle_case(count),
            Verb::Join => self.join(count),
            Verb::Put(side) => self.put_back(side, count),
            Verb::Undo => (0..count.unwrap_or(1)).for_each(|_| self.buffer.undo()),
            Verb::Repeat => self.repeat(),
            Verb::Select(extent) => self.select(extent),
            Verb::SelectObject(object) => {
                if let Some(range) = object::range(self.buffer.piece(), object, at) {
                    self.anchor(range.start);
                    self.buffer.move_to(left(self.buffer.piece(), range.end));
                }
            }
            Verb::Swap => {
                let anchor = self.vim.as_ref().map_or(at, |vim| vim.anchor);
                self.anchor(at);
                self.buffer.move_to(anchor);
            }
        }
        Handled::Taken
    }

    /// Moves by a motion. Up and down are by rows as they are seen, and passed on where there are none.
    fn go(&mut self, motion: Motion, count: Option<usize>, last: &Last) -> Handled {
        let way = match motion {
            Motion::Up => Some(Way::Up),
            Motion::Down => Some(Way::Down),
            _ => None,
        };
        if let Some(way) = way {
            let handled = self.row(way, last);
            for _ in 1..count.unwrap_or(1) {
                let last = self.last.clone();
                if self.row(way, &last) == Handled::Passed {
                    break;
                }
            }
            return handled;
        }
        if let Some((to, _)) = self.reach(motion, count) {
            self.buffer.move_to(to);
        }
        Handled::Taken
    }

    /// Where a motion leads, and what it is if it repeats a find.
    fn reach(&mut self, motion: Motion, count: Option<usize>) -> Option<(usize, Motion)> {
        let vim = self.vim.as_mut()?;
        let (piece, at) = (self.buffer.piece(), self.buffer.cursor());
        let (motion, from) = match motion {
            Motion::Find(find) => {
                vim.find = Some(find);
                (motion, at)
            }
            Motion::FindAgain | Motion::FindBack => {
                let find = vim.find?;
                let is_back = motion == Motion::FindBack;
                let side = if is_back { other(find.side) } else { find.side };
                // A find that stops short would find again what it stands before.
                let from = match (find.is_till, side) {
                    (true, Side::Behind) => right(piece, at),
                    (true, Side::Before) => left(piece, at),
                    (false, _) => at,
                };
                (Motion::Find(Find { side, ..find }), from)
            }
            motion => (motion, at),
        };
        reach(piece, motion, count, from).map(|to| (to, motion))
    }

    fn insert_at(&mut self, place: Place) {
        self.begin();
        let (piece, at) = (self.buffer.piece(), self.cursor());
        let to = match place {
            Place::Here => at,
            Place::Behind => right(piece, at).min(line_end(piece, at)),
            Place::LineText => line_text(piece, at),
            Place::LineEnd => line_end(piece, at),
            Place::LineBelow => {
                let end = line_end(piece, at);
                self.buffer.edit(end..end, Piece::plain("\n"));
                self.cursor()
            }
            Place::LineAbove => {
                let start = line_start(piece, at);
                self.buffer.edit(start..start, Piece::plain("\n"));
                start
            }
        };
        self.insert(to);
    }

    /// Begins to type at a place; what is typed is one change with what was done before.
    fn insert(&mut self, at: usize) {
        self.buffer.move_to(at);
        self.last = Last::Typed;
        self.set_mode(VimMode::Insert);
    }

    fn leave_insert(&mut self) -> Handled {
        let (piece, at) = (self.buffer.piece(), self.cursor());
        let to = left(piece, at).max(line_start(piece, at));
        self.buffer.move_to(to);
        self.set_mode(VimMode::Normal);
        if let Some(vim) = self.vim.as_mut().filter(|vim| !vim.is_repeating)
            && let Some(keys) = vim.recorded.take()
        {
            vim.change = keys;
        }
        Handled::Taken
    }

    /// Does the last change again.
    fn repeat(&mut self) {
        let Some(vim) = self.vim.as_mut().filter(|vim| !vim.is_repeating) else { return };
        let keys = vim.change.clone();
        self.buffer.begin();
        self.set_repeating(Repeating::Yes);
        for key in keys {
            self.vim_key(key);
        }
        self.set_repeating(Repeating::No);
        if let Some(vim) = &mut self.vim {
            vim.recorded = None;
        }
    }

    pub(super) fn is_repeating(&self) -> bool {
        self.vim.as_ref().is_some_and(|vim| vim.is_repeating)
    }

    fn set_repeating(&mut self, repeating: Repeating) {
        self.vim.iter_mut().for_each(|vim| vim.is_repeating = repeating == Repeating::Yes);
    }

    fn set_mode(&mut self, mode: VimMode) {
        self.vim.iter_mut().for_each(|vim| vim.mode = mode);
    }

    fn anchor(&mut self, at: usize) {
        self.vim.iter_mut().for_each(|vim| vim.anchor = at);
    }

    fn select(&mut self, extent: Extent) {
        let at = self.cursor();
        let mode = match extent {
            Extent::Characters => VimMode::Visual,
            Extent::Lines => VimMode::VisualLine,
        };
        match self.mode() {
            Some(now) if now == mode => self.set_mode(VimMode::Normal),
            Some(VimMode::Visual | VimMode::VisualLine) => self.set_mode(mode),
            Some(VimMode::Normal | VimMode::Insert) | None => {
                self.anchor(at);
                self.set_mode(mode);
            }
        }
    }

    /// What is selected.
    pub(super) fn selection(&self) -> Option<Range<usize>> {
        let vim = self.vim.as_ref()?;
        let (piece, at) = (self.buffer.piece(), self.cursor());
        let (first, last) = (vim.anchor.min(at), vim.anchor.max(at));
        match vim.mode {
            VimMode::Insert | VimMode::Normal => None,
            VimMode::Visual => Some(first..right(piece, last)),
            VimMode::VisualLine => Some(line_start(piece, first)..line_end(piece, last)),
        }
    }

    /// After a change that came from elsewhere: a selection may be gone.
    pub(super) fn vim_settle(&mut self) {
        let Some(vim) = &mut self.vim else { return };
        vim.pending.clear();
        if vim.mode != VimMode::Insert {
            vim.mode = VimMode::Normal;
        }
        self.clamp();
    }

    /// Outside of insert mode the cursor is on a character, not behind the last.
    fn clamp(&mut self) {
        let (piece, at) = (self.buffer.piece(), self.cursor());
        let is_past = at == line_end(piece, at) && at > line_start(piece, at);
        if is_past && self.mode().is_some_and(|mode| mode != VimMode::Insert) {
            self.buffer.move_to(left(piece, at));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeating {
    Yes,
    No,
}

fn other(side: Side) -> Side {
    match side {
        Side::Before => Side::Behind,
        Side::Behind => Side::Before,
    }
}

/// The command that a key stands for. Keys without a character begin a command and never go on with one.
fn command_char(code: KeyCode, mods: KeyModifiers, is_pending: bool) -> Option<char> {
    let by_word = mods.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    match code {
        KeyCode::Char(c) if KeyModifiers::SHIFT.contains(mods) => Some(c),
        KeyCode::Char(_) => None,
        _ if is_pending => None,
        KeyCode::Left if by_word => Some('b'),
        KeyCode::Right if by_word => Some('w'),
        KeyCode::Left | KeyCode::Backspace => Some('h'),
        KeyCode::Right => Some('l'),
        KeyCode::Up if mods.is_empty() => Some('k'),
        KeyCode::Down if mods.is_empty() => Some('j'),
        KeyCode::Home => Some('0'),
        KeyCode::End => Some('$'),
        KeyCode::Delete => Some('x'),
        _ => None,
    }
}
