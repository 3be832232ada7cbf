//! The client at the other end of stdin and stdout: what we want of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rail_agent::hooks::HookCalls;
use rail_tool::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::super::printers::print_line;

const GONE: &str = "the client is gone";

/// The client.
#[derive(Default)]
pub(crate) struct Client {
    next: AtomicU64,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    open: BTreeMap<String, oneshot::Sender<Result<Value, String>>>,
    /// Whether no answer can come any more.
    gone: bool,
}

impl Client {
    /// Wants something of the client, and gives its answer. Dropping the future takes it back.
    pub(crate) async fn request(&self, request: Value) -> Result<Value, String> {
        let id = format!("rail_{}", self.next.fetch_add(1, Ordering::Relaxed));
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = self.waiting();
            if waiting.gone {
                return Err(GONE.to_owned());
            }
            waiting.open.insert(id.clone(), answer);
        }
        let _taken_back = TakeBack { client: self, id: id.clone() };
        let line = json!({"type": "control_request", "request_id": id, "request": request});
        if print_line(&line).is_err() {
            return Err(GONE.to_owned());
        }
        answered.await.unwrap_or_else(|_| Err(GONE.to_owned()))
    }

    /// The client has answered.
    pub(crate) fn answered(&self, id: &str, answer: Result<Value, String>) {
        let waiter = self.waiting().open.remove(id);
        if let Some(waiter) = waiter {
            // Who asked may not want to know any more.
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
    id: String,
}

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        let unanswered = self.client.waiting().open.remove(&self.id).is_some();
        if unanswered {
            // A client that is gone need not be told.
            let _ = print_line(&json!({"type": "control_cancel_request", "request_id": self.id}));
        }
    }
}

impl HookCalls for Client {
    fn call<'a>(&'a self, id: &'a str, input: &'a Value) -> BoxFuture<'a, Result<Value, String>> {
        let request = json!({
            "subtype": "hook_callback",
            "callback_id": id,
            "input": input,
            "tool_use_id": input.get("tool_use_id").cloned().unwrap_or_default(),
        });
        Box::pin(self.request(request))
    }
}

/// Answers something that the client wanted.
pub(crate) fn answer(id: &str, answer: Result<Value, String>) -> Value {
    let response = match answer {
        Ok(response) => json!({"subtype": "success", "request_id": id, "response": response}),
        Err(error) => json!({"subtype": "error", "request_id": id, "error": error}),
    };
    json!({"type": "control_response", "response": response})
}
