//! Questions to servers: bounded in time and size, and followed nowhere else.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rail_model::ProtocolId;
use rail_route::Provider;
use rail_stdx::{Mask, Secret};
use rail_upstream::{Incoming, Outgoing, Transport, TransportErrorKind};
use serde::de::DeserializeOwned;

use super::AuthError;
use super::address::Address;

/// The time for one answer.
const LIMIT: Duration = Duration::from_secs(30);
/// The most that is read of one answer. Metadata are a few kilobytes.
const MOST: usize = 256 * 1024;
/// How often an answer is followed, within the same server.
const HOPS: usize = 3;
/// Connections that were kept and turned out to be closed.
const MOST_STALE: usize = 2;
/// The most of a server's own words that is shown.
const SHOWN: usize = 200;

/// Asks servers.
#[derive(Clone)]
pub(super) struct Asker {
    transport: Arc<dyn Transport>,
    provider: Arc<Provider>,
}

/// A question.
#[derive(Clone)]
pub(super) struct Question<'a> {
    /// What is wanted, for messages.
    pub(super) what: &'static str,
    pub(super) address: &'a Address,
    pub(super) headers: Vec<(&'static str, Secret)>,
    /// What is sent; None only asks.
    pub(super) body: Option<Bytes>,
    /// Secrets in it. A server may quote them in its answer, and they are not shown all the same.
    pub(super) secrets: Vec<&'a str>,
}

/// An answer.
pub(super) struct Answer {
    what: &'static str,
    host: String,
    pub(super) status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    mask: Mask,
}

impl Asker {
    pub(super) fn new(
        transport: Arc<dyn Transport>,
        proxy: Option<String>,
        authorities: Option<PathBuf>,
    ) -> Self {
        let mut provider = Provider::new("mcp", ProtocolId::new("mcp"), "");
        (provider.proxy, provider.ca) = (proxy, authorities);
        Self { transport, provider: Arc::new(provider) }
    }

    /// Fetches a document. An answer that leads on is followed within the same server.
    pub(super) async fn get(&self, what: &'static str, address: &Address) -> Result<Answer, AuthError> {
        let mut address = address.clone();
        for _ in 0..HOPS {
            let headers = vec![("accept", Secret::new("application/json"))];
            let question = Question { what, address: &address, headers, body: None, secrets: Vec::new() };
            let answer = self.once(&question).await?;
            let Some(to) = answer.leads_to() else { return Ok(answer) };
            let next = address.follow(to).ok_or_else(|| answer.redirected(to))?;
            address = next;
        }
        Err(AuthError::Unreadable { what, host: address.host(), why: "it leads on again and again".into() })
    }

    /// Sends something. An answer that leads on is not followed: what was sent is for this server.
    pub(super) async fn send(&self, question: &Question<'_>) -> Result<Answer, AuthError> {
        let answer = self.once(question).await?;
        match answer.leads_to() {
            Some(to) => Err(answer.redirected(to)),
            None => Ok(answer),
        }
    }

    /// Sends something of whose answer only the head counts: its body may never end.
    pub(super) async fn head(&self, question: &Question<'_>) -> Result<Answer, AuthError> {
        let Incoming { status, headers, .. } = within(question, self.sent(question)).await?;
        Ok(Answer::of(question, status, headers, Vec::new()))
    }

    async fn once(&self, question: &Question<'_>) -> Result<Answer, AuthError> {
        within(question, self.exchange(question)).await
    }

    async fn sent(&self, question: &Question<'_>) -> Result<Incoming, AuthError> {
        let mut again = 0;
        loop {
            match self.transport.send(self.outgoing(question)).await {
                Ok(answer) => return Ok(answer),
                // The server closed a kept connection as the question was on its way; it hardly read it, and whoever asks
                // later would say the same.
                Err(error) if error.kind == TransportErrorKind::Stale && again < MOST_STALE => again += 1,
                Err(error) => return Err(failed(question, error.kind)),
            }
        }
    }

    async fn exchange(&self, question: &Question<'_>) -> Result<Answer, AuthError> {
        let (what, host) = (question.what, question.address.host());
        let Incoming { status, headers, body: mut pieces } = self.sent(question).await?;
        let mut body = Vec::new();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| failed(question, error.kind))?;
            if body.len() + piece.len() > MOST {
                return Err(AuthError::TooLarge { what, host, limit: MOST });
            }
            body.extend_from_slice(&piece);
        }
        Ok(Answer::of(question, status, headers, body))
    }

    fn outgoing(&self, question: &Question<'_>) -> Outgoing {
        let method = if question.body.is_some() { "POST" } else { "GET" };
        let headers = question.headers.iter();
        Outgoing {
            provider: Arc::clone(&self.provider),
            method: method.to_owned(),
            url: question.address.as_str().to_owned(),
            headers: headers.map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            body: question.body.clone().unwrap_or_default(),
        }
    }
}

async fn within<T>(
    question: &Question<'_>,
    asked: impl Future<Output = Result<T, AuthError>>,
) -> Result<T, AuthError> {
    let asked = tokio::time::timeout(LIMIT, asked).await;
    asked.unwrap_or_else(|_| {
        let why = format!("no answer within {} seconds; try again later", LIMIT.as_secs());
        Err(AuthError::Unreachable { what: question.what, host: question.address.host(), why })
    })
}

fn failed(question: &Question<'_>, kind: TransportErrorKind) -> AuthError {
    let why = why(kind).to_owned();
    AuthError::Unreachable { what: question.what, host: question.address.host(), why }
}

impl Answer {
    fn of(question: &Question<'_>, status: u16, headers: Vec<(String, String)>, body: Vec<u8>) -> Self {
        let mask = Mask::of(question.secrets.iter().copied());
        Self { what: question.what, host: question.address.host(), status, headers, body, mask }
    }

    /// The values of a header, joined.
    pub(super) fn header(&self, wanted: &str) -> String {
        let values = self.headers.iter().filter(|(name, _)| name == wanted);
        values.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The document of a good answer.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, AuthError> {
        serde_json::from_slice(&self.body).map_err(|error| {
            // A message of the reader may quote a value, which may be a token: its place says enough.
            let why =
                format!("{:?} error at line {}, column {}", error.classify(), error.line(), error.column());
            AuthError::Unreadable { what: self.what, host: self.host.clone(), why }
        })
    }

    /// The answer as an error, with what was said in the form of OAuth. Nothing else of the body is shown.
    pub(super) fn refusal(&self) -> AuthError {
        let said: Refusal = serde_json::from_slice(&self.body).unwrap_or_default();
        let shown = |text: &str| plain(&self.mask.cover(text));
        let mut parts = [said.error, said.error_description].into_iter().flatten().map(|text| shown(&text));
        let said: String =
            parts.by_ref().filter(|text| !text.is_empty()).map(|text| format!(": {text}")).collect();
        AuthError::Status { what: self.what, host: self.host.clone(), status: self.status, said }
    }

    /// The reason of a refusal as one word; some servers give it with status 200.
    pub(super) fn reason(&self) -> Option<String> {
        serde_json::from_slice::<Refusal>(&self.body).ok()?.error
    }

    fn leads_to(&self) -> Option<&str> {
        let location = self.headers.iter().find(|(name, _)| name == "location");
        location.filter(|_| (300..400).contains(&self.status)).map(|(_, to)| to.as_str())
    }

    fn redirected(&self, to: &str) -> AuthError {
        let to = plain(to.split(['?', '#']).next().unwrap_or_default());
        AuthError::Redirected { what: self.what, host: self.host.clone(), to }
    }
}

#[derive(Default, serde::Deserialize)]
struct Refusal {
    error: Option<String>,
    error_description: Option<String>,
}

/// What a server said of its reason, with a colon before it.
pub(super) fn described(text: Option<&str>) -> String {
    text.map(plain).filter(|text| !text.is_empty()).map(|text| format!(": {text}")).unwrap_or_default()
}

/// A server's own words, as they can be shown: one short line, without what looks like a secret.
pub(super) fn plain(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN).collect();
    Mask::default().cover(line.trim()).into_owned()
}

fn why(kind: TransportErrorKind) -> &'static str {
    match kind {
        TransportErrorKind::Dns => "the name is not known; check the address and the network",
        TransportErrorKind::Connect => "no connection; is the server running, and is the address right?",
        TransportErrorKind::Tls => {
            "its certificate is not trusted, or it speaks no TLS; check the address and this machine's authorities"
        }
        TransportErrorKind::Proxy => "the proxy does not let us through; check it",
        TransportErrorKind::Broken | TransportErrorKind::Stale => "the connection broke; try again",
        TransportErrorKind::Encoding => "the answer is damaged; try again",
        TransportErrorKind::Unsendable => "the address can't be used; check it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_server_are_one_short_line_without_secrets() {
        assert_eq!(plain("a\nb\u{1b}[31m eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x1"), "a b [31m ***");
        assert_eq!(plain(&"é".repeat(1000)).chars().count(), SHOWN);
        assert_eq!(
            (described(None), described(Some(" ")), described(Some("x"))),
            (String::new(), String::new(), ": x".into())
        );
    }
}
