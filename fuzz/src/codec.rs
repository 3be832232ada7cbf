//! What must hold of a codec for any bytes at all.

use rail_model::Event;
use rail_wire::{ALL, BodyKind, HttpCall, HttpReply, Protocol, ReplyTo, TargetSpec, WireError};
use serde_json::Value;

use crate::split;

/// Takes the input for a request, an answer, a stream and an error of `protocol`, and holds all it becomes to account.
pub fn codec(protocol: &Protocol, input: &[u8]) {
    let Some((pieces, body)) = split(input) else { return };
    request(protocol, body);
    for kind in [BodyKind::Whole, BodyKind::Stream, BodyKind::Array] {
        let whole = decode(protocol, kind, &[body]);
        assert_eq!(decode(protocol, kind, &pieces), whole, "left: in pieces, right: whole");
        answer(protocol, kind, &whole.0);
    }
    error(protocol, body);
}

/// What was written is read again, and then nothing changes any more; every protocol gets JSON.
fn request(protocol: &Protocol, body: &[u8]) {
    let read = |body: &[u8]| protocol.inbound.decode_request(&HttpCall::post("", body.to_vec()));
    let Ok(request) = read(body) else { return };
    let target = TargetSpec::new(request.model.clone());
    for other in ALL {
        let encoded = other.outbound.encode_request(&request, &target);
        json(&encoded.call.body);
    }
    let once = protocol.outbound.encode_request(&request, &target).call.body;
    let again = read(&once).expect("what was written can be read");
    let twice = protocol.outbound.encode_request(&again, &target).call.body;
    assert_eq!(json(&once), json(&twice), "left: written once, right: written again");
}

fn decode(protocol: &Protocol, kind: BodyKind, pieces: &[&[u8]]) -> (Vec<Event>, Option<WireError>) {
    let mut decoder = protocol.outbound.decoder(kind);
    let mut events = Vec::new();
    for piece in pieces {
        if let Err(error) = decoder.push(piece, &mut events) {
            return (events, Some(error));
        }
    }
    let error = decoder.finish(&mut events).err();
    (events, error)
}

/// Whatever the events are, every other protocol writes an answer that its own client can read to the end. The same
/// protocol gives back what it was told, two items of one id included, so there only the writing is tried.
fn answer(protocol: &Protocol, kind: BodyKind, events: &[Event]) {
    for other in ALL {
        let mut encoder = other.inbound.encoder(kind, &ReplyTo::default());
        let mut out = Vec::new();
        events.iter().for_each(|event| encoder.push(event, &mut out));
        encoder.finish(&mut out);
        let (_, error) = decode(other, kind, &[&out]);
        let error = error.filter(|_| other.id != protocol.id);
        assert_eq!(error, None, "{} wrote {}", other.id, String::from_utf8_lossy(&out));
    }
}

fn error(protocol: &Protocol, body: &[u8]) {
    let reply = HttpReply { status: 400, headers: Vec::new(), body: body.to_vec() };
    let error = protocol.outbound.read_error(&reply);
    for other in ALL {
        json(&other.inbound.write_error(&error).body);
    }
}

fn json(body: &[u8]) -> Value {
    serde_json::from_slice(body).expect("JSON")
}
