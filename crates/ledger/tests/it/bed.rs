//! A ledger to be tested, in each kind of database.

use std::path::PathBuf;
use std::sync::Arc;

use rail_ledger::{Budget, Ending, Entry, Key, KeyId, Ledger, Money, NewKey, Period, Place, Rate, Tokens};
use rail_stdx::Secret;
use rail_testkit::Postgres;
use tempfile::TempDir;

/// 2026-03-01T12:00:00Z.
pub(crate) const NOON: u64 = 1_772_366_400_000;
pub(crate) const DAY: u64 = 86_400_000;

/// An empty database.
pub(crate) enum Bed {
    File(TempDir),
    Postgres(Arc<Postgres>, String),
}

impl Bed {
    /// One of each kind; PostgreSQL where there is one.
    pub(crate) fn all() -> Vec<Self> {
        let file = Self::File(tempfile::tempdir().unwrap());
        let server = Postgres::shared();
        let postgres = server.map(|server| {
            let address = server.database().unwrap();
            Self::Postgres(server, address)
        });
        [file].into_iter().chain(postgres).collect()
    }

    pub(crate) fn place(&self) -> Place {
        match self {
            Self::File(folder) => Place::File(file(folder)),
            Self::Postgres(_, address) => Place::Postgres(Secret::new(address.clone())),
        }
    }

    pub(crate) async fn open(&self) -> Ledger {
        Ledger::open(&self.place()).await.unwrap()
    }

    /// What a statement gives as text, lines of values with `|` between them; `@` stands before the name of each table.
    pub(crate) fn sql(&self, sql: &str) -> String {
        match self {
            Self::Postgres(server, address) => server.sql(address, &sql.replace('@', "rail_")).unwrap(),
            Self::File(folder) => {
                let database = rusqlite::Connection::open(file(folder)).unwrap();
                let mut found = database.prepare(&sql.replace('@', "")).unwrap();
                let columns = found.column_count();
                let mut rows = found.query([]).unwrap();
                let mut lines = Vec::new();
                while let Some(row) = rows.next().unwrap() {
                    let value = |at: usize| match row.get::<_, rusqlite::types::Value>(at).unwrap() {
                        rusqlite::types::Value::Text(text) => text,
                        rusqlite::types::Value::Integer(number) => number.to_string(),
                        other => format!("{other:?}"),
                    };
                    lines.push((0..columns).map(value).collect::<Vec<_>>().join("|"));
                }
                lines.join("\n")
            }
        }
    }
}

pub(crate) fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("state/ledger.db")
}

/// Runs a test on each kind of database.
pub(crate) fn each<F: Future<Output = ()>>(test: impl Fn(Bed) -> F) {
    for bed in Bed::all() {
        run(test(bed));
    }
}

/// Runs a test that makes its own time on a file: a server's clock decides by itself.
pub(crate) fn on_file<F: Future<Output = ()>>(test: impl FnOnce(Bed) -> F) {
    run(test(Bed::File(tempfile::tempdir().unwrap())));
}

/// Runs a test on several threads.
pub(crate) fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

pub(crate) fn named(name: &str) -> NewKey {
    NewKey { name: name.to_owned(), ..NewKey::default() }
}

pub(crate) fn limited(name: &str, rate: Option<u32>, budget: Option<(i64, Period)>) -> NewKey {
    NewKey {
        rate: rate.map(|per_minute| Rate { per_minute }),
        budget: budget.map(|(amount, per)| Budget { amount: Money(amount), per }),
        ..named(name)
    }
}

pub(crate) async fn key(ledger: &Ledger, new: &NewKey) -> Key {
    ledger.create_key(new, NOON).await.unwrap().0
}

/// A plain record.
pub(crate) fn entry(id: &str, at: u64, key: Option<&KeyId>, cost: Option<i64>) -> Entry {
    Entry {
        id: id.to_owned(),
        at,
        key: key.cloned(),
        client: "claude-code".to_owned(),
        session: None,
        protocol: "anthropic".to_owned(),
        operation: "generate".to_owned(),
        stream: true,
        asked: "opus".to_owned(),
        virtual_model: None,
        route: None,
        target: Some("one,big".to_owned()),
        sent: Vec::new(),
        relayed: false,
        repairs: Vec::new(),
        losses: Vec::new(),
        tokens: Tokens { input: 10, output: 5, ..Tokens::default() },
        cost: cost.map(Money),
        first_ms: Some(100),
        total_ms: 1000,
        ending: Ending::Answered,
        status: 200,
        problem: None,
        bodies: None,
    }
}
