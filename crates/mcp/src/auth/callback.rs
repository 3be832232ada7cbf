//! The way back from the browser: one address on this machine that takes one answer.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, REFERRER_POLICY};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rail_stdx::Secret;
use subtle::ConstantTimeEq;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::page::{Shown, page};
use super::{AuthError, ask, form};

/// The one path that is answered.
const PATH: &str = "/callback";
/// The time for a request to come whole.
const PATIENCE: Duration = Duration::from_secs(10);
/// Connections at once: browsers open some ahead.
const MOST: usize = 16;
/// How long an address may be.
const LONGEST: usize = 16 * 1024;

/// Where a login leads back to.
pub(super) struct Door {
    listener: TcpListener,
    port: u16,
}

/// What the answer to a login must be.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) state: Secret,
    /// Who was asked.
    pub(super) issuer: String,
    /// Whether it names itself in every answer (RFC 9207).
    pub(super) names_itself: bool,
    /// The server that is logged in to, as the page shows it.
    pub(super) server: String,
}

/// The answer to a login, or why there is none.
pub(super) type Answered = Result<Secret, AuthError>;

impl Expected {
    /// Reads the query of an address that a login led back to. The outer error says why it is no answer to this login.
    pub(super) fn read(&self, query: &str) -> Result<Answered, &'static str> {
        let pairs = form::decode(query);
        let get = |wanted: &str| {
            let mut found = pairs.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
            match (found.next(), found.next()) {
                (Some(_), Some(_)) => Err("it says one thing twice"),
                (one, _) => Ok(one),
            }
        };
        let state = get("state")?.ok_or("it has no `state`")?;
        // How long the comparison takes must not tell how much of a guess is right.
        if !bool::from(state.as_bytes().ct_eq(self.state.reveal().as_bytes())) {
            return Err("its `state` is that of another login");
        }
        match get("iss")? {
            Some(found) if found != self.issuer => {
                let found = ask::plain(found);
                return Ok(Err(AuthError::OtherIssuer { issuer: self.issuer.clone(), found }));
            }
            None if self.names_itself => {
                let found = "somebody without a name".to_owned();
                return Ok(Err(AuthError::OtherIssuer { issuer: self.issuer.clone(), found }));
            }
            Some(_) | None => {}
        }
        if let Some(error) = get("error")? {
            let said = ask::described(get("error_description")?);
            let (issuer, error) = (self.issuer.clone(), ask::plain(error));
            return Ok(Err(AuthError::Denied { issuer, error, said }));
        }
        let code = get("code")?.filter(|code| !code.is_empty()).ok_or("it has no `code`")?;
        Ok(Ok(Secret::new(code)))
    }

    /// Reads what a person pasted: the address of the page that the browser could not show.
    pub(super) fn read_pasted(&self, text: &str) -> Result<Answered, AuthError> {
        let unfit = |why| AuthError::Pasted { why };
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(unfit("it is too long"));
        }
        let (before, query) = text.split_once('?').ok_or_else(|| unfit("it has no `?`"))?;
        if !before.is_empty() && !before.ends_with(PATH) {
            return Err(unfit("it does not end with `/callback` before its `?`"));
        }
        self.read(query.split('#').next().unwrap_or_default()).map_err(unfit)
    }
}

impl Door {
    /// Takes a port on 127.0.0.1; 0 is any.
    pub(super) async fn open(port: u16) -> Result<Self, AuthError> {
        let failed = |error: std::io::Error| AuthError::Listen { port, why: error.to_string() };
        let listener =
            TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self { listener, port })
    }

    /// The address that a login is to lead back to.
    pub(super) fn redirect(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the answer to a login. Whatever else comes is answered and changes nothing; `unfit` is told of it.
    pub(super) async fn answer(&self, expected: &Expected, unfit: &Unfit) -> Answered {
        let desk = Arc::new(Desk {
            expected: expected.clone(),
            host: format!("127.0.0.1:{}", self.port),
            taken: Mutex::default(),
            unfit: unfit.clone(),
        });
        let (send, mut receive) = mpsc::channel(1);
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                Some(answered) = receive.recv() => return answered,
                Some(_) = connections.join_next() => {}
                accepted = self.listener.accept(), if connections.len() < MOST => {
                    // A connection that breaks before it is there is one that nobody waits for.
                    let Ok((stream, _)) = accepted else { continue };
                    connections.spawn(serve(stream, Arc::clone(&desk), send.clone()));
                }
            }
        }
    }
}

/// Remembers that an answer came which was not taken.
#[derive(Clone, Default, Debug)]
pub(super) struct Unfit(Arc<std::sync::atomic::AtomicBool>);

impl Unfit {
    fn note(&self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    pub(super) fn came(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// What all connections share.
struct Desk {
    expected: Expected,
    host: String,
    taken: Mutex<Taken>,
    unfit: Unfit,
}

/// The one answer: not here yet, here, or handed on.
#[derive(Default)]
enum Taken {
    #[default]
    Nothing,
    Answer(Answered),
    Gone,
}

/// One connection. The answer is handed on once the page is written, so that the browser sees it before the port closes.
async fn serve(stream: TcpStream, desk: Arc<Desk>, send: mpsc::Sender<Answered>) {
    let answering = Arc::clone(&desk);
    let service = service_fn(move |request: Request<Incoming>| {
        let response = answering.respond(&request);
        async move { Ok::<_, Infallible>(response) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(LONGEST).keep_alive(false);
    let served = builder.serve_connection(TokioIo::new(stream), service);
    // A browser that left before it saw the page has brought the answer all the same.
    let _ = tokio::time::timeout(PATIENCE * 2, served).await;
    let taken = {
        let mut taken = desk.taken.lock().unwrap_or_else(PoisonError::into_inner);
        match &*taken {
            Taken::Answer(_) => std::mem::replace(&mut *taken, Taken::Gone),
            Taken::Nothing | Taken::Gone => Taken::Nothing,
        }
    };
    if let Taken::Answer(answered) = taken {
        // Nobody listens any more when another way brought the answer first.
        let _ = send.send(answered).await;
    }
}

impl Desk {
    fn respond(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let host = request.headers().get(HOST).map(HeaderValue::as_bytes);
        if request.uri().path() != PATH || host != Some(self.host.as_bytes()) {
            return shown(StatusCode::NOT_FOUND, Shown::Unfit { why: "there is nothing at this address" });
        }
        if request.method() != Method::GET {
            return shown(StatusCode::METHOD_NOT_ALLOWED, Shown::Unfit { why: "a login ends with GET" });
        }
        let server = &self.expected.server;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*taken, Taken::Nothing) {
            return shown(StatusCode::GONE, Shown::Unfit { why: "the login has ended already" });
        }
        match self.expected.read(request.uri().query().unwrap_or_default()) {
            Err(why) => {
                self.unfit.note();
                shown(StatusCode::BAD_REQUEST, Shown::Unfit { why })
            }
            Ok(answered) => {
                let response = match &answered {
                    Ok(_) => shown(StatusCode::OK, Shown::Back { server }),
                    Err(error) => {
                        shown(StatusCode::BAD_REQUEST, Shown::Denied { server, reason: &error.to_string() })
                    }
                };
                *taken = Taken::Answer(answered);
                response
            }
        }
    }
}

fn shown(status: StatusCode, what: Shown<'_>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(page(what))));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (CONNECTION, "close"),
        // The address holds the code.
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn expected(names_itself: bool) -> Expected {
        let (issuer, server) = ("https://auth.test".to_owned(), "https://a.test/mcp".to_owned());
        Expected { state: Secret::new("right"), issuer, names_itself, server }
    }

    fn told(query: &str, names_itself: bool) -> String {
        match expected(names_itself).read(query) {
            Err(why) => why.to_owned(),
            Ok(Err(error)) => error.to_string(),
            Ok(Ok(code)) => format!("code {}", code.reveal()),
        }
    }

    #[test]
    fn only_the_answer_to_this_login_is_taken() {
        for (query, result) in [
            ("code=c&state=right", "code c"),
            ("code=c&state=right&iss=https%3A%2F%2Fauth.test", "code c"),
            ("code=c&state=wrong", "its `state` is that of another login"),
            ("code=c&state=right2", "its `state` is that of another login"),
            ("code=c", "it has no `state`"),
            ("code=c&code=d&state=right", "it says one thing twice"),
            ("state=right&state=right&code=c", "it says one thing twice"),
            ("state=right", "it has no `code`"),
            ("error=access_denied&state=wrong", "its `state` is that of another login"),
            ("error=access_denied&state=right", "`https://auth.test` refused the login: access_denied"),
            (
                "error=access_denied&error_description=no%0A%1b%5b1m&state=right&code=c",
                "`https://auth.test` refused the login: access_denied: no  [1m",
            ),
        ] {
            assert_eq!(told(query, false), result, "{query}");
        }
        let mixed = "the login is given up, since somebody may have mixed up the two on purpose";
        assert!(told("code=c&state=right&iss=https://auth.test/", false).ends_with(mixed));
        assert!(told("code=c&state=right", true).ends_with(mixed));
        assert_eq!(told("code=c&state=right&iss=https://auth.test", true), "code c");
    }

    #[test]
    fn what_a_person_pastes_is_read_with_the_same_care() {
        let told = |text: &str| match expected(false).read_pasted(text) {
            Ok(Ok(code)) => format!("code {}", code.reveal()),
            Ok(Err(error)) | Err(error) => error.to_string(),
        };
        for whole in ["http://127.0.0.1:4000/callback?code=c&state=right", " ?state=right&code=c#_=_\n"] {
            assert_eq!(told(whole), "code c", "{whole}");
        }
        for (wrong, why) in [
            ("", "it has no `?`"),
            ("https://evil.test/other?code=c&state=right", "does not end with"),
            ("http://127.0.0.1:4000/callback?code=c&state=wrong", "another login"),
        ] {
            assert!(told(wrong).contains(why), "{wrong}: {}", told(wrong));
        }
    }

    proptest! {
        #[test]
        fn any_query_is_read(query in "(\\PC|[&=%]|state=right|code=|iss=){0,40}") {
            if let Ok(Ok(code)) = expected(true).read(&query) {
                prop_assert!(!code.is_empty());
                prop_assert!(query.contains("state=right") && query.contains("iss="));
            }
        }
    }
}
