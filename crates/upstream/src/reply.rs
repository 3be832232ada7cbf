//! An answer that has begun.

use std::fmt;
use std::sync::Arc;

use rail_model::{ApiError, Event, Loss, Usage};
use rail_route::Target;

use crate::Sent;
use crate::answer::Answer;
use crate::failure::{Class, Failure};
use crate::shared::Shared;

/// An answer whose first content is here. Dropping it cancels the request.
///
/// It comes from one target from beginning to end: what fails now is [`Broken`] and never tried elsewhere.
pub struct Reply {
    target: Target,
    losses: Vec<Loss>,
    sent: Vec<Sent>,
    answer: Box<Answer>,
    shared: Arc<Shared>,
    counted: Counted,
}

/// What was estimated of a request, and what its answer says of it.
struct Counted {
    estimated: u64,
    usage: Usage,
    /// Whether something was heard that the file should have.
    unwritten: bool,
}

impl Reply {
    pub(crate) fn new(
        target: Target,
        losses: Vec<Loss>,
        sent: Vec<Sent>,
        answer: Box<Answer>,
        shared: Arc<Shared>,
        estimated: u64,
    ) -> Self {
        let counted = Counted { estimated, usage: Usage::default(), unwritten: false };
        Self { target, losses, sent, answer, shared, counted }
    }

    /// Who answers.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// What the target could not be told.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Every send of this request, the last of which is this answer.
    pub fn sent(&self) -> &[Sent] {
        &self.sent
    }

    /// The next event; None after the last one. An answer that ends otherwise than by `Finished` is broken.
    ///
    /// It may be dropped while it waits and called again: nothing is lost.
    pub async fn next(&mut self) -> Option<Result<Event, Broken>> {
        let failure = match self.answer.next().await {
            Some(Ok(event)) => {
                self.count(&event);
                return Some(Ok(event));
            }
            Some(Err(failure)) => failure,
            None => {
                self.keep_heard().await;
                return None;
            }
        };
        let error = failure.error();
        if counts(&failure) {
            // Whoever reads the answer is told of the failure itself; that a circuit opened shows in the health.
            self.shared.failed(&self.target, &error.message);
        }
        Some(Err(Broken { error }))
    }

    /// Learns from the tokens that the target reports, once they are final.
    fn count(&mut self, event: &Event) {
        match event {
            Event::Usage(usage) => self.counted.usage.update(usage.clone()),
            Event::Finished { .. } => {
                let Counted { estimated, usage, unwritten } = &mut self.counted;
                *unwritten = self.shared.lessons.hear(&self.target, *estimated, usage.all_input());
            }
            Event::Started { .. }
            | Event::Opened { .. }
            | Event::Delta { .. }
            | Event::Closed { .. }
            | Event::Failed(_)
            | Event::Ping
            | Event::Opaque(_) => {}
        }
    }

    /// Writes down what was heard, behind the last event, so that nobody waits for a disk.
    async fn keep_heard(&mut self) {
        if std::mem::take(&mut self.counted.unwritten) {
            let shared = Arc::clone(&self.shared);
            // What can't be written is known all the same; the next lesson tells what is wrong with the file.
            let _ = tokio::task::spawn_blocking(move || shared.lessons.keep_heard()).await;
        }
    }

    /// What was mended in the calls of this answer since the last time.
    pub fn repairs(&mut self) -> Vec<rail_repair::Note> {
        self.answer.notes()
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("target", &self.target)
            .field("sent", &self.sent)
            .finish_non_exhaustive()
    }
}

/// Whether a failure in mid-answer speaks against the target, and not against the request.
fn counts(failure: &Failure) -> bool {
    match failure.class(rail_model::ProtocolId::new(""), b"") {
        Class::Passing { .. } | Class::Stale | Class::Target => true,
        Class::TooLong | Class::Fixable(_) | Class::Request => false,
    }
}

/// An answer broke after its first content.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("the answer broke: {}", error.message)]
pub struct Broken {
    /// What to tell the client, in its own protocol.
    pub error: ApiError,
}
