//! The client at the other end: what it is told, and what is wanted of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agent_client_protocol_schema::v1::{
    CancelRequestNotification, Error, PROTOCOL_LEVEL_METHOD_NAMES, RequestId,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::rpc;

/// How many messages wait for a client that does not read; whoever has more to say waits with it.
pub(crate) const WAITING: usize = 256;

/// The client.
pub(crate) struct Client {
    to: mpsc::Sender<Value>,
    next: AtomicI64,
    waiting: Mutex<Waiting>,
    /// Its requests that have no answer yet.
    taken: Mutex<BTreeSet<RequestId>>,
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
    pub(crate) fn new() -> (Self, mpsc::Receiver<Value>) {
        let (to, messages) = mpsc::channel(WAITING);
        (Self { to, next: AtomicI64::new(0), waiting: Mutex::default(), taken: Mutex::default() }, messages)
    }

    /// Tells the client something. One that is gone need not be told.
    pub(crate) async fn notify(&self, method: &str, params: &impl Serialize) {
        let _ = self.to.send(rpc::notification(method, params)).await;
    }

    /// Takes up a request of the client; whether its id is not that of another one that has no answer yet.
    pub(crate) fn take(&self, id: &RequestId) -> bool {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone())
    }

    /// Answers a request of the client.
    pub(crate) async fn answer(&self, id: &RequestId, answer: Result<impl Serialize, Error>) {
        let answer = answer
            .and_then(|answer| serde_json::to_value(answer).map_err(|error| rpc::failed(&error.to_string())));
        // From here on the client may use the id again.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        let _ = self.to.send(rpc::answer(id, answer)).await;
    }

    /// Wants something of the client, and gives its answer. Dropping the future takes it back.
    pub(crate) async fn request<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, Unanswered> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = self.waiting();
            if waiting.gone {
                return Err(Unanswered::Gone);
            }
            waiting.open.insert(id, answer);
        }
        let _taken_back = TakeBack { client: self, id };
        if self.to.send(rpc::request(id, method, params)).await.is_err() {
            return Err(Unanswered::Gone);
        }
        let answer = answered.await.map_err(|_| Unanswered::Gone)?.map_err(Unanswered::Refused)?;
        serde_json::from_value(answer).map_err(|error| Unanswered::Unreadable(error.to_string()))
    }

    /// Wants something of the client whose answer nobody needs; one that does not read is not waited for.
    pub(crate) fn ask(&self, method: &str, params: &impl Serialize) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let _ = self.to.try_send(rpc::request(id, method, params));
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

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
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
            let params = CancelRequestNotification::new(self.id);
            let method = PROTOCOL_LEVEL_METHOD_NAMES.cancel_request;
            // A client that does not read is told nothing, and its answer is of no effect.
            let _ = self.client.to.try_send(rpc::notification(method, &params));
        }
    }
}
