//! The arguments of one call, put together from pieces.
//!
//! By the book, pieces are joined. In the field a piece may repeat all before it (*grown*), `{}` or `null` may hold the
//! place of what comes later, the whole may be said several times, or objects are sent that are to be merged. What was
//! given out is never taken back, so pieces are held where two readings are possible, and only there.

use super::merge::Objects;
use super::scan::{Rank, Scan};

/// Whether a piece is text by the book or an object in its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Text,
    Object,
}

/// Puts pieces together.
#[derive(Debug)]
pub(super) struct Pieces {
    /// The arguments as they are read, given out or held as a lead.
    scan: Scan,
    mode: Mode,
    /// A piece was sent that can only be read as all so far and more.
    grown: bool,
    mended: bool,
}

#[derive(Debug)]
enum Mode {
    /// So far it may only hold the place of the arguments.
    Lead(String),
    /// Objects, which may have more to be merged.
    Objects(Objects),
    /// Pieces go through.
    Flow,
    /// The last pieces can be read in two ways.
    Fork(Box<Fork>),
    /// Something came after the end, which may say the same again.
    Tail { text: String, scan: Box<Scan> },
    /// Several values, which are for others to tell apart.
    Rest,
}

#[derive(Debug)]
struct Fork {
    joined: Scan,
    joined_text: String,
    grown: Scan,
    grown_text: String,
}

/// Blanks in front of a placeholder are few; where they are not, nothing is held for them.
const LONGEST_LEAD: usize = 64;

impl Default for Pieces {
    fn default() -> Self {
        Self { scan: Scan::default(), mode: Mode::Lead(String::new()), grown: false, mended: false }
    }
}

impl Pieces {
    /// Takes a piece and appends what can be given out.
    pub(super) fn push(&mut self, piece: String, shape: Shape, out: &mut Vec<String>) {
        if piece.is_empty() {
            return;
        }
        match std::mem::replace(&mut self.mode, Mode::Flow) {
            Mode::Lead(lead) => match shape {
                Shape::Text => self.lead(&lead, piece, out),
                Shape::Object => self.first_object(lead, piece, out),
            },
            Mode::Objects(objects) => self.after_object(objects, piece, shape, out),
            Mode::Flow => self.flow(piece, out),
            Mode::Fork(fork) => self.both(fork, &piece, out),
            Mode::Tail { text, scan } => self.tail(text, scan, &piece, out),
            Mode::Rest => {
                self.mode = Mode::Rest;
                out.push(piece);
            }
        }
    }

    /// No more will come: gives out what was held.
    pub(super) fn finish(&mut self, out: &mut Vec<String>) {
        let held = match std::mem::replace(&mut self.mode, Mode::Rest) {
            Mode::Lead(lead) => {
                self.scan.all(&lead);
                lead
            }
            Mode::Objects(objects) => {
                let text = self.objects(objects);
                self.scan.all(&text);
                text
            }
            Mode::Flow | Mode::Rest => return,
            Mode::Fork(fork) => {
                let worth = |scan: &Scan| (scan.is_whole(), scan.rank());
                let grown = worth(&fork.grown) > worth(&fork.joined);
                return self.choose(*fork, grown, out);
            }
            Mode::Tail { text, .. } => {
                self.scan.all(&text);
                text
            }
        };
        emit(held, out);
    }

    /// Something else was done than joining the pieces.
    pub(super) fn mended(&self) -> bool {
        self.mended
    }

    /// Stands for the arguments, if they are one whole value.
    pub(super) fn sense(&self) -> Option<u64> {
        self.scan.is_whole().then(|| self.scan.sense())
    }

    fn lead(&mut self, lead: &str, piece: String, out: &mut Vec<String>) {
        let text = if lead.is_empty() {
            piece
        } else if !lead.trim().is_empty() && piece.starts_with(lead) {
            self.mended = true;
            self.grown |= !matches!(Lead::of(lead), Lead::Placeholder(""));
            piece
        } else {
            [lead, &piece].concat()
        };
        let mut left = text.as_str();
        loop {
            match Lead::of(left) {
                Lead::Open | Lead::Placeholder("") if left.len() <= LONGEST_LEAD => {
                    self.mode = Mode::Lead(left.to_owned());
                    return;
                }
                Lead::Placeholder(rest) if begins_anew(rest) => {
                    self.mended = true;
                    left = rest;
                }
                Lead::Open | Lead::Placeholder(_) | Lead::Other => break,
            }
        }
        let text = if left.len() == text.len() { text } else { left.to_owned() };
        self.flow(text, out);
    }

    fn first_object(&mut self, lead: String, piece: String, out: &mut Vec<String>) {
        match Objects::begin(piece) {
            Ok(objects) if matches!(Lead::of(&lead), Lead::Open | Lead::Placeholder("")) => {
                self.mended |= !lead.trim().is_empty();
                self.mode = Mode::Objects(objects);
            }
            Ok(objects) => self.lead(&lead, objects.into_text(), out),
            Err(text) => self.lead(&lead, text, out),
        }
    }

    fn after_object(&mut self, mut objects: Objects, piece: String, shape: Shape, out: &mut Vec<String>) {
        if shape == Shape::Object && objects.add(&piece) {
            self.mode = Mode::Objects(objects);
            return;
        }
        let text = self.objects(objects);
        self.lead("", text, out);
        self.push(piece, Shape::Text, out);
    }

    fn objects(&mut self, objects: Objects) -> String {
        self.mended |= objects.is_merged();
        objects.into_text()
    }

    fn flow(&mut self, piece: String, out: &mut Vec<String>) {
        if self.scan.is_whole() {
            self.tail(String::new(), Box::default(), &piece, out);
        } else if self.scan.length() > 0 && self.scan.begins(&piece) {
            self.fork(piece, out);
        } else {
            self.append(piece, out);
        }
    }

    fn append(&mut self, mut piece: String, out: &mut Vec<String>) {
        let taken = self.scan.run(&piece);
        let more = rest(&piece, taken).to_owned();
        piece.truncate(taken);
        emit(piece, out);
        if !more.is_empty() {
            self.tail(String::new(), Box::default(), &more, out);
        }
    }

    /// The piece begins with all that came before: it may repeat it, or go on with the same letters.
    fn fork(&mut self, piece: String, out: &mut Vec<String>) {
        let more = rest(&piece, self.scan.length());
        let (mut joined, mut grown) = (self.scan.clone(), self.scan.clone());
        joined.all(&piece);
        grown.all(more);
        let neither = joined.rank() == Rank::Broken && grown.rank() == Rank::Broken;
        if self.grown || neither || joined.rank() < grown.rank() {
            (self.grown, self.mended) = (true, true);
            return self.append(more.to_owned(), out);
        }
        if joined.rank() > grown.rank() {
            return self.append(piece, out);
        }
        let grown_text = more.to_owned();
        self.mode = Mode::Fork(Box::new(Fork { joined, joined_text: piece, grown, grown_text }));
    }

    fn both(&mut self, mut fork: Box<Fork>, piece: &str, out: &mut Vec<String>) {
        fork.joined.all(piece);
        fork.joined_text.push_str(piece);
        let more = if fork.grown.begins(piece) { rest(piece, fork.grown.length()) } else { piece };
        fork.grown.all(more);
        fork.grown_text.push_str(more);
        if fork.joined.rank() == fork.grown.rank() && fork.joined.rank() != Rank::Broken {
            self.mode = Mode::Fork(fork);
        } else {
            let grown = fork.grown.rank() > fork.joined.rank();
            self.choose(*fork, grown, out);
        }
    }

    fn choose(&mut self, fork: Fork, grown: bool, out: &mut Vec<String>) {
        self.grown |= grown;
        self.mended |= grown;
        let (scan, text) =
            if grown { (fork.grown, fork.grown_text) } else { (fork.joined, fork.joined_text) };
        self.scan = scan;
        emit(text, out);
    }

    /// After a whole value: the same again is dropped, anything else is given out as it came.
    fn tail(&mut self, mut held: String, mut scan: Box<Scan>, mut left: &str, out: &mut Vec<String>) {
        loop {
            let taken = scan.run(left);
            let more = rest(left, taken);
            held.push_str(left.get(..taken).unwrap_or(left));
            if !scan.is_whole() && scan.rank() != Rank::Broken {
                self.mode = Mode::Tail { text: held, scan };
                return;
            }
            if !scan.is_whole() || scan.sense() != self.scan.sense() {
                held.push_str(more);
                // Two values are no value, so nothing stands for them.
                self.scan.all(&held);
                self.mode = Mode::Rest;
                return emit(held, out);
            }
            self.mended = true;
            held.clear();
            *scan = Scan::default();
            left = more;
            if left.is_empty() {
                return;
            }
        }
    }
}

/// What the first letters of arguments can be.
#[derive(PartialEq, Eq, Debug)]
enum Lead<'a> {
    /// Not enough to tell.
    Open,
    /// `{}` or `null`, and what follows it.
    Placeholder(&'a str),
    /// Arguments.
    Other,
}

impl<'a> Lead<'a> {
    fn of(text: &'a str) -> Self {
        let text = text.trim_start();
        let object = text.strip_prefix('{').map(str::trim_start);
        let behind = object.and_then(|inner| inner.strip_prefix('}')).or_else(|| text.strip_prefix("null"));
        match (behind, object) {
            (Some(behind), _) => Self::Placeholder(behind.trim_start()),
            (None, Some("")) => Self::Open,
            (None, _) if "null".starts_with(text) => Self::Open,
            (None, _) => Self::Other,
        }
    }
}

/// What comes behind a placeholder is an object or another placeholder, not the rest of some word.
fn begins_anew(text: &str) -> bool {
    text.starts_with('{') || text.starts_with("null")
}

fn rest(text: &str, taken: usize) -> &str {
    text.get(taken..).unwrap_or_default()
}

fn emit(text: String, out: &mut Vec<String>) {
    if !text.is_empty() {
        out.push(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is given out with each piece and at the end, and whether it was mended.
    fn run(pieces: &[&str]) -> (Vec<String>, bool) {
        let (mut told, mut all) = (Pieces::default(), Vec::new());
        for piece in pieces {
            let mut out = Vec::new();
            let (shape, text) = match piece.strip_prefix('@') {
                Some(object) => (Shape::Object, object),
                None => (Shape::Text, *piece),
            };
            told.push(text.to_owned(), shape, &mut out);
            all.push(out.concat());
        }
        let mut out = Vec::new();
        told.finish(&mut out);
        all.push(out.concat());
        (all, told.mended())
    }

    #[test]
    fn ordinary_pieces_go_through_at_once() {
        let table: &[(&[&str], &[&str])] = &[
            (&["{\"a\":", " 1", "}"], &["{\"a\":", " 1", "}", ""]),
            (&["{", "\"", "a", "\"", ":1}"], &["", "{\"", "a", "\"", ":1}", ""]),
            (&["", "{\"a\":1}", " "], &["", "{\"a\":1}", "", " "]),
            (&["{'a': 'x", "', }"], &["{'a': 'x", "', }", ""]),
            (&["not", " json"], &["not", " json", ""]),
            (&["nullable"], &["nullable", ""]),
            (&["{\"a\": \"\\ud83d", "\\ude80\"}"], &["{\"a\": \"\\ud83d", "\\ude80\"}", ""]),
            (&["{\"a\":", "{\"a\":1}}"], &["{\"a\":", "{\"a\":1}}", ""]),
            (&["{}"], &["", "{}"]),
            (&["null"], &["", "null"]),
            (&["{\"a\":1}{\"a\":2}"], &["{\"a\":1}{\"a\":2}", ""]),
            (&["{\"a\":1}", "{\"a\":", "2}", "{\"a\":1}"], &["{\"a\":1}", "", "{\"a\":2}", "{\"a\":1}", ""]),
            (&["{\"a\":1}", "}"], &["{\"a\":1}", "}", ""]),
            (&["{\"a\":1}", "{\"a\""], &["{\"a\":1}", "", "{\"a\""]),
            (&["@{\"a\": 1.0}"], &["", "{\"a\": 1.0}"]),
        ];
        for (pieces, expected) in table {
            let (out, mended) = run(pieces);
            assert_eq!(
                (out.iter().map(String::as_str).collect::<Vec<_>>(), mended),
                (expected.to_vec(), false)
            );
        }
    }

    #[test]
    fn other_readings_are_found() {
        let table: &[(&[&str], &[&str])] = &[
            // Placeholders.
            (&["{}", "{\"a\":", "1}"], &["", "{\"a\":", "1}", ""]),
            (&["{", "}", "{\"a\":1}"], &["", "", "{\"a\":1}", ""]),
            (&["null", "{\"a\":1}"], &["", "{\"a\":1}", ""]),
            (&["{}{\"a\":1}"], &["{\"a\":1}", ""]),
            (&["{}", "{}", "{}"], &["", "", "", "{}"]),
            (&["@{}", "{\"a\":", "1}"], &["", "{\"a\":", "1}", ""]),
            (&["{}", "@{\"a\":1}"], &["", "", "{\"a\":1}"]),
            // Each says all before it again.
            (&["{\"q\": \"c", "{\"q\": \"cum\"}", "{\"q\": \"cum\"}"], &["{\"q\": \"c", "um\"}", "", ""]),
            (&["{", "{\"a\":", "{\"a\":1", "{\"a\":1}"], &["", "{\"a\":", "1", "}", ""]),
            (&["{\"a\":", "{\"a\":1}"], &["{\"a\":", "", "1}"]),
            (&["{\"a\":", "{\"a\":[", "{\"a\":[1", "{\"a\":[1]}"], &["{\"a\":", "", "", "[1]}", ""]),
            (&["{}", "{\"a", "{\"a\":1}"], &["", "{\"a", "\":1}", ""]),
            (&["{'a': 'x", "{'a': 'xy'}"], &["{'a': 'x", "y'}", ""]),
            (&["\"{\\\"a", "\"{\\\"a\\\":1}\""], &["\"{\\\"a", "\\\":1}\"", ""]),
            // The same again.
            (&["{\"a\"", ":1}", "{\"a\":1}"], &["{\"a\"", ":1}", "", ""]),
            (&["{\"a\":1}", "{\"a\"", ":1}"], &["{\"a\":1}", "", "", ""]),
            (&["{\"a\": 1}\n{\"a\":1}{\"a\":1}"], &["{\"a\": 1}\n", ""]),
            (&["{\"a\":1}{\"a\":1}{\"a\":2}"], &["{\"a\":1}{\"a\":2}", ""]),
            (&["{\"a\": 1}", "@{\"a\":1}"], &["{\"a\": 1}", "", ""]),
            // Objects.
            (&["@{\"a\":\"x\"}", "@{\"b\":\"y\"}"], &["", "", "{\"a\":\"x\",\"b\":\"y\"}"]),
            (&["@{\"a\":\"x\"}", "{\"a\":\"x\"}"], &["", "{\"a\":\"x\"}", ""]),
        ];
        for (pieces, expected) in table {
            let (out, mended) = run(pieces);
            assert_eq!(
                (out.iter().map(String::as_str).collect::<Vec<_>>(), mended),
                (expected.to_vec(), true)
            );
        }
    }
}
