//! Reads HTTP/1.1 answers off a socket, as cheaply as can be.

/// Where the reading of one answer stands.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    head: Vec<u8>,
    state: State,
    /// The status, once the head is here.
    pub(crate) status: u16,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    /// So many bytes are left of a body of known length.
    Sized(usize),
    /// The line with a chunk's size; the size so far.
    Size(usize),
    /// So many bytes are left of a chunk, then its line end.
    Data(usize),
    /// So many bytes are left of a line end.
    LineEnd(usize, Then),
    Done,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Then {
    More,
    End,
}

impl Reply {
    /// Whether all of it is here.
    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Takes the next bytes and gives those of the body away. The error says what is no answer.
    pub(crate) fn push(&mut self, mut bytes: &[u8], body: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        while !bytes.is_empty() {
            match self.state {
                State::Head => bytes = self.head(bytes)?,
                State::Sized(left) => {
                    let (now, rest) = bytes.split_at(left.min(bytes.len()));
                    body(now);
                    self.state = if now.len() == left { State::Done } else { State::Sized(left - now.len()) };
                    bytes = rest;
                }
                State::Size(size) => {
                    let (digits, rest) =
                        bytes.split_at(memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1));
                    let size = hex(size, digits)?;
                    self.state = match (digits.ends_with(b"\n"), size) {
                        (false, _) => State::Size(size),
                        (true, 0) => State::LineEnd(2, Then::End),
                        (true, _) => State::Data(size),
                    };
                    bytes = rest;
                }
                State::Data(left) => {
                    let (now, rest) = bytes.split_at(left.min(bytes.len()));
                    body(now);
                    let left = left - now.len();
                    self.state = if left == 0 { State::LineEnd(2, Then::More) } else { State::Data(left) };
                    bytes = rest;
                }
                State::LineEnd(left, then) => {
                    let now = left.min(bytes.len());
                    self.state = match (left - now, then) {
                        (0, Then::More) => State::Size(0),
                        (0, Then::End) => State::Done,
                        (left, then) => State::LineEnd(left, then),
                    };
                    bytes = bytes.get(now..).unwrap_or_default();
                }
                State::Done => return Err("bytes behind the answer".to_owned()),
            }
        }
        Ok(())
    }

    /// Takes what belongs to the head, and gives back what comes behind it.
    fn head<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], String> {
        let before = self.head.len();
        self.head.extend_from_slice(bytes);
        let Some(end) = memchr::memmem::find(&self.head, b"\r\n\r\n").map(|at| at + 4) else {
            return Ok(&[]);
        };
        let text = String::from_utf8_lossy(self.head.get(..end).unwrap_or_default()).to_ascii_lowercase();
        self.status = text.get(9..12).and_then(|digits| digits.parse().ok()).ok_or("no status")?;
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        self.state = match field("content-length").map(|length| length.trim().parse()) {
            Some(Ok(0)) => State::Done,
            Some(Ok(length)) => State::Sized(length),
            Some(Err(_)) => return Err("a bad content-length".to_owned()),
            None if field("transfer-encoding").is_some() => State::Size(0),
            None => return Err(format!("neither length nor chunks: {text}")),
        };
        Ok(bytes.get(end - before..).unwrap_or_default())
    }
}

/// The size with more of its digits read; what stands behind them is for nobody.
fn hex(mut size: usize, line: &[u8]) -> Result<usize, String> {
    for byte in line {
        match char::from(*byte).to_digit(16) {
            Some(digit) => size = size.checked_mul(16).ok_or("a chunk beyond all sizes")? + digit as usize,
            None if matches!(byte, b'\r' | b'\n') => {}
            None => return Err(format!("{byte} in the size of a chunk")),
        }
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_split_gives_the_same_body() {
        let sized = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
        for whole in [sized, chunked] {
            for cut in 0..=whole.len() {
                let (mut reply, mut body) = (Reply::default(), Vec::new());
                let (one, two) = whole.as_bytes().split_at(cut);
                reply.push(one, &mut |bytes| body.extend_from_slice(bytes)).unwrap();
                assert!(!reply.is_done() || two.is_empty());
                reply.push(two, &mut |bytes| body.extend_from_slice(bytes)).unwrap();
                assert_eq!((reply.is_done(), reply.status, body.as_slice()), (true, 200, &b"hello"[..]));
            }
        }
    }

    #[test]
    fn what_is_no_answer_is_told() {
        let push = |bytes: &[u8]| Reply::default().push(bytes, &mut |_| {}).unwrap_err();
        assert_eq!(push(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\nx"), "bytes behind the answer");
        assert_eq!(push(b"hello\r\n\r\n"), "no status");
    }
}
