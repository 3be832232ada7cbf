//! JSON as places in a text: what is changed is written over, everything else stays byte for byte.

use std::ops::Range;

/// How deep containers may nest; far more than any notebook does.
const MAX_DEPTH: usize = 256;

/// A value and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Node {
    /// From its first to its last byte.
    pub(super) at: Range<usize>,
    /// What it is.
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// An object, with its keys in order.
    Object(Vec<Member>),
    /// A list.
    Array(Vec<Node>),
    /// A string, read.
    Text(String),
    /// A number, `true`, `false` or `null`.
    Word,
}

/// A key of an object and its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Member {
    /// The key, read.
    pub(super) key: String,
    /// Where the key starts.
    pub(super) start: usize,
    /// The value.
    pub(super) value: Node,
}

/// Reads a text that is one JSON value; where it is not is told by the byte.
pub(super) fn read(text: &str) -> Result<Node, usize> {
    let mut reader = Reader { text, at: 0 };
    let node = reader.value(0)?;
    reader.blank();
    if reader.at < text.len() { Err(reader.at) } else { Ok(node) }
}

impl Node {
    /// The value of a key of an object.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match &self.kind {
            Kind::Object(members) => {
                members.iter().find(|member| member.key == key).map(|member| &member.value)
            }
            Kind::Array(_) | Kind::Text(_) | Kind::Word => None,
        }
    }

    /// The string it is.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            Kind::Object(_) | Kind::Array(_) | Kind::Word => None,
        }
    }

    /// The values of the list it is.
    pub(super) fn items(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::Array(items) => Some(items),
            Kind::Object(_) | Kind::Text(_) | Kind::Word => None,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Result<(), usize> {
        if self.peek() != Some(byte) {
            return Err(self.at);
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Node, usize> {
        if depth > MAX_DEPTH {
            return Err(self.at);
        }
        self.blank();
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::Text(self.string()?),
            Some(_) | None => self.word()?,
        };
        Ok(Node { at: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, usize> {
        let mut members = Vec::new();
        self.take(b'{')?;
        self.blank();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Object(members));
        }
        loop {
            self.blank();
            let start = self.at;
            let key = self.string()?;
            self.blank();
            self.take(b':')?;
            let value = self.value(depth + 1)?;
            members.push(Member { key, start, value });
            self.blank();
            if self.peek() != Some(b',') {
                self.take(b'}')?;
                return Ok(Kind::Object(members));
            }
            self.at += 1;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Kind, usize> {
        let mut items = Vec::new();
        self.take(b'[')?;
        self.blank();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blank();
            if self.peek() != Some(b',') {
                self.take(b']')?;
                return Ok(Kind::Array(items));
            }
            self.at += 1;
        }
    }

    /// Only where it ends is found here; what it says is serde's to read.
    fn string(&mut self) -> Result<String, usize> {
        let start = self.at;
        self.take(b'"')?;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err(start),
            }
        }
        self.at += 1;
        self.text.get(start..self.at).and_then(|raw| serde_json::from_str(raw).ok()).ok_or(start)
    }

    fn word(&mut self) -> Result<Kind, usize> {
        let start = self.at;
        while matches!(self.peek(), Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'+' | b'-' | b'.')) {
            self.at += 1;
        }
        let raw = self.text.get(start..self.at).unwrap_or_default();
        // Old notebooks have these, which Python writes and reads.
        let known = matches!(raw, "NaN" | "Infinity" | "-Infinity");
        if known || serde_json::from_str::<serde_json::Value>(raw).is_ok() {
            Ok(Kind::Word)
        } else {
            Err(start)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn values_stand_where_they_stand() {
        let text = " {\"a\": [1, \"x\\n\"], \"b\" : {} }\n";
        let node = read(text).unwrap();
        assert_eq!(&text[node.at.clone()], "{\"a\": [1, \"x\\n\"], \"b\" : {} }");
        let items = node.get("a").unwrap().items().unwrap();
        assert_eq!((&text[items[0].at.clone()], items[1].text()), ("1", Some("x\n")));
        assert_eq!(&text[node.get("b").unwrap().at.clone()], "{}");
        assert_eq!(
            [read("[1,]"), read("{"), read("\"a"), read("1 2"), read("")].map(Result::unwrap_err),
            [3, 1, 0, 2, 0]
        );
        assert!(read(&"[".repeat(100_000)).is_err());
    }

    proptest! {
        #[test]
        fn what_serde_reads_is_read(text in "[\\[\\]{}:,\"a1 \\\\n-]{0,24}") {
            let ours = read(&text).is_ok();
            prop_assert_eq!(ours, serde_json::from_str::<Value>(&text).is_ok());
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
            let _ = read(&text);
        }
    }
}
