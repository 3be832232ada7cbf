//! Requests that were turned away, told to whoever listens.

use std::sync::Mutex;

use http::{HeaderMap, header};
use rail_ledger::{Ending, Entry, KeyId};
use rail_wire::{Operation, Protocol};

use crate::Gateway;
use crate::clock::Moment;
use crate::observe::Came;

/// So many refusals of requests without a known key are written to the ledger in a minute: who has none must not be able to fill a
/// disk. All are observed, and those that are not written are counted.
const MOST_WRITTEN: u32 = 120;

/// A request that was turned away at an endpoint.
pub(super) struct Turned<'a> {
    pub(super) id: &'a str,
    pub(super) came: Moment,
    pub(super) headers: &'a HeaderMap,
    pub(super) key: Option<KeyId>,
    pub(super) protocol: &'static Protocol,
    pub(super) operation: Operation,
    pub(super) status: u16,
    pub(super) problem: &'a str,
    pub(super) ending: Ending,
}

/// How many refusals were written lately.
#[derive(Default)]
pub(super) struct Written(Mutex<(u64, u32)>);

impl Written {
    /// Whether one more may be written at this Unix millisecond.
    fn one_more(&self, unix_ms: u64) -> bool {
        let Ok(mut state) = self.0.lock() else { return false };
        let minute = unix_ms / 60_000;
        if state.0 != minute {
            *state = (minute, 0);
        }
        state.1 += 1;
        state.1 <= MOST_WRITTEN
    }
}

/// Tells of a request that was turned away.
pub(super) fn record(gateway: &Gateway, written: &Written, turned: &Turned<'_>) {
    let header = |name: &str| turned.headers.get(name).and_then(|value| value.to_str().ok());
    let operation = crate::arrival::word(turned.operation);
    gateway.observe().came(&Came {
        id: turned.id,
        at: turned.came.unix_ms,
        protocol: turned.protocol.id.name(),
        operation,
        traceparent: header("traceparent"),
    });
    let agent = header(header::USER_AGENT.as_str()).unwrap_or_default();
    let now = Moment::now();
    let entry = Entry {
        key: turned.key.clone(),
        client: agent.split([' ', '/']).next().unwrap_or_default().chars().take(40).collect(),
        protocol: turned.protocol.id.name().to_owned(),
        operation: operation.to_owned(),
        stream: turned.operation == Operation::GenerateStream,
        total_ms: now.millis_since(turned.came),
        ending: turned.ending,
        status: turned.status,
        problem: Some(turned.problem.to_owned()),
        ..Entry::begun(turned.id.to_owned(), turned.came.unix_ms)
    };
    gateway.observe().ended(&entry);
    if entry.key.is_some() || written.one_more(now.unix_ms) {
        gateway.ledger().record(entry, None);
    } else {
        gateway.observe().unwritten();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_holds_so_many_and_no_more() {
        let written = Written::default();
        let at = |minute: u64| minute * 60_000;
        let count = |minute| (0..MOST_WRITTEN + 10).filter(|_| written.one_more(at(minute))).count();
        assert_eq!((count(7), count(8)), (MOST_WRITTEN as usize, MOST_WRITTEN as usize));
    }
}
