//! A change of a text that is given as old and new words: exactly where it can be, else by the first step of a ladder that
//! leaves one place. It is pure, and takes time in proportion to the text.

mod fault;
mod fold;
mod indent;
mod ladder;
mod nearest;
mod punctuation;
mod rebuild;

use std::ops::Range;

pub use fault::{EditFault, Told};

use crate::lines::{Ends, line_at, with_endings};

/// What is to be changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edit<'a> {
    /// The text that goes.
    pub old: &'a str,
    /// The text that comes in its place.
    pub new: &'a str,
    /// How many places are meant.
    pub places: Places,
    /// Where a place may be.
    pub extent: Extent,
}

/// How many places are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Places {
    /// One, and there is no other.
    One,
    /// All there are.
    All,
    /// So many, and no more.
    Exactly(usize),
    /// The first of them.
    First,
}

/// Where a place may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Anywhere, also within a line.
    Anywhere,
    /// Whole lines.
    Lines,
    /// The last lines.
    LastLines,
}

/// How the place was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Step {
    /// The text is there as it was written.
    Exact,
    /// With other line endings.
    LineEndings,
    /// With other blanks at the ends of lines.
    TrailingSpace,
    /// All of it deeper, or less deep.
    Indentation,
    /// With other quotes, dashes or blanks, or written with escapes.
    Punctuation,
}

/// A change of a text at one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Splice {
    /// What goes.
    pub at: Range<usize>,
    /// What comes in its place.
    pub with: String,
}

/// Where a change is to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// How it was found.
    pub step: Step,
    /// The places, in order.
    pub splices: Vec<Splice>,
}

/// A change that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Applied {
    /// The text after it.
    pub text: String,
    /// How the place was found.
    pub step: Step,
    /// The changed places in the text after it, in order.
    pub places: Vec<Range<usize>>,
}

impl Step {
    /// What was different, where something was.
    pub fn differs(self) -> Option<&'static str> {
        match self {
            Self::Exact => None,
            Self::LineEndings => Some("line endings"),
            Self::TrailingSpace => Some("blanks at the ends of lines"),
            Self::Indentation => Some("indentation"),
            Self::Punctuation => Some("quotes, dashes, blanks or escapes"),
        }
    }
}

/// Makes the change.
///
/// # Errors
/// Why it can't be made: not there, at too many places, or no change at all.
pub fn apply(text: &str, edit: &Edit<'_>) -> Result<Applied, EditFault> {
    let Found { step, splices } = find(text, edit)?;
    let (made, places) = splice(text, &splices);
    if made == text {
        return Err(EditFault::Same);
    }
    Ok(Applied { text: made, step, places })
}

/// Finds where the change is to be made, and what is to stand there.
///
/// # Errors
/// As [`apply`].
pub fn find(text: &str, edit: &Edit<'_>) -> Result<Found, EditFault> {
    if edit.old.is_empty() {
        return Err(EditFault::Empty);
    }
    if edit.old == edit.new {
        return Err(EditFault::Same);
    }
    let ends = Ends::of(text);
    let found = ladder::climb(text, ends, edit)?;
    let several = found.places.len() > 1;
    let splices = found.places.into_iter().map(|place| {
        let ending = if several { rebuild::usual(text, ends) } else { rebuild::near(text, ends, &place) };
        let part = text.get(place.clone()).unwrap_or_default();
        let with = found.meant.rebuild(part, ends, ending);
        Splice { at: place, with }
    });
    Ok(Found { step: found.step, splices: splices.collect() })
}

/// A text that takes the place of a whole other one: lines end as they did there, and those that stay keep their own ending.
pub fn rewritten(text: &str, new: &str) -> String {
    let ends = Ends::of(text);
    match ends {
        // There is nothing to keep to.
        Ends::None => new.to_owned(),
        Ends::Lf | Ends::CrLf | Ends::Cr | Ends::Mixed => {
            let lf = with_endings(text, "\n");
            let old = if ends == Ends::Cr { lf.replace('\r', "\n") } else { lf };
            rebuild::Meant::of(&old, new).rebuild(text, ends, rebuild::usual(text, ends))
        }
    }
}

/// The text with its splices made, and where they are in it.
pub fn splice(text: &str, splices: &[Splice]) -> (String, Vec<Range<usize>>) {
    let more: usize = splices.iter().map(|splice| splice.with.len()).sum();
    let mut made = String::with_capacity(text.len() + more);
    let mut places = Vec::with_capacity(splices.len());
    let mut at = 0;
    for splice in splices {
        made.push_str(text.get(at..splice.at.start).unwrap_or_default());
        let start = made.len();
        made.push_str(&splice.with);
        places.push(start..made.len());
        at = splice.at.end;
    }
    made.push_str(text.get(at..).unwrap_or_default());
    (made, places)
}

/// The numbers of the lines that places start in, a few of them.
fn line_numbers(text: &str, places: &[Range<usize>]) -> Vec<usize> {
    places.iter().take(10).map(|place| line_at(text, place.start)).collect()
}

#[cfg(test)]
mod tests;
