use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// One moment, on both clocks.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) instant: Instant,
    /// Unix milliseconds.
    pub(super) unix_ms: u64,
}

impl Moment {
    /// This moment: the one place where the door looks at a clock.
    #[expect(clippy::disallowed_methods, reason = "the door is where requests get their time")]
    pub(super) fn now() -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { instant: Instant::now(), unix_ms: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX) }
    }

    /// Milliseconds from another moment to this one.
    pub(super) fn millis_since(self, earlier: Self) -> u64 {
        let passed = self.instant.saturating_duration_since(earlier.instant);
        u64::try_from(passed.as_millis()).unwrap_or(u64::MAX)
    }
}
