//! How long a thing takes, on a noisy machine.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The CPU time of the shortest of many runs of each candidate, all of it in this thread.
pub(crate) fn shortest(candidates: &mut [Box<dyn FnMut() + '_>]) -> Vec<Duration> {
    shortest_by(cpu, candidates)
}

/// The same by the clock, for what waits for others.
pub(crate) fn shortest_wait(candidates: &mut [Box<dyn FnMut() + '_>]) -> Vec<Duration> {
    let start = Instant::now();
    shortest_by(|| start.elapsed(), candidates)
}

/// The CPU time that this thread has used.
pub(crate) fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let part = |number: i64| u64::try_from(number).unwrap_or_default();
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

/// The candidates are taken in turns, so that noise hits all alike.
fn shortest_by(clock: impl Fn() -> Duration, candidates: &mut [Box<dyn FnMut() + '_>]) -> Vec<Duration> {
    const ROUNDS: usize = 15;
    let mut best = vec![Duration::MAX; candidates.len()];
    for _ in 0..ROUNDS {
        for (run, best) in candidates.iter_mut().zip(&mut best) {
            let start = clock();
            run();
            *best = clock().saturating_sub(start).min(*best);
        }
    }
    best
}
