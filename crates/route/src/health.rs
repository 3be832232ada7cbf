use std::time::{Duration, Instant};

use crate::Target;

/// Whether a target is asked at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Circuit {
    /// Yes.
    Closed,
    /// Not before this moment, unless nothing else is left.
    Open(Instant),
    /// One request is let through to see whether it works again.
    HalfOpen,
}

/// What was seen of each target lately, as a value: who has it decides when it changes.
#[derive(Clone, Debug, Default)]
pub struct Health {}

impl Health {
    /// Whether a target is asked at all, at this moment.
    pub fn circuit(&self, _target: &Target, _now: Instant) -> Circuit {
        Circuit::Closed
    }

    /// A target answered, its first content after this long.
    pub fn succeeded(&mut self, _target: &Target, _latency: Duration, _now: Instant) {}

    /// A target failed in a way that will pass.
    pub fn failed(&mut self, _target: &Target, _now: Instant) {}

    /// A target failed in a way that will not pass by itself: a wrong key, an unknown model, no quota.
    pub fn refused(&mut self, _target: &Target, _now: Instant) {}
}
