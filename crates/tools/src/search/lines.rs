//! The lines of matches, as a model reads them: a file's name, then its lines with their numbers.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};
use rail_tool::{Files, ToolFault};

use super::excerpt::excerpt;
use super::scan::{Query, Stoppable};
use super::walk::Hit;
use super::{Page, Stop};
use crate::words;

/// How lines are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Style {
    /// Lines before a match.
    pub(crate) before: usize,
    /// Lines behind a match.
    pub(crate) after: usize,
    pub(crate) numbers: Numbers,
    /// Characters in all, at most.
    pub(crate) chars: usize,
    /// Characters of a line, at most.
    pub(crate) line_chars: usize,
    /// Lines of one match, where it goes over many.
    pub(crate) match_lines: usize,
}

/// Whether lines have their numbers before them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Numbers {
    Shown,
    Left,
}

/// The lines of a page, and how many matches that are.
pub(crate) fn lines(
    files: &Files,
    hits: &[Hit],
    cwd: &Path,
    query: &Query,
    (page, style): (Page, Style),
    stop: &Stop,
) -> Result<(String, usize), ToolFault> {
    let mut builder = query.searcher();
    builder.line_number(true).before_context(style.before).after_context(style.after);
    let mut searcher = builder.build();
    let mut writer = Writer::new(query, page, style);
    for hit in hits {
        stop.check()?;
        let matches = usize::try_from(hit.matches).unwrap_or(usize::MAX);
        if writer.skip >= matches {
            writer.skip -= matches;
            continue;
        }
        // A file that is gone or another one by now has nothing to show.
        let Ok(opened) = files.open(&hit.path) else { continue };
        writer.begin(words::path(&hit.path, cwd));
        let read = Stoppable { file: &opened.file, stop };
        // The same holds for one that can't be read any more; what was read of it is shown.
        let _ = searcher.search_reader(&query.matcher, read, &mut writer);
        writer.skip = 0;
        if writer.full {
            break;
        }
    }
    Ok((writer.out, writer.places))
}

struct Writer<'a> {
    query: &'a Query,
    style: Style,
    out: String,
    /// Characters in `out`.
    chars: usize,
    /// Matches that are still left out.
    skip: usize,
    /// Matches that may still be shown.
    left: usize,
    /// Matches that are shown.
    places: usize,
    /// The file's name, until its first line is shown.
    heading: Option<String>,
    /// Lines that may turn out to stand before a match.
    pending: VecDeque<String>,
    /// Whether the match before is shown, so that lines behind it are too.
    after_shown: bool,
    /// Whether lines are left out before the next.
    gap: bool,
    /// Whether nothing more can be shown.
    full: bool,
}

impl<'a> Writer<'a> {
    fn new(query: &'a Query, page: Page, style: Style) -> Self {
        Self {
            query,
            style,
            out: String::new(),
            chars: 0,
            skip: page.offset,
            left: page.limit,
            places: 0,
            heading: None,
            pending: VecDeque::new(),
            after_shown: false,
            gap: false,
            full: false,
        }
    }

    fn begin(&mut self, name: String) {
        let blank = if self.out.is_empty() { "" } else { "\n" };
        self.heading = Some(format!("{blank}{name}"));
        self.pending.clear();
        self.after_shown = false;
        self.gap = false;
    }

    fn push(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
        self.chars += line.chars().count() + 1;
    }

    /// A line that may turn out to stand before a match that is shown.
    fn remember(&mut self, line: String) {
        self.pending.push_back(line);
        if self.pending.len() > self.style.before {
            self.pending.pop_front();
        }
    }

    fn line(&self, number: Option<u64>, mark: char, text: &str) -> String {
        match (self.style.numbers, number) {
            (Numbers::Shown, Some(number)) => format!("{number}{mark}{text}"),
            (Numbers::Shown | Numbers::Left, _) => text.to_owned(),
        }
    }

    fn place(&mut self, found: &SinkMatch<'_>) {
        if let Some(heading) = self.heading.take() {
            self.push(&heading);
        } else if self.gap {
            self.push("--");
        }
        self.gap = false;
        for line in std::mem::take(&mut self.pending) {
            self.push(&line);
        }
        let (lines, most) = (found.lines().count(), self.style.match_lines);
        for (at, line) in found.lines().take(most).enumerate() {
            let place = if at == 0 && line.len() > self.style.line_chars { self.first(line) } else { 0..0 };
            let number = found.line_number().map(|number| number + at as u64);
            let line = self.line(number, ':', &excerpt(line, &place, self.style.line_chars));
            self.push(&line);
        }
        if lines > most {
            let more = words::count((lines - most) as u64, "line");
            self.push(&format!("[… {more} of this match]"));
        }
    }

    /// Where in a long line the match begins.
    fn first(&self, line: &[u8]) -> std::ops::Range<usize> {
        match self.query.matcher.find(line) {
            Ok(Some(found)) => found.start()..found.end(),
            Ok(None) | Err(_) => 0..0,
        }
    }

    /// Takes the last match back if it is too much, unless it is the only one.
    fn fit(&mut self, before: usize) {
        if self.chars <= self.style.chars {
            return;
        }
        self.full = true;
        if self.places > 1 {
            self.out.truncate(before);
            self.places -= 1;
        } else {
            let end = self.out.char_indices().nth(self.style.chars).map_or(self.out.len(), |(at, _)| at);
            self.out.truncate(end);
            self.out.push_str("[…]\n");
        }
    }
}

impl Sink for Writer<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.skip > 0 {
            self.skip -= 1;
            for (at, line) in
                found.lines().enumerate().skip(found.lines().count().saturating_sub(self.style.before))
            {
                let number = found.line_number().map(|number| number + at as u64);
                self.remember(self.line(number, '-', &excerpt(line, &(0..0), self.style.line_chars)));
            }
            return Ok(true);
        }
        if self.left == 0 {
            self.full = true;
            return Ok(false);
        }
        let before = self.out.len();
        self.place(found);
        self.left -= 1;
        self.places += 1;
        self.after_shown = true;
        self.fit(before);
        Ok(!self.full)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        let line =
            self.line(context.line_number(), '-', &excerpt(context.bytes(), &(0..0), self.style.line_chars));
        if *context.kind() == SinkContextKind::After && self.after_shown {
            self.push(&line);
            self.full = self.chars > self.style.chars;
        } else {
            self.remember(line);
        }
        Ok(!self.full)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.gap = true;
        self.pending.clear();
        Ok(true)
    }
}
