use serde_json::Number;

use crate::{Extras, ProtocolId, Usage};

/// Texts to turn into vectors.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EmbedRequest {
    /// The model's name as it was asked for.
    pub model: String,
    /// What to embed, in order.
    pub inputs: Vec<EmbedInput>,
    /// How long the vectors shall be.
    pub dimensions: Option<u64>,
    /// What the vectors are for, in Gemini's words (`RETRIEVAL_QUERY`, …).
    pub task: Option<String>,
    /// The document's title, where the protocol takes one.
    pub title: Option<String>,
    /// The end user this is for.
    pub user: Option<String>,
    /// The protocol the request came in.
    pub origin: Option<ProtocolId>,
    /// What the origin said besides.
    pub extras: Extras,
}

/// One thing to embed.
#[derive(Clone, PartialEq, Debug)]
pub enum EmbedInput {
    /// A text.
    Text(String),
    /// A text that was tokenised by the client.
    Tokens(Vec<u64>),
}

/// Vectors, in the order of the inputs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EmbedReply {
    /// The model that answered.
    pub model: Option<String>,
    /// One vector an input; numbers as they were spelled.
    pub vectors: Vec<Vec<Number>>,
    /// Tokens read.
    pub usage: Option<Usage>,
    /// What the origin said besides.
    pub extras: Extras,
}

/// How many tokens a request has, by the provider's own count.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TokenCount {
    /// All input tokens.
    pub input: u64,
    /// Of these, tokens that the provider's cache holds.
    pub cached: Option<u64>,
    /// What the origin said besides.
    pub extras: Extras,
}
