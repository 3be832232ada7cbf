//! OpenAI Responses.

mod content;
mod dress;
mod error;
mod families;
mod forward;
mod frames;
mod head;
mod item_in;
mod item_out;
mod options;
mod reply;
mod request_in;
mod request_out;
mod stream_ends;
mod stream_in;
mod stream_items;
mod stream_out;
mod stream_parts;
mod tools;
mod types;
mod usage;

use rail_model::{ApiError, Extras, Map, NOTE, ProtocolId, Request, TokenCount};
use serde::Serialize;
use serde_json::Value;

use crate::answer::{SerialOut, WholeOut};
use crate::error::WireError;
use crate::fit::{Results, Rules};
use crate::frame::{Decode, Framed, Whole};
use crate::protocol::{
    BodyKind, Encode, Encoded, Endpoint, HttpCall, HttpReply, Inbound, Operation, Outbound, Protocol,
    ReplyTo, TargetSpec,
};
use crate::sniff::SseOrJson;
use crate::splice::ModelPaths;

/// The protocol's name.
pub const ID: ProtocolId = ProtocolId::new("openai-responses");

/// OpenAI Responses, both roles.
pub static PROTOCOL: Protocol = Protocol { id: ID, outbound: &Responses, inbound: &Responses };

/// What the API demands of a request. Which reasoning it takes back the encoder decides, because here an item may
/// also be known by its id instead of a seal.
pub const RULES: Rules = Rules {
    any_id: true,
    id_max: 64,
    results: Results::OwnMessages,
    joined_turns: true,
    results_anywhere: true,
    stored_history: &["previous_response_id", "conversation", "prompt"],
    custom_tools: true,
    media_in_results: true,
    empty_text: true,
    bare_text: Some(AS_STRING),
    system_midway: true,
    prefill: true,
    user_first: false,
    cache_marks: 80,
    carried: &[
        ("openai-chat", "metadata"),
        ("openai-chat", "store"),
        ("openai-chat", "service_tier"),
        ("openai-chat", "safety_identifier"),
        ("openai-chat", "prompt_cache_key"),
        ("openai-chat", "prompt_cache_retention"),
        ("openai-chat", "prompt_cache_options"),
        ("openai-chat", "moderation"),
        ("openai-chat", "verbosity"),
        ("openai-chat", "content.file_id"),
        ("openai-chat", "content.image_url"),
        ("openai-chat", "cache_control.ttl"),
    ],
    ..Rules::strict(ID)
};

/// Set to `true` in `ReplyTo::echo`, an answer that another protocol's output limit cut ends with `response.completed`.
/// Codex takes `response.incomplete`, the API's own word for it, for a broken stream and asks again five times.
pub const COMPLETE_ON_LENGTH: &str = "~complete_on_length";

/// The same vendor's other protocol, whose fields are often the same.
const CHAT: ProtocolId = ProtocolId::new("openai-chat");

// How a thing we have a word for was spelled.
const AS_STRING: &str = "string";
const AS_LIST: &str = "list";
const AS_COUNTED: &str = "as-counted";
const AS_SYSTEM: &str = "system";
const AS_DEVELOPER: &str = "developer";
const INSTRUCTIONS: &str = "instructions";
const INPUT_STRING: &str = "input-string";
const NO_INPUT: &str = "no-input";
const NO_TYPE: &str = "no-type";
const NO_SUMMARY: &str = "no-summary";
const NO_RIVALS: &str = "no-rivals";
const NO_TOKEN: &str = "no-token";
const NO_LOGPROB: &str = "no-logprob";
const NO_BYTES: &str = "no-bytes";
const CHOSEN_CUSTOM: &str = "chosen-custom";
const RAW_DATA: &str = "raw-data";
const SOUND: &str = "sound";
/// The part goes on in the item of the part before.
const SAME_ITEM: &str = "same-item";
/// The reasoning was sealed, so without its seal it is not to be sent.
const SEALED: &str = "sealed";
/// The part stands for a reasoning item without any text.
const EMPTY: &str = "empty";
/// An unknown thing inside an item, not an item itself; and where in a reasoning item it or a thought stands.
const CONTENT: &str = "content";
const SUMMARY: &str = "summary";
const RAW: &str = "raw";
/// Log probabilities of this piece follow.
const LOGPROBS_FOLLOW: &str = "logprobs";

// Notes: how a thing was said, with a value.
/// The fields of the item a part belongs to.
const ITEM: &str = "~item";
/// The item or content as it was when complete, where it was told when it began.
const FINAL: &str = "~final";
/// What a response object repeats of the request.
const ABOUT: &str = "~about";
const TYPE: &str = "~type";
const NAME: &str = "~name";
const SPACE: &str = "~namespace";
const INCLUDE: &str = "~include";
const LOGPROBS: &str = "~logprobs";
const OBFUSCATION: &str = "~obfuscation";
/// In `ReplyTo::echo`: the namespace and name that a flat tool name stands for.
const NAMESPACES: &str = "~namespaces";

/// Unknown fields of the item a part belongs to.
const ITEM_REST: &str = "(item)";
/// Unknown fields of the stream frames around a part or an answer, by frame.
const FRAMES: &str = "(frames)";

const ENCRYPTED: &str = "reasoning.encrypted_content";
const LOGPROBS_ASKED: &str = "message.output_text.logprobs";

/// Codex resets its watch only for events, not for comments; libraries pass over a type they do not know.
const KEEP_ALIVE: &[u8] = b"event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n";

/// Request fields that a response object repeats.
const ECHOED: &[&str] = &[
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

fn missing(field: &str) -> WireError {
    WireError::malformed(ID, field, "is missing")
}

/// The kept fields that stand beside the known ones: no notes, nothing of the surroundings.
fn kept_fields(extras: &Extras) -> impl Iterator<Item = (String, Value)> {
    let kept = extras.owned_by(ID).into_iter().flatten();
    kept.filter(|(key, _)| !key.starts_with([NOTE, '('])).map(|(key, value)| (key.clone(), value.clone()))
}

/// A shape as the object it is written as.
fn object(shape: &impl Serialize) -> Map {
    match serde_json::to_value(shape) {
        Ok(Value::Object(map)) => map,
        Ok(_) | Err(_) => Map::new(),
    }
}

/// The name by which protocols without namespaces know a tool of one.
fn flat_name(space: &str, name: &str) -> String {
    if space.ends_with(['_', '-', '.']) { format!("{space}{name}") } else { format!("{space}__{name}") }
}

/// An id for an item of an answer that came without one; known again when a client sends it back.
fn mint(prefix: &str, answer: &str, index: usize) -> String {
    format!("{prefix}_rail_{:016x}{index:04x}", crate::ids::fnv(answer.as_bytes()))
}

fn is_minted(id: &str) -> bool {
    id.split_once('_').is_some_and(|(_, rest)| rest.starts_with("rail_"))
}

struct Responses;

impl Outbound for Responses {
    fn encode_request(&self, request: &Request, target: &TargetSpec) -> Encoded {
        request_out::encode(request, target)
    }

    fn forward(&self, request: &Request, target: &TargetSpec, body: &[u8]) -> Option<HttpCall> {
        forward::forward(request, target, body)
    }

    fn model_paths(&self) -> ModelPaths {
        &[&["model"], &["response", "model"]]
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

    fn encode_count(&self, request: &Request, target: &TargetSpec) -> Option<Encoded> {
        Some(request_out::encode_count(request, target))
    }

    fn read_count(&self, body: &[u8]) -> Result<TokenCount, WireError> {
        reply::read_count(body)
    }
}

impl Inbound for Responses {
    fn endpoints(&self) -> &'static [Endpoint] {
        &[
            Endpoint { method: "POST", path: "/v1/responses", operation: Operation::Generate },
            Endpoint { method: "POST", path: "/v1/responses/input_tokens", operation: Operation::Count },
            Endpoint { method: "GET", path: "/v1/models", operation: Operation::Models },
            Endpoint { method: "GET", path: "/v1/models/{model}", operation: Operation::Models },
        ]
    }

    fn decode_request(&self, call: &HttpCall) -> Result<Request, ApiError> {
        request_in::decode(call).map_err(WireError::into_api_error)
    }

    fn reply_to(&self, request: &Request) -> ReplyTo {
        let mut echo = object(&request_out::echo(request));
        echo.retain(|key, _| ECHOED.contains(&key.as_str()));
        let spaces = tools::namespaces(&request.tools);
        if !spaces.is_empty() {
            echo.insert(NAMESPACES.to_owned(), Value::Object(spaces));
        }
        ReplyTo { model: Some(request.model.clone()), echo, ..ReplyTo::default() }
    }

    fn encoder(&self, body: BodyKind, reply_to: &ReplyTo) -> Box<dyn Encode> {
        match body {
            BodyKind::Whole => Box::new(WholeOut::<reply::Written>::new(reply_to)),
            BodyKind::Stream | BodyKind::Array => Box::new(SerialOut::new(stream_out::Writer::new(reply_to))),
        }
    }

    fn write_count(&self, count: &TokenCount) -> Option<HttpReply> {
        Some(reply::write_count(count))
    }

    fn write_error(&self, error: &ApiError) -> HttpReply {
        error::write(error)
    }

    fn keep_alive(&self) -> &'static [u8] {
        KEEP_ALIVE
    }
}
