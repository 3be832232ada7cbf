//! The client at the other end: what it is told, and what is wanted of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol_schema::v1::{
    CancelRequestNotification, Error, PROTOCOL_LEVEL_METHOD_NAMES, RequestId,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::rpc;

/// How many updates and requests wait for a client that does not read; whoever has more to say waits with it.
const WAITING: usize = 256;
/// How many messages that never wait may be unread before the client is not listened to any more.
const LATE: usize = 1024;

/// The client.
pub(crate) struct Client {
    /// It has no bound of its own: the permits that messages carry are the bounds.
    to: mpsc::UnboundedSender<Message>,
    room: Arc<Semaphore>,
    late: Arc<Semaphore>,
    /// Whether nobody waits any more until the client reads.
    closed: CancellationToken,
    next: AtomicI64,
    waiting: Mutex<Waiting>,
    /// Its requests that have no answer yet, and whether each is taken back.
    taken: Mutex<BTreeMap<RequestId, Wanted>>,
}

/// A message for the client, with its place among those that are not written yet.
pub(crate) struct Message {
    pub(crate) value: Value,
    _place: Option<OwnedSemaphorePermit>,
}

/// Whether the answer to a request is still wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    Yes,
    TakenBack,
}

#[derive(Default)]
struct Waiting {
    open: BTreeMap<i64, oneshot::Sender<Result<Value, Error>>>,
    /// Whether no answer can come any more.
    gone: bool,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    #[error("the client is gone")]
    Gone,
    #[error("{0}")]
    Refused(Error),
    #[error("the client's answer can't be read: {0}")]
    Unreadable(String),
}

impl Client {
    /// A client, and the messages for it.
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Message>) {
        let (to, messages) = mpsc::unbounded_channel();
        let client = Self {
            to,
            room: Arc::new(Semaphore::new(WAITING)),
            late: Arc::new(Semaphore::new(LATE)),
            closed: CancellationToken::new(),
            next: AtomicI64::new(0),
            waiting: Mutex::default(),
            taken: Mutex::default(),
        };
        (client, messages)
    }

    /// Waits until there is room for an update; nothing where nobody waits any more.
    pub(crate) async fn room(&self) -> Option<OwnedSemaphorePermit> {
        tokio::select! {
            biased;
            // What there is room for is said in any case: the client may still read.
            room = Arc::clone(&self.room).acquire_owned() => room.ok(),
            () = self.closed.cancelled() => None,
        }
    }

    /// Waits while the client has much unread that never waits.
    pub(crate) async fn keeps_up(&self) {
        drop(self.late.acquire().await);
    }

    /// Says something for which there is room.
    pub(crate) fn put(&self, value: Value, room: OwnedSemaphorePermit) {
        self.say(Message { value, _place: Some(room) });
    }

    /// Says something. A client that is gone need not be told.
    pub(crate) fn say(&self, message: Message) {
        let _ = self.to.send(message);
    }

    /// A message that never waits: an answer, or that something is over. Their number is bounded by that of what the client said.
    fn late(&self, value: Value) -> Message {
        Message { value, _place: Arc::clone(&self.late).try_acquire_owned().ok() }
    }

    /// Tells the client something.
    pub(crate) async fn notify(&self, method: &str, params: &impl Serialize) {
        if let Some(room) = self.room().await {
            self.put(rpc::notification(method, params), room);
        }
    }

    /// Takes up a request of the client; whether its id is not that of another one that has no answer yet.
    pub(crate) fn take(&self, id: &RequestId) -> bool {
        let mut taken = self.taken();
        let is_new = !taken.contains_key(id);
        if is_new {
            taken.insert(id.clone(), Wanted::Yes);
        }
        is_new
    }

    /// The client takes a request back; whether that is new, and there is such a request.
    pub(crate) fn take_back(&self, id: &RequestId) -> bool {
        self.taken()
            .get_mut(id)
            .is_some_and(|wanted| std::mem::replace(wanted, Wanted::TakenBack) == Wanted::Yes)
    }

    /// Answers a request of the client, without waiting until it reads.
    pub(crate) fn answer(&self, id: &RequestId, answer: Result<impl Serialize, Error>) {
        self.say(self.answering(id, answer));
    }

    /// The answer to a request, for who says it in its turn.
    pub(crate) fn answering(&self, id: &RequestId, answer: Result<impl Serialize, Error>) -> Message {
        let answer = answer
            .and_then(|answer| serde_json::to_value(answer).map_err(|error| rpc::failed(&error.to_string())));
        // From here on the client may use the id again.
        self.taken().remove(id);
        self.late(rpc::answer(id, answer))
    }

    /// Wants something of the client, and gives its answer. Dropping the future takes it back.
    pub(crate) async fn request<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, Unanswered> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, mut answered) = oneshot::channel();
        {
            let mut waiting = self.waiting();
            if waiting.gone {
                return Err(Unanswered::Gone);
            }
            waiting.open.insert(id, answer);
        }
        let _taken_back = TakeBack { client: self, id };
        tokio::select! {
            room = self.room() => match room {
                Some(room) => self.put(rpc::request(id, method, params), room),
                None => return Err(Unanswered::Gone),
            },
            // It can't be answered yet: the client is gone.
            _ = &mut answered => return Err(Unanswered::Gone),
        }
        let answer = answered.await.map_err(|_| Unanswered::Gone)?.map_err(Unanswered::Refused)?;
        serde_json::from_value(answer).map_err(|error| Unanswered::Unreadable(error.to_string()))
    }

    /// Wants something of the client whose answer nobody needs, without waiting until it reads.
    pub(crate) fn ask(&self, method: &str, params: &impl Serialize) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.say(self.late(rpc::request(id, method, params)));
    }

    /// The client has answered. What nobody asked, or nobody wants to know any more, is nothing.
    pub(crate) fn answered(&self, id: &RequestId, answer: Result<Value, Error>) {
        let RequestId::Number(id) = id else { return };
        let waiter = self.waiting().open.remove(id);
        if let Some(waiter) = waiter {
            let _ = waiter.send(answer);
        }
    }

    /// The client will answer nothing any more.
    pub(crate) fn gone(&self) {
        let mut waiting = self.waiting();
        waiting.gone = true;
        waiting.open.clear();
    }

    /// From here on nobody waits until the client reads.
    pub(crate) fn close(&self) {
        self.closed.cancel();
    }

    fn not_wanted(&self, id: i64) {
        let params = CancelRequestNotification::new(id);
        let method = PROTOCOL_LEVEL_METHOD_NAMES.cancel_request;
        self.say(self.late(rpc::notification(method, &params)));
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn taken(&self) -> MutexGuard<'_, BTreeMap<RequestId, Wanted>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the client that an answer is not wanted any more.
struct TakeBack<'a> {
    client: &'a Client,
    id: i64,
}

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        let mut waiting = self.client.waiting();
        let unanswered = waiting.open.remove(&self.id).is_some() && !waiting.gone;
        drop(waiting);
        if unanswered {
            self.client.not_wanted(self.id);
        }
    }
}
