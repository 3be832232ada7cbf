//! What stands at a changed place: the new lines, and those of the old ones that stay, byte for byte as the file has them.

use std::ops::Range;

use super::fold::{Fold, Folded};
use super::indent::Shift;
use crate::diff::changes;
use crate::lines::{Ends, lines_ending, usual_ending, with_endings};

/// What an edit means, once its place is found: all line endings are `\n`.
#[derive(Debug)]
pub(super) struct Meant {
    /// The old text.
    pub(super) old: String,
    /// The new text.
    pub(super) new: String,
    /// How much deeper the place is than the old text.
    pub(super) shift: Option<Shift>,
}

impl Meant {
    /// The texts as they were written.
    pub(super) fn of(old: &str, new: &str) -> Self {
        Self { old: old.replace("\r\n", "\n"), new: new.replace("\r\n", "\n"), shift: None }
    }

    /// What stands at the place after the change.
    pub(super) fn rebuild(&self, part: &str, ends: Ends, ending: Option<&str>) -> String {
        // Without any line ending in the file there is none to keep to.
        let ending = ending.unwrap_or("\n");
        let mut file: Vec<(&str, &str)> =
            lines_ending(part, ends).map(|line| (line.body, line.ending)).collect();
        if part.is_empty() || file.last().is_some_and(|(_, ending)| !ending.is_empty()) {
            file.push(("", ""));
        }
        let old: Vec<&str> = self.old.split('\n').collect();
        if file.len() != old.len() {
            return with_endings(&self.new, ending);
        }
        let new: Vec<&str> = self.new.split('\n').collect();
        let mut out = Rebuilt { out: String::with_capacity(self.new.len()), left: new.len(), ending };
        let mut at = 0;
        for change in changes(&old, &new) {
            out.same(file.get(at..change.old.start).unwrap_or_default());
            let gone = change.old.clone();
            let paired = gone.len() == change.new.len();
            for (nth, line) in new.get(change.new.clone()).unwrap_or_default().iter().enumerate() {
                let before = gone.start + nth;
                match (old.get(before), file.get(before)) {
                    (Some(old), Some((body, _))) if paired => out.line(&self.carried(body, old, line)),
                    (Some(_) | None, Some(_) | None) => out.line(&self.shifted(line)),
                }
            }
            at = gone.end;
        }
        out.same(file.get(at..).unwrap_or_default());
        out.out
    }

    fn shifted(&self, line: &str) -> String {
        self.shift.as_ref().map_or_else(|| line.to_owned(), |shift| shift.line(line))
    }

    /// A changed line, with the file's own letters where the old and the new line agree.
    fn carried(&self, file: &str, old: &str, new: &str) -> String {
        if self.shift.is_some() || file == old {
            return self.shifted(new);
        }
        carry(file, old, new).unwrap_or_else(|| new.to_owned())
    }
}

struct Rebuilt<'a> {
    out: String,
    /// Lines that are still to come; the last has no ending, since the place ends with it.
    left: usize,
    ending: &'a str,
}

impl Rebuilt<'_> {
    fn same(&mut self, lines: &[(&str, &str)]) {
        for (body, ending) in lines {
            self.put(body, if ending.is_empty() { self.ending } else { ending });
        }
    }

    fn line(&mut self, body: &str) {
        self.put(body, self.ending);
    }

    fn put(&mut self, body: &str, ending: &str) {
        self.out.push_str(body);
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            self.out.push_str(ending);
        }
    }
}

fn carry(file: &str, old: &str, new: &str) -> Option<String> {
    let first: usize = old
        .chars()
        .zip(new.chars())
        .take_while(|(one, other)| one == other)
        .map(|(letter, _)| letter.len_utf8())
        .sum();
    let (old_rest, new_rest) = (old.get(first..)?, new.get(first..)?);
    let last: usize = old_rest
        .chars()
        .rev()
        .zip(new_rest.chars().rev())
        .take_while(|(one, other)| one == other)
        .map(|(letter, _)| letter.len_utf8())
        .sum();
    let folded = |text: &str| Folded::of(text, Ends::None, Fold::Punctuation);
    let whole = folded(file);
    // Blanks at the end of a line fold to nothing, so a part of a line folds with something behind it.
    let length = |text: &str| folded(&format!("{text}.")).text.len() - 1;
    let start = whole.end(length(old.get(..first)?))?;
    let end = whole.start(length(old.get(..old.len() - last)?))?;
    let middle = new.get(first..new.len() - last)?;
    if start > end {
        return None;
    }
    Some([file.get(..start)?, middle, file.get(end..)?].concat())
}

/// The ending that a new line gets where all are the same, or most; nothing where there is only one line.
pub(super) fn usual(text: &str, ends: Ends) -> Option<&'static str> {
    match ends {
        Ends::None => None,
        Ends::Lf | Ends::CrLf | Ends::Cr => ends.only(),
        Ends::Mixed => Some(usual_ending(text)),
    }
}

/// The ending that a new line gets at a place: where they differ, that of the line it is at.
pub(super) fn near(text: &str, ends: Ends, place: &Range<usize>) -> Option<&'static str> {
    match ends {
        Ends::None | Ends::Lf | Ends::CrLf | Ends::Cr => usual(text, ends),
        Ends::Mixed => {
            let bytes = text.as_bytes();
            let after = bytes.get(place.start..).unwrap_or_default();
            let at = memchr::memchr(b'\n', after)
                .map(|at| at + place.start)
                .or_else(|| memchr::memrchr(b'\n', bytes))?;
            let before = at.checked_sub(1).and_then(|before| bytes.get(before));
            Some(if before == Some(&b'\r') { "\r\n" } else { "\n" })
        }
    }
}
