//! Streamable HTTP: every message is a request of its own, whose answer may be a stream; one more stream brings what nobody asked for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use rail_upstream::Incoming;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::desk::Fault;
use super::link::{Inbox, Letter};
use super::post::{Parcel, Post, StreamEnd, complaint, header, is_stream, lacks_scope, stream, whole};

/// How long a notification may take to be accepted, since what follows waits for it.
const ACCEPTED: Duration = Duration::from_secs(30);
/// How long a server has to hear that the session is over.
const GOODBYE: Duration = Duration::from_millis(800);
/// Requests that are open at once; more wait.
const OPEN: usize = 64;
/// How often a stream that ended before its answer is taken up again.
const RESUMED: usize = 5;
/// The pauses before the stream of what nobody asked for is opened again.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MOST: Duration = Duration::from_secs(60);

/// What a session at a server is known by.
#[derive(Clone, Default)]
struct Known(Arc<Mutex<Option<String>>>);

#[derive(Clone)]
struct Carrier {
    post: Post,
    inbox: Inbox,
    known: Known,
}

/// Carries messages until the session is over.
pub(crate) async fn carry(post: Post, mut letters: mpsc::Receiver<Letter>, inbox: Inbox) {
    let carrier = Carrier { post, inbox, known: Known::default() };
    let mut open = JoinSet::new();
    let fault = loop {
        tokio::select! {
            biased;
            Some(done) = open.join_next() => {
                if let Ok(Err(fault)) = done {
                    break Some(fault);
                }
            }
            letter = letters.recv(), if open.len() < OPEN => match letter {
                None => break None,
                Some(letter) => {
                    if let Err(fault) = carrier.take(letter, &mut open).await {
                        break Some(fault);
                    }
                }
            },
        }
    };
    match fault {
        Some(fault) => carrier.inbox.desk.over(fault),
        None => carrier.goodbye().await,
    }
}

impl Carrier {
    /// Takes a message. What is no request waits until it is accepted, so that messages keep their order; and so does the
    /// handshake.
    async fn take(&self, letter: Letter, open: &mut JoinSet<Result<(), Fault>>) -> Result<(), Fault> {
        let carrier = self.clone();
        let Letter { id, method, text } = letter;
        let body = Bytes::from(text);
        let Some(id) = id else {
            let sent = tokio::time::timeout(ACCEPTED, self.told(body)).await;
            sent.map_err(|_| Fault::Gone("it did not accept a message in time".to_owned()))??;
            if method.as_deref() == Some("notifications/initialized") {
                open.spawn(async move { carrier.listen().await });
            }
            return Ok(());
        };
        let is_call = matches!(method.as_deref(), Some("tools/call" | "prompts/get" | "resources/read"));
        open.spawn(async move {
            tokio::select! {
                done = carrier.ask(&id, body) => match done {
                    // One call wants more than the login grants: the others do not end with it.
                    Err(Fault::Login { why, challenge }) if is_call && lacks_scope(&challenge) => {
                        let _ = carrier.inbox.fail(&id, why).await;
                        Ok(())
                    }
                    done => done,
                },
                // Nobody reads the answer any more.
                () = carrier.inbox.desk.taken_back(&id) => Ok(()),
            }
        });
        Ok(())
    }

    fn headers(&self, accept: &'static str) -> Vec<(&'static str, String)> {
        let mut headers = vec![("accept", accept.to_owned())];
        headers.extend(self.known.session().map(|session| ("mcp-session-id", session)));
        // What the handshake agreed on is part of every request after it.
        let said = self.inbox.desk.hello();
        let version = said.get("protocolVersion").and_then(Value::as_str);
        headers.extend(version.map(|version| ("mcp-protocol-version", version.to_owned())));
        headers
    }

    async fn post(&self, body: Bytes) -> Result<Incoming, Fault> {
        let mut headers = self.headers("application/json, text/event-stream");
        headers.push(("content-type", "application/json".to_owned()));
        let answer = self.post.send(&Parcel { method: "POST", url: &self.post.url, headers, body }).await?;
        if answer.status == 404 && self.known.session().is_some() {
            return Err(Fault::Gone("its session is over".to_owned()));
        }
        Ok(answer)
    }

    /// Sends what has no answer.
    async fn told(&self, body: Bytes) -> Result<(), Fault> {
        let answer = self.post(body).await?;
        if (200..300).contains(&answer.status) {
            return Ok(());
        }
        Err(Fault::Gone(format!("it does not accept messages: {}", complaint(answer).await)))
    }

    /// Sends a request and brings its answer.
    async fn ask(&self, id: &Value, body: Bytes) -> Result<(), Fault> {
        let answer = self.post(body).await?;
        if !(200..300).contains(&answer.status) {
            // An answer in the protocol's own words says more than the status.
            let status = answer.status;
            let is_json = header(&answer, "content-type").is_some_and(|kind| kind.contains("json"));
            let bytes = whole(answer.body, 64 << 10).await.unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let error = serde_json::from_slice::<Value>(&bytes).ok().filter(|_| is_json);
            let said = error.as_ref().and_then(|error| error.pointer("/error/message")?.as_str());
            let text = super::names::cut(said.unwrap_or(text.trim()), 300);
            // Nobody who waits is no fault.
            let _ = self.inbox.fail(id, format!("HTTP {status}: {text}")).await;
            return Ok(());
        }
        if self.known.session().is_none() {
            self.known.is(header(&answer, "mcp-session-id"));
        }
        if is_stream(&answer) {
            return self.streamed(id, answer).await;
        }
        match whole(answer.body, self.inbox.desk.limits.message).await {
            Ok(bytes) if bytes.trim_ascii().is_empty() => {
                let _ = self.inbox.fail(id, "the server answered with nothing").await;
            }
            Ok(bytes) => {
                let _ = self.inbox.put(&bytes).await;
            }
            Err(why) => {
                let _ = self.inbox.fail(id, why).await;
            }
        }
        Ok(())
    }

    /// Reads the stream that an answer is in. A server may end it early and go on where it is asked to.
    async fn streamed(&self, id: &Value, answer: Incoming) -> Result<(), Fault> {
        let mut body = answer.body;
        for _ in 0..RESUMED {
            let (last, why) = match stream(body, &self.inbox, Some(id), |_| {}).await {
                StreamEnd::Closed => return Ok(()),
                StreamEnd::Over(last) => {
                    (last, "the stream of the answer ended before the answer".to_owned())
                }
                StreamEnd::Broken { last, why } => (last, why),
            };
            if last.is_empty() {
                // An answer that came is not hurt: its request is no longer open.
                let _ = self.inbox.fail(id, why).await;
                return Ok(());
            }
            if !self.inbox.desk.is_open(id) {
                return Ok(());
            }
            match self.open_stream(&last).await? {
                Ok(next) => body = next.body,
                Err(answer) => {
                    let _ = self.inbox.fail(id, format!("{why} ({})", complaint(answer).await)).await;
                    return Ok(());
                }
            }
        }
        let _ = self.inbox.fail(id, "the stream of the answer ended again and again").await;
        Ok(())
    }

    /// Opens the stream of what nobody asked for, or takes one up behind an event.
    async fn open_stream(&self, last: &str) -> Result<Result<Incoming, Incoming>, Fault> {
        let mut headers = self.headers("text/event-stream");
        if !last.is_empty() {
            headers.push(("last-event-id", last.to_owned()));
        }
        let parcel = Parcel { method: "GET", url: &self.post.url, headers, body: Bytes::new() };
        let answer = self.post.send(&parcel).await?;
        Ok(if answer.status == 200 && is_stream(&answer) { Ok(answer) } else { Err(answer) })
    }

    /// Reads what nobody asked for, as long as the server has such a stream.
    async fn listen(&self) -> Result<(), Fault> {
        let (mut last, mut pause) = (String::new(), PAUSE);
        loop {
            match self.open_stream(&last).await? {
                Ok(answer) => match stream(answer.body, &self.inbox, None, |_| {}).await {
                    StreamEnd::Closed => return Ok(()),
                    StreamEnd::Over(next) | StreamEnd::Broken { last: next, .. } => {
                        if !next.is_empty() {
                            (last, pause) = (next, PAUSE);
                        }
                    }
                },
                // The session is over, or there is no such stream: it need not be there.
                Err(answer) if answer.status == 404 && self.known.session().is_some() => {
                    return Err(Fault::Gone("its session is over".to_owned()));
                }
                Err(answer) if (400..500).contains(&answer.status) => return Ok(()),
                Err(_) => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MOST);
        }
    }

    async fn goodbye(&self) {
        if self.known.session().is_none() {
            return;
        }
        let headers = self.headers("application/json");
        let parcel = Parcel { method: "DELETE", url: &self.post.url, headers, body: Bytes::new() };
        // A server that does not hear it ends the session by itself.
        let _ = tokio::time::timeout(GOODBYE, self.post.send(&parcel)).await;
    }
}

impl Known {
    fn session(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is(&self, session: Option<&str>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = session.map(str::to_owned);
    }
}
