//! A text as lines, with the ending that each of them has.

/// How the lines of a text end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// There is only one line.
    None,
    /// All with `\n`.
    Lf,
    /// All with `\r\n`.
    CrLf,
    /// All with `\r`, as on old Macs.
    Cr,
    /// Some so, some otherwise.
    Mixed,
}

/// One line of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawLine<'a> {
    /// Where it starts in the text.
    pub at: usize,
    /// What stands in it.
    pub body: &'a str,
    /// How it ends: nothing for the last line of a text without a final newline.
    pub ending: &'a str,
}

impl RawLine<'_> {
    /// Where the next line starts.
    pub fn end(&self) -> usize {
        self.at + self.body.len() + self.ending.len()
    }
}

impl Ends {
    /// How the lines of a text end. A `\r` that stands alone is an ending only where there is no `\n` at all.
    pub fn of(text: &str) -> Self {
        // Most texts have no `\r` at all, and to see that is much faster than to look at every line.
        if memchr::memchr(b'\r', text.as_bytes()).is_none() {
            return if text.contains('\n') { Self::Lf } else { Self::None };
        }
        let (mut lf, mut crlf) = (false, false);
        for at in memchr::memchr_iter(b'\n', text.as_bytes()) {
            let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
            if before == Some(&b'\r') {
                crlf = true
            } else {
                lf = true
            }
            if lf && crlf {
                return Self::Mixed;
            }
        }
        match (lf, crlf) {
            (true, _) => Self::Lf,
            (false, true) => Self::CrLf,
            (false, false) => Self::Cr,
        }
    }

    /// What a new line of such a text ends with, if it is always the same.
    pub fn only(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Mixed => None,
            Self::Lf => Some("\n"),
            Self::CrLf => Some("\r\n"),
            Self::Cr => Some("\r"),
        }
    }
}

/// The lines of a text, one after the other; together they are the text.
pub fn lines(text: &str) -> impl Iterator<Item = RawLine<'_>> {
    lines_by(text, last_byte(text), 0)
}

/// The lines of a text of which is known how they end.
pub fn lines_ending(text: &str, ends: Ends) -> impl Iterator<Item = RawLine<'_>> {
    let last = match ends {
        Ends::Cr => b'\r',
        Ends::None | Ends::Lf | Ends::CrLf | Ends::Mixed => b'\n',
    };
    lines_by(text, last, 0)
}

/// The lines of a text with their numbers from 0, beginning with so many lines before the one that a place is in.
pub fn lines_near(text: &str, place: usize, before: usize) -> impl Iterator<Item = (usize, RawLine<'_>)> {
    let last = last_byte(text);
    let (start, number) = lines_back(text, last, place, before);
    lines_by(text, last, start).enumerate().map(move |(nth, line)| (number + nth, line))
}

/// Where the line starts that is so many lines before the one that a place is in, and its number from 0.
pub(crate) fn lines_back(text: &str, last: u8, place: usize, before: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let start_before = |at: usize| {
        bytes.get(..at).and_then(|before| memchr::memrchr(last, before)).map_or(0, |ending| ending + 1)
    };
    let mut start = start_before(place.min(bytes.len()));
    for _ in 0..before {
        start = start_before(start.saturating_sub(1));
    }
    (start, memchr::memchr_iter(last, bytes.get(..start).unwrap_or_default()).count())
}

/// The byte that every ending of a line has at its end.
pub(crate) fn last_byte(text: &str) -> u8 {
    let has = |byte: u8| memchr::memchr(byte, text.as_bytes()).is_some();
    if !has(b'\n') && has(b'\r') { b'\r' } else { b'\n' }
}

/// The lines from one that starts at a place.
pub(crate) fn lines_by(text: &str, last: u8, start: usize) -> impl Iterator<Item = RawLine<'_>> {
    let mut at = start;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let whole = memchr::memchr(last, rest.as_bytes()).and_then(|end| rest.get(..=end)).unwrap_or(rest);
        let body = without_ending(whole, last);
        let line = RawLine { at, body, ending: whole.get(body.len()..).unwrap_or_default() };
        at += whole.len();
        Some(line)
    })
}

/// The most frequent ending of a text; `\n` where there is none.
pub fn usual_ending(text: &str) -> &'static str {
    let ends = Ends::of(text);
    ends.only().unwrap_or_else(|| {
        let all = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let crlf = memchr::memmem::find_iter(text.as_bytes(), b"\r\n").count();
        if crlf * 2 > all { "\r\n" } else { "\n" }
    })
}

/// The same text with lines that all end so.
pub fn with_endings(text: &str, ending: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    if ending == "\n" { plain } else { plain.replace('\n', ending) }
}

/// The number of the line that a place is in, from 1.
pub fn line_at(text: &str, place: usize) -> usize {
    let before = text.as_bytes().get(..place).unwrap_or(text.as_bytes());
    memchr::memchr_iter(last_byte(text), before).count() + 1
}

/// How many lines a text has, as people count: a final newline begins no line.
pub fn count(text: &str) -> usize {
    lines(text).count()
}

fn without_ending(whole: &str, last: u8) -> &str {
    match last {
        b'\r' => whole.strip_suffix('\r').unwrap_or(whole),
        _ => match whole.strip_suffix('\n') {
            Some(body) => body.strip_suffix('\r').unwrap_or(body),
            None => whole,
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_line_has_the_ending_that_it_has() {
        let shown = |text: &str| {
            let lines: Vec<String> =
                lines(text).map(|line| format!("{}:{:?}{:?}", line.at, line.body, line.ending)).collect();
            format!("{:?} {}", Ends::of(text), lines.join(" "))
        };
        assert_eq!(shown(""), "None ");
        assert_eq!(shown("a"), r#"None 0:"a""""#);
        assert_eq!(shown("a\n\nb"), r#"Lf 0:"a""\n" 2:"""\n" 3:"b""""#);
        assert_eq!(shown("a\r\nb\r\n"), r#"CrLf 0:"a""\r\n" 3:"b""\r\n""#);
        assert_eq!(shown("a\rb\r"), r#"Cr 0:"a""\r" 2:"b""\r""#);
        assert_eq!(shown("a\nb\r\nc\rd"), r#"Mixed 0:"a""\n" 2:"b""\r\n" 5:"c\rd""""#);
    }

    #[test]
    fn endings_are_told() {
        let told = ["", "one", "a\nb\n", "a\r\nb\r\n", "a\rb\r", "a\r\nb\n", "10%\r20%\nb\n", "a\r\r\n"]
            .map(Ends::of);
        let (lf, crlf) = (Ends::Lf, Ends::CrLf);
        assert_eq!(told, [Ends::None, Ends::None, lf, crlf, Ends::Cr, Ends::Mixed, lf, crlf]);
    }

    #[test]
    fn a_place_has_a_line() {
        assert_eq!([0, 1, 2, 9].map(|at| line_at("a\nb\n", at)), [1, 1, 2, 3]);
        assert_eq!(line_at("a\rb", 2), 2);
        assert_eq!(["", "a", "a\n", "a\nb"].map(count), [0, 1, 1, 2]);
    }

    #[test]
    fn lines_begin_a_few_before_a_place() {
        let near = |text: &str, place: usize, before: usize| -> Vec<String> {
            lines_near(text, place, before).map(|(number, line)| format!("{number}{}", line.body)).collect()
        };
        assert_eq!(near("a\nb\nc\n", 4, 1), ["1b", "2c"]);
        assert_eq!(near("a\nb\nc\n", 4, 9), ["0a", "1b", "2c"]);
        assert_eq!(near("a\nb\nc\n", 6, 0), [""; 0]);
        assert_eq!(near("a\r\nb\r\nc", 3, 0), ["1b", "2c"]);
        assert_eq!(near("a\rb\rc", 4, 1), ["1b", "2c"]);
        assert_eq!(near("", 0, 3), [""; 0]);
        assert_eq!(near("a", 9, 3), ["0a"]);
    }

    #[test]
    fn the_usual_ending_is_that_of_most_lines() {
        assert_eq!(
            ["", "a\n", "a\r\n", "a\r", "a\r\nb\r\nc\n", "a\r\nb\n"].map(usual_ending),
            ["\n", "\n", "\r\n", "\r", "\r\n", "\n"]
        );
        assert_eq!(with_endings("a\nb\r\nc", "\r\n"), "a\r\nb\r\nc");
        assert_eq!(with_endings("a\nb\r\nc", "\n"), "a\nb\nc");
    }

    proptest! {
        #[test]
        fn lines_together_are_the_text(text in "[ab\r\n]{0,40}") {
            let again: String = lines(&text).map(|line| [line.body, line.ending].concat()).collect();
            prop_assert_eq!(&again, &text);
            prop_assert!(lines(&text).all(|line| text[line.at..line.end()].starts_with(line.body)));
        }
    }
}
