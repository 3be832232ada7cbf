//! The validator that stands before every send: a request is brought into a form its target accepts.
//!
//! Encoders call [`fit`] first and then only write down what it gives. What had to go or to change is a named loss, so
//! a conversation that once was valid can't be bricked by another model, an image, an interrupt or a crash.

use rail_model::{Loss, ProtocolId, Request};

use crate::protocol::TargetSpec;
use crate::restore::Restore;

/// What a protocol demands of a request, as data.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whose rules.
    pub protocol: ProtocolId,
    /// The longest tool name.
    pub name_max: usize,
    /// The longest call id.
    pub id_max: usize,
    /// Where tool results stand.
    pub results: Results,
    /// Free-text tools exist; otherwise they become functions with one string.
    pub custom_tools: bool,
    /// Tool results may hold images and documents (the target's quirks may forbid it still).
    pub media_in_results: bool,
    /// Instructions may stand in the middle of the conversation; otherwise they become marked user text.
    pub system_midway: bool,
    /// The conversation may end with the assistant's words, which the model goes on from.
    pub prefill: bool,
    /// The first message must be the user's.
    pub user_first: bool,
    /// Reasoning is only taken back with a seal of its issuer.
    pub sealed_thinking: bool,
    /// How many cache marks there may be; 0 where the protocol has none.
    pub cache_marks: usize,
}

/// Where tool results stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Results {
    /// At the head of the user message that follows the calls.
    InUserMessage,
    /// Each in a message of its own, right after the calls.
    OwnMessages,
}

/// A request as its target accepts it.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The request.
    pub request: Request,
    /// What had to go or to change.
    pub losses: Vec<Loss>,
    /// What the answer must change back.
    pub restore: Restore,
}

/// Brings a request into a form the target accepts.
pub fn fit(request: &Request, _target: &TargetSpec, _rules: &Rules) -> Fitted {
    Fitted { request: request.clone(), losses: Vec::new(), restore: Restore::default() }
}
