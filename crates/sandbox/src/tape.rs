//! What a process printed, in bounded memory.

use std::collections::VecDeque;
use std::path::PathBuf;

use crate::{binary, screen};

/// How much of an output is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Bytes of its beginning, in memory.
    pub head: usize,
    /// Bytes of its end, in memory.
    pub tail: usize,
    /// Bytes of it in a file, once it is longer than what memory keeps.
    pub file: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { head: 1 << 20, tail: 1 << 20, file: 64 << 20 }
    }
}

/// What a process printed: the beginning and the end of it, and how much there was between them.
#[derive(Debug)]
pub(crate) struct Tape {
    bounds: Bounds,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    len: u64,
    kept: Option<Kept>,
}

/// A file that holds an output that was too long for memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// The file.
    pub path: PathBuf,
    /// How many bytes from the beginning it holds.
    pub bytes: u64,
    /// Why it holds no more, if something went wrong.
    pub trouble: Option<String>,
}

/// What was printed behind some place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    head: Vec<u8>,
    missing: u64,
    tail: Vec<u8>,
    /// The place to go on from.
    pub next: u64,
}

/// The text of a piece, as a terminal would show it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Text {
    /// The text, or its beginning where something is missing.
    pub head: String,
    /// Bytes that are missing behind the beginning.
    pub missing: u64,
    /// The text behind what is missing.
    pub tail: String,
}

/// Whether more will be printed behind a piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum More {
    /// Yes: a character or an escape sequence that is cut waits for its rest.
    Comes,
    /// No: what is there is all.
    Never,
}

impl Tape {
    /// An empty one.
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, head: Vec::new(), tail: VecDeque::new(), len: 0, kept: None }
    }

    /// Adds what was printed.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        let room = self.bounds.head.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let rest = rest.get(rest.len().saturating_sub(self.bounds.tail)..).unwrap_or_default();
        let over = (self.tail.len() + rest.len()).saturating_sub(self.bounds.tail);
        self.tail.drain(..over.min(self.tail.len()));
        self.tail.extend(rest);
    }

    /// How many bytes were printed.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Whether memory would hold this many bytes more without losing any.
    pub(crate) fn holds(&self, more: usize) -> bool {
        let room = self.bounds.head as u64 + self.bounds.tail as u64;
        self.len + more as u64 <= room
    }

    /// The file that holds what memory does not.
    pub(crate) fn kept(&self) -> Option<&Kept> {
        self.kept.as_ref()
    }

    pub(crate) fn keep(&mut self, kept: Kept) {
        self.kept = Some(kept);
    }

    /// How much is kept at most.
    pub(crate) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// All bytes that memory holds, in order.
    pub(crate) fn held(&self) -> Vec<u8> {
        let (a, b) = self.tail.as_slices();
        [&self.head, a, b].concat()
    }

    /// What was printed behind a place.
    pub(crate) fn since(&self, from: u64, more: More) -> Piece {
        let tail_start = self.len - self.tail.len() as u64;
        let head_len = self.head.len() as u64;
        let mut head = behind(&self.head, from);
        let (a, b) = self.tail.as_slices();
        let skip = from.saturating_sub(tail_start);
        let mut tail = behind(a, skip);
        tail.extend(behind(b, skip.saturating_sub(a.len() as u64)));
        let missing = tail_start.saturating_sub(from.max(head_len));
        if missing == 0 {
            head.append(&mut tail);
        } else {
            // The first character after a gap may have lost its beginning.
            let lost = tail.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
            tail.drain(..lost);
        }
        let mut next = self.len.max(from);
        if more == More::Comes {
            let last = if missing == 0 { &mut head } else { &mut tail };
            let whole = screen::complete(last);
            next -= (last.len() - whole) as u64;
            last.truncate(whole);
        }
        Piece { head, missing, tail, next }
    }

    /// The last lines of it, for those who watch; at most this many.
    pub(crate) fn last_lines(&self, lines: usize) -> String {
        let piece = self.since(self.len.saturating_sub(4_096), More::Comes);
        let text = piece.text();
        let text = if text.missing == 0 { text.head } else { text.tail };
        let text = text.trim_end();
        let start = text.rmatch_indices('\n').nth(lines.saturating_sub(1)).map_or(0, |(at, _)| at + 1);
        text.get(start..).unwrap_or_default().to_owned()
    }
}

fn behind(bytes: &[u8], from: u64) -> Vec<u8> {
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    bytes.get(from..).unwrap_or_default().to_vec()
}

impl Piece {
    /// Whether nothing was printed behind the place.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    /// Its bytes, without what is missing.
    pub fn bytes(&self) -> Vec<u8> {
        [self.head.as_slice(), &self.tail].concat()
    }

    /// Its text.
    pub fn text(&self) -> Text {
        Text { head: binary::text(&self.head), missing: self.missing, tail: binary::text(&self.tail) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: Bounds = Bounds { head: 4, tail: 4, file: 0 };

    fn read(tape: &Tape, from: u64) -> String {
        let piece = tape.since(from, More::Never);
        let Text { head, missing, tail } = piece.text();
        format!("{head}[{missing}]{tail} -> {}", piece.next)
    }

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        let mut tape = Tape::new(SMALL);
        assert_eq!(read(&tape, 0), "[0] -> 0");
        tape.push(b"abc");
        assert_eq!(read(&tape, 0), "abc[0] -> 3");
        tape.push(b"defgh");
        assert_eq!(read(&tape, 0), "abcdefgh[0] -> 8");
        assert_eq!(read(&tape, 6), "gh[0] -> 8");
        tape.push(b"ij");
        assert_eq!(read(&tape, 0), "abcd[2]ghij -> 10");
        assert_eq!(read(&tape, 3), "d[2]ghij -> 10");
        assert_eq!(read(&tape, 5), "[1]ghij -> 10");
        assert_eq!(read(&tape, 9), "j[0] -> 10");
        tape.push(b"0123456789");
        assert_eq!(read(&tape, 0), "abcd[12]6789 -> 20");
        assert_eq!(read(&tape, 20), "[0] -> 20");
    }

    #[test]
    fn a_reader_gets_whole_characters_and_only_what_is_new() {
        let mut tape = Tape::new(Bounds::default());
        tape.push("né".as_bytes().get(..2).unwrap());
        let first = tape.since(0, More::Comes);
        assert_eq!((first.text().head.as_str(), first.next), ("n", 1));
        tape.push(&[0xa9, b'e']);
        let second = tape.since(first.next, More::Comes);
        assert_eq!((second.text().head.as_str(), second.next), ("ée", 4));
        assert!(tape.since(second.next, More::Comes).is_empty());
    }

    #[test]
    fn the_last_lines_are_what_is_seen_last() {
        let mut tape = Tape::new(Bounds::default());
        tape.push(b"one\ntwo\nthree 10%\rthree 20%");
        assert_eq!(tape.last_lines(1), "three 20%");
        assert_eq!(tape.last_lines(2), "two\nthree 20%");
        assert_eq!(tape.last_lines(9), "one\ntwo\nthree 20%");
    }

    #[test]
    fn much_output_takes_little_memory() {
        let chunk = vec![b'a'; 64 * 1024];
        let used = allocation_counter::measure(|| {
            let mut tape = Tape::new(Bounds::default());
            for _ in 0..3_200 {
                tape.push(&chunk);
            }
            assert_eq!(tape.len(), 200 << 20);
        });
        assert!(used.bytes_max < 8 << 20, "{} bytes", used.bytes_max);
    }

    proptest! {
        #[test]
        fn however_it_comes_it_reads_the_same(
            bytes in proptest::collection::vec(any::<u8>(), 0..60),
            cuts in proptest::collection::vec(0_usize..60, 0..5),
            from in 0_u64..70,
        ) {
            let bounds = Bounds { head: 8, tail: 16, file: 0 };
            let mut whole = Tape::new(bounds);
            whole.push(&bytes);
            let mut ends: Vec<usize> = cuts.into_iter().filter(|cut| *cut <= bytes.len()).collect();
            ends.sort_unstable();
            ends.push(bytes.len());
            let (mut parts, mut at) = (Tape::new(bounds), 0);
            for end in ends {
                parts.push(&bytes[at..end]);
                at = end;
            }
            let from = from.min(bytes.len() as u64);
            prop_assert_eq!(parts.since(from, More::Never), whole.since(from, More::Never));
            prop_assert_eq!(parts.since(from, More::Comes), whole.since(from, More::Comes));
            prop_assert!(parts.head.len() <= 8 && parts.tail.len() <= 16);
            let kept = parts.since(0, More::Never);
            prop_assert_eq!(kept.next, bytes.len() as u64);
            if bytes.len() <= 24 {
                prop_assert_eq!(kept.head, bytes);
            }
        }
    }
}
