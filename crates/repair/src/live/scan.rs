//! How far the text of arguments can't change any more, found byte by byte and never twice.

use std::ops::Range;

use crate::entities::Entities;
use crate::json::is_drive_path;

/// A member whose value is a string that passes live.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the text of its value stands, without quotes; open ended while it is being written.
    pub(super) value: Range<usize>,
}

/// Follows strict JSON of an object with string members, until something else comes.
pub(super) struct Scan {
    entities: Entities,
    state: At,
    /// How many bytes were seen.
    seen: usize,
    /// How many of them can't change any more. They always end inside the value of the last member.
    safe: usize,
    members: Vec<Member>,
    /// The key being read, or the escape, or the beginning of a value.
    token: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    BeforeKey,
    Key,
    AfterKey,
    BeforeValue,
    Text,
    Escape,
    AfterText,
    /// What follows waits for the end.
    Held,
}

impl Scan {
    /// Where entities are decoded, nothing passes from the first `&` on that may begin one.
    pub(super) fn new(entities: Entities) -> Self {
        Self { entities, state: At::Start, seen: 0, safe: 0, members: Vec::new(), token: String::new() }
    }

    /// How many bytes can't change any more.
    pub(super) fn safe(&self) -> usize {
        self.safe
    }

    /// The members that passed or are passing, in order; the last one is the one whose value is open.
    pub(super) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Looks at the next piece; `streams` tells whether the string under a key may pass.
    pub(super) fn push(&mut self, piece: &str, streams: impl Fn(&str) -> bool) {
        let mut rest = piece;
        while self.state != At::Held {
            if self.state == At::Text {
                rest = self.plain(rest);
            }
            let Some(c) = rest.chars().next() else { return };
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            self.seen += c.len_utf8();
            self.state = self.step(c, &streams);
        }
    }

    /// Takes the plain text at the start of a piece, all at once.
    fn plain<'a>(&mut self, rest: &'a str) -> &'a str {
        let entity = self.entities == Entities::Decoded;
        let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\' || (entity && byte == b'&');
        let end = rest.bytes().position(special).unwrap_or(rest.len());
        let (text, rest) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if !text.is_empty() {
            self.began(text);
            self.seen += text.len();
            self.pass();
        }
        rest
    }

    /// Keeps the first few characters of a value, which tell whether it is a path.
    fn began(&mut self, text: &str) {
        if self.token.len() < 4 {
            self.token.extend(text.chars().take(4));
        }
    }

    /// All that was seen can't change any more.
    fn pass(&mut self) {
        self.safe = self.seen;
        if let Some(member) = self.members.last_mut() {
            member.value.end = self.seen;
        }
    }

    fn step(&mut self, c: char, streams: impl Fn(&str) -> bool) -> At {
        let blank = matches!(c, ' ' | '\t' | '\n' | '\r');
        match (self.state, c) {
            (At::Start | At::BeforeKey | At::AfterKey | At::BeforeValue | At::AfterText, _) if blank => {
                self.state
            }
            (At::Start, '{') | (At::AfterText, ',') => At::BeforeKey,
            (At::BeforeKey, '"') => {
                self.token.clear();
                At::Key
            }
            (At::Key, '"') if self.is_new() && streams(&self.token) => At::AfterKey,
            // A key that is spelled with escapes may be the same as another one.
            (At::Key, c) if c != '"' && c != '\\' && c >= ' ' => {
                self.token.push(c);
                At::Key
            }
            (At::AfterKey, ':') => At::BeforeValue,
            (At::BeforeValue, '"') => {
                let key = std::mem::take(&mut self.token);
                self.members.push(Member { key, value: self.seen..self.seen });
                self.pass();
                At::Text
            }
            (At::Text, '"') => At::AfterText,
            (At::Text, '\\') => self.escape(c),
            (At::Escape, c) => self.escape(c),
            (
                At::Start
                | At::BeforeKey
                | At::Key
                | At::AfterKey
                | At::BeforeValue
                | At::Text
                | At::AfterText
                | At::Held,
                _,
            ) => At::Held,
        }
    }

    fn is_new(&self) -> bool {
        !self.members.iter().any(|member| member.key == self.token)
    }

    /// One more character of an escape; it passes when it is whole and means the same in any reading.
    fn escape(&mut self, c: char) -> At {
        if self.state == At::Text {
            let drive = self.value_length() == 2 && self.token.len() == 2 && self.token.ends_with(':');
            if !drive {
                self.token.clear();
            }
            self.state = At::Escape;
        }
        self.token.push(c);
        let drive = self.token.get(..2).is_some_and(|drive| drive.ends_with(':'));
        let escape = if drive { self.token.get(2..).unwrap_or_default() } else { &self.token };
        let next = match escape.as_bytes() {
            [b'\\'] => At::Escape,
            _ if drive && is_drive_path(&self.token) => At::Held,
            b"\\u0026" if self.entities == Entities::Decoded => At::Held,
            [b'\\', b'"' | b'\\' | b'/' | b'n' | b'r' | b't'] => At::Text,
            [b'\\', b'u', digits @ ..] => unicode(digits),
            _ => At::Held,
        };
        if next == At::Text {
            // Long enough not to be taken for the beginning of a path again.
            self.token = "....".to_owned();
            self.pass();
        }
        next
    }

    /// How long the value is that is being written, up to the escape that has just begun.
    fn value_length(&self) -> usize {
        self.members.last().map_or(0, |member| member.value.len())
    }
}

/// Where an escape by number is after these digits; half a pair waits for the other half.
fn unicode(digits: &[u8]) -> At {
    let (first, rest) = digits.split_at_checked(4).unwrap_or((digits, &[]));
    let (second, more) = match rest {
        [b'\\', b'u', second @ ..] => (second, true),
        [] | [b'\\'] => (&[][..], rest.len() == 1),
        _ => return At::Held,
    };
    if !first.iter().chain(second).all(u8::is_ascii_hexdigit) {
        return At::Held;
    }
    if first.len() < 4 {
        return At::Escape;
    }
    let low = |half: &[u8]| matches!(half.get(1), Some(b'c'..=b'f' | b'C'..=b'F'));
    let surrogate = matches!(first, [b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
    match (surrogate, more, second.len()) {
        (false, false, _) => At::Text,
        (false, true, _) => At::Held,
        (true, _, 0..=3) if !low(first) => At::Escape,
        (true, true, 4) if !low(first) && matches!(second.first(), Some(b'd' | b'D')) && low(second) => {
            At::Text
        }
        (true, _, _) => At::Held,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What has passed after each character.
    fn passed(text: &str) -> &str {
        let mut scan = Scan::new(Entities::Kept);
        for c in text.chars() {
            scan.push(&c.to_string(), |key| key == "a" || key == "b");
        }
        let mut whole = Scan::new(Entities::Kept);
        whole.push(text, |key| key == "a" || key == "b");
        assert_eq!((scan.safe(), scan.members()), (whole.safe(), whole.members()), "{text}");
        &text[..whole.safe()]
    }

    #[test]
    fn strings_pass_until_something_else_comes() {
        let table = [
            ("{", ""),
            (r#"{"a": "#, ""),
            (r#" {"a": ""#, r#" {"a": ""#),
            (r#"{"a": "xé"#, r#"{"a": "xé"#),
            (r#"{"a": "x""#, r#"{"a": "x"#),
            (r#"{"a": "x"}"#, r#"{"a": "x"#),
            (r#"{"a": "x", "b": "#, r#"{"a": "x"#),
            (r#"{"a": "x", "b": "y"#, r#"{"a": "x", "b": "y"#),
            (r#"{"a": "x", "b": 1"#, r#"{"a": "x"#),
            (r#"{"a": "x", "c": "y"#, r#"{"a": "x"#),
            (r#"{"a": "x", "a": "y"#, r#"{"a": "x"#),
            (r#"{"\u0061": "x"#, ""),
            (r#"{"a": "x" y"#, r#"{"a": "x"#),
            (r#"{"a": "x\"#, r#"{"a": "x"#),
            (r#"{"a": "x\n\"y"#, r#"{"a": "x\n\"y"#),
            (r#"{"a": "x\d"#, r#"{"a": "x"#),
            (r#"{"a": "x\by"#, r#"{"a": "x"#),
            ("{\"a\": \"x\ny", r#"{"a": "x"#),
            (r#"{"a": "\u00e9x"#, r#"{"a": "\u00e9x"#),
            (r#"{"a": "\u00e"#, r#"{"a": ""#),
            (r#"{"a": "\u00g9"#, r#"{"a": ""#),
            (r#"{"a": "\ud83d"#, r#"{"a": ""#),
            (r#"{"a": "\ud83d\ude80."#, r#"{"a": "\ud83d\ude80."#),
            (r#"{"a": "\ud83dx"#, r#"{"a": ""#),
            (r#"{"a": "\ude80"#, r#"{"a": ""#),
            (r#"{"a": "\ud83d\u0041"#, r#"{"a": ""#),
            (r#"{"a": "C:\new"#, r#"{"a": "C:"#),
            (r#"{"a": "C:\\new\n"#, r#"{"a": "C:\\new\n"#),
            (r#"{"a": "see C:\new"#, r#"{"a": "see C:\new"#),
            (r#"{"a": "\tC:\new"#, r#"{"a": "\tC:\new"#),
            (r#"{"a": "xy\n"#, r#"{"a": "xy\n"#),
            (r#"{"a": "é\n"#, r#"{"a": "é\n"#),
            (r#"{"a": "::\n"#, r#"{"a": "::\n"#),
            (r#"{a: "x"}"#, ""),
            (r#"["a"]"#, ""),
        ];
        for (text, expected) in table {
            assert_eq!(passed(text), expected, "{text}");
        }
    }
}
