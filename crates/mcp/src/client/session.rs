//! A connection that stands: requests and their answers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use rail_sandbox::Process;
use rmcp::model::{ClientNotification, ClientRequest, CustomNotification, CustomRequest, ServerResult};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use rmcp::{Peer, RoleClient};
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::desk::{Desk, Fault};
use super::names::cut;

/// How often progress is passed on at most.
const PACE: Duration = Duration::from_millis(100);
/// How long a server's side has to take that a request is taken back.
const CANCEL: Duration = Duration::from_millis(200);
/// How long a process has to end whose output is closed, before it is said how it ended.
const ENDING: Duration = Duration::from_millis(300);
/// How long a request may take that is no call.
const USUAL: Duration = Duration::from_secs(30);
/// Characters of what a server said of errors, in our own.
const STDERR: usize = 1_500;

/// A connection that stands.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) desk: Arc<Desk>,
    peer: Peer<RoleClient>,
    process: Weak<Process>,
    open: Arc<AtomicUsize>,
}

/// How an answer is waited for.
pub(crate) struct Wait<'a> {
    /// Without a word of progress.
    pub(crate) idle: Duration,
    /// Altogether.
    pub(crate) total: Duration,
    /// Ends when nobody wants it any more.
    pub(crate) cancel: Option<&'a CancellationToken>,
    /// What is told of the progress.
    pub(crate) say: Option<&'a (dyn Fn(&str) + Send + Sync)>,
}

impl Wait<'_> {
    /// For what is no call.
    pub(crate) fn usual() -> Self {
        Self { idle: USUAL, total: USUAL, cancel: None, say: None }
    }
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Trouble {
    /// The server said no, in these words.
    Refused(String),
    /// It did not answer in this time.
    Slow(Duration),
    /// It is gone.
    Gone(String),
    /// Nobody wanted the answer any more.
    Cancelled,
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(words) => f.write_str(words),
            Self::Slow(time) => write!(f, "it did not answer within {} s", time.as_secs_f32()),
            Self::Gone(why) => f.write_str(why),
            Self::Cancelled => f.write_str("it was cancelled"),
        }
    }
}

impl Session {
    pub(crate) fn new(desk: Arc<Desk>, peer: Peer<RoleClient>, process: Weak<Process>) -> Self {
        Self { desk, peer, process, open: Arc::default() }
    }

    /// Whether something is asked of the server now.
    pub(crate) fn is_busy(&self) -> bool {
        self.open.load(Ordering::Relaxed) > 0
    }

    /// Asks the server. A request that nobody waits for any more is taken back.
    pub(crate) async fn ask(&self, method: &str, params: Value, wait: Wait<'_>) -> Result<Value, Trouble> {
        let _open = Open::new(&self.open);
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        let sent = self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.trouble(error).await),
        };
        let token = serde_json::to_string(&handle.progress_token).unwrap_or_default();
        let tracked = Tracked { desk: &self.desk, token: &token };
        let answer = self.answer(handle, &tracked, wait).await;
        match answer {
            Ok(ServerResult::CustomResult(result)) => Ok(result.0),
            Ok(other) => serde_json::to_value(other).map_err(|error| Trouble::Refused(error.to_string())),
            Err(Stop::Server(error)) => Err(self.trouble(error).await),
            Err(Stop::Ours(trouble)) => Err(trouble),
        }
    }

    async fn answer(
        &self,
        mut handle: RequestHandle<RoleClient>,
        tracked: &Tracked<'_>,
        wait: Wait<'_>,
    ) -> Result<ServerResult, Stop> {
        let mut progress = self.desk.track(tracked.token);
        let began = Instant::now();
        let (mut heard, mut said) = (began, None::<Instant>);
        let cancelled = async {
            match wait.cancel {
                Some(cancel) => cancel.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(cancelled);
        let trouble = loop {
            let until = (heard + wait.idle).min(began + wait.total);
            // A server that says too much is heard now and then; the answer is never kept waiting.
            let pause = said.map(|said| said + PACE).filter(|pause| *pause > Instant::now());
            tokio::select! {
                biased;
                () = &mut cancelled => break Trouble::Cancelled,
                changed = progress.changed(), if pause.is_none() => {
                    heard = Instant::now();
                    said = Some(heard);
                    let text = progress.borrow_and_update().clone();
                    match (changed, wait.say) {
                        (Ok(()), Some(say)) if !text.is_empty() => say(&text),
                        (Ok(()), _) => {}
                        // Forgotten, since too many are open: the time goes on.
                        (Err(_), _) => said = Some(heard + wait.total),
                    }
                }
                answer = &mut handle.rx => {
                    return answer.unwrap_or(Err(ServiceError::TransportClosed)).map_err(Stop::Server);
                }
                () = sleep_until(pause.unwrap_or(until)), if pause.is_some_and(|pause| pause < until) => {}
                () = sleep_until(until) => break Trouble::Slow(until - heard.min(until)),
            }
        };
        let reason = match trouble {
            Trouble::Cancelled => "the call was cancelled",
            Trouble::Slow(_) | Trouble::Refused(_) | Trouble::Gone(_) => "the time is over",
        };
        // A server that takes nothing any more is not waited for.
        let _ = timeout(CANCEL, handle.cancel(Some(reason.to_owned()))).await;
        Err(Stop::Ours(trouble))
    }

    async fn trouble(&self, error: ServiceError) -> Trouble {
        match error {
            ServiceError::McpError(error) => Trouble::Refused(error.message.into_owned()),
            ServiceError::Cancelled { .. } => Trouble::Cancelled,
            _ => Trouble::Gone(self.end().await),
        }
    }

    /// How the connection ended, in words.
    pub(crate) async fn end(&self) -> String {
        let process = self.process.upgrade();
        how_it_ended(&self.desk, process.as_deref()).await
    }

    /// Tells the server that the folders have changed.
    pub(crate) async fn roots_changed(&self) {
        let told = CustomNotification::new("notifications/roots/list_changed", None);
        let told = ClientNotification::CustomNotification(told);
        // A server that is gone needs no news.
        let _ = timeout(CANCEL, self.peer.send_notification(told)).await;
    }
}

/// How a connection ended, in words: what we saw, how the process ended, and what it said last.
pub(crate) async fn how_it_ended(desk: &Desk, process: Option<&Process>) -> String {
    let seen = match desk.fault() {
        Some(Fault::Gone(why) | Fault::Login { why, .. }) => why,
        None => "the connection is over".to_owned(),
    };
    let Some(process) = process else { return seen };
    // It is about to end; one that goes on has only closed its output.
    let ended = timeout(ENDING, process.wait()).await.ok();
    let seen = ended.map_or(seen, |ended| format!("it ended with {}", ended.exit));
    match last_words(process) {
        words if words.is_empty() => seen,
        words => format!("{seen}; its last words: {words}"),
    }
}

/// The end of what a server said of errors.
pub(crate) fn last_words(process: &Process) -> String {
    let text = process.errors().text();
    let text = if text.tail.is_empty() { text.head } else { text.tail };
    let text = text.trim();
    let skip = text.chars().count().saturating_sub(STDERR);
    let last: String = text.chars().skip(skip).collect();
    if skip > 0 { format!("…{}", last.trim_start()) } else { cut(&last, STDERR) }
}

enum Stop {
    Server(ServiceError),
    Ours(Trouble),
}

/// A request that is open.
struct Open<'a>(&'a AtomicUsize);

impl<'a> Open<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Tracked<'a> {
    desk: &'a Desk,
    token: &'a str,
}

impl Drop for Tracked<'_> {
    fn drop(&mut self) {
        self.desk.untrack(self.token);
    }
}
