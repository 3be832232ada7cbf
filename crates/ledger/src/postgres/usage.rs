//! Figures over records.

use tokio_postgres::Row;

use super::Postgres;
use crate::trouble::Trouble;
use crate::usage::{By, Counted, Figures, Group, Grouped, Latency};
use crate::{Money, Tokens};

/// The figures of groups that the label in front tells apart.
macro_rules! figures {
    ($label:literal) => {
        concat!(
            "SELECT ", $label, " AS label, count(*), count(*) FILTER (WHERE ending IN ('failed', 'broken')), \
             count(*) FILTER (WHERE ending = 'refused'), sum(input)::bigint, sum(cache_read)::bigint, sum(cache_write)::bigint, \
             sum(output)::bigint, sum(reasoning)::bigint, coalesce(sum(cost), 0)::bigint, \
             count(*) FILTER (WHERE cost IS NULL AND (ending = 'answered' OR input + cache_read + cache_write + output + reasoning > 0)), \
             sum(repaired)::bigint, \
             percentile_disc(0.5) WITHIN GROUP (ORDER BY first_ms), percentile_disc(0.95) WITHIN GROUP (ORDER BY first_ms), \
             percentile_disc(0.5) WITHIN GROUP (ORDER BY total_ms), percentile_disc(0.95) WITHIN GROUP (ORDER BY total_ms) \
             FROM rail_entries WHERE at >= $1 AND at < $2 AND $3::bigint > 0 GROUP BY label"
        )
    };
}

impl Postgres {
    pub(crate) async fn count(&self, counted: Counted) -> Result<Vec<Grouped>, Trouble> {
        let Counted { since, until, group } = counted;
        // Every statement has the length of a stretch, so that all of them are given the same.
        let (sql, length) = match group {
            Group::By(By::Model) => (figures!("target"), 1),
            Group::By(By::Day) => (figures!("(at / $3::bigint)::text"), 86_400_000),
            Group::By(By::Session) => (figures!("session"), 1),
            Group::By(By::Key) => (figures!("key"), 1),
            Group::By(By::Client) => (figures!("client"), 1),
            Group::By(By::VirtualModel) => (figures!("virtual_model"), 1),
            Group::By(By::Provider) => (figures!("split_part(target, ',', 1)"), 1),
            Group::Stretch(length) => (figures!("(at / $3::bigint)::text"), length),
            Group::All => (figures!("NULL::text"), 1),
        };
        self.pool.query(sql, &[&since, &until, &length]).await?.iter().map(grouped).collect()
    }
}

fn grouped(row: &Row) -> Result<Grouped, Trouble> {
    let sum = |at: usize| row.try_get::<_, i64>(at).map(|sum| u64::try_from(sum).unwrap_or_default());
    let rank = |at: usize| {
        let rank = row.try_get::<_, Option<i64>>(at);
        rank.map(|rank| rank.and_then(|rank| u64::try_from(rank).ok()))
    };
    let tokens = Tokens {
        input: sum(4)?,
        cache_read: sum(5)?,
        cache_write: sum(6)?,
        output: sum(7)?,
        reasoning: sum(8)?,
    };
    let figures = Figures {
        requests: sum(1)?,
        failures: sum(2)?,
        refused: sum(3)?,
        tokens,
        cost: Money(row.try_get(9)?),
        unpriced: sum(10)?,
        repaired: sum(11)?,
        first_ms: Latency { p50: rank(12)?, p95: rank(13)? },
        total_ms: Latency { p50: rank(14)?, p95: rank(15)? },
    };
    Ok((row.try_get(0)?, figures))
}
