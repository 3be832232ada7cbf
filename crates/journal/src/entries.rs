use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::line::{Line, MAX_LINE};
use crate::view::Torn;
use crate::walk::{Log, Met};
use crate::{JournalError, Place, Record, UnixMillis, Wrong};

/// One record of a journal, and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// When it was written.
    pub at: UnixMillis,
    /// The line before it.
    pub before: Place,
    /// Its own line.
    pub place: Place,
    /// What it says.
    pub record: Record,
}

/// What a journal proved to be.
#[derive(Debug)]
pub struct Verdict {
    /// The last line that is proved.
    pub last: Place,
    /// What stands behind the last whole line: a crash leaves that, and the next resume moves it away.
    pub torn: Option<Torn>,
    /// The first thing that is wrong.
    pub trouble: Option<JournalError>,
}

/// All records of a journal from the first on, whether or not they still count. Each is proved as it comes.
///
/// # Errors
/// There is no journal, or it can't be opened.
pub fn entries(folder: &Path) -> Result<Entries, JournalError> {
    let log = Log::open(folder)?;
    let whole = log.whole()?;
    Entries::up_to(log, whole.end)
}

/// Reads a whole journal and says whether it is as it was written: numbers, hashes, contents.
///
/// A chain of hashes proves every line but the last, and can't tell that whole lines at the end were taken away; for that, compare
/// `last` with one noted elsewhere.
///
/// # Errors
/// There is no journal, or it can't be opened.
pub fn verify(folder: &Path) -> Result<Verdict, JournalError> {
    let log = Log::open(folder)?;
    let whole = log.whole()?;
    if whole.end == 0 {
        let trouble = Some(JournalError::Empty { path: log.path });
        return Ok(Verdict { last: Place::default(), torn: whole.torn, trouble });
    }
    let mut trouble = log.opened().err();
    let mut entries = Entries::up_to(log, whole.end)?;
    let mut last = Place::default();
    for entry in entries.by_ref() {
        match entry {
            Ok(entry) => last = entry.place,
            Err(error) => {
                trouble = trouble.or(Some(error));
                break;
            }
        }
    }
    Ok(Verdict { last, torn: whole.torn, trouble })
}

/// The records of a journal, from the first on.
pub struct Entries(Lines);

impl Entries {
    pub(crate) fn up_to(log: Log, end: u64) -> Result<Self, JournalError> {
        Lines::up_to(log, end).map(Self)
    }
}

impl Iterator for Entries {
    type Item = Result<Entry, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let met = match self.0.next()? {
            Ok(met) => met,
            Err(error) => return Some(Err(error)),
        };
        let record = self.0.log.record(&met.line, met.before.end);
        self.0.ended |= record.is_err();
        let (at, before, place) = (met.line.at, met.before, met.place);
        Some(record.map(|record| Entry { at, before, place, record }))
    }
}

/// The lines of a journal, from the first on, each proved by the one before it.
pub(crate) struct Lines {
    pub(crate) log: Log,
    reader: BufReader<File>,
    /// Where the line before begins.
    from: u64,
    at: Place,
    end: u64,
    ended: bool,
}

impl Lines {
    /// The lines up to a place behind a line's end.
    pub(crate) fn up_to(log: Log, end: u64) -> Result<Self, JournalError> {
        let file = File::open(&log.path).map_err(|error| log.io(error))?;
        Ok(Self { log, reader: BufReader::new(file), from: 0, at: Place::default(), end, ended: false })
    }

    fn line(&mut self) -> Result<Met, JournalError> {
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes);
        let read = read.map_err(|error| self.log.io(error))?;
        let from = self.at.end;
        if bytes.pop() != Some(b'\n') {
            return Err(self.log.broken(from, Wrong::TooLong(MAX_LINE)));
        }
        let line = Line::read(bytes).map_err(|wrong| self.log.broken(from, wrong))?;
        let due = self.at.n.saturating_add(1);
        if line.n != due {
            return Err(self.log.broken(from, Wrong::Number { found: line.n, due }));
        }
        if line.prev != self.at.hash {
            return Err(self.log.broken(self.from, Wrong::Changed));
        }
        let place = Place { end: from + read as u64, n: due, hash: line.hash() };
        let before = std::mem::replace(&mut self.at, place);
        self.from = from;
        Ok(Met { line, place, before })
    }
}

impl Iterator for Lines {
    type Item = Result<Met, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended || self.at.end >= self.end {
            return None;
        }
        let line = self.line();
        self.ended = line.is_err();
        Some(line)
    }
}
