//! The real transport, with a count of what it handed on, so that tests know when a piece has arrived.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Frame;
use rail_upstream::{Body, BoxFuture, Incoming, Live, LiveSettings, Outgoing, Transport, TransportError};
use tokio::sync::watch;

/// The real transport and how many bytes of bodies it handed on so far.
#[derive(Clone)]
pub(crate) struct Counted {
    live: Arc<Live>,
    handed: watch::Sender<usize>,
}

impl Default for Counted {
    fn default() -> Self {
        Self { live: Arc::new(Live::new(LiveSettings::default())), handed: watch::Sender::default() }
    }
}

impl Counted {
    /// Waits until so many bytes of bodies were handed on.
    pub(crate) async fn handed(&self, bytes: usize) {
        self.handed.subscribe().wait_for(|handed| *handed >= bytes).await.unwrap();
    }
}

impl Transport for Counted {
    fn send<'a>(&'a self, call: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>> {
        Box::pin(async move {
            let incoming = self.live.send(call).await?;
            let body = Body::new(Counting { body: incoming.body, handed: self.handed.clone() });
            Ok(Incoming { body, ..incoming })
        })
    }
}

struct Counting {
    body: Body,
    handed: watch::Sender<usize>,
}

impl http_body::Body for Counting {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let next = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &next {
            self.handed.send_modify(|handed| *handed += frame.data_ref().map_or(0, Bytes::len));
        }
        next
    }
}
