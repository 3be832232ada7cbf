//! JSON as models write it: read strictly where it is JSON, and tolerantly where one meaning is left all the same.
//!
//! The reader is a loop over a stack of its own, so depth costs no call stack, and looks at each byte a bounded number of
//! times. It takes one value at the start of a text; what follows the value is the caller's.

mod blank;
mod quotes;
mod reader;
mod text;
mod word;

use serde_json::Value;

pub(crate) use text::is_drive_path;
pub(crate) use word::number;

use reader::{Fail, Mode, Outcome, Reader};

/// How deep containers may nest; far more than anyone means, and little enough for code that recurses over values.
pub(crate) const MAX_DEPTH: usize = 512;

/// How many readings of unescaped quotes are tried, so that a hostile text costs a bounded number of passes.
const MAX_READINGS: usize = 24;

/// How a text ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// With the value's own end.
    Complete,
    /// Between values: only closing brackets are missing.
    OpenContainer,
    /// Inside a string, or where a value was still owed: proof that the text was cut.
    OpenString,
}

/// What a tolerant reading gave.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Read {
    /// The value, as if all that was open had been closed.
    pub value: Value,
    /// How many bytes were used.
    pub end: usize,
    /// How the text ended.
    pub state: State,
    /// Whether there was anything that strict JSON would refuse, an open end included.
    pub mended: bool,
}

/// Reads one strict JSON value at the start of a text, after blanks; gives it and where it ends.
pub(crate) fn read_strict(text: &str) -> Option<(Value, usize)> {
    let run = Reader::new(text, Mode::Strict, &[]).run();
    match run.outcome {
        Ok(Outcome { value, end, state: State::Complete }) => Some((value, end)),
        Ok(_) | Err(_) => None,
    }
}

/// Reads one value at the start of a text, whatever the model did to it; says what is wrong and where if it can't.
pub(crate) fn read_tolerant(text: &str) -> Result<Read, String> {
    if let Some((value, end)) = read_strict(text) {
        return Ok(Read { value, end, state: State::Complete, mended: false });
    }
    let mut choices: Vec<usize> = Vec::new();
    let mut first = None;
    let mut kept: Option<Read> = None;
    for _ in 0..MAX_READINGS {
        let run = Reader::new(text, Mode::Tolerant, &choices).run();
        let paired = run.broken.iter().all(|broken| broken.inner % 2 == 0);
        let next = following(&run.broken);
        let mended = run.mended;
        let read = run.outcome.map(|Outcome { value, end, state }| Read {
            value,
            end,
            state,
            mended: mended || state != State::Complete,
        });
        if run.broken.is_empty() {
            return read.map_err(Fail::words);
        }
        match &read {
            // A text that ends in the middle was cut. To read on until something looks whole would hide that.
            Ok(open) if open.state != State::Complete && kept.is_none() => return read.map_err(Fail::words),
            Ok(whole) if whole.state == State::Complete && ends_well(text, whole.end) => {
                match (paired, kept.is_some()) {
                    (true, true) => return Err(ambiguous()),
                    (true, false) => return read.map_err(Fail::words),
                    (false, true) => {}
                    (false, false) => kept = Some(whole.clone()),
                }
            }
            Ok(_) | Err(_) => {}
        }
        first.get_or_insert(read);
        match next {
            Some(more) => choices = more,
            None => break,
        }
    }
    match (kept, first) {
        (Some(kept), _) => Ok(kept),
        (None, Some(Err(fail))) => Err(fail.words()),
        (None, Some(Ok(_)) | None) => Err(ambiguous()),
    }
}

/// The text of a value, compact and in its own order.
pub(crate) fn write(value: &Value) -> String {
    // A value made here has string keys only, so writing it cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}

/// The same choices with the last string that has one more to offer closed one quote later.
fn following(broken: &[reader::Broken]) -> Option<Vec<usize>> {
    let last = broken.iter().rposition(|broken| broken.more)?;
    let mut choices: Vec<usize> = broken.iter().take(last + 1).map(|broken| broken.skipped).collect();
    if let Some(choice) = choices.last_mut() {
        *choice += 1;
    }
    Some(choices)
}

/// Whether what follows a value could follow one; a quote or a comma says that the value ended too early.
fn ends_well(text: &str, end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default().trim_start();
    !rest.starts_with(|c: char| matches!(c, '"' | '\'' | ',' | ':' | '\\') || c.is_alphanumeric())
}

fn ambiguous() -> String {
    "quotes inside a string are not escaped, and it can be read in more than one way".to_owned()
}

#[cfg(test)]
mod tests;
