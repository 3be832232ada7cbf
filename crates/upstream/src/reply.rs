//! An answer that has begun.

use std::fmt;
use std::sync::Arc;

use rail_model::{ApiError, Event, Loss};
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
}

impl Reply {
    pub(crate) fn new(
        target: Target,
        losses: Vec<Loss>,
        sent: Vec<Sent>,
        answer: Box<Answer>,
        shared: Arc<Shared>,
    ) -> Self {
        Self { target, losses, sent, answer, shared }
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
        let failure = match self.answer.next().await? {
            Ok(event) => return Some(Ok(event)),
            Err(failure) => failure,
        };
        let error = failure.error();
        if counts(&failure) {
            // Whoever reads the answer is told of the failure itself; that a circuit opened shows in the health.
            self.shared.failed(&self.target, &error.message);
        }
        Some(Err(Broken { error }))
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
