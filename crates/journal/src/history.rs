use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;

use rail_model::{Message, Role};

use crate::entries::Lines;
use crate::walk::Log;
use crate::{Cause, Entries, Entry, JournalError, Place, Record, Rewound, UnixMillis, title_of};

/// One thing to show of a session's history.
#[derive(Clone, PartialEq, Debug)]
pub struct Shown {
    /// The number of its line.
    pub n: u64,
    /// When it was written.
    pub at: UnixMillis,
    /// What there is to show.
    pub what: What,
}

/// What there is to show.
#[derive(Clone, PartialEq, Debug)]
pub enum What {
    /// A message, or results.
    Message(Message),
    /// Something that the model was told on the user's behalf.
    Told(Message),
    /// From here on the model saw a shorter conversation.
    Compacted {
        /// Why.
        cause: Cause,
        /// The target that wrote the summary.
        by: Option<String>,
    },
}

/// A message of the user that one can go back to.
#[derive(Clone, PartialEq, Debug)]
pub struct Turn {
    /// The place before it.
    pub before: Place,
    /// When it was written.
    pub at: UnixMillis,
    /// The step it belongs to.
    pub step: u64,
    /// Its first line, as a title.
    pub title: String,
}

/// The whole history of a session, oldest first: also what was compacted away, but nothing that was taken back.
///
/// # Errors
/// There is no journal, or it is broken; each item may say that it is broken from there on.
pub fn messages(
    folder: &Path,
) -> Result<impl Iterator<Item = Result<Shown, JournalError>> + use<>, JournalError> {
    let mut live = live(folder)?;
    let mut open = VecDeque::new();
    Ok(std::iter::from_fn(move || {
        loop {
            if let Some(shown) = open.pop_front() {
                return Some(Ok(shown));
            }
            match live.next()? {
                Ok(entry) => open.extend(shown(entry)),
                Err(error) => return Some(Err(error)),
            }
        }
    }))
}

/// The messages of the user that count, oldest first, each with the place to go back to.
///
/// # Errors
/// There is no journal, or it is broken.
pub fn turns(folder: &Path) -> Result<Vec<Turn>, JournalError> {
    let mut turns = Vec::new();
    for entry in live(folder)? {
        let entry = entry?;
        if let Record::Message(said) = entry.record
            && said.message.role == Role::User
        {
            let title = said.message.parts.iter().filter_map(|part| part.as_text().and_then(title_of)).next();
            let title = title.unwrap_or_default();
            turns.push(Turn { before: entry.before, at: entry.at, step: said.step, title });
        }
    }
    Ok(turns)
}

fn shown(entry: Entry) -> Vec<Shown> {
    let (n, at) = (entry.place.n, entry.at);
    let shown = |what| Shown { n, at, what };
    match entry.record {
        Record::Message(said) | Record::Queued(said) | Record::Results(said) => {
            vec![shown(What::Message(said.message))]
        }
        Record::Told(said) => vec![shown(What::Told(said.message))],
        Record::Compacted(compacted) => match compacted.cause {
            // The messages of the origin stand nowhere else in this file.
            Cause::Forked => {
                compacted.window.into_iter().map(|message| shown(What::Message(message))).collect()
            }
            cause @ (Cause::Full | Cause::Asked | Cause::Trimmed) => {
                vec![shown(What::Compacted { cause, by: compacted.by })]
            }
        },
        Record::Opened(_)
        | Record::Prompt(_)
        | Record::Taken(_)
        | Record::Partial(_)
        | Record::Void(_)
        | Record::Running(_)
        | Record::Rewound(_)
        | Record::Snapshot(_)
        | Record::Usage(_)
        | Record::Mode(_)
        | Record::Model(_)
        | Record::Title(_)
        | Record::Todos(_)
        | Record::Findings(_)
        | Record::Known(_)
        | Record::Ended(_)
        | Record::Note(_)
        | Record::Unknown { .. } => Vec::new(),
    }
}

/// The records that count.
fn live(folder: &Path) -> Result<impl Iterator<Item = Result<Entry, JournalError>> + use<>, JournalError> {
    let end = Log::open(folder)?.whole()?.end;
    let mut rewinds = Vec::new();
    let mut lines = Lines::up_to(Log::open(folder)?, end)?;
    while let Some(met) = lines.next().transpose()? {
        // Of the first pass only the kind of a line is looked at, and this kind is small.
        if met.line.kind == "rewound"
            && let Record::Rewound(Rewound { to, .. }) = lines.log.record(&met.line, met.before.end)?
        {
            rewinds.push((met.place.end, to.end));
        }
    }
    let ranges = ranges(&rewinds, end);
    let entries = Entries::up_to(Log::open(folder)?, end)?;
    Ok(entries.filter(move |entry| match entry {
        Ok(entry) => ranges.iter().any(|range| range.contains(&entry.before.end)),
        Err(_) => true,
    }))
}

/// The bytes that count, given for each rewind where its line ends and where it goes to.
fn ranges(rewinds: &[(u64, u64)], end: u64) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    let mut at = end;
    for (behind, to) in rewinds.iter().rev() {
        // A rewind that was itself taken back is passed over.
        if *behind <= at {
            ranges.push(*behind..at);
            at = (*to).min(*behind);
        }
    }
    ranges.push(0..at);
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_after_rewinds() {
        for (rewinds, expected) in [
            (&[][..], "[0..100]"),
            // Back to 20, written at 50..55.
            (&[(55, 20)], "[55..100, 0..20]"),
            // And forth again to 50.
            (&[(55, 20), (60, 50)], "[60..100, 0..50]"),
            // Back, on, back behind the first rewind.
            (&[(55, 20), (80, 60)], "[80..100, 55..60, 0..20]"),
            (&[(55, 20), (80, 10)], "[80..100, 0..10]"),
        ] {
            assert_eq!(format!("{:?}", ranges(rewinds, 100)), expected, "{rewinds:?}");
        }
    }
}
