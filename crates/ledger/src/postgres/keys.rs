//! Keys, what they spent and what is held of them.

use std::sync::LazyLock;

use tokio_postgres::Row;

use super::pool::{BEGIN, Lease, Params, patiently};
use super::{Postgres, clean};
use crate::limits::{Account, Booking, Used, admits, book, day, first_day, is_limited};
use crate::row::{self, int, list};
use crate::store::{Amount, Asking, Held};
use crate::trouble::Trouble;
use crate::{Key, KeyId, Money, Period, Refusal};

static CREATE: LazyLock<String> = LazyLock::new(|| {
    format!("INSERT INTO rail_keys ({}) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12)", row::KEY)
});
static ALL: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {} FROM rail_keys ORDER BY created, number", row::KEY));
static ONE: LazyLock<String> = LazyLock::new(|| format!("SELECT {} FROM rail_keys WHERE id = $1", row::KEY));
static LOCKED: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {} FROM rail_keys WHERE id = $1 FOR UPDATE", row::KEY));
static REVOKE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "UPDATE rail_keys SET revoked = $2 WHERE revoked IS NULL AND id = (SELECT id FROM rail_keys \
         WHERE revoked IS NULL AND (id = $1 OR name = $1) ORDER BY id = $1 DESC LIMIT 1) RETURNING {}",
        row::KEY
    )
});
/// Both sums in one statement: it sees one moment, so that a record that takes the place of a hold is never seen by half. That moment
/// comes with them.
const USED: &str = "SELECT \
    (SELECT coalesce(sum(amount), 0)::bigint FROM rail_spent WHERE key = $1 AND day >= $2), \
    (SELECT coalesce(sum(amount), 0)::bigint FROM rail_holds WHERE key = $1 AND day >= $2 AND until > $3), \
    floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
const BOOK: &str = "WITH rate AS (UPDATE rail_keys SET full_at = $2 WHERE id = $1), \
    lapsed AS (DELETE FROM rail_holds WHERE key = $1 AND until <= $3) \
    INSERT INTO rail_holds (key, day, amount, until) VALUES ($1, $4, $5, $6) RETURNING number";

impl Postgres {
    pub(crate) async fn has_keys(&self) -> Result<bool, Trouble> {
        let rows = self.pool.query("SELECT EXISTS (SELECT 1 FROM rail_keys)", &[]).await?;
        Ok(rows.first().map_or(Ok(false), |row| row.try_get(0))?)
    }

    pub(crate) async fn create(&self, account: &Account) -> Result<(), Trouble> {
        let Account { key, hash, full_at } = account;
        let change = self.pool.begin().await?;
        let values: Params<'_> = &[
            &key.id.0,
            &key.name,
            hash,
            &key.admin,
            &list(&key.models),
            &key.rate.map(|rate| i64::from(rate.per_minute)),
            &key.budget.map(|budget| budget.amount.0),
            &key.budget.map(|budget| budget.per.word()),
            &int(key.created),
            &key.expires.map(int),
            &key.revoked.map(int),
            full_at,
        ];
        change.query(&CREATE, values).await?;
        change.commit().await
    }

    pub(crate) async fn accounts(&self) -> Result<Vec<Account>, Trouble> {
        self.pool.query(&ALL, &[]).await?.iter().map(row::account).collect()
    }

    pub(crate) async fn account(&self, id: &KeyId) -> Result<Option<Account>, Trouble> {
        one(&self.pool.query(&ONE, &[&clean(&id.0)]).await?)
    }

    pub(crate) async fn revoke(&self, which: &str, now: u64) -> Result<Option<Account>, Trouble> {
        one(&self.pool.query(&REVOKE, &[&clean(which), &int(now)]).await?)
    }

    pub(crate) async fn hold(&self, asking: &Asking) -> Result<Held, Trouble> {
        let Asking { key: id, names, now, .. } = asking;
        let (lease, found) = self.pool.leased_query(&ONE, &[&id.0]).await?;
        let Some(Account { key, .. }) = one(&found)? else {
            lease.give_back();
            return Ok(Err(Refusal::Unknown));
        };
        let admitted = admits(&key, names, *now);
        if admitted.is_err() || !is_limited(&key) {
            lease.give_back();
            return Ok(admitted.map(|()| None));
        }
        patiently(book_locked(lease, &key, asking)).await?
    }

    pub(crate) async fn spent(&self, from: i64) -> Result<Vec<Amount>, Trouble> {
        amounts(&self.pool.query("SELECT key, day, amount FROM rail_spent WHERE day >= $1", &[&from]).await?)
    }

    pub(crate) async fn held(&self, now: u64) -> Result<Vec<Amount>, Trouble> {
        let sql = "SELECT key, day, sum(amount)::bigint FROM rail_holds WHERE until > $1 GROUP BY key, day";
        amounts(&self.pool.query(sql, &[&int(now)]).await?)
    }
}

/// Decides and books, with the key's row locked.
async fn book_locked(lease: Lease<'_>, key: &Key, asking: &Asking) -> Result<Held, Trouble> {
    let Asking { key: id, names, expected, now } = asking;
    let first = first_day(key.budget.map_or(Period::Day, |budget| budget.per), *now);
    let (locked, used, book_it) =
        (lease.statement(&LOCKED).await?, lease.statement(USED).await?, lease.statement(BOOK).await?);
    let client = lease.client();
    let (id, at) = (id.0.as_str(), int(*now));
    // Sent in one go and done in this order. The sums are taken by a statement of their own behind the lock: one that waited for the
    // lock and summed at once would see the sums from before its wait.
    let (one_id, in_period): (Params<'_>, Params<'_>) = (&[&id], &[&id, &first, &at]);
    let (begun, account, sums) = tokio::join!(
        biased;
        client.batch_execute(BEGIN),
        client.query(&locked, one_id),
        client.query_one(&used, in_period),
    );
    begun?;
    let (account, sums) = (one(&account?)?, sums?);
    let clock = u64::try_from(sums.try_get::<_, i64>(2)?).ok();
    let used = Used { spent: Money(sums.try_get(0)?), held: Money(sums.try_get(1)?), clock };
    let booked = match account {
        None => Err(Refusal::Unknown),
        Some(account) => {
            admits(&account.key, names, *now).and_then(|()| book(&account, used, *expected, *now))
        }
    };
    let Booking { full_at, amount, at, until } = match booked {
        Ok(booking) => booking,
        Err(refusal) => {
            client.batch_execute("ROLLBACK").await?;
            lease.give_back();
            return Ok(Err(refusal));
        }
    };
    let (day, at, until) = (day(at), int(at), int(until));
    let values: Params<'_> = &[&id, &full_at, &at, &day, &amount.0, &until];
    let (number, committed) = tokio::join!(
        biased;
        client.query_one(&book_it, values),
        client.batch_execute("COMMIT"),
    );
    let number: i64 = number?.try_get(0)?;
    committed?;
    lease.give_back();
    Ok(Ok(Some(number)))
}

fn one(rows: &[Row]) -> Result<Option<Account>, Trouble> {
    rows.first().map(row::account).transpose()
}

fn amounts(rows: &[Row]) -> Result<Vec<Amount>, Trouble> {
    let amount =
        |row: &Row| Ok(Amount { key: row.try_get(0)?, day: row.try_get(1)?, amount: row.try_get(2)? });
    rows.iter().map(amount).collect()
}
