//! A page of a text: some of its lines, numbered, whatever the text's length.

use std::fmt::Write;

use rail_edit::lines::Ends;

/// Which lines are wanted, and how much room there is for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    /// The first line, from 1.
    pub(crate) first: u64,
    /// The most lines.
    pub(crate) lines: u64,
    /// The most characters of one line.
    pub(crate) width: usize,
    /// The most characters in all.
    pub(crate) room: usize,
    /// How lines end; text with carriage returns alone has to say so.
    pub(crate) endings: Ends,
    /// How lines begin.
    pub(crate) numbers: Numbers,
}

/// Whether lines begin with their number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Numbers {
    /// The number and a tab stand before each.
    Shown,
    /// They do not.
    Left,
}

/// Takes a text piece by piece and keeps the wanted lines; it needs no more room than they do.
#[derive(Clone, Debug)]
pub(crate) struct Pager {
    wanted: Wanted,
    out: String,
    used: usize,
    line: Line,
    number: u64,
    last: Option<u64>,
    cut: u64,
    full: Option<Full>,
}

/// The lines that were kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Page {
    /// The lines, each with a line feed at its end.
    pub(crate) text: String,
    /// The number of the last line that was kept; nothing if none was.
    pub(crate) last: Option<u64>,
    /// How many lines of the text were seen in all.
    pub(crate) lines: u64,
    /// How many of the kept lines are cut.
    pub(crate) cut: u64,
    /// Why no further lines were kept.
    pub(crate) full: Option<Full>,
}

/// Why a page is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Full {
    /// As many lines as were wanted.
    Lines,
    /// The room is used up.
    Room,
}

/// The line that is being read.
#[derive(Clone, Debug, Default)]
struct Line {
    kept: String,
    chars: usize,
    /// Whether there is anything of it, be it only its ending.
    begun: bool,
    /// Whether its last character so far is a carriage return, which may belong to its ending.
    returned: bool,
}

impl Pager {
    /// An empty page.
    pub(crate) fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            out: String::new(),
            used: 0,
            line: Line::default(),
            number: 1,
            last: None,
            cut: 0,
            full: (wanted.lines == 0).then_some(Full::Lines),
        }
    }

    /// Whether nothing that comes would be kept.
    pub(crate) fn is_full(&self) -> bool {
        // The line at hand may be longer than a page has room for: the rest of it is only counted.
        self.full.is_some() || (self.line.chars > self.wanted.width && self.is_last_wanted())
    }

    /// Takes the next piece of the text.
    pub(crate) fn push(&mut self, text: &str) {
        let end = if self.wanted.endings == Ends::Cr { '\r' } else { '\n' };
        for piece in text.split_inclusive(end) {
            let (body, ended) = piece.strip_suffix(end).map_or((piece, false), |body| (body, true));
            self.line.begun = true;
            if self.is_wanted() {
                self.keep(body);
            }
            if ended {
                self.end_line();
            }
        }
    }

    /// Whether there is nothing left to do but to count lines.
    pub(crate) fn only_counts(&self) -> bool {
        self.full.is_some()
    }

    /// Counts the lines of the next piece, in bytes of an encoding where those of line ends stand for nothing else. Only for a page that
    /// [only counts](Self::only_counts).
    pub(crate) fn count(&mut self, bytes: &[u8]) {
        let end = if self.wanted.endings == Ends::Cr { b'\r' } else { b'\n' };
        let Some(last) = bytes.last() else { return };
        self.number += memchr::memchr_iter(end, bytes).count() as u64;
        self.line.begun = *last != end;
    }

    /// The page, when the text is at its end or nobody wants more of it.
    pub(crate) fn done(mut self) -> Page {
        if self.line.begun {
            self.end_line();
        }
        let Self { out, number, last, cut, full, .. } = self;
        Page { text: out, last, lines: number - 1, cut, full }
    }

    fn is_wanted(&self) -> bool {
        self.full.is_none() && self.number >= self.wanted.first
    }

    fn is_last_wanted(&self) -> bool {
        self.is_wanted() && self.number - self.wanted.first + 1 >= self.wanted.lines
    }

    fn keep(&mut self, body: &str) {
        // One more than is shown: it may be the carriage return of the line's end.
        let room = (self.wanted.width + 1).saturating_sub(self.line.chars);
        self.line.kept.extend(body.chars().take(room).map(visible));
        self.line.chars += body.chars().count();
        if !body.is_empty() {
            self.line.returned = body.ends_with('\r');
        }
    }

    fn end_line(&mut self) {
        let number = self.number;
        self.number += 1;
        let wanted = self.full.is_none() && number >= self.wanted.first;
        let line = std::mem::take(&mut self.line);
        if !wanted {
            return;
        }
        let before = self.out.len();
        self.write(number, &line);
        let added = self.out.get(before..).map_or(0, |added| added.chars().count());
        // The first line is always given, whatever its length: it is cut to its width already.
        if self.used + added > self.wanted.room && self.last.is_some() {
            self.out.truncate(before);
            self.full = Some(Full::Room);
            return;
        }
        self.used += added;
        self.last = Some(number);
        self.cut += u64::from(line.over(self.wanted.width) > 0);
        if number - self.wanted.first + 1 >= self.wanted.lines {
            self.full = Some(Full::Lines);
        }
    }

    fn write(&mut self, number: u64, line: &Line) {
        let left_out = line.over(self.wanted.width);
        // A text takes whatever is written to it.
        if self.wanted.numbers == Numbers::Shown {
            let _ = write!(self.out, "{number}\t");
        }
        self.out.extend(line.body().chars().take(self.wanted.width));
        if left_out > 0 {
            let _ = write!(self.out, "… [{left_out} more characters]");
        }
        self.out.push('\n');
    }
}

impl Line {
    /// Without the carriage return of its end, if all of it was kept.
    fn body(&self) -> &str {
        match self.kept.strip_suffix('\r') {
            Some(body) if self.chars == self.kept.chars().count() => body,
            Some(_) | None => &self.kept,
        }
    }

    /// How many characters are more than so many.
    fn over(&self, width: usize) -> usize {
        self.chars.saturating_sub(usize::from(self.returned)).saturating_sub(width)
    }
}

/// A zero, which not every provider takes, as its sign.
fn visible(c: char) -> char {
    if c == '\0' { '␀' } else { c }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: Wanted =
        Wanted { first: 1, lines: 2_000, width: 10, room: 1_000, endings: Ends::Lf, numbers: Numbers::Shown };

    fn page(wanted: Wanted, text: &str) -> Page {
        let mut pager = Pager::new(wanted);
        pager.push(text);
        pager.done()
    }

    #[test]
    fn lines_are_numbered_and_counted() {
        let cases = [
            (ALL, "", "", None, 0),
            (ALL, "a", "1\ta\n", Some(1), 1),
            (ALL, "a\nb\n", "1\ta\n2\tb\n", Some(2), 2),
            (ALL, "a\r\nb\r\n", "1\ta\n2\tb\n", Some(2), 2),
            (ALL, "\n\n", "1\t\n2\t\n", Some(2), 2),
            (ALL, "a\rb\nc", "1\ta\rb\n2\tc\n", Some(2), 2),
            (Wanted { endings: Ends::Cr, ..ALL }, "a\rb\r", "1\ta\n2\tb\n", Some(2), 2),
            (Wanted { first: 2, lines: 1, ..ALL }, "a\nb\nc\n", "2\tb\n", Some(2), 3),
            (Wanted { first: 4, ..ALL }, "a\nb\nc\n", "", None, 3),
            (Wanted { numbers: Numbers::Left, ..ALL }, "a\nb", "a\nb\n", Some(2), 2),
            (ALL, "0123456789\r\n", "1\t0123456789\n", Some(1), 1),
            (ALL, "nul \0", "1\tnul ␀\n", Some(1), 1),
        ];
        for (wanted, text, shown, last, lines) in cases {
            let page = page(wanted, text);
            assert_eq!((page.text.as_str(), page.last, page.lines), (shown, last, lines), "{text:?}");
        }
    }

    #[test]
    fn long_lines_are_cut_and_say_so() {
        let page = page(ALL, "0123456789äöü\r\nb\n");
        let text = "1\t0123456789… [3 more characters]\n2\tb\n".to_owned();
        assert_eq!(page, Page { text, last: Some(2), lines: 2, cut: 1, full: None });
    }

    #[test]
    fn a_page_that_is_full_still_counts() {
        let page = page(Wanted { room: 8, ..ALL }, "aa\nbb\ncc\n");
        let text = "1\taa\n".to_owned();
        assert_eq!(page, Page { text, last: Some(1), lines: 3, cut: 0, full: Some(Full::Room) });
    }

    #[test]
    fn an_endless_line_takes_no_room() {
        let mut pager = Pager::new(Wanted { lines: 1, ..ALL });
        for _ in 0..1_000 {
            pager.push("0123456789");
        }
        assert!(pager.is_full());
        assert!(pager.line.kept.len() < 20);
        assert_eq!(pager.done().text, "1\t0123456789… [9990 more characters]\n");
    }

    proptest! {
        #[test]
        fn pieces_make_the_same_page(text in "[ab\u{e4}\r\n]{0,60}", at in 0_usize..60, first in 1_u64..5, lines in 1_u64..5) {
            let wanted = Wanted { first, lines, width: 3, ..ALL };
            let at = text.char_indices().map(|(at, _)| at).nth(at).unwrap_or(text.len());
            let mut pager = Pager::new(wanted);
            pager.push(&text[..at]);
            pager.push(&text[at..]);
            prop_assert_eq!(pager.done(), page(wanted, &text));
        }

        #[test]
        fn every_line_is_shown_as_it_is(text in "[ab\u{e4} \n]{0,60}") {
            let page = page(Wanted { numbers: Numbers::Left, width: 100, ..ALL }, &text);
            let expected: String = text.lines().flat_map(|line| [line, "\n"]).collect();
            prop_assert_eq!(page.text, expected);
        }
    }
}
