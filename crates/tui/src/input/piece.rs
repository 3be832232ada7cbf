use std::ops::Range;
use std::sync::Arc;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::Attachment;

/// What an atom stands for.
#[derive(PartialEq, Debug)]
pub(super) enum Content {
    /// A long text that was pasted.
    Paste(String),
    /// An image or a file.
    Media(Attachment),
}

/// A stretch of text that is one character to the user and stands for something else.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Atom {
    pub(super) range: Range<usize>,
    pub(super) content: Arc<Content>,
}

/// A text with its atoms. What is cut, kept for undo or put back is one too, so that no atom loses what it stands for.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Piece {
    text: String,
    /// In order, without overlaps.
    atoms: Vec<Atom>,
}

/// What a cursor passes in one step: a grapheme or an atom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Unit {
    pub(super) range: Range<usize>,
    pub(super) class: Class,
}

/// What a unit is to motions by words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Newline,
    Blank,
    Word,
    Mark,
    Atom,
}

impl Class {
    pub(super) fn is_space(self) -> bool {
        matches!(self, Self::Newline | Self::Blank)
    }

    fn of(grapheme: &str) -> Self {
        match grapheme.chars().next() {
            Some('\n') => Self::Newline,
            Some(c) if c.is_whitespace() => Self::Blank,
            Some(c) if c.is_alphanumeric() || c == '_' => Self::Word,
            Some(_) | None => Self::Mark,
        }
    }
}

impl Piece {
    /// Text without atoms, and without what cannot be typed.
    pub(super) fn plain(text: &str) -> Self {
        Self { text: clean(text), atoms: Vec::new() }
    }

    pub(super) fn atom(label: String, content: Content) -> Self {
        let atom = Atom { range: 0..label.len(), content: Arc::new(content) };
        Self { text: label, atoms: vec![atom] }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text of a range; none if there is no such range.
    pub(super) fn get(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// A copy of what is in a range that begins and ends beside units.
    pub(super) fn slice(&self, range: Range<usize>) -> Self {
        let inside = |atom: &&Atom| range.start <= atom.range.start && atom.range.end <= range.end;
        let atoms = self.atoms.iter().filter(inside).map(|atom| atom.moved(0, range.start)).collect();
        Self { text: self.get(range.clone()).to_owned(), atoms }
    }

    /// Puts a piece in the place of a range and gives back what was there. The range must lie on bounds of characters.
    pub(super) fn splice(&mut self, range: Range<usize>, with: &Self) -> Self {
        if self.text.get(range.clone()).is_none() {
            return Self::default();
        }
        let old = self.slice(range.clone());
        let first = self.atoms.partition_point(|atom| atom.range.start < range.start);
        let mut behind = self.atoms.split_off(first);
        behind.retain(|atom| atom.range.start >= range.end);
        self.atoms.extend(with.atoms.iter().map(|atom| atom.moved(range.start, 0)));
        self.atoms.extend(behind.iter().map(|atom| atom.moved(with.len(), range.end - range.start)));
        self.text.replace_range(range, &with.text);
        old
    }

    pub(super) fn append(&mut self, other: &Self) {
        self.splice(self.len()..self.len(), other);
    }

    /// The unit behind a place.
    pub(super) fn next(&self, at: usize) -> Option<Unit> {
        let first = self.atoms.partition_point(|atom| atom.range.start < at);
        let atom = self.atoms.get(first);
        if let Some(atom) = atom.filter(|atom| atom.range.start == at) {
            return Some(Unit { range: atom.range.clone(), class: Class::Atom });
        }
        let end = atom.map_or(self.len(), |atom| atom.range.start);
        let stretch = self.get(at..end);
        let grapheme = match stretch.as_bytes() {
            // Most text is ASCII, in which a byte before another is a character: long texts stay quick.
            [one, rest @ ..] if one.is_ascii() && rest.first().is_none_or(u8::is_ascii) => {
                stretch.get(..1)?
            }
            _ => stretch.graphemes(true).next()?,
        };
        Some(Unit { range: at..at + grapheme.len(), class: Class::of(grapheme) })
    }

    /// The unit before a place.
    pub(super) fn prev(&self, at: usize) -> Option<Unit> {
        let behind = self.atoms.partition_point(|atom| atom.range.end <= at);
        let atom = behind.checked_sub(1).and_then(|last| self.atoms.get(last));
        if let Some(atom) = atom.filter(|atom| atom.range.end == at) {
            return Some(Unit { range: atom.range.clone(), class: Class::Atom });
        }
        let start = atom.map_or(0, |atom| atom.range.end);
        let grapheme = self.get(start..at).graphemes(true).next_back()?;
        Some(Unit { range: at - grapheme.len()..at, class: Class::of(grapheme) })
    }

    /// The units from a place on.
    pub(super) fn units(&self, from: usize) -> impl Iterator<Item = Unit> {
        std::iter::successors(self.next(from), |unit| self.next(unit.range.end))
    }

    /// The units before a place, backwards.
    pub(super) fn units_back(&self, from: usize) -> impl Iterator<Item = Unit> {
        std::iter::successors(self.prev(from), |unit| self.prev(unit.range.start))
    }

    /// The last place at or before this one where a cursor may be.
    pub(super) fn floor(&self, at: usize) -> usize {
        let at = self.text.floor_char_boundary(at.min(self.len()));
        match self.around(at) {
            Ok(stretch) if bound(self.get(stretch.clone()), at - stretch.start) => at,
            Ok(stretch) => {
                let text = self.get(stretch.clone());
                let before = GraphemeCursor::new(at - stretch.start, text.len(), true).prev_boundary(text, 0);
                stretch.start + before.ok().flatten().unwrap_or(0)
            }
            Err(atom) => atom.start,
        }
    }

    /// The first place at or behind this one where a cursor may be.
    pub(super) fn ceil(&self, at: usize) -> usize {
        let floor = self.floor(at);
        let end = |unit: Unit| unit.range.end;
        if floor < at { self.next(floor).map_or(self.len(), end) } else { floor }
    }

    /// The stretch without atoms that a place lies in or at the edge of, or the atom that it lies inside.
    fn around(&self, at: usize) -> Result<Range<usize>, Range<usize>> {
        let next = self.atoms.partition_point(|atom| atom.range.end <= at);
        let start = next.checked_sub(1).and_then(|last| self.atoms.get(last)).map_or(0, |a| a.range.end);
        match self.atoms.get(next) {
            Some(atom) if atom.range.start < at => Err(atom.range.clone()),
            Some(atom) => Ok(start..atom.range.start),
            None => Ok(start..self.len()),
        }
    }

    /// The text with what was pasted in the place of its atoms; other atoms stay as they are shown.
    pub(super) fn expanded(&self) -> String {
        let mut out = String::with_capacity(self.len());
        let mut at = 0;
        for atom in &self.atoms {
            match &*atom.content {
                Content::Paste(text) => {
                    out.push_str(self.get(at..atom.range.start));
                    out.push_str(text);
                }
                Content::Media(_) => out.push_str(self.get(at..atom.range.end)),
            }
            at = atom.range.end;
        }
        out.push_str(self.get(at..self.len()));
        out
    }
}

impl Atom {
    fn moved(&self, on: usize, back: usize) -> Self {
        let Range { start, end } = self.range;
        Self { range: start + on - back..end + on - back, content: Arc::clone(&self.content) }
    }
}

fn bound(text: &str, at: usize) -> bool {
    GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(true)
}

/// A text as it can be typed: line ends are `\n`, and of control characters only tabs are left.
pub(super) fn clean(text: &str) -> String {
    let text = if text.contains('\r') { &text.replace("\r\n", "\n").replace('\r', "\n") } else { text };
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
