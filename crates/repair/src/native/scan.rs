//! How far a JSON value that comes in pieces has come.

/// Reads a value that comes in pieces, each byte once, and keeps none of it.
///
/// What models get wrong most often (single quotes, bare keys, a comma too many) is let pass and remembered; what no
/// reading can mend breaks the value for good.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    state: State,
    /// The open containers, by the byte that opened them.
    open: Vec<u8>,
    strict: bool,
    length: usize,
    /// Hash of all bytes, and of those that mean something: all but the blanks between tokens.
    bytes: u64,
    sense: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Begin,
    Value,
    FirstItem,
    NextItem,
    FirstKey,
    NextKey,
    Colon,
    After,
    Text { quote: u8, escaped: bool, role: Role },
    Word(Role),
    Whole,
    Broken,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Key,
    Value,
}

/// How good a reading is, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Rank {
    /// No JSON.
    Broken,
    /// JSON but for small faults.
    Tolerant,
    /// JSON as far as it goes.
    Strict,
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

fn fnv(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.' | b'$') || byte >= 0x80
}

impl Default for Scan {
    fn default() -> Self {
        Self {
            state: State::Begin,
            open: Vec::new(),
            strict: true,
            length: 0,
            bytes: FNV_START,
            sense: FNV_START,
        }
    }
}

impl Scan {
    /// Reads to the end of the value and of the blanks behind it; gives the number of bytes that were taken.
    pub(super) fn run(&mut self, text: &str) -> usize {
        for (at, byte) in text.bytes().enumerate() {
            let blank = byte.is_ascii_whitespace();
            if self.state == State::Whole && !blank {
                return at;
            }
            self.length += 1;
            self.bytes = fnv(self.bytes, byte);
            if !blank || matches!(self.state, State::Text { .. }) {
                self.sense = fnv(self.sense, byte);
            }
            self.step(byte);
        }
        text.len()
    }

    /// Reads all of it; what comes after the value's end breaks it.
    pub(super) fn all(&mut self, text: &str) {
        let taken = self.run(text);
        if taken < text.len() {
            self.state = State::Broken;
            self.run(text.get(taken..).unwrap_or_default());
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.state == State::Whole
    }

    pub(super) fn rank(&self) -> Rank {
        match (self.state, self.strict) {
            (State::Broken, _) => Rank::Broken,
            (_, false) => Rank::Tolerant,
            (_, true) => Rank::Strict,
        }
    }

    /// The number of bytes read.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Stands for what was read, whatever blanks are between its tokens.
    pub(super) fn sense(&self) -> u64 {
        self.sense
    }

    /// Whether the text begins with all that was read.
    pub(super) fn begins(&self, text: &str) -> bool {
        let head = text.as_bytes().get(..self.length);
        head.is_some_and(|head| head.iter().fold(FNV_START, |hash, byte| fnv(hash, *byte)) == self.bytes)
    }

    fn step(&mut self, byte: u8) {
        if let State::Word(role) = self.state
            && !is_word(byte)
        {
            // Outside of containers, words are prose.
            self.state = if self.open.is_empty() { State::Broken } else { self.ended(role) };
        }
        self.state = match self.state {
            State::Text { quote, escaped: true, role } => State::Text { quote, escaped: false, role },
            State::Text { quote, escaped: false, role } => match byte {
                b'\\' => State::Text { quote, escaped: true, role },
                byte if byte == quote => self.ended(role),
                _ => self.state,
            },
            State::Word(_) | State::Broken => self.state,
            state if byte.is_ascii_whitespace() => state,
            State::Begin | State::Value => self.value(byte),
            State::FirstItem if byte == b']' => self.close(byte),
            State::FirstItem => self.value(byte),
            State::FirstKey if byte == b'}' => self.close(byte),
            State::FirstKey => self.key(byte),
            State::NextItem | State::NextKey if matches!(byte, b']' | b'}') => {
                self.strict = false;
                self.close(byte)
            }
            State::NextItem => self.value(byte),
            State::NextKey => self.key(byte),
            State::Colon if byte == b':' => State::Value,
            State::After if matches!(byte, b']' | b'}') => self.close(byte),
            State::After if byte == b',' => {
                if self.open.last() == Some(&b'{') {
                    State::NextKey
                } else {
                    State::NextItem
                }
            }
            State::Colon | State::After | State::Whole => State::Broken,
        };
    }

    fn value(&mut self, byte: u8) -> State {
        match byte {
            b'{' | b'[' => {
                self.open.push(byte);
                if byte == b'{' { State::FirstKey } else { State::FirstItem }
            }
            byte => self.token(byte, Role::Value),
        }
    }

    fn key(&mut self, byte: u8) -> State {
        self.strict &= byte == b'"';
        self.token(byte, Role::Key)
    }

    fn token(&mut self, byte: u8, role: Role) -> State {
        self.strict &= byte != b'\'';
        match byte {
            b'"' | b'\'' => State::Text { quote: byte, escaped: false, role },
            byte if is_word(byte) => State::Word(role),
            _ => State::Broken,
        }
    }

    fn ended(&self, role: Role) -> State {
        match role {
            Role::Key => State::Colon,
            Role::Value if self.open.is_empty() => State::Whole,
            Role::Value => State::After,
        }
    }

    fn close(&mut self, byte: u8) -> State {
        let opener = if byte == b'}' { b'{' } else { b'[' };
        if self.open.pop() == Some(opener) { self.ended(Role::Value) } else { State::Broken }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_a_value_has_come() {
        use Rank::{Broken, Strict, Tolerant};
        let table = [
            ("", Strict, false, 0),
            (r#"{"a": [1, {"b": "}\""}], "c": null}"#, Strict, true, 35),
            (r#" {"a":1} x"#, Strict, true, 9),
            (r#"{"a":1}{"#, Strict, true, 7),
            ("null{", Broken, false, 5),
            ("\"{\\\"a\\\"", Strict, false, 7),
            (r#"{"a":{"a":1}"#, Strict, false, 12),
            ("{'a': True,}", Tolerant, true, 12),
            ("{a: 1", Tolerant, false, 5),
            ("[1,]", Tolerant, true, 4),
            ("{{", Broken, false, 2),
            (r#"{"a":"x{"a":"#, Broken, false, 12),
            (r#"{"a":1{"#, Broken, false, 7),
            ("{]", Broken, false, 2),
            ("}", Broken, false, 1),
        ];
        for (text, rank, whole, taken) in table {
            let mut scan = Scan::default();
            assert_eq!((scan.run(text), scan.rank(), scan.is_whole()), (taken, rank, whole), "{text}");
            let mut slow = Scan::default();
            let by_char = text.chars().take(taken).map(|letter| slow.run(letter.encode_utf8(&mut [0; 4])));
            assert_eq!(by_char.sum::<usize>(), taken, "{text}");
            assert!(text.is_empty() || slow.begins(text), "{text}");
        }
    }

    #[test]
    fn blanks_between_tokens_mean_nothing() {
        let sense = |text: &str| {
            let mut scan = Scan::default();
            scan.all(text);
            scan.sense()
        };
        assert_eq!(sense(r#"{"a":1,"b":"c d"}"#), sense("{\"a\": 1,\n \"b\": \"c d\"} "));
        assert_ne!(sense(r#"{"a":"c d"}"#), sense(r#"{"a":"cd"}"#));
    }
}
