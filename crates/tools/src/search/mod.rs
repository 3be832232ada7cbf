//! What `glob` and `grep` have in common: the walk over a tree, the best of many, and which of them are shown.

pub(crate) mod excerpt;
pub(crate) mod lines;
pub(crate) mod pattern;
pub(crate) mod regex;
pub(crate) mod scan;
pub(crate) mod top;
pub(crate) mod walk;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rail_tool::{ToolCx, ToolFault};

use crate::words;

/// Whether a search is to end; it is looked at often, so it is no more than a flag.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn check(&self) -> Result<(), ToolFault> {
        if self.is_set() { Err(ToolFault::new("the search was cancelled")) } else { Ok(()) }
    }
}

/// Runs a search beside the others; it is told when nobody wants it any more, and is waited for all the same.
pub(crate) async fn stoppable<T: Send + 'static>(
    cx: &ToolCx,
    work: impl FnOnce(&Stop) -> Result<T, ToolFault> + Send + 'static,
) -> Result<T, ToolFault> {
    let stop = Stop::default();
    let told = stop.clone();
    let mut search = std::pin::pin!(cx.blocking(move || {
        let done = work(&told)?;
        told.check()?;
        Ok(done)
    }));
    tokio::select! {
        done = &mut search => return done,
        () = cx.cancel().cancelled() => stop.0.store(true, Ordering::Relaxed),
    }
    search.await
}

/// Since when a search runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Began(Instant);

impl Began {
    #[expect(clippy::disallowed_methods, reason = "a search says how long it took")]
    pub(crate) fn now() -> Self {
        Self(Instant::now())
    }

    /// ` in 12 ms`.
    pub(crate) fn said(&self) -> String {
        format!(" in {}", words::time(self.0.elapsed()))
    }
}

/// Which of many results are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Page {
    /// How many are left out before them.
    pub(crate) offset: usize,
    /// How many are shown at most.
    pub(crate) limit: usize,
}

impl Page {
    /// What was asked for; no limit, or none at all, is `usual`, and more than `at_most` can't be had at once.
    pub(crate) fn new(offset: Option<u32>, limit: Option<u32>, usual: usize, at_most: usize) -> Self {
        let size = |number: Option<u32>| usize::try_from(number.unwrap_or(0)).unwrap_or(usize::MAX);
        let limit = match size(limit) {
            0 => usual,
            limit => limit.min(at_most),
        };
        Self { offset: size(offset), limit }
    }

    /// How many must be known to show it.
    pub(crate) fn room(&self) -> usize {
        self.offset.saturating_add(self.limit)
    }

    /// What is said of a part of all: ` Shown are 101 to 200; …`; nothing where all are shown.
    pub(crate) fn said(&self, shown: usize, all: u64, narrow: &str) -> String {
        let end = self.offset.saturating_add(shown) as u64;
        if shown == 0 {
            return format!(" There are none behind ‹offset› {}.", self.offset);
        }
        if self.offset == 0 && end >= all {
            return String::new();
        }
        let range = match self.offset as u64 + 1 {
            start if start == end => format!(" Shown is {}", words::digits(end)),
            start => format!(" Shown are {} to {}", words::digits(start), words::digits(end)),
        };
        if end >= all {
            return format!("{range}, the last.");
        }
        format!("{range}; for more set \"offset\": {end}, for fewer {narrow}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_what_it_shows() {
        let check = |offset, limit, shown, all, expected: &str| {
            assert_eq!(Page::new(offset, limit, 100, 100).said(shown, all, "look elsewhere"), expected);
        };
        check(None, None, 3, 3, "");
        check(None, Some(0), 100, 100, "");
        check(
            None,
            Some(5000),
            100,
            1234,
            " Shown are 1 to 100; for more set \"offset\": 100, for fewer look elsewhere.",
        );
        check(
            Some(100),
            None,
            100,
            250,
            " Shown are 101 to 200; for more set \"offset\": 200, for fewer look elsewhere.",
        );
        check(Some(200), None, 50, 250, " Shown are 201 to 250, the last.");
        check(Some(249), None, 1, 250, " Shown is 250, the last.");
        check(Some(300), None, 0, 250, " There are none behind ‹offset› 300.");
    }
}
