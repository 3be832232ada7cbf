//! Framing: bytes, cut anywhere, become frames. Written once for all protocols.

use rail_model::{Event, Grammar, ProtocolId};

use crate::error::{WireError, WireErrorKind};

/// No single frame may be larger: streams with megabyte lines exist, endless lines are an attack.
pub const MAX_FRAME: usize = 128 << 20;

/// One frame of a body: an SSE event, an array element, or the whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// The SSE event name; empty when there is none.
    pub event: &'a str,
    /// The payload.
    pub data: &'a [u8],
}

/// What to do with each frame.
pub type Sink<'s> = dyn FnMut(Frame<'_>) -> Result<(), WireError> + 's;

/// Cuts bytes into frames.
pub trait Framer: Send {
    /// Takes more bytes; frames completed by them go to `sink`.
    fn push(&mut self, bytes: &[u8], sink: &mut Sink<'_>) -> Result<(), WireError>;
    /// The body is over; a frame that only lacks its closing goes to `sink`.
    fn finish(&mut self, sink: &mut Sink<'_>) -> Result<(), WireError>;
}

/// Turns frames into events.
pub trait Mapper: Send {
    /// The protocol it reads.
    fn protocol(&self) -> ProtocolId;
    /// Takes the next frame.
    fn frame(&mut self, frame: Frame<'_>, out: &mut Vec<Event>) -> Result<(), WireError>;
    /// The body is over; an answer without its end marker is an error.
    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), WireError>;
}

/// Bytes in, events out, for any split of the bytes.
pub trait Decode: Send {
    /// Takes more bytes.
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Result<(), WireError>;
    /// The body is over.
    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), WireError>;
}

/// A framer and a mapper make a decoder.
pub struct Framed<F, M> {
    framer: F,
    mapper: M,
    frames: u64,
    counted: bool,
    grammar: Grammar,
}

impl<F: Framer, M: Mapper> Framed<F, M> {
    /// A decoder of a stream: errors name the frame.
    pub fn stream(framer: F, mapper: M) -> Self {
        Self { framer, mapper, frames: 0, counted: true, grammar: Grammar::default() }
    }

    /// A decoder of a whole body.
    pub fn whole(framer: F, mapper: M) -> Self {
        Self { counted: false, ..Self::stream(framer, mapper) }
    }

    fn run(
        &mut self,
        out: &mut Vec<Event>,
        step: impl FnOnce(&mut F, &mut Sink<'_>) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        let Self { framer, mapper, frames, counted, grammar: _ } = self;
        let protocol = mapper.protocol();
        let mut sink = |frame: Frame<'_>| {
            *frames += 1;
            mapper.frame(frame, out)
        };
        step(framer, &mut sink).map_err(|error| WireError {
            protocol,
            frame: counted.then_some(*frames),
            ..error
        })
    }

    /// In debug builds every event is held against the grammar; a break is our bug, not the peer's.
    fn check(&mut self, events: &[Event]) {
        if cfg!(debug_assertions) {
            for event in events {
                if let Err(broken) = self.grammar.accept(event) {
                    panic!("{} decoder: {broken}", self.mapper.protocol());
                }
            }
        }
    }
}

impl<F: Framer, M: Mapper> Decode for Framed<F, M> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        let before = out.len();
        let result = self.run(out, |framer, sink| framer.push(bytes, sink));
        self.check(out.get(before..).unwrap_or_default());
        result
    }

    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), WireError> {
        let before = out.len();
        let result = self.run(out, |framer, sink| framer.finish(sink)).map_err(|error| {
            // What cannot be read in the last, unclosed frame was cut off.
            WireError { kind: if self.counted { WireErrorKind::Truncated } else { error.kind }, ..error }
        });
        let result = result.and_then(|()| {
            self.mapper
                .finish(out)
                .map_err(|error| WireError { frame: self.counted.then_some(self.frames), ..error })
        });
        self.check(out.get(before..).unwrap_or_default());
        result
    }
}

/// Server-sent events, by the WHATWG rules: any line ending, comments, several data lines, a byte order mark.
#[derive(Default, Debug)]
pub struct Sse {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    event: String,
    after_cr: bool,
    begun: bool,
}

impl Sse {
    /// A framer at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one line. `pending` is the event's first data line while it still lies in the caller's bytes.
    fn line<'a>(
        &mut self,
        line: &'a [u8],
        pending: &mut Option<&'a [u8]>,
        sink: &mut Sink<'_>,
    ) -> Result<(), WireError> {
        if line.is_empty() {
            return self.dispatch(pending.take(), sink);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => line.split_at(colon),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" if pending.is_none() && !self.has_data => *pending = Some(value),
            b"data" => {
                self.hold(pending.take())?;
                self.data.push(b'\n');
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.event.clear();
                self.event.push_str(&String::from_utf8_lossy(value));
            }
            // A comment, `id`, `retry`, or a field from the future: none carries an answer.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, pending: Option<&[u8]>, sink: &mut Sink<'_>) -> Result<(), WireError> {
        let result = match pending {
            Some(data) => sink(Frame { event: &self.event, data }),
            None if self.has_data => sink(Frame { event: &self.event, data: &self.data }),
            None => Ok(()),
        };
        self.event.clear();
        self.data.clear();
        self.has_data = false;
        result
    }

    fn hold(&mut self, pending: Option<&[u8]>) -> Result<(), WireError> {
        if let Some(data) = pending {
            self.data.extend_from_slice(data);
            self.has_data = true;
        }
        within_limit(self.data.len())
    }
}

impl Framer for Sse {
    fn push(&mut self, bytes: &[u8], sink: &mut Sink<'_>) -> Result<(), WireError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut rest = bytes;
        let mut pending = None;
        if std::mem::take(&mut self.after_cr) {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let (line, tail) = rest.split_at(end);
            let (cr, tail) = (tail.first() == Some(&b'\r'), tail.get(1..).unwrap_or_default());
            rest = tail;
            if cr {
                self.after_cr = tail.is_empty();
                rest = tail.strip_prefix(b"\n").unwrap_or(tail);
            }
            let first = !std::mem::replace(&mut self.begun, true);
            if self.line.is_empty() {
                let line = if first { line.strip_prefix(BOM).unwrap_or(line) } else { line };
                self.line(line, &mut pending, sink)?;
            } else {
                self.line.extend_from_slice(line);
                within_limit(self.line.len())?;
                let whole = std::mem::take(&mut self.line);
                let line = if first { whole.strip_prefix(BOM).unwrap_or(&whole) } else { &whole };
                let mut held = None;
                self.hold(pending.take())?;
                self.line(line, &mut held, sink)?;
                self.hold(held)?;
                self.line = whole;
                self.line.clear();
            }
        }
        self.hold(pending)?;
        self.line.extend_from_slice(rest);
        within_limit(self.line.len())
    }

    fn finish(&mut self, sink: &mut Sink<'_>) -> Result<(), WireError> {
        // Servers exist that leave out the last blank line, or even the last line ending.
        self.push(b"\n\n", sink)
    }
}

pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Where the events of an SSE body end, for whoever passes on its bytes and wants to pass on whole events only.
#[derive(Default, Debug)]
pub struct EventEnds {
    in_line: bool,
    after_cr: bool,
}

impl EventEnds {
    /// The place behind the first event that ends in these bytes; the next ones to give are those from there on. None when
    /// no event ends in them, and then the next ones are those that follow.
    pub fn next(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        if !bytes.is_empty() && std::mem::take(&mut self.after_cr) {
            at = usize::from(bytes.first() == Some(&b'\n'));
        }
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.in_line |= !rest.is_empty();
                return None;
            };
            let blank = !std::mem::take(&mut self.in_line) && end == 0;
            at += end + 1;
            if rest.get(end) == Some(&b'\r') {
                self.after_cr = at == bytes.len();
                at += usize::from(bytes.get(at) == Some(&b'\n'));
            }
            if blank {
                return Some(at);
            }
        }
    }
}

/// A JSON array whose elements come one by one.
#[derive(Default, Debug)]
pub struct JsonArray {
    element: Vec<u8>,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl JsonArray {
    /// A framer at the start of a body.
    pub fn new() -> Self {
        Self::default()
    }

    fn flush(&mut self, sink: &mut Sink<'_>) -> Result<(), WireError> {
        let result = if self.element.iter().all(u8::is_ascii_whitespace) {
            Ok(())
        } else {
            sink(Frame { event: "", data: &self.element })
        };
        self.element.clear();
        result
    }
}

impl Framer for JsonArray {
    fn push(&mut self, bytes: &[u8], sink: &mut Sink<'_>) -> Result<(), WireError> {
        // Depth 1 is inside the array. A body that is one object instead is one element: errors come that way.
        for &byte in bytes {
            if self.in_string {
                self.in_string = self.escaped || byte != b'"';
                self.escaped = !self.escaped && byte == b'\\';
                self.element.push(byte);
                continue;
            }
            let opens_array = byte == b'[' && self.depth == 0;
            match byte {
                b'[' | b'{' => self.depth += 1 + usize::from(byte == b'{' && self.depth == 0),
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                b'"' => self.in_string = true,
                _ => {}
            }
            let between = self.depth <= 1 && matches!(byte, b',' | b']');
            let belongs_to_array =
                opens_array || (between && byte == b',') || (self.depth == 0 && byte == b']');
            if !belongs_to_array {
                self.element.push(byte);
            }
            if (between || (self.depth == 1 && byte == b'}')) && !opens_array {
                self.flush(sink)?;
            }
        }
        within_limit(self.element.len())
    }

    fn finish(&mut self, sink: &mut Sink<'_>) -> Result<(), WireError> {
        self.flush(sink)
    }
}

/// The whole body as one frame.
#[derive(Default, Debug)]
pub struct Whole(Vec<u8>);

impl Whole {
    /// A framer at the start of a body.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Framer for Whole {
    fn push(&mut self, bytes: &[u8], _: &mut Sink<'_>) -> Result<(), WireError> {
        self.0.extend_from_slice(bytes);
        within_limit(self.0.len())
    }

    fn finish(&mut self, sink: &mut Sink<'_>) -> Result<(), WireError> {
        sink(Frame { event: "", data: &self.0 })
    }
}

fn within_limit(size: usize) -> Result<(), WireError> {
    if size <= MAX_FRAME {
        return Ok(());
    }
    let problem = format!("a frame of more than {} MiB; the stream is broken or hostile", MAX_FRAME >> 20);
    let unknown = ProtocolId::new("unknown");
    Err(WireError { kind: WireErrorKind::TooLarge, ..WireError::malformed(unknown, "", problem) })
}
