//! The two databases, asked alike.

use crate::desk::Item;
use crate::limits::Account;
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::trouble::Trouble;
use crate::usage::{Counted, Grouped};
use crate::{Entry, KeyId, Money, Refusal};

/// Where keys and records are. Both kinds have the same methods; what is decided, they decide by the same pure code.
pub(crate) enum Store {
    Sqlite(Sqlite),
    Postgres(Box<Postgres>),
}

/// A request that wants to be let through.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    pub(crate) key: KeyId,
    pub(crate) names: Vec<String>,
    pub(crate) expected: Money,
    pub(crate) now: u64,
}

/// The number of a hold, or none where there is nothing to hold; or why the request is not let through.
pub(crate) type Held = Result<Option<i64>, Refusal>;

/// An amount of a key at a day.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Amount {
    pub(crate) key: String,
    pub(crate) day: i64,
    pub(crate) amount: i64,
}

macro_rules! either {
    ($store:expr, $inner:ident => $what:expr) => {
        match $store {
            Store::Sqlite($inner) => $what,
            Store::Postgres($inner) => $what,
        }
    };
}

impl Store {
    pub(crate) async fn has_keys(&self) -> Result<bool, Trouble> {
        either!(self, store => store.has_keys().await)
    }

    /// The same from memory, where that takes no longer than to hand the question over; none where it would.
    pub(crate) fn has_keys_now(&self) -> Option<bool> {
        match self {
            Self::Sqlite(sqlite) => sqlite.has_keys_now(),
            Self::Postgres(_) => None,
        }
    }

    /// Keeps a new key; its name must not be that of a live one.
    pub(crate) async fn create(&self, account: &Account) -> Result<(), Trouble> {
        either!(self, store => store.create(account).await)
    }

    /// All keys, the oldest first.
    pub(crate) async fn accounts(&self) -> Result<Vec<Account>, Trouble> {
        either!(self, store => store.accounts().await)
    }

    pub(crate) async fn account(&self, id: &KeyId) -> Result<Option<Account>, Trouble> {
        either!(self, store => store.account(id).await)
    }

    /// Revokes the live key of this id or name.
    pub(crate) async fn revoke(&self, which: &str, now: u64) -> Result<Option<Account>, Trouble> {
        either!(self, store => store.revoke(which, now).await)
    }

    /// Decides and books in one transaction, with the key's row locked.
    pub(crate) async fn hold(&self, asking: &Asking) -> Result<Held, Trouble> {
        either!(self, store => store.hold(asking).await)
    }

    /// Writes all of these or none. What was written before is not written again.
    pub(crate) async fn write(&self, batch: &[Item]) -> Result<(), Trouble> {
        either!(self, store => store.write(batch).await)
    }

    /// What keys spent on each day from this one on.
    pub(crate) async fn spent(&self, from: i64) -> Result<Vec<Amount>, Trouble> {
        either!(self, store => store.spent(from).await)
    }

    /// What is held of keys at this moment, by the day on which it was asked for.
    pub(crate) async fn held(&self, now: u64) -> Result<Vec<Amount>, Trouble> {
        either!(self, store => store.held(now).await)
    }

    pub(crate) async fn recent(&self, most: usize, before: Option<&str>) -> Result<Vec<Entry>, Trouble> {
        either!(self, store => store.recent(most, before).await)
    }

    pub(crate) async fn entry(&self, id: &str) -> Result<Option<Entry>, Trouble> {
        either!(self, store => store.entry(id).await)
    }

    pub(crate) async fn count(&self, counted: Counted) -> Result<Vec<Grouped>, Trouble> {
        either!(self, store => store.count(counted).await)
    }
}
