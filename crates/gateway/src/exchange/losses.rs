//! Losses as a record names them. Clients decide how many there are, and may be quoted in each.

use rail_model::Loss;

/// So many are named; the others are counted.
const MOST: usize = 100;
/// The most characters of one.
const MOST_CHARS: usize = 300;

/// The losses of one side, in words.
pub(super) fn named(losses: &[Loss]) -> Vec<String> {
    let word = |loss: &Loss| format!("{}: {}", loss.path, loss.reason).chars().take(MOST_CHARS).collect();
    let mut named: Vec<String> = losses.iter().take(MOST).map(word).collect();
    if let more @ 1.. = losses.len().saturating_sub(MOST) {
        named.push(format!("and {more} more"));
    }
    named
}
