//! One request at the door: whose it is, whether it may come in, and who answers it.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header, request};
use http_body::Body as _;
use hyper::body::Incoming;
use rail_config::Loaded;
use rail_ledger::KeyId;
use rail_model::ErrorKind;
use rail_wire::{HttpCall, Operation, Protocol, anthropic};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::Door;
use super::admit::{Admitted, Caller, Need, admit};
use super::answer::{Answer, caught};
use super::hosts::{WrongHost, check_host};
use super::keys::{KEY_HEADERS, without_keys};
use super::line::{Begun, Ending};
use super::paths::{self, Page, Place};
use super::read::read;
use super::record::{Turned, record};
use super::refused::Refused;
use super::room::Room;
use crate::api::{Guest, page};
use crate::arrival::Arrival;
use crate::body::Body;
use crate::clock::Moment;
use crate::exchange::exchange;

/// How long a request waits for others to end before it is told to come back.
const WAIT_FOR_PLACE: Duration = Duration::from_secs(1);

/// Headers that belong to the connection, to its encoding or to a browser, and mean nothing behind the door.
const OF_CONNECTION: [HeaderName; 13] = [
    header::CONNECTION,
    header::CONTENT_ENCODING,
    header::CONTENT_LENGTH,
    header::COOKIE,
    header::EXPECT,
    header::HOST,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Answers one request, whatever becomes of it.
pub(super) async fn answer(
    door: Arc<Door>,
    ending: Arc<Ending>,
    request: Request<Incoming>,
) -> Result<Response<Answer>, Infallible> {
    let came = Moment::now();
    let (head, body) = request.into_parts();
    let mut visit = Visit {
        id: door.ids.next(came.unix_ms),
        came,
        protocol: paths::guess(&head.headers, head.uri.path()),
        loaded: door.gateway.configuration(),
        unread: !body.is_end_stream(),
        begun: ending.begun,
        door: &door,
        head,
        body,
        key: None,
        place: None,
    };
    let mut response = match caught(visit.run()).await {
        Ok(Ok(response)) => response,
        Ok(Err(refused)) => refused.answer(visit.protocol),
        // What it was, the panic hook has told; clients get no insides.
        Err(_panic) => Refused::new(ErrorKind::Server, DEFECT).answer(visit.protocol),
    };
    visit.sign(response.headers_mut());
    if visit.unread {
        // What is left of the body must not be taken for another request.
        ending.unread.store(true, Ordering::Relaxed);
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let place = visit.place.take();
    Ok(response.map(|body| Answer { body, _place: place }))
}

const DEFECT: &str = "a defect of the gateway broke this request; its log has more; send it again, or report it with its `x-request-id`";

/// A request at the door.
struct Visit<'a> {
    door: &'a Door,
    loaded: Arc<Loaded>,
    id: String,
    came: Moment,
    /// The protocol that errors are told in.
    protocol: &'static Protocol,
    head: request::Parts,
    body: Incoming,
    /// Whether there may be more of the body.
    unread: bool,
    /// When its connection began.
    begun: Begun,
    key: Option<KeyId>,
    place: Option<OwnedSemaphorePermit>,
}

impl Visit<'_> {
    async fn run(&mut self) -> Result<Response<Body>, Refused> {
        self.check_target()?;
        let hosts = &self.loaded.settings.gateway.hosts;
        check_host(&self.head.headers, self.head.version, self.door.reach, hosts).map_err(wrong_host)?;
        let (method, path) = (&self.head.method, self.head.uri.path());
        let place = paths::find(method, path, self.protocol);
        if wants_websocket(&self.head.headers) {
            if let Place::Model { protocol, .. } = place {
                self.protocol = protocol;
            }
            return Err(Refused::new(ErrorKind::InvalidRequest, NO_WEBSOCKET).with_status(426));
        }
        match place {
            Place::Model { protocol, operation, path } => {
                self.protocol = protocol;
                let answer = match self.begun {
                    Begun::InTime => self.model(operation, path).await,
                    Begun::Late => Err(stopping()),
                };
                answer.inspect_err(|refused| self.record(operation, refused))
            }
            Place::Page(page) => self.page(page).await,
            Place::WrongMethod(allowed) => {
                let message = format!("`{path}` does not take {method}; it takes {allowed}");
                let refused = Refused::new(ErrorKind::InvalidRequest, message);
                Err(refused.with_status(405).with_header(header::ALLOW, allowed))
            }
            Place::Nothing => {
                let message = format!(
                    "there is nothing at `{method} {path}`; clients are given this gateway's address alone, or with `/v1` behind it"
                );
                Err(Refused::new(ErrorKind::NotFound, message))
            }
        }
    }

    /// Only plain paths are served: this is no proxy.
    fn check_target(&self) -> Result<(), Refused> {
        let uri = &self.head.uri;
        if uri.scheme().is_none() && uri.authority().is_none() && self.head.method != Method::CONNECT {
            return Ok(());
        }
        let message = "this gateway is no proxy; ask for a path such as `/v1/messages`, and keep its host out of `HTTP_PROXY` by `NO_PROXY`";
        Err(Refused::new(ErrorKind::InvalidRequest, message))
    }

    /// Brings a request to the models.
    async fn model(&mut self, operation: Operation, path: String) -> Result<Response<Body>, Refused> {
        let key = self.admit(Need::Any).await?.key();
        self.key = key.as_ref().map(|key| key.id.clone());
        self.place = Some(self.wait_for_place().await?);
        let (body, room) = match operation {
            Operation::Models => (Vec::new(), Room::default()),
            Operation::Generate | Operation::GenerateStream | Operation::Count | Operation::Embed => {
                self.read().await?
            }
        };
        let call = HttpCall {
            method: self.head.method.as_str().to_owned(),
            path,
            query: without_keys(self.head.uri.query().unwrap_or_default()),
            headers: call_headers(&self.head.headers),
            body,
        };
        let arrival = Arrival {
            id: self.id.clone(),
            came: self.came.instant,
            at: self.came.unix_ms,
            key,
            protocol: self.protocol,
            operation,
            call,
            room,
        };
        Ok(Box::pin(exchange(&self.door.gateway, arrival)).await)
    }

    /// The whole body.
    async fn read(&mut self) -> Result<(Vec<u8>, Room), Refused> {
        let limits = &self.loaded.settings.gateway.limits;
        let whole = read(&mut self.body, &self.head.headers, limits, &self.door.rooms).await?;
        self.unread = false;
        Ok(whole)
    }

    /// Serves one of the gateway's own pages.
    async fn page(&mut self, place: Page) -> Result<Response<Body>, Refused> {
        let reads = self.head.method == Method::GET || self.head.method == Method::HEAD;
        let whose = match place {
            Page::Health => return Ok(word(StatusCode::OK, "ok\n")),
            Page::Ready => return Ok(self.ready().await),
            // Claude Code asks this way whether somebody is there.
            Page::Home if self.head.method == Method::HEAD => return Ok(word(StatusCode::OK, "")),
            Page::Home => Admitted::Neighbour,
            Page::Api if !reads => self.admit(Need::Admin).await?,
            Page::Api | Page::Metrics => self.admit(Need::Any).await?,
        };
        let (body, _room) = if reads { (Vec::new(), Room::default()) } else { self.read().await? };
        let answer = page(&self.door.gateway, &self.page_request(whose, body)).await;
        answer.ok_or_else(|| {
            let message = format!("there is no page at `{}`", self.head.uri.path());
            Refused::new(ErrorKind::NotFound, message)
        })
    }

    async fn ready(&self) -> Response<Body> {
        if self.door.stop.is_cancelled() {
            return word(StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
        }
        match self.door.readiness.ask(self.door.gateway.ledger(), self.came.unix_ms).await {
            true => word(StatusCode::OK, "ready\n"),
            false => word(StatusCode::SERVICE_UNAVAILABLE, "the ledger does not answer\n"),
        }
    }

    /// The request as a page sees it: without keys, but with whose it is among its extensions.
    fn page_request(&self, whose: Admitted, body: Vec<u8>) -> Request<Bytes> {
        let mut request = Request::new(Bytes::from(body));
        *request.method_mut() = self.head.method.clone();
        let (path, query) = (self.head.uri.path(), self.head.uri.query().unwrap_or_default());
        let query = without_keys(query);
        let uri = if query.is_empty() { path.parse() } else { format!("{path}?{query}").parse() };
        // Both were part of an address before.
        *request.uri_mut() = uri.unwrap_or_else(|_| Uri::from_static("/"));
        *request.headers_mut() = self.head.headers.clone();
        KEY_HEADERS.iter().for_each(|name| drop(request.headers_mut().remove(name)));
        match whose {
            Admitted::Neighbour => {}
            Admitted::Guest => drop(request.extensions_mut().insert(Guest)),
            Admitted::Holder(key) => drop(request.extensions_mut().insert(key)),
        }
        request
    }

    async fn admit(&self, need: Need) -> Result<Admitted, Refused> {
        let query = self.head.uri.query().unwrap_or_default();
        let caller = Caller { headers: &self.head.headers, query, need, now: self.came.unix_ms };
        admit(&caller, self.door, &self.loaded.settings.gateway).await
    }

    async fn wait_for_place(&self) -> Result<OwnedSemaphorePermit, Refused> {
        let places = Arc::clone(&self.door.places);
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            return Ok(place);
        }
        match timeout(WAIT_FOR_PLACE, places.acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => {
                let message = "the gateway has as many requests on their way as it takes (`gateway.limits.requests`); try again";
                let refused = Refused::new(ErrorKind::Overloaded, message).with_status(503);
                Err(refused.come_back_after(WAIT_FOR_PLACE))
            }
        }
    }

    fn record(&self, operation: Operation, refused: &Refused) {
        let turned = Turned {
            id: &self.id,
            came: self.came,
            headers: &self.head.headers,
            key: self.key.clone(),
            protocol: self.protocol,
            operation,
            status: refused.answer(self.protocol).status().as_u16(),
            problem: refused.message(),
            ending: refused.ending(),
        };
        record(&self.door.gateway, &self.door.written, &turned);
    }

    /// Puts the request's id on an answer, under the name that the client's protocol has for it as well.
    fn sign(&self, headers: &mut HeaderMap) {
        let Ok(id) = HeaderValue::from_str(&self.id) else { return };
        if self.protocol.id == anthropic::PROTOCOL.id {
            headers.entry("request-id").or_insert(id.clone());
        }
        headers.insert("x-request-id", id);
    }
}

fn stopping() -> Refused {
    let message = "the gateway is about to stop, and takes no more requests; try again";
    Refused::new(ErrorKind::Overloaded, message).with_status(503).come_back_after(WAIT_FOR_PLACE)
}

const NO_WEBSOCKET: &str = "this gateway speaks no WebSocket; send the same request over HTTP (for Codex: `supports_websockets = false`)";

fn wants_websocket(headers: &HeaderMap) -> bool {
    let names = headers.get_all(header::UPGRADE).iter().filter_map(|value| value.to_str().ok());
    names.flat_map(|value| value.split(',')).any(|name| name.trim().eq_ignore_ascii_case("websocket"))
}

fn wrong_host(wrong: WrongHost) -> Refused {
    match wrong {
        WrongHost::Malformed => {
            let message =
                "the request's `Host` header is missing, there is more than one, or it names no host";
            Refused::new(ErrorKind::InvalidRequest, message)
        }
        WrongHost::Foreign(host) => {
            let message = format!(
                "the gateway is not called `{host}`, and a page in a browser might be behind this; call it by its address or `localhost`, or add \
                 the name to `gateway.hosts`"
            );
            Refused::new(ErrorKind::Permission, message)
        }
    }
}

/// What is behind the door sees of a request's headers.
fn call_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let is_kept = |name: &HeaderName| !KEY_HEADERS.contains(name) && !OF_CONNECTION.contains(name);
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers
        .iter()
        .filter(|(name, _)| is_kept(name))
        .map(|(name, value)| (name.as_str().to_owned(), text(value)))
        .collect()
}

/// An answer of one word.
fn word(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::Whole(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
