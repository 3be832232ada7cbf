//! One server, as everybody sees it: its state, what it lists, and the connection while there is one.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use rail_upstream::Transport;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::limits::Limits;
use super::lists::Lists;
use super::names::cut;
use super::session::Session;
use super::spec::ServerSpec;
use super::state::{ServerState, State};
use super::{Host, known};

/// What all servers of a hub share.
pub(crate) struct Shared {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) limits: Limits,
    pub(crate) http: Arc<dyn Transport>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: PathBuf,
    pub(crate) cache: Option<PathBuf>,
    pub(crate) changes: watch::Sender<u64>,
    pub(crate) stop: CancellationToken,
}

/// One server.
pub(crate) struct Server {
    pub(crate) spec: ServerSpec,
    pub(crate) shared: Arc<Shared>,
    now: watch::Sender<Now>,
    /// Somebody wants it to be connected anew.
    pub(crate) again: Notify,
}

/// How a server is now.
#[derive(Clone)]
pub(crate) struct Now {
    pub(crate) state: State,
    pub(crate) session: Option<Session>,
    pub(crate) lists: Arc<Lists>,
    /// What it said to the handshake.
    pub(crate) hello: Value,
    pub(crate) notes: Vec<String>,
    pub(crate) stderr: String,
}

impl Server {
    /// A server that is not started yet. Its tools are those of the last time.
    pub(crate) fn new(spec: ServerSpec, shared: Arc<Shared>) -> Self {
        let state = match &spec.off {
            Some(why) => State::Disabled { why: why.clone() },
            None => State::Connecting,
        };
        let folder = shared.cache.as_deref().filter(|_| spec.off.is_none());
        let mut tools = folder.map(|folder| known::load(&known::file(folder, &spec))).unwrap_or_default();
        tools.retain(|tool| spec.tools.uses(&tool.name));
        let lists = Arc::new(Lists { tools, ..Lists::default() });
        let now =
            Now { state, session: None, lists, hello: Value::Null, notes: Vec::new(), stderr: String::new() };
        Self { spec, shared, now: watch::Sender::new(now), again: Notify::new() }
    }

    /// What it lists.
    pub(crate) fn lists(&self) -> Arc<Lists> {
        Arc::clone(&self.now.borrow().lists)
    }

    /// How it is.
    pub(crate) fn now(&self) -> Now {
        self.now.borrow().clone()
    }

    /// Waits until it is no longer being connected.
    pub(crate) async fn settled(&self) {
        // A server without a keeper settles no more.
        let _ = self.now.subscribe().wait_for(|now| now.state != State::Connecting).await;
    }

    /// Changes how it is, and tells everybody.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Now)) {
        self.now.send_modify(change);
        self.shared.changes.send_modify(|number| *number += 1);
    }

    /// The connection. One that is being made is waited for.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    pub(crate) async fn session(&self) -> Result<Session, String> {
        let mut now = self.now.subscribe();
        let there = now.wait_for(|now| now.session.is_some() || now.state != State::Connecting);
        let waited = timeout(self.spec.times.start, there).await;
        let found = match &waited {
            Ok(Ok(now)) => now.session.clone(),
            Ok(Err(_)) | Err(_) => None,
        };
        drop(waited);
        found.ok_or_else(|| {
            let state = self.now.borrow().state.clone();
            format!("the MCP server `{}` can't be asked: it {}", self.spec.name, told(&state))
        })
    }

    /// What is to be known of it.
    pub(crate) fn state(&self) -> ServerState {
        let now = self.now.borrow();
        let live = now.session.as_ref();
        let text = |key: &str| now.hello.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let about = |key: &str| now.hello.get("serverInfo").and_then(|info| info.get(key)?.as_str());
        let named = [about("name"), about("version")].into_iter().flatten().collect::<Vec<_>>().join(" ");
        ServerState {
            name: self.spec.name.clone(),
            state: now.state.clone(),
            calls_itself: Some(cut(&named, 100)).filter(|named| !named.is_empty()),
            instructions: text("instructions").map(|text| cut(text, self.shared.limits.description)),
            notes: live.map_or_else(|| now.notes.clone(), |live| live.desk.notes()),
            tools: now.lists.tools.len(),
            // Of one that says nothing, what it said before it was started again is worth more.
            stderr: live
                .map(Session::stderr)
                .filter(|said| !said.is_empty())
                .unwrap_or_else(|| now.stderr.clone()),
        }
    }
}

/// A state behind "it".
fn told(state: &State) -> String {
    match state {
        State::Connecting => "is still being connected; try again later".to_owned(),
        State::Ready { .. } => "was just connected; try again".to_owned(),
        State::Retrying { .. } => format!("is not there, and {state}"),
        State::Failed { why } => format!("failed and is not tried again until the user asks for it: {why}"),
        State::NeedsLogin { why, .. } => format!("needs a login, which only the user can do: {why}"),
        State::Disabled { why } => format!("is disabled: {why}"),
        State::Stopped => "was stopped".to_owned(),
    }
}
