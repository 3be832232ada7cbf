//! How long a thing takes, on a noisy machine.

use std::time::{Duration, Instant};

/// The shortest of many runs of each candidate, taken in turns so that noise hits all alike.
pub(crate) fn shortest(candidates: &mut [Box<dyn FnMut() + '_>]) -> Vec<Duration> {
    const ROUNDS: usize = 15;
    let mut best = vec![Duration::MAX; candidates.len()];
    for _ in 0..ROUNDS {
        for (run, best) in candidates.iter_mut().zip(&mut best) {
            let start = Instant::now();
            run();
            *best = start.elapsed().min(*best);
        }
    }
    best
}
