//! Figures over records.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::Sqlite;
use crate::trouble::Trouble;
use crate::usage::{By, Counted, Figures, Group, Grouped, Latency, Ranks};
use crate::{Money, Tokens};

impl Sqlite {
    pub(crate) async fn count(&self, counted: Counted) -> Result<Vec<Grouped>, Trouble> {
        let reader = self.reader.lock().await;
        // All three queries must see the same records.
        let seen = reader.unchecked_transaction()?;
        let mut groups = figures(&seen, counted)?;
        for (label, latency) in latencies(&seen, counted, "first_ms")? {
            if let Some(figures) = groups.get_mut(&label) {
                figures.first_ms = latency;
            }
        }
        for (label, latency) in latencies(&seen, counted, "total_ms")? {
            if let Some(figures) = groups.get_mut(&label) {
                figures.total_ms = latency;
            }
        }
        Ok(groups.into_iter().collect())
    }
}

fn label(group: Group) -> String {
    match group {
        Group::By(By::Model) => "target".to_owned(),
        Group::By(By::Day) => label(Group::Stretch(86_400_000)),
        Group::By(By::Session) => "session".to_owned(),
        Group::By(By::Key) => "key".to_owned(),
        Group::By(By::Client) => "client".to_owned(),
        Group::By(By::VirtualModel) => "virtual_model".to_owned(),
        Group::By(By::Provider) => "substr(target, 1, instr(target || ',', ',') - 1)".to_owned(),
        Group::Stretch(length) => format!("CAST(at / {length} AS TEXT)"),
        Group::All => "NULL".to_owned(),
    }
}

fn figures(seen: &Connection, counted: Counted) -> Result<BTreeMap<Option<String>, Figures>, Trouble> {
    let sql = format!(
        "SELECT {}, count(*), sum(ending IN ('failed', 'broken')), sum(ending = 'refused'), sum(input), sum(cache_read), \
         sum(cache_write), sum(output), sum(reasoning), coalesce(sum(cost), 0), \
         sum(cost IS NULL AND (ending = 'answered' OR input + cache_read + cache_write + output + reasoning > 0)), sum(repaired) \
         FROM entries WHERE at >= ?1 AND at < ?2 GROUP BY 1",
        label(counted.group)
    );
    let mut found = seen.prepare(&sql)?;
    let rows = found.query_map([counted.since, counted.until], |row| {
        let sum = |at: usize| row.get::<_, i64>(at).map(|sum| u64::try_from(sum).unwrap_or_default());
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
            cost: Money(row.get(9)?),
            unpriced: sum(10)?,
            repaired: sum(11)?,
            first_ms: Latency::default(),
            total_ms: Latency::default(),
        };
        Ok((row.get(0)?, figures))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Percentiles of a column, which SQLite does not know itself.
fn latencies(
    seen: &Connection,
    counted: Counted,
    column: &str,
) -> Result<Vec<(Option<String>, Latency)>, Trouble> {
    let sql = format!(
        "SELECT {}, {column}, count(*) FROM entries WHERE at >= ?1 AND at < ?2 AND {column} IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2",
        label(counted.group)
    );
    let mut found = seen.prepare(&sql)?;
    let mut rows = found.query([counted.since, counted.until])?;
    let mut all = Vec::new();
    let mut open: Option<(Option<String>, Ranks)> = None;
    while let Some(row) = rows.next()? {
        let label: Option<String> = row.get(0)?;
        let (value, times): (i64, i64) = (row.get(1)?, row.get(2)?);
        if open.as_ref().is_none_or(|(last, _)| *last != label) {
            all.extend(
                open.replace((label, Ranks::default())).map(|(label, ranks)| (label, ranks.latency())),
            );
        }
        if let Some((_, ranks)) = &mut open {
            ranks.push(u64::try_from(value).unwrap_or_default(), u64::try_from(times).unwrap_or_default());
        }
    }
    all.extend(open.map(|(label, ranks)| (label, ranks.latency())));
    Ok(all)
}
