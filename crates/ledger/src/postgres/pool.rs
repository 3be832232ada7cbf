//! A few connections, made when they are needed and again when the server was away.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::address::Address;
use super::tls::connector;
use crate::trouble::Trouble;

/// So many connections a ledger has at most.
const CONNECTIONS: usize = 8;
/// So long a server may take for one step.
const PATIENCE: Duration = Duration::from_secs(15);

/// Whatever the default of the database is, two statements of a transaction see two moments.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// Connections to one database.
pub(super) struct Pool {
    address: Address,
    handle: Handle,
    places: Semaphore,
    idle: Mutex<Vec<Connection>>,
}

/// One connection.
struct Connection {
    client: Client,
    statements: tokio::sync::Mutex<HashMap<&'static str, Statement>>,
    /// The task that reads and writes its socket, which ends with it.
    task: AbortHandle,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A connection in use. One that is not given back is closed, and the server undoes what it had begun.
pub(super) struct Lease<'a> {
    pool: &'a Pool,
    connection: Connection,
    /// Whether it was used before, so that it may be gone without our knowing.
    age: Age,
    _place: SemaphorePermit<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    New,
    Used,
}

/// A transaction; one that is not committed is undone.
pub(super) struct Change<'a>(Lease<'a>);

/// What a statement is given.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Pool {
    pub(super) fn new(address: Address, handle: Handle) -> Self {
        Self { address, handle, places: Semaphore::new(CONNECTIONS), idle: Mutex::default() }
    }

    /// The rows of one query that changes nothing, or nothing that matters if it is done twice.
    pub(super) async fn query(&self, sql: &'static str, params: Params<'_>) -> Result<Vec<Row>, Trouble> {
        self.leased_query(sql, params).await.map(|(lease, rows)| {
            lease.give_back();
            rows
        })
    }

    /// The same, with the connection that has just shown that it is there.
    pub(super) async fn leased_query(
        &self,
        sql: &'static str,
        params: Params<'_>,
    ) -> Result<(Lease<'_>, Vec<Row>), Trouble> {
        loop {
            let lease = self.lease().await?;
            match patiently(lease.query(sql, params)).await? {
                Ok(rows) => return Ok((lease, rows)),
                // The server was away since it was last used; there are only so many of these.
                Err(error) if lease.age == Age::Used && is_gone(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Begins a transaction.
    pub(super) async fn begin(&self) -> Result<Change<'_>, Trouble> {
        loop {
            let lease = self.lease().await?;
            match patiently(lease.connection.client.batch_execute(BEGIN)).await? {
                Ok(()) => return Ok(Change(lease)),
                Err(error) if lease.age == Age::Used && is_gone(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn lease(&self) -> Result<Lease<'_>, Trouble> {
        let place = patiently(self.places.acquire()).await?;
        let place = place.map_err(|error| Trouble::Away(error.to_string()))?;
        let old = std::iter::from_fn(|| self.idle().pop()).find(|one| !one.client.is_closed());
        let (connection, age) = match old {
            Some(connection) => (connection, Age::Used),
            None => (patiently(self.connect()).await??, Age::New),
        };
        Ok(Lease { pool: self, connection, age, _place: place })
    }

    async fn connect(&self) -> Result<Connection, Trouble> {
        let tls = connector(&self.address.trust).map_err(Trouble::Away)?;
        let (client, connection) = self.address.config.connect(tls).await.map_err(|error| {
            let is_silent = error.as_db_error().is_none();
            let question = if is_silent { "; is the server running, and is its address right?" } else { "" };
            Trouble::Away(format!("{}{question}", Trouble::from(error).words()))
        })?;
        let task = self.handle.spawn(async move {
            // Whoever waits for an answer is told of the failure.
            let _ = connection.await;
        });
        let task = task.abort_handle();
        Ok(Connection { client, statements: tokio::sync::Mutex::default(), task })
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease<'_> {
    pub(super) async fn query(&self, sql: &'static str, params: Params<'_>) -> Result<Vec<Row>, Error> {
        let statement = self.statement(sql).await?;
        self.connection.client.query(&statement, params).await
    }

    /// The statement, prepared once for each connection.
    pub(super) async fn statement(&self, sql: &'static str) -> Result<Statement, Error> {
        let mut statements = self.connection.statements.lock().await;
        if let Some(statement) = statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.connection.client.prepare(sql).await?;
        statements.insert(sql, statement.clone());
        Ok(statement)
    }

    pub(super) fn client(&self) -> &Client {
        &self.connection.client
    }

    /// Gives the connection back, to be used again.
    pub(super) fn give_back(self) {
        let Self { pool, connection, .. } = self;
        pool.idle().push(connection);
    }
}

impl Change<'_> {
    pub(super) async fn query(&self, sql: &'static str, params: Params<'_>) -> Result<Vec<Row>, Trouble> {
        Ok(patiently(self.0.query(sql, params)).await??)
    }

    /// Statements without values.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Trouble> {
        Ok(patiently(self.0.client().batch_execute(sql)).await??)
    }

    pub(super) async fn commit(self) -> Result<(), Trouble> {
        self.batch("COMMIT").await?;
        self.0.give_back();
        Ok(())
    }
}

/// Waits for the server, but not for ever.
pub(super) async fn patiently<T>(work: impl Future<Output = T>) -> Result<T, Trouble> {
    let late = || Trouble::Away(format!("it has not answered for {} s", PATIENCE.as_secs()));
    timeout(PATIENCE, work).await.map_err(|_| late())
}

/// Whether the connection is no more, or the server says that it goes.
fn is_gone(error: &Error) -> bool {
    error.as_db_error().is_none_or(|said| said.code().code().starts_with("57P"))
}
