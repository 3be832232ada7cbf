use std::ops::Range;
use std::sync::Arc;

use crossterm::event::{KeyEvent, KeyEventKind};
use rail_model::{Media, MediaKind};

use super::buffer::Buffer;
use super::kill::Kills;
use super::layout::{self, column_of, row_of};
use super::piece::{Content, Piece, clean};
use super::vim::{Vim, VimMode};
use crate::text::{Line, Look, Role, Span};

/// What can be attached to a message: an image, or another medium.
pub type Attachment = Media;

/// A paste of more characters becomes an atom.
const MAX_PASTE_CHARS: usize = 1_000;
/// A paste of more lines becomes an atom.
const MAX_PASTE_LINES: usize = 10;

/// Whose keys the editor takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Keys {
    /// Those of shells and Emacs.
    #[default]
    Usual,
    /// Those of Vim, with modes.
    Vim,
}

/// What became of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handled {
    /// It was the editor's key.
    Taken,
    /// It means nothing here; the caller may use it.
    Passed,
    /// The user wants to send what is typed.
    Submit,
}

/// What was typed, when it is sent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Typed {
    /// The text, with what was pasted in full.
    pub text: String,
    /// What is attached, in the order of its places in the text, each once.
    pub attachments: Vec<Attachment>,
    /// The text as it was shown, with long pastes as `[Pasted text #1 +34 lines]`.
    pub shown: String,
}

/// What is to be seen of an editor.
#[derive(Clone, PartialEq, Debug)]
pub struct View {
    /// The rows, from top to bottom; at least one.
    pub rows: Vec<Line>,
    /// The row and the column of the cursor.
    pub cursor: (usize, usize),
    /// How many rows there are above these.
    pub above: usize,
    /// How many rows there are below these.
    pub below: usize,
}

/// A text of several lines that is edited with keys.
#[derive(Debug)]
pub struct Editor {
    pub(super) buffer: Buffer,
    pub(super) kills: Kills,
    pub(super) last: Last,
    pub(super) vim: Option<Vim>,
    /// The width that was last shown: keys move by what is seen.
    pub(super) width: usize,
    /// The first row that was last shown.
    top: usize,
    /// How many pastes and media have got a number.
    numbers: (usize, usize),
}

/// What the last key did, where the next one depends on it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) enum Last {
    #[default]
    Other,
    /// Text was typed.
    Typed,
    /// A character was deleted.
    Erased,
    /// Text was cut.
    Killed,
    /// What was cut was put back.
    Yanked,
    /// The cursor moved up or down, from this column.
    Row(usize),
}

/// A text that can be put back as it was, with its atoms.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Draft {
    piece: Piece,
    cursor: usize,
}

impl Draft {
    pub(super) fn is(&self, text: &str) -> bool {
        self.piece.text() == text && self.piece.atoms().is_empty()
    }
}

impl Editor {
    /// An empty editor with these keys.
    pub fn new(keys: Keys) -> Self {
        let mut editor = Self {
            buffer: Buffer::default(),
            kills: Kills::default(),
            last: Last::Other,
            vim: None,
            width: 80,
            top: 0,
            numbers: (0, 0),
        };
        editor.set_keys(keys);
        editor
    }

    /// Takes other keys from now on.
    pub fn set_keys(&mut self, keys: Keys) {
        self.vim = match keys {
            Keys::Usual => None,
            Keys::Vim => Some(self.vim.take().unwrap_or_default()),
        };
    }

    /// Takes in a key.
    pub fn key(&mut self, key: KeyEvent) -> Handled {
        if key.kind == KeyEventKind::Release {
            return Handled::Taken;
        }
        match self.mode() {
            None => {
                let last = std::mem::take(&mut self.last);
                self.usual_key(key, &last)
            }
            Some(_) => self.vim_key(key),
        }
    }

    /// Takes in text that was pasted: a long one as one character that stands for it.
    pub fn paste(&mut self, text: &str) {
        let text = clean(text);
        let lines = text.lines().count();
        let piece = if lines > MAX_PASTE_LINES || text.chars().nth(MAX_PASTE_CHARS).is_some() {
            self.numbers.0 += 1;
            let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
            Piece::atom(format!("[Pasted text #{} +{lines}]", self.numbers.0), Content::Paste(text))
        } else {
            Piece::plain(&text)
        };
        self.put(piece);
    }

    /// Attaches an image: shown as `[Image #1]` in the text, and taken away with it.
    pub fn attach(&mut self, attachment: Attachment) {
        self.numbers.1 += 1;
        let kind = match attachment.kind {
            MediaKind::Image => "Image",
            MediaKind::Document => "Document",
            MediaKind::Audio => "Audio",
            MediaKind::Video => "Video",
        };
        self.put(Piece::atom(format!("[{kind} #{}]", self.numbers.1), Content::Media(attachment)));
    }

    /// The text as it is shown.
    pub fn text(&self) -> &str {
        self.buffer.piece().text()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.buffer.piece().is_empty()
    }

    /// Where the cursor is, in bytes of [`text`](Self::text).
    pub fn cursor(&self) -> usize {
        self.buffer.cursor()
    }

    /// Puts a text in the place of all, the cursor at its end. It can be undone.
    pub fn set(&mut self, text: &str) {
        self.replace(0..self.text().len(), text);
    }

    /// Puts a text in the place of a range of [`text`](Self::text), the cursor behind it. What a range cuts is replaced whole.
    pub fn replace(&mut self, range: Range<usize>, with: &str) {
        self.settled(|editor| {
            editor.buffer.edit(range, Piece::plain(with));
        });
    }

    /// Takes what was typed and leaves nothing, not even to undo.
    pub fn take(&mut self) -> Typed {
        let buffer = std::mem::take(&mut self.buffer);
        self.last = Last::Other;
        self.numbers = (0, 0);
        self.top = 0;
        if let Some(vim) = &mut self.vim {
            vim.restart();
        }
        let piece = buffer.piece();
        let mut media: Vec<&Arc<Content>> = Vec::new();
        for atom in piece.atoms() {
            if !media.iter().any(|seen| Arc::ptr_eq(seen, &atom.content)) {
                media.push(&atom.content);
            }
        }
        let attached = |content: &Arc<Content>| match &**content {
            Content::Media(media) => Some(media.clone()),
            Content::Paste(_) => None,
        };
        Typed {
            text: piece.expanded(),
            attachments: media.into_iter().filter_map(attached).collect(),
            shown: piece.text().to_owned(),
        }
    }

    /// The mode of Vim's keys, if they are taken.
    pub fn mode(&self) -> Option<VimMode> {
        self.vim.as_ref().map(Vim::mode)
    }

    /// What is to be seen at this size. The width is remembered: keys that move up and down move by these rows.
    pub fn view(&mut self, width: usize, max_rows: usize) -> View {
        let (width, max_rows) = (width.max(1), max_rows.max(1));
        self.width = width;
        let piece = self.buffer.piece();
        let rows = layout::rows(piece, width);
        let row = row_of(&rows, self.cursor());
        let range = rows.get(row).cloned().unwrap_or_default();
        let column = column_of(piece, &range, self.cursor()).min(width - 1);
        let top = self.top.max((row + 1).saturating_sub(max_rows));
        let top = top.min(row).min(rows.len().saturating_sub(max_rows));
        let chosen = self.selection();
        let shown = rows.iter().skip(top).take(max_rows);
        let lines: Vec<_> = shown.map(|row| line(piece, row, chosen.as_ref())).collect();
        self.top = top;
        let below = rows.len() - top - lines.len();
        View { rows: lines, cursor: (row - top, column), above: top, below }
    }

    /// What is typed, to be put back by [`restore`](Self::restore).
    pub(super) fn draft(&self) -> Draft {
        Draft { piece: self.buffer.piece().clone(), cursor: self.cursor() }
    }

    /// Puts a draft in the place of all. It can be undone.
    pub(super) fn restore(&mut self, draft: Draft) {
        self.settled(|editor| {
            editor.buffer.edit(0..editor.text().len(), draft.piece);
            editor.buffer.move_to(draft.cursor);
        });
    }

    fn put(&mut self, piece: Piece) {
        self.settled(|editor| {
            let at = editor.cursor();
            editor.buffer.edit(at..at, piece);
        });
    }

    /// A change that does not come from a key.
    fn settled(&mut self, change: impl FnOnce(&mut Self)) {
        self.buffer.begin();
        self.last = Last::Other;
        change(self);
        self.vim_settle();
    }
}

/// One row with its looks.
fn line(piece: &Piece, row: &Range<usize>, chosen: Option<&Range<usize>>) -> Line {
    let mut cuts = vec![row.start, row.end];
    let atoms = piece.atoms().iter().map(|atom| &atom.range);
    cuts.extend(atoms.chain(chosen).flat_map(|range| [range.start, range.end]));
    cuts.retain(|cut| row.start <= *cut && *cut <= row.end);
    cuts.sort_unstable();
    cuts.dedup();
    let within = |range: &Range<usize>, from: usize, to: usize| range.start <= from && to <= range.end;
    Line::new(cuts.windows(2).filter_map(|cut| {
        let [from, to] = *cut else { return None };
        let is_atom = piece.atoms().iter().any(|atom| within(&atom.range, from, to));
        let reverse = chosen.is_some_and(|chosen| within(chosen, from, to));
        let role = if is_atom { Role::Accent } else { Role::Plain };
        Some(Span::new(piece.get(from..to), Look { reverse, ..Look::of(role) }))
    }))
}
