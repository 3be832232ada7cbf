//! One request and its answer, on a connection of its own.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, HOST, HeaderName, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::connect::{Dialler, Reach};
use crate::unpack::{self, Extent, Room};
use crate::{Limits, Place, WebFault};

/// What is asked.
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Bytes,
    pub(crate) reach: Reach,
}

/// The head of an answer, with its body still to come.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    /// What drives the connection; it ends with the answer.
    _connection: JoinSet<()>,
}

/// The body of an answer.
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    pub(crate) extent: Extent,
}

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    total: Duration,
}

impl Deadline {
    pub(crate) fn from_now(limits: &Limits) -> Self {
        Self { at: Instant::now() + limits.total, total: limits.total }
    }

    /// Waits for something that has a limit of its own, within what is left of all.
    pub(crate) async fn wait<T>(
        &self,
        place: &Place,
        what: &'static str,
        own: Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, WebFault> {
        let until = Instant::now() + own;
        let (until, limit) = if until < self.at { (until, own) } else { (self.at, self.total) };
        timeout_at(until, work).await.map_err(|_| WebFault::late(place, what, limit))
    }
}

/// Asks, and waits for the head of the answer.
pub(crate) async fn ask(
    dialler: &Dialler,
    place: &Place,
    ask: Ask,
    limits: &Limits,
    deadline: &Deadline,
) -> Result<Answer, WebFault> {
    let line = dialler.dial(place, ask.reach);
    let line = deadline.wait(place, "there was no connection", limits.connect, line).await??;
    let target = if line.forwarded.is_some() { place.as_str().to_owned() } else { place.path() };
    let mut request = Request::new(Full::new(ask.body));
    *request.method_mut() = ask.method;
    *request.uri_mut() = target.parse().map_err(|error| WebFault::unreachable(place, error))?;
    let host =
        HeaderValue::from_str(&place.host_header()).map_err(|error| WebFault::unreachable(place, error))?;
    let headers = request.headers_mut();
    headers.insert(HOST, host);
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("switchrail/", env!("CARGO_PKG_VERSION"))));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(unpack::ACCEPTED));
    headers.extend(ask.headers);
    if let Some(auth) = line.forwarded.and_then(|forwarded| forwarded.auth) {
        headers.insert(PROXY_AUTHORIZATION, auth);
    }
    let answered = async {
        let shaken = hyper::client::conn::http1::Builder::new().handshake(TokioIo::new(line.stream)).await;
        let (mut sender, connection) = shaken?;
        let mut driving = JoinSet::new();
        driving.spawn(async move {
            // What goes wrong is seen by whoever reads the answer.
            let _ = connection.await;
        });
        Ok::<_, hyper::Error>((sender.send_request(request).await?, driving))
    };
    let answered = deadline.wait(place, "no answer began", limits.header, answered).await?;
    let (response, driving) = answered.map_err(|error| WebFault::unreachable(place, said(&error)))?;
    let (head, body) = response.into_parts();
    Ok(Answer { status: head.status, headers: head.headers, body, _connection: driving })
}

impl Answer {
    /// A header's value, where it is text.
    pub(crate) fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Reads the body as far as the limit goes.
    pub(crate) async fn body(
        &mut self,
        place: &Place,
        limits: &Limits,
        deadline: &Deadline,
    ) -> Result<Body, WebFault> {
        let mut bytes = Vec::new();
        loop {
            let next = deadline.wait(place, "the page did not go on", limits.idle, self.body.frame()).await?;
            let Some(frame) = next else { return Ok(Body { bytes, extent: Extent::Whole }) };
            let frame = frame.map_err(|error| WebFault::unreachable(place, said(&error)))?;
            let Ok(data) = frame.into_data() else { continue };
            let room = limits.body_bytes.saturating_sub(bytes.len());
            bytes.extend(data.iter().take(room));
            if data.len() > room {
                return Ok(Body { bytes, extent: Extent::Cut });
            }
        }
    }
}

/// Takes the compression off.
pub(crate) fn unpacked(
    encoding: &str,
    body: Body,
    place: &Place,
    limits: &Limits,
) -> Result<Vec<u8>, WebFault> {
    let room = Room { bytes: limits.unpacked_bytes, ratio: limits.unpacked_ratio };
    unpack::unpack(encoding, body.bytes, body.extent, room)
        .map_err(|damage| WebFault::Damaged { url: place.as_str().to_owned(), damage })
}

/// The error with what caused it: alone it says little.
fn said(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
