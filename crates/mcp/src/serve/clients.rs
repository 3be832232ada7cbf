//! All clients of a server: what they share, and what is left behind when they go.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rail_repair::Catalog;
use rmcp::model::Tool;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::room::Room;
use super::{Offer, Sessions, offer};

/// The most sessions at a time.
const MAX_SESSIONS: usize = 64;

/// All clients of a server.
pub(super) struct Clients {
    pub(super) offer: Offer,
    pub(super) tools: Vec<Tool>,
    pub(super) catalog: Catalog,
    sessions: Arc<dyn Sessions>,
    /// What writes in one session waits for what writes in another: they share the workspace.
    writers: Arc<rail_tool::Writers>,
    open: Mutex<Open>,
    left: UnboundedSender<u64>,
    leaving: Mutex<Option<UnboundedReceiver<u64>>>,
}

/// The sessions there are.
#[derive(Default)]
struct Open {
    rooms: BTreeMap<u64, Arc<Room>>,
    next: u64,
}

impl Clients {
    pub(super) fn new(offer: Offer, sessions: Arc<dyn Sessions>) -> Arc<Self> {
        let (left, leaving) = unbounded_channel();
        Arc::new(Self {
            tools: offer::listed(&offer),
            catalog: offer.registry.catalog(),
            offer,
            sessions,
            writers: Arc::default(),
            open: Mutex::default(),
            left,
            leaving: Mutex::new(Some(leaving)),
        })
    }

    /// Opens a session for a client.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn open(&self) -> Result<(u64, Arc<Room>), String> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.rooms.len() >= MAX_SESSIONS {
            return Err(format!(
                "there are {MAX_SESSIONS} sessions already; end one that is not needed any more"
            ));
        }
        let mut opened = self.sessions.open()?;
        opened.session.writers = Arc::clone(&self.writers);
        let room = Arc::new(Room::new(opened, &self.offer));
        let number = open.next;
        open.next += 1;
        open.rooms.insert(number, Arc::clone(&room));
        Ok((number, room))
    }

    /// A client has left; its session ends beside the others.
    pub(super) fn leave(&self, number: u64) {
        // Where nobody looks after those who leave, they end with all others.
        let _ = self.left.send(number);
    }

    /// Ends the sessions of clients that have left, for as long as it is polled.
    pub(super) async fn look_after(&self) -> std::convert::Infallible {
        let leaving = self.leaving.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut ending = JoinSet::new();
        if let Some(mut leaving) = leaving {
            loop {
                tokio::select! {
                    Some(_ended) = ending.join_next() => {}
                    left = leaving.recv() => {
                        if let Some(room) = left.and_then(|number| self.take(number)) {
                            ending.spawn(room.end(Arc::clone(&self.sessions)));
                        }
                    }
                }
            }
        }
        std::future::pending().await
    }

    /// Ends all sessions.
    pub(super) async fn end(&self) {
        let rooms = std::mem::take(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner).rooms);
        let ending: JoinSet<()> =
            rooms.into_values().map(|room| room.end(Arc::clone(&self.sessions))).collect();
        ending.join_all().await;
    }

    fn take(&self, number: u64) -> Option<Arc<Room>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).rooms.remove(&number)
    }
}
