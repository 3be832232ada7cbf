//! Keys and entries as rows, read alike from both databases.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use rail_model::Json;

use crate::limits::Account;
use crate::trouble::Trouble;
use crate::{Budget, Ending, Entry, Key, KeyId, Money, Period, Rate, SentEntry, Tokens};

/// The columns of a key, in the order in which [`account`] reads them.
pub(crate) const KEY: &str =
    "id, name, secret, admin, models, per_minute, budget, per, created, expires, revoked, full_at";

/// The columns of an entry, in the order in which [`entry`] reads them.
pub(crate) const ENTRY: &str = "id, at, key, client, session, protocol, operation, stream, asked, virtual_model, route, target, sent, \
     relayed, repairs, losses, input, cache_read, cache_write, output, reasoning, cost, first_ms, total_ms, ending, status, problem";

/// Behind every id.
pub(crate) const LAST: &str = "\u{10FFFF}";

/// A row of a database.
pub(crate) trait Columns {
    fn text(&self, at: usize) -> Result<Option<String>, Trouble>;
    fn number(&self, at: usize) -> Result<Option<i64>, Trouble>;
    fn bytes(&self, at: usize) -> Result<Vec<u8>, Trouble>;
    fn flag(&self, at: usize) -> Result<bool, Trouble>;
}

/// Reads columns one after the other.
struct Cursor<'a, C> {
    row: &'a C,
    at: usize,
}

impl<C: Columns> Cursor<'_, C> {
    fn next(&mut self) -> usize {
        self.at += 1;
        self.at - 1
    }

    fn maybe_text(&mut self) -> Result<Option<String>, Trouble> {
        let at = self.next();
        self.row.text(at)
    }

    fn text(&mut self) -> Result<String, Trouble> {
        self.maybe_text().map(Option::unwrap_or_default)
    }

    fn maybe_number<T: TryFrom<i64>>(&mut self) -> Result<Option<T>, Trouble> {
        let at = self.next();
        Ok(self.row.number(at)?.and_then(|number| T::try_from(number).ok()))
    }

    fn number<T: TryFrom<i64> + Default>(&mut self) -> Result<T, Trouble> {
        self.maybe_number().map(Option::unwrap_or_default)
    }

    fn bytes(&mut self) -> Result<Vec<u8>, Trouble> {
        let at = self.next();
        self.row.bytes(at)
    }

    fn flag(&mut self) -> Result<bool, Trouble> {
        let at = self.next();
        self.row.flag(at)
    }

    fn json<T: DeserializeOwned>(&mut self) -> Result<T, Trouble> {
        let text = self.text()?;
        serde_json::from_str(&text)
            .map_err(|error| Trouble::Rejected(format!("what is kept can't be read: {error}")))
    }
}

/// A key from a row with the columns [`KEY`].
pub(crate) fn account(row: &impl Columns) -> Result<Account, Trouble> {
    let mut row = Cursor { row, at: 0 };
    let (id, name, hash) = (KeyId(row.text()?), row.text()?, row.bytes()?);
    let (admin, models) = (row.flag()?, row.json()?);
    let rate = row.maybe_number()?.map(|per_minute| Rate { per_minute });
    let (amount, per) = (row.maybe_number()?.map(Money), row.maybe_text()?);
    let per = if per.as_deref() == Some(Period::Month.word()) { Period::Month } else { Period::Day };
    let budget = amount.map(|amount| Budget { amount, per });
    let (created, expires, revoked) = (row.number()?, row.maybe_number()?, row.maybe_number()?);
    let full_at = row.number()?;
    let key = Key { id, name, admin, models, rate, budget, created, expires, revoked };
    Ok(Account { key, hash, full_at })
}

/// An entry from a row with the columns [`ENTRY`]; bodies are kept elsewhere.
pub(crate) fn entry(row: &impl Columns) -> Result<Entry, Trouble> {
    let mut row = Cursor { row, at: 0 };
    Ok(Entry {
        id: row.text()?,
        at: row.number()?,
        key: row.maybe_text()?.map(KeyId),
        client: row.text()?,
        session: row.maybe_text()?,
        protocol: row.text()?,
        operation: row.text()?,
        stream: row.flag()?,
        asked: row.text()?,
        virtual_model: row.maybe_text()?,
        route: row.maybe_text()?.and_then(|text| Json::parse(text).ok()),
        target: row.maybe_text()?,
        sent: row.json::<Vec<SentEntry>>()?,
        relayed: row.flag()?,
        repairs: row.json()?,
        losses: row.json()?,
        tokens: Tokens {
            input: row.number()?,
            cache_read: row.number()?,
            cache_write: row.number()?,
            output: row.number()?,
            reasoning: row.number()?,
        },
        cost: row.maybe_number()?.map(Money),
        first_ms: row.maybe_number()?,
        total_ms: row.number()?,
        ending: ending(&row.text()?)?,
        status: row.number()?,
        problem: row.maybe_text()?,
        bodies: None,
    })
}

fn ending(word: &str) -> Result<Ending, Trouble> {
    let found = Ending::ALL.into_iter().find(|ending| ending.word() == word);
    found.ok_or_else(|| Trouble::Rejected(format!("`{word}` is no ending of a request")))
}

/// A list as JSON text.
pub(crate) fn list<T: Serialize>(items: &[T]) -> Cow<'static, str> {
    if items.is_empty() {
        return Cow::Borrowed("[]");
    }
    serde_json::to_string(items).map_or(Cow::Borrowed("[]"), Cow::Owned)
}

/// A number as databases keep it.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_read_as_they_are_written() {
        for one in Ending::ALL {
            assert_eq!(ending(one.word()).unwrap(), one);
            assert_eq!(serde_json::to_value(one).unwrap(), one.word());
        }
        assert!(ending("lost").is_err());
    }
}
