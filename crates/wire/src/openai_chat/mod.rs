//! OpenAI Chat Completions, and the many servers that speak it more or less.

mod chunk;
mod citations;
mod delta_in;
mod embed;
mod error;
mod forward;
mod frames;
mod media;
mod messages_in;
mod messages_out;
mod piece;
mod reply;
mod request_in;
mod request_out;
mod scan;
mod slot;
mod slots;
mod stream_in;
mod stream_out;
mod thinking;
mod types;
mod usage;

use rail_model::{ApiError, CallId, EmbedReply, EmbedRequest, Extras, Map, ProtocolId, Request, Seal, mark};
use serde_json::Value;

use crate::answer::WholeOut;
use crate::error::WireError;
use crate::fit::{Results, Rules};
use crate::frame::{Decode, Framed, Whole};
use crate::ids;
use crate::protocol::{
    BodyKind, Encode, Encoded, Endpoint, HttpCall, HttpReply, Inbound, Operation, Outbound, Protocol,
    ReplyTo, TargetSpec,
};
use crate::sniff::SseOrJson;
use crate::splice::ModelPaths;

/// The protocol's name.
pub const ID: ProtocolId = ProtocolId::new("openai-chat");

/// OpenAI Chat Completions, both roles.
pub static PROTOCOL: Protocol = Protocol { id: ID, outbound: &OpenAiChat, inbound: &OpenAiChat };

/// What the API demands of a request.
pub const RULES: Rules = Rules {
    any_id: true,
    results: Results::OwnMessages,
    custom_tools: true,
    empty_text: true,
    system_midway: true,
    prefill: true,
    user_first: false,
    cache_marks: 80,
    carried: &[
        ("openai-responses", "metadata"),
        ("openai-responses", "moderation"),
        ("openai-responses", "prompt_cache_key"),
        ("openai-responses", "prompt_cache_options"),
        ("openai-responses", "prompt_cache_retention"),
        ("openai-responses", "safety_identifier"),
        ("openai-responses", "service_tier"),
        ("openai-responses", "store"),
        ("openai-responses", "stream_options"),
        ("openai-responses", "text"),
        ("openai-responses", "content.detail"),
        ("openai-responses", "content.file_id"),
        ("openai-responses", "cache_control.ttl"),
    ],
    ..Rules::strict(ID)
};

/// The same vendor's other protocol, with which some fields are shared.
const RESPONSES: ProtocolId = ProtocolId::new("openai-responses");
/// Who issues the signatures in `extra_content.google`.
const GEMINI: &str = "gemini";

// How a thing we have a word for was spelled.
const AS_ARRAY: &str = "array";
const AS_OBJECT: &str = mark::OBJECT;
const BEGINS: &str = "begins-message";
const DEVELOPER: &str = "developer";
const EMPTY: &str = "empty-content";
const FIELD: &str = "field";
const GOOGLE: &str = "google";
const IN_CALLS: &str = "in-calls";
const JOINED: &str = "joined";
const LEGACY: &str = "legacy";
const LEGACY_CHOICE: &str = "legacy-choice";
const MAX_COMPLETION: &str = "max-completion";
const NAMELESS: &str = mark::NAMELESS;
const NO_CHOICES: &str = "no-choices";
const NO_CONTENT: &str = "no-content";
const ONE_STOP: &str = "one-stop";
const PLAIN_DATA: &str = "plain-data";
const PLAIN_URL: &str = "plain-url";
const REASONING: &str = "reasoning";
const DETAILS: &str = "details";
const STREAM_FALSE: &str = "stream-false";
const USAGE: &str = "include-usage";
const NO_USAGE: &str = "include-no-usage";
const UNTYPED: &str = "untyped";
const VIDEO_URL: &str = "video-url";

/// Where kept fields of the message around a part stand in the part's extras.
const MESSAGE: &str = "message";
/// Where kept fields of the frame around a call or a usage report stand in their extras.
const CHUNK: &str = "chunk";
/// Where kept fields of the first choice stand in the extras, and in them those of its message or delta.
const CHOICES: &str = "choices";
/// Where the other choices of a whole answer stand in its end's extras; of a stream, whose other choices are events of
/// their own, `true`. Other protocols name it as what they leave out.
const OTHERS: &str = crate::told::OTHER_CHOICES;
/// Where frames that came after the finish stand in the end's extras.
const AFTER: &str = "after";

/// The name of a call whose own never came. Other protocols refuse a history with an empty name, and the client would
/// send it again with every turn; with this one it answers that there is no such tool, and the talk goes on.
const UNKNOWN_TOOL: &str = "unknown_tool";

const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";

fn missing(field: &str) -> WireError {
    WireError::malformed(ID, field, "is missing")
}

/// Keeps what is left of a nested object under its own key.
fn nest(extras: &mut Extras, key: &str, left: Map) {
    if !left.is_empty() {
        extras.insert(ID, key, Value::Object(left));
    }
}

/// What is kept of a nested object.
fn object_at<'a>(extras: &'a Extras, key: &str) -> Option<&'a Map> {
    extras.get(ID, key).and_then(Value::as_object)
}

/// A call's id for a client. Chat clients take any id, so only what would be misread when it comes back is folded.
fn id_for_client(id: &CallId, seal: Option<&Seal>) -> String {
    let plain = seal.is_none() && ids::unfold(id.as_str()) == (id.clone(), None);
    if plain { id.as_str().to_owned() } else { ids::fold(id, seal) }
}

struct OpenAiChat;

impl Outbound for OpenAiChat {
    fn encode_request(&self, request: &Request, target: &TargetSpec) -> Encoded {
        request_out::encode(request, target)
    }

    fn forward(&self, request: &Request, target: &TargetSpec, body: &[u8]) -> Option<HttpCall> {
        forward::forward(request, target, body)
    }

    fn model_paths(&self) -> ModelPaths {
        &[&["model"]]
    }

    fn decoder(&self, body: BodyKind) -> Box<dyn Decode> {
        match body {
            BodyKind::Whole => Box::new(Framed::whole(Whole::new(), reply::WholeIn)),
            BodyKind::Stream | BodyKind::Array => {
                Box::new(Framed::stream(SseOrJson::default(), stream_in::StreamIn::default()))
            }
        }
    }

    fn read_error(&self, reply: &HttpReply) -> ApiError {
        error::read(reply)
    }

    fn encode_embed(&self, request: &EmbedRequest, target: &TargetSpec) -> Option<Encoded> {
        Some(embed::encode(request, target))
    }

    fn read_embed(&self, body: &[u8]) -> Result<EmbedReply, WireError> {
        embed::read(body)
    }
}

impl Inbound for OpenAiChat {
    fn endpoints(&self) -> &'static [Endpoint] {
        &[
            Endpoint { method: "POST", path: "/v1/chat/completions", operation: Operation::Generate },
            Endpoint { method: "POST", path: "/v1/embeddings", operation: Operation::Embed },
            Endpoint { method: "GET", path: "/v1/models", operation: Operation::Models },
            Endpoint { method: "GET", path: "/v1/models/{model}", operation: Operation::Models },
        ]
    }

    fn decode_request(&self, call: &HttpCall) -> Result<Request, ApiError> {
        request_in::decode(call).map_err(WireError::into_api_error)
    }

    fn decode_embed(&self, call: &HttpCall) -> Result<EmbedRequest, ApiError> {
        embed::decode(call).map_err(WireError::into_api_error)
    }

    fn reply_to(&self, request: &Request) -> ReplyTo {
        let said = (request.origin == Some(ID)).then(|| request.extras.marked(ID, USAGE));
        ReplyTo { include_usage: said, ..ReplyTo::default() }
    }

    fn encoder(&self, body: BodyKind, reply_to: &ReplyTo) -> Box<dyn Encode> {
        match body {
            BodyKind::Whole => Box::new(WholeOut::<reply::Written>::new(reply_to)),
            BodyKind::Stream | BodyKind::Array => Box::new(stream_out::StreamOut::new(reply_to)),
        }
    }

    fn write_embed(&self, reply: &EmbedReply, reply_to: &ReplyTo) -> Option<HttpReply> {
        Some(embed::write(reply, reply_to))
    }

    fn write_error(&self, error: &ApiError) -> HttpReply {
        error::write(error)
    }

    fn keep_alive(&self) -> &'static [u8] {
        KEEP_ALIVE
    }
}
