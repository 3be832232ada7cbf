//! What went wrong, in words that say what to do about it.

use std::error::Error;
use std::io;
use std::path::Path;
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::Error as ClientError;
use rail_route::Provider;
use rustls::{CertificateError, InvalidMessage};

use super::proxy::Via;
use crate::decompress::Damage;
use crate::{TransportError, TransportErrorKind};

/// The name of a host has no address.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unresolved(pub(super) io::Error);

/// A connection took longer than it may.
#[derive(Debug, thiserror::Error)]
#[error("no connection within {0:?}")]
pub(super) struct TooSlow(pub(super) Duration);

/// A proxy is not there, or does not do its work.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProxyFault {
    /// No connection to the proxy itself.
    #[error("{0}")]
    Unreachable(Box<dyn Error + Send + Sync>),
    /// 407.
    #[error("it wants a password")]
    WantsPassword,
    /// Any other status than success.
    #[error("it refuses with {0}")]
    Refuses(u16),
    /// What came back is no answer.
    #[error("it does not answer in HTTP")]
    NotHttp,
    /// A SOCKS proxy that says no.
    #[error("{0}")]
    Socks(String),
}

impl ProxyFault {
    /// The connection to the proxy broke.
    pub(super) fn failed(error: io::Error) -> Self {
        ProxyFault::Unreachable(error.into())
    }
}

/// A request that can't be sent at all.
pub(super) fn unsendable(problem: String) -> TransportError {
    TransportError { kind: TransportErrorKind::Unsendable, problem }
}

/// Whether the connection ended before the headers of an answer were here.
pub(super) fn unanswered(error: &ClientError) -> bool {
    let causes = causes(error);
    let closed = find::<hyper::Error>(&causes)
        .is_some_and(|error| error.is_incomplete_message() || error.is_canceled() || error.is_closed());
    !error.is_connect() && (closed || no_connection(&causes) == Some(Socket::Broken))
}

/// Who is spoken with, for messages: no key, no password, no path.
#[derive(Clone)]
pub(super) struct Place {
    provider: String,
    host: String,
    proxy: Option<String>,
}

impl Place {
    pub(super) fn new(provider: &Provider, uri: &Uri, via: &Via) -> Self {
        let host = uri.authority().map(ToString::to_string).unwrap_or_default();
        Self { provider: provider.name.clone(), host, proxy: via.shown() }
    }

    /// No answer came.
    pub(super) fn failed(&self, error: &ClientError) -> TransportError {
        let causes = causes(error);
        if let Some(fault) = find::<ProxyFault>(&causes) {
            return self.proxy_failed(fault);
        }
        if !error.is_connect() {
            return self.lost(&causes, "before it answered");
        }
        // A connection that never came about, and a secure channel on top of one that did.
        if let Some(error) = find::<rustls::Error>(&causes) {
            return self.tls(error);
        }
        self.unconnected(&causes)
    }

    /// A kept connection was gone.
    pub(super) fn stale(&self) -> TransportError {
        let problem = format!("{} closed a kept connection instead of answering on it", self.host);
        TransportError { kind: TransportErrorKind::Stale, problem }
    }

    /// The answer broke off.
    pub(super) fn broken(&self, error: &hyper::Error) -> TransportError {
        self.lost(&causes(error), "in the middle of its answer")
    }

    /// The answer can't be unpacked.
    pub(super) fn damaged(&self, damage: Damage) -> TransportError {
        let Place { provider, host, .. } = self;
        let problem = format!(
            "{host} (provider `{provider}`): {damage}; try again, and if it stays look for a proxy on the way that packs answers"
        );
        TransportError { kind: TransportErrorKind::Encoding, problem }
    }

    /// The file of authorities can't be used.
    pub(super) fn bad_authorities(&self, file: &Path, problem: &str) -> TransportError {
        let Place { provider, .. } = self;
        let problem = format!(
            "`providers.{provider}.ca`: the certificates in {} can't be used: {problem}; give a PEM file",
            file.display()
        );
        TransportError { kind: TransportErrorKind::Tls, problem }
    }

    /// The secure channel did not come about.
    pub(super) fn tls(&self, error: &rustls::Error) -> TransportError {
        let Place { provider, host, .. } = self;
        let problem = match error {
            rustls::Error::InvalidCertificate(wrong) => self.untrusted(wrong),
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => format!(
                "{host} does not speak TLS: if it is a plain HTTP server, write `http://` in `providers.{provider}.base_url`"
            ),
            other => format!(
                "no secure connection to {host}: {other}; check `providers.{provider}.base_url` and what stands between"
            ),
        };
        TransportError { kind: TransportErrorKind::Tls, problem }
    }

    fn untrusted(&self, wrong: &CertificateError) -> String {
        let Place { provider, host, .. } = self;
        let what = format!("the certificate of {host} is not trusted");
        match wrong {
            // A signature that does not fit is that of another authority of the same name.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => format!(
                "{what}: nobody known has signed it; if it is your company's or your own server's authority, set `providers.{provider}.ca` to its PEM file"
            ),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                format!("{what}: it has expired; renew it there, or set this machine's clock right")
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                format!("{what}: it is not valid yet; set this machine's clock right")
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => format!(
                "{what}: it is for another name; write the name that it is for in `providers.{provider}.base_url`"
            ),
            other => format!(
                "{what}: {other}; if the server has an authority's own certificate, give it one that the authority signed"
            ),
        }
    }

    fn unconnected(&self, causes: &[&(dyn Error + 'static)]) -> TransportError {
        let Place { provider, host, .. } = self;
        let address = format!("`providers.{provider}.base_url`");
        if let Some(Unresolved(why)) = find(causes) {
            let problem =
                format!("the name of {host} can't be resolved: {why}; check {address} and the network");
            return TransportError { kind: TransportErrorKind::Dns, problem };
        }
        let problem = match (find::<TooSlow>(causes), no_connection(causes)) {
            (Some(TooSlow(limit)), _) => {
                let through = self.proxy.as_ref().map(|proxy| format!(" through the proxy {proxy}"));
                let through = through.unwrap_or_default();
                format!(
                    "no connection to {host}{through} within {limit:?}; check the network, or raise `providers.{provider}.timeouts.connect`"
                )
            }
            (None, Some(Socket::Refused)) => {
                format!("{host} refuses connections; is the server running, and is {address} right?")
            }
            (None, Some(Socket::Unreachable)) => format!(
                "{host} can't be reached from here; check the network, or set `providers.{provider}.proxy`"
            ),
            (None, Some(Socket::Broken) | None) => {
                let why = causes.last().map(ToString::to_string).unwrap_or_default();
                format!("no connection to {host}: {why}; check {address} and the network")
            }
        };
        TransportError { kind: TransportErrorKind::Connect, problem }
    }

    fn proxy_failed(&self, fault: &ProxyFault) -> TransportError {
        let Place { provider, host, proxy } = self;
        let proxy = proxy.as_deref().unwrap_or("?");
        let own = format!("`providers.{provider}.proxy`");
        let problem = match fault {
            ProxyFault::WantsPassword => format!(
                "the proxy {proxy} wants a name and a password; write them in its address, `http://NAME:PASSWORD@{proxy}`, in {own} or the environment"
            ),
            ProxyFault::Refuses(status) => format!(
                "the proxy {proxy} refuses to connect to {host} with status {status}; ask whoever runs it, or set {own} to `direct` to go around it"
            ),
            ProxyFault::NotHttp => {
                format!(
                    "what answers at {proxy} is no HTTP proxy; check {own} and the environment's `HTTPS_PROXY`"
                )
            }
            ProxyFault::Socks(why) => {
                format!("the proxy {proxy} does not connect to {host}: {why}; check {own}")
            }
            ProxyFault::Unreachable(error) => {
                let causes = causes(&**error);
                let why = match no_connection(&causes) {
                    Some(Socket::Refused) => "it refuses connections".to_owned(),
                    Some(Socket::Unreachable) => "it can't be reached from here".to_owned(),
                    Some(Socket::Broken) => "it closed the connection".to_owned(),
                    None => causes.last().map(ToString::to_string).unwrap_or_default(),
                };
                format!(
                    "no connection to the proxy {proxy}: {why}; check {own} and the environment's `HTTPS_PROXY`"
                )
            }
        };
        TransportError { kind: TransportErrorKind::Proxy, problem }
    }

    /// A connection that was there is gone.
    fn lost(&self, causes: &[&(dyn Error + 'static)], when: &str) -> TransportError {
        let Place { provider, host, .. } = self;
        let http = find::<hyper::Error>(causes);
        let socket = no_connection(causes);
        let problem = if http.is_some_and(hyper::Error::is_parse) {
            format!(
                "{host} does not answer in HTTP; check `providers.{provider}.base_url`, its `http://` or `https://` too"
            )
        } else if let Some(error) = find::<rustls::Error>(causes) {
            let problem = format!("the secure connection to {host} failed {when}: {error}; try again");
            // A server that wants a certificate of ours says so only now. All else is a way that damages bytes.
            let refuses = matches!(error, rustls::Error::AlertReceived(_));
            let kind = if refuses { TransportErrorKind::Tls } else { TransportErrorKind::Broken };
            return TransportError { kind, problem };
        } else if reset(causes) {
            format!("{host} reset the connection {when}")
        } else if http.is_some_and(|error| error.is_incomplete_message() || error.is_closed())
            || matches!(socket, Some(Socket::Broken))
        {
            format!("{host} closed the connection {when}")
        } else {
            let why = causes.last().map(ToString::to_string).unwrap_or_default();
            format!("the connection to {host} broke {when}: {why}")
        };
        TransportError { kind: TransportErrorKind::Broken, problem }
    }
}

/// How a socket failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Socket {
    Refused,
    Unreachable,
    Broken,
}

fn no_connection(causes: &[&(dyn Error + 'static)]) -> Option<Socket> {
    use io::ErrorKind as Kind;
    causes.iter().filter_map(|cause| cause.downcast_ref::<io::Error>()).find_map(|error| match error.kind() {
        Kind::ConnectionRefused => Some(Socket::Refused),
        Kind::NetworkUnreachable | Kind::HostUnreachable | Kind::NetworkDown | Kind::AddrNotAvailable => {
            Some(Socket::Unreachable)
        }
        Kind::UnexpectedEof | Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe => {
            Some(Socket::Broken)
        }
        _ => None,
    })
}

fn reset(causes: &[&(dyn Error + 'static)]) -> bool {
    let mut errors = causes.iter().filter_map(|cause| cause.downcast_ref::<io::Error>());
    errors.any(|error| error.kind() == io::ErrorKind::ConnectionReset)
}

fn find<'a, T: Error + 'static>(causes: &[&'a (dyn Error + 'static)]) -> Option<&'a T> {
    causes.iter().find_map(|cause| cause.downcast_ref::<T>())
}

/// An error and what caused it, outermost first.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> Vec<&'a (dyn Error + 'static)> {
    let mut causes = vec![error];
    while let Some(last) = causes.last().copied() {
        // An `io::Error` hides the error that it carries behind that one's own source.
        let carried = last.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        match carried.map(|carried| carried as &(dyn Error + 'static)).or_else(|| last.source()) {
            Some(next) => causes.push(next),
            None => break,
        }
    }
    causes
}
