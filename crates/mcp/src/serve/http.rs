//! Many clients, over HTTP.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rail_stdx::{Reach, Secret};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::clients::Clients;
use super::door::{Door, Refused};
use super::server::Server;
use super::{MAX_MESSAGE, Offer, Sessions};

/// How long a client may be silent before its session ends. A call may take long, and so may the person who is asked about it.
const SILENCE: Duration = Duration::from_secs(60 * 60);

/// How long a request's head may take.
const HEAD_WAIT: Duration = Duration::from_secs(30);

/// The most connections at a time; others wait in the system's own queue.
const MAX_CONNECTIONS: usize = 256;

/// The pause after a connection could not be taken: the system has no more of them for now.
const PAUSE: Duration = Duration::from_millis(100);

/// How long answers have to come to their end when it stops.
const GRACE: Duration = Duration::from_secs(5);

type Answer = Response<BoxBody<Bytes, Infallible>>;
type Service = StreamableHttpService<Server, LocalSessionManager>;

/// Where it listens, and who may come.
pub struct Http {
    /// Where it listens.
    pub listener: TcpListener,
    /// What a client must bring; none is needed only on this machine itself.
    pub key: Option<Secret>,
    /// Further names that it goes by, besides addresses and `localhost`.
    pub names: Vec<String>,
}

/// Why it can't serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It would be open to others.
    #[error(
        "{0} can be reached from other machines, and there is no key; say where it is by `--key env:NAME`, or listen on 127.0.0.1"
    )]
    Open(SocketAddr),
    /// A key that anybody has.
    #[error("the key is empty, so that anybody would have it")]
    EmptyKey,
    /// The listener failed.
    #[error("connections can't be taken: {0}")]
    Listen(#[from] std::io::Error),
}

/// Serves until it is told to stop; then all sessions end. Nothing that it began goes on after it has returned.
///
/// # Errors
/// It would be open to anybody, or can't listen.
pub async fn serve_http(
    offer: Offer,
    sessions: Arc<dyn Sessions>,
    http: Http,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let Http { listener, key, names } = http;
    let address = listener.local_addr()?;
    let reach = Reach::of(address.ip());
    match &key {
        None if reach == Reach::Others => return Err(ServeError::Open(address)),
        Some(key) if key.is_empty() => return Err(ServeError::EmptyKey),
        None | Some(_) => {}
    }
    let clients = Clients::new(offer, sessions);
    let door = Arc::new(Door { reach, names, key });
    let service = service(&clients, &stop);
    tokio::select! {
        () = accept(&listener, &door, &service, &stop) => {}
        never = clients.look_after() => match never {},
    }
    drop(listener);
    clients.end().await;
    Ok(())
}

fn service(clients: &Arc<Clients>, stop: &CancellationToken) -> Service {
    let clients = Arc::clone(clients);
    let mut silence = SessionConfig::default();
    silence.keep_alive = Some(SILENCE);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config = silence;
    // Hosts and pages are looked at by the door, before anything else.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_max_request_body_bytes(MAX_MESSAGE)
        .with_cancellation_token(stop.child_token());
    StreamableHttpService::new(move || Ok(Server::new(&clients)), Arc::new(sessions), config)
}

/// Takes connections until it is told to stop, and lets what is on its way come to its end.
async fn accept(listener: &TcpListener, door: &Arc<Door>, service: &Service, stop: &CancellationToken) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut open = JoinSet::new();
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let next = async { (place.await, listener.accept().await) };
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(_ended) = open.join_next() => {}
            next = next => match next {
                (Ok(place), Ok((stream, _))) => {
                    let (door, service, stop) = (Arc::clone(door), service.clone(), stop.clone());
                    open.spawn(async move {
                        connection(stream, &door, &service, &stop).await;
                        drop(place);
                    });
                }
                (Ok(_) | Err(_), _) => sleep(PAUSE).await,
            },
        }
    }
    // Streams that wait for something end with their sessions; whatever is left after that is broken off.
    let _ = timeout(GRACE, async { while open.join_next().await.is_some() {} }).await;
    open.shutdown().await;
}

async fn connection(stream: TcpStream, door: &Door, service: &Service, stop: &CancellationToken) {
    // Without it small pieces of a stream would be held back; with a broken connection the first read tells.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(|request: Request<Incoming>| async {
        Ok::<_, Infallible>(match door.admit(request.uri().path(), request.headers()) {
            Ok(()) => served(service, request).await,
            Err(refused) => refusal(refused),
        })
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WAIT);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), answer));
    tokio::select! {
        // What went wrong with a connection, its client knows best.
        _ended = connection.as_mut() => return,
        () = stop.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ended = connection.await;
}

async fn served(service: &Service, request: Request<Incoming>) -> Answer {
    let leaves = request.method() == Method::DELETE;
    let mut answer = service.handle(request).await;
    // The session has ended when this is said, and some clients take "accepted" for a failure.
    if leaves && answer.status() == StatusCode::ACCEPTED {
        *answer.status_mut() = StatusCode::OK;
    }
    answer
}

fn refusal(refused: Refused) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(refused.says().as_bytes())).boxed());
    *answer.status_mut() = refused.status();
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/plain; charset=utf-8"));
    if refused == Refused::NoKey {
        headers.insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
    }
    answer
}
