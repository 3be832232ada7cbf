//! Records.

use std::borrow::Cow;
use std::sync::LazyLock;

use tokio_postgres::types::ToSql;

use super::{Postgres, clean};
use crate::desk::Item;
use crate::row::{self, int, list};
use crate::trouble::Trouble;
use crate::{Bodies, Entry};

/// What was recorded before is left as it is; only what is new is spent. Rows of `spent` are locked in one order, so that two gateways
/// never wait for each other.
static WRITE: LazyLock<String> = LazyLock::new(|| {
    let kind = |column: &str| match column {
        "at" | "input" | "cache_read" | "cache_write" | "output" | "reasoning" | "cost" | "first_ms"
        | "total_ms" | "status" | "repaired" => "bigint",
        "stream" | "relayed" => "boolean",
        _ => "text",
    };
    let columns = format!("{}, repaired", row::ENTRY);
    let lists: Vec<String> = columns
        .split(',')
        .zip(1..)
        .map(|(column, mark)| format!("${mark}::{}[]", kind(column.trim())))
        .collect();
    format!(
        "WITH new AS (INSERT INTO rail_entries ({columns}) SELECT * FROM unnest({}) ON CONFLICT DO NOTHING \
         RETURNING key, at, cost) \
         INSERT INTO rail_spent (key, day, amount) SELECT key, at / 86400000, sum(cost)::bigint FROM new \
         WHERE key IS NOT NULL AND cost IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2 \
         ON CONFLICT (key, day) DO UPDATE SET amount = rail_spent.amount + excluded.amount",
        lists.join(",")
    )
});
const KEEP: &str = "INSERT INTO rail_bodies (id, request, answer) SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) \
    ON CONFLICT DO NOTHING";
static RECENT: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT {} FROM rail_entries WHERE id < $2 ORDER BY id DESC LIMIT $1", row::ENTRY)
});
static ENTRY: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {} FROM rail_entries WHERE id = $1", row::ENTRY));

impl Postgres {
    pub(crate) async fn write(&self, batch: &[Item]) -> Result<(), Trouble> {
        let change = self.pool.begin().await?;
        let entries: Vec<&Entry> = batch.iter().filter_map(|item| item.entry.as_ref()).collect();
        if !entries.is_empty() {
            let columns = columns(&entries);
            let columns: Vec<&(dyn ToSql + Sync)> = columns.iter().map(|column| &**column as _).collect();
            change.query(&WRITE, &columns).await?;
        }
        let kept = entries.iter().filter_map(|entry| Some((entry, entry.bodies.as_ref()?)));
        let (mut ids, mut requests, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for (entry, Bodies { request, answer }) in kept {
            ids.push(clean(&entry.id));
            requests.push(clean(request));
            answers.push(clean(answer));
        }
        if !ids.is_empty() {
            change.query(KEEP, &[&ids, &requests, &answers]).await?;
        }
        let holds: Vec<i64> = batch.iter().filter_map(|item| item.hold).collect();
        if !holds.is_empty() {
            change.query("DELETE FROM rail_holds WHERE number = ANY($1)", &[&holds]).await?;
        }
        change.commit().await
    }

    pub(crate) async fn recent(&self, most: usize, before: Option<&str>) -> Result<Vec<Entry>, Trouble> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let before = clean(before.unwrap_or(row::LAST));
        self.pool.query(&RECENT, &[&most, &before]).await?.iter().map(row::entry).collect()
    }

    pub(crate) async fn entry(&self, id: &str) -> Result<Option<Entry>, Trouble> {
        let id = clean(id);
        let found = self.pool.query(&ENTRY, &[&id]).await?;
        let Some(mut entry) = found.first().map(row::entry).transpose()? else { return Ok(None) };
        let kept = self.pool.query("SELECT request, answer FROM rail_bodies WHERE id = $1", &[&id]).await?;
        if let Some(row) = kept.first() {
            entry.bodies = Some(Bodies { request: row.try_get(0)?, answer: row.try_get(1)? });
        }
        Ok(Some(entry))
    }
}

type Column<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// The values of entries, column by column.
fn columns<'a>(entries: &[&'a Entry]) -> Vec<Column<'a>> {
    fn of<'a, T: ToSql + Sync + Send + 'a>(
        entries: &[&'a Entry],
        value: impl Fn(&'a Entry) -> T,
    ) -> Column<'a> {
        Box::new(entries.iter().map(|entry| value(entry)).collect::<Vec<T>>())
    }
    fn maybe(text: Option<&String>) -> Option<Cow<'_, str>> {
        text.map(|text| clean(text))
    }
    vec![
        of(entries, |entry| clean(&entry.id)),
        of(entries, |entry| int(entry.at)),
        of(entries, |entry| maybe(entry.key.as_ref().map(|key| &key.0))),
        of(entries, |entry| clean(&entry.client)),
        of(entries, |entry| maybe(entry.session.as_ref())),
        of(entries, |entry| clean(&entry.protocol)),
        of(entries, |entry| clean(&entry.operation)),
        of(entries, |entry| entry.stream),
        of(entries, |entry| clean(&entry.asked)),
        of(entries, |entry| maybe(entry.virtual_model.as_ref())),
        of(entries, |entry| entry.route.as_ref().map(|route| route.text())),
        of(entries, |entry| maybe(entry.target.as_ref())),
        of(entries, |entry| list(&entry.sent)),
        of(entries, |entry| entry.relayed),
        of(entries, |entry| list(&entry.repairs)),
        of(entries, |entry| list(&entry.losses)),
        of(entries, |entry| int(entry.tokens.input)),
        of(entries, |entry| int(entry.tokens.cache_read)),
        of(entries, |entry| int(entry.tokens.cache_write)),
        of(entries, |entry| int(entry.tokens.output)),
        of(entries, |entry| int(entry.tokens.reasoning)),
        of(entries, |entry| entry.cost.map(|cost| cost.0)),
        of(entries, |entry| entry.first_ms.map(int)),
        of(entries, |entry| int(entry.total_ms)),
        of(entries, |entry| entry.ending.word()),
        of(entries, |entry| i64::from(entry.status)),
        of(entries, |entry| maybe(entry.problem.as_ref())),
        of(entries, |entry| int(entry.repairs.len() as u64)),
    ]
}
