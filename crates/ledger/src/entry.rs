use rail_model::Json;
use serde::{Deserialize, Serialize};

use crate::{KeyId, Money};

/// The record of one request.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Its id, which the client sees as `x-request-id`; later requests have greater ones.
    pub id: String,
    /// When it came, in Unix milliseconds.
    pub at: u64,
    /// The gateway's key that it came with.
    pub key: Option<KeyId>,
    /// The client's name, as far as it is known.
    pub client: String,
    /// The conversation it belongs to.
    pub session: Option<String>,
    /// The protocol that the client speaks.
    pub protocol: String,
    /// What was asked for: `generate`, `count`, `embed`.
    pub operation: String,
    /// Whether the answer was wanted as a stream.
    pub stream: bool,
    /// The model name asked for.
    pub asked: String,
    /// The virtual model it was taken for.
    pub virtual_model: Option<String>,
    /// The route and its reasons, as `rail route explain --json` gives it; none when no plan was made.
    pub route: Option<Json>,
    /// The target that answered, `provider,model`.
    pub target: Option<String>,
    /// Every send, in order.
    pub sent: Vec<SentEntry>,
    /// Whether the target's own bytes were passed on.
    pub relayed: bool,
    /// Calls that were mended: for each, what was done, with the call as it came and as it left where it is known.
    pub repairs: Vec<Json>,
    /// What could not be carried between the protocols.
    pub losses: Vec<String>,
    /// Tokens used.
    pub tokens: Tokens,
    /// What it cost; none when no price is known.
    pub cost: Option<Money>,
    /// Milliseconds until the first content.
    pub first_ms: Option<u64>,
    /// Milliseconds until the end.
    pub total_ms: u64,
    /// How it ended.
    pub ending: Ending,
    /// The HTTP status that the client saw.
    pub status: u16,
    /// What went wrong.
    pub problem: Option<String>,
    /// What was said, if that is kept.
    pub bodies: Option<Bodies>,
}

impl Entry {
    /// A request of which nothing more is known than that it came; until somebody says otherwise, its client left before it
    /// had an answer.
    pub fn begun(id: String, at: u64) -> Self {
        Self {
            id,
            at,
            key: None,
            client: String::new(),
            session: None,
            protocol: String::new(),
            operation: String::new(),
            stream: false,
            asked: String::new(),
            virtual_model: None,
            route: None,
            target: None,
            sent: Vec::new(),
            relayed: false,
            repairs: Vec::new(),
            losses: Vec::new(),
            tokens: Tokens::default(),
            cost: None,
            first_ms: None,
            total_ms: 0,
            ending: Ending::Left,
            status: LEFT,
            problem: None,
            bodies: None,
        }
    }
}

/// The status in the record of a client that left before it had an answer, as nginx has it.
pub const LEFT: u16 = 499;

/// One send to a target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SentEntry {
    /// The target, `provider,model`.
    pub target: String,
    /// Milliseconds from the request's arrival until it was sent.
    pub began_ms: u64,
    /// Milliseconds until its first content, its failure or until nobody waited any more.
    pub took_ms: u64,
    /// The HTTP status, if one came.
    pub status: Option<u16>,
    /// How it ended: `answered`, `empty`, `failed`, `left`.
    pub outcome: String,
    /// What went wrong.
    pub problem: Option<String>,
    /// Whether the provider may have charged for it although it gave no answer.
    pub possible_charge: bool,
}

/// Tokens in disjoint buckets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Input that came from no cache and was written to none.
    pub input: u64,
    /// Input read from the provider's cache.
    pub cache_read: u64,
    /// Input written to the provider's cache.
    pub cache_write: u64,
    /// Output without reasoning.
    pub output: u64,
    /// Output spent on reasoning.
    pub reasoning: u64,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// With a complete answer.
    Answered,
    /// With an error of a provider, or with none that could answer.
    Failed,
    /// With an answer that broke off.
    Broken,
    /// Its client went away.
    Left,
    /// The gateway did not take it: a wrong key, a limit, a budget, a malformed body.
    Refused,
}

impl Ending {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Answered, Self::Failed, Self::Broken, Self::Left, Self::Refused];

    /// The ending by its word, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::Broken => "broken",
            Self::Left => "left",
            Self::Refused => "refused",
        }
    }
}

/// What was said.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Bodies {
    /// The client's request.
    pub request: String,
    /// The answer as the client saw it.
    pub answer: String,
}
