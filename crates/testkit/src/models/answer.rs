//! From a request and a turn to bytes; pure.

use rail_model::{
    ApiError, CallId, Delta, EmbedInput, EmbedReply, EmbedRequest, ErrorKind, Event, Extras, Loss, Message,
    Part, PartBody, Reply, Request, Role, Seal, Stop, TokenCount, Usage,
};
use rail_wire::{BodyKind, HttpReply, Protocol, ReplyTo, VectorSpelling};
use serde_json::{Number, Value};

use super::turn::{Act, Ending, Turn};

/// The tokens that every request has when they are counted.
pub const COUNTED: u64 = 42;

/// The time that answers are stamped with, in Unix seconds: the start of 2026.
pub const NOW: u64 = 1_767_225_600;

/// What is sent for a turn.
pub(super) enum Answer {
    /// An answer of known length.
    Whole(HttpReply),
    /// An answer of which only half is sent.
    Half(HttpReply),
    /// A body in pieces.
    Pieces {
        content_type: &'static str,
        /// What is sent before the end: one piece an event.
        first: Vec<Vec<u8>>,
        /// What is sent at the end.
        last: Vec<u8>,
        close: Close,
    },
    /// Bytes without any frame.
    Raw(Vec<u8>),
    /// Nothing at all.
    Silence,
}

/// What becomes of a body in pieces after them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Close {
    /// It ends.
    EndOfBody,
    /// The connection closes.
    Cut,
    /// Nothing, until the client leaves.
    Stall,
}

/// The answer to a request by the turn of this number, and what could not be said.
pub(super) fn to_request(
    protocol: &Protocol,
    kind: BodyKind,
    request: &Request,
    (number, turn): (usize, &Turn),
) -> (Answer, Vec<Loss>) {
    let (parts, ending) = match &turn.act {
        Act::Error(error) => return (Answer::Whole(protocol.inbound.write_error(error)), Vec::new()),
        Act::Raw(bytes) => return (Answer::Raw(bytes.clone()), Vec::new()),
        Act::Echo => (vec![Part::text(last_user_text(request))], &Ending::Good),
        Act::Say(parts, ending) => (parts.clone(), ending),
    };
    match (ending, kind) {
        (Ending::Stalls, _) if parts.is_empty() => return (Answer::Silence, Vec::new()),
        (Ending::Stalls, BodyKind::Whole) => return (Answer::Silence, Vec::new()),
        (Ending::Breaks(error), BodyKind::Whole) => {
            return (Answer::Whole(protocol.inbound.write_error(error)), Vec::new());
        }
        _ => {}
    }
    let events = events(protocol, number, turn, parts);
    let reply_to = ReplyTo {
        model: Some(request.model.clone()),
        now: NOW,
        seed: number.to_string(),
        ..protocol.inbound.reply_to(request)
    };
    let mut encoder = protocol.inbound.encoder(kind, &reply_to);
    if kind == BodyKind::Whole {
        let mut body = Vec::new();
        events.iter().for_each(|event| encoder.push(event, &mut body));
        encoder.finish(&mut body);
        let losses = encoder.losses();
        let reply = HttpReply::json(200, body);
        let answer = match ending {
            Ending::Cut | Ending::Markerless => Answer::Half(reply),
            Ending::Good | Ending::Breaks(_) | Ending::Stalls => Answer::Whole(reply),
        };
        return (answer, losses);
    }

    // The last part's end and what follows it belong to the end of the answer.
    let end = events.iter().rposition(|event| matches!(event, Event::Closed { .. }));
    let end = end.unwrap_or_else(|| events.len().saturating_sub(2));
    let (early, late) = events.split_at_checked(end).unwrap_or((&events, &[]));
    let mut first: Vec<Vec<u8>> = Vec::new();
    for event in small(early) {
        let mut piece = Vec::new();
        encoder.push(&event, &mut piece);
        first.push(piece);
    }
    let mut last = Vec::new();
    let close = match ending {
        Ending::Good => {
            late.iter().for_each(|event| encoder.push(event, &mut last));
            encoder.finish(&mut last);
            Close::EndOfBody
        }
        Ending::Breaks(error) => {
            encoder.push(&Event::Failed(error.clone()), &mut last);
            encoder.finish(&mut last);
            Close::EndOfBody
        }
        Ending::Cut => Close::Cut,
        Ending::Markerless => Close::EndOfBody,
        Ending::Stalls => Close::Stall,
    };
    first.retain(|piece| !piece.is_empty());
    if kind == BodyKind::Stream {
        // Some clients take no sign of life before the start of the answer.
        let pings = std::iter::repeat_n(protocol.inbound.keep_alive().to_vec(), turn.pings);
        let started = first.len().min(1);
        first.splice(started..started, pings);
    }
    let content_type = if kind == BodyKind::Stream { "text/event-stream" } else { "application/json" };
    (Answer::Pieces { content_type, first, last, close }, encoder.losses())
}

/// What a request gets when the script is at its end.
pub(super) fn script_over(taken: usize) -> ApiError {
    let message = format!(
        "the script is over: all its {taken} turns were taken; mark the last one to repeat, or add one"
    );
    ApiError::new(ErrorKind::Server, message)
}

/// The token count, where the protocol has one.
pub(super) fn to_count(protocol: &Protocol) -> HttpReply {
    let count = TokenCount { input: COUNTED, cached: None, extras: Extras::NONE };
    protocol.inbound.write_count(&count).unwrap_or_else(|| none(protocol, "token counts"))
}

/// Vectors, where the protocol has them.
pub(super) fn to_embed(protocol: &Protocol, request: &EmbedRequest) -> HttpReply {
    let dimensions = request.dimensions.unwrap_or(4);
    let vectors = request.inputs.iter().map(|input| {
        let numbers = vector(&spelled(input), dimensions);
        numbers.into_iter().filter_map(Number::from_f64).collect()
    });
    let reply = EmbedReply {
        model: Some(request.model.clone()),
        vectors: vectors.collect(),
        usage: Some(Usage { input: Some(COUNTED), ..Usage::default() }),
        extras: Extras::NONE,
    };
    let base64 = request.extras.get(protocol.id, "encoding_format").and_then(Value::as_str) == Some("base64");
    let vectors = if base64 { VectorSpelling::Base64 } else { VectorSpelling::Numbers };
    let model = Some(request.model.clone());
    let reply_to = ReplyTo { model, now: NOW, vectors, ..ReplyTo::default() };
    protocol.inbound.write_embed(&reply, &reply_to).unwrap_or_else(|| none(protocol, "embeddings"))
}

/// The vector that an input gets: exact as 32-bit floats, and the same for the same input. Tokens are read as their
/// numbers with a blank between.
pub fn vector(input: &str, dimensions: u64) -> Vec<f64> {
    let mut state: u32 =
        input.bytes().fold(2_166_136_261, |state, byte| (state ^ u32::from(byte)).wrapping_mul(16_777_619));
    let next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 16) / 65_536.0 - 0.5
    };
    std::iter::repeat_with(next).take(usize::try_from(dimensions).unwrap_or(0)).collect()
}

fn spelled(input: &EmbedInput) -> String {
    match input {
        EmbedInput::Text(text) => text.clone(),
        EmbedInput::Tokens(tokens) => tokens.iter().map(u64::to_string).collect::<Vec<_>>().join(" "),
    }
}

fn none(protocol: &Protocol, what: &str) -> HttpReply {
    let message = format!("{} has no {what}", protocol.id);
    protocol.inbound.write_error(&ApiError::new(ErrorKind::NotFound, message))
}

fn events(protocol: &Protocol, number: usize, turn: &Turn, mut parts: Vec<Part>) -> Vec<Event> {
    let mut calls = 0;
    for part in &mut parts {
        part.seal.iter_mut().for_each(|seal| own(seal, protocol));
        match &mut part.body {
            PartBody::Redacted(seal) => own(seal, protocol),
            PartBody::ToolCall(call) => {
                calls += 1;
                if call.id.as_str().is_empty() {
                    call.id = CallId::Given(format!("call_{number}_{calls}"));
                }
            }
            PartBody::Text(_)
            | PartBody::Refusal(_)
            | PartBody::Thinking(_)
            | PartBody::ToolResult(_)
            | PartBody::Media(_)
            | PartBody::Opaque(_) => {}
        }
    }
    let stop = turn.stop.clone().unwrap_or(if calls > 0 { Stop::ToolUse } else { Stop::EndTurn });
    let reply = Reply {
        id: None,
        model: None,
        parts,
        stop,
        usage: Some(turn.usage.clone()),
        extras: Extras::NONE,
        end: Extras::NONE,
    };
    let mut events = reply.into_events();
    // Some APIs tell the input at once; the report at the end repeats it.
    let input = Usage { output: None, reasoning: None, ..turn.usage.clone() };
    events.insert(1, Event::Usage(input));
    events
}

/// A seal without an issuer is one of the protocol that it is said in.
fn own(seal: &mut Seal, protocol: &Protocol) {
    if seal.issuer.is_empty() {
        seal.issuer = protocol.id.name().to_owned();
    }
}

/// The same events with long texts in small deltas.
fn small(events: &[Event]) -> impl Iterator<Item = Event> {
    events.iter().flat_map(|event| match event {
        Event::Delta { at, delta, extras } => {
            let pieces: Vec<Delta> = match delta {
                Delta::Text(text) => cut(text).map(Delta::Text).collect(),
                Delta::Thinking(text) => cut(text).map(Delta::Thinking).collect(),
                Delta::Arguments(text) => cut(text).map(Delta::Arguments).collect(),
                Delta::Seal(_) | Delta::Logprobs(_) | Delta::Extra { .. } => vec![delta.clone()],
            };
            pieces.into_iter().map(|delta| Event::Delta { at: *at, delta, extras: extras.clone() }).collect()
        }
        other => vec![other.clone()],
    })
}

/// Pieces of seven characters, or longer ones where that would be more than two hundred.
fn cut(text: &str) -> impl Iterator<Item = String> {
    let length = text.chars().count().div_ceil(200).max(7);
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(length).map_or(rest.len(), |(end, _)| end);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then(|| piece.to_owned())
    })
}

fn last_user_text(request: &Request) -> String {
    let said = |message: &Message| {
        let texts: Vec<&str> = message.parts.iter().filter_map(Part::as_text).collect();
        (message.role == Role::User && !texts.is_empty()).then(|| texts.join("\n"))
    };
    request.messages.iter().rev().find_map(said).unwrap_or_else(|| "(no text of a user)".to_owned())
}
