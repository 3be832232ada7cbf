//! What is told of requests: metrics, traces, the log, and the live stream of events.

use rail_ledger::Entry;
use rail_route::Explanation;
use rail_upstream::Note;

/// Told of everything that happens to requests. Cheap to clone: all clones tell the same listeners.
///
/// It must not take long: requests wait for it.
#[derive(Clone, Default)]
pub struct Observe {}

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
    /// A request has come.
    pub(crate) fn came(&self, came: &Came<'_>) {
        let _ = (came.id, came.at, came.protocol, came.operation, came.traceparent);
    }

    /// Its route was decided.
    pub(crate) fn routed(&self, id: &str, route: &Explanation) {
        let _ = (id, route);
    }

    /// Something happened on its way.
    pub(crate) fn noted(&self, id: &str, note: &Note) {
        let _ = (id, note);
    }

    /// It came to its end. Every request that came ends once.
    pub(crate) fn ended(&self, entry: &Entry) {
        let _ = entry;
    }
}
