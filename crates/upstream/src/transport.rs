use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use rail_route::Provider;
use rail_stdx::Secret;

/// A future on the heap, as trait objects need it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Carries one HTTP request to a provider and its answer back. Dropping the future or the body cancels the request.
pub trait Transport: Send + Sync {
    /// Sends the request; the answer is here once its headers are.
    fn send<'a>(&'a self, call: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>>;
}

/// A request on its way out. Debugging it shows neither its headers' values nor what an address may hold of a key.
#[derive(Clone)]
pub struct Outgoing {
    /// Whom it is for: its proxy, its certificate authorities, how long a connection may take.
    pub provider: Arc<Provider>,
    /// The method.
    pub method: String,
    /// The whole address.
    pub url: String,
    /// Headers in order, names in lower case; values may hold keys.
    pub headers: Vec<(String, Secret)>,
    /// The body.
    pub body: Bytes,
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.url.split('?').next().unwrap_or_default();
        f.debug_struct("Outgoing")
            .field("provider", &self.provider.name)
            .field("method", &self.method)
            .field("url", &address)
            .field("headers", &self.headers)
            .field("body", &self.body.len())
            .finish()
    }
}

/// An answer on its way in.
#[derive(Debug)]
pub struct Incoming {
    /// The status.
    pub status: u16,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, decompressed.
    pub body: Body,
}

/// The body of an answer, piece by piece as it arrives.
pub struct Body(Pin<Box<dyn http_body::Body<Data = Bytes, Error = TransportError> + Send>>);

impl Body {
    /// A body that comes from this source.
    pub fn new(source: impl http_body::Body<Data = Bytes, Error = TransportError> + Send + 'static) -> Self {
        Self(Box::pin(source))
    }

    /// The next piece; None at the end.
    pub async fn next(&mut self) -> Option<Result<Bytes, TransportError>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next piece, if it is here; None at the end.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, TransportError>>> {
        loop {
            return Poll::Ready(match ready!(self.0.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => Some(Ok(data)),
                    // Trailers say nothing that an answer needs.
                    Err(_trailers) => continue,
                },
                Some(Err(error)) => Some(Err(error)),
                None => None,
            });
        }
    }
}

/// For transports that stand before others.
impl http_body::Body for Body {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, TransportError>>> {
        self.0.as_mut().poll_frame(cx)
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Body")
    }
}

/// Kept connections that may turn out to be closed before one request counts as failed.
pub(crate) const MOST_STALE: u32 = 2;

/// Why a request did not get through, or its answer did not come whole.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{problem}")]
pub struct TransportError {
    /// Where it failed.
    pub kind: TransportErrorKind,
    /// What happened, to which host, and what to do about it. Never holds a key.
    pub problem: String,
}

/// Where a request failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransportErrorKind {
    /// The host's name is not known.
    Dns,
    /// No connection: refused, unreachable, or too slow to connect.
    Connect,
    /// The secure channel: a certificate that is not trusted, a protocol that does not match.
    Tls,
    /// The proxy refused or failed.
    Proxy,
    /// The connection broke before or while the answer came.
    Broken,
    /// A connection that was kept from an earlier request closed instead of answering: servers close them just as the next
    /// request is written. It may have been read, so whoever sends it again must record both.
    Stale,
    /// The answer's compression is damaged.
    Encoding,
    /// The request can't be sent at all: a wrong address, a cassette without this request.
    Unsendable,
}
