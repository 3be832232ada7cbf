use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use tokio::time::{Sleep, sleep};

use super::Pace;
use super::line::{Answered, End, Piece};
use crate::TransportError;

/// The body of a recorded answer, in the pieces that it came in.
pub(super) struct Played {
    pieces: VecDeque<Piece>,
    end: Option<TransportError>,
    pace: Pace,
    waits: Option<Pin<Box<Sleep>>>,
}

impl Played {
    pub(super) fn new(answer: &Answered, end: &End, pace: Pace) -> Self {
        Self { pieces: answer.pieces.iter().cloned().collect(), end: end.error(), pace, waits: None }
    }
}

impl http_body::Body for Played {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        if let (Pace::AsRecorded, Some(piece)) = (self.pace, self.pieces.front()) {
            let waits = Duration::from_millis(piece.ms);
            let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(waits)));
            ready!(waits.as_mut().poll(cx));
            self.waits = None;
        }
        match self.pieces.pop_front() {
            Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece.bytes().unwrap_or_default())))),
            None => Poll::Ready(self.end.take().map(Err)),
        }
    }
}
