//! Anthropic Messages.

mod error;
mod forward;
mod inner;
mod media_out;
mod reply;
mod request_in;
mod request_out;
mod settings_out;
mod stream_in;
mod stream_out;
mod types;

use rail_model::{ApiError, ProtocolId, Request, TokenCount};

use crate::answer::{SerialOut, WholeOut};
use crate::error::WireError;
use crate::fit::Rules;
use crate::frame::{Decode, Framed, Whole};
use crate::protocol::{
    BodyKind, Encode, Encoded, Endpoint, HttpCall, HttpReply, Inbound, Operation, Outbound, Protocol,
    ReplyTo, TargetSpec,
};
use crate::sniff::SseOrJson;
use crate::splice::ModelPaths;

/// The protocol's name.
pub const ID: ProtocolId = ProtocolId::new("anthropic");

/// Anthropic Messages, both roles.
pub static PROTOCOL: Protocol = Protocol { id: ID, outbound: &Anthropic, inbound: &Anthropic };

/// What the API demands of a request.
pub const RULES: Rules = Rules {
    name_max: 128,
    id_max: 256,
    joined_turns: true,
    media_in_results: true,
    error_results: true,
    bare_text: Some(AS_STRING),
    system_midway: true,
    prefill: true,
    sealed_thinking: true,
    budget_min: Some(1024),
    cache_marks: 4,
    attribution: true,
    ..Rules::strict(ID)
};

// How a thing we have a word for was spelled.
const AS_STRING: &str = "string";
const AS_CUSTOM: &str = "custom";
const AS_BASE64: &str = "base64";
const NO_CONTENT: &str = "no-content";
const AS_COUNTED: &str = "as-counted";
/// Where kept fields of a frame's `delta` stand in the extras.
const DELTA: &str = "delta";
/// Where kept fields of the frame around a message or block stand in the extras.
const FRAME: &str = "frame";
/// Where kept fields of the last frame stand in the extras.
const LAST: &str = "message_stop";
/// Where streamed pieces of a block that we have no word for are collected.
const DELTAS: &str = "deltas";
const PING: &[u8] = b"event: ping\ndata: {\"type\": \"ping\"}\n\n";

struct Anthropic;

impl Outbound for Anthropic {
    fn encode_request(&self, request: &Request, target: &TargetSpec) -> Encoded {
        request_out::encode(request, target)
    }

    fn forward(&self, request: &Request, target: &TargetSpec, body: &[u8]) -> Option<HttpCall> {
        forward::forward(request, target, body)
    }

    fn model_paths(&self) -> ModelPaths {
        &[&["model"], &["message", "model"]]
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

impl Inbound for Anthropic {
    fn endpoints(&self) -> &'static [Endpoint] {
        &[
            Endpoint { method: "POST", path: "/v1/messages", operation: Operation::Generate },
            Endpoint { method: "POST", path: "/v1/messages/count_tokens", operation: Operation::Count },
            Endpoint { method: "GET", path: "/v1/models", operation: Operation::Models },
            Endpoint { method: "GET", path: "/v1/models/{model}", operation: Operation::Models },
        ]
    }

    fn decode_request(&self, call: &HttpCall) -> Result<Request, ApiError> {
        request_in::decode(call).map_err(WireError::into_api_error)
    }

    fn reply_to(&self, _: &Request) -> ReplyTo {
        ReplyTo::default()
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
        PING
    }
}
