use super::{At, PatchHunk};
use crate::edit::{self, Edit, EditFault, Extent, Found, Places, Splice, Step, Told};
use crate::lines::{Ends, lines_ending, usual_ending, with_endings};

/// A text after the hunks of a patch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Patched {
    /// The text.
    pub text: String,
    /// In what the old lines differed from the file, where the furthest did.
    pub differs: Option<&'static str>,
}

/// Why a hunk does not fit a text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the hunk at line {line} of the patch: {what}")]
pub struct HunkFault {
    /// The line of the patch that the hunk starts at, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

/// Makes the changes of hunks in a text, in order: each is looked for behind the one before.
///
/// # Errors
/// The first hunk that does not fit.
pub fn patched(text: &str, hunks: &[PatchHunk]) -> Result<Patched, HunkFault> {
    let mut fitting =
        Fitting { text, ends: Ends::of(text), cursor: 0, step: Step::Exact, splices: Vec::new() };
    for hunk in hunks {
        fitting.hunk(hunk).map_err(|what| HunkFault { line: hunk.line, what })?;
    }
    let (made, _) = edit::splice(text, &fitting.splices);
    Ok(Patched { text: made, differs: fitting.step.differs() })
}

struct Fitting<'a> {
    text: &'a str,
    ends: Ends,
    cursor: usize,
    step: Step,
    splices: Vec<Splice>,
}

impl Fitting<'_> {
    fn hunk(&mut self, hunk: &PatchHunk) -> Result<(), String> {
        let (anchor, from) = self.anchors(&hunk.anchors)?;
        if hunk.old.is_empty() {
            let at = if hunk.anchors.is_empty() || hunk.at == At::End { self.text.len() } else { from };
            let splice = self.insertion(at, &hunk.new);
            return self.made(Step::Exact, splice);
        }
        let places = if hunk.anchors.is_empty() { Places::One } else { Places::First };
        let behind = self.find(from, hunk, places);
        let found = match behind {
            // The line after `@@` is often told again in the hunk.
            Err(EditFault::Missing(_)) if anchor < from => self.find(anchor, hunk, places).or(behind),
            other => other,
        };
        match found {
            Ok((from, Found { step, splices })) => {
                for Splice { at, with } in splices {
                    self.made(step, Splice { at: at.start + from..at.end + from, with })?;
                }
                Ok(())
            }
            // Lines that only stay say where something is not.
            Err(EditFault::Same) => Ok(()),
            Err(fault) => Err(self.say(from, hunk, fault)),
        }
    }

    fn find(&self, from: usize, hunk: &PatchHunk, places: Places) -> Result<(usize, Found), EditFault> {
        let rest = self.text.get(from..).unwrap_or_default();
        let look = |extent| {
            let edit = Edit { old: &hunk.old, new: &hunk.new, places, extent };
            edit::find(rest, &edit).map(|found| (from, found))
        };
        match hunk.at {
            At::Anywhere => look(Extent::Lines),
            At::End => look(Extent::LastLines).or_else(|_| look(Extent::Lines)),
        }
    }

    /// Where the last anchor's line starts, and where the one behind it does.
    fn anchors(&self, anchors: &[String]) -> Result<(usize, usize), String> {
        let (mut start, mut end) = (self.cursor, self.cursor);
        for anchor in anchors {
            let rest = self.text.get(end..).unwrap_or_default();
            let find = |same: fn(&str, &str) -> bool| {
                lines_ending(rest, self.ends)
                    .find(|line| same(line.body, anchor))
                    .map(|line| (line.at, line.end()))
            };
            let found = find(|line, anchor| line == anchor)
                .or_else(|| find(|line, anchor| line.trim() == anchor.trim()))
                .or_else(|| find(|line, anchor| line.trim_start().starts_with(anchor.trim())));
            let Some((line_start, line_end)) = found else {
                let line = crate::lines::line_at(self.text, end);
                let anchor = crate::diff::clipped(anchor.trim(), 100);
                return Err(format!(
                    "there is no line `{anchor}` from line {line} on: copy a line of the file behind `@@`, or leave it out"
                ));
            };
            (start, end) = (end + line_start, end + line_end);
        }
        Ok((start, end))
    }

    /// New lines alone; the line before them must have an end.
    fn insertion(&self, at: usize, new: &str) -> Splice {
        let ending = usual_ending(self.text);
        let mut with = with_endings(new, ending);
        if at > 0 && at == self.text.len() && !self.text.ends_with(['\n', '\r']) {
            // The file goes on ending without a newline.
            with.truncate(with.len() - if with.ends_with(ending) { ending.len() } else { 0 });
            with.insert_str(0, ending);
        }
        Splice { at: at..at, with }
    }

    fn made(&mut self, step: Step, splice: Splice) -> Result<(), String> {
        if splice.at.start < self.cursor {
            return Err("it is before the hunk above it: put the hunks in the order of the file".to_owned());
        }
        self.cursor = splice.at.end;
        self.step = self.step.max(step);
        self.splices.push(splice);
        Ok(())
    }

    fn say(&self, from: usize, hunk: &PatchHunk, fault: EditFault) -> String {
        let missing = matches!(fault, EditFault::Missing(_));
        let before = self.text.get(..self.cursor).unwrap_or_default();
        let edit = Edit { old: &hunk.old, new: &hunk.new, places: Places::First, extent: Extent::Lines };
        if missing && edit::find(before, &edit).is_ok() {
            return "it is before the hunk above it: put the hunks in the order of the file".to_owned();
        }
        let lines = crate::lines::line_at(self.text, from) - 1;
        fault.below(lines).say(Told::Hunk)
    }
}
