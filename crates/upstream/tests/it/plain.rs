//! A transport that is nothing but one HTTP/1.1 connection for each request.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Frame;
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rail_upstream::{Body, BoxFuture, Incoming, Outgoing, Transport, TransportError, TransportErrorKind};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Speaks plain HTTP. An `https` address fails as TLS does, a host that ends with `.invalid` as DNS does, and a body
/// that says it is compressed as a damaged one does.
#[derive(Clone, Default)]
pub(crate) struct Plain {
    /// How many bytes of bodies were handed on so far.
    handed: watch::Sender<usize>,
}

impl Plain {
    /// Waits until so many bytes of bodies were handed on.
    pub(crate) async fn handed(&self, bytes: usize) {
        self.handed.subscribe().wait_for(|handed| *handed >= bytes).await.unwrap();
    }
}

impl Transport for Plain {
    fn send<'a>(&'a self, call: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>> {
        Box::pin(send(call, self.handed.clone()))
    }
}

async fn send(call: Outgoing, handed: watch::Sender<usize>) -> Result<Incoming, TransportError> {
    let uri: http::Uri =
        call.url.parse().map_err(|_| failed(TransportErrorKind::Unsendable, "no address"))?;
    let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
    if uri.scheme_str() == Some("https") {
        return Err(failed(TransportErrorKind::Tls, "the certificate is not trusted"));
    }
    if uri.host().is_some_and(|host| host.ends_with(".invalid")) {
        return Err(failed(TransportErrorKind::Dns, "no such host"));
    }
    let stream =
        TcpStream::connect(&authority).await.map_err(|_| failed(TransportErrorKind::Connect, "refused"))?;
    let broken = |_| failed(TransportErrorKind::Broken, "the connection broke");
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    let mut connections = JoinSet::new();
    connections.spawn(async move {
        let _ = connection.await;
    });
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request =
        http::Request::builder().method(call.method.as_str()).uri(path).header("host", authority);
    for (name, value) in &call.headers {
        request = request.header(name, value.reveal());
    }
    let request = request
        .body(Full::new(call.body))
        .map_err(|_| failed(TransportErrorKind::Unsendable, "no request"))?;
    let (head, body) = sender.send_request(request).await.map_err(broken)?.into_parts();
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers: Vec<_> = head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let damaged = headers.iter().any(|(name, _)| name == "content-encoding");
    let source = Held { body, damaged, handed, _connections: connections };
    Ok(Incoming { status: head.status.as_u16(), headers, body: Body::new(source) })
}

fn failed(kind: TransportErrorKind, problem: &str) -> TransportError {
    TransportError { kind, problem: problem.to_owned() }
}

/// A body that ends its connection when it is dropped.
struct Held {
    body: hyper::body::Incoming,
    damaged: bool,
    handed: watch::Sender<usize>,
    _connections: JoinSet<()>,
}

impl http_body::Body for Held {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        if self.damaged {
            return Poll::Ready(Some(Err(failed(TransportErrorKind::Encoding, "the gzip stream is cut"))));
        }
        let next = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &next {
            self.handed.send_modify(|handed| *handed += frame.data_ref().map_or(0, Bytes::len));
        }
        next.map_err(|_| failed(TransportErrorKind::Broken, "the connection broke"))
    }
}
