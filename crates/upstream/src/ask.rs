//! A plan and a request become an answer.

use std::path::PathBuf;
use std::sync::Arc;

use rail_model::{ApiError, Request};
use rail_route::{Attempt, Health, Plan, Target};
use rail_wire::Shrink;

use crate::answer::Answer;
use crate::failure::Class;
use crate::learned::Lessons;
use crate::letter::Letter;
use crate::send::Log;
use crate::shared::{Admission, Shared};
use crate::verdict::{Miss, verdict};
use crate::visit::{Visit, Visited};
use crate::{Fix, Learned, Note, Notes, Reply, Sent, Transport};

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
        let mut log = Log::new(notes);
        let mut run = Run::default();
        let mut last = Vec::new();
        for attempt in &plan.attempts {
            match self.shared.admit(&attempt.target) {
                Admission::Last => {
                    log.note(Note::Deferred { target: attempt.target.clone() });
                    last.push(attempt);
                }
                Admission::Yes => {
                    if let Some((answer, letter)) = self.visit(attempt, request, &mut log, &mut run).await {
                        return Ok(self.reply(plan.estimated, (attempt, answer, letter), log));
                    }
                }
                Admission::Probe(probe) => {
                    log.note(Note::Probing { target: attempt.target.clone() });
                    let visited = self.visit(attempt, request, &mut log, &mut run).await;
                    drop(probe);
                    if let Some((answer, letter)) = visited {
                        return Ok(self.reply(plan.estimated, (attempt, answer, letter), log));
                    }
                }
            }
        }
        for attempt in last {
            if let Some((answer, letter)) = self.visit(attempt, request, &mut log, &mut run).await {
                return Ok(self.reply(plan.estimated, (attempt, answer, letter), log));
            }
        }
        match run.empty {
            Some((attempt, answer, letter)) => {
                Ok(self.reply(plan.estimated, (&attempt, answer, letter), log))
            }
            None => Err(NoAnswer { error: verdict(plan, &run.misses), sent: log.into_sent() }),
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

    /// Asks one target, unless it is known to be too small; what it gave instead of content is kept in `run`.
    async fn visit(
        &self,
        attempt: &Attempt,
        request: &Request,
        log: &mut Log<'_>,
        run: &mut Run,
    ) -> Option<(Box<Answer>, Letter)> {
        let window = attempt.profile.window;
        if window.is_some_and(|window| run.too_small.is_some_and(|small| window <= small)) {
            return None;
        }
        let (transport, shared) = (&*self.transport, &self.shared);
        let visit = Visit { transport, shared, attempt, request, shrink: self.shrink };
        match Box::pin(visit.run(log)).await {
            Visited::Answered(answer, letter) => return Some((answer, letter)),
            Visited::Empty(answer, letter) => {
                run.empty.get_or_insert_with(|| (attempt.clone(), answer, letter));
            }
            Visited::Missed(miss) => {
                if miss.class == Class::TooLong {
                    run.too_small = run.too_small.max(window);
                }
                run.misses.push(miss);
            }
        }
        None
    }

    fn reply(
        &self,
        estimated: u64,
        (attempt, answer, letter): (&Attempt, Box<Answer>, Letter),
        log: Log<'_>,
    ) -> Reply {
        let target = attempt.target.clone();
        for loss in &letter.losses {
            log.note(Note::Lost { target: target.clone(), loss: loss.clone() });
        }
        let (sent, shared) = (log.into_sent(), Arc::clone(&self.shared));
        Reply::new(target, letter.losses, sent, answer, shared, estimated)
    }
}

/// What the targets asked so far gave instead of an answer.
#[derive(Default)]
struct Run {
    misses: Vec<Miss>,
    empty: Option<(Attempt, Box<Answer>, Letter)>,
    /// The largest window that was too small.
    too_small: Option<u64>,
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
