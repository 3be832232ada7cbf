//! The recorded and written bytes of each protocol, and the ways through a codec that the tests share.

use std::fs;
use std::path::{Path, PathBuf};

use rail_model::{ApiError, Event, Loss, Request};
use rail_wire::{BodyKind, Decode, HttpCall, HttpReply, Protocol, ReplyTo, TargetSpec, WireError};
use serde_json::Value;

/// One file of the corpus.
pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The fixtures of a protocol and kind whose names end so, sorted by name.
pub(crate) fn fixtures(protocol: &Protocol, kind: &str, ending: &str) -> Vec<Fixture> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(protocol.id.name()).join(kind);
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let named = paths.into_iter().filter_map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().strip_suffix(ending)?.to_owned();
        Some(Fixture { name, bytes: fs::read(&path).unwrap() })
    });
    named.collect()
}

pub(crate) fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)))
}

/// The JSON payloads of an SSE body, or the elements of an array body.
pub(crate) fn frames(bytes: &[u8]) -> Vec<Value> {
    let mut list = Vec::new();
    let mut sink = |frame: rail_wire::Frame<'_>| {
        let data = frame.data;
        list.push(
            serde_json::from_slice(data)
                .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(data).as_ref())),
        );
        Ok(())
    };
    let mut framer: Box<dyn rail_wire::Framer> = if bytes.starts_with(b"[") {
        Box::new(rail_wire::JsonArray::new())
    } else {
        Box::new(rail_wire::Sse::new())
    };
    // Gemini ends a broken stream with an error that is no event.
    let bare = bytes.windows(2).position(|pair| pair == b"\n{").filter(|_| bytes.starts_with(b"data:"));
    let (events, bare) = bytes.split_at(bare.map_or(bytes.len(), |at| at + 1));
    framer.push(events, &mut sink).unwrap();
    framer.finish(&mut sink).unwrap();
    list.extend((!bare.is_empty()).then(|| json(bare)));
    list
}

/// A request as `protocol` reads it.
pub(crate) fn read_request(protocol: &Protocol, bytes: &[u8]) -> Result<Request, ApiError> {
    // Gemini names the model in the path.
    let path =
        if protocol.id == rail_wire::gemini::ID { "/v1beta/models/gemini-3-pro:generateContent" } else { "" };
    protocol.inbound.decode_request(&HttpCall::post(path, bytes.to_vec()))
}

/// A request as `protocol` writes it for a target that keeps to its protocol.
pub(crate) fn write_request(protocol: &Protocol, request: &Request) -> (Value, Vec<Loss>) {
    let encoded = protocol.outbound.encode_request(request, &TargetSpec::new(request.model.clone()));
    (json(&encoded.call.body), encoded.losses)
}

/// The events of an answer.
pub(crate) fn events(protocol: &Protocol, kind: BodyKind, bytes: &[u8]) -> Result<Vec<Event>, WireError> {
    let mut decoder = protocol.outbound.decoder(kind);
    let mut out = Vec::new();
    decoder.push(bytes, &mut out)?;
    decoder.finish(&mut out)?;
    Ok(out)
}

/// Events, then the error if there was one, for any way of cutting the bytes.
pub(crate) fn events_split<'a>(
    decoder: &mut dyn Decode,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Event>, Option<WireError>) {
    let mut out = Vec::new();
    for piece in pieces {
        if let Err(error) = decoder.push(piece, &mut out) {
            return (out, Some(error));
        }
    }
    let error = decoder.finish(&mut out).err();
    (out, error)
}

/// An answer as `protocol` writes it.
pub(crate) fn write_answer(protocol: &Protocol, kind: BodyKind, events: &[Event]) -> (Vec<u8>, Vec<Loss>) {
    let mut encoder = protocol.inbound.encoder(kind, &ReplyTo::default());
    let mut out = Vec::new();
    for event in events {
        encoder.push(event, &mut out);
    }
    encoder.finish(&mut out);
    (out, encoder.losses())
}

/// The status in the name of an error fixture.
pub(crate) fn error_reply(fixture: &Fixture) -> HttpReply {
    let status = fixture.name.rsplit('.').next().unwrap().parse().unwrap();
    HttpReply { status, headers: Vec::new(), body: fixture.bytes.clone() }
}

/// The value without nulls, which in stream frames say nothing.
pub(crate) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => map
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(list) => list.into_iter().map(without_nulls).collect(),
        other => other,
    }
}
