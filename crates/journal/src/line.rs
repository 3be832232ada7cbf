//! One line of a journal: what stands before the record's own content, and the content.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Hash, Place, Record, State, Sum, UnixMillis, Wrong};

/// The longest line that is written or read.
pub(crate) const MAX_LINE: u64 = 256 << 20;

/// What a line carries besides its record, so that readers can stop at it.
#[derive(Clone, Copy)]
pub(crate) enum Carried<'a> {
    Nothing,
    Sum(&'a Sum),
    State(&'a State),
}

#[derive(Serialize)]
struct Written<'a> {
    n: u64,
    prev: Hash,
    at: UnixMillis,
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<&'a Sum>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a State>,
    data: &'a RawValue,
}

#[derive(Deserialize)]
struct Read<'a> {
    n: u64,
    prev: Hash,
    at: UnixMillis,
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow, default)]
    sum: Option<&'a RawValue>,
    #[serde(borrow, default)]
    state: Option<&'a RawValue>,
    #[serde(borrow)]
    data: &'a RawValue,
}

/// A line as it stands in the file, without its end.
#[derive(Debug)]
pub(crate) struct Line {
    text: String,
    /// Its number.
    pub(crate) n: u64,
    /// The hash of the line before.
    pub(crate) prev: Hash,
    /// When it was written.
    pub(crate) at: UnixMillis,
    /// The kind of its record.
    pub(crate) kind: String,
    sum: Option<Range<usize>>,
    state: Option<Range<usize>>,
    data: Range<usize>,
}

impl Line {
    /// Reads a line; what the record holds is left for later.
    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self, Wrong> {
        let text = String::from_utf8(bytes).map_err(|error| Wrong::Unreadable(error.to_string()))?;
        let read: Read<'_> = serde_json::from_str(&text).map_err(unreadable)?;
        let within = |part: &RawValue| {
            let from = (part.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
            from..from + part.get().len()
        };
        let (sum, state, data) = (read.sum.map(within), read.state.map(within), within(read.data));
        let (n, prev, at, kind) = (read.n, read.prev, read.at, read.r#type.into_owned());
        Ok(Self { n, prev, at, kind, sum, state, data, text })
    }

    /// The line's hash.
    pub(crate) fn hash(&self) -> Hash {
        Hash::of(self.text.as_bytes())
    }

    /// The record, as far as it stands in the line.
    pub(crate) fn record(&self) -> Result<Record, Wrong> {
        Record::read(&self.kind, self.text.get(self.data.clone()).unwrap_or_default()).map_err(unreadable)
    }

    /// The state that the line carries.
    pub(crate) fn state(&self) -> Result<Option<State>, Wrong> {
        let text = self.state.clone().and_then(|part| self.text.get(part));
        text.map(serde_json::from_str).transpose().map_err(unreadable)
    }

    /// The title and figures that the line carries.
    pub(crate) fn sum(&self) -> Result<Option<Sum>, Wrong> {
        let text = self.sum.clone().and_then(|part| self.text.get(part));
        let sum = text.map(serde_json::from_str).transpose().map_err(unreadable)?;
        Ok(if sum.is_some() { sum } else { self.state()?.map(|state| state.sum) })
    }
}

/// The bytes of the line behind `before`, with its end.
pub(crate) fn write(
    before: Place,
    at: UnixMillis,
    record: &Record,
    carried: Carried<'_>,
) -> serde_json::Result<Vec<u8>> {
    let data = RawValue::from_string(record.data()?.into_text())?;
    let (sum, state) = match carried {
        Carried::Nothing => (None, None),
        Carried::Sum(sum) => (Some(sum), None),
        Carried::State(state) => (None, Some(state)),
    };
    let (n, prev) = (before.n.saturating_add(1), before.hash);
    let written = Written { n, prev, at, r#type: record.kind(), sum, state, data: &data };
    let mut line = serde_json::to_vec(&written)?;
    // JSON that is kept as it was written may be spread over lines; inside its strings there are no line ends.
    line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    line.push(b'\n');
    Ok(line)
}

fn unreadable(error: serde_json::Error) -> Wrong {
    Wrong::Unreadable(error.to_string())
}
