//! The ledger in a PostgreSQL database, which several gateways may share.

mod address;
mod entries;
mod keys;
mod pool;
mod tls;
mod usage;

use std::borrow::Cow;

use rail_stdx::Secret;
use tokio::runtime::Handle;
use tokio_postgres::Row;

use crate::row::Columns;
use crate::trouble::Trouble;

pub(crate) use address::shown;
use pool::Pool;

/// What makes a ledger of each version from the one before.
const STEPS: &[&str] = &[include_str!("schema.sql")];
/// The number of the lock under which the schema is changed: `rail` in ASCII.
const LOCK: i64 = 0x7261_696c;

/// A PostgreSQL database.
pub(crate) struct Postgres {
    pool: Pool,
}

impl Postgres {
    /// Opens the database and brings it up to date. Connections live on the given runtime.
    pub(crate) async fn open(address: &Secret, handle: Handle) -> Result<Self, String> {
        let pool = Pool::new(address::read(address)?, handle);
        migrate(&pool).await.map_err(Trouble::words)?;
        Ok(Self { pool })
    }
}

/// Brings the database up to date, whoever else does the same at this moment.
async fn migrate(pool: &Pool) -> Result<(), Trouble> {
    let change = pool.begin().await?;
    // The lock ends with the transaction.
    change.batch(&format!("SELECT pg_advisory_xact_lock({LOCK})")).await?;
    change.batch("CREATE TABLE IF NOT EXISTS rail_schema (version BIGINT NOT NULL)").await?;
    let found = change.query("SELECT coalesce(max(version), 0) FROM rail_schema", &[]).await?;
    let version: i64 = found.first().map_or(Ok(0), |row| row.try_get(0))?;
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    if done > STEPS.len() {
        return Err(Trouble::Rejected(crate::ledger::newer(version, STEPS.len())));
    }
    for (step, version) in STEPS.iter().zip(1..).skip(done) {
        change.batch(step).await?;
        change.batch(&format!("INSERT INTO rail_schema (version) VALUES ({version})")).await?;
    }
    change.commit().await
}

impl From<tokio_postgres::Error> for Trouble {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(said) = error.as_db_error() else {
            // The reason stands behind the kind of error.
            let mut words = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(inner) = cause {
                words = format!("{words}: {inner}");
                cause = inner.source();
            }
            return Self::Away(words);
        };
        if said.constraint() == Some("rail_keys_live_name") {
            return Self::Taken;
        }
        // Wrong data, a broken constraint, and what is too large: by the classes of SQLSTATE.
        let never = ["22", "23", "54"].iter().any(|class| said.code().code().starts_with(class));
        let words = format!("{} (SQLSTATE {})", said.message(), said.code().code());
        if never { Self::Rejected(words) } else { Self::Away(words) }
    }
}

/// Text as PostgreSQL takes it: it knows no character 0.
fn clean(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{FFFD}")) } else { Cow::Borrowed(text) }
}

impl Columns for Row {
    fn text(&self, at: usize) -> Result<Option<String>, Trouble> {
        Ok(self.try_get(at)?)
    }

    fn number(&self, at: usize) -> Result<Option<i64>, Trouble> {
        Ok(self.try_get(at)?)
    }

    fn bytes(&self, at: usize) -> Result<Vec<u8>, Trouble> {
        Ok(self.try_get(at)?)
    }

    fn flag(&self, at: usize) -> Result<bool, Trouble> {
        Ok(self.try_get(at)?)
    }
}
