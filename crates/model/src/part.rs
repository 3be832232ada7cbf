use crate::{Extras, Json, Opaque, ProtocolId, Seal, kept, mark};
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// One turn: who speaks, and its parts in order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order; order is content.
    pub parts: Vec<Part>,
    /// What the origin said besides.
    #[serde(default, skip_serializing_if = "Extras::is_empty")]
    pub extras: Extras,
}

impl Message {
    /// A message without extras.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self { role, parts, extras: Extras::NONE }
    }
}

/// Who speaks in a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// An instruction in the middle of a conversation; those at its head are `Request::system`.
    System,
    /// The user, or the client on the user's behalf.
    User,
    /// The model.
    Assistant,
    /// A message that holds tool results only, where a protocol has one.
    Tool,
}

/// One piece of a message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// What it is.
    pub body: PartBody,
    /// A signature or encrypted form that only its issuer may see again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
    /// The prompt prefix up to here is worth caching.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheMark>,
    /// Log probabilities of the tokens of a text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logprobs: Vec<Logprob>,
    /// What the origin said besides.
    #[serde(default, skip_serializing_if = "Extras::is_empty")]
    pub extras: Extras,
}

/// Who marks parts here. It is no protocol, so nothing of it is ever sent.
const OWN: ProtocolId = ProtocolId::new("rail");

impl Part {
    /// A part with nothing but its body.
    pub fn new(body: PartBody) -> Self {
        Self { body, seal: None, cache: None, logprobs: Vec::new(), extras: Extras::NONE }
    }

    /// A plain text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartBody::Text(text.into()))
    }

    /// The same part as one that was put beside the user's own words, which nobody has to be shown as such.
    #[must_use]
    pub fn beside(mut self) -> Self {
        // What a protocol said of it is that protocol's alone.
        if self.extras.origin().is_none_or(|origin| origin == OWN) {
            self.extras.mark(OWN, mark::BESIDE);
        }
        self
    }

    /// Whether it was put beside the user's own words.
    pub fn is_beside(&self) -> bool {
        self.extras.noted(mark::BESIDE)
    }

    /// The text, if this is a text part.
    pub fn as_text(&self) -> Option<&str> {
        if let PartBody::Text(text) = &self.body { Some(text) } else { None }
    }
}

impl From<PartBody> for Part {
    fn from(body: PartBody) -> Self {
        Self::new(body)
    }
}

/// What a part is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartBody {
    /// Text for the reader.
    Text(String),
    /// The model's words of refusal.
    Refusal(String),
    /// The model's visible reasoning; its signature is the part's seal.
    Thinking(String),
    /// Reasoning that its issuer shows to nobody.
    Redacted(Seal),
    /// A call that the client is to run.
    ToolCall(ToolCall),
    /// What a call gave.
    ToolResult(ToolResult),
    /// An image, a document, a sound.
    Media(Media),
    /// A block we have no word for.
    Opaque(Opaque),
}

/// A call of a declared tool.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ToolCall {
    /// Pairs the call with its result.
    pub id: CallId,
    /// The tool's name.
    pub name: String,
    /// The model's own text: JSON for a function, free text for a custom tool. Not parsed until the call is settled.
    pub arguments: String,
    /// Whether the arguments are JSON.
    #[serde(default, skip_serializing_if = "kept::is_default")]
    pub kind: CallKind,
}

/// Whether a tool takes JSON or free text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// Arguments are a JSON object.
    #[default]
    Function,
    /// The input is free text, perhaps under a grammar.
    Custom,
}

/// A call's id, and whether somebody gave it or we made it up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallId {
    /// The peer said it.
    Given(String),
    /// The peer gave none; an encoder for a protocol without ids leaves it out.
    Minted(String),
}

impl CallId {
    /// The id's text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Given(id) | Self::Minted(id) => id,
        }
    }
}

/// What a tool call gave.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call it answers.
    pub id: CallId,
    /// The tool's name, where the protocol repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The content, in order; empty is legal.
    pub content: Vec<Part>,
    /// True when the tool failed, None when nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Whether it answers a function or a custom tool.
    #[serde(default, skip_serializing_if = "kept::is_default")]
    pub kind: CallKind,
}

/// An image, a document, a sound or a film.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Media {
    /// What kind of medium.
    pub kind: MediaKind,
    /// Its type, such as `image/png`, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
    /// Where it is.
    pub source: MediaSource,
    /// A file name or title, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What kind of medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A PDF or text document.
    Document,
    /// A sound.
    Audio,
    /// A film.
    Video,
}

/// Where a medium is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaSource {
    /// Inline, in standard base64.
    Base64(String),
    /// Inline plain text (documents).
    Text(String),
    /// At an address.
    Url(String),
    /// Uploaded before, known to its provider by this id.
    FileId(String),
}

/// A mark that the prefix up to here is worth caching.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CacheMark {
    /// How long, such as `5m` or `1h`; None is the provider's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
    /// What the origin said besides.
    #[serde(default, skip_serializing_if = "Extras::is_empty")]
    pub extras: Extras,
}

/// The log probability of one token, with its rivals.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Logprob {
    /// The token's text.
    pub token: String,
    /// Natural logarithm of its probability, as spelled.
    pub logprob: Number,
    /// Its bytes, if told.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "kept::said")]
    pub bytes: Option<Json>,
    /// The most likely tokens at this place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<Logprob>,
    /// What the origin said besides.
    #[serde(default, skip_serializing_if = "Extras::is_empty")]
    pub extras: Extras,
}
