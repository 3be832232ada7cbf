//! A file's lines from the end to the beginning, without reading more than is asked for.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::line::MAX_LINE;

/// How much is read at once; more where a line is longer.
const PIECE: usize = 32 << 10;

/// Reads a file backwards.
pub(crate) struct Backward<'a> {
    file: &'a File,
    /// Where the bytes that are held begin in the file.
    from: u64,
    held: Vec<u8>,
    /// How many bytes were read in all.
    pub(crate) read: u64,
}

/// A line and where it begins.
pub(crate) enum Before {
    /// The line, without its end.
    Line(u64, Vec<u8>),
    /// The line that begins somewhere before, but is too long to be one.
    TooLong(u64),
    /// The file's beginning.
    Nothing,
}

impl<'a> Backward<'a> {
    /// Begins at a place behind a line's end.
    pub(crate) fn new(file: &'a File, end: u64) -> Self {
        Self { file, from: end, held: Vec::new(), read: 0 }
    }

    /// Goes on from another place, which must be behind a line's end.
    pub(crate) fn jump(&mut self, end: u64) {
        match usize::try_from(end.saturating_sub(self.from)) {
            // What is held already is not read again.
            Ok(kept) if end >= self.from && kept <= self.held.len() => self.held.truncate(kept),
            Ok(_) | Err(_) => {
                self.held.clear();
                self.from = end;
            }
        }
    }

    /// The line that ends here.
    pub(crate) fn line(&mut self) -> io::Result<Before> {
        // How many bytes at the end are known to hold no line's beginning: its own end, at first.
        let mut searched = 1;
        loop {
            let open = self.held.len().saturating_sub(searched);
            let found = self.held.get(..open).and_then(|held| held.iter().rposition(|byte| *byte == b'\n'));
            if let Some(at) = found {
                return Ok(self.take(at + 1));
            }
            searched = self.held.len().max(1);
            if self.from == 0 {
                return Ok(if self.held.is_empty() { Before::Nothing } else { self.take(0) });
            }
            if self.held.len() as u64 > MAX_LINE {
                return Ok(Before::TooLong(self.from));
            }
            self.fill()?;
        }
    }

    fn take(&mut self, at: usize) -> Before {
        let mut line = self.held.split_off(at);
        line.pop();
        Before::Line(self.from + at as u64, line)
    }

    /// Reads what stands before the held bytes: as much again, so that a long line is copied a few times at most.
    fn fill(&mut self) -> io::Result<()> {
        let wanted = self.held.len().max(PIECE);
        let size = usize::try_from(self.from).map_or(wanted, |left| left.min(wanted));
        let mut more = vec![0; size];
        self.from -= size as u64;
        self.file.read_exact_at(&mut more, self.from)?;
        self.read += size as u64;
        more.append(&mut self.held);
        self.held = more;
        Ok(())
    }
}

/// Where the last whole line of a file ends, and how many bytes were read to find out.
pub(crate) fn last_end(file: &File, len: u64) -> io::Result<(u64, u64)> {
    let (mut at, mut read) = (len, 0);
    let mut piece = vec![0; PIECE];
    // Nearly always the last byte ends a line.
    let mut wanted = 1;
    while at > 0 {
        let size = usize::try_from(at).map_or(wanted, |left| left.min(wanted));
        wanted = PIECE;
        let from = at - size as u64;
        let piece = piece.get_mut(..size).unwrap_or_default();
        file.read_exact_at(piece, from)?;
        read += size as u64;
        if let Some(end) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok((from + end as u64 + 1, read));
        }
        at = from;
    }
    Ok((0, read))
}
