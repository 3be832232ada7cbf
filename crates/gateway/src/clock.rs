//! The one place of the gateway that reads a clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// One moment, on both clocks.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) instant: Instant,
    /// Unix milliseconds.
    pub(crate) unix_ms: u64,
}

impl Moment {
    /// This moment.
    pub(crate) fn now() -> Self {
        Self { instant: now(), unix_ms: unix_ms() }
    }

    /// Milliseconds from another moment to this one.
    pub(crate) fn millis_since(self, earlier: Self) -> u64 {
        millis(self.instant.saturating_duration_since(earlier.instant))
    }
}

/// This moment, on the clock that timers go by.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// This moment in Unix milliseconds.
#[expect(clippy::disallowed_methods, reason = "what happens is told with the time at which it happened")]
pub(crate) fn unix_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Whole milliseconds.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A moment in Unix milliseconds as text: `2026-03-01T12:03:04.005Z`.
pub(crate) fn written(ms: u64) -> String {
    let (seconds, part) = (ms / 1000, ms % 1000);
    format!("{}T{}.{part:03}Z", rail_stdx::date(seconds), time_of_day(seconds))
}

/// The time of day in UTC: `12:03:04`.
pub(crate) fn time_of_day(seconds: u64) -> String {
    let of_day = seconds % 86_400;
    format!("{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_utc() {
        assert_eq!(written(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(written(1_709_210_096_789), "2024-02-29T12:34:56.789Z");
        assert!(unix_ms() > 1_700_000_000_000);
    }
}
