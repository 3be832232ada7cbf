//! The one place of `observe` and `api` that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// This moment in Unix milliseconds.
#[expect(clippy::disallowed_methods, reason = "what happens is told with the time at which it happened")]
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
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
