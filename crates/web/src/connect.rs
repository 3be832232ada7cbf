//! A connection to a place, to an address that was judged.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderValue, Uri};
use hyper_util::client::legacy::connect::proxy::SocksV5;
use hyper_util::rt::TokioIo;
use rail_stdx::Proxies;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tower_service::Service;

use crate::address::not_public;
use crate::place::{Who, is_local_name};
use crate::proxy::{Via, via};
use crate::tls::Tls;
use crate::{Allowed, Place, Resolve, WebFault};

/// Most bytes of a proxy's answer that are read before it counts as none.
const MAX_HEAD: usize = 16 << 10;

/// Bytes both ways, whatever is below them.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection that is ready for a request.
pub(crate) struct Line {
    pub(crate) stream: Box<dyn Stream>,
    /// Said to a proxy that is asked for the whole address.
    pub(crate) forwarded: Option<Forwarded>,
}

/// What a proxy that forwards must be told.
pub(crate) struct Forwarded {
    pub(crate) auth: Option<HeaderValue>,
}

/// Who may be spoken with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// The public internet, and what the user allowed besides.
    Guarded,
    /// Whatever it is: the user wrote the address into the configuration.
    Configured,
}

/// Makes connections.
pub(crate) struct Dialler {
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) allowed: Allowed,
    pub(crate) proxies: Proxies,
    pub(crate) tls: Tls,
}

impl Dialler {
    pub(crate) async fn dial(&self, place: &Place, reach: Reach) -> Result<Line, WebFault> {
        let via = if self.is_own(place) { Via::Direct } else { via(&self.proxies, place)? };
        if reach == Reach::Guarded {
            self.judge_spelling(place, &via)?;
        }
        let mut forwarded = None;
        let stream: Box<dyn Stream> = match via {
            Via::Direct => Box::new(self.direct(place, reach).await?),
            Via::Http { proxy, auth } => {
                let mut stream = self.to_proxy(&proxy, place).await?;
                if place.is_secure() {
                    tunnel(&mut stream, &place.authority(), auth.as_ref())
                        .await
                        .map_err(|why| WebFault::unreachable(place, format!("the proxy {why}")))?;
                } else {
                    forwarded = Some(Forwarded { auth });
                }
                stream
            }
            Via::Socks5 { proxy, auth } => {
                let stream = self.to_proxy(&proxy, place).await?;
                socks(stream, &proxy, auth, place).await?
            }
        };
        let stream = if place.is_secure() {
            let host = match place.who() {
                Who::Name(name) => name.clone(),
                Who::Address(address) => address.to_string(),
            };
            let secured = self.tls.secure(&host, stream).await;
            Box::new(secured.map_err(|why| WebFault::unreachable(place, why))?)
        } else {
            stream
        };
        Ok(Line { stream, forwarded })
    }

    /// A place of the local network that the user allowed is not behind the proxy that leads out of it.
    fn is_own(&self, place: &Place) -> bool {
        match place.who() {
            Who::Address(address) => {
                self.allowed.has_address(*address, place.port()) || address.to_canonical().is_loopback()
            }
            Who::Name(name) => self.allowed.has_name(name, place.port()),
        }
    }

    /// What can be judged without asking anybody: an address as it stands there, and names that lead nowhere else.
    ///
    /// Behind a proxy this is all that is judged, since only the proxy knows what a name leads to.
    fn judge_spelling(&self, place: &Place, via: &Via) -> Result<(), WebFault> {
        let port = place.port();
        let private = |what: &str| WebFault::Private { host: place.authority(), what: what.to_owned() };
        match place.who() {
            Who::Address(address) => match not_public(*address) {
                Some(what) if !self.allowed.has_address(*address, port) => Err(private(what)),
                Some(_) | None => Ok(()),
            },
            // Where addresses are allowed, it may lead to one of them.
            Who::Name(name) if is_local_name(name) && !self.allowed.has_name(name, port) => {
                if *via == Via::Direct && !self.allowed.is_empty() {
                    Ok(())
                } else {
                    Err(private("a local network"))
                }
            }
            Who::Name(_) => Ok(()),
        }
    }

    async fn direct(&self, place: &Place, reach: Reach) -> Result<TcpStream, WebFault> {
        let addresses = self.judged(place, reach).await?;
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in addresses {
            match TcpStream::connect(SocketAddr::new(address, place.port())).await {
                Ok(stream) => {
                    // Without it a request waits for an acknowledgement at worst; that is no reason to fail.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(WebFault::unreachable(place, last))
    }

    /// The addresses of a place, each of which may be connected to.
    async fn judged(&self, place: &Place, reach: Reach) -> Result<Vec<IpAddr>, WebFault> {
        let (name, addresses) = match place.who() {
            Who::Address(address) => (None, vec![*address]),
            Who::Name(name) => (Some(name), self.resolved(name).await?),
        };
        if reach == Reach::Configured || name.is_some_and(|name| self.allowed.has_name(name, place.port())) {
            return Ok(addresses);
        }
        // One that is private among public ones is a trap, or a network that must be allowed.
        let local = name.filter(|name| is_local_name(name)).map(|_| "a local network");
        for address in &addresses {
            if let Some(what) = not_public(*address).or(local)
                && !self.allowed.has_address(*address, place.port())
            {
                let host = match name {
                    Some(name) => format!("{name} ({address})"),
                    None => place.authority(),
                };
                return Err(WebFault::Private { host, what: what.to_owned() });
            }
        }
        Ok(addresses)
    }

    async fn resolved(&self, name: &str) -> Result<Vec<IpAddr>, WebFault> {
        let unresolved = |why: String| WebFault::Unresolved { host: name.to_owned(), why };
        let found = self.resolver.resolve(name).await.map_err(|error| unresolved(error.to_string()))?;
        if found.is_empty() { Err(unresolved("it has no address".to_owned())) } else { Ok(found) }
    }

    async fn to_proxy(&self, proxy: &Uri, place: &Place) -> Result<Box<dyn Stream>, WebFault> {
        let is_secure = proxy.scheme_str() == Some("https");
        let host = proxy.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let port = proxy.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let failed =
            |error: String| WebFault::unreachable(place, format!("the proxy {host}:{port}: {error}"));
        let stream = TcpStream::connect((host, port)).await.map_err(|error| failed(error.to_string()))?;
        if is_secure {
            return Ok(Box::new(self.tls.secure(host, stream).await.map_err(failed)?));
        }
        Ok(Box::new(stream))
    }
}

/// Asks an HTTP proxy for a tunnel; what is sent after belongs to the host.
async fn tunnel(stream: &mut Box<dyn Stream>, to: &str, auth: Option<&HeaderValue>) -> Result<(), String> {
    let mut ask = format!("CONNECT {to} HTTP/1.1\r\nhost: {to}\r\n").into_bytes();
    if let Some(auth) = auth {
        ask.extend_from_slice(b"proxy-authorization: ");
        ask.extend_from_slice(auth.as_bytes());
        ask.extend_from_slice(b"\r\n");
    }
    ask.extend_from_slice(b"\r\n");
    let failed = |error: io::Error| format!("failed: {error}");
    stream.write_all(&ask).await.map_err(failed)?;
    stream.flush().await.map_err(failed)?;
    let mut head = Vec::new();
    // One byte at a time: what follows the head is the host's.
    while !head.ends_with(b"\r\n\r\n") {
        let byte = stream.read_u8().await.map_err(failed)?;
        if head.len() >= MAX_HEAD {
            return Err("does not answer as one".to_owned());
        }
        head.push(byte);
    }
    let line =
        String::from_utf8_lossy(head.split(|byte| *byte == b'\r').next().unwrap_or_default()).into_owned();
    match line.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok()) {
        Some(200..=299) if line.starts_with("HTTP/1.") => Ok(()),
        Some(407) => Err("wants a password; write it into its address".to_owned()),
        Some(status) => Err(format!("refuses with {status}")),
        None => Err("does not answer as one".to_owned()),
    }
}

async fn socks(
    stream: Box<dyn Stream>,
    proxy: &Uri,
    auth: Option<(String, String)>,
    place: &Place,
) -> Result<Box<dyn Stream>, WebFault> {
    let failed = |error: String| WebFault::unreachable(place, format!("the proxy: {error}"));
    let target = Uri::builder().scheme("http").authority(place.authority()).path_and_query("/").build();
    let target = target.map_err(|error| failed(error.to_string()))?;
    let mut socks = SocksV5::new(proxy.clone(), Opened(Some(TokioIo::new(stream))));
    let without_password = auth.is_none();
    if let Some((name, password)) = auth {
        socks = socks.with_auth(name, password);
    }
    let stream = socks.call(target).await.map_err(|error| match error.to_string() {
        // The library takes it for a proxy that knows no passwords, whether or not one was offered.
        why if without_password && why.contains("user/pass") => {
            failed("it wants a password; write it into its address".to_owned())
        }
        why => failed(why),
    })?;
    Ok(stream.into_inner())
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
