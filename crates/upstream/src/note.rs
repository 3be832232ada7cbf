//! What is told of a request while it is on its way, and the record of every send.

use std::time::Duration;

use rail_model::{ErrorKind, Loss, Usage};
use rail_route::Target;

use crate::{Class, Fix};

/// Hears what happens to a request as it happens.
pub trait Notes: Send + Sync {
    /// Hears one thing. It must not take long: the request waits for it.
    fn note(&self, note: Note);
}

/// Nobody listens.
impl Notes for () {
    fn note(&self, _: Note) {}
}

/// One thing that happened to a request.
#[derive(Clone, PartialEq, Debug)]
pub enum Note {
    /// A target is left for last because its circuit is open, or because another request tries it just now.
    Deferred {
        /// The target.
        target: Target,
    },
    /// A target that failed before is tried again to see whether it works.
    Probing {
        /// The target.
        target: Target,
    },
    /// A request goes out.
    Sending {
        /// To whom.
        target: Target,
        /// Enough of the key to tell it from others, if there is one.
        key: Option<String>,
    },
    /// A send came to its end, good or bad.
    Sent(Sent),
    /// The same target is asked again after a pause.
    Retrying {
        /// The target.
        target: Target,
        /// The pause.
        wait: Duration,
    },
    /// The same target is asked again with a change.
    Fixing {
        /// The target.
        target: Target,
        /// The change.
        fix: Fix,
        /// What the target said.
        because: String,
    },
    /// A change has worked and is made for this target from now on.
    Learned {
        /// The target.
        target: Target,
        /// The change.
        fix: Fix,
        /// What the target said.
        because: String,
    },
    /// A target can't be used as it is: a wrong key, an unknown model, no quota. Told once until it answers again.
    Refused {
        /// The target.
        target: Target,
        /// What kind of refusal.
        kind: ErrorKind,
        /// What the target said.
        because: String,
    },
    /// A target failed so often that it is left alone for a while.
    CircuitOpened {
        /// The target.
        target: Target,
        /// The last thing that went wrong.
        because: String,
    },
    /// The target that answers could not be told this.
    Lost {
        /// The target.
        target: Target,
        /// What, and why.
        loss: Loss,
    },
    /// What was learned could not be kept for the next start.
    NotKept {
        /// What happened to which file.
        problem: String,
    },
}

/// One send of a request: whether it was answered or not, it may have cost money.
#[derive(Clone, PartialEq, Debug)]
pub struct Sent {
    /// To whom.
    pub target: Target,
    /// Enough of the key to tell it from others, if there was one.
    pub key: Option<String>,
    /// When it was sent, counted from the beginning of the request.
    pub began: Duration,
    /// How long until its first content, its failure, or until nobody waited any more.
    pub took: Duration,
    /// The HTTP status, if one came.
    pub status: Option<u16>,
    /// The change that was tried with this send for the first time.
    pub fix: Option<Fix>,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the provider may have charged for it although it gave no answer.
    pub possible_charge: bool,
    /// The tokens that the provider reported although it gave no answer; none for one that did, which reports them itself.
    pub reported: Option<Box<Usage>>,
}

/// How a send ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// Content came.
    Answered,
    /// The answer was complete and had nothing in it.
    Empty,
    /// It failed.
    Failed {
        /// What that means.
        class: Class,
        /// What happened.
        problem: String,
    },
    /// Nobody waited for the answer any more.
    Left,
}
