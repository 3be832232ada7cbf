//! What the test and the connections' threads share, and their waits for each other.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Recorded;

/// How and where in the script a client's leaving was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// The index, in the conversation, of the step that saw it.
    pub step: usize,
    /// How it left.
    pub how: Leaving,
}

/// How a client left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    /// It ended its sending direction; from here that looks the same whether it still reads or not.
    Closed,
    /// It broke off: the kernel does so too for a client that closes while bytes for it are unread or under way.
    Reset,
}

#[derive(Debug)]
pub(crate) struct Stage {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    deadline: Duration,
    ended: bool,
    open: BTreeSet<&'static str>,
    reached: BTreeSet<&'static str>,
    requests: Vec<Recorded>,
    connections: BTreeMap<usize, Connection>,
    faults: Vec<String>,
}

#[derive(Debug)]
enum Connection {
    // Held so that the end of the peer can wake a thread that reads or writes.
    Playing(Arc<TcpStream>),
    Unexpected,
    Left(Departure),
    // The script ended it, or could not be played; the client's leaving can no longer be seen.
    Over,
}

/// What ended a wait of a conversation.
pub(crate) enum Waited {
    Opened,
    PeerEnded,
    TooLong,
}

impl Stage {
    pub(crate) fn new(deadline: Duration) -> Stage {
        let state = State {
            deadline,
            ended: false,
            open: BTreeSet::new(),
            reached: BTreeSet::new(),
            requests: Vec::new(),
            connections: BTreeMap::new(),
            faults: Vec::new(),
        };
        Stage { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(crate) fn set_deadline(&self, deadline: Duration) {
        self.lock().deadline = deadline;
    }

    pub(crate) fn deadline(&self) -> Duration {
        self.lock().deadline
    }

    /// Registers a connection, with its stream if it will be played; false when the peer has ended.
    pub(crate) fn enter(&self, number: usize, stream: Option<&Arc<TcpStream>>) -> bool {
        let mut state = self.lock();
        if state.ended {
            return false;
        }
        let connection = match stream {
            Some(stream) => Connection::Playing(Arc::clone(stream)),
            None => Connection::Unexpected,
        };
        state.connections.insert(number, connection);
        self.changed.notify_all();
        true
    }

    /// Lets go of a connection's stream, so that the thread that plays it is the last to hold it.
    pub(crate) fn leave(&self, number: usize, departure: Option<Departure>) {
        let over = departure.map_or(Connection::Over, Connection::Left);
        self.lock().connections.insert(number, over);
        self.changed.notify_all();
    }

    pub(crate) fn open(&self, gate: &'static str) {
        self.lock().open.insert(gate);
        self.changed.notify_all();
    }

    pub(crate) fn reach(&self, mark: &'static str) {
        self.lock().reached.insert(mark);
        self.changed.notify_all();
    }

    pub(crate) fn record(&self, request: Recorded) {
        self.lock().requests.push(request);
        self.changed.notify_all();
    }

    pub(crate) fn fault(&self, fault: String) {
        self.lock().faults.push(fault);
        self.changed.notify_all();
    }

    pub(crate) fn wait_at(&self, gate: &'static str, deadline: Duration) -> Waited {
        let (state, _) = self
            .changed
            .wait_timeout_while(self.lock(), deadline, |state| !state.ended && !state.open.contains(gate))
            .unwrap_or_else(PoisonError::into_inner);
        if state.ended {
            Waited::PeerEnded
        } else if state.open.contains(gate) {
            Waited::Opened
        } else {
            Waited::TooLong
        }
    }

    pub(crate) fn wait_for(&self, mark: &'static str) {
        self.until(&format!("a connection to reach `{mark}`"), |state| {
            state.reached.contains(mark).then_some(())
        });
    }

    pub(crate) fn client_left(&self, number: usize) -> Departure {
        let left = self.until(&format!("the client to leave connection {number}"), |state| {
            match state.connections.get(&number)? {
                Connection::Playing(_) => None,
                Connection::Left(departure) => Some(Ok(*departure)),
                Connection::Unexpected => Some(Err("the script has no conversation for it")),
                Connection::Over => Some(Err("its script came to an end first; let it end with a stall")),
            }
        });
        match left {
            Ok(departure) => departure,
            Err(why) => panic!("the client was never seen to leave connection {number}: {why}"),
        }
    }

    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.lock().requests.clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.lock().connections.len()
    }

    pub(crate) fn unexpected(&self) -> Vec<usize> {
        let state = self.lock();
        let unexpected =
            state.connections.iter().filter(|(_, connection)| matches!(connection, Connection::Unexpected));
        unexpected.map(|(number, _)| *number).collect()
    }

    pub(crate) fn faults(&self) -> Vec<String> {
        self.lock().faults.clone()
    }

    pub(crate) fn ended(&self) -> bool {
        self.lock().ended
    }

    /// Wakes every wait and every read and write; no connection enters from now on.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        for connection in state.connections.values() {
            if let Connection::Playing(stream) = connection {
                // It fails only when the connection is gone already, which is what is wanted.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        self.changed.notify_all();
    }

    /// A wait of the test: panics at its deadline, and at once when a conversation could not be played.
    fn until<T>(&self, what: &str, found: impl Fn(&State) -> Option<T>) -> T {
        let state = self.lock();
        let deadline = state.deadline;
        let waits = |state: &mut State| state.faults.is_empty() && found(state).is_none();
        let (state, _) =
            self.changed.wait_timeout_while(state, deadline, waits).unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = found(&state) {
            return found;
        }
        let faults = state.faults.join("; ");
        let accepted = state.connections.len();
        // Let go of the state first, or the peer's drop finds it poisoned.
        drop(state);
        if faults.is_empty() {
            panic!("waited {deadline:?} for {what}; {accepted} connections were accepted");
        }
        panic!("cannot wait for {what}: {faults}");
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
