//! The real transport: one HTTP client for all providers.

mod answer;
mod connect;
mod fault;
mod proxy;
mod tls;
mod tunnel;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, HeaderName, HeaderValue, USER_AGENT};
use http::{Method, Request, Uri};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rail_route::Provider;
use rail_stdx::Proxies;
use rustls::RootCertStore;
use tokio::sync::OnceCell;

pub use tls::{Authorities, authorities};

use crate::{BoxFuture, Incoming, Outgoing, Transport, TransportError};
use connect::Connector;
use fault::Place;
use proxy::Via;

/// How long a connection is kept for the next request. Most servers and what stands before them give up after a minute.
const IDLE: Duration = Duration::from_secs(55);
/// Connections that are kept for one host: as many as a busy gateway has requests at once, so that few are made anew.
const IDLE_PER_HOST: usize = 256;
/// How often a busy HTTP/2 connection is asked whether it still lives, and how long it may take to say so.
const PING: Duration = Duration::from_secs(20);
const PONG: Duration = Duration::from_secs(20);
/// Clients that are kept. One serves all providers that share a proxy, authorities and a limit to connect.
const CLIENTS: usize = 32;

/// What the real transport must be told.
#[derive(Clone, Default, Debug)]
pub struct LiveSettings {
    /// The proxies that the environment names, for providers that say nothing of their own.
    pub proxies: Proxies,
}

/// The real transport. Connections are kept and shared; HTTP/2 is used where a server offers it.
///
/// Redirects are not followed: the status and its `location` are handed up, since a request with a key in it goes to the
/// configured address and nowhere else.
pub struct Live {
    environment: Proxies,
    clients: Mutex<Vec<(Key, HttpClient)>>,
    roots: OnceCell<Arc<RootCertStore>>,
}

type HttpClient = Client<Connector, Full<Bytes>>;

/// What makes one client differ from another.
#[derive(Clone, PartialEq)]
struct Key {
    via: Via,
    tls: Tls,
    connect: Duration,
}

/// Which authorities are trusted.
#[derive(Clone, PartialEq)]
enum Tls {
    /// No connection of this client is secure, so none need be loaded.
    Unused,
    /// Those of the system.
    System,
    /// Those of the system, and of this file as it was at that time.
    And(PathBuf, Option<SystemTime>),
}

impl Live {
    /// A transport without any connection yet. Requests must be sent within a tokio runtime.
    pub fn new(settings: LiveSettings) -> Self {
        Self { environment: settings.proxies, clients: Mutex::default(), roots: OnceCell::new() }
    }

    async fn exchange(&self, call: Outgoing) -> Result<Incoming, TransportError> {
        let uri = address(&call)?;
        let via = proxy::via(&call.provider, &uri, &self.environment)?;
        let place = Place::new(&call.provider, &uri, &via);
        let tls = trusted(&call.provider, &uri, &via);
        let key = Key { via, tls, connect: call.provider.timeouts.connect };
        let client = self.client(&key, &place).await?;
        let request = request(call, uri, &key.via)?;
        match client.request(request).await {
            Ok(response) => {
                connect::Uses::count(response.extensions());
                answer::incoming(response, place)
            }
            Err(error) if connect::Uses::had_some(&error) && fault::unanswered(&error) => Err(place.stale()),
            Err(error) => Err(place.failed(&error)),
        }
    }

    async fn client(&self, key: &Key, place: &Place) -> Result<HttpClient, TransportError> {
        if let Some(client) = self.kept(key) {
            return Ok(client);
        }
        let config = match &key.tls {
            Tls::Unused => tls::config(RootCertStore::empty()),
            Tls::System => tls::config(RootCertStore::clone(&*self.roots().await)),
            Tls::And(file, _) => {
                let mut roots = RootCertStore::clone(&*self.roots().await);
                tls::add(&mut roots, file).map_err(|problem| place.bad_authorities(file, &problem))?;
                tls::config(roots)
            }
        };
        let config = config.map_err(|error| place.tls(&error))?;
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .http2_keep_alive_interval(PING)
            .http2_keep_alive_timeout(PONG)
            .build(Connector::new(&key.via, config, key.connect));
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        // Requests that begin together wait for the authorities together: they share the client of the first.
        if let Some((_, known)) = clients.iter().find(|(known, _)| known == key) {
            return Ok(known.clone());
        }
        if clients.len() == CLIENTS {
            clients.remove(0);
        }
        clients.push((key.clone(), client.clone()));
        Ok(client)
    }

    fn kept(&self, key: &Key) -> Option<HttpClient> {
        let clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.iter().find(|(known, _)| known == key).map(|(_, client)| client.clone())
    }

    /// The system's authorities: read when the first secure connection needs them, and kept.
    async fn roots(&self) -> Arc<RootCertStore> {
        let load = || async {
            // Hundreds of files on some systems; without a thread of its own the read happens here.
            let loaded = tokio::task::spawn_blocking(tls::system_roots).await;
            Arc::new(loaded.unwrap_or_else(|_| tls::built_in_roots()))
        };
        Arc::clone(self.roots.get_or_init(load).await)
    }
}

impl Transport for Live {
    fn send<'a>(&'a self, call: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>> {
        Box::pin(self.exchange(call))
    }
}

fn address(call: &Outgoing) -> Result<Uri, TransportError> {
    let Provider { name, .. } = &*call.provider;
    let wrong = |what: &str| {
        fault::unsendable(format!(
            "the address of provider `{name}` can't be used: {what}; check `providers.{name}.base_url`"
        ))
    };
    // The address itself is not shown: it may hold a key.
    let uri: Uri = call.url.parse().map_err(|error| wrong(&format!("{error}")))?;
    match uri.scheme_str() {
        Some("http" | "https") => {}
        Some(_) | None => return Err(wrong("it does not begin with `http://` or `https://`")),
    }
    match uri.authority() {
        Some(authority) if authority.as_str().contains('@') => {
            Err(wrong("it holds a user name; put what must be secret into `key` or `headers`"))
        }
        Some(authority) if !authority.host().is_empty() => Ok(uri),
        Some(_) | None => Err(wrong("it names no host")),
    }
}

fn trusted(provider: &Provider, uri: &Uri, via: &Via) -> Tls {
    if uri.scheme_str() != Some("https") && !via.is_secure() {
        return Tls::Unused;
    }
    match &provider.ca {
        // A file that changed is read again, without a restart.
        Some(file) => Tls::And(file.clone(), std::fs::metadata(file).and_then(|about| about.modified()).ok()),
        None => Tls::System,
    }
}

fn request(call: Outgoing, uri: Uri, via: &Via) -> Result<Request<Full<Bytes>>, TransportError> {
    let Provider { name: provider, .. } = &*call.provider;
    let method = Method::from_bytes(call.method.as_bytes())
        .map_err(|_| fault::unsendable(format!("`{}` is no HTTP method", call.method)))?;
    let proxy_authorization = via.header_for(&uri);
    let mut request = Request::new(Full::new(call.body));
    (*request.method_mut(), *request.uri_mut()) = (method, uri);
    let headers = request.headers_mut();
    for (name, value) in &call.headers {
        let problem = |what: &str| {
            fault::unsendable(format!(
                "the header `{name}` for provider `{provider}` holds {what}; check its key and `providers.{provider}.headers`"
            ))
        };
        if ["content-length", "transfer-encoding"].contains(&name.as_str()) {
            return Err(problem("the length of the body, which only this program knows"));
        }
        let parsed =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| problem("a name that HTTP can't carry"))?;
        let mut value = HeaderValue::from_str(value.reveal())
            .or_else(|_| HeaderValue::from_bytes(value.reveal().as_bytes()))
            .map_err(|_| problem("a line break or another character that HTTP can't carry"))?;
        value.set_sensitive(true);
        headers.append(parsed, value);
    }
    // Unpacking costs latency on a stream, and saves little next to a model's pace.
    headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static("identity"));
    headers
        .entry(USER_AGENT)
        .or_insert(HeaderValue::from_static(concat!("switchrail/", env!("CARGO_PKG_VERSION"))));
    if let Some(value) = proxy_authorization {
        headers.insert(http::header::PROXY_AUTHORIZATION, value);
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use rail_model::ProtocolId;

    use super::*;

    #[tokio::test]
    async fn requests_that_begin_together_share_a_client() {
        let live = Arc::new(Live::new(LiveSettings::default()));
        let provider = Provider::new("p", ProtocolId::new("openai-chat"), "https://a.test/v1");
        let uri: Uri = provider.base_url.parse().unwrap();
        let asked = (0..CLIENTS * 2).map(|_| {
            let (live, place) = (Arc::clone(&live), Place::new(&provider, &uri, &Via::Direct));
            let key = Key { via: Via::Direct, tls: Tls::System, connect: provider.timeouts.connect };
            tokio::spawn(async move { live.client(&key, &place).await.is_ok() })
        });
        for asked in asked.collect::<Vec<_>>() {
            assert!(asked.await.unwrap());
        }
        assert_eq!(live.clients.lock().unwrap().len(), 1);
    }
}
