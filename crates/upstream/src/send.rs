//! One send of a letter, up to the first content, and its record.

use std::time::Duration;

use rail_model::{ApiError, ErrorKind, Usage};
use rail_route::Target;
use rail_stdx::Secret;
use rail_wire::HttpReply;
use tokio::time::{Instant, timeout_at};

use crate::errand::{Errand, Received};
use crate::failure::{Class, Failure};
use crate::letter::Letter;
use crate::limits::Limits;
use crate::visit::unix_now;
use crate::{Fix, Incoming, Note, Notes, Outcome, Sent, Transport, said};

/// So much of an error's body is read.
const MOST_OF_ERROR: usize = 1 << 20;
/// How long an error's body is awaited once its status is known.
const ERROR_WAIT: Duration = Duration::from_secs(10);

/// The sends of one request, and who hears of them.
pub(crate) struct Log<'a> {
    notes: &'a dyn Notes,
    began: Instant,
    sent: Vec<Sent>,
}

impl<'a> Log<'a> {
    pub(crate) fn new(notes: &'a dyn Notes) -> Self {
        Self { notes, began: Instant::now(), sent: Vec::new() }
    }

    pub(crate) fn note(&self, note: Note) {
        self.notes.note(note);
    }

    /// The record of all sends.
    pub(crate) fn into_sent(self) -> Vec<Sent> {
        self.sent
    }
}

/// What came of a send, and how long its first content took.
pub(crate) enum Arrived<T> {
    /// Content.
    Content(T, Duration),
    /// A complete answer with nothing in it.
    Empty(T),
}

/// Whom a letter goes to.
pub(crate) struct Envelope<'a> {
    pub(crate) target: &'a Target,
    pub(crate) letter: &'a Letter,
    pub(crate) key: Option<&'a Secret>,
    /// A change that is tried for the first time.
    pub(crate) fix: Option<&'a Fix>,
}

/// Sends a letter and waits for its first content. Every send is recorded, also one that nobody waits for any more.
pub(crate) async fn send<E: Errand>(
    transport: &dyn Transport,
    log: &mut Log<'_>,
    errand: &E,
    envelope: &Envelope<'_>,
) -> Result<Arrived<E::Got>, (Class, ApiError)> {
    let Envelope { target, letter, key, fix } = envelope;
    let hint = key.map(Secret::hint);
    log.note(Note::Sending { target: (*target).clone(), key: hint.clone() });
    let (sent, seen) = (Instant::now(), Seen::default());
    let mut open = Open { log, target, key: hint, fix: *fix, sent, seen, closed: false };
    let arrived = deliver(transport, errand, letter, *key, &mut open.seen).await;
    let protocol = letter.protocol();
    match arrived {
        Ok(Received::Content(answer)) => {
            open.seen.reported = Usage::default();
            let took = open.close(Outcome::Answered, false);
            Ok(Arrived::Content(answer, took))
        }
        Ok(Received::Empty(answer)) => {
            open.close(Outcome::Empty, true);
            Ok(Arrived::Empty(answer))
        }
        Err(failure) => {
            let class = failure.class(protocol, letter.body());
            let charge = failure.may_be_charged(open.seen.status);
            open.close(Outcome::Failed { class: class.clone(), problem: failure.to_string() }, charge);
            Err((class, failure.error()))
        }
    }
}

/// What was seen of an answer, whatever became of it.
#[derive(Default)]
struct Seen {
    status: Option<u16>,
    reported: Usage,
}

/// The answer as far as its errand wants it.
async fn deliver<E: Errand>(
    transport: &dyn Transport,
    errand: &E,
    letter: &Letter,
    key: Option<&Secret>,
    seen: &mut Seen,
) -> Result<Received<E::Got>, Failure> {
    let outgoing = letter.outgoing(key);
    let limits = Limits::from_now(outgoing.provider.timeouts, letter.kind());
    let incoming = limits.wait(transport.send(outgoing)).await?.map_err(Failure::Transport)?;
    seen.status = Some(incoming.status);
    if !(200..300).contains(&incoming.status) {
        let mut error = refusal(letter, incoming, &limits).await;
        said::settle(letter.provider(), &mut error);
        return Err(Failure::Said(error));
    }
    errand.receive(letter, incoming, limits, &mut seen.reported).await
}

/// Reads an error answer, as far as it comes.
async fn refusal(letter: &Letter, incoming: Incoming, limits: &Limits) -> ApiError {
    let Incoming { status, headers, body: mut source } = incoming;
    if (300..400).contains(&status) {
        let to = headers.iter().find(|(name, _)| name == "location").map_or("elsewhere", |(_, to)| to);
        let problem =
            format!("HTTP {status}: the provider points to {to}; write that address as its `base_url`");
        return ApiError::new(ErrorKind::NotFound, problem);
    }
    let mut body = Vec::new();
    let until = limits.for_content().min(Instant::now() + ERROR_WAIT);
    // An error that comes only in part is still an error with this status.
    while let Ok(Some(Ok(piece))) = timeout_at(until, source.next()).await {
        body.extend_from_slice(&piece);
        if body.len() > MOST_OF_ERROR {
            break;
        }
    }
    let waits = said::wait(&headers, unix_now());
    let error = letter.outbound().read_error(&HttpReply { status, headers, body });
    ApiError { retry_after: error.retry_after.or(waits), ..error }
}

/// A send that has no end yet. Dropped without one, it was left.
struct Open<'a, 'n> {
    log: &'a mut Log<'n>,
    target: &'a Target,
    key: Option<String>,
    fix: Option<&'a Fix>,
    sent: Instant,
    seen: Seen,
    closed: bool,
}

impl Open<'_, '_> {
    fn close(&mut self, outcome: Outcome, possible_charge: bool) -> Duration {
        self.closed = true;
        let took = self.sent.elapsed();
        let sent = Sent {
            target: self.target.clone(),
            key: self.key.take(),
            began: self.sent.duration_since(self.log.began),
            took,
            status: self.seen.status,
            fix: self.fix.cloned(),
            outcome,
            possible_charge,
            reported: Some(std::mem::take(&mut self.seen.reported))
                .filter(|reported| reported.total() > 0)
                .map(Box::new),
        };
        self.log.note(Note::Sent(sent.clone()));
        self.log.sent.push(sent);
        took
    }
}

impl Drop for Open<'_, '_> {
    fn drop(&mut self) {
        if !self.closed {
            self.close(Outcome::Left, true);
        }
    }
}
