//! What requests used, counted.

use serde::Serialize;

use crate::{Money, Tokens};

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UsageQuery {
    /// From this moment on, in Unix milliseconds.
    pub since: u64,
    /// Before this moment, in Unix milliseconds.
    pub until: u64,
    /// By what it is told apart.
    pub by: By,
}

/// By what requests are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// The target that answered.
    Model,
    /// The day in UTC.
    Day,
    /// The conversation.
    Session,
    /// The gateway's key.
    Key,
    /// The client.
    Client,
    /// The virtual model.
    VirtualModel,
    /// The provider that answered.
    Provider,
}

/// What requests of one kind used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct UsageRow {
    /// The kind: a target, a day, an id. None where a request has none, as one that no target answered.
    pub of: Option<String>,
    /// The name of a key whose id `of` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// What requests of a stretch of time used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Point {
    /// Its beginning, in Unix milliseconds.
    pub at: u64,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
}

/// What some requests used.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Figures {
    /// How many there were.
    pub requests: u64,
    /// How many of them failed or broke off.
    pub failures: u64,
    /// How many of them the gateway did not take.
    pub refused: u64,
    /// What they used.
    pub tokens: Tokens,
    /// What those cost whose price is known.
    pub cost: Money,
    /// How many used a model whose price is not known.
    pub unpriced: u64,
    /// How many calls were mended.
    pub repaired: u64,
    /// Until the first content.
    pub first_ms: Latency,
    /// Until the end.
    pub total_ms: Latency,
}

/// How long something took, in milliseconds; none where nothing was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Latency {
    /// Half of them took no longer.
    pub p50: Option<u64>,
    /// 95 of 100 took no longer.
    pub p95: Option<u64>,
}

/// What rows are grouped by in a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Group {
    /// As asked.
    By(By),
    /// Stretches of so many milliseconds; the label is their number since 1970.
    Stretch(i64),
    /// All in one.
    All,
}

/// Which rows are counted, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counted {
    pub(crate) since: i64,
    pub(crate) until: i64,
    pub(crate) group: Group,
}

/// A group's label and its figures.
pub(crate) type Grouped = (Option<String>, Figures);

/// Percentiles by nearest rank, from values that come in order, each with how often it is there.
#[derive(Default)]
pub(crate) struct Ranks(Vec<(u64, u64)>);

impl Ranks {
    pub(crate) fn push(&mut self, value: u64, times: u64) {
        self.0.push((value, times));
    }

    pub(crate) fn latency(&self) -> Latency {
        Latency { p50: self.rank(50), p95: self.rank(95) }
    }

    fn rank(&self, percent: u64) -> Option<u64> {
        let all: u64 = self.0.iter().map(|(_, times)| times).sum();
        let wanted = (all * percent).div_ceil(100).max(1);
        let mut seen = 0;
        self.0.iter().find_map(|(value, times)| {
            seen += times;
            (seen >= wanted).then_some(*value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_there() {
        for (values, p50, p95) in [
            (&[][..], None, None),
            (&[(7, 1)], Some(7), Some(7)),
            (&[(1, 1), (2, 1)], Some(1), Some(2)),
            (&[(1, 10), (2, 9), (9, 1)], Some(1), Some(2)),
            (&[(1, 10), (2, 8), (9, 2)], Some(1), Some(9)),
            (&[(5, 100)], Some(5), Some(5)),
        ] {
            let mut ranks = Ranks::default();
            values.iter().for_each(|(value, times)| ranks.push(*value, *times));
            assert_eq!(ranks.latency(), Latency { p50, p95 }, "{values:?}");
        }
    }
}
