//! `GET /api/events`: what happens, as it happens.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Frame;
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep, sleep};

use super::answer::{self, Wrong};
use crate::Gateway;
use crate::body::Body;
use crate::observe::events::{NoReading, Reading};

/// After how long without an event a reader is told that the stream still lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How soon a reader that was cut off should come back.
const BEGINNING: &str = "retry: 1000\n\n";
const ALIVE: &str = ": alive\n\n";

/// A stream of events from now on, or from behind the last one that the reader has seen.
pub(crate) fn events(gateway: &Gateway, request: &Request<Bytes>) -> Result<Response<Body>, Wrong> {
    let seen = request.headers().get("last-event-id").and_then(|id| id.to_str().ok());
    let Reading { missed, coming } = gateway.observe().events().read(seen).map_err(|why| match why {
        NoReading::TooMany => Wrong::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many watch the events already; close some and try again",
        ),
        NoReading::Closed => Wrong::new(StatusCode::SERVICE_UNAVAILABLE, "the gateway is stopping"),
    })?;
    let ready = [Bytes::from_static(BEGINNING.as_bytes())].into_iter().chain(missed).collect();
    let stream = Stream { ready, coming, alive: Box::pin(sleep(KEEP_ALIVE)) };
    Ok(answer::with_type("text/event-stream", Body::Pieces(Box::pin(stream))))
}

/// The body of the stream. It ends when the gateway stops, or when its reader is too slow.
struct Stream {
    ready: VecDeque<Bytes>,
    coming: mpsc::Receiver<Bytes>,
    alive: Pin<Box<Sleep>>,
}

impl http_body::Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let stream = self.get_mut();
        if let Some(ready) = stream.ready.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(ready))));
        }
        let next = match stream.coming.poll_recv(cx) {
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(event)) => event,
            Poll::Pending => match stream.alive.as_mut().poll(cx) {
                Poll::Ready(()) => Bytes::from_static(ALIVE.as_bytes()),
                Poll::Pending => return Poll::Pending,
            },
        };
        stream.alive.as_mut().reset(Instant::now() + KEEP_ALIVE);
        Poll::Ready(Some(Ok(Frame::data(next))))
    }
}
