use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::Response;
use http_body::Frame;
use hyper::body::Incoming as Received;

use super::fault::Place;
use crate::decompress::{Decoder, STEP};
use crate::{Body, Incoming, TransportError};

/// An answer whose headers are here.
pub(super) fn incoming(response: Response<Received>, place: Place) -> Result<Incoming, TransportError> {
    let (head, body) = response.into_parts();
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let mut headers: Vec<(String, String)> =
        head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
    let packed: Vec<&str> = headers
        .iter()
        .filter(|(name, _)| name == "content-encoding")
        .map(|(_, value)| value.as_str())
        .collect();
    let decoder = Decoder::for_header(&packed.join(",")).map_err(|damage| place.damaged(damage))?;
    if decoder.is_some() {
        // Both speak of the bytes on the wire, which nobody above sees.
        headers.retain(|(name, _)| name != "content-encoding" && name != "content-length");
    }
    let body = Body::new(Answer { body, decoder, packed: Bytes::new(), place });
    Ok(Incoming { status: head.status.as_u16(), headers, body })
}

/// The body of an answer, unpacked.
struct Answer {
    body: Received,
    decoder: Option<Decoder>,
    /// Bytes that came and are still packed.
    packed: Bytes,
    place: Place,
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        loop {
            match self.unpack() {
                Ok(None) => {}
                Ok(Some(bytes)) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                None => return Poll::Ready(self.finish()),
                Some(Err(error)) => return Poll::Ready(Some(Err(self.place.broken(&error)))),
                Some(Ok(frame)) => frame,
            };
            match frame.into_data() {
                Ok(data) if self.decoder.is_some() => self.packed = data,
                Ok(data) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
    }
}

impl Answer {
    /// What the bytes at hand become, in steps of bounded size; None when more must come first.
    fn unpack(&mut self) -> Result<Option<Bytes>, TransportError> {
        let Some(decoder) = &mut self.decoder else { return Ok(None) };
        while !self.packed.is_empty() {
            let step = self.packed.len().min(STEP);
            let mut out = Vec::new();
            let pushed = decoder.push(self.packed.get(..step).unwrap_or_default(), &mut out);
            self.packed.advance(step);
            pushed.map_err(|damage| self.place.damaged(damage))?;
            if !out.is_empty() {
                return Ok(Some(out.into()));
            }
        }
        Ok(None)
    }

    fn finish(&mut self) -> Option<Result<Frame<Bytes>, TransportError>> {
        let mut out = Vec::new();
        match self.decoder.take()?.finish(&mut out) {
            Err(damage) => Some(Err(self.place.damaged(damage))),
            Ok(()) if out.is_empty() => None,
            Ok(()) => Some(Ok(Frame::data(out.into()))),
        }
    }
}
