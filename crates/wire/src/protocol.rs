use rail_model::{
    ApiError, EmbedReply, EmbedRequest, ErrorKind, Event, Loss, Map, ProtocolId, Request, TokenCount,
};

use crate::error::WireError;
use crate::frame::Decode;
use crate::restore::Restore;
use crate::splice::ModelPaths;

/// A wire protocol in both roles.
pub struct Protocol {
    /// Its name.
    pub id: ProtocolId,
    /// We are its client.
    pub outbound: &'static dyn Outbound,
    /// We are its server.
    pub inbound: &'static dyn Inbound,
}

/// The client's side of a protocol: requests out, answers in.
pub trait Outbound: Send + Sync {
    /// Writes a request for a target. Cannot fail: what the target can't be told is a loss.
    fn encode_request(&self, request: &Request, target: &TargetSpec) -> Encoded;
    /// The client's own body for a target of the same protocol, with only the model's name replaced. None where the target
    /// must be told anything else than the client said: such a request is written by `encode_request`.
    fn forward(&self, request: &Request, target: &TargetSpec, body: &[u8]) -> Option<HttpCall>;
    /// Where its answers name the model.
    fn model_paths(&self) -> ModelPaths;
    /// Reads an answer.
    fn decoder(&self, body: BodyKind) -> Box<dyn Decode>;
    /// Reads an error answer, whatever its body is.
    fn read_error(&self, reply: &HttpReply) -> ApiError;
    /// Writes a request to count tokens; None where the protocol has no such call.
    fn encode_count(&self, _request: &Request, _target: &TargetSpec) -> Option<Encoded> {
        None
    }
    /// Reads a token count; an error where the protocol has none.
    fn read_count(&self, _body: &[u8]) -> Result<TokenCount, WireError> {
        Err(WireError::malformed(SOME, "", "it has no token counts"))
    }
    /// Writes a request for embeddings; None where the protocol has no such call.
    fn encode_embed(&self, _request: &EmbedRequest, _target: &TargetSpec) -> Option<Encoded> {
        None
    }
    /// Reads embeddings; an error where the protocol has none.
    fn read_embed(&self, _body: &[u8]) -> Result<EmbedReply, WireError> {
        Err(WireError::malformed(SOME, "", "it has no embeddings"))
    }
}

/// Whichever protocol it is that lacks an operation; whoever asked for it knows its name.
const SOME: ProtocolId = ProtocolId::new("this protocol");

/// The server's side of a protocol: requests in, answers out.
pub trait Inbound: Send + Sync {
    /// Where requests arrive.
    fn endpoints(&self) -> &'static [Endpoint];
    /// Reads a request for an answer or for a token count.
    fn decode_request(&self, call: &HttpCall) -> Result<Request, ApiError>;
    /// Reads a request for embeddings; an error where the protocol has none.
    fn decode_embed(&self, _call: &HttpCall) -> Result<EmbedRequest, ApiError> {
        let problem = "this protocol has no embeddings; ask /v1/embeddings of openai-chat, or gemini";
        Err(ApiError::new(ErrorKind::NotFound, problem))
    }
    /// What the answer to this request must know of it.
    fn reply_to(&self, request: &Request) -> ReplyTo;
    /// Writes an answer.
    fn encoder(&self, body: BodyKind, reply_to: &ReplyTo) -> Box<dyn Encode>;
    /// Writes a token count; None where the protocol has no such answer.
    fn write_count(&self, _count: &TokenCount) -> Option<HttpReply> {
        None
    }
    /// Writes embeddings; None where the protocol has no such answer.
    fn write_embed(&self, _reply: &EmbedReply, _reply_to: &ReplyTo) -> Option<HttpReply> {
        None
    }
    /// Writes an error answer.
    fn write_error(&self, error: &ApiError) -> HttpReply;
    /// What to send to a client that waits while the upstream thinks; understood by its watchdog.
    fn keep_alive(&self) -> &'static [u8];
}

/// Events in, bytes out.
pub trait Encode: Send {
    /// Takes the next event and appends the bytes it becomes.
    fn push(&mut self, event: &Event, out: &mut Vec<u8>);
    /// The answer is over. An answer that never finished ends as this protocol says a failure.
    fn finish(&mut self, out: &mut Vec<u8>);
    /// What could not be said so far; each loss is given once.
    fn losses(&mut self) -> Vec<Loss>;
}

/// How a body is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyKind {
    /// One JSON document.
    Whole,
    /// Server-sent events.
    Stream,
    /// A JSON array that grows (Gemini without `alt=sse`).
    Array,
}

/// An HTTP request, without the connection.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HttpCall {
    /// The method.
    pub method: String,
    /// The path, such as `/v1/messages`, as it stands on the wire.
    pub path: String,
    /// The query without `?`; empty when there is none.
    pub query: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpCall {
    /// A POST of JSON.
    pub fn post(path: impl Into<String>, body: Vec<u8>) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { method: "POST".to_owned(), path: path.into(), query: String::new(), headers, body }
    }

    /// The first header of this name, which must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.headers, name)
    }
}

/// An HTTP answer, without the connection.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HttpReply {
    /// The status.
    pub status: u16,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpReply {
    /// An answer of JSON.
    pub fn json(status: u16, body: Vec<u8>) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { status, headers, body }
    }

    /// The first header of this name, which must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.headers, name)
    }
}

fn find_header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// A written request.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// What to send.
    pub call: HttpCall,
    /// What could not be said.
    pub losses: Vec<Loss>,
    /// What the writing changed and the answer must change back.
    pub restore: Restore,
}

/// A place where requests arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Endpoint {
    /// The method.
    pub method: &'static str,
    /// The path; `{model}` stands for one segment that names the model.
    pub path: &'static str,
    /// What is asked there.
    pub operation: Operation,
}

/// What is asked at an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// An answer of a model; whether as a stream, the body says.
    Generate,
    /// An answer as a stream.
    GenerateStream,
    /// A token count.
    Count,
    /// Vectors.
    Embed,
    /// The list of models, or one of them where the path names it.
    Models,
}

/// What an answer must know of the request it answers.
#[derive(Clone, Debug, Default)]
pub struct ReplyTo {
    /// The model name the client asked for and must see; None shows the upstream's.
    pub model: Option<String>,
    /// Unix seconds, for protocols that stamp their answers.
    pub now: u64,
    /// Something unique, from which an answer's id is made when the upstream gave none.
    pub seed: String,
    /// Whether an OpenAI chat client asked for usage in the stream; None when nobody said.
    pub include_usage: Option<bool>,
    /// Request fields that the protocol repeats in its answers.
    pub echo: Map,
    /// How the client wants vectors written.
    pub vectors: VectorSpelling,
}

/// How vectors are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum VectorSpelling {
    /// As arrays of numbers.
    #[default]
    Numbers,
    /// As base64 of little-endian 32-bit floats.
    Base64,
}

/// Brings the bytes of an image within limits, or says why it can't.
pub type Shrink = fn(&[u8], &ImageLimits) -> Result<Shrunk, String>;

/// An image within limits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shrunk {
    /// It already was.
    AsIs,
    /// A smaller one.
    To {
        /// Its type, such as `image/jpeg`.
        mime: &'static str,
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

/// What an encoder must know of the target.
#[derive(Clone, Debug)]
pub struct TargetSpec {
    /// The model's name there.
    pub model: String,
    /// Whose seals it can verify; None is the protocol itself.
    pub issuer: Option<String>,
    /// The most output it gives; more is clamped.
    pub max_output: Option<u64>,
    /// Output to ask for where the protocol demands a number and the client said none.
    pub default_max_output: u64,
    /// What images it takes; None when it has no eyes.
    pub images: Option<ImageLimits>,
    /// Makes an image smaller (a pure function, given by whoever links an image library); without it too large ones become notes.
    pub shrink: Option<Shrink>,
    /// How it is told to think.
    pub thinking: ThinkingStyle,
    /// Where it departs from its protocol.
    pub quirks: Quirks,
    /// Ask for usage in streams, where it must be asked for, even if the client did not: somebody counts (OpenAI chat).
    pub count_usage: bool,
}

impl TargetSpec {
    /// A target that keeps to its protocol.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            issuer: None,
            max_output: None,
            default_max_output: 8192,
            images: Some(ImageLimits::default()),
            shrink: None,
            thinking: ThinkingStyle::AsAsked,
            quirks: Quirks::default(),
            count_usage: false,
        }
    }

    /// Whether it can verify a seal of this issuer.
    pub fn issued(&self, protocol: ProtocolId, issuer: &str) -> bool {
        self.issuer.as_deref().unwrap_or(protocol.name()) == issuer
    }
}

/// What images a target takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageLimits {
    /// At most so many in one request.
    pub count: usize,
    /// At most so many bytes each, decoded.
    pub max_bytes: usize,
    /// At most so many pixels on the longer edge.
    pub max_edge: u32,
    /// At most so many pixels each.
    pub max_pixels: u64,
}

impl Default for ImageLimits {
    fn default() -> Self {
        // Anthropic's documented limits, the narrowest of the four.
        Self { count: 100, max_bytes: 5 << 20, max_edge: 8000, max_pixels: 64_000_000 }
    }
}

/// How a target is told to think.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ThinkingStyle {
    /// In the form it was asked for if the protocol has it, else the protocol's usual one.
    #[default]
    AsAsked,
    /// By a token budget.
    Budget,
    /// By letting it decide (Anthropic's `adaptive`), with an effort where one was asked for.
    Adaptive,
    /// By an effort word.
    Effort,
    /// Not at all: it rejects the field.
    Never,
}

/// Where a "compatible" server departs from its protocol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quirks {
    /// The field for the output limit (OpenAI chat).
    pub max_tokens_key: MaxTokensKey,
    /// Takes the `developer` role (OpenAI chat).
    pub developer_role: bool,
    /// Whether reasoning is sent back with the history (OpenAI chat).
    pub reasoning_back: ReasoningBack,
    /// Takes images inside tool results.
    pub image_in_tool_result: bool,
    /// Takes free-text tools (OpenAI); compatible servers mostly know functions only.
    pub custom_tools: bool,
    /// Takes `stream_options.include_usage` (OpenAI chat).
    pub stream_usage: bool,
    /// Set cache markers when nobody did (Anthropic).
    pub inject_cache: bool,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            max_tokens_key: MaxTokensKey::MaxTokens,
            developer_role: true,
            reasoning_back: ReasoningBack::Never,
            image_in_tool_result: true,
            custom_tools: true,
            stream_usage: true,
            inject_cache: true,
        }
    }
}

/// The field for the output limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MaxTokensKey {
    /// `max_tokens`, which nearly all servers read.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's reasoning models demand.
    MaxCompletionTokens,
}

/// Whether reasoning is sent back with the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReasoningBack {
    /// No: most servers reject or ignore it.
    Never,
    /// As `reasoning_content` where there is some.
    WhereThereIs,
    /// On every assistant message, empty if need be (DeepSeek's thinking mode answers 400 without it).
    Always,
}
