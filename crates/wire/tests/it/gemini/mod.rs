//! Gemini generateContent: the corpus, the traps of the specification, bad input.

mod answers;
mod asks;
mod config;
pub(crate) mod corpus;
mod errors;
mod frames;
mod requests;

use rail_model::{Event, Request};
use rail_wire::{BodyKind, Encoded, HttpCall, ReplyTo, TargetSpec, gemini};
use serde_json::Value;

pub(crate) fn post(path: &str, body: &Value) -> HttpCall {
    HttpCall::post(path, body.to_string().into_bytes())
}

pub(crate) fn decode(body: &Value) -> Request {
    gemini::PROTOCOL
        .inbound
        .decode_request(&post("/v1beta/models/gemini-3-pro:generateContent", body))
        .unwrap()
}

pub(crate) fn encode(request: &Request) -> Encoded {
    gemini::PROTOCOL.outbound.encode_request(request, &TargetSpec::new("gemini-3-pro"))
}

pub(crate) fn body(encoded: &Encoded) -> Value {
    serde_json::from_slice(&encoded.call.body).unwrap()
}

/// Decodes bytes given in pieces of this size.
pub(crate) fn events(kind: BodyKind, bytes: &[u8], step: usize) -> Vec<Event> {
    let mut decoder = gemini::PROTOCOL.outbound.decoder(kind);
    let mut out = Vec::new();
    for piece in bytes.chunks(step.max(1)) {
        decoder.push(piece, &mut out).unwrap();
    }
    decoder.finish(&mut out).unwrap();
    out
}

pub(crate) fn written(kind: BodyKind, events: &[Event]) -> Vec<u8> {
    let mut encoder = gemini::PROTOCOL.inbound.encoder(kind, &ReplyTo::default());
    let mut out = Vec::new();
    for event in events {
        encoder.push(event, &mut out);
    }
    encoder.finish(&mut out);
    out
}

/// The payloads of a stream, as a client would see them.
pub(crate) fn payloads(kind: BodyKind, bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    match kind {
        BodyKind::Whole => vec![serde_json::from_str(text).unwrap()],
        BodyKind::Array => serde_json::from_str(text).unwrap(),
        BodyKind::Stream => {
            let text = text.replace("\r\n", "\n");
            let (events, bare) = text.find("\n{").map_or((text.as_str(), ""), |at| text.split_at(at));
            let blocks = events.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
            let data = blocks.map(|block| block.strip_prefix("data: ").unwrap().to_owned());
            data.chain((!bare.trim().is_empty()).then(|| bare.to_owned()))
                .map(|data| serde_json::from_str(&data).unwrap())
                .collect()
        }
    }
}
