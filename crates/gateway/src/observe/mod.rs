//! What is told of requests: metrics, traces, the log, and the live stream of events.

pub(crate) mod events;
pub(crate) mod flight;
#[cfg(test)]
pub(crate) mod judge;
pub(crate) mod known;
mod log;
pub(crate) mod metrics;
pub(crate) mod shown;
mod trace;
#[cfg(test)]
pub(crate) mod world;

use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use rail_config::settings::GatewayLog;
use rail_config::{Change, Loaded};
use rail_ledger::Entry;
use rail_model::Json;
use rail_route::TargetHealth;
use rail_upstream::{Note, Transport};
use serde::Serialize;
use serde_json::json;
use tokio::time::timeout;

use events::Events;
use flight::{Flights, Turn};
use known::Known;
use log::{Level, Log, Remark};
use metrics::{Gauges, Metrics};
pub(crate) use rail_stdx::Mask;
use trace::{Context, Traces};

use crate::clock::unix_ms;

pub use trace::Otlp;

/// How long the last spans and lines may take at the end.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// Nobody tells of connections.
const UNTOLD: u64 = u64::MAX;

/// Told of everything that happens to requests. Cheap to clone: all clones tell the same listeners.
///
/// It must not take long: requests wait for it. The default one keeps what pages show, and neither logs nor traces.
#[derive(Clone, Default)]
pub struct Observe(Arc<Inner>);

/// What an [`Observe`] must be told.
pub struct ObserveSettings<'a> {
    /// The configuration: how it logs, what is secret, which targets there are.
    pub loaded: &'a Loaded,
    /// Where the log is written.
    pub log_to: Box<dyn Write + Send>,
    /// Where traces are sent, see [`Otlp::find`].
    pub otlp: Option<Otlp>,
    /// The way to that place. It should record nothing: spans are not what a recording is for.
    pub transport: Arc<dyn Transport>,
}

struct Inner {
    /// When the gateway started, in Unix milliseconds.
    started: u64,
    current: Arc<ArcSwap<Current>>,
    flights: Flights,
    metrics: Metrics,
    events: Events,
    log: Option<Arc<Log>>,
    traces: Option<Traces>,
    /// Refusals that were not written to the ledger.
    unwritten: AtomicU64,
    connections: AtomicU64,
    listening: OnceLock<SocketAddr>,
    /// Secrets that are in no configuration.
    secrets: Vec<String>,
}

/// What follows the configuration.
#[derive(Default)]
struct Current {
    log: GatewayLog,
    mask: Mask,
    known: Known,
}

/// A request that has just come.
pub(crate) struct Came<'a> {
    /// Its id.
    pub(crate) id: &'a str,
    /// When it came, in Unix milliseconds.
    pub(crate) at: u64,
    /// The protocol that the client speaks.
    pub(crate) protocol: &'a str,
    /// What is asked: `generate`, `count`, `embed`.
    pub(crate) operation: &'a str,
    /// The client's `traceparent`, to whose trace the request belongs.
    pub(crate) traceparent: Option<&'a str>,
}

impl Observe {
    /// Tells as the configuration says. Within a runtime, if traces are sent.
    pub fn new(settings: ObserveSettings<'_>) -> Self {
        let ObserveSettings { loaded, log_to, otlp, transport } = settings;
        let headers = otlp.iter().flat_map(|otlp| &otlp.headers);
        let secrets: Vec<String> = headers.map(|(_, value)| value.reveal().to_owned()).collect();
        let current = Arc::new(ArcSwap::from_pointee(Current::new(loaded, &secrets)));
        let log = Log::start(log_to).map(Arc::new);
        let traces = otlp.map(|otlp| {
            let (log, current) = (log.clone(), Arc::clone(&current));
            Traces::start(otlp, transport, move |problem| {
                let remark = Remark {
                    level: Level::Warn,
                    event: "traces",
                    request: None,
                    target: None,
                    said: problem,
                };
                tell_log(log.as_deref(), &current.load(), &remark);
            })
        });
        Self(Arc::new(Inner { current, log, traces, secrets, ..Inner::default() }))
    }

    /// A request has come.
    pub(crate) fn came(&self, came: &Came<'_>) {
        let inner = &*self.0;
        let trace = inner.traces.as_ref().map(|_| Context::new(came.traceparent));
        inner.flights.came(came, trace);
        let Came { id, at, protocol, operation, traceparent: _ } = came;
        inner.tell("came", || json!({"id": id, "at": at, "protocol": protocol, "operation": operation}));
    }

    /// Its route was decided.
    pub(crate) fn routed(&self, id: &str, route: &Json) {
        let inner = &*self.0;
        inner.tell("routed", || Routed { id, at: unix_ms(), route });
        inner.flights.routed(id, route.clone());
    }

    /// Something happened on its way.
    pub(crate) fn noted(&self, id: &str, note: &Note) {
        let inner = &*self.0;
        let turn = inner.flights.noted(id, note);
        inner.tell("note", || shown::note(id, unix_ms(), note));
        inner.remark_on(id, note, turn);
    }

    /// It came to its end. Every request that came ends once.
    pub(crate) fn ended(&self, entry: &Entry) {
        let inner = &*self.0;
        let flight = inner.flights.ended(&entry.id);
        let current = inner.current.load();
        inner.metrics.ended(entry, &current.known);
        inner.tell("ended", || shown::Ended::new(entry, shown::With::Nothing));
        if let Some(log) = &inner.log {
            log.ended(entry, current.log, &current.mask);
        }
        if let Some(traces) = &inner.traces {
            let context = flight.and_then(|flight| flight.trace);
            traces.ended(entry, context, &current.known, &current.mask);
        }
    }

    /// So many connections are open now.
    pub(crate) fn connections(&self, open: u64) {
        self.0.connections.store(open, Ordering::Relaxed);
    }

    /// The gateway listens at this address.
    pub(crate) fn listening(&self, address: SocketAddr) {
        // The first one stays: a gateway listens once.
        let _ = self.0.listening.set(address);
    }

    /// The ledger can't write records for this reason, or can again.
    pub(crate) fn ledger(&self, trouble: Option<&str>) {
        let (level, said) = match trouble {
            Some(problem) => (
                Level::Warn,
                format!(
                    "records can't be written and wait in memory, where there is room for some: {problem}"
                ),
            ),
            None => (Level::Info, "records are written again".to_owned()),
        };
        self.0.remark(&Remark { level, event: "ledger", request: None, target: None, said: &said });
    }

    /// A refusal was not written to the ledger.
    pub(crate) fn unwritten(&self) {
        self.0.unwritten.fetch_add(1, Ordering::Relaxed);
    }

    /// The configuration has changed, or could not.
    pub fn changed(&self, change: &Change) {
        let inner = &*self.0;
        let (level, said) = match change {
            Change::Loaded(loaded) => {
                inner.current.store(Arc::new(Current::new(loaded, &inner.secrets)));
                (Level::Info, "the configuration was loaded again".to_owned())
            }
            Change::Kept(problems) => (
                Level::Warn,
                format!("the configuration is broken, and the one before stays in force: {problems}"),
            ),
            Change::Blind(why) => {
                (Level::Warn, format!("changes of the configuration may not be seen: {why}"))
            }
        };
        inner.tell(
            "config-changed",
            || json!({"at": unix_ms(), "loaded": matches!(change, Change::Loaded(_)), "message": said}),
        );
        inner.remark(&Remark { level, event: "config", request: None, target: None, said: &said });
    }

    /// Ends the live streams of events, so that a gateway that stops need not wait for them.
    pub(crate) fn close_events(&self) {
        self.0.events.close();
    }

    /// Sends the last spans and writes the last lines, or gives them up after a few seconds.
    pub async fn flush(&self) {
        // A collector that does not answer must not keep lines back, and what goes wrong with it is a line of its own.
        self.flush_log().await;
        if let Some(traces) = &self.0.traces {
            let _ = timeout(LAST_WORDS, traces.flush()).await;
            self.flush_log().await;
        }
    }

    async fn flush_log(&self) {
        if let Some(log) = &self.0.log {
            let _ = timeout(LAST_WORDS, log.flush()).await;
        }
    }

    /// When the gateway started, in Unix milliseconds.
    pub(crate) fn started(&self) -> u64 {
        self.0.started
    }

    /// Where the gateway listens, if it was told.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.0.listening.get().copied()
    }

    /// The requests on their way.
    pub(crate) fn flights(&self) -> &Flights {
        &self.0.flights
    }

    /// The live events.
    pub(crate) fn events(&self) -> &Events {
        &self.0.events
    }

    /// The text with each secret covered.
    pub(crate) fn cover(&self, text: &str) -> String {
        self.0.current.load().mask.cover(text).into_owned()
    }

    /// All metrics as text.
    pub(crate) fn metrics(&self, health: &[TargetHealth], dropped_entries: u64) -> String {
        let inner = &*self.0;
        let mut dropped = vec![("event-readers", inner.events.left()), ("ledger-entries", dropped_entries)];
        dropped.push(("refusals", inner.unwritten.load(Ordering::Relaxed)));
        dropped.extend(inner.log.as_ref().map(|log| ("log-lines", log.lost())));
        dropped.extend(inner.traces.as_ref().map(|traces| ("spans", traces.lost())));
        let connections = Some(inner.connections.load(Ordering::Relaxed)).filter(|open| *open != UNTOLD);
        let gauges = Gauges {
            in_flight: inner.flights.count(),
            connections,
            health,
            started: inner.started,
            dropped: &dropped,
        };
        inner.metrics.text(&gauges, &inner.current.load().known)
    }
}

/// The data of an event `routed`.
#[derive(Serialize)]
struct Routed<'a> {
    id: &'a str,
    at: u64,
    route: &'a Json,
}

impl Default for Inner {
    fn default() -> Self {
        let started = unix_ms();
        Self {
            started,
            current: Arc::default(),
            flights: Flights::default(),
            metrics: Metrics::default(),
            events: Events::new(started),
            log: None,
            traces: None,
            connections: AtomicU64::new(UNTOLD),
            unwritten: AtomicU64::new(0),
            listening: OnceLock::new(),
            secrets: Vec::new(),
        }
    }
}

impl Inner {
    /// Tells an event, which is made only if somebody may hear it.
    fn tell<T: Serialize>(&self, event: &str, data: impl FnOnce() -> T) {
        if self.events.are_wanted() {
            // A struct of plain values can always be written.
            let data = serde_json::to_string(&data()).unwrap_or_default();
            self.events.tell(event, &self.current.load().mask.cover(&data));
        }
    }

    fn remark(&self, remark: &Remark<'_>) {
        tell_log(self.log.as_deref(), &self.current.load(), remark);
    }

    /// Tells what of a note is worth a line, and what it means for a target's health.
    fn remark_on(&self, id: &str, note: &Note, turn: Turn) {
        let line = |level, event, target: &rail_route::Target, said: &str| {
            let target = target.to_string();
            self.remark(&Remark { level, event, request: Some(id), target: Some(&target), said });
        };
        let health = |target: &rail_route::Target, circuit: &str, because: Option<&str>| {
            let target = target.to_string();
            self.tell(
                "health",
                || json!({"at": unix_ms(), "target": target, "circuit": circuit, "because": because}),
            );
        };
        match note {
            Note::Sending { target, .. } => {
                if let Turn::Failover { from, because } = &turn {
                    line(Level::Warn, "failover", target, &format!("asked after {from}: {because}"));
                }
            }
            Note::Sent(sent) => {
                if turn == Turn::Recovered {
                    health(&sent.target, "closed", None);
                    line(Level::Info, "circuit-closed", &sent.target, "it answers again");
                }
            }
            Note::Learned { target, fix, because } => {
                line(Level::Info, "learned", target, &format!("from now on it {fix}: {because}"));
            }
            Note::Refused { target, because, .. } => line(Level::Warn, "target-refused", target, because),
            Note::CircuitOpened { target, because } => {
                health(target, "open", Some(because));
                line(Level::Warn, "circuit-opened", target, because);
            }
            Note::NotKept { problem } => {
                self.remark(&Remark {
                    level: Level::Warn,
                    event: "not-kept",
                    request: Some(id),
                    target: None,
                    said: problem,
                });
            }
            // What was lost stands in the request's record, with what the answer lost.
            Note::Deferred { .. }
            | Note::Probing { .. }
            | Note::Retrying { .. }
            | Note::Fixing { .. }
            | Note::Lost { .. } => {}
        }
    }
}

impl Current {
    fn new(loaded: &Loaded, secrets: &[String]) -> Self {
        Self {
            log: loaded.settings.gateway.log,
            mask: loaded.mask(secrets.iter().map(String::as_str)),
            known: Known::new(&loaded.routing),
        }
    }
}

fn tell_log(log: Option<&Log>, current: &Current, remark: &Remark<'_>) {
    if let Some(log) = log {
        log.remark(remark, unix_ms(), current.log, &current.mask);
    }
}

#[cfg(test)]
mod tests;
