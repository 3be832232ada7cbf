//! An answer's body that is made while it is taken: whoever takes it polls the work itself, so that nothing is made that nobody
//! takes, and dropping it ends the work.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http::response::Parts;
use http_body::Frame;

use crate::body::Body;

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
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http_body_util::BodyExt;

    use super::*;

    struct Ended(Arc<AtomicUsize>);

    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.fetch_add(100, Ordering::Relaxed);
        }
    }

    /// Gives pieces and counts them.
    async fn gives(outlet: Outlet, made: Arc<AtomicUsize>) -> Option<Response<Body>> {
        let ended = Ended(Arc::clone(&made));
        outlet.begin(Response::new(()).into_parts().0);
        for number in 0..3 {
            made.fetch_add(1, Ordering::Relaxed);
            outlet.give(Bytes::from(number.to_string())).await;
        }
        drop(ended);
        None
    }

    #[tokio::test]
    async fn pieces_are_made_when_they_are_taken() {
        let made = Arc::new(AtomicUsize::new(0));
        let counted = || made.load(Ordering::Relaxed);
        let mut body = answer(|outlet| gives(outlet, Arc::clone(&made))).await.into_body();
        let mut seen = vec![counted()];
        while let Some(piece) = body.frame().await {
            assert!(piece.unwrap().is_data());
            seen.push(counted());
        }
        assert_eq!(
            (seen, counted()),
            (vec![1, 1, 2, 3], 103),
            "none is made before the one before it was taken"
        );
        assert!(body.frame().await.is_none(), "an end is an end");
    }

    #[tokio::test]
    async fn dropping_the_body_ends_the_work() {
        let made = Arc::new(AtomicUsize::new(0));
        let mut body = answer(|outlet| gives(outlet, Arc::clone(&made))).await.into_body();
        body.frame().await.unwrap().unwrap();
        drop(body);
        assert_eq!(made.load(Ordering::Relaxed), 101);
    }

    #[tokio::test]
    async fn work_without_a_head_gives_its_own_answer() {
        let response = answer(|_| async { Some(Response::new(Body::Whole(Bytes::from("error")))) }).await;
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "error");
    }
}
