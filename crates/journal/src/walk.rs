//! The journal of a folder, and its lines from the end to the beginning, each proved by the one behind it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::back::{Backward, Before, last_end};
use crate::line::{Line, MAX_LINE};
use crate::pack::unpack;
use crate::store::Store;
use crate::view::Torn;
use crate::{JournalError, Opened, Place, Record, UnixMillis, VERSION, Wrong};

/// The name of the journal in a session's folder.
pub(crate) const JOURNAL: &str = "journal.jsonl";
/// The name of the folder with large contents in a session's folder.
pub(crate) const CONTENTS: &str = "contents";

/// A journal that is open for reading.
pub(crate) struct Log {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    pub(crate) store: Store,
}

/// How far a journal is whole.
pub(crate) struct Whole {
    /// Behind the last whole line.
    pub(crate) end: u64,
    /// What stands behind that.
    pub(crate) torn: Option<Torn>,
    /// How many bytes were read to find out.
    pub(crate) read: u64,
}

impl Log {
    pub(crate) fn open(folder: &Path) -> Result<Self, JournalError> {
        let path = folder.join(JOURNAL);
        match File::open(&path) {
            Ok(file) => Ok(Self { path, file, store: Store::at(folder.join(CONTENTS)) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(JournalError::Missing { path }),
            Err(source) => Err(JournalError::Io { path, source }),
        }
    }

    pub(crate) fn io(&self, source: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), source }
    }

    pub(crate) fn broken(&self, offset: u64, wrong: Wrong) -> JournalError {
        JournalError::Broken { path: self.path.clone(), offset, wrong }
    }

    /// Finds the end of what is whole. A last line that is not, or that can't be read, was being written at a crash.
    pub(crate) fn whole(&self) -> Result<Whole, JournalError> {
        let len = self.file.metadata().map_err(|error| self.io(error))?.len();
        let (mut end, mut read) = last_end(&self.file, len).map_err(|error| self.io(error))?;
        let mut back = Backward::new(&self.file, end);
        if let Before::Line(from, bytes) = back.line().map_err(|error| self.io(error))?
            && Line::read(bytes).is_err()
        {
            end = from;
        }
        read += back.read;
        let torn = (end < len).then_some(Torn { from: end, bytes: len - end, kept: None });
        Ok(Whole { end, torn, read })
    }

    /// How the session began and when, and how many bytes were read to find out.
    pub(crate) fn opened(&self) -> Result<(Opened, UnixMillis, u64), JournalError> {
        let mut bytes = Vec::new();
        let mut piece = [0; 2048];
        let end = loop {
            let read = self.file.read_at(&mut piece, bytes.len() as u64).map_err(|error| self.io(error))?;
            let new = piece.get(..read).unwrap_or_default();
            if let Some(at) = new.iter().position(|byte| *byte == b'\n') {
                let end = bytes.len() + at;
                bytes.extend_from_slice(new);
                break end;
            }
            bytes.extend_from_slice(new);
            if read == 0 {
                return Err(JournalError::Empty { path: self.path.clone() });
            }
            if bytes.len() as u64 > MAX_LINE {
                return Err(self.broken(0, Wrong::TooLong(MAX_LINE)));
            }
        };
        let read = bytes.len() as u64;
        bytes.truncate(end);
        let line = Line::read(bytes).map_err(|wrong| self.broken(0, wrong))?;
        let Record::Opened(opened) = line.record().map_err(|wrong| self.broken(0, wrong))? else {
            return Err(self.broken(0, Wrong::NoBeginning));
        };
        if opened.version > VERSION {
            return Err(JournalError::TooNew { path: self.path.clone(), version: opened.version });
        }
        Ok((opened, line.at, read))
    }

    /// The record of a line, with what it refers to.
    pub(crate) fn record(&self, line: &Line, from: u64) -> Result<Record, JournalError> {
        let mut record = line.record().map_err(|wrong| self.broken(from, wrong))?;
        unpack(&mut record, &self.store).map_err(|(id, source)| JournalError::Content {
            path: self.path.clone(),
            n: line.n,
            id,
            source,
        })?;
        Ok(record)
    }
}

/// Goes through a journal backwards.
pub(crate) struct Walk<'a> {
    log: &'a Log,
    back: Backward<'a>,
    end: u64,
    /// What the next line must be, once a line behind it was seen.
    due: Option<Place>,
}

/// A line that was met on the way.
pub(crate) struct Met {
    pub(crate) line: Line,
    /// Where it ends.
    pub(crate) place: Place,
    /// Where the line before it ends.
    pub(crate) before: Place,
}

impl<'a> Walk<'a> {
    /// Begins behind the line that ends there, whatever it is.
    pub(crate) fn from_end(log: &'a Log, end: u64) -> Self {
        Self { log, back: Backward::new(&log.file, end), end, due: None }
    }

    /// Begins with the line of a place.
    pub(crate) fn from_place(log: &'a Log, place: Place) -> Self {
        Self { due: Some(place), ..Self::from_end(log, place.end) }
    }

    /// How many bytes were read.
    pub(crate) fn read(&self) -> u64 {
        self.back.read
    }

    /// Goes on with the line of an earlier place.
    pub(crate) fn jump(&mut self, to: Place) {
        self.back.jump(to.end);
        self.end = to.end;
        self.due = Some(to);
    }

    /// The line before, if it is the one that it must be.
    pub(crate) fn line(&mut self) -> Result<Option<Met>, JournalError> {
        let end = self.end;
        let (from, bytes) = match self.back.line().map_err(|error| self.log.io(error))? {
            Before::Line(from, bytes) => (from, bytes),
            Before::TooLong(from) => return Err(self.log.broken(from, Wrong::TooLong(MAX_LINE))),
            Before::Nothing => return Ok(None),
        };
        let broken = |wrong| self.log.broken(from, wrong);
        let line = Line::read(bytes).map_err(broken)?;
        let place = Place { end, n: line.n, hash: line.hash() };
        if let Some(due) = self.due.filter(|due| *due != place) {
            return Err(broken(if due.n == place.n {
                Wrong::Changed
            } else {
                Wrong::Number { found: place.n, due: due.n }
            }));
        }
        // The first line of a file is number 1, and no other is.
        let Some(n) = line.n.checked_sub(1).filter(|n| (*n == 0) == (from == 0)) else {
            return Err(broken(Wrong::Number { found: line.n, due: if from == 0 { 1 } else { 2 } }));
        };
        let before = Place { end: from, n, hash: line.prev };
        (self.end, self.due) = (from, Some(before));
        Ok(Some(Met { line, place, before }))
    }
}
