//! Gemini generateContent.

mod config_in;
mod config_out;
mod embed;
mod error;
mod forward;
mod frame_out;
mod odd;
mod parts_in;
mod parts_out;
mod path;
mod reply;
mod request_in;
mod request_out;
mod schema;
mod schema_in;
#[cfg(test)]
mod schema_tests;
mod schema_words;
mod seal;
mod stream_in;
mod stream_out;
mod types;

use rail_model::{ApiError, EmbedReply, EmbedRequest, ProtocolId, Request, TokenCount};

pub use path::unescape;

use crate::error::WireError;
use crate::fit::{Results, Rules};
use crate::frame::{Decode, Framed, JsonArray, Whole};
use crate::protocol::{
    BodyKind, Encode, Encoded, Endpoint, HttpCall, HttpReply, Inbound, Outbound, Protocol, ReplyTo,
    TargetSpec,
};
use crate::splice::ModelPaths;

/// The protocol's name.
pub const ID: ProtocolId = ProtocolId::new("gemini");

/// Gemini generateContent, both roles.
pub static PROTOCOL: Protocol = Protocol { id: ID, outbound: &Gemini, inbound: &Gemini };

/// What the API demands of a request.
pub const RULES: Rules = Rules {
    name_extra: ".:",
    name_letter_first: true,
    id_max: 256,
    any_id: true,
    results: Results::InUserMessage,
    // Google's SDKs keep a streamed answer as one message a frame.
    joined_turns: true,
    results_named: true,
    error_results: true,
    stored_history: &["cachedContent", "continuationToken"],
    media_in_results: true,
    assistant_media: true,
    empty_text: true,
    // Thoughts are taken back without a signature; only calls of the running turn need one, and get it when written.
    sealed_thinking: false,
    ..Rules::strict(ID)
};

// How a thing we have a word for was spelled.
const ALONE: &str = "alone";
const ALONE_CONTENTS: &str = "alone-contents";
const ALONE_SYSTEM: &str = "alone-system";
const ALONE_TOOLS: &str = "alone-tools";
const NO_ROLE: &str = "-role";
const NO_PARTS: &str = "-parts";
const NO_TEXT: &str = "-text";
const NO_ARGS: &str = "-args";
const NO_ID: &str = "-id";
const NO_RESPONSE: &str = "-response";
const NO_INDEX: &str = "-index";
const NO_CONTENT: &str = "-content";
const NO_CANDIDATES: &str = "-candidates";
const NO_FINISH: &str = "-finishReason";
const NO_TOTAL: &str = "-totalTokenCount";
const NO_MODEL: &str = "-modelVersion";
const NO_ANSWER_ID: &str = "-responseId";
const NO_TIME: &str = "-createTime";
/// A message whose role is `function`.
const FUNCTION: &str = "function";
/// The first declaration of a tool object.
const FIRST: &str = "first";
/// The body names the model too, as `models/x` or as `x`.
const MODEL_IN_BODY: &str = "model";
const MODEL_BARE: &str = "model-bare";
/// A token count asked for with a whole request inside.
const WRAPPED: &str = "wrapped";
/// A schema in the API's own words, unchanged, or with its upper-case types.
const SCHEMA: &str = "schema";
const SCHEMA_UPPER: &str = "schema-upper";
/// A schema in JSON Schema's words.
const JSON_SCHEMA: &str = "json-schema";
/// A schema with no type of the answer beside it.
const NO_MIME: &str = "-responseMimeType";
/// Thinking was asked for in this protocol's words, perhaps in none.
const OWN: &str = "own";
const VALIDATED: &str = "validated";
const LOWER_CASE: &str = "lower-case";
const URL_SAFE: &str = "url-safe";
const UNPADDED: &str = "unpadded";
/// Marks of a stream: it comes in frames of this protocol, a frame ends here, its last text is empty.
const FRAMES: &str = "frames";
const FRAME_END: &str = "frame-end";
const EMPTY_TEXT: &str = "+text";
const EMPTY_THOUGHT: &str = "+thought";
/// The seal of a thought that came in a part without words.
const OWN_PIECE: &str = "own-piece";
/// The details of the tokens are those of the report before.
const SAME_DETAILS: &str = "same-details";
/// The frame with the end was given already.
const RELEASED: &str = "released";
/// Notes: a schema as it was, where it can't be told from its readable form; an id that a client made up.
const SCHEMA_NOTE: &str = "~schema";
const ID_NOTE: &str = "~id";
/// Where fields of a frame that stand beside its candidates are kept.
const TOP: &str = "response";

/// Blank lines are the only thing that every client skips: the Python SDK takes a comment line for JSON and fails.
const KEEP_ALIVE: &[u8] = b"\r\n\r\n";

/// How the answer to a streamed request is laid out: `alt=sse` asks for server-sent events, else it is a growing array.
pub fn stream_body(call: &HttpCall) -> BodyKind {
    if call.query.split('&').any(|pair| pair == "alt=sse") { BodyKind::Stream } else { BodyKind::Array }
}

struct Gemini;

impl Outbound for Gemini {
    fn encode_request(&self, request: &Request, target: &TargetSpec) -> Encoded {
        request_out::encode(request, target)
    }

    fn forward(&self, request: &Request, target: &TargetSpec, body: &[u8]) -> Option<HttpCall> {
        forward::forward(request, target, body)
    }

    fn model_paths(&self) -> ModelPaths {
        &[&["modelVersion"], &["model_version"]]
    }

    fn decoder(&self, body: BodyKind) -> Box<dyn Decode> {
        match body {
            BodyKind::Whole => Box::new(Framed::whole(Whole::new(), stream_in::AnswerIn::whole())),
            BodyKind::Stream => {
                Box::new(Framed::stream(path::SseOrJson::new(), stream_in::AnswerIn::stream()))
            }
            BodyKind::Array => Box::new(Framed::stream(JsonArray::new(), stream_in::AnswerIn::stream())),
        }
    }

    fn read_error(&self, reply: &HttpReply) -> ApiError {
        error::read(reply)
    }

    fn encode_count(&self, request: &Request, target: &TargetSpec) -> Option<Encoded> {
        Some(request_out::encode_count(request, target))
    }

    fn read_count(&self, body: &[u8]) -> Result<TokenCount, WireError> {
        reply::read_count(body)
    }

    fn encode_embed(&self, request: &EmbedRequest, target: &TargetSpec) -> Option<Encoded> {
        Some(embed::encode(request, target))
    }

    fn read_embed(&self, body: &[u8]) -> Result<EmbedReply, WireError> {
        embed::read(body)
    }
}

impl Inbound for Gemini {
    fn endpoints(&self) -> &'static [Endpoint] {
        path::ENDPOINTS
    }

    fn decode_request(&self, call: &HttpCall) -> Result<Request, ApiError> {
        request_in::decode(call).map_err(WireError::into_api_error)
    }

    fn decode_embed(&self, call: &HttpCall) -> Result<EmbedRequest, ApiError> {
        embed::decode(call).map_err(WireError::into_api_error)
    }

    fn reply_to(&self, _: &Request) -> ReplyTo {
        ReplyTo::default()
    }

    fn encoder(&self, body: BodyKind, reply_to: &ReplyTo) -> Box<dyn Encode> {
        Box::new(stream_out::AnswerOut::new(body, reply_to))
    }

    fn write_count(&self, count: &TokenCount) -> Option<HttpReply> {
        Some(reply::write_count(count))
    }

    fn write_embed(&self, reply: &EmbedReply, _: &ReplyTo) -> Option<HttpReply> {
        Some(embed::write(reply))
    }

    fn write_error(&self, error: &ApiError) -> HttpReply {
        error::write(error)
    }

    fn keep_alive(&self) -> &'static [u8] {
        KEEP_ALIVE
    }
}
