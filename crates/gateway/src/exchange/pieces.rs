//! An answer's body that is made while it is taken: whoever takes it polls the work itself, so that nothing is made that nobody
//! takes, and dropping it ends the work.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http::response::Parts;
use http_body::Frame;

use crate::body::{Body, Cut};

/// The work behind an answer. An answer that never began with a head is what it gives at its end.
type Work = Pin<Box<dyn Future<Output = Option<Response<Body>>> + Send>>;

/// Where the work puts its head and its pieces; there is room for one piece.
#[derive(Clone, Default)]
pub(super) struct Outlet(Arc<Mutex<Room>>);

#[derive(Default)]
struct Room {
    head: Option<Parts>,
    piece: Option<Bytes>,
}

impl Outlet {
    /// The answer begins; pieces follow.
    pub(super) fn begin(&self, head: Parts) {
        self.room().head = Some(head);
    }

    /// Gives a piece, and waits until it is taken. Only the body that polls this takes it, so nobody needs to be woken.
    pub(super) async fn give(&self, piece: Bytes) {
        self.room().piece = Some(piece);
        std::future::poll_fn(|_| if self.room().piece.is_none() { Poll::Ready(()) } else { Poll::Pending })
            .await;
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        // Each change is one assignment: a panic elsewhere leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts work and waits until it has an answer or the beginning of one.
pub(super) async fn answer<F>(work: impl FnOnce(Outlet) -> F) -> Response<Body>
where
    F: Future<Output = Option<Response<Body>>> + Send + 'static,
{
    let outlet = Outlet::default();
    let mut work: Option<Work> = Some(Box::pin(work(outlet.clone())));
    std::future::poll_fn(move |cx| {
        if let Some(future) = &mut work
            && let Poll::Ready(ended) = future.as_mut().poll(cx)
        {
            work = None;
            if let Some(answer) = ended {
                return Poll::Ready(answer);
            }
        }
        let head = outlet.room().head.take();
        match head {
            Some(head) => {
                let pieces = Pieces { work: work.take(), outlet: outlet.clone() };
                Poll::Ready(Response::from_parts(head, Body::Pieces(Box::pin(pieces))))
            }
            None if work.is_none() => Poll::Ready(Response::new(Body::Whole(Bytes::new()))),
            None => Poll::Pending,
        }
    })
    .await
}

/// The body.
struct Pieces {
    work: Option<Work>,
    outlet: Outlet,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        let this = self.get_mut();
        let taken = this.outlet.room().piece.take();
        if let Some(piece) = taken {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        let Some(work) = &mut this.work else { return Poll::Ready(None) };
        let ended = work.as_mut().poll(cx).is_ready();
        if ended {
            this.work = None;
        }
        let made = this.outlet.room().piece.take();
        match made {
            Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            None if ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}
