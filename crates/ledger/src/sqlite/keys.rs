//! Keys, what they spent and what is held of them.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::Sqlite;
use crate::limits::{Account, Used, admits, book, day, first_day, is_limited};
use crate::row::{self, int, list};
use crate::store::{Amount, Asking, Held};
use crate::trouble::Trouble;
use crate::{Budget, Key, KeyId, Money, Refusal};

impl Sqlite {
    pub(crate) async fn has_keys(&self) -> Result<bool, Trouble> {
        has_keys(&*self.door.lock().await)
    }

    /// The same without waiting; none if others are at it.
    pub(crate) fn has_keys_now(&self) -> Option<bool> {
        has_keys(&*self.door.try_lock().ok()?).ok()
    }

    pub(crate) async fn create(&self, account: &Account) -> Result<(), Trouble> {
        let mut writer = self.writer.lock().await;
        let change = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let Account { key, hash, full_at } = account;
        let taken = "SELECT EXISTS (SELECT 1 FROM keys WHERE name = ?1 AND revoked IS NULL)";
        if change.query_row(taken, [&key.name], |row| row.get(0))? {
            return Err(Trouble::Taken);
        }
        let sql = format!("INSERT INTO keys ({}) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)", row::KEY);
        change.execute(
            &sql,
            params![
                key.id.0,
                key.name,
                hash,
                key.admin,
                list(&key.models),
                key.rate.map(|rate| rate.per_minute),
                key.budget.map(|budget| budget.amount.0),
                key.budget.map(|budget| budget.per.word()),
                int(key.created),
                key.expires.map(int),
                key.revoked.map(int),
                full_at
            ],
        )?;
        Ok(change.commit()?)
    }

    pub(crate) async fn accounts(&self) -> Result<Vec<Account>, Trouble> {
        let door = self.door.lock().await;
        let sql = format!("SELECT {} FROM keys ORDER BY created, number", row::KEY);
        let mut found = door.prepare_cached(&sql)?;
        found.query_and_then([], |row| row::account(row))?.collect()
    }

    pub(crate) async fn account(&self, id: &KeyId) -> Result<Option<Account>, Trouble> {
        account(&*self.door.lock().await, id)
    }

    pub(crate) async fn revoke(&self, which: &str, now: u64) -> Result<Option<Account>, Trouble> {
        let mut writer = self.writer.lock().await;
        let change = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let live = "SELECT id FROM keys WHERE revoked IS NULL AND (id = ?1 OR name = ?1) ORDER BY id = ?1 DESC LIMIT 1";
        let Some(id) = change.query_row(live, [which], |row| row.get(0)).optional()?.map(KeyId) else {
            return Ok(None);
        };
        change.execute("UPDATE keys SET revoked = ?2 WHERE id = ?1", params![id.0, int(now)])?;
        let revoked = account(&change, &id)?;
        change.commit()?;
        Ok(revoked)
    }

    pub(crate) async fn hold(&self, asking: &Asking) -> Result<Held, Trouble> {
        let Asking { key: id, names, expected, now } = asking;
        let Some(Account { key, .. }) = self.account(id).await? else { return Ok(Err(Refusal::Unknown)) };
        if let Err(refusal) = admits(&key, names, *now) {
            return Ok(Err(refusal));
        }
        if !is_limited(&key) {
            return Ok(Ok(None));
        }
        let mut writer = self.writer.lock().await;
        let change = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let Some(account) = account(&change, id)? else { return Ok(Err(Refusal::Unknown)) };
        let used = used(&change, &account.key, *now)?;
        let booked = admits(&account.key, names, *now).and_then(|()| book(&account, used, *expected, *now));
        let booking = match booked {
            Ok(booking) => booking,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut rate = change.prepare_cached("UPDATE keys SET full_at = ?2 WHERE id = ?1")?;
        rate.execute(params![id.0, booking.full_at])?;
        let mut lapsed = change.prepare_cached("DELETE FROM holds WHERE key = ?1 AND until <= ?2")?;
        lapsed.execute(params![id.0, int(*now)])?;
        let mut hold =
            change.prepare_cached("INSERT INTO holds (key, day, amount, until) VALUES (?1, ?2, ?3, ?4)")?;
        hold.execute(params![id.0, day(booking.at), booking.amount.0, int(booking.until)])?;
        let number = change.last_insert_rowid();
        drop((rate, lapsed, hold));
        change.commit()?;
        Ok(Ok(Some(number)))
    }

    pub(crate) async fn spent(&self, from: i64) -> Result<Vec<Amount>, Trouble> {
        let reader = self.reader.lock().await;
        amounts(&reader, "SELECT key, day, amount FROM spent WHERE day >= ?1", from)
    }

    pub(crate) async fn held(&self, now: u64) -> Result<Vec<Amount>, Trouble> {
        let reader = self.reader.lock().await;
        amounts(
            &reader,
            "SELECT key, day, sum(amount) FROM holds WHERE until > ?1 GROUP BY key, day",
            int(now),
        )
    }
}

fn has_keys(connection: &Connection) -> Result<bool, Trouble> {
    let mut found = connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM keys)")?;
    Ok(found.query_row([], |row| row.get(0))?)
}

fn account(connection: &Connection, id: &KeyId) -> Result<Option<Account>, Trouble> {
    let sql = format!("SELECT {} FROM keys WHERE id = ?1", row::KEY);
    let mut found = connection.prepare_cached(&sql)?;
    let mut rows = found.query([&id.0])?;
    rows.next()?.map(row::account).transpose()
}

/// What of the key's budget is gone.
fn used(connection: &Connection, key: &Key, now: u64) -> Result<Used, Trouble> {
    let Some(Budget { per, .. }) = key.budget else { return Ok(Used::default()) };
    let sql = "SELECT (SELECT coalesce(sum(amount), 0) FROM spent WHERE key = ?1 AND day >= ?2), \
               (SELECT coalesce(sum(amount), 0) FROM holds WHERE key = ?1 AND day >= ?2 AND until > ?3)";
    let mut sums = connection.prepare_cached(sql)?;
    let sums = sums.query_row(params![key.id.0, first_day(per, now), int(now)], |row| {
        Ok(Used { spent: Money(row.get(0)?), held: Money(row.get(1)?), clock: None })
    });
    Ok(sums?)
}

fn amounts(connection: &Connection, sql: &str, from: i64) -> Result<Vec<Amount>, Trouble> {
    let mut found = connection.prepare_cached(sql)?;
    let rows = found
        .query_map([from], |row| Ok(Amount { key: row.get(0)?, day: row.get(1)?, amount: row.get(2)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
