use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Extensions, Uri};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::Error as ClientError;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::client::legacy::connect::proxy::SocksV5;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tower_service::Service;

use super::fault::{ProxyFault, TooSlow, Unresolved};
use super::proxy::Via;
use super::tunnel::tunnel;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Connecting<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// Opens connections, secure where the address says so, within one limit for all that it takes.
#[derive(Clone)]
pub(super) struct Connector {
    limit: Duration,
    secured: HttpsConnector<Dial>,
}

impl Connector {
    pub(super) fn new(via: &Via, config: ClientConfig, limit: Duration) -> Self {
        let mut sockets = HttpConnector::new_with_resolver(Names);
        sockets.enforce_http(false);
        sockets.set_nodelay(true);
        sockets.set_keepalive(Some(Duration::from_secs(30)));
        let builder = HttpsConnectorBuilder::new().with_tls_config(config.clone()).https_or_http();
        // A proxy is spoken to in HTTP/1.1 only.
        let hop = builder.enable_http1().wrap_connector(sockets);
        let dial = Dial { hop, via: Arc::new(via.clone()) };
        let builder = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http();
        let secured = builder.enable_http1().enable_http2().wrap_connector(dial);
        Self { limit, secured }
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<Line>;
    type Error = BoxError;
    type Future = Connecting<Self::Response>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.secured.poll_ready(cx)
    }

    fn call(&mut self, host: Uri) -> Self::Future {
        Box::pin(within(self.limit, self.secured.call(host)))
    }
}

/// Gives a connection so much time to come about: the name, the socket, the proxy and TLS together.
async fn within<T>(
    limit: Duration,
    connecting: impl Future<Output = Result<T, BoxError>>,
) -> Result<T, BoxError> {
    tokio::time::timeout(limit, connecting).await.unwrap_or_else(|_| Err(TooSlow(limit).into()))
}

/// Opens connections that reach as far as the host, through the proxy if there is one.
#[derive(Clone)]
struct Dial {
    hop: HttpsConnector<HttpConnector<Names>>,
    via: Arc<Via>,
}

impl Service<Uri> for Dial {
    type Response = Line;
    type Error = BoxError;
    type Future = Connecting<Line>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.hop.poll_ready(cx)
    }

    fn call(&mut self, host: Uri) -> Self::Future {
        let (via, target) = (Arc::clone(&self.via), with_port(&host));
        let hop = match &*via {
            // What is secured is secured above, so that one place does it for every way.
            Via::Direct => self.hop.call(plain(&target)),
            Via::Http { proxy, .. } | Via::Socks5 { proxy, .. } => self.hop.call(proxy.clone()),
        };
        Box::pin(async move {
            match &*via {
                Via::Direct => Ok(Line::new(hop.await?)),
                Via::Http { auth, .. } => {
                    let mut stream = hop.await.map_err(ProxyFault::Unreachable)?;
                    let forwards = host.scheme() == Some(&http::uri::Scheme::HTTP);
                    if !forwards {
                        tunnel(&mut TokioIo::new(&mut stream), &target, auth.as_ref()).await?;
                    }
                    Ok(Line { forwards, ..Line::new(stream) })
                }
                Via::Socks5 { proxy, auth } => {
                    let stream = hop.await.map_err(ProxyFault::Unreachable)?;
                    let mut socks = SocksV5::new(proxy.clone(), Opened(Some(stream)));
                    if let Some((name, password)) = auth {
                        socks = socks.with_auth(name.clone(), password.clone());
                    }
                    let stream = socks
                        .call(plain(&target))
                        .await
                        .map_err(|error| ProxyFault::Socks(error.to_string()))?;
                    Ok(Line::new(stream))
                }
            }
        })
    }
}

/// `host:port`, the port as the scheme has it where none is written.
fn with_port(uri: &Uri) -> String {
    let usual = if uri.scheme() == Some(&http::uri::Scheme::HTTPS) { 443 } else { 80 };
    format!("{}:{}", uri.host().unwrap_or_default(), uri.port_u16().unwrap_or(usual))
}

fn plain(target: &str) -> Uri {
    let built = Uri::builder().scheme("http").authority(target).path_and_query("/").build();
    // A host that was part of an address is one again; were it not, the empty address connects nowhere.
    built.unwrap_or_default()
}

/// Hands out a connection that is open already.
struct Opened<T>(Option<T>);

impl<T> Service<Uri> for Opened<T> {
    type Response = T;
    type Error = io::Error;
    type Future = std::future::Ready<io::Result<T>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        std::future::ready(self.0.take().ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}

/// Resolves names on a thread of its own, and says which failure is one of names.
#[derive(Clone)]
struct Names;

impl Service<Name> for Names {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Unresolved;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Unresolved>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Unresolved>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await.map_err(Unresolved)?;
            Ok(found.collect::<Vec<_>>().into_iter())
        })
    }
}

/// How many answers a connection has given.
#[derive(Clone, Default)]
pub(super) struct Uses(Arc<AtomicUsize>);

impl Uses {
    /// Counts one more answer of the connection that it came on.
    pub(super) fn count(extensions: &Extensions) {
        if let Some(Uses(uses)) = extensions.get() {
            uses.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether the request failed on a connection that had given an answer before.
    pub(super) fn had_some(error: &ClientError) -> bool {
        let mut extensions = Extensions::new();
        if let Some(connected) = error.connect_info() {
            connected.get_extras(&mut extensions);
        }
        extensions.get().is_some_and(|Uses(uses)| uses.load(Ordering::Relaxed) > 0)
    }
}

/// A connection to a host, or to a proxy that forwards to it.
pub(super) struct Line {
    stream: MaybeHttpsStream<TokioIo<TcpStream>>,
    forwards: bool,
    uses: Uses,
}

impl Line {
    fn new(stream: MaybeHttpsStream<TokioIo<TcpStream>>) -> Self {
        Self { stream, forwards: false, uses: Uses::default() }
    }
}

impl Connection for Line {
    fn connected(&self) -> Connected {
        let connected = self.stream.connected().extra(self.uses.clone());
        if self.forwards { connected.proxy(true) } else { connected }
    }
}

impl Read for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl Write for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_limit_covers_all_that_connecting_takes() {
        let limit = Duration::from_secs(5);
        let before = tokio::time::Instant::now();
        let error = within::<()>(limit, std::future::pending()).await.unwrap_err();
        assert_eq!(error.downcast_ref::<TooSlow>().unwrap().0, limit);
        assert_eq!(before.elapsed().as_secs(), 5);
        let in_time = async {
            tokio::time::sleep(Duration::from_secs(4)).await;
            Ok(7)
        };
        assert_eq!(within(limit, in_time).await.unwrap(), 7);
    }

    #[test]
    fn ports() {
        for (uri, expected) in [
            ("https://a.test/v1", "a.test:443"),
            ("http://a.test", "a.test:80"),
            ("https://[::1]:8443/", "[::1]:8443"),
        ] {
            assert_eq!(with_port(&uri.parse().unwrap()), expected);
            assert_eq!(plain(expected).to_string(), format!("http://{expected}/"));
        }
    }
}
