//! Servers that were asked for a stream and answer with one JSON document instead.

use crate::error::WireError;
use crate::frame::{Framer, Sink, Sse, Whole};

/// SSE, unless the first byte says that the body is one JSON object: an error, or a whole answer.
#[derive(Default)]
pub(crate) enum SseOrJson {
    #[default]
    Unknown,
    Sse(Sse),
    Json(Whole),
}

impl SseOrJson {
    fn framer(&mut self) -> Option<&mut dyn Framer> {
        match self {
            Self::Unknown => None,
            Self::Sse(sse) => Some(sse),
            Self::Json(whole) => Some(whole),
        }
    }
}

impl Framer for SseOrJson {
    fn push(&mut self, bytes: &[u8], sink: &mut Sink<'_>) -> Result<(), WireError> {
        if matches!(self, Self::Unknown) {
            // Blank lines before the first event say nothing in either form.
            let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) else { return Ok(()) };
            *self = if *first == b'{' { Self::Json(Whole::new()) } else { Self::Sse(Sse::new()) };
        }
        self.framer().map_or(Ok(()), |framer| framer.push(bytes, sink))
    }

    fn finish(&mut self, sink: &mut Sink<'_>) -> Result<(), WireError> {
        self.framer().map_or(Ok(()), |framer| framer.finish(sink))
    }
}
