//! The clock; a driver is where time comes in.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rail_journal::UnixMillis;

#[expect(clippy::disallowed_methods, reason = "the driver says how long things took")]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the driver says when things happened")]
pub(super) fn today() -> UnixMillis {
    // A clock before 1970 is wrong; the journal counts its lines, so nothing depends on it.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

pub(super) fn millis(since: Instant) -> u64 {
    u64::try_from(now().saturating_duration_since(since).as_millis()).unwrap_or(u64::MAX)
}
