//! The ledger in a SQLite file.
//!
//! Several processes may use one file. The file is in WAL mode, so that readers and the writer do not wait for each other; a commit
//! survives the end of a process at once, and a loss of power after the next checkpoint.

mod entries;
mod keys;
mod usage;

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Row, TransactionBehavior};
use tokio::sync::Mutex;
use tokio::time::sleep;

use crate::row::Columns;
use crate::trouble::Trouble;

/// What makes a ledger of each version from the one before.
const STEPS: &[&str] = &[include_str!("schema.sql")];
/// So long another process may keep the file for itself.
const BUSY: Duration = Duration::from_secs(5);
/// So often it is tried to bring a file to WAL mode while others open it too.
const TRIES: u32 = 50;

/// A SQLite file. Each connection is used by one at a time, in the order in which they came.
pub(crate) struct Sqlite {
    writer: Arc<Mutex<Connection>>,
    /// For what a request waits for.
    door: Arc<Mutex<Connection>>,
    /// For what may take long.
    reader: Arc<Mutex<Connection>>,
}

impl Sqlite {
    /// Opens the file, which only its owner can read if it is made now.
    pub(crate) async fn open(path: &Path) -> Result<Self, String> {
        make(path).map_err(|error| format!("{error}; it must be a file in a folder that can be written"))?;
        let mut connections = Vec::new();
        for _ in 0..3 {
            connections.push(connect(path).await.map_err(Trouble::words)?);
        }
        let (Some(mut writer), Some(door), Some(reader)) =
            (connections.pop(), connections.pop(), connections.pop())
        else {
            return Err("there are too few connections".to_owned());
        };
        migrate(&mut writer).map_err(Trouble::words)?;
        let [writer, door, reader] = [writer, door, reader].map(|one| Arc::new(Mutex::new(one)));
        Ok(Self { writer, door, reader })
    }

    /// A ledger in memory: one connection, since another would see another memory.
    pub(crate) fn in_memory() -> Result<Self, String> {
        let mut connection = Connection::open_in_memory().map_err(|error| error.to_string())?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        migrate(&mut connection).map_err(Trouble::words)?;
        let connection = Arc::new(Mutex::new(connection));
        Ok(Self { writer: Arc::clone(&connection), door: Arc::clone(&connection), reader: connection })
    }
}

/// So many statements are kept prepared.
const STATEMENTS: usize = 32;

/// Makes the file and its folder where they are missing.
fn make(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

async fn connect(path: &Path) -> Result<Connection, Trouble> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    for left in (0..TRIES).rev() {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Ok(()) => break,
            // The change of mode does not wait for others by itself.
            Err(error) if left > 0 && is_busy(&error) => sleep(Duration::from_millis(20)).await,
            Err(error) => return Err(error.into()),
        }
    }
    connection.pragma_update(None, "synchronous", "normal")?;
    Ok(connection)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Brings the file up to date, whoever else does the same at this moment.
fn migrate(connection: &mut Connection) -> Result<(), Trouble> {
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = change.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    if done > STEPS.len() {
        return Err(Trouble::Rejected(crate::ledger::newer(version, STEPS.len())));
    }
    for (step, version) in STEPS.iter().zip(1..).skip(done) {
        change.execute_batch(step)?;
        change.pragma_update(None, "user_version", version)?;
    }
    Ok(change.commit()?)
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig) => {
                Self::Rejected(error.to_string())
            }
            Some(ErrorCode::NotADatabase) => {
                Self::Away("it is no SQLite database; move it away, and a new one is made".to_owned())
            }
            Some(ErrorCode::DiskFull) => Self::Away("the disk is full; make room on it".to_owned()),
            Some(ErrorCode::ReadOnly) => Self::Away("it can't be written; make it writable".to_owned()),
            Some(_) | None => Self::Away(error.to_string()),
        }
    }
}

impl Columns for Row<'_> {
    fn text(&self, at: usize) -> Result<Option<String>, Trouble> {
        Ok(self.get(at)?)
    }

    fn number(&self, at: usize) -> Result<Option<i64>, Trouble> {
        Ok(self.get(at)?)
    }

    fn bytes(&self, at: usize) -> Result<Vec<u8>, Trouble> {
        Ok(self.get(at)?)
    }

    fn flag(&self, at: usize) -> Result<bool, Trouble> {
        Ok(self.get(at)?)
    }
}
