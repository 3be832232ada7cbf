//! The steps by which a place is found, from the exact text to texts that only look like it.

use std::ops::Range;

use memchr::memmem::Finder;

use super::fold::{Fold, Folded, is_blank};
use super::indent::Shift;
use super::rebuild::Meant;
use super::{Edit, EditFault, Extent, Places, Step, line_numbers, nearest, punctuation};
use crate::lines::Ends;

/// Places that look right at first and are looked at closely; more than these are no place that can be told from others.
const MAX_LOOKED_AT: usize = 1_000;

/// Places with another indentation that are counted: each costs a look at all its lines.
const MAX_SHIFTED: usize = 10;

/// A place is in proportion if it has at most twice the bytes of the old text, and these.
const ROOM: usize = 200;

/// Where an edit is to be made, and what it means there.
#[derive(Debug)]
pub(super) struct Climbed {
    pub(super) step: Step,
    pub(super) places: Vec<Range<usize>>,
    pub(super) meant: Meant,
}

/// Tries step after step until one has a place.
pub(super) fn climb(text: &str, ends: Ends, edit: &Edit<'_>) -> Result<Climbed, EditFault> {
    let climb = Climb { text, ends, edit };
    let meant = || Meant::of(edit.old, edit.new);
    if let Some(climbed) = climb.settle(Step::Exact, climb.exact(), meant())? {
        return Ok(climbed);
    }
    if edit.old.contains('\r') || !matches!(ends, Ends::Lf | Ends::None) {
        let places = climb.folded(&climb.fold(Fold::Endings), Fold::Endings, edit.old);
        if let Some(climbed) = climb.settle(Step::LineEndings, places, meant())? {
            return Ok(climbed);
        }
    }
    // From here on, more than one place would be a guess.
    if let Places::Exactly(expected) = edit.places
        && expected > 1
    {
        return Err(EditFault::Count { expected, found: 0, lines: Vec::new() });
    }
    if let Some(climbed) = climb.trailing()? {
        return Ok(climbed);
    }
    if let Some(climbed) = climb.indented()? {
        return Ok(climbed);
    }
    if let Some(climbed) = climb.punctuation()? {
        return Ok(climbed);
    }
    Err(EditFault::Missing(nearest::nearest(text, edit.old)))
}

struct Climb<'a> {
    text: &'a str,
    ends: Ends,
    edit: &'a Edit<'a>,
}

impl Climb<'_> {
    fn exact(&self) -> Vec<Range<usize>> {
        let old = self.edit.old;
        let places = occurrences(self.text, old, self.edit.places);
        self.few(places.map(|at| at..at + old.len()).filter(|place| self.allowed(place)))
    }

    fn fold(&self, fold: Fold) -> Folded {
        Folded::of(self.text, self.ends, fold)
    }

    /// The places that are left when some differences do not count.
    fn folded(&self, folded: &Folded, fold: Fold, old: &str) -> Vec<Range<usize>> {
        let sought = Folded::of(old, if self.ends == Ends::Cr { Ends::of(old) } else { Ends::Lf }, fold).text;
        if fold != Fold::Endings && sought.trim().is_empty() {
            return Vec::new();
        }
        // Blanks that were written at the very end say that the line ends there.
        let closed = fold != Fold::Endings && old.ends_with(is_blank);
        let places = occurrences(&folded.text, &sought, self.edit.places);
        self.few(places.filter_map(|at| {
            let end = at + sought.len();
            let next = folded.text.as_bytes().get(end);
            let place = folded.start(at)?..folded.end(end)?;
            let fits = !closed || matches!(next, None | Some(b'\n'));
            let proportion = place.len() <= old.len() * 2 + ROOM;
            (fits && proportion && place.start <= place.end && self.allowed(&place)).then_some(place)
        }))
    }

    /// Where one place is meant, so many others show as well as all that it is not the only one.
    fn few(&self, places: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
        match self.edit.places {
            Places::One => places.take(MAX_LOOKED_AT).collect(),
            Places::First => places.take(1).collect(),
            Places::All | Places::Exactly(_) => places.collect(),
        }
    }

    /// Also a last line without a newline, where the old text has one.
    fn trailing(&self) -> Result<Option<Climbed>, EditFault> {
        let folded = self.fold(Fold::Trailing);
        let (mut old, mut new) = (self.edit.old, self.edit.new);
        let mut places = self.folded(&folded, Fold::Trailing, old);
        if places.is_empty()
            && !self.text.ends_with(['\n', '\r'])
            && let Some(unended) = old.strip_suffix('\n')
        {
            (old, new) = (unended, new.strip_suffix('\n').unwrap_or(new));
            let end = self.text.trim_end_matches(is_blank).len();
            places = self.folded(&folded, Fold::Trailing, old);
            places.retain(|place| place.end >= end);
        }
        self.one(Step::TrailingSpace, places, Meant::of(old, new))
    }

    /// Places where every line has the same words, all of them deeper or less deep by as much.
    fn indented(&self) -> Result<Option<Climbed>, EditFault> {
        let mut meant = Meant::of(self.edit.old, self.edit.new);
        let closed = meant.old.ends_with('\n');
        let body = meant.old.strip_suffix('\n').unwrap_or(&meant.old).to_owned();
        let sought = Folded::of(&body, Ends::Lf, Fold::Both).text;
        if sought.trim().is_empty() {
            return Ok(None);
        }
        let folded = self.fold(Fold::Both);
        let whole = |at: usize| {
            let (bytes, end) = (folded.text.as_bytes(), at + sought.len());
            let starts = at == 0 || bytes.get(at - 1) == Some(&b'\n');
            let lines = self.whole_lines(folded.start(at)?, folded.end(end)?);
            (starts && matches!(bytes.get(end), None | Some(b'\n'))).then_some(lines)
        };
        let mut found: Vec<(Range<usize>, Shift)> = Vec::new();
        for (nth, lines) in overlapping(&folded.text, &sought).filter_map(whole).enumerate() {
            if nth >= MAX_LOOKED_AT {
                return Ok(None);
            }
            let Some(shift) = Shift::between(&body, self.text.get(lines.clone()).unwrap_or_default()) else {
                continue;
            };
            let place = if closed { lines.start..self.line_end(lines.end) } else { lines };
            if self.allowed(&place) {
                found.push((place, shift));
            }
            if found.len() >= MAX_SHIFTED {
                break;
            }
        }
        let unended = !self.text.ends_with(['\n', '\r']);
        let places: Vec<_> = found.iter().map(|(place, _)| place.clone()).collect();
        if closed && unended && places.first().is_some_and(|place| place.end == self.text.len()) {
            meant.new = meant.new.strip_suffix('\n').unwrap_or(&meant.new).to_owned();
            meant.old = body;
        }
        meant.shift = found.into_iter().next().map(|(_, shift)| shift);
        self.one(Step::Indentation, places, meant)
    }

    /// The text itself, and what it may have been meant to be.
    fn punctuation(&self) -> Result<Option<Climbed>, EditFault> {
        let folded = self.fold(Fold::Punctuation);
        let mut tried: Vec<String> = Vec::new();
        for read in punctuation::readings() {
            let old = read(self.edit.old);
            if tried.contains(&old) {
                continue;
            }
            let places = self.folded(&folded, Fold::Punctuation, &old);
            let meant = Meant::of(&old, &read(self.edit.new));
            if let Some(climbed) = self.one(Step::Punctuation, places, meant)? {
                return Ok(Some(climbed));
            }
            tried.push(old);
        }
        Ok(None)
    }

    /// The lines that a place is in, without the ending of the last.
    fn whole_lines(&self, start: usize, end: usize) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let last = if self.ends == Ends::Cr { b'\r' } else { b'\n' };
        let first =
            bytes.get(..start).and_then(|before| memchr::memrchr(last, before)).map_or(0, |at| at + 1);
        let behind =
            bytes.get(end..).and_then(|after| memchr::memchr(last, after)).map_or(bytes.len(), |at| end + at);
        let behind = match bytes.get(..behind) {
            Some([.., b'\r']) if last == b'\n' && behind > end => behind - 1,
            Some(_) | None => behind,
        };
        first..behind
    }

    /// Where the line ends whose last letter stands before this place, its ending included.
    fn line_end(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let ending = ["\r\n", "\n", "\r"].into_iter().find(|ending| rest.starts_with(ending));
        at + ending.map_or(0, str::len)
    }

    /// Whether a place may be there.
    fn allowed(&self, place: &Range<usize>) -> bool {
        let bytes = self.text.as_bytes();
        let line_start = || {
            let before = place.start.checked_sub(1).and_then(|before| bytes.get(before));
            matches!(before, None | Some(b'\n' | b'\r'))
        };
        let line_end = || {
            let within = place.end.checked_sub(1).and_then(|last| bytes.get(last));
            let rest = self.text.get(place.end..).unwrap_or_default().trim_start_matches(is_blank);
            matches!(within, Some(b'\n' | b'\r')) || rest.is_empty() || rest.starts_with(['\n', '\r'])
        };
        // A line ending is one thing: half of it is no place.
        let halves = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| bytes.get(before));
            before == Some(&b'\r') && bytes.get(at) == Some(&b'\n')
        };
        !halves(place.start)
            && !halves(place.end)
            && match self.edit.extent {
                Extent::Anywhere => true,
                Extent::Lines => line_start() && line_end(),
                Extent::LastLines => {
                    line_start() && self.text.get(place.end..).unwrap_or_default().trim().is_empty()
                }
            }
    }

    /// A step that may have as many places as are meant.
    fn settle(
        &self,
        step: Step,
        places: Vec<Range<usize>>,
        meant: Meant,
    ) -> Result<Option<Climbed>, EditFault> {
        match self.edit.places {
            Places::Exactly(expected) if !places.is_empty() && places.len() != expected => {
                let lines = line_numbers(self.text, &places);
                Err(EditFault::Count { expected, found: places.len(), lines })
            }
            Places::All | Places::Exactly(_) => {
                Ok((!places.is_empty()).then_some(Climbed { step, places, meant }))
            }
            Places::One | Places::First => self.one(step, places, meant),
        }
    }

    /// A step that takes one place and no other.
    fn one(
        &self,
        step: Step,
        mut places: Vec<Range<usize>>,
        meant: Meant,
    ) -> Result<Option<Climbed>, EditFault> {
        match self.edit.places {
            Places::First => places.truncate(1),
            Places::One | Places::All | Places::Exactly(_) => {}
        }
        if places.len() > 1 {
            let lines = line_numbers(self.text, &places);
            return Err(EditFault::Several { step, count: places.len(), lines });
        }
        Ok((!places.is_empty()).then_some(Climbed { step, places, meant }))
    }
}

/// Where a text is in another. Where one place is meant, places that overlap count as well.
fn occurrences<'a>(text: &'a str, sought: &'a str, places: Places) -> Box<dyn Iterator<Item = usize> + 'a> {
    match places {
        Places::One => Box::new(overlapping(text, sought)),
        Places::All | Places::Exactly(_) | Places::First => {
            Box::new(memchr::memmem::find_iter(text.as_bytes(), sought.as_bytes()))
        }
    }
}

fn overlapping<'a>(text: &'a str, sought: &'a str) -> impl Iterator<Item = usize> + 'a {
    let finder = Finder::new(sought.as_bytes());
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + finder.find(text.as_bytes().get(from..)?)?;
        from = at + 1;
        Some(at)
    })
}
