//! Server-sent events: bytes, cut anywhere, become events.

/// An event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Event {
    /// Its name; empty where none is given.
    pub(crate) name: String,
    /// Its lines of data, joined.
    pub(crate) data: Vec<u8>,
    /// The last id that was given until now; empty where none was.
    pub(crate) id: String,
}

/// Reads events.
#[derive(Default)]
pub(crate) struct Events {
    limit: usize,
    line: Vec<u8>,
    after_cr: bool,
    begun: bool,
    event: Event,
    has_data: bool,
}

/// An event, or a line of one, is longer than allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooLong;

impl Events {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Takes more bytes; events that are complete go to `out`.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Result<(), TooLong> {
        let mut rest = bytes;
        if !rest.is_empty() && std::mem::take(&mut self.after_cr) {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let (line, behind) = rest.split_at(end);
            let is_cr = behind.first() == Some(&b'\r');
            rest = behind.get(1..).unwrap_or_default();
            if is_cr {
                self.after_cr = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            self.add(line)?;
            let line = std::mem::take(&mut self.line);
            self.take(&line, out);
            if self.event.data.len() > self.limit {
                return Err(TooLong);
            }
        }
        self.add(rest)
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        self.line.extend_from_slice(bytes);
        // The name of the field is no part of what is limited.
        if self.line.len() > self.limit + 100 { Err(TooLong) } else { Ok(()) }
    }

    fn take(&mut self, line: &[u8], out: &mut Vec<Event>) {
        let first = !std::mem::replace(&mut self.begun, true);
        let line = if first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        if line.is_empty() {
            let id = self.event.id.clone();
            let event = std::mem::replace(&mut self.event, Event { id, ..Event::default() });
            if std::mem::take(&mut self.has_data) {
                out.push(event);
            }
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (line.get(..colon).unwrap_or_default(), line.get(colon + 1..).unwrap_or_default()),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => self.event.id = String::from_utf8_lossy(value).into_owned(),
            // A comment, `retry`, or a field from the future.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(limit: usize, pieces: &[&[u8]]) -> Result<Vec<Event>, TooLong> {
        let (mut events, mut out) = (Events::new(limit), Vec::new());
        for piece in pieces {
            events.push(piece, &mut out)?;
        }
        Ok(out)
    }

    #[test]
    fn events_have_names_data_and_ids() {
        let text = "\u{feff}: hello\n\nid: 7\nevent: message\ndata: {\"a\":\r\ndata:1}\r\n\r\ndata\n\nevent: nothing\n\n";
        let event =
            |name: &str, data: &str| Event { name: name.into(), data: data.into(), id: "7".to_owned() };
        assert_eq!(read(100, &[text.as_bytes()]), Ok(vec![event("message", "{\"a\":\n1}"), event("", "")]));
        assert_eq!(read(10, &[b"data: 0123456789\n\n"]).map(|events| events.len()), Ok(1));
        assert_eq!(read(10, &[b"data: 012345\ndata: 6789\n\n"]), Err(TooLong));
        assert_eq!(read(10, &[&[b'x'; 200]]), Err(TooLong));
    }

    proptest! {
        #[test]
        fn events_are_the_same_however_they_are_cut(text in "(data: ?|id:|event: |[a-c:\r\n]){0,60}", cuts in proptest::collection::vec(0_usize..400, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(1_000, &pieces), read(1_000, &[bytes]));
        }
    }
}
