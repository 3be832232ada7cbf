use std::time::Duration;

use rail_ledger::Ledger;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::clock::Moment;

/// So long a ledger may take to answer before it counts as away.
const PATIENCE: Duration = Duration::from_secs(2);
/// For so many milliseconds its answer holds, so that whoever asks often does not keep the database busy.
const HOLDS_FOR: u64 = 1000;

/// Whether the ledger answers, as it was found last, and when that was.
#[derive(Default)]
pub(super) struct Readiness(Mutex<Option<(u64, bool)>>);

impl Readiness {
    /// Whether the ledger answers at this Unix millisecond. One asks it, the others wait for what that one hears.
    pub(super) async fn ask(&self, ledger: &Ledger, now: u64) -> bool {
        let mut last = self.0.lock().await;
        if let Some((at, answers)) = *last
            && now.saturating_sub(at) < HOLDS_FOR
        {
            return answers;
        }
        let answers = matches!(timeout(PATIENCE, ledger.ping()).await, Ok(Ok(())));
        // Whoever came meanwhile need not ask again.
        *last = Some((Moment::now().unix_ms, answers));
        answers
    }
}
