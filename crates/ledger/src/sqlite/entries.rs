//! Records.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rail_model::Json;
use rusqlite::{Connection, Statement, TransactionBehavior, params};

use super::Sqlite;
use crate::desk::Item;
use crate::limits::day;
use crate::row::{self, int, list};
use crate::trouble::Trouble;
use crate::{Bodies, Entry};

/// What was recorded before is left as it is.
static INSERT: LazyLock<String> = LazyLock::new(|| {
    let marks: Vec<String> = (1..=28).map(|mark| format!("?{mark}")).collect();
    format!(
        "INSERT INTO entries ({}, repaired) VALUES ({}) ON CONFLICT DO NOTHING",
        row::ENTRY,
        marks.join(",")
    )
});
static RECENT: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {} FROM entries WHERE id < ?2 ORDER BY id DESC LIMIT ?1", row::ENTRY));
static ENTRY: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {} FROM entries WHERE id = ?1", row::ENTRY));

impl Sqlite {
    pub(crate) async fn write(&self, batch: &[Item]) -> Result<(), Trouble> {
        let mut writer = self.writer.lock().await;
        let change = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        write(&change, batch)?;
        Ok(change.commit()?)
    }

    pub(crate) async fn recent(&self, most: usize, before: Option<&str>) -> Result<Vec<Entry>, Trouble> {
        let reader = self.reader.lock().await;
        let mut found = reader.prepare_cached(&RECENT)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        found.query_and_then(params![most, before.unwrap_or(row::LAST)], |row| row::entry(row))?.collect()
    }

    pub(crate) async fn entry(&self, id: &str) -> Result<Option<Entry>, Trouble> {
        let reader = self.reader.lock().await;
        let mut found = reader.prepare_cached(&ENTRY)?;
        let mut rows = found.query([id])?;
        let Some(mut entry) = rows.next()?.map(row::entry).transpose()? else { return Ok(None) };
        let mut found = reader.prepare_cached("SELECT request, answer FROM bodies WHERE id = ?1")?;
        let mut rows = found.query([id])?;
        if let Some(row) = rows.next()? {
            entry.bodies = Some(Bodies { request: row.get(0)?, answer: row.get(1)? });
        }
        Ok(Some(entry))
    }
}

fn write(change: &Connection, batch: &[Item]) -> Result<(), Trouble> {
    let mut insert = change.prepare_cached(&INSERT)?;
    let mut keep = change.prepare_cached(
        "INSERT INTO bodies (id, request, answer) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    let mut release = change.prepare_cached("DELETE FROM holds WHERE number = ?1")?;
    let mut spent: BTreeMap<(&str, i64), i64> = BTreeMap::new();
    for Item { entry, hold, .. } in batch {
        if let Some(hold) = hold {
            release.execute([hold])?;
        }
        let Some(entry) = entry else { continue };
        if !insert_entry(&mut insert, entry)? {
            continue;
        }
        if let (Some(key), Some(cost)) = (&entry.key, entry.cost) {
            *spent.entry((&key.0, day(entry.at))).or_default() += cost.0;
        }
        if let Some(Bodies { request, answer }) = &entry.bodies {
            keep.execute(params![entry.id, request, answer])?;
        }
    }
    let mut spend = change.prepare_cached(
        "INSERT INTO spent (key, day, amount) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET amount = amount + excluded.amount",
    )?;
    for ((key, day), amount) in spent {
        spend.execute(params![key, day, amount])?;
    }
    Ok(())
}

/// Inserts an entry, its values in the order of its columns; whether it was not there yet.
fn insert_entry(insert: &mut Statement<'_>, entry: &Entry) -> Result<bool, Trouble> {
    let Entry { id, client, session, protocol, operation, stream, asked, .. } = entry;
    let Entry { virtual_model, target, sent, relayed, repairs, losses, tokens, status, problem, .. } = entry;
    let inserted = insert.execute(params![
        id,
        int(entry.at),
        entry.key.as_ref().map(|key| &key.0),
        client,
        session,
        protocol,
        operation,
        stream,
        asked,
        virtual_model,
        entry.route.as_ref().map(Json::text),
        target,
        list(sent),
        relayed,
        list(repairs),
        list(losses),
        int(tokens.input),
        int(tokens.cache_read),
        int(tokens.cache_write),
        int(tokens.output),
        int(tokens.reasoning),
        entry.cost.map(|cost| cost.0),
        entry.first_ms.map(int),
        int(entry.total_ms),
        entry.ending.word(),
        status,
        problem,
        int(repairs.len() as u64),
    ])?;
    Ok(inserted > 0)
}
