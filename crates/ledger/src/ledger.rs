use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rail_stdx::Secret;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;

use crate::desk::{Desk, Hold};
use crate::limits::{Account, first_day, is_good};
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::store::{Asking, Store};
use crate::trouble::Trouble;
use crate::{Entry, Key, KeyId, KeyState, Money, NewKey, Period, Refusal, Standing, keeper, secret};

/// So long the last one who leaves waits for what is not written yet.
const FAREWELL: Duration = Duration::from_secs(5);
/// One for each connection of a SQLite file, which is waited for while it works.
const THREADS: usize = 3;

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

impl Place {
    /// The database of an address, if it is one that is known here.
    pub fn at(address: &Secret) -> Option<Self> {
        let known = ["postgres://", "postgresql://"];
        known
            .iter()
            .any(|scheme| address.reveal().starts_with(scheme))
            .then(|| Self::Postgres(address.clone()))
    }
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
    /// A key that is not revoked has this name.
    #[error(
        "there is a key `{name}` already; choose another name, or revoke it first: `rail key revoke {name}`"
    )]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A key can't be made as it was asked for.
    #[error("{problem}")]
    WrongKey {
        /// What is wrong, and what to write instead.
        problem: String,
    },
}

/// The keys and the records. Cheap to clone: all clones are the same ledger. When the last one is dropped, what is not written yet is
/// written, as long as the database takes it.
#[derive(Clone)]
pub struct Ledger(Arc<Inner>);

struct Inner {
    place: String,
    kind: &'static str,
    store: Arc<Store>,
    desk: Arc<Desk>,
    /// The ledger's own threads: a database never keeps those of the gateway waiting, and what was begun is brought to its end even
    /// if nobody waits for it any more.
    runtime: Option<Runtime>,
    handle: Handle,
    /// Whether a key was seen.
    has_keys: AtomicBool,
    /// Closed when all is written.
    kept: Mutex<Receiver<()>>,
}

impl Ledger {
    /// Opens a ledger, and brings an older one up to date.
    pub async fn open(place: &Place) -> Result<Self, LedgerError> {
        let shown = shown(place);
        let open = |problem: String| LedgerError::Open { place: shown.clone(), problem };
        let kind = match place {
            Place::File(_) => "sqlite",
            Place::Postgres(_) => "postgres",
            Place::Memory => "memory",
        };
        let threads = match place {
            Place::File(_) => THREADS,
            Place::Postgres(_) | Place::Memory => 1,
        };
        let runtime =
            Builder::new_multi_thread().worker_threads(threads).thread_name("ledger").enable_all().build();
        let runtime = runtime.map_err(|error| open(format!("no thread can be started: {error}")))?;
        let handle = runtime.handle().clone();
        // From here on the runtime is shut down properly, whatever happens.
        let guard = Shutdown(Some(runtime));
        let (place, own) = (place.clone(), handle.clone());
        let opening = handle.spawn(async move {
            match place {
                Place::File(path) => Sqlite::open(&path).await.map(Store::Sqlite),
                Place::Memory => Sqlite::in_memory().map(Store::Sqlite),
                Place::Postgres(address) => {
                    Postgres::open(&address, own).await.map(Box::new).map(Store::Postgres)
                }
            }
        });
        let store = opening.await.map_err(|error| open(error.to_string()))?.map_err(open)?;
        let (store, desk) = (Arc::new(store), Arc::new(Desk::new()));
        let (done, kept) = channel();
        let (at, with) = (Arc::clone(&desk), Arc::clone(&store));
        handle.spawn(async move {
            keeper::keep(at, with).await;
            drop(done);
        });
        let runtime = guard.keep();
        let inner = Inner {
            place: shown,
            kind,
            store,
            desk,
            runtime,
            handle,
            has_keys: AtomicBool::new(false),
            kept: Mutex::new(kept),
        };
        Ok(Self(Arc::new(inner)))
    }

    /// Whether any key was ever made; without one the gateway is open to this machine and to nobody else.
    ///
    /// Cheap enough to be asked for every request: a key that was made is never unmade, and as long as there is none, a file is asked
    /// on the spot.
    pub async fn has_keys(&self) -> Result<bool, LedgerError> {
        if self.0.has_keys.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let found = match self.0.store.has_keys_now() {
            Some(found) => found,
            None => self.ask(async |store| store.has_keys().await).await?,
        };
        self.0.has_keys.store(found, Ordering::Relaxed);
        Ok(found)
    }

    /// The word for where it is: `sqlite`, `postgres`, or `memory` for one that is forgotten with the process.
    pub fn kind(&self) -> &'static str {
        self.0.kind
    }

    /// Asks the database whether it answers, which may take as long as the database does.
    pub async fn ping(&self) -> Result<(), LedgerError> {
        self.ask(async |store| store.has_keys().await).await.map(drop)
    }

    /// Makes a key. Its secret is given this once and kept nowhere.
    pub async fn create_key(&self, new: &NewKey, now: u64) -> Result<(Key, Secret), LedgerError> {
        check(new, now).map_err(|problem| LedgerError::WrongKey { problem })?;
        let fresh = secret::fresh().map_err(|problem| self.failed(Trouble::Away(problem)))?;
        let NewKey { name, admin, models, rate, budget, expires } = new.clone();
        let name = name.trim().to_owned();
        let key = Key {
            id: fresh.id,
            name: name.clone(),
            admin,
            models,
            rate,
            budget,
            created: now,
            expires,
            revoked: None,
        };
        let account = Account { key: key.clone(), hash: fresh.hash, full_at: 0 };
        match self.on(async move |store| store.create(&account).await).await {
            Ok(()) => Ok((key, fresh.secret)),
            Err(Trouble::Taken) => Err(LedgerError::NameTaken { name }),
            Err(trouble) => Err(self.failed(trouble)),
        }
    }

    /// All keys, the oldest first.
    pub async fn keys(&self) -> Result<Vec<Key>, LedgerError> {
        let accounts = self.ask(async |store| store.accounts().await).await?;
        Ok(accounts.into_iter().map(|account| account.key).collect())
    }

    /// All keys with what they have used, the oldest first.
    pub async fn standings(&self, now: u64) -> Result<Vec<Standing>, LedgerError> {
        let from = first_day(Period::Month, now);
        let (accounts, spent, held) = self
            .ask(async move |store| {
                Ok((store.accounts().await?, store.spent(from).await?, store.held(now).await?))
            })
            .await?;
        let standing = |Account { key, .. }: Account| {
            let from = first_day(key.budget.map_or(Period::Month, |budget| budget.per), now);
            let sum = |amounts: &[crate::store::Amount]| {
                let ours = amounts.iter().filter(|amount| amount.key == key.id.0 && amount.day >= from);
                Money(ours.map(|amount| amount.amount).sum())
            };
            let (spent, held) = (sum(&spent), sum(&held));
            let state = match is_good(&key, now) {
                Err(Refusal::Revoked { .. }) => KeyState::Revoked,
                Err(_) => KeyState::Expired,
                Ok(()) if key.budget.is_some_and(|budget| spent >= budget.amount) => KeyState::Spent,
                Ok(()) => KeyState::Active,
            };
            Standing { key, spent, held, state }
        };
        Ok(accounts.into_iter().map(standing).collect())
    }

    /// Revokes the key of this id or name; none when there is no such key, or it is revoked already.
    pub async fn revoke(&self, which: &str, now: u64) -> Result<Option<Key>, LedgerError> {
        let which = which.to_owned();
        let revoked = self.ask(async move |store| store.revoke(&which, now).await).await?;
        Ok(revoked.map(|account| account.key))
    }

    /// The key that this secret belongs to, if it opens the door now.
    pub async fn identify(&self, secret: &Secret, now: u64) -> Result<Key, Refusal> {
        let id = secret::id_of(secret);
        let account = match id {
            Some(id) => self.on(async move |store| store.account(&id).await).await.map_err(refused)?,
            None => None,
        };
        let right = secret::is_right(secret, account.as_ref().map(|account| account.hash.as_slice()));
        let key = account.filter(|_| right).map(|account| account.key).ok_or(Refusal::Unknown)?;
        is_good(&key, now)?;
        Ok(key)
    }

    /// Takes a request's expected cost off its key's budget and counts it against its rate, both or neither. `names` are those that
    /// the asked model has: the key must allow one of them.
    ///
    /// A request is let through if something of the budget is left, and no less than the request is expected to cost, after what was
    /// spent in the period and what is held. What is held and never recorded runs out after half an hour.
    pub async fn hold(
        &self,
        key: &KeyId,
        names: &[&str],
        expected: Money,
        now: u64,
    ) -> Result<Hold, Refusal> {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let asking = Asking { key: key.clone(), names, expected, now };
        let desk = Arc::clone(&self.0.desk);
        // The hold is made where it is booked, so that it is given back if nobody waits for it any more.
        let held =
            self.on(async move |store| Ok(store.hold(&asking).await?.map(|booked| Hold::new(booked, desk))));
        held.await.map_err(refused)?
    }

    /// Records a request that came to its end, in place of what it held. Returns at once; it is written soon, in order.
    ///
    /// What it cost counts in the period in which it came. While the database is away, records wait in memory; when that is full they
    /// lose what is long in them, and then those are dropped first that settle nothing: see [`Ledger::dropped`].
    pub fn record(&self, entry: Entry, hold: Option<Hold>) {
        self.0.desk.record(entry, hold.and_then(Hold::settle));
    }

    /// Why records can't be written now, if they can't. It changes when that begins and when it ends, so that both can be told.
    pub fn trouble(&self) -> watch::Receiver<Option<String>> {
        self.0.desk.trouble()
    }

    /// How many records were lost since the ledger was opened, in whole or in part.
    pub fn dropped(&self) -> u64 {
        self.0.desk.dropped()
    }

    /// Waits until all that was recorded is written. An error says that it could not be written now; it is tried again.
    pub async fn flush(&self) -> Result<(), LedgerError> {
        self.0.desk.flushed().await.map_err(|problem| self.failed(Trouble::Away(problem)))
    }

    /// The newest records without their bodies, at most so many; with `before`, those older than the record of that id.
    pub async fn recent(&self, most: usize, before: Option<&str>) -> Result<Vec<Entry>, LedgerError> {
        let before = before.map(str::to_owned);
        self.ask(async move |store| store.recent(most, before.as_deref()).await).await
    }

    /// The record of this id, with its bodies if they were kept.
    pub async fn entry(&self, id: &str) -> Result<Option<Entry>, LedgerError> {
        let id = id.to_owned();
        self.ask(async move |store| store.entry(&id).await).await
    }

    /// Asks the database, on the ledger's own threads.
    pub(crate) async fn ask<T: Send + 'static, F>(
        &self,
        work: impl FnOnce(Arc<Store>) -> F,
    ) -> Result<T, LedgerError>
    where
        F: Future<Output = Result<T, Trouble>> + Send + 'static,
    {
        self.on(work).await.map_err(|trouble| self.failed(trouble))
    }

    async fn on<T: Send + 'static, F>(&self, work: impl FnOnce(Arc<Store>) -> F) -> Result<T, Trouble>
    where
        F: Future<Output = Result<T, Trouble>> + Send + 'static,
    {
        let task = self.0.handle.spawn(work(Arc::clone(&self.0.store)));
        task.await.unwrap_or_else(|error| Err(Trouble::Away(error.to_string())))
    }

    fn failed(&self, trouble: Trouble) -> LedgerError {
        LedgerError::Failed { place: self.0.place.clone(), problem: trouble.words() }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.desk.close();
        if let Ok(kept) = self.kept.get_mut() {
            // Nothing is ever sent: what comes is the end, or the time is over.
            let _ = kept.recv_timeout(FAREWELL);
        }
        drop(Shutdown(self.runtime.take()));
    }
}

/// A runtime that may be dropped anywhere, also on a thread of another one.
struct Shutdown(Option<Runtime>);

impl Shutdown {
    fn keep(mut self) -> Option<Runtime> {
        self.0.take()
    }
}

impl Drop for Shutdown {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// What to say of a ledger that a newer version has written.
pub(crate) fn newer(version: i64, known: usize) -> String {
    format!(
        "a newer version of rail has written it (its version is {version}, this rail knows {known}); update rail"
    )
}

fn refused(trouble: Trouble) -> Refusal {
    Refusal::Ledger { problem: trouble.words() }
}

fn shown(place: &Place) -> String {
    match place {
        Place::File(path) => path.display().to_string(),
        Place::Postgres(address) => crate::postgres::shown(address),
        Place::Memory => "in memory".to_owned(),
    }
}

/// What is wrong with a key to be made.
fn check(new: &NewKey, now: u64) -> Result<(), String> {
    let name = new.name.trim();
    if name.is_empty() || name.chars().count() > 64 || name.chars().any(char::is_control) {
        return Err(format!("`{}` is no name of a key; write 1 to 64 characters", name.escape_default()));
    }
    if new.models.iter().any(|model| model.trim().is_empty()) {
        return Err("a model has no name; write one, or a pattern such as `claude-*`".to_owned());
    }
    if new.rate.is_some_and(|rate| rate.per_minute == 0) {
        return Err("a rate of 0 lets nothing through; write one of at least 1 a minute".to_owned());
    }
    if new.budget.is_some_and(|budget| budget.amount <= Money(0)) {
        return Err("a budget of nothing lets nothing through; write one of more than 0".to_owned());
    }
    if new.expires.is_some_and(|expires| expires <= now) {
        return Err("a key that has expired already opens nothing; write a moment in the future".to_owned());
    }
    Ok(())
}
