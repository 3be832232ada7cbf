//! Which files of a tree match, and how often.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use grep_matcher::LineTerminator;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use ignore::DirEntry;
use rail_tool::Tree;

use super::Stop;
use super::pattern::Filter;
use super::regex::Span;
use super::top::Top;
use super::walk::{Hit, Troubles, Visit};

/// The longest line, and with [`Span::Lines`] the largest file, that is held in memory.
const HEAP: usize = 64 << 20;

/// What is looked for, and how.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(crate) matcher: RegexMatcher,
    pub(crate) ends: LineTerminator,
    pub(crate) span: Span,
}

/// How much is to be known of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Want {
    /// Whether it matches, and how new it is.
    Newest,
    /// How many matches it has.
    Count,
}

impl Query {
    /// What reads files; numbers of lines and lines around a match are for its caller to add.
    pub(crate) fn searcher(&self) -> SearcherBuilder {
        let mut builder = SearcherBuilder::new();
        builder
            .line_terminator(self.ends)
            .line_number(false)
            .multi_line(self.span == Span::Lines)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(HEAP));
        builder
    }
}

/// A file that is read as long as the search goes on.
pub(crate) struct Stoppable<'a> {
    pub(crate) file: &'a File,
    pub(crate) stop: &'a Stop,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Err(io::Error::other("the search was cancelled"));
        }
        self.file.read(into)
    }
}

/// How often a file matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tally {
    pub(crate) matches: u64,
    /// Whether it is no text.
    pub(crate) binary: bool,
    want: Want,
}

impl Tally {
    /// Nothing found yet.
    pub(crate) fn new(want: Want) -> Self {
        Self { matches: 0, binary: false, want }
    }
}

impl Sink for Tally {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.matches += 1;
        Ok(self.want == Want::Count)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> Result<(), io::Error> {
        self.binary = end.binary_byte_offset().is_some();
        Ok(())
    }
}

/// Looks into the files of a tree.
pub(crate) struct Scan<'a> {
    tree: &'a Tree,
    query: Query,
    filter: &'a Filter,
    stop: &'a Stop,
    want: Want,
    searcher: Searcher,
    pub(crate) found: Found,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// The first of them.
    pub(crate) top: Top<Hit>,
    /// Files that were looked into.
    pub(crate) searched: u64,
    /// Files that match.
    pub(crate) files: u64,
    /// Matches in them.
    pub(crate) matches: u64,
    pub(crate) troubles: Troubles,
}

impl Found {
    /// Nothing yet; so many files are to be known by name.
    pub(crate) fn new(room: usize) -> Self {
        Self { top: Top::new(room), searched: 0, files: 0, matches: 0, troubles: Troubles::default() }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.top.merge(other.top);
        self.searched += other.searched;
        self.files += other.files;
        self.matches += other.matches;
        self.troubles.merge(other.troubles);
    }

    pub(crate) fn add(&mut self, hit: Hit) {
        self.files += 1;
        self.matches += hit.matches;
        self.top.push(hit);
    }
}

impl<'a> Scan<'a> {
    pub(crate) fn new(
        tree: &'a Tree,
        query: &Query,
        filter: &'a Filter,
        stop: &'a Stop,
        want: Want,
        room: usize,
    ) -> Self {
        let searcher = query.searcher().build();
        Self { tree, query: query.clone(), filter, stop, want, searcher, found: Found::new(room) }
    }

    fn look(&mut self, path: &Path) -> io::Result<()> {
        let file = self.tree.open(path)?;
        let mut tally = Tally::new(self.want);
        let read = Stoppable { file: &file, stop: self.stop };
        self.searcher.search_reader(&self.query.matcher, read, &mut tally)?;
        self.found.searched += 1;
        // A file that may not be read is as good as not there: not even that it matches is told.
        if tally.matches == 0 || tally.binary || !self.tree.may_read(path) {
            return Ok(());
        }
        let newest = match self.want {
            Want::Newest => Some(Reverse(file.metadata()?.modified()?)),
            Want::Count => None,
        };
        self.found.add(Hit { newest, path: path.to_owned(), matches: tally.matches });
        Ok(())
    }
}

impl Visit for Scan<'_> {
    fn enters(&mut self, below: &Path) -> bool {
        !self.filter.drops(below)
    }

    fn file(&mut self, entry: &DirEntry, below: &Path) {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if !is_file || !self.filter.keeps(below) {
            return;
        }
        if let Err(error) = self.look(entry.path())
            && error.kind() != io::ErrorKind::NotFound
            && !self.stop.is_set()
            && self.tree.may_read(entry.path())
        {
            self.found.troubles.add(format!("`{}` ({error})", rail_tool::shown(below)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::search::pattern::Case;
    use crate::search::regex::matcher;

    #[test]
    fn a_search_ends_in_the_middle_of_a_file() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"line\n").unwrap();
        let (matcher, ends) = matcher("line", Case::Sensitive, Span::Line).unwrap();
        let query = Query { matcher, ends, span: Span::Line };
        let stop = Stop::default();
        stop.0.store(true, Ordering::Relaxed);
        let mut tally = Tally::new(Want::Count);
        let read = Stoppable { file: &file, stop: &stop };
        let searched = query.searcher().build().search_reader(&query.matcher, read, &mut tally);
        assert_eq!(searched.unwrap_err().to_string(), "the search was cancelled");
        assert_eq!(tally.matches, 0);
    }
}
