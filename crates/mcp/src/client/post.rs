//! HTTP requests to a server, with the tokens that it wants.

use std::sync::Arc;

use bytes::Bytes;
use rail_model::ProtocolId;
use rail_route::Provider;
use rail_stdx::Secret;
use rail_upstream::{Body, Incoming, Outgoing, Transport, TransportErrorKind};
use serde_json::Value;

use super::desk::Fault;
use super::events::{Event, Events};
use super::link::{Closed, Inbox};
use super::names::cut;
use super::spec::{ServerSpec, Tokens};
use crate::auth::challenge::bearer;
use crate::auth::{AuthError, Refusal};

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
        let token = self.token(None).await?;
        let answer = self.carry(parcel, token.as_ref()).await?;
        let Some(challenge) = refused(&answer) else { return Ok(answer) };
        let status = answer.status;
        let refusal = Refusal { status, www_authenticate: &challenge, token: token.as_ref() };
        let Some(token) = self.token(Some(refusal)).await? else {
            return Err(Fault::Login { why: self.unanswered(status), challenge });
        };
        let answer = self.carry(parcel, Some(&token)).await?;
        match refused(&answer) {
            Some(challenge) => Err(Fault::Login {
                why: format!(
                    "the server refuses the login that there is (HTTP {}); log in with `rail mcp login {}`",
                    answer.status,
                    self.name()
                ),
                challenge,
            }),
            None => Ok(answer),
        }
    }

    async fn token(&self, refused: Option<Refusal<'_>>) -> Result<Option<Secret>, Fault> {
        let Some(tokens) = &self.tokens else { return Ok(None) };
        let challenge = refused.map(|refusal| refusal.www_authenticate.to_owned()).unwrap_or_default();
        tokens.token(refused).await.map_err(|error| match error {
            AuthError::LoginNeeded { scope, .. } => {
                let scope = scope.map(|scope| format!(" for `{}`", cut(&scope, SHOWN))).unwrap_or_default();
                let why =
                    format!("the server wants a login{scope}; log in with `rail mcp login {}`", self.name());
                Fault::Login { why, challenge }
            }
            // Whoever gives tokens may be there later, and nobody can do anything about it.
            AuthError::Unreachable { .. }
            | AuthError::Status { status: 429 | 500.., .. }
            | AuthError::Ended => Fault::Gone(error.to_string()),
            error => Fault::Login { why: error.to_string(), challenge },
        })
    }

    fn name(&self) -> &str {
        self.provider.name.as_str()
    }

    /// A refusal, where nobody has tokens.
    fn unanswered(&self, status: u16) -> String {
        if self.headers.iter().any(|(name, _)| name == "authorization") {
            return format!(
                "the server refuses the header `Authorization` that is set for it (HTTP {status}); correct it, or take it out \
                 and log in with `rail mcp login {}`",
                self.name()
            );
        }
        format!("the server wants a login (HTTP {status}); log in with `rail mcp login {}`", self.name())
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
                Err(error) => return Err(Fault::Gone(in_our_words(&error.problem, self.name()))),
            }
        }
    }
}

/// What to do about a failure, by the settings that MCP servers have: whoever carries HTTP knows those of providers.
fn in_our_words(problem: &str, name: &str) -> String {
    let theirs = |setting: &str| format!("`providers.{name}.{setting}`");
    problem
        .replace(&theirs("base_url"), &format!("`mcp.servers.{name}.url`"))
        .replace(&format!(", or raise {}", theirs("timeouts.connect")), "")
        .replace(
            &format!("set {} to `direct` to go around it", theirs("proxy")),
            "name the host in `NO_PROXY`",
        )
        .replace(&format!("{} and the environment's `HTTPS_PROXY`", theirs("proxy")), "`HTTPS_PROXY`")
        .replace(&format!("in {} or the environment", theirs("proxy")), "in `HTTPS_PROXY`")
        .replace(&theirs("proxy"), "`HTTPS_PROXY`")
        .replace(
            &format!("set {} to its PEM file", theirs("ca")),
            "add it to the certificates of this system",
        )
}

/// What a server says that wants a login, or more than the login that there is.
fn refused(answer: &Incoming) -> Option<String> {
    let said = answer.headers.iter().filter(|(name, _)| name == "www-authenticate");
    let challenge = said.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ");
    match answer.status {
        401 => Some(challenge),
        // What is forbidden to everybody is no matter of logins.
        403 if lacks_scope(&challenge) => Some(challenge),
        _ => None,
    }
}

/// Whether a server says that the login is good, and grants too little.
pub(crate) fn lacks_scope(challenge: &str) -> bool {
    bearer(challenge).error.as_deref() == Some("insufficient_scope")
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
    /// Nobody takes messages any more, or all that was wanted is here.
    Closed,
}

/// Reads a stream of events, until it has the answer to a request where it is one's. What is no message goes to `aside`.
pub(crate) async fn stream(
    mut body: Body,
    inbox: &Inbox,
    answers: Option<&Value>,
    mut aside: impl FnMut(Event),
) -> StreamEnd {
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
        // Not every server ends a stream with its answer.
        if answers.is_some_and(|id| !inbox.desk.is_open(id)) {
            return StreamEnd::Closed;
        }
        if pushed.is_err() {
            let why = format!("an event is longer than {} bytes", inbox.desk.limits.message);
            inbox.desk.note(format!("{why}; it was not read"));
            return StreamEnd::Broken { last, why };
        }
    }
    StreamEnd::Over(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_names_settings_of_mcp_servers() {
        for (said, expected) in [
            (
                "h refuses connections; is the server running, and is `providers.x.base_url` right?",
                "h refuses connections; is the server running, and is `mcp.servers.x.url` right?",
            ),
            (
                "no connection to h within 10s; check the network, or raise `providers.x.timeouts.connect`",
                "no connection to h within 10s; check the network",
            ),
            ("check the network, or set `providers.x.proxy`", "check the network, or set `HTTPS_PROXY`"),
            (
                "ask whoever runs it, or set `providers.x.proxy` to `direct` to go around it",
                "ask whoever runs it, or name the host in `NO_PROXY`",
            ),
            ("check `providers.x.proxy` and the environment's `HTTPS_PROXY`", "check `HTTPS_PROXY`"),
            ("set `providers.x.ca` to its PEM file", "add it to the certificates of this system"),
        ] {
            assert_eq!(in_our_words(said, "x"), expected);
        }
    }
}
