//! The time limits of a provider.

use rail_route::Timeouts;
use rail_wire::BodyKind;
use tokio::time::{Instant, timeout_at};

use crate::failure::{Failure, Limit};

/// How long an answer may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    times: Timeouts,
    sent: Instant,
    kind: BodyKind,
}

impl Limits {
    /// The limits of a request that is sent now.
    pub(crate) fn from_now(times: Timeouts, kind: BodyKind) -> Self {
        Self { times, sent: Instant::now(), kind }
    }

    /// When to stop waiting, before or after the first content, for a piece that is awaited since `waiting`.
    pub(crate) fn until(&self, begun: bool, waiting: Instant) -> (Instant, Limit) {
        let total = (self.sent + self.times.total, Limit::Total);
        let nearer = match (begun, self.kind) {
            (true, _) => (waiting + self.times.idle, Limit::Idle),
            (false, BodyKind::Stream | BodyKind::Array) => {
                (self.sent + self.times.first_token, Limit::FirstToken)
            }
            // A whole answer has no first token: it comes when all of it is there.
            (false, BodyKind::Whole) => total,
        };
        if nearer.0 <= total.0 { nearer } else { total }
    }

    /// That it took longer than this.
    pub(crate) fn late(&self, limit: Limit) -> Failure {
        let time = match limit {
            Limit::FirstToken => self.times.first_token,
            Limit::Idle => self.times.idle,
            Limit::Total => self.times.total,
        };
        Failure::Late(limit, time)
    }

    /// When the first content is too late.
    pub(crate) fn for_content(&self) -> Instant {
        self.until(false, self.sent).0
    }

    /// Waits for something before the first content.
    pub(crate) async fn wait<T>(&self, future: impl Future<Output = T>) -> Result<T, Failure> {
        let (until, limit) = self.until(false, self.sent);
        timeout_at(until, future).await.map_err(|_| self.late(limit))
    }
}
