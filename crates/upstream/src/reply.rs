//! An answer that has begun.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use rail_model::{ApiError, ErrorKind, Event, Loss, Usage};
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
    /// What was read of bytes that were passed on.
    heard: VecDeque<Event>,
    shared: Arc<Shared>,
    tally: Tally,
}

/// What was estimated of a request, and what its answer says of it.
struct Tally {
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
        let tally = Tally { estimated, usage: Usage::default(), unwritten: false };
        Self { target, losses, sent, answer, heard: VecDeque::new(), shared, tally }
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

    /// What the provider says beside its answer and a client may want to know: ids and rate limits. Names are in lower case.
    pub fn headers(&self) -> &[(String, String)] {
        &self.answer.headers
    }

    /// The tokens that the target has reported so far, of what was taken of the answer.
    pub fn usage(&self) -> &Usage {
        &self.tally.usage
    }

    /// The next event; None after the last one. An answer that ends otherwise than by `Finished` is broken.
    ///
    /// It may be dropped while it waits and called again: nothing is lost.
    pub async fn next(&mut self) -> Option<Result<Event, Broken>> {
        match self.answer.next().await {
            Some(Ok(event)) => {
                self.count(&event);
                Some(Ok(event))
            }
            Some(Err(failure)) => Some(Err(self.broken(&failure))),
            None => {
                self.keep_heard().await;
                None
            }
        }
    }

    /// Whether the client can have the target's own bytes from [`next_raw`](Self::next_raw): as server-sent events if a
    /// stream was asked for, else as one document. A client that wants a stream in another form (Gemini's growing array),
    /// or that was sent the start of an answer already, must have events.
    ///
    /// False for all answers once an event was taken.
    pub fn relayable(&self) -> bool {
        self.answer.is_raw()
    }

    /// The target's own bytes, as they come, in whole frames, with this name of the model or else the target's own; None after
    /// the last ones. Meanwhile they are read too, so an answer breaks, ends and is counted as it does with
    /// [`next`](Self::next), and the frame that broke it is not among those given. What they say, [`heard`](Self::heard) tells.
    ///
    /// It may be dropped while it waits and called again: nothing is lost. An answer that is not relayable is broken.
    pub async fn next_raw(&mut self, model: Option<&str>) -> Option<Result<Bytes, Broken>> {
        if !self.relayable() {
            let problem = "this answer can't be passed on as it came";
            return Some(Err(Broken { error: ApiError::new(ErrorKind::Server, problem) }));
        }
        let frames = self.answer.next_raw(model).await;
        while let Some(event) = self.answer.heard() {
            self.count(&event);
            self.heard.push_back(event);
        }
        match frames {
            Some(Ok(frames)) => Some(Ok(frames)),
            Some(Err(failure)) => Some(Err(self.broken(&failure))),
            None => {
                self.keep_heard().await;
                None
            }
        }
    }

    /// The next event of the bytes that were given, and at the end of the end itself. Ask for them each time: they are kept
    /// until somebody does.
    pub fn heard(&mut self) -> Option<Event> {
        self.heard.pop_front()
    }

    /// How a failure is told, after health was told of it.
    fn broken(&self, failure: &Failure) -> Broken {
        let error = failure.error();
        if counts(failure) {
            // Whoever reads the answer is told of the failure itself; that a circuit opened shows in the health.
            self.shared.failed(&self.target, &error.message);
        }
        Broken { error }
    }

    /// Learns from the tokens that the target reports, once they are final.
    fn count(&mut self, event: &Event) {
        match event {
            Event::Usage(usage) => self.tally.usage.update(usage.clone()),
            Event::Finished { .. } => {
                let Tally { estimated, usage, unwritten } = &mut self.tally;
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
        if std::mem::take(&mut self.tally.unwritten) {
            let shared = Arc::clone(&self.shared);
            // What can't be written is known all the same; the next lesson tells what is wrong with the file.
            let _ = tokio::task::spawn_blocking(move || shared.lessons.keep_heard()).await;
        }
    }

    /// What was mended in the calls of this answer since the last time.
    pub fn repairs(&mut self) -> Mended {
        self.answer.mended()
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

/// What was mended in the calls of an answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mended {
    /// What was done, call by call.
    pub notes: Vec<rail_repair::Note>,
    /// Those calls as the model wrote them, once they are complete. Of two with the same id the first counts.
    pub written: Vec<rail_repair::Written>,
}

/// An answer broke after its first content.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("the answer broke: {}", error.message)]
pub struct Broken {
    /// What to tell the client, in its own protocol.
    pub error: ApiError,
}
