//! How limits and moments are written by people.

use std::fmt;
use std::str::FromStr;

use rail_stdx::unix_of_date;

use crate::{Budget, Money, Period, Rate};

/// Text that is no limit or moment; it says what to write.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct WordError(String);

impl WordError {
    pub(crate) fn new(problem: String) -> Self {
        Self(problem)
    }
}

impl FromStr for Rate {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let number = text.trim().strip_suffix("/min").and_then(|number| number.trim().parse().ok());
        let number = number.filter(|number| *number > 0);
        number.map(|per_minute| Self { per_minute }).ok_or_else(|| {
            WordError(format!("`{text}` is no rate; write requests in a minute, such as `60/min`"))
        })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/min", self.per_minute)
    }
}

impl FromStr for Budget {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let read = || {
            let (amount, per) = text.trim().split_once('/')?;
            let amount = amount.parse().ok().filter(|amount: &Money| amount.0 > 0)?;
            let per = match per.trim() {
                "day" => Period::Day,
                "month" => Period::Month,
                _ => return None,
            };
            Some(Self { amount, per })
        };
        read().ok_or_else(|| {
            WordError(format!(
                "`{text}` is no budget; write dollars for a day or a month, such as `5/day` or `20/month`"
            ))
        })
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.amount, self.per.word())
    }
}

/// A moment as people write it: a length of time from now, `7d` or `12h`, or a day in UTC, `2026-12-31`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// So many milliseconds from now; in which direction, the place where it is written says.
    Away(u64),
    /// This day: its first millisecond since 1970.
    Day(u64),
}

/// Units of time, in milliseconds.
const UNITS: &[(&str, u64)] = &[("m", 60_000), ("h", 3_600_000), ("d", DAY), ("w", 7 * DAY)];
const DAY: u64 = 86_400_000;

impl Moment {
    /// The moment as a beginning in the past, in Unix milliseconds: a day counts from its first moment on.
    pub fn since(self, now: u64) -> u64 {
        match self {
            Self::Away(away) => now.saturating_sub(away),
            Self::Day(first) => first,
        }
    }

    /// The moment as an end in the past, in Unix milliseconds: a day counts with its last moment.
    pub fn until(self, now: u64) -> u64 {
        match self {
            Self::Away(away) => now.saturating_sub(away),
            Self::Day(first) => first.saturating_add(DAY),
        }
    }

    /// The moment as an end in the future, in Unix milliseconds: a day counts with its last moment.
    pub fn ahead(self, now: u64) -> u64 {
        match self {
            Self::Away(away) => now.saturating_add(away),
            Self::Day(first) => first.saturating_add(DAY),
        }
    }
}

impl FromStr for Moment {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        let trimmed = text.trim();
        let away = || {
            let digits = trimmed.find(|c: char| !c.is_ascii_digit())?;
            let (number, unit) = trimmed.split_at_checked(digits)?;
            let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
            number.parse::<u64>().ok()?.checked_mul(*factor).map(Self::Away)
        };
        let day = || unix_of_date(trimmed)?.checked_mul(1000).map(Self::Day);
        away().or_else(day).ok_or_else(|| {
            WordError(format!("`{text}` is no time; write a length such as `12h`, `7d` or `4w`, or a day such as `2026-12-31`"))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rates_and_budgets() {
        let rate = |text: &str| text.parse::<Rate>().map(|rate| rate.to_string()).unwrap_or_default();
        let budget = |text: &str| text.parse::<Budget>().map(|budget| budget.to_string()).unwrap_or_default();
        for (text, expected) in [
            ("60/min", "60/min"),
            (" 1 /min ", "1/min"),
            ("0/min", ""),
            ("60", ""),
            ("-1/min", ""),
            ("60/s", ""),
            ("99999999999/min", ""),
        ] {
            assert_eq!(rate(text), expected, "{text}");
        }
        for (text, expected) in [
            ("5/day", "$5.0000/day"),
            ("$0.5/day", "$0.5000/day"),
            ("20/month", "$20.0000/month"),
            ("0/day", ""),
            ("-5/day", ""),
            ("nan/day", ""),
            ("inf/day", ""),
            ("1e300/day", ""),
            ("5/week", ""),
            ("5", ""),
            ("", ""),
        ] {
            assert_eq!(budget(text), expected, "{text}");
        }
    }

    #[test]
    fn moments() {
        let now = 1_772_366_400_000;
        for (text, expected) in [
            ("90m", Some((now - 5_400_000, now - 5_400_000, now + 5_400_000))),
            ("12h", Some((now - 43_200_000, now - 43_200_000, now + 43_200_000))),
            ("7d", Some((now - 7 * DAY, now - 7 * DAY, now + 7 * DAY))),
            ("1w", Some((now - 7 * DAY, now - 7 * DAY, now + 7 * DAY))),
            ("1970-01-02", Some((DAY, 2 * DAY, 2 * DAY))),
            ("99999d", Some((0, 0, now + 99_999 * DAY))),
            ("7", None),
            ("d", None),
            ("7 days", None),
            ("99999999999999999999d", None),
            ("", None),
            ("2026-02-30", None),
        ] {
            let read = text.parse::<Moment>().ok();
            let read = read.map(|moment| (moment.since(now), moment.until(now), moment.ahead(now)));
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        insta::assert_snapshot!("fast".parse::<Rate>().unwrap_err(), @"`fast` is no rate; write requests in a minute, such as `60/min`");
        insta::assert_snapshot!("5/week".parse::<Budget>().unwrap_err(), @"`5/week` is no budget; write dollars for a day or a month, such as `5/day` or `20/month`");
        insta::assert_snapshot!("soon".parse::<Moment>().unwrap_err(), @"`soon` is no time; write a length such as `12h`, `7d` or `4w`, or a day such as `2026-12-31`");
    }

    proptest! {
        #[test]
        fn limits_are_read_as_they_are_written(per_minute in 1u32.., cents in 1i64..100_000) {
            let rate = Rate { per_minute };
            prop_assert_eq!(rate.to_string().parse::<Rate>(), Ok(rate));
            let budget = Budget { amount: Money(cents * 10_000_000), per: Period::Month };
            prop_assert_eq!(budget.to_string().parse::<Budget>(), Ok(budget));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9]{0,25}.*", now: u64) {
            let _ = (text.parse::<Rate>(), text.parse::<Budget>());
            if let Ok(moment) = text.parse::<Moment>() {
                let _ = (moment.since(now), moment.until(now), moment.ahead(now));
            }
        }
    }
}
