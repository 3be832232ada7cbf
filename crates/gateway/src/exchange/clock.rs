//! The one place where the exchange reads a clock.

use std::time::{Duration, Instant};

/// This moment.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Whole milliseconds.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
