//! What a terminal would show of a program's output, at a cost that grows with its length and no faster.

use std::collections::VecDeque;

/// Rows that the cursor can still go back to; what has left them stays as it is.
const ROWS: usize = 64;

/// Spaces that cursor moves may make in one text: a few bytes could ask for thousands.
const PADDING: usize = 64 * 1024;

/// The longest sequence of each kind; what is longer is not one.
const LONGEST_CONTROL: usize = 128;
const LONGEST_STRING: usize = 8 * 1024;

/// What is left on a terminal's screen, and above it, of these bytes: colours are gone, a bar that was drawn over itself is there
/// once, what is not UTF-8 is marked.
pub fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.bytes().all(|byte| byte == b'\n' || byte == b'\t' || (byte >= b' ' && byte != 0x7f)) {
        return text.into_owned();
    }
    let mut screen = Screen::default();
    let mut rest = text.as_ref();
    while let Some(first) = rest.chars().next() {
        let taken = if first == '\x1b' { screen.escape(rest) } else { screen.char(first) };
        rest = rest.get(taken..).unwrap_or_default();
    }
    screen.finish()
}

/// How many of these bytes can be shown before more have come: all but a character or an escape sequence that is cut at the end.
pub(crate) fn complete(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(escape) = position(bytes, at, 0x1b) {
        match sequence(bytes.get(escape..).unwrap_or_default()) {
            Sequence::Cut => return escape,
            Sequence::Control { len, .. } | Sequence::Other { len } => at = escape + len,
        }
    }
    bytes.len() - cut_character(bytes)
}

/// How many bytes at the end are the beginning of a character.
fn cut_character(bytes: &[u8]) -> usize {
    for back in 1..=3_usize.min(bytes.len()) {
        let Some(&byte) = bytes.len().checked_sub(back).and_then(|at| bytes.get(at)) else { return 0 };
        let needs = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        let tail = bytes.get(bytes.len() - back..).unwrap_or_default();
        // A beginning that can't become a character is not waited for.
        let open = std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none());
        return if needs > back && open { back } else { 0 };
    }
    0
}

fn position(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    bytes.get(from..)?.iter().position(|byte| *byte == wanted).map(|at| from + at)
}

/// An escape sequence at the beginning of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sequence {
    /// More bytes must come.
    Cut,
    /// It moves the cursor or erases something.
    Control { len: usize, verb: u8, number: Option<usize> },
    /// It shows nothing.
    Other { len: usize },
}

fn sequence(bytes: &[u8]) -> Sequence {
    match bytes.get(1) {
        None => Sequence::Cut,
        Some(b'[') => control(bytes),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => string(bytes),
        Some(b'M') => Sequence::Control { len: 2, verb: b'A', number: None },
        Some(b'(' | b')' | b'*' | b'+' | b'-' | b'.' | b'/' | b'#' | b'%' | b' ') => match bytes.get(2) {
            None => Sequence::Cut,
            Some(b' '..=b'~') => Sequence::Other { len: 3 },
            Some(_) => Sequence::Other { len: 2 },
        },
        Some(b'!'..=b'~') => Sequence::Other { len: 2 },
        Some(_) => Sequence::Other { len: 1 },
    }
}

fn control(bytes: &[u8]) -> Sequence {
    for (at, byte) in bytes.iter().enumerate().take(LONGEST_CONTROL).skip(2) {
        match byte {
            b' '..=b'?' => {}
            b'@'..=b'~' => {
                let digits = bytes.get(2..at).unwrap_or_default().split(|byte| *byte == b';').next();
                let number = digits
                    .and_then(|digits| std::str::from_utf8(digits).ok())
                    .and_then(|text| text.parse().ok());
                return Sequence::Control { len: at + 1, verb: *byte, number };
            }
            _ => return Sequence::Other { len: at },
        }
    }
    if bytes.len() < LONGEST_CONTROL { Sequence::Cut } else { Sequence::Other { len: 2 } }
}

/// A title, a link, a picture: it ends with a bell or with `ESC \`.
fn string(bytes: &[u8]) -> Sequence {
    for (at, pair) in bytes.windows(2).enumerate().take(LONGEST_STRING).skip(1) {
        match pair {
            [0x07, _] => return Sequence::Other { len: at + 1 },
            [0x1b, b'\\'] => return Sequence::Other { len: at + 2 },
            _ => {}
        }
    }
    match bytes.last() {
        Some(0x07) if bytes.len() <= LONGEST_STRING => Sequence::Other { len: bytes.len() },
        Some(_) | None if bytes.len() < LONGEST_STRING => Sequence::Cut,
        Some(_) | None => Sequence::Other { len: 2 },
    }
}

/// The last rows, on which the cursor moves, and the text above them.
struct Screen {
    above: String,
    rows: VecDeque<Vec<char>>,
    row: usize,
    column: usize,
    padding: usize,
}

impl Default for Screen {
    fn default() -> Self {
        Self { above: String::new(), rows: VecDeque::from([Vec::new()]), row: 0, column: 0, padding: PADDING }
    }
}

impl Screen {
    /// One character; how many bytes it took.
    fn char(&mut self, c: char) -> usize {
        match c {
            '\n' => self.line_feed(),
            '\r' => self.column = 0,
            '\x08' => self.column = self.column.saturating_sub(1),
            '\x0b' | '\x0c' => self.line_feed(),
            '\t' => self.put('\t'),
            '\0' => self.put('\u{2400}'),
            c if c.is_control() => {}
            c => self.put(c),
        }
        c.len_utf8()
    }

    fn put(&mut self, c: char) {
        let Some(line) = self.rows.get_mut(self.row) else { return };
        if let Some(there) = line.get_mut(self.column) {
            *there = c;
        } else {
            let gap = (self.column - line.len()).min(self.padding);
            self.padding -= gap;
            line.extend(std::iter::repeat_n(' ', gap));
            line.push(c);
            self.column = line.len() - 1;
        }
        self.column += 1;
    }

    fn line_feed(&mut self) {
        self.row += 1;
        self.column = 0;
        if self.row < self.rows.len() {
            return;
        }
        self.rows.push_back(Vec::new());
        if self.rows.len() > ROWS {
            self.row -= 1;
            self.leave();
        }
    }

    /// The first row leaves the screen for good.
    fn leave(&mut self) {
        if let Some(line) = self.rows.pop_front() {
            self.above.extend(line);
            self.above.push('\n');
        }
    }

    /// An escape sequence; how many bytes it took.
    fn escape(&mut self, text: &str) -> usize {
        match sequence(text.as_bytes()) {
            // It is the end of the output: nothing more comes.
            Sequence::Cut => text.len(),
            Sequence::Other { len } => len,
            Sequence::Control { len, verb, number } => {
                self.control(verb, number);
                len
            }
        }
    }

    fn control(&mut self, verb: u8, number: Option<usize>) {
        let by = number.unwrap_or(1).max(1);
        let lowest = self.rows.len().saturating_sub(1);
        match verb {
            b'A' => self.row = self.row.saturating_sub(by),
            b'B' => self.row = self.row.saturating_add(by).min(lowest),
            b'C' => self.column = self.column.saturating_add(by).min(self.widest()),
            b'D' => self.column = self.column.saturating_sub(by),
            b'E' => (self.row, self.column) = (self.row.saturating_add(by).min(lowest), 0),
            b'F' => (self.row, self.column) = (self.row.saturating_sub(by), 0),
            b'G' => self.column = (by - 1).min(self.widest()),
            b'J' => self.erase_below(number.unwrap_or(0)),
            b'K' => self.erase_in_line(number.unwrap_or(0)),
            b'H' | b'f' => self.fresh(),
            _ => {}
        }
    }

    /// As far as a move goes to the right.
    fn widest(&self) -> usize {
        self.rows.get(self.row).map_or(0, Vec::len).max(self.column).max(1_000)
    }

    fn erase_in_line(&mut self, how: usize) {
        let (column, Some(line)) = (self.column, self.rows.get_mut(self.row)) else { return };
        match how {
            0 => line.truncate(column),
            // On a very long line this would cost as much as the line for a few bytes.
            1 if column <= 1_000 => line.iter_mut().take(column + 1).for_each(|c| *c = ' '),
            2 => line.clear(),
            _ => {}
        }
    }

    fn erase_below(&mut self, how: usize) {
        match how {
            0 => {
                self.erase_in_line(0);
                self.rows.truncate(self.row + 1);
            }
            2 | 3 => self.fresh(),
            _ => {}
        }
    }

    /// A program that draws whole screens begins one: what was there is kept above, since nobody will scroll back for it.
    fn fresh(&mut self) {
        if self.rows.iter().all(Vec::is_empty) {
            self.rows.truncate(1);
        } else {
            while !self.rows.is_empty() {
                self.leave();
            }
            self.rows.push_back(Vec::new());
        }
        (self.row, self.column) = (0, 0);
    }

    fn finish(mut self) -> String {
        while self.rows.len() > 1 {
            self.leave();
        }
        self.above.extend(self.rows.pop_front().unwrap_or_default());
        self.above
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_screen_shows_what_a_terminal_would() {
        for (bytes, expected) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("dos\r\nlines\r\n", "dos\nlines\n"),
            (" 10%\r 50%\r100%\ndone\n", "100%\ndone\n"),
            ("longer\rab\n", "abnger\n"),
            ("longer\r\x1b[Kab\n", "ab\n"),
            ("\x1b[1;31mred\x1b[0m and \x1b[38;5;12mblue\x1b[m\n", "red and blue\n"),
            ("b\x08bo\x08ol\x08ld", "bold"),
            ("\x1b]0;a title\x07text", "text"),
            ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("one\ntwo\nthree\n\x1b[2A\x1b[2Kchanged\n\x1b[1Bafter", "one\nchanged\nthree\nafter"),
            ("a\nb\nc\x1b[1A\r\x1b[Jd", "a\nd"),
            ("first\x1b[2J\x1b[Hsecond", "first\nsecond"),
            ("a\x1b[5Cb", "a     b"),
            ("a\x07b\x00c\x7fd", "ab\u{2400}cd"),
            ("\x1b(Bascii\x1b[?25l", "ascii"),
            ("cut \x1b[3", "cut "),
        ] {
            assert_eq!(shown(bytes.as_bytes()), expected, "{bytes:?}");
        }
        assert_eq!(shown(b"a\xffb\xe4\n"), "a\u{fffd}b\u{fffd}\n");
    }

    #[test]
    fn what_is_cut_at_the_end_waits() {
        for (bytes, expected) in [
            (&b"text"[..], 4),
            (b"a\xc3", 1),
            (b"a\xe2\x82", 1),
            (b"a\xf0\x9f\x98", 1),
            (b"a\xff", 2),
            (b"a\xe0\x20", 3),
            (b"a\xf0\x80", 3),
            (b"a\x1b", 1),
            (b"a\x1b[31", 1),
            (b"a\x1b[31m", 6),
            (b"a\x1b]0;title\x1b", 1),
            (b"a\x1b]0;title\x1b\\", 12),
        ] {
            assert_eq!(complete(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_few_bytes_can_not_ask_for_much_text() {
        let hostile = b"\x1b[900Cx\n".repeat(50_000);
        assert!(shown(&hostile).len() < hostile.len() + PADDING);
        let long = [vec![b'a'; 500_000], b"\x1b[1K".repeat(100_000)].concat();
        assert_eq!(shown(&long).len(), 500_000);
    }

    fn pieces() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            "[a-zé€😀 \n\t]{0,6}".prop_map(String::into_bytes),
            Just(b"\x1b[1;32m".to_vec()),
            Just(b"\x1b]0;t\x07".to_vec()),
            Just(b"\x1b]8;;x\x1b\\".to_vec()),
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn anything_is_shown(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let text = shown(&bytes);
            let plain = |c: char| c == '\n' || c == '\t' || !c.is_control();
            prop_assert!(text.chars().all(plain));
            prop_assert!(complete(&bytes) <= bytes.len());
        }

        #[test]
        fn moves_of_all_kinds_stay_on_the_screen(text in "([a-c\n\r\x08]|\x1b\\[[0-9]{0,4}[A-K]){0,60}") {
            shown(text.as_bytes());
        }

        #[test]
        fn text_that_is_read_in_parts_is_the_same(bytes in pieces(), cuts in proptest::collection::vec(0_usize..80, 0..6)) {
            let mut ends: Vec<usize> = cuts.into_iter().filter(|cut| *cut < bytes.len()).collect();
            ends.sort_unstable();
            let (mut text, mut from) = (String::new(), 0);
            for end in ends {
                if end > from {
                    let whole = from + complete(&bytes[from..end]);
                    text.push_str(&shown(&bytes[from..whole]));
                    from = whole;
                }
            }
            text.push_str(&shown(&bytes[from..]));
            prop_assert_eq!(text, shown(&bytes));
        }
    }
}
