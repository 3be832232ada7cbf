//! A plan and a request become an answer.

use std::path::PathBuf;
use std::sync::Arc;

use rail_model::{ApiError, EmbedReply, EmbedRequest, ErrorKind, Loss, Request, TokenCount};
use rail_route::{Attempt, Health, Plan, Target};
use rail_wire::Shrink;

use crate::errand::{Answering, Counting, Embedding, Errand};
use crate::failure::Class;
use crate::learned::Lessons;
use crate::letter::Letter;
use crate::send::Log;
use crate::shared::{Admission, Shared};
use crate::verdict::{Miss, verdict};
use crate::visit::{Visit, Visited};
use crate::{Fix, Learned, Note, Notes, Original, Reply, Sent, Transport};

/// Asks targets, and remembers how they fared. Cheap to clone: all clones share what they remember.
#[derive(Clone)]
pub struct Upstream {
    pub(crate) transport: Arc<dyn Transport>,
    shared: Arc<Shared>,
    shrink: Option<Shrink>,
}

impl Upstream {
    /// Asks through this transport. What it learns is forgotten with it.
    pub fn new(transport: Arc<dyn Transport>) -> Self {
        Self { transport, shared: Arc::default(), shrink: None }
    }

    /// The same, with a file for what is learned. A file that can't be read is set aside, and the second value says so.
    pub fn learning_at(transport: Arc<dyn Transport>, path: impl Into<PathBuf>) -> (Self, Option<String>) {
        let (lessons, problem) = Lessons::at(path.into());
        let shared = Arc::new(Shared::knowing(lessons));
        (Self { transport, shared, shrink: None }, problem)
    }

    /// The same, with a way to make images smaller that a target would refuse.
    #[must_use]
    pub fn shrinking(self, shrink: Shrink) -> Self {
        Self { shrink: Some(shrink), ..self }
    }

    /// The same, with circuits that others have left open; all else that is known of targets is forgotten.
    #[must_use]
    pub fn remembering(self, health: &Health) -> Self {
        self.shared.remember(health);
        self
    }

    /// Asks the plan's targets in order until one gives content. Dropping the future cancels the request.
    ///
    /// Before the first content failures are retried, fixed or left behind, as their class says; `notes` hears of each.
    /// A complete answer without content is given only when no target gave a better one.
    pub async fn ask(&self, plan: &Plan, request: &Request, notes: &dyn Notes) -> Result<Reply, NoAnswer> {
        self.answer(plan, &Answering { request, original: None }, notes).await
    }

    /// The same for a request that came from a client. A target of the client's own protocol gets the client's own bytes
    /// with only the model's name replaced, if it is to be told just what they say and nothing has to be done to its
    /// answer; then the answer can be passed on as it comes too, see [`Reply::relayable`].
    pub async fn relay(
        &self,
        plan: &Plan,
        request: &Request,
        original: &Original<'_>,
        notes: &dyn Notes,
    ) -> Result<Reply, NoAnswer> {
        self.answer(plan, &Answering { request, original: Some(original) }, notes).await
    }

    /// Asks the plan's targets in order to count the tokens of a request. Targets whose protocol has no such call are passed
    /// over, and a failure says nothing of a target's health: many servers do not count.
    pub async fn count(
        &self,
        plan: &Plan,
        request: &Request,
        notes: &dyn Notes,
    ) -> Result<Counted, NoAnswer> {
        let mut log = Log::new(notes);
        match self.visit_all(plan, &Counting(request), &mut log).await {
            Ok(won) => Ok(Counted { target: won.attempt.target.clone(), count: won.got }),
            Err(error) => Err(NoAnswer { error, sent: log.into_sent() }),
        }
    }

    /// Asks the plan's targets in order for embeddings. Targets whose protocol has no such call are passed over.
    pub async fn embed(
        &self,
        plan: &Plan,
        request: &EmbedRequest,
        notes: &dyn Notes,
    ) -> Result<Embedded, NoAnswer> {
        let mut log = Log::new(notes);
        match self.visit_all(plan, &Embedding(request), &mut log).await {
            Ok(Won { attempt, got: reply, letter }) => {
                tell_losses(&log, &attempt.target, &letter.losses);
                let (target, losses) = (attempt.target.clone(), letter.losses);
                Ok(Embedded { target, reply, losses, sent: log.into_sent() })
            }
            Err(error) => Err(NoAnswer { error, sent: log.into_sent() }),
        }
    }

    /// How targets fare, as it is now: for plans, and for people.
    pub fn health(&self) -> Health {
        self.shared.health()
    }

    /// What was learned of targets, as it is now.
    pub fn learned(&self) -> Learned {
        self.shared.lessons.known()
    }

    /// Forgets a change for a target, or all of them; false when there was none. The error says what happened to the file.
    pub fn forget(&self, target: &Target, fix: Option<&Fix>) -> Result<bool, String> {
        self.shared.lessons.forget(target, fix)
    }

    async fn answer(
        &self,
        plan: &Plan,
        errand: &Answering<'_>,
        notes: &dyn Notes,
    ) -> Result<Reply, NoAnswer> {
        let mut log = Log::new(notes);
        match self.visit_all(plan, errand, &mut log).await {
            Ok(Won { attempt, got: answer, letter }) => {
                let (target, losses) = (attempt.target.clone(), letter.losses);
                tell_losses(&log, &target, &losses);
                let (sent, shared) = (log.into_sent(), Arc::clone(&self.shared));
                Ok(Reply::new(target, losses, sent, answer, shared, plan.estimated))
            }
            Err(error) => Err(NoAnswer { error, sent: log.into_sent() }),
        }
    }

    /// Asks one target after the other; those that are in trouble last.
    async fn visit_all<'p, E: Errand>(
        &self,
        plan: &'p Plan,
        errand: &E,
        log: &mut Log<'_>,
    ) -> Result<Won<'p, E::Got>, ApiError> {
        let mut run = Run::default();
        let mut last = Vec::new();
        for attempt in &plan.attempts {
            let probe = match self.shared.admit(&attempt.target) {
                Admission::Yes => None,
                Admission::Probe(probe) => {
                    log.note(Note::Probing { target: attempt.target.clone() });
                    Some(probe)
                }
                Admission::Last => {
                    log.note(Note::Deferred { target: attempt.target.clone() });
                    last.push(attempt);
                    continue;
                }
            };
            let won = self.visit(attempt, errand, log, &mut run).await;
            drop(probe);
            if let Some(won) = won {
                return Ok(won);
            }
        }
        for attempt in last {
            if let Some(won) = self.visit(attempt, errand, log, &mut run).await {
                return Ok(won);
            }
        }
        match run {
            Run { empty: Some(won), .. } => Ok(won),
            Run { misses, unknown: true, .. } if misses.is_empty() => {
                let message = format!("no target for `{}` can {}", plan.asked, E::UNKNOWN);
                Err(ApiError::new(ErrorKind::NotFound, message))
            }
            Run { misses, .. } => Err(verdict(plan, &misses)),
        }
    }

    /// Asks one target, unless it is known to be too small; what it gave instead of content is kept in `run`.
    async fn visit<'p, E: Errand>(
        &self,
        attempt: &'p Attempt,
        errand: &E,
        log: &mut Log<'_>,
        run: &mut Run<'p, E::Got>,
    ) -> Option<Won<'p, E::Got>> {
        let window = attempt.profile.window;
        if window.is_some_and(|window| run.too_small.is_some_and(|small| window <= small)) {
            return None;
        }
        let (transport, shared) = (&*self.transport, &self.shared);
        let visit = Visit { transport, shared, attempt, errand, shrink: self.shrink };
        match Box::pin(visit.run(log)).await {
            Visited::Answered(got, letter) => return Some(Won { attempt, got, letter }),
            Visited::Empty(got, letter) => {
                run.empty.get_or_insert(Won { attempt, got, letter });
            }
            Visited::Unknown => run.unknown = true,
            Visited::Missed(miss) => {
                if miss.class == Class::TooLong {
                    run.too_small = run.too_small.max(window);
                }
                run.misses.push(miss);
            }
        }
        None
    }
}

fn tell_losses(log: &Log<'_>, target: &Target, losses: &[Loss]) {
    for loss in losses {
        log.note(Note::Lost { target: target.clone(), loss: loss.clone() });
    }
}

/// What a target gave for which letter.
struct Won<'p, T> {
    attempt: &'p Attempt,
    got: T,
    letter: Letter,
}

/// What the targets asked so far gave instead of an answer.
struct Run<'p, T> {
    misses: Vec<Miss>,
    empty: Option<Won<'p, T>>,
    /// There was a target whose protocol has no such call.
    unknown: bool,
    /// The largest window that was too small.
    too_small: Option<u64>,
}

impl<T> Default for Run<'_, T> {
    fn default() -> Self {
        Self { misses: Vec::new(), empty: None, unknown: false, too_small: None }
    }
}

/// How many tokens a request has.
#[derive(Clone, PartialEq, Debug)]
pub struct Counted {
    /// Who counted.
    pub target: Target,
    /// The count.
    pub count: TokenCount,
}

/// Embeddings, and how they came.
#[derive(Clone, PartialEq, Debug)]
pub struct Embedded {
    /// Who answered.
    pub target: Target,
    /// The vectors.
    pub reply: EmbedReply,
    /// What the target could not be told.
    pub losses: Vec<Loss>,
    /// Every send of this request, the last of which brought the vectors.
    pub sent: Vec<Sent>,
}

/// No target answered.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{}", error.message)]
pub struct NoAnswer {
    /// What to tell the client, in its own protocol.
    pub error: ApiError,
    /// Every send of this request.
    pub sent: Vec<Sent>,
}
