use std::any::Any;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

use crate::body::Body;

/// The body of an answer on its way out; its request counts as one on its way until this is dropped.
pub(super) struct Answer {
    pub(super) body: Body,
    pub(super) _place: Option<OwnedSemaphorePermit>,
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What a future gives, or what it panicked with.
pub(super) async fn caught<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_value() {
        assert_eq!(caught(async { 7 }).await.ok(), Some(7));
        let panics = async {
            tokio::task::yield_now().await;
            assert!(std::hint::black_box(false), "a defect");
        };
        let panic = caught(panics).await.unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a defect"));
    }
}
