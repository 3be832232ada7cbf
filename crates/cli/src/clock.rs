//! The one place that reads the clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// One moment, on both clocks.
#[derive(Clone, Copy)]
pub(crate) struct Now {
    pub(crate) instant: Instant,
    /// Unix seconds.
    pub(crate) unix: u64,
}

impl Now {
    #[expect(clippy::disallowed_methods, reason = "commands are where the time comes from")]
    pub(crate) fn read() -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self { instant: Instant::now(), unix }
    }
}
