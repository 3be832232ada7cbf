//! What comes from a server and what goes to it, looked through before the SDK sees it.
//!
//! Everything that a server says is read here as plain JSON, so that a wrong type costs the one message that has it. Answers go on
//! untyped; whoever asked reads them. Notifications end here: they are counted, bounded, and in order with the answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    CustomRequest, CustomResult, ErrorCode, ErrorData, JsonRpcMessage, NumberOrString, RequestId,
    ServerNotification, ServerRequest, ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio::time::{Duration, Instant};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Host;
use super::limits::Limits;
use super::link::Letter;
use super::names::cut;

/// A message for the SDK.
pub(crate) type Received = RxJsonRpcMessage<RoleClient>;

/// Requests whose progress is listened to; the oldest is forgotten beyond it.
const TRACKS: usize = 256;
/// Messages of ours that a server does not read; more of them end the connection.
const UNREAD: usize = 2_000;
/// Characters of what a server says of its progress or to the log.
const LINE: usize = 1_000;
/// Notes on one server.
const NOTES: usize = 20;

/// Why a connection is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// A login is wanted.
    Login { why: String, challenge: String },
    /// It broke, or was given up.
    Gone(String),
}

/// Which lists have changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

/// One connection's desk.
pub(crate) struct Desk {
    pub(crate) server: String,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) limits: Limits,
    inner: Mutex<Inner>,
    changed: Notify,
    closed: CancellationToken,
}

#[derive(Default)]
struct Inner {
    /// The id of the handshake, and what it gave.
    hello: Option<String>,
    said: Value,
    /// Requests of ours that have no answer yet.
    open: BTreeSet<String>,
    tracks: BTreeMap<String, watch::Sender<String>>,
    asks: BTreeSet<String>,
    changes: Changes,
    log: Allowance,
    unread: usize,
    notes: Vec<String>,
    fault: Option<Fault>,
}

/// Lines in the current second.
#[derive(Default)]
struct Allowance {
    since: Option<Instant>,
    lines: u32,
}

impl Desk {
    pub(crate) fn new(server: String, host: Arc<dyn Host>, limits: Limits) -> Self {
        Self {
            server,
            host,
            limits,
            inner: Mutex::default(),
            changed: Notify::new(),
            closed: CancellationToken::new(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the server said to the handshake.
    pub(crate) fn hello(&self) -> Value {
        self.inner().said.clone()
    }

    /// What is wrong with what it says.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.inner().notes.clone()
    }

    /// Notes what is wrong, once.
    pub(crate) fn note(&self, note: impl Into<String>) {
        let (mut inner, note) = (self.inner(), note.into());
        if inner.notes.len() < NOTES && !inner.notes.contains(&note) {
            inner.notes.push(note);
        }
    }

    /// Keeps the first reason why the connection is over.
    pub(crate) fn over(&self, fault: Fault) {
        self.inner().fault.get_or_insert(fault);
    }

    /// Why the connection is over, if that is known.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.inner().fault.clone()
    }

    /// What ends the connection when it is dropped.
    pub(crate) fn closing(&self) -> DropGuard {
        self.closed.clone().drop_guard()
    }

    /// Waits until nothing carries messages any more.
    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// Waits until lists have changed, and gives which.
    pub(crate) async fn changes(&self) -> Changes {
        loop {
            let changed = self.changed.notified();
            let changes = std::mem::take(&mut self.inner().changes);
            if changes != Changes::default() {
                return changes;
            }
            changed.await;
        }
    }

    /// What is said of the progress of a request, from now on.
    pub(crate) fn track(&self, token: &str) -> watch::Receiver<String> {
        self.inner().track(token).subscribe()
    }

    /// Whether a request of ours has no answer yet.
    pub(crate) fn is_open(&self, id: &Value) -> bool {
        self.inner().open.contains(&id.to_string())
    }

    /// Nobody listens to the progress of a request any more.
    pub(crate) fn untrack(&self, token: &str) {
        self.inner().tracks.remove(token);
    }

    /// One more message of ours waits until the server reads, or one fewer.
    pub(crate) fn waits(&self, change: isize) {
        let mut inner = self.inner();
        inner.unread = inner.unread.saturating_add_signed(change);
    }

    /// A message of ours, as it is sent.
    pub(crate) fn sent(&self, message: &TxJsonRpcMessage<RoleClient>) -> Result<Letter, serde_json::Error> {
        let message = serde_json::to_value(message)?;
        let id = message.get("id").filter(|id| !id.is_null()).cloned();
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let mut inner = self.inner();
        match (&id, &method) {
            (Some(id), Some(method)) => {
                if method == "initialize" {
                    inner.hello = Some(id.to_string());
                }
                inner.open.insert(id.to_string());
                if let Some(token) = message.pointer("/params/_meta/progressToken") {
                    inner.track(&token.to_string());
                }
            }
            (Some(id), None) => {
                inner.asks.remove(&id.to_string());
            }
            (None, _) => {}
        }
        drop(inner);
        Ok(Letter { id: id.filter(|_| method.is_some()), method, text: message.to_string() })
    }

    /// Reads what came: messages for the SDK, none where nothing is left to do.
    pub(crate) fn read(&self, bytes: &[u8]) -> Vec<Received> {
        if bytes.trim_ascii().is_empty() {
            return Vec::new();
        }
        match serde_json::from_slice(bytes) {
            // Several messages in one, as one version of the protocol allowed.
            Ok(Value::Array(many)) => many.into_iter().filter_map(|one| self.message(one)).collect(),
            Ok(one) => self.message(one).into_iter().collect(),
            Err(_) => {
                self.stray(&String::from_utf8_lossy(bytes.get(..400).unwrap_or(bytes)));
                Vec::new()
            }
        }
    }

    /// The error that stands for an answer of ours that can't be read.
    pub(crate) fn failed(id: &Value, why: impl Into<String>) -> Option<Received> {
        let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, why.into(), None);
        Some(JsonRpcMessage::error(error, Some(request_id(id)?)))
    }

    fn stray(&self, text: &str) {
        self.note(format!(
            "it prints what is no message, which is skipped, such as `{}`; a server writes its log to stderr",
            cut(text.trim(), 80)
        ));
    }

    fn message(&self, message: Value) -> Option<Received> {
        let Value::Object(mut message) = message else {
            self.stray(&message.to_string());
            return None;
        };
        let id = message.remove("id").filter(|id| !id.is_null());
        let method = match message.remove("method") {
            Some(Value::String(method)) => Some(method),
            Some(_) | None => None,
        };
        let params = message.remove("params");
        if let (Some(id), None) = (&id, &method) {
            self.inner().open.remove(&id.to_string());
        }
        match (id, method) {
            (Some(id), Some(method)) => self.request(&id, method, params),
            (None, Some(method)) => self.notification(&method, params.unwrap_or_default()),
            (Some(id), None) => match (message.remove("result"), message.remove("error")) {
                (Some(result), None | Some(Value::Null)) => self.answer(&id, result),
                (_, Some(error)) => refused(&id, &error),
                (None, None) => Self::failed(&id, "the server answered without a result"),
            },
            (None, None) => {
                self.stray(&Value::Object(message).to_string());
                None
            }
        }
    }

    /// A request of the server's.
    fn request(&self, id: &Value, method: String, params: Option<Value>) -> Option<Received> {
        let known = request_id(id)?;
        let mut inner = self.inner();
        inner.asks.insert(id.to_string());
        if inner.unread > UNREAD {
            inner.fault.get_or_insert(Fault::Gone("it asks without reading the answers".to_owned()));
            return None;
        }
        drop(inner);
        let request = if method == "ping" {
            ServerRequest::PingRequest(serde_json::from_value(json!({"method": "ping"})).ok()?)
        } else {
            ServerRequest::CustomRequest(CustomRequest::new(method, params))
        };
        Some(JsonRpcMessage::request(request, known))
    }

    /// Whether the server has to be left, since it only asks.
    pub(crate) fn is_over(&self) -> bool {
        self.inner().fault.is_some()
    }

    fn answer(&self, id: &Value, result: Value) -> Option<Received> {
        let mut inner = self.inner();
        if inner.hello.as_deref() != Some(id.to_string().as_str()) {
            drop(inner);
            let result = ServerResult::CustomResult(CustomResult(result));
            return Some(JsonRpcMessage::response(result, request_id(id)?));
        }
        inner.hello = None;
        // The SDK needs the version; what the server can do is read from its own words.
        let version = result.get("protocolVersion").and_then(Value::as_str).unwrap_or("2024-11-05");
        let typed = json!({
            "protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "server", "version": ""}
        });
        inner.said = result;
        let typed = serde_json::from_value(typed).ok()?;
        Some(JsonRpcMessage::response(ServerResult::InitializeResult(typed), request_id(id)?))
    }

    fn notification(&self, method: &str, params: Value) -> Option<Received> {
        match method {
            "notifications/progress" => self.progress(&params),
            "notifications/message" => self.log(&params),
            "notifications/tools/list_changed" => self.change(|changes| changes.tools = true),
            "notifications/prompts/list_changed" => self.change(|changes| changes.prompts = true),
            "notifications/resources/list_changed" => self.change(|changes| changes.resources = true),
            "notifications/cancelled" => return self.cancelled(params),
            // What we did not ask for: changes of single resources, words from the future.
            _ => {}
        }
        None
    }

    fn change(&self, set: impl FnOnce(&mut Changes)) {
        set(&mut self.inner().changes);
        self.changed.notify_one();
    }

    fn progress(&self, params: &Value) {
        let Some(token) = params.get("progressToken") else { return };
        let number = |key: &str| params.get(key).filter(|value| value.is_number()).map(Value::to_string);
        let message = params.get("message").and_then(Value::as_str).map(|text| cut(text, LINE));
        let far = match (number("progress"), number("total")) {
            (Some(done), Some(total)) => Some(format!("{done} of {total}")),
            (Some(done), None) => Some(done),
            (None, _) => None,
        };
        let said: Vec<String> = far.into_iter().chain(message).collect();
        if let Some(track) = self.inner().tracks.get(&token.to_string()) {
            track.send_replace(said.join(": "));
        }
    }

    fn log(&self, params: &Value) {
        let mut inner = self.inner();
        let now = Instant::now();
        let current = inner.log.since.is_some_and(|since| now - since < Duration::from_secs(1));
        if !current {
            inner.log = Allowance { since: Some(now), lines: 0 };
        }
        inner.log.lines = inner.log.lines.saturating_add(1);
        let lines = inner.log.lines;
        drop(inner);
        if lines > self.limits.log_lines {
            return;
        }
        let text = match params.get("data") {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => return,
        };
        let level = params.get("level").and_then(Value::as_str).unwrap_or("info");
        self.host.log(&self.server, &cut(level, 20), &cut(&text, LINE));
    }

    /// The server takes a request back. Only those that are open go on.
    fn cancelled(&self, params: Value) -> Option<Received> {
        let id = params.get("requestId")?.to_string();
        if !self.inner().asks.contains(&id) {
            return None;
        }
        let cancelled = json!({"method": "notifications/cancelled", "params": params});
        let cancelled = serde_json::from_value(cancelled).ok()?;
        Some(JsonRpcMessage::notification(ServerNotification::CancelledNotification(cancelled)))
    }
}

impl Inner {
    /// The track of a request: it may begin before the request is sent, or when it is.
    fn track(&mut self, token: &str) -> &watch::Sender<String> {
        if self.tracks.len() >= TRACKS && !self.tracks.contains_key(token) {
            self.tracks.pop_first();
        }
        self.tracks.entry(token.to_owned()).or_insert_with(|| watch::channel(String::new()).0)
    }
}

fn refused(id: &Value, error: &Value) -> Option<Received> {
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = match error.get("message") {
        Some(Value::String(message)) => message.clone(),
        Some(_) | None => error.to_string(),
    };
    let error = ErrorData::new(ErrorCode(code.unwrap_or(-32_603)), cut(&message, 20_000), None);
    Some(JsonRpcMessage::error(error, Some(request_id(id)?)))
}

fn request_id(id: &Value) -> Option<RequestId> {
    match id {
        Value::Number(number) => number.as_i64().map(NumberOrString::Number),
        Value::String(text) => Some(NumberOrString::String(text.as_str().into())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
