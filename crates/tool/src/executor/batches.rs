use std::ops::Range;

use crate::Lane;

/// Calls that run together: a row of those that only read, or one that changes something.
pub(super) fn batches(lanes: &[Lane]) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut shared = false;
    for (at, lane) in lanes.iter().enumerate() {
        let joins = shared && *lane == Lane::Shared;
        match batches.last_mut() {
            Some(last) if joins => last.end = at + 1,
            _ => batches.push(at..at + 1),
        }
        shared = *lane == Lane::Shared;
    }
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(lanes: &str, expected: &str) {
        let lanes: Vec<Lane> = lanes.chars().map(lane).collect();
        let shown: Vec<String> =
            batches(&lanes).iter().map(|batch| format!("{}-{}", batch.start, batch.end)).collect();
        assert_eq!(shown.join(" "), expected);
    }

    fn lane(letter: char) -> Lane {
        if letter == 'r' { Lane::Shared } else { Lane::Exclusive }
    }

    #[test]
    fn what_reads_goes_together_and_what_writes_alone() {
        check("", "");
        check("r", "0-1");
        check("rrr", "0-3");
        check("w", "0-1");
        check("ww", "0-1 1-2");
        check("rrwrr", "0-2 2-3 3-5");
        check("wrrww", "0-1 1-3 3-4 4-5");
    }

    proptest! {
        #[test]
        fn every_call_is_in_one_batch_in_order(lanes in "[rw]{0,40}") {
            let lanes: Vec<Lane> = lanes.chars().map(lane).collect();
            let all: Vec<usize> = batches(&lanes).into_iter().flatten().collect();
            prop_assert_eq!(all, (0..lanes.len()).collect::<Vec<_>>());
            for batch in batches(&lanes) {
                let writes = lanes[batch.clone()].contains(&Lane::Exclusive);
                prop_assert!(!writes || batch.len() == 1);
            }
        }
    }
}
