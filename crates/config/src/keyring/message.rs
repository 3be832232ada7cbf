//! Messages of D-Bus, as far as asking for a secret and storing one needs them: calls out, answers in.

/// A call of a method, its body written value by value.
pub(super) struct Call {
    pub(super) destination: &'static str,
    pub(super) path: String,
    pub(super) interface: &'static str,
    pub(super) member: &'static str,
    /// The types of the body.
    pub(super) signature: &'static str,
    pub(super) body: Writer,
}

impl Call {
    /// The bytes of the call, under this number.
    pub(super) fn bytes(&self, serial: u32) -> Vec<u8> {
        let mut out = Writer::default();
        // Little endian, a call, no flags, version 1.
        out.0.extend([b'l', 1, 0, 1]);
        out.number(u32::try_from(self.body.0.len()).unwrap_or(u32::MAX));
        out.number(serial);
        let mut fields = Writer::default();
        // The fields begin at byte 16, so that what is aligned here is aligned there.
        fields.field(1, "o", |out| out.text(&self.path));
        fields.field(2, "s", |out| out.text(self.interface));
        fields.field(3, "s", |out| out.text(self.member));
        fields.field(6, "s", |out| out.text(self.destination));
        if !self.signature.is_empty() {
            fields.field(8, "g", |out| out.signature(self.signature));
        }
        out.number(u32::try_from(fields.0.len()).unwrap_or(u32::MAX));
        out.0.extend(&fields.0);
        out.align(8);
        out.0.extend(&self.body.0);
        out.0
    }
}

/// Writes values as D-Bus has them.
#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    fn align(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }

    fn number(&mut self, number: u32) {
        self.align(4);
        self.0.extend(number.to_le_bytes());
    }

    /// A string, or the path of an object.
    pub(super) fn text(&mut self, text: &str) {
        self.number(u32::try_from(text.len()).unwrap_or(u32::MAX));
        self.0.extend(text.as_bytes());
        self.0.push(0);
    }

    fn signature(&mut self, types: &str) {
        self.0.push(u8::try_from(types.len()).unwrap_or(u8::MAX));
        self.0.extend(types.as_bytes());
        self.0.push(0);
    }

    fn field(&mut self, code: u8, of: &str, value: impl FnOnce(&mut Self)) {
        self.align(8);
        self.0.push(code);
        self.signature(of);
        value(self);
    }

    /// A string that says its own type.
    pub(super) fn variant(&mut self, text: &str) {
        self.signature("s");
        self.text(text);
    }

    /// A map from string to string that says its own type.
    pub(super) fn variant_map(&mut self, pairs: &[(&str, &str)]) {
        self.signature("a{ss}");
        self.map(pairs);
    }

    /// A map from string to values that say their own types; `value` writes that of a key.
    pub(super) fn properties(&mut self, keys: &[&str], value: impl Fn(&mut Self, &str)) {
        self.list(8, |out| {
            for key in keys {
                out.align(8);
                out.text(key);
                value(out, key);
            }
        });
    }

    /// Begins a group of values.
    pub(super) fn group(&mut self) {
        self.align(8);
    }

    /// A list of bytes.
    pub(super) fn blob(&mut self, bytes: &[u8]) {
        self.list(1, |out| out.0.extend(bytes));
    }

    /// The truth value for yes.
    pub(super) fn yes(&mut self) {
        self.number(1);
    }

    /// A list of strings or of paths.
    pub(super) fn texts(&mut self, texts: &[String]) {
        self.list(4, |out| texts.iter().for_each(|text| out.text(text)));
    }

    /// A map from string to string.
    pub(super) fn map(&mut self, pairs: &[(&str, &str)]) {
        self.list(8, |out| {
            for (key, value) in pairs {
                out.align(8);
                out.text(key);
                out.text(value);
            }
        });
    }

    fn list(&mut self, to: usize, items: impl FnOnce(&mut Self)) {
        self.number(0);
        let size_at = self.0.len() - 4;
        self.align(to);
        let begin = self.0.len();
        items(self);
        let size = u32::try_from(self.0.len() - begin).unwrap_or(u32::MAX);
        if let Some(place) = self.0.get_mut(size_at..size_at + 4) {
            place.copy_from_slice(&size.to_le_bytes());
        }
    }
}

/// How long the first part of every message is; it says how long the rest is.
pub(super) const HEAD: usize = 16;

/// How long the whole message is whose first bytes these are; None for what is no message of ours.
pub(super) fn length(head: &[u8; HEAD]) -> Option<usize> {
    // Every bus answers in the order of bytes that it was asked in.
    let [b'l', _, _, 1, a, b, c, d, _, _, _, _, e, f, g, h] = *head else { return None };
    let body = u32::from_le_bytes([a, b, c, d]);
    let fields = u32::from_le_bytes([e, f, g, h]);
    /// The standard's own limit.
    const MAX: u32 = 1 << 27;
    let fields = usize::try_from(fields).ok()?.checked_next_multiple_of(8)?;
    (body <= MAX && fields <= MAX as usize).then(|| HEAD + fields + body as usize)
}

/// A message that came.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) kind: u8,
    /// The number of the call it answers.
    pub(super) to: Option<u32>,
    /// The name of an error.
    pub(super) error: Option<String>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// An answer with values.
    pub(super) const RETURN: u8 = 2;
    /// An answer that says why not.
    pub(super) const ERROR: u8 = 3;

    /// Reads a whole message; None for what is none.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let kind = *bytes.get(1)?;
        let body = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?);
        let body_at = bytes.len().checked_sub(usize::try_from(body).ok()?)?;
        let mut reader = Reader { bytes: bytes.get(..body_at)?, at: 12 };
        let end = usize::try_from(reader.number()?).ok()?.checked_add(HEAD)?;
        let (mut to, mut error) = (None, None);
        while reader.at < end {
            reader.align(8)?;
            let code = reader.byte()?;
            match reader.signature()? {
                "u" => {
                    let number = reader.number()?;
                    to = if code == 5 { Some(number) } else { to };
                }
                "s" | "o" => {
                    let text = reader.text()?;
                    error = if code == 4 { Some(text.to_owned()) } else { error };
                }
                "g" => {
                    reader.signature()?;
                }
                _ => return None,
            }
        }
        Some(Self { kind, to, error, body: bytes.get(body_at..)?.to_vec() })
    }

    /// Reads the values of the body.
    pub(super) fn reader(&self) -> Reader<'_> {
        Reader { bytes: &self.body, at: 0 }
    }
}

/// Reads values as D-Bus has them.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn align(&mut self, to: usize) -> Option<()> {
        self.at = self.at.checked_next_multiple_of(to)?;
        Some(())
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u32> {
        self.align(4)?;
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    /// A string, or the path of an object.
    pub(super) fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        let text = std::str::from_utf8(self.take(length)?).ok()?;
        (self.byte()? == 0).then_some(text)
    }

    fn signature(&mut self) -> Option<&'a str> {
        let length = usize::from(self.byte()?);
        let text = std::str::from_utf8(self.take(length)?).ok()?;
        (self.byte()? == 0).then_some(text)
    }

    /// A string that says its own type; None if it is something else.
    pub(super) fn variant(&mut self) -> Option<&'a str> {
        if self.signature()? == "s" { self.text() } else { None }
    }

    /// A list of bytes.
    pub(super) fn blob(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    /// A list of strings or of paths.
    pub(super) fn texts(&mut self) -> Option<Vec<String>> {
        let length = usize::try_from(self.number()?).ok()?;
        let end = self.at.checked_add(length)?;
        let mut texts = Vec::new();
        while self.at < end {
            texts.push(self.text()?.to_owned());
        }
        Some(texts)
    }

    /// The begin of a struct.
    pub(super) fn group(&mut self) -> Option<()> {
        self.align(8)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_read_as_they_are_written() {
        let mut body = Writer::default();
        body.text("one");
        body.variant("two");
        body.texts(&["/a".to_owned(), "/bc".to_owned()]);
        let bytes = body.0;
        let mut reader = Reader { bytes: &bytes, at: 0 };
        assert_eq!(reader.text(), Some("one"));
        assert_eq!(reader.variant(), Some("two"));
        assert_eq!(reader.texts(), Some(vec!["/a".to_owned(), "/bc".to_owned()]));
    }

    #[test]
    fn a_call_has_the_length_that_it_says() {
        let mut body = Writer::default();
        body.map(&[("service", "switchrail"), ("username", "qwen")]);
        let (path, signature) = ("/org/freedesktop/secrets".to_owned(), "a{ss}");
        let call =
            Call { destination: "a.b", path, interface: "a.b.C", member: "SearchItems", signature, body };
        let bytes = call.bytes(7);
        let head = bytes.first_chunk::<HEAD>().unwrap();
        assert_eq!(length(head), Some(bytes.len()));
        assert_eq!(Answer::read(&bytes).map(|read| read.body), Some(call.body.0));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(head) = bytes.first_chunk::<HEAD>() {
                let _ = length(head);
            }
            if let Some(answer) = Answer::read(&bytes) {
                let mut reader = answer.reader();
                let _ = (reader.text(), reader.variant(), reader.texts(), reader.group(), reader.blob());
            }
        }
    }
}
