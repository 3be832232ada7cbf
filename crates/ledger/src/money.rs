use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::WordError;

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

impl FromStr for Money {
    type Err = WordError;

    /// Reads dollars, to the billionth: `5`, `$0.25`.
    fn from_str(text: &str) -> Result<Self, WordError> {
        let read = || {
            let digits = text.trim().strip_prefix('$').unwrap_or(text.trim());
            let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
            let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            if whole.is_empty() || part.len() > 9 || !is_number(whole) || !is_number(part) {
                return None;
            }
            let nanos: i64 = format!("{part:0<9}").parse().ok()?;
            whole.parse::<i64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanos).map(Self)
        };
        read().ok_or_else(|| {
            WordError::new(format!("`{text}` is no amount; write dollars, such as `5` or `0.25`"))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts() {
        for (text, nanos) in [
            ("5", Some(5_000_000_000)),
            (" $0.25 ", Some(250_000_000)),
            ("0.000000001", Some(1)),
            ("1.", Some(1_000_000_000)),
            ("0.0000000001", None),
            (".5", None),
            ("-1", None),
            ("1e3", None),
            ("", None),
            ("9223372036", Some(9_223_372_036_000_000_000)),
            ("9223372037", None),
        ] {
            assert_eq!(text.parse::<Money>().ok().map(|money| money.0), nanos, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_amount_is_read_as_it_is_written(tenths_of_cents in 0..i64::MAX / 1_000_000) {
            let money = Money(tenths_of_cents * 1_000_000);
            let written = format!("{}.{:03}", money.0 / 1_000_000_000, money.0 / 1_000_000 % 1000);
            prop_assert_eq!(written.parse::<Money>(), Ok(money));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9.$]{0,30}|.*") {
            let _ = text.parse::<Money>();
        }
    }
}
