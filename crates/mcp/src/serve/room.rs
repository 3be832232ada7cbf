//! The session of one client, and the calls in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rail_model::{CallId, CallKind, ToolCall};
use rail_permit::{Policy, Rule};
use rail_tool::{Executor, Lane, Outcome, Parts, Session};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, ProgressNotificationParam};
use rmcp::service::RequestContext;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, SemaphorePermit, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ask::{Desk, Line};
use super::{Offer, Opened, Sessions};

/// How long calls have to end when their session does: a tool has 3 seconds of it to put things in order.
const GRACE: Duration = Duration::from_secs(5);

/// The session of one client.
pub(super) struct Room {
    executor: Executor,
    session: Arc<Session>,
    desk: Arc<Desk>,
    /// Calls that only read run side by side, those that change something alone.
    lanes: RwLock<()>,
    places: Semaphore,
    calls: TaskTracker,
    stop: CancellationToken,
    next: AtomicU64,
}

/// A place among the calls of a session.
enum Place<'a> {
    Shared { _lane: RwLockReadGuard<'a, ()>, _place: Option<SemaphorePermit<'a>> },
    Alone { _lane: RwLockWriteGuard<'a, ()> },
}

impl Room {
    pub(super) fn new(opened: Opened, offer: &Offer) -> Self {
        let Opened { session, hooks } = opened;
        let session = Arc::new(session);
        let desk = Arc::new(Desk::new(offer.asked));
        let executor = Executor::new(Parts {
            registry: offer.registry.clone(),
            session: Arc::clone(&session),
            policy: policy(offer, &session).into(),
            asks: Arc::clone(&desk) as _,
            hooks: hooks(&session),
            watch: Arc::clone(&desk) as _,
            dialect: offer.dialect,
        });
        Self {
            executor,
            lanes: RwLock::default(),
            places: Semaphore::new(session.limits.side_by_side.max(1)),
            session,
            desk,
            calls: TaskTracker::new(),
            stop: CancellationToken::new(),
            next: AtomicU64::new(1),
        }
    }

    /// Does a call, and tells the client how far it is. None: nobody wants its result any more.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Outcome> {
        let _counted = self.calls.token();
        let id = format!("mcp_{}", self.next.fetch_add(1, Ordering::Relaxed));
        let call = ToolCall {
            id: CallId::Given(id.clone()),
            name: request.name.into_owned(),
            arguments: serde_json::Value::Object(request.arguments.unwrap_or_default()).to_string(),
            kind: CallKind::Function,
        };
        let cancel = self.stop.child_token();
        let place = tokio::select! {
            biased;
            () = context.ct.cancelled() => return None,
            () = cancel.cancelled() => return None,
            place = self.place(&call) => place,
        };
        let (says, said) = watch::channel(String::new());
        self.desk.begin(&id, Line::new(context, says));
        let outcome = tokio::select! {
            outcomes = self.executor.run(vec![call], &cancel) => outcomes.into_iter().next(),
            never = tell(context, said) => match never {},
            never = pass_on(&context.ct, &cancel) => match never {},
        };
        drop(place);
        self.desk.end(&id).await;
        outcome
    }

    /// Ends all calls, and then what they left behind.
    pub(super) async fn end(self: Arc<Self>, sessions: Arc<dyn Sessions>) {
        self.stop.cancel();
        self.calls.close();
        // One that does not end in time is broken off with the program.
        let _ = timeout(GRACE, self.calls.wait()).await;
        sessions.end(Arc::clone(&self.session)).await;
    }

    async fn place(&self, call: &ToolCall) -> Place<'_> {
        // What is no call is refused, and that hinders nobody.
        let lane = self.executor.understood(call).map_or(Lane::Shared, |(tool, _)| tool.card().lane);
        match lane {
            Lane::Exclusive => Place::Alone { _lane: self.lanes.write().await },
            Lane::Shared => {
                let lane = self.lanes.read().await;
                // The semaphore is never closed; a call without a permit would only not be counted.
                Place::Shared { _lane: lane, _place: self.places.acquire().await.ok() }
            }
        }
    }
}

/// What the user allows, and reading what was too long for a result: the result says where that is.
fn policy(offer: &Offer, session: &Session) -> Policy {
    let mut policy = offer.policy.clone();
    let folder = session.folder.canonicalize().unwrap_or_else(|_| session.folder.clone());
    let rule = format!("Read(/{}/outputs/**)", folder.display());
    // A folder whose name can't be said is asked about like any other.
    policy.rules.allow.extend(Rule::parse(&rule, "this session", &|_| Some("read_file".to_owned())));
    policy
}

/// Tells the client what a call says, the newest only where the client is slow.
async fn tell(
    context: &RequestContext<RoleServer>,
    mut said: watch::Receiver<String>,
) -> std::convert::Infallible {
    if let Some(token) = context.meta.get_progress_token() {
        let mut count = 0.0;
        while said.changed().await.is_ok() {
            count += 1.0;
            let text = said.borrow_and_update().clone();
            let progress = ProgressNotificationParam::new(token.clone(), count).with_message(text);
            // A client that does not hear it any more is noticed elsewhere.
            let _ = context.peer.notify_progress(progress).await;
        }
    }
    std::future::pending().await
}

/// What the client takes back is taken back here.
async fn pass_on(from: &CancellationToken, to: &CancellationToken) -> std::convert::Infallible {
    from.cancelled().await;
    to.cancel();
    std::future::pending().await
}
