//! The way from calls to their client: how far they are, and what is asked about them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rail_permit::{Answer, Question, Rule};
use rail_tool::{Asks, BoxFuture, HookedCall, Reply, ToolEvent, Watch};
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientResult, ElicitRequest,
    ElicitRequestParams, ElicitationSchema, RequestId, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use tokio::sync::watch;

use super::{Asked, form};

/// The calls that run now, each with the way to its client.
pub(super) struct Desk {
    asked: Asked,
    lines: Mutex<BTreeMap<String, Arc<Line>>>,
}

/// The way to a call's client.
pub(super) struct Line {
    peer: Peer<RoleServer>,
    can_ask: bool,
    says: watch::Sender<String>,
    /// The question that the client has not answered yet.
    open: Mutex<Option<RequestId>>,
}

impl Line {
    pub(super) fn new(context: &RequestContext<RoleServer>, says: watch::Sender<String>) -> Self {
        let can_ask = context.client_capabilities().is_some_and(|can| shows_forms(&can));
        Self { peer: context.peer.clone(), can_ask, says, open: Mutex::default() }
    }

    fn set_open(&self, id: Option<RequestId>) -> Option<RequestId> {
        std::mem::replace(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner), id)
    }

    /// What the client says to a question; none where there is nobody to ask.
    async fn ask(&self, call: &HookedCall, question: &Question) -> Option<Answer> {
        let requested_schema = ElicitationSchema::from_json_schema(form::schema(question)).ok()?;
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: form::message(call, question),
            requested_schema,
        };
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        let asked =
            self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await.ok()?;
        self.set_open(Some(asked.id.clone()));
        let said = asked.await_response().await;
        self.set_open(None);
        match said {
            Ok(ClientResult::ElicitResult(result)) => Some(form::read(&result, question)),
            Ok(_) | Err(_) => None,
        }
    }
}

/// Whether a client can show forms. One that says nothing of the kinds means forms, the oldest of them.
fn shows_forms(can: &ClientCapabilities) -> bool {
    can.elicitation.as_ref().is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none())
}

impl Desk {
    pub(super) fn new(asked: Asked) -> Self {
        Self { asked, lines: Mutex::default() }
    }

    /// A call begins.
    pub(super) fn begin(&self, id: &str, line: Line) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), Arc::new(line));
    }

    /// A call has ended; what its client is still asked is taken back.
    pub(super) async fn end(&self, id: &str) {
        let line = self.lines.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        let Some(line) = line else { return };
        if let Some(open) = line.set_open(None) {
            let params = CancelledNotificationParam::new(Some(open), Some("the call has ended".to_owned()));
            // A client that is gone shows no question any more.
            let _ = line.peer.send_notification(CancelledNotification::new(params).into()).await;
        }
    }

    fn line(&self, id: &str) -> Option<Arc<Line>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn tell(&self, id: &str, text: String) {
        if let Some(line) = self.line(id) {
            line.says.send_replace(text);
        }
    }
}

impl Watch for Desk {
    fn event(&self, event: ToolEvent) {
        match event {
            ToolEvent::Progress { id, text } => self.tell(&id, text),
            ToolEvent::Asked { id, question } => {
                self.tell(&id, format!("waits for leave, because {}", question.reason.why));
            }
            ToolEvent::Start { .. } | ToolEvent::End(_) => {}
        }
    }
}

impl Asks for Desk {
    fn ask<'a>(&'a self, call: &'a HookedCall, question: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let line = self.line(&call.id).filter(|line| line.can_ask && self.asked == Asked::Client);
            let answer = match line {
                Some(line) => line.ask(call, question).await,
                None => None,
            };
            answer.unwrap_or_else(|| Answer::Nobody(form::nobody(question))).into()
        })
    }

    fn keep(&self, _: &[Rule]) -> Result<(), String> {
        // The form offers no answer that would have to be kept.
        Err("a client of MCP allows nothing for longer than its session".to_owned())
    }
}
