//! Losses as a record names them. Clients and providers decide how many there are, and may be quoted in each.

use rail_model::Loss;

/// So many of a request are named; the others are counted.
const MOST: usize = 100;
/// The most characters of one.
const MOST_CHARS: usize = 300;

/// Names more losses of a request, in words, behind those that are named and counted already.
pub(super) fn name(losses: &[Loss], named: &mut Vec<String>, more: &mut usize) {
    let word = |loss: &Loss| format!("{}: {}", loss.path, loss.reason).chars().take(MOST_CHARS).collect();
    named.truncate(MOST);
    let room = MOST.saturating_sub(named.len());
    named.extend(losses.iter().take(room).map(word));
    *more += losses.len().saturating_sub(room);
    if *more > 0 {
        named.push(format!("and {more} more"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_a_request_are_bounded_however_they_come() {
        let (mut named, mut more) = (Vec::new(), 0);
        for piece in 0..1000 {
            let loss = Loss::new(format!("choices.{piece}"), "x".repeat(1000));
            name(&[loss], &mut named, &mut more);
            name(&[], &mut named, &mut more);
        }
        assert_eq!((named.len(), named[100].as_str()), (101, "and 900 more"));
        assert!(named[0].starts_with("choices.0: xxx") && named[99].starts_with("choices.99: xxx"));
        assert!(named.iter().all(|loss| loss.chars().count() <= MOST_CHARS));
    }
}
