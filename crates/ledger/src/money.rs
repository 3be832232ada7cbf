use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount in billionths of a dollar: prices per token are exact in it, and sums of them too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(pub i64);

impl Money {
    /// The nearest amount to so many dollars; what no amount can be is none.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let nanos = (dollars * 1e9).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "the range was checked"
        )]
        (nanos.is_finite() && nanos.abs() < i64::MAX as f64).then_some(Self(nanos as i64))
    }

    /// The amount in dollars, for people.
    pub fn dollars(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "people do not read sixteen digits")]
        let nanos = self.0 as f64;
        nanos / 1e9
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${:.4}", self.dollars())
    }
}
