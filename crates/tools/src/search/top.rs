/// The smallest values of many, in bounded memory.
#[derive(Debug)]
pub(crate) struct Top<T> {
    room: usize,
    kept: Vec<T>,
}

/// How many values more than asked for are held before the larger ones are thrown away, so that this is done seldom.
const SLACK: usize = 1024;

impl<T: Ord> Top<T> {
    /// The smallest so many.
    pub(crate) fn new(room: usize) -> Self {
        Self { room, kept: Vec::new() }
    }

    pub(crate) fn push(&mut self, value: T) {
        self.kept.push(value);
        if self.kept.len() >= self.room.saturating_mul(2).saturating_add(SLACK) {
            self.shrink();
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.kept.extend(other.kept);
        self.shrink();
    }

    /// The smallest, in order.
    pub(crate) fn into_sorted(mut self) -> Vec<T> {
        self.shrink();
        self.kept.sort_unstable();
        self.kept
    }

    fn shrink(&mut self) {
        if self.kept.len() > self.room {
            self.kept.select_nth_unstable(self.room);
            self.kept.truncate(self.room);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn the_smallest_are_kept_however_they_come(
            one in prop::collection::vec(0_u32..5000, 0..3000),
            other in prop::collection::vec(0_u32..5000, 0..3000),
            room in 0_usize..400,
        ) {
            let (mut top, mut second) = (Top::new(room), Top::new(room));
            one.iter().for_each(|value| top.push(*value));
            other.iter().for_each(|value| second.push(*value));
            top.merge(second);
            let mut all = [one, other].concat();
            all.sort_unstable();
            all.truncate(room);
            prop_assert_eq!(top.into_sorted(), all);
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut top = Top::new(10);
        (0..100_000_u32).rev().for_each(|value| top.push(value));
        assert!(top.kept.len() < 10 * 2 + SLACK);
        assert_eq!(top.into_sorted(), (0..10).collect::<Vec<_>>());
    }
}
