use serde_json::Value;

use crate::{
    ApiError, CallId, CallKind, Extras, Logprob, Media, Opaque, PartBody, ProtocolId, Seal, Stop, ToolCall,
    Usage,
};

/// One step of an answer. Every decoder gives these, in an order that `Grammar` accepts.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The answer begins.
    Started {
        /// The answer's id, if given.
        id: Option<String>,
        /// The model that answers, if told.
        model: Option<String>,
        /// What the origin said besides.
        extras: Extras,
    },
    /// Part `at` begins; parts are numbered from 0 without gaps.
    Opened {
        /// The part's number.
        at: usize,
        /// What it is.
        kind: PartKind,
        /// What the origin said besides.
        extras: Extras,
    },
    /// More of part `at`.
    Delta {
        /// The part's number.
        at: usize,
        /// What is added.
        delta: Delta,
        /// What the origin said besides, of this frame only.
        extras: Extras,
    },
    /// Part `at` is complete.
    Closed {
        /// The part's number.
        at: usize,
        /// What the origin said besides.
        extras: Extras,
    },
    /// The tokens used so far, cumulative.
    Usage(Usage),
    /// The answer is complete; the last event of a good answer.
    Finished {
        /// Why the model stopped.
        stop: Stop,
        /// What the origin said besides.
        extras: Extras,
    },
    /// The upstream said in mid-stream that it failed; the last event of a bad answer.
    Failed(ApiError),
    /// The upstream is alive.
    Ping,
    /// An event we have no word for.
    Opaque(Opaque),
}

/// What kind of part begins. Kinds without deltas carry all they have.
#[derive(Clone, PartialEq, Debug)]
pub enum PartKind {
    /// Text.
    Text,
    /// Words of refusal.
    Refusal,
    /// Visible reasoning.
    Thinking,
    /// Reasoning nobody sees; whole.
    Redacted(Seal),
    /// A call; its arguments follow.
    ToolCall {
        /// Its id.
        id: CallId,
        /// The tool's name.
        name: String,
        /// Whether the arguments are JSON.
        kind: CallKind,
    },
    /// A medium; whole.
    Media(Media),
    /// A block we have no word for; whole.
    Opaque(Opaque),
}

impl PartKind {
    /// The part as it begins, before any delta.
    pub fn begun(self) -> PartBody {
        match self {
            Self::Text => PartBody::Text(String::new()),
            Self::Refusal => PartBody::Refusal(String::new()),
            Self::Thinking => PartBody::Thinking(String::new()),
            Self::Redacted(seal) => PartBody::Redacted(seal),
            Self::ToolCall { id, name, kind } => {
                PartBody::ToolCall(ToolCall { id, name, arguments: String::new(), kind })
            }
            Self::Media(media) => PartBody::Media(media),
            Self::Opaque(opaque) => PartBody::Opaque(opaque),
        }
    }
}

/// What is added to a part.
#[derive(Clone, PartialEq, Debug)]
pub enum Delta {
    /// Text of a `Text` or `Refusal` part.
    Text(String),
    /// Text of a `Thinking` part.
    Thinking(String),
    /// The part's seal, whole.
    Seal(Seal),
    /// Text of a call's arguments.
    Arguments(String),
    /// Log probabilities of the text just added.
    Logprobs(Vec<Logprob>),
    /// One more entry of the list that the part's extras hold under `key`: citations, annotations.
    Extra {
        /// Who said it.
        origin: ProtocolId,
        /// The list's name.
        key: &'static str,
        /// The entry.
        value: Value,
    },
}
