//! What waits to be written.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

use crate::Entry;

/// Up to here records wait whole.
const WHOLE: usize = 32 << 20;
/// Up to here records wait without what is long in them.
const LEAN: usize = 48 << 20;
/// Up to here those still wait that settle what a key has spent; beyond it all are dropped.
const SETTLING: usize = 64 << 20;
/// So many records are written at once,
pub(crate) const BATCH: usize = 256;
/// or as many as have so many bytes.
const BATCH_BYTES: usize = 4 << 20;

/// One thing to write: a record, with what its request held, or the end of a hold alone.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) entry: Option<Entry>,
    pub(crate) hold: Option<i64>,
    size: usize,
}

/// What waits to be written, within bounds.
#[derive(Debug)]
pub(crate) struct Desk {
    state: Mutex<State>,
    arrived: Notify,
    progress: watch::Sender<Progress>,
    /// Why nothing can be written now.
    trouble: watch::Sender<Option<String>>,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Item>,
    /// Of all that is not written yet, what was taken to be written included.
    bytes: usize,
    pushed: u64,
    /// Somebody waits for all to be written.
    hurry: bool,
    closed: bool,
}

/// How far writing has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    written: u64,
    failures: u64,
    problem: String,
}

/// Why there is something to do at the desk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    /// Something waits.
    Waiting,
    /// Somebody waits for it, or much of it waits.
    Urgent,
    /// Nothing more will come.
    Closed,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::default(),
            arrived: Notify::new(),
            progress: watch::Sender::new(Progress::default()),
            trouble: watch::Sender::new(None),
            dropped: AtomicU64::new(0),
        }
    }

    /// Puts a record down. Never waits: beyond its bounds the desk takes less of a record, and then none.
    pub(crate) fn record(&self, mut entry: Entry, hold: Option<i64>) {
        let mut state = self.lock();
        let settles = hold.is_some() || (entry.key.is_some() && entry.cost.is_some());
        let mut size = weight(&entry);
        // What lies here counts, not what comes: a single record is taken, however large.
        if state.bytes > WHOLE {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            if state.bytes > if settles { SETTLING } else { LEAN } {
                return;
            }
            make_lean(&mut entry);
            size = weight(&entry);
        }
        self.push(&mut state, Item { entry: Some(entry), hold, size });
    }

    /// Ends a hold.
    pub(crate) fn release(&self, hold: i64) {
        let mut state = self.lock();
        // A hold that is not released runs out by itself.
        if state.bytes <= SETTLING {
            self.push(&mut state, Item { entry: None, hold: Some(hold), size: size_of::<Item>() });
        }
    }

    fn push(&self, state: &mut State, item: Item) {
        state.bytes += item.size;
        state.pushed += 1;
        state.waiting.push_back(item);
        // Whoever writes looks for more by itself; it is called for the first, and when a batch is full.
        if state.waiting.len() == 1 || state.waiting.len() == BATCH {
            self.arrived.notify_one();
        }
    }

    /// Waits until there is something to do.
    pub(crate) async fn called(&self) -> Call {
        loop {
            if let Some(call) = self.look() {
                return call;
            }
            self.arrived.notified().await;
        }
    }

    /// Waits until it is urgent.
    pub(crate) async fn urged(&self) {
        while !matches!(self.look(), Some(Call::Urgent | Call::Closed)) {
            self.arrived.notified().await;
        }
    }

    fn look(&self) -> Option<Call> {
        let state = self.lock();
        if state.closed {
            return Some(Call::Closed);
        }
        match state.waiting.len() {
            0 => None,
            BATCH.. => Some(Call::Urgent),
            _ => Some(if state.hurry { Call::Urgent } else { Call::Waiting }),
        }
    }

    /// The next things to write, in order.
    pub(crate) fn take(&self) -> Option<Vec<Item>> {
        let mut state = self.lock();
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < BATCH && bytes < BATCH_BYTES {
            let Some(item) = state.waiting.pop_front() else { break };
            bytes += item.size;
            batch.push(item);
        }
        if state.waiting.is_empty() {
            state.hurry = false;
        }
        (!batch.is_empty()).then_some(batch)
    }

    /// These are written.
    pub(crate) fn written(&self, batch: &[Item]) {
        let bytes: usize = batch.iter().map(|item| item.size).sum();
        let mut state = self.lock();
        state.bytes = state.bytes.saturating_sub(bytes);
        drop(state);
        self.progress.send_modify(|progress| progress.written += batch.len() as u64);
    }

    /// Writing works.
    pub(crate) fn works(&self) {
        self.trouble.send_if_modified(|trouble| trouble.take().is_some());
    }

    /// Why nothing can be written now; changes only when that begins and when it ends.
    pub(crate) fn trouble(&self) -> watch::Receiver<Option<String>> {
        self.trouble.subscribe()
    }

    /// This one can't be written, ever.
    pub(crate) fn lost(&self, batch: &[Item]) {
        self.dropped.fetch_add(batch.len() as u64, Ordering::Relaxed);
        self.written(batch);
    }

    /// An attempt to write failed; all that is left waits on.
    pub(crate) fn failed(&self, problem: &str) {
        self.trouble.send_if_modified(|trouble| {
            let begins = trouble.is_none();
            trouble.get_or_insert_with(|| problem.to_owned());
            begins
        });
        self.progress.send_modify(|progress| {
            progress.failures += 1;
            problem.clone_into(&mut progress.problem);
        });
    }

    /// Waits until all that lies here now is written; the error says why that can't be done now.
    pub(crate) async fn flushed(&self) -> Result<(), String> {
        let mut progress = self.progress.subscribe();
        let failures = progress.borrow().failures;
        let pushed = {
            let mut state = self.lock();
            state.hurry = true;
            state.pushed
        };
        self.arrived.notify_one();
        let done = |progress: &Progress| progress.written >= pushed || progress.failures > failures;
        let reached = progress.wait_for(done).await.map_err(|_| "it is closed".to_owned())?;
        if reached.written >= pushed { Ok(()) } else { Err(reached.problem.clone()) }
    }

    /// How many records were lost, in whole or in part.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Nothing more will come.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_one();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing here can panic half way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a request is expected to cost, taken off its key's budget until its record is written. One that is dropped is given back.
pub struct Hold {
    /// Its number; none when its key has no limits.
    booked: Option<i64>,
    desk: Arc<Desk>,
}

impl Hold {
    pub(crate) fn new(booked: Option<i64>, desk: Arc<Desk>) -> Self {
        Self { booked, desk }
    }

    /// Its number, for the record that takes its place.
    pub(crate) fn settle(mut self) -> Option<i64> {
        self.booked.take()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(hold) = self.booked.take() {
            self.desk.release(hold);
        }
    }
}

impl fmt::Debug for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hold").field(&self.booked).finish()
    }
}

/// About how many bytes a record takes.
fn weight(entry: &Entry) -> usize {
    let bodies = entry.bodies.as_ref().map_or(0, |bodies| bodies.request.len() + bodies.answer.len());
    let route = entry.route.as_ref().map_or(0, |route| route.text().len());
    let repairs: usize = entry.repairs.iter().map(|repair| repair.text().len()).sum();
    let losses: usize = entry.losses.iter().map(String::len).sum();
    let problem = entry.problem.as_ref().map_or(0, String::len);
    let sent: usize = entry.sent.iter().map(|sent| 256 + sent.problem.as_ref().map_or(0, String::len)).sum();
    let names =
        [Some(&entry.client), Some(&entry.asked), entry.target.as_ref(), entry.virtual_model.as_ref()];
    let names: usize = names.into_iter().flatten().map(String::len).sum();
    size_of::<Item>() + 256 + names + bodies + route + repairs + losses + problem + sent
}

/// Takes out what is long: what is left still counts.
fn make_lean(entry: &mut Entry) {
    entry.bodies = None;
    entry.route = None;
    entry.sent = Vec::new();
    entry.repairs = Vec::new();
    entry.losses = Vec::new();
    entry.problem = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ending, KeyId, Money};

    fn entry(long: usize, cost: Option<i64>) -> Entry {
        Entry {
            key: Some(KeyId("k".to_owned())),
            cost: cost.map(Money),
            ending: Ending::Answered,
            status: 200,
            problem: Some("x".repeat(long)),
            ..Entry::begun(String::new(), 0)
        }
    }

    fn length(desk: &Desk) -> usize {
        desk.lock().waiting.len()
    }

    /// How many are taken before the desk is full for these.
    fn taken(desk: &Desk, cost: Option<i64>) -> usize {
        let before = length(desk);
        let fits = |desk: &Desk| {
            let length = length(desk);
            desk.record(entry(0, cost), None);
            self::length(desk) > length
        };
        while fits(desk) {}
        length(desk) - before
    }

    #[test]
    fn a_full_desk_takes_less_and_what_settles_is_dropped_last() {
        let desk = Desk::new();
        desk.record(entry(2 * WHOLE, None), None);
        assert_eq!((length(&desk), desk.dropped()), (1, 0), "however large, one is taken");
        assert_eq!(taken(&desk, None), 0);
        assert_eq!(taken(&desk, Some(1)), 0);
        assert_eq!(desk.dropped(), 2);

        let desk = Desk::new();
        desk.record(entry(WHOLE, None), None);
        desk.record(entry(1_000_000, None), None);
        assert_eq!(desk.dropped(), 1, "its problem is gone, but it is still there");
        let lean = desk.lock().waiting.back().map(|item| item.entry.clone().unwrap().problem);
        assert_eq!(lean, Some(None));
        assert!(taken(&desk, None) > 1000);
        assert!(taken(&desk, Some(1)) > 1000);
        assert_eq!(taken(&desk, None), 0);
        let (waiting, dropped) = (length(&desk) as u64, desk.dropped());
        assert_eq!(dropped, waiting - 1 + 3, "each that was cut short, and each that was refused");
        assert!(desk.lock().bytes <= SETTLING + 4096);
    }

    #[test]
    fn names_have_their_weight() {
        let light = weight(&entry(0, None));
        let long = || "x".repeat(1000);
        let heavy = Entry { client: long(), asked: long(), target: Some(long()), ..entry(0, None) };
        assert_eq!(weight(&heavy), light + 3000);
    }

    #[test]
    fn what_is_written_makes_room() {
        let desk = Desk::new();
        for _ in 0..3 {
            desk.record(entry(WHOLE, None), None);
            desk.release(1);
        }
        assert_eq!(desk.dropped(), 2);
        let (mut seen, mut batches) = (0, 0);
        while let Some(batch) = desk.take() {
            seen += batch.len();
            batches += 1;
            desk.written(&batch);
        }
        assert_eq!((seen, batches, desk.lock().bytes), (6, 2, 0));
        desk.record(entry(WHOLE, None), None);
        assert_eq!(desk.dropped(), 2);
    }
}
