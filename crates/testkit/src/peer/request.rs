//! Reads one HTTP/1.1 request, strictly: a client that is loose with the grammar is a client with a defect.

use std::io::{self, BufRead, Read};

/// A request as it came over the wire, its body without chunk framing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The method, as spelled.
    pub method: String,
    /// The request target: path and query.
    pub target: String,
    /// Names and values in their order, as spelled.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The number of the connection that it came on.
    pub connection: usize,
}

impl Recorded {
    /// The value of the first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name).next()
    }

    /// The body as text, with replacement characters where it is none.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

pub(crate) enum ReadError {
    /// The client sent its end before the request was whole.
    Ended,
    Io(io::Error),
    Malformed(String),
}

pub(crate) fn read(input: &mut impl BufRead, connection: usize) -> Result<Recorded, ReadError> {
    let start = line(input)?;
    let (method, target) = match *start.split(' ').collect::<Vec<_>>() {
        [method, target, "HTTP/1.1"] if !method.is_empty() && !target.is_empty() => (method, target),
        _ => return malformed(format!("`{start}` is no request line of HTTP/1.1")),
    };
    let headers = fields(input)?;
    let body = match framing(&headers)? {
        Framing::Length(length) => exactly(input, length)?,
        Framing::Chunked => chunks(input)?,
    };
    Ok(Recorded { method: method.to_owned(), target: target.to_owned(), headers, body, connection })
}

/// Longest line that is read, so that a client that never ends one is told so.
const MAX_LINE_BYTES: u64 = 1 << 20;

enum Framing {
    Length(u64),
    Chunked,
}

fn framing(headers: &[(String, String)]) -> Result<Framing, ReadError> {
    let lengths: Vec<&str> = find(headers, "content-length").collect();
    let codings: Vec<&str> = find(headers, "transfer-encoding").collect();
    match (&*lengths, &*codings) {
        ([], []) => Ok(Framing::Length(0)),
        ([], [coding]) if coding.eq_ignore_ascii_case("chunked") => Ok(Framing::Chunked),
        ([length], []) if length.bytes().all(|byte| byte.is_ascii_digit()) => match length.parse() {
            Ok(length) => Ok(Framing::Length(length)),
            Err(_) => malformed(format!("content-length `{length}` is no length")),
        },
        _ => malformed(format!(
            "content-length {lengths:?} and transfer-encoding {codings:?} do not say one length of the body"
        )),
    }
}

fn chunks(input: &mut impl BufRead) -> Result<Vec<u8>, ReadError> {
    let mut body = Vec::new();
    loop {
        let head = line(input)?;
        let digits = head.split_once(';').map_or(&*head, |(digits, _extension)| digits);
        let length = match u64::from_str_radix(digits, 16) {
            Ok(length) if !digits.starts_with('+') => length,
            _ => return malformed(format!("`{head}` is no chunk size")),
        };
        if length == 0 {
            // Trailers are read and left out, like the framing.
            fields(input)?;
            return Ok(body);
        }
        body.append(&mut exactly(input, length)?);
        if !line(input)?.is_empty() {
            return malformed(format!("a chunk is longer than its size {length}"));
        }
    }
}

/// Header or trailer fields up to and with the empty line.
fn fields(input: &mut impl BufRead) -> Result<Vec<(String, String)>, ReadError> {
    let mut fields = Vec::new();
    loop {
        let field = line(input)?;
        if field.is_empty() {
            return Ok(fields);
        }
        match field.split_once(':') {
            Some((name, value)) if !name.is_empty() && !name.contains([' ', '\t']) => {
                fields.push((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()));
            }
            _ => return malformed(format!("`{field}` is no header")),
        }
    }
}

/// A line without its CR LF.
fn line(input: &mut impl BufRead) -> Result<String, ReadError> {
    let mut line = Vec::new();
    input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).map_err(ReadError::Io)?;
    if line.len() as u64 == MAX_LINE_BYTES {
        return malformed(format!("a line of a head is longer than {MAX_LINE_BYTES} bytes"));
    }
    if line.last() != Some(&b'\n') {
        return Err(ReadError::Ended);
    }
    let Some(text) = line.strip_suffix(b"\r\n") else {
        return malformed(format!("`{}` ends with LF alone", line.escape_ascii()));
    };
    match std::str::from_utf8(text) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => malformed(format!("`{}` is no UTF-8", text.escape_ascii())),
    }
}

fn exactly(input: &mut impl BufRead, length: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    input.by_ref().take(length).read_to_end(&mut bytes).map_err(ReadError::Io)?;
    if (bytes.len() as u64) < length { Err(ReadError::Ended) } else { Ok(bytes) }
}

fn find<'a>(headers: &'a [(String, String)], name: &str) -> impl Iterator<Item = &'a str> {
    let found = headers.iter().filter(move |(given, _)| given.eq_ignore_ascii_case(name));
    found.map(|(_, value)| &**value)
}

fn malformed<T>(fault: String) -> Result<T, ReadError> {
    Err(ReadError::Malformed(format!("the request is malformed: {fault}")))
}
