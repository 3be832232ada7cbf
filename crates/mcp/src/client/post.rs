//! HTTP requests to a server, with the tokens that it wants.

use std::sync::Arc;

use bytes::Bytes;
use rail_model::ProtocolId;
use rail_route::Provider;
use rail_stdx::Secret;
use rail_upstream::{Body, Incoming, Outgoing, Transport, TransportErrorKind};

use super::desk::Fault;
use super::events::{Event, Events};
use super::link::{Closed, Inbox};
use super::names::cut;
use super::spec::{ServerSpec, Tokens};

/// Connections that were kept and turn out to be closed, before a request counts as failed.
const STALE: u32 = 2;
/// Bytes of an answer that is shown in an error.
const SHOWN: usize = 300;

/// One server over HTTP.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) url: String,
    http: Arc<dyn Transport>,
    provider: Arc<Provider>,
    headers: Vec<(String, Secret)>,
    tokens: Option<Arc<dyn Tokens>>,
}

/// A request.
pub(crate) struct Parcel<'a> {
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    pub(crate) headers: Vec<(&'a str, String)>,
    pub(crate) body: Bytes,
}

impl Post {
    pub(crate) fn new(
        spec: &ServerSpec,
        http: Arc<dyn Transport>,
        url: &str,
        headers: &[(String, Secret)],
    ) -> Self {
        let provider = Arc::new(Provider::new(&spec.name, ProtocolId::new("mcp"), url));
        let headers =
            headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
        Self { url: url.to_owned(), http, provider, headers, tokens: spec.tokens.clone() }
    }

    /// Sends a request. A token that is refused is asked for anew, once.
    pub(crate) async fn send(&self, parcel: &Parcel<'_>) -> Result<Incoming, Fault> {
        let token = self.token(None, "").await?;
        let answer = self.carry(parcel, token.as_ref()).await?;
        let Some(challenge) = refused(&answer) else { return Ok(answer) };
        let token = self.token(Some(&challenge), &challenge).await?;
        let wants = || Fault::Login {
            why: format!("the server wants a login (HTTP {})", answer.status),
            challenge: challenge.clone(),
        };
        let token = token.ok_or_else(wants)?;
        let answer = self.carry(parcel, Some(&token)).await?;
        match refused(&answer) {
            Some(challenge) => Err(Fault::Login {
                why: format!("the server refuses the login that there is (HTTP {})", answer.status),
                challenge,
            }),
            None => Ok(answer),
        }
    }

    async fn token(&self, refused: Option<&str>, challenge: &str) -> Result<Option<Secret>, Fault> {
        let Some(tokens) = &self.tokens else { return Ok(None) };
        let token = tokens.token(refused).await;
        token.map_err(|why| Fault::Login { why, challenge: challenge.to_owned() })
    }

    async fn carry(&self, parcel: &Parcel<'_>, token: Option<&Secret>) -> Result<Incoming, Fault> {
        let own = parcel.headers.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(value)));
        let mut headers: Vec<(String, Secret)> = own.collect();
        // A header that the user wrote stands before ours, and a token before a header.
        headers.retain(|(name, _)| !self.headers.iter().any(|(given, _)| given == name));
        let bearer = token
            .map(|token| ("authorization".to_owned(), Secret::new(format!("Bearer {}", token.reveal()))));
        let given = self.headers.iter().filter(|(name, _)| bearer.is_none() || name != "authorization");
        headers.extend(given.cloned());
        headers.extend(bearer);
        let mut stale = 0;
        loop {
            let call = Outgoing {
                provider: Arc::clone(&self.provider),
                method: parcel.method.to_owned(),
                url: parcel.url.to_owned(),
                headers: headers.clone(),
                body: parcel.body.clone(),
            };
            match self.http.send(call).await {
                Ok(answer) => return Ok(answer),
                Err(error) if error.kind == TransportErrorKind::Stale && stale < STALE => stale += 1,
                Err(error) => return Err(Fault::Gone(error.problem)),
            }
        }
    }
}

/// What a server says that wants a login, or more than the login that there is.
fn refused(answer: &Incoming) -> Option<String> {
    let challenge = header(answer, "www-authenticate");
    match (answer.status, challenge) {
        (401, challenge) => Some(challenge.unwrap_or_default().to_owned()),
        (403, Some(challenge)) => Some(challenge.to_owned()),
        _ => None,
    }
}

/// A header of an answer.
pub(crate) fn header<'a>(answer: &'a Incoming, name: &str) -> Option<&'a str> {
    answer.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Whether an answer is a stream of events.
pub(crate) fn is_stream(answer: &Incoming) -> bool {
    header(answer, "content-type")
        .is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"))
}

/// A whole body, or why there is none.
pub(crate) async fn whole(mut body: Body, limit: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    while let Some(piece) = body.next().await {
        bytes.extend_from_slice(&piece.map_err(|error| error.problem)?);
        if bytes.len() > limit {
            return Err(format!("the answer is longer than {limit} bytes and was not read"));
        }
    }
    Ok(bytes)
}

/// What an answer that is none says.
pub(crate) async fn complaint(answer: Incoming) -> String {
    let status = answer.status;
    let text = whole(answer.body, 64 << 10).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let text = cut(text.trim(), SHOWN);
    if text.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {text}") }
}

/// How a stream of events ended.
pub(crate) enum StreamEnd {
    /// The server ended it; the id of the last event that had one.
    Over(String),
    /// It broke, or an event was too long.
    Broken { last: String, why: String },
    /// Nobody takes messages any more.
    Closed,
}

/// Reads a stream of events. What is no message goes to `aside`.
pub(crate) async fn stream(mut body: Body, inbox: &Inbox, mut aside: impl FnMut(Event)) -> StreamEnd {
    let mut events = Events::new(inbox.desk.limits.message);
    let mut last = String::new();
    let mut found = Vec::new();
    while let Some(piece) = body.next().await {
        let bytes = match piece {
            Ok(bytes) => bytes,
            Err(error) => return StreamEnd::Broken { last, why: error.problem },
        };
        let pushed = events.push(&bytes, &mut found);
        for event in found.drain(..) {
            event.id.clone_into(&mut last);
            if event.name.is_empty() || event.name == "message" {
                if let Err(Closed) = inbox.put(&event.data).await {
                    return StreamEnd::Closed;
                }
            } else {
                aside(event);
            }
        }
        if pushed.is_err() {
            let why = format!("an event is longer than {} bytes", inbox.desk.limits.message);
            inbox.desk.note(format!("{why}; it was not read"));
            return StreamEnd::Broken { last, why };
        }
    }
    StreamEnd::Over(last)
}
