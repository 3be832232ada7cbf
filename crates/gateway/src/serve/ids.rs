use std::sync::atomic::{AtomicU64, Ordering};

/// Gives requests their ids: unique, and greater for later ones, as texts too.
pub(super) struct Ids {
    /// The last number given: milliseconds, with the low 16 bits counting within one.
    last: AtomicU64,
    /// Tells this gateway's ids from those of others that share its ledger.
    own: u32,
}

impl Ids {
    /// Ids with an ending of their own.
    pub(super) fn new(own: u32) -> Self {
        Self { last: AtomicU64::new(0), own }
    }

    /// The next id, at this Unix millisecond. A clock that is set back makes no smaller ids.
    pub(super) fn next(&self, unix_ms: u64) -> String {
        let now = unix_ms << 16;
        let after = |last: u64| now.max(last.saturating_add(1));
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last)));
        // The update never declines, so that both arms hold what was there before.
        let number = after(last.unwrap_or_else(|last| last));
        format!("req_{number:016x}{:08x}", self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_ids_are_greater_whatever_the_clock_does() {
        let ids = Ids::new(0xabc);
        let at = [1_800_000_000_000, 1_800_000_000_000, 1_799_999_999_000, 1_800_000_000_001];
        let given: Vec<String> = at.into_iter().map(|at| ids.next(at)).collect();
        assert_eq!(
            given,
            [
                "req_01a3185c5000000000000abc",
                "req_01a3185c5000000100000abc",
                "req_01a3185c5000000200000abc",
                "req_01a3185c5001000000000abc",
            ]
        );
        assert!(given.is_sorted());
    }
}
