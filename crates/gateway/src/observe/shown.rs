//! Requests as they are shown to programs: in `/api/requests` and in events.

use rail_ledger::{Bodies, Entry, SentEntry, Tokens};
use rail_model::Json;
use rail_upstream::{Note, Outcome};
use serde::Serialize;
use serde_json::{Value, json};

use super::flight::{Flight, State};

/// A request that came to its end.
#[derive(Serialize)]
pub(crate) struct Ended<'a> {
    state: &'static str,
    id: &'a str,
    at: u64,
    protocol: &'a str,
    operation: &'a str,
    stream: bool,
    key: Option<&'a str>,
    client: &'a str,
    session: Option<&'a str>,
    asked: &'a str,
    virtual_model: Option<&'a str>,
    route: Option<&'a Json>,
    target: Option<&'a str>,
    sent: &'a [SentEntry],
    relayed: bool,
    repairs: &'a [Json],
    losses: &'a [String],
    tokens: Tokens,
    cost_usd: Option<f64>,
    first_ms: Option<u64>,
    total_ms: u64,
    ending: &'static str,
    status: u16,
    problem: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bodies: Option<&'a Bodies>,
}

/// Whether what was said is shown as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum With {
    /// It is, if it was kept.
    Bodies,
    /// It is not.
    Nothing,
}

impl<'a> Ended<'a> {
    /// What the record says.
    pub(crate) fn new(entry: &'a Entry, with: With) -> Self {
        Self {
            state: "ended",
            id: &entry.id,
            at: entry.at,
            protocol: &entry.protocol,
            operation: &entry.operation,
            stream: entry.stream,
            key: entry.key.as_ref().map(|key| key.0.as_str()),
            client: &entry.client,
            session: entry.session.as_deref(),
            asked: &entry.asked,
            virtual_model: entry.virtual_model.as_deref(),
            route: entry.route.as_ref(),
            target: entry.target.as_deref(),
            sent: &entry.sent,
            relayed: entry.relayed,
            repairs: &entry.repairs,
            losses: &entry.losses,
            tokens: entry.tokens,
            cost_usd: entry.cost.map(|cost| cost.dollars()),
            first_ms: entry.first_ms,
            total_ms: entry.total_ms,
            ending: entry.ending.word(),
            status: entry.status,
            problem: entry.problem.as_deref(),
            bodies: entry.bodies.as_ref().filter(|_| with == With::Bodies),
        }
    }
}

/// A request on its way.
#[derive(Serialize)]
pub(crate) struct OnItsWay<'a> {
    state: State,
    id: &'a str,
    at: u64,
    protocol: &'a str,
    operation: &'a str,
    route: Option<&'a Json>,
    target: Option<&'a str>,
    elapsed_ms: u64,
}

impl<'a> OnItsWay<'a> {
    /// How it stands at this moment.
    pub(crate) fn new(id: &'a str, flight: &'a Flight, now: u64) -> Self {
        Self {
            state: flight.state,
            id,
            at: flight.at,
            protocol: &flight.protocol,
            operation: &flight.operation,
            route: flight.route.as_ref(),
            target: flight.target.as_deref(),
            elapsed_ms: now.saturating_sub(flight.at),
        }
    }
}

/// What happened to a request, as the data of an event.
pub(crate) fn note(id: &str, at: u64, note: &Note) -> Value {
    let mut shown = match note {
        Note::Deferred { target } => json!({"kind": "deferred", "target": target.to_string()}),
        Note::Probing { target } => json!({"kind": "probing", "target": target.to_string()}),
        Note::Sending { target, key: _ } => json!({"kind": "sending", "target": target.to_string()}),
        Note::Sent(sent) => {
            let (outcome, problem) = match &sent.outcome {
                Outcome::Answered => ("answered", None),
                Outcome::Empty => ("empty", None),
                Outcome::Failed { problem, .. } => ("failed", Some(problem)),
                Outcome::Left => ("left", None),
            };
            json!({
                "kind": "sent",
                "target": sent.target.to_string(),
                "outcome": outcome,
                "status": sent.status,
                "took_ms": u64::try_from(sent.took.as_millis()).unwrap_or(u64::MAX),
                "problem": problem,
            })
        }
        Note::Retrying { target, wait } => {
            let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            json!({"kind": "retrying", "target": target.to_string(), "wait_ms": wait})
        }
        Note::Fixing { target, fix, because } => {
            json!({"kind": "fixing", "target": target.to_string(), "fix": fix, "because": because})
        }
        Note::Learned { target, fix, because } => {
            json!({"kind": "learned", "target": target.to_string(), "fix": fix, "because": because})
        }
        Note::Refused { target, kind: _, because } => {
            json!({"kind": "refused", "target": target.to_string(), "because": because})
        }
        Note::CircuitOpened { target, because } => {
            json!({"kind": "circuit-opened", "target": target.to_string(), "because": because})
        }
        Note::Lost { target, loss } => {
            json!({"kind": "lost", "target": target.to_string(), "path": loss.path, "because": loss.reason})
        }
        Note::NotKept { problem } => json!({"kind": "not-kept", "problem": problem}),
    };
    if let Some(map) = shown.as_object_mut() {
        map.insert("id".to_owned(), json!(id));
        map.insert("at".to_owned(), json!(at));
    }
    shown
}
