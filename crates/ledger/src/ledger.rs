use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rail_stdx::Secret;

use crate::{Entry, Key, KeyId, Money, NewKey, Refusal};

/// Where a ledger is.
#[derive(Clone, Debug)]
pub enum Place {
    /// A SQLite file, made if it is not there.
    File(PathBuf),
    /// A PostgreSQL database, by its address.
    Postgres(Secret),
    /// Nowhere: forgotten with the process.
    Memory,
}

/// Why a ledger can't be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// It can't be opened.
    #[error("the ledger {place} can't be opened: {problem}")]
    Open {
        /// Where it is, without secrets.
        place: String,
        /// What happened, and what to do about it.
        problem: String,
    },
    /// It failed later.
    #[error("the ledger {place} failed: {problem}")]
    Failed {
        /// Where it is, without secrets.
        place: String,
        /// What happened.
        problem: String,
    },
}

/// What a request is expected to cost, taken off its key's budget until its record is written.
#[derive(Debug)]
pub struct Hold {
    /// Which one it is.
    pub(crate) id: i64,
}

/// The keys and the records. Cheap to clone: all clones are the same ledger.
#[derive(Clone)]
pub struct Ledger {
    entries: Arc<Mutex<Vec<Entry>>>,
}

impl Ledger {
    /// Opens a ledger, and brings an older one up to date.
    pub async fn open(_place: &Place) -> Result<Self, LedgerError> {
        Ok(Self { entries: Arc::default() })
    }

    /// Whether any key was ever made; without one the gateway is open to this machine and to nobody else.
    pub async fn has_keys(&self) -> Result<bool, LedgerError> {
        Ok(false)
    }

    /// Makes a key. Its secret is given this once and kept nowhere.
    pub async fn create_key(&self, new: &NewKey, now: u64) -> Result<(Key, Secret), LedgerError> {
        let _ = (new, now);
        Err(LedgerError::Failed { place: String::new(), problem: "no keys yet".to_owned() })
    }

    /// All keys, the oldest first.
    pub async fn keys(&self) -> Result<Vec<Key>, LedgerError> {
        Ok(Vec::new())
    }

    /// Revokes the key of this id or name; none when there is no such key, or it is revoked already.
    pub async fn revoke(&self, which: &str, now: u64) -> Result<Option<Key>, LedgerError> {
        let _ = (which, now);
        Ok(None)
    }

    /// The key that this secret belongs to, if it opens the door now.
    pub async fn identify(&self, secret: &Secret, now: u64) -> Result<Key, Refusal> {
        let _ = (secret, now);
        Err(Refusal::Unknown)
    }

    /// Takes a request's expected cost off its key's budget and counts it against its rate, both or neither. `names` are those that
    /// the asked model has: the key must allow one of them.
    pub async fn hold(
        &self,
        key: &KeyId,
        names: &[&str],
        expected: Money,
        now: u64,
    ) -> Result<Hold, Refusal> {
        let _ = (key, names, expected, now);
        Ok(Hold { id: 0 })
    }

    /// Records a request that came to its end, in place of what it held. Returns at once; it is written soon, in order.
    pub fn record(&self, entry: Entry, hold: Option<Hold>) {
        let _ = hold.map(|hold| hold.id);
        if let Ok(mut entries) = self.entries.lock() {
            entries.push(entry);
        }
    }

    /// Gives back what a request held that came to nothing and is not recorded.
    pub fn release(&self, hold: Hold) {
        let _ = hold.id;
    }

    /// Waits until all that was recorded is written.
    pub async fn flush(&self) -> Result<(), LedgerError> {
        Ok(())
    }

    /// The newest records, at most so many; with `before`, those older than the record of that id.
    pub async fn recent(&self, most: usize, before: Option<&str>) -> Result<Vec<Entry>, LedgerError> {
        let _ = before;
        let entries = self.entries.lock().map(|entries| entries.clone()).unwrap_or_default();
        Ok(entries.into_iter().rev().take(most).collect())
    }
}
