//! One request to its answer: facts, plan, ask, and the events as they come.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use rail_config::Loaded;
use rail_model::{Event, Fault, Purpose, Request};
use rail_proto::{NoteKind, Routed, Spent};
use rail_route::{Attempt, Client, Plan, Sessions, facts};
use rail_upstream::{Broken, NoAnswer, Note, Notes, Outcome, Reply, Sent, Upstream};
use tokio_util::sync::CancellationToken;

use super::clock::{millis, now};
use super::ports::{Line, News};
use crate::bill::Bill;
use crate::machine::{AskFailure, FailureKind, Room, StepId};
use crate::plans::{self, bytes, cost, counted, nobody};
use crate::prompt::mark_messages;
use crate::team::Purse;

/// Tokens of output that a model is given room for when nobody knows its limit.
const USUAL_OUTPUT: u64 = 8_192;

/// What all requests of a session share.
pub(super) struct Asking {
    pub(super) upstream: Upstream,
    pub(super) loaded: Arc<Loaded>,
    pub(super) sessions: Mutex<Sessions>,
    pub(super) line: Line,
    /// What it is paid from; with a budget in dollars nobody is asked whose price is not known.
    pub(super) purse: Arc<Purse>,
}

impl Asking {
    /// Asks, and tells the driver everything. It ends without a word when it is cancelled.
    pub(super) async fn run(
        self: Arc<Self>,
        step: StepId,
        request: Box<Request>,
        bill: Arc<Bill>,
        cancel: CancellationToken,
    ) {
        tokio::select! {
            () = self.ask(step, *request, &bill) => {}
            () = cancel.cancelled() => {}
        }
    }

    async fn ask(&self, step: StepId, mut request: Request, bill: &Bill) {
        let began = now();
        mark_messages(&mut request.messages);
        let plan = self.plan(&request);
        // A summary may be written by another model, whose room says nothing about the conversation's.
        if request.purpose != Purpose::Background {
            self.line.tell(News::Room(self.with_reader(room(&plan), &request.model)));
        }
        if plan.attempts.is_empty() {
            return self.failed(step, nobody(&plan, &self.loaded), FailureKind::Final);
        }
        if let Err(why) = bill.hold(&self.purse, &plan, &request).await {
            return self.line.tell(News::Exhausted(step, why));
        }
        let heard = Heard { line: &self.line, failed: Mutex::default() };
        let mut reply = match self.upstream.ask(&plan, &request, &heard).await {
            Ok(reply) => reply,
            Err(error) => return self.no_answer(step, &error),
        };
        let target = reply.target().clone();
        let failed = heard.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.line.tell(News::Routed(routed(step, &plan, &target.to_string(), failed)));
        for loss in reply.losses() {
            self.line.tell(News::Note(
                NoteKind::Loss,
                format!("{target} was not told `{}`: {}", loss.path, loss.reason),
            ));
        }
        let attempt = plan.attempts.iter().find(|attempt| attempt.target == target);
        if let Some(attempt) = attempt {
            bill.answers(attempt, plan.estimated);
        }
        let mut written = 0;
        loop {
            match batch(&mut reply).await {
                Batch::Events(events) => {
                    written += bytes(&events);
                    bill.heard(bytes(&events), reply.usage());
                    self.line.tell(News::Reply(step, events));
                }
                Batch::End(events) => {
                    written += bytes(&events);
                    bill.heard(bytes(&events), reply.usage());
                    self.line.tell(News::Reply(step, events));
                    break;
                }
                Batch::Broken(events, broken) => {
                    bill.heard(bytes(&events), reply.usage());
                    self.line.tell(News::Reply(step, events));
                    return self.failed(step, broken.error.message, FailureKind::Broke);
                }
            }
        }
        self.mended(&mut reply);
        let usage = reply.usage().clone();
        let client = Client { headers: &[], name: Some("rail") };
        let key = facts(&request, &client, 0).session;
        let virtual_model = plan.virtual_model.as_deref();
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).saw(
            key,
            &target,
            virtual_model,
            &usage,
            now(),
        );
        let spent = Spent {
            step,
            target: target.to_string(),
            cost_usd: attempt.and_then(|attempt| cost(attempt, &counted(&usage, plan.estimated, written))),
            usage,
            duration_ms: millis(began),
            ..Spent::default()
        };
        self.line.tell(News::ReplyEnded(step, Box::new(spent)));
    }

    /// Who may answer.
    pub(super) fn plan(&self, request: &Request) -> Plan {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        plans::plan(&self.upstream, &self.loaded, &sessions, request, self.purse.usd(), now())
    }

    /// How much those take who may answer.
    pub(super) fn room(&self, request: &Request) -> Option<Room> {
        self.with_reader(room(&self.plan(request)), &request.model)
    }

    /// Summaries may be written by another model, which reads less or more.
    fn with_reader(&self, room: Option<Room>, model: &str) -> Option<Room> {
        let request = Request {
            model: model.to_owned(),
            purpose: Purpose::Background,
            stream: true,
            ..Request::default()
        };
        let reads = self::room(&self.plan(&request)).map(|room| room.limit.saturating_sub(room.output));
        Some(Room { reads, ..room? })
    }

    fn mended(&self, reply: &mut Reply) {
        for note in reply.repairs().notes {
            self.line.tell(News::Note(NoteKind::Repair, note.to_string()));
        }
    }

    fn no_answer(&self, step: StepId, error: &NoAnswer) {
        let kind = match error.error.fault() {
            Fault::TooLong => FailureKind::TooLong,
            Fault::Target | Fault::Request | Fault::Passing => FailureKind::Final,
        };
        self.failed(step, error.error.message.clone(), kind);
    }

    fn failed(&self, step: StepId, why: String, kind: FailureKind) {
        self.line.tell(News::ReplyFailed(step, AskFailure { why, kind }));
    }
}

/// How much the largest of the targets takes; nothing when one of them is not known.
fn room(plan: &Plan) -> Option<Room> {
    let mut most: Option<Room> = None;
    for Attempt { profile, .. } in &plan.attempts {
        let output = profile.max_output.unwrap_or(USUAL_OUTPUT);
        let limit = profile.room(output)?.saturating_add(output);
        if most.is_none_or(|room| room.limit < limit) {
            // Half of a small window is left for what is read.
            most = Some(Room { limit, output: output.min(limit / 4), reads: None });
        }
    }
    most
}

fn routed(step: StepId, plan: &Plan, target: &str, failed: Vec<(String, String)>) -> Routed {
    Routed {
        step,
        asked: plan.asked.clone(),
        virtual_model: plan.virtual_model.clone(),
        why: plan.why.clone(),
        target: target.to_owned(),
        failed,
    }
}

/// Some events of an answer, and whether it goes on.
enum Batch {
    Events(Vec<Event>),
    End(Vec<Event>),
    Broken(Vec<Event>, Broken),
}

/// Waits for the next event, and takes all that are there by then: they are written down and shown together.
async fn batch(reply: &mut Reply) -> Batch {
    let mut events = match reply.next().await {
        Some(Ok(event)) => vec![event],
        Some(Err(broken)) => return Batch::Broken(Vec::new(), broken),
        None => return Batch::End(Vec::new()),
    };
    loop {
        let ready = {
            let mut next = pin!(reply.next());
            std::future::poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await
        };
        match ready {
            Poll::Ready(Some(Ok(event))) => events.push(event),
            Poll::Ready(Some(Err(broken))) => return Batch::Broken(events, broken),
            Poll::Ready(None) => return Batch::End(events),
            Poll::Pending => return Batch::Events(events),
        }
    }
}

/// Hears what happens to a request, and tells the user what matters.
struct Heard<'a> {
    line: &'a Line,
    failed: Mutex<Vec<(String, String)>>,
}

impl Notes for Heard<'_> {
    fn note(&self, note: Note) {
        let text = match note {
            Note::Sent(sent) => {
                let Some(why) = failure(&sent) else { return };
                let target = sent.target.to_string();
                let text = format!("{target} failed: {why}");
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).push((target, why));
                text
            }
            Note::Retrying { target, wait } => {
                format!("{target} is asked again in {:.1} s", wait.as_secs_f64())
            }
            Note::Fixing { target, because, .. } => {
                format!("{target} is asked again with a change: {because}")
            }
            Note::Refused { target, because, .. } => format!("{target} can't be used: {because}"),
            Note::CircuitOpened { target, because } => {
                format!("{target} is left alone for a while: {because}")
            }
            Note::NotKept { problem } => problem,
            Note::Deferred { .. }
            | Note::Probing { .. }
            | Note::Sending { .. }
            | Note::Learned { .. }
            | Note::Lost { .. } => return,
        };
        self.line.tell(News::Note(NoteKind::Failover, text));
    }
}

/// What went wrong with a send, if something did.
fn failure(sent: &Sent) -> Option<String> {
    match &sent.outcome {
        Outcome::Failed { problem, .. } => Some(problem.clone()),
        Outcome::Empty => Some("its answer was empty".to_owned()),
        Outcome::Answered | Outcome::Left => None,
    }
}
