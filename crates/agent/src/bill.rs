//! What a request takes: held before it is sent, paid when it is known, and counted also where the answer is not heard to its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rail_model::{Request, Usage};
use rail_proto::Spent;
use rail_route::{Attempt, Plan};

use crate::plans::{cost, counted};
use crate::team::{Estimate, Hold, Purse};

/// What one request takes. Whoever asks fills it in, whoever gave it the request settles it.
#[derive(Debug)]
pub(crate) struct Bill {
    began: Instant,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    hold: Option<Hold>,
    answer: Option<Answering>,
}

/// An answer that has begun.
#[derive(Debug)]
struct Answering {
    attempt: Attempt,
    read: u64,
    written: u64,
    usage: Usage,
}

impl Bill {
    /// Of a request that begins now.
    pub(crate) fn new(began: Instant) -> Self {
        Self { began, open: Mutex::default() }
    }

    /// Holds what a request with this plan will take.
    ///
    /// # Errors
    /// Nothing is left to be spent, in a sentence for the user.
    pub(crate) async fn hold(
        &self,
        purse: &Arc<Purse>,
        plan: &Plan,
        request: &Request,
    ) -> Result<(), String> {
        let hold = purse.hold(estimate(purse, plan, request)).await?;
        self.open().hold = Some(hold);
        Ok(())
    }

    /// A target begins to answer, of which so many tokens were asked.
    pub(crate) fn answers(&self, attempt: &Attempt, read: u64) {
        let answer = Answering { attempt: attempt.clone(), read, written: 0, usage: Usage::default() };
        self.open().answer = Some(answer);
    }

    /// So many more bytes of the answer came, and this is what it took as far as was reported.
    pub(crate) fn heard(&self, bytes: u64, usage: &Usage) {
        if let Some(answer) = &mut self.open().answer {
            answer.written += bytes;
            answer.usage.clone_from(usage);
        }
    }

    /// Pays what it took and gives the rest back; what it took, where somebody has answered. It is paid once.
    pub(crate) fn settle(&self) -> Option<Spent> {
        let Open { hold, answer } = std::mem::take(&mut *self.open());
        let Answering { attempt, read, written, usage } = answer?;
        let usage = counted(&usage, read, written);
        let cost_usd = cost(&attempt, &usage);
        if let Some(hold) = hold {
            hold.spent(&usage, cost_usd.unwrap_or_default());
        }
        let duration_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(Spent { target: attempt.target.to_string(), usage, cost_usd, duration_ms, ..Spent::default() })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a request will take, by what it says and what answers were so far, from the dearest of those who may answer.
fn estimate(purse: &Purse, plan: &Plan, request: &Request) -> Estimate {
    let output = request.sampling.max_output.unwrap_or(u64::MAX).min(purse.usual_output());
    let usage = Usage { input: Some(plan.estimated), output: Some(output), ..Usage::default() };
    let prices = plan.attempts.iter().filter_map(|attempt| cost(attempt, &usage));
    Estimate { tokens: usage.total(), usd: prices.fold(0.0, f64::max) }
}
