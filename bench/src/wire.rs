//! Stream decoders and translate pairs against `serde_json` parsing the same frames into `Value`.

use std::hint::black_box;
use std::time::Duration;

use rail_model::{CallId, CallKind, Delta, Event, Extras, PartKind, Stop, Usage};
use rail_wire::{ALL, BodyKind, Frame, Framer, Protocol, ReplyTo, Sse, TargetSpec};
use serde_json::Value;

use crate::talk;
use crate::timing::shortest;

/// How the bytes arrive: as a socket gives them.
const READ: usize = 16 << 10;

pub(crate) fn run() {
    println!("reference: serde_json parses the same frames into Value; more than 1.0 is faster than that\n");
    println!("{:<18} {:>9} {:>12} {:>12} {:>7}", "decode", "KiB", "ref MB/s", "MB/s", "ratio");
    for protocol in ALL {
        decode(protocol);
    }
    println!("\n{:<36} {:>12} {:>12} {:>7}", "translate stream", "ref MB/s", "MB/s", "ratio");
    for from in ALL {
        for to in ALL {
            translate(from, to);
        }
    }
    requests();
}

/// Requests read, and read, fitted and written again, in nanoseconds for each byte of the client's body.
pub(crate) fn requests() {
    println!("\n{:<36} {:>9} {:>10} {:>10} {:>7}", "request", "size", "ref ns/B", "ns/B", "ratio");
    for size in [talk::USUAL, talk::LARGE, talk::HUGE] {
        for from in ALL {
            let call = talk::call(from, size, "m", false);
            let read = || from.inbound.decode_request(&call).map_err(|error| error.message);
            request_row(from.id.name(), size.name, &call.body, &mut || drop(black_box(read())));
        }
    }
    for size in [talk::USUAL, talk::LARGE, talk::HUGE] {
        for (from, to) in ALL.iter().flat_map(|from| ALL.iter().map(move |to| (from, to))) {
            let call = talk::call(from, size, "m", false);
            let target = TargetSpec::new("m");
            let pair = format!("{} -> {}", from.id, to.id);
            request_row(&pair, size.name, &call.body, &mut || {
                let request = from.inbound.decode_request(&call).unwrap_or_default();
                drop(black_box(to.outbound.encode_request(&request, &target)));
            });
        }
    }
}

fn request_row(name: &str, size: &str, body: &[u8], ours: &mut dyn FnMut()) {
    // A small body many times, so that the clock's own cost does not count.
    let times = 1_000_000 / body.len().max(1) + 1;
    let shortest = shortest(&mut [
        Box::new(|| (0..times).for_each(|_| drop(black_box(serde_json::from_slice::<Value>(body).ok())))),
        Box::new(|| (0..times).for_each(|_| ours())),
    ]);
    if let [reference, ours] = shortest.as_slice() {
        let per_byte = |time: &Duration| 1e3 / speed(body.len() * times, *time);
        let ratio = ratio(*reference, *ours);
        println!("{name:<36} {size:>9} {:>10.2} {:>10.2} {ratio:>7.2}", per_byte(reference), per_byte(ours));
    }
}

fn decode(protocol: &Protocol) {
    let body = stream(protocol);
    let frames = frames(&body);
    let times = shortest(&mut [
        Box::new(|| parse_all(&frames)),
        Box::new(|| {
            let mut decoder = protocol.outbound.decoder(BodyKind::Stream);
            let mut events = Vec::new();
            for piece in body.chunks(READ) {
                decoder.push(piece, &mut events).ok();
                black_box(&events);
                events.clear();
            }
            decoder.finish(&mut events).ok();
        }),
    ]);
    if let [reference, ours] = times.as_slice() {
        let (size, ratio) = (body.len() >> 10, ratio(*reference, *ours));
        let (reference, ours) = (speed(body.len(), *reference), speed(body.len(), *ours));
        println!("{:<18} {size:>9} {reference:>12.0} {ours:>12.0} {ratio:>7.2}", protocol.id.name());
    }
}

fn translate(from: &Protocol, to: &Protocol) {
    let body = stream(from);
    let frames = frames(&body);
    let times = shortest(&mut [
        Box::new(|| parse_all(&frames)),
        Box::new(|| {
            let mut decoder = from.outbound.decoder(BodyKind::Stream);
            let mut encoder = to.inbound.encoder(BodyKind::Stream, &ReplyTo::default());
            let (mut events, mut out) = (Vec::new(), Vec::with_capacity(READ));
            for piece in body.chunks(READ) {
                decoder.push(piece, &mut events).ok();
                events.drain(..).for_each(|event| encoder.push(&event, &mut out));
                black_box(&out);
                out.clear();
            }
            decoder.finish(&mut events).ok();
            events.drain(..).for_each(|event| encoder.push(&event, &mut out));
            encoder.finish(&mut out);
        }),
    ]);
    if let [reference, ours] = times.as_slice() {
        let ratio = ratio(*reference, *ours);
        let (reference, ours) = (speed(body.len(), *reference), speed(body.len(), *ours));
        let pair = format!("{} -> {}", from.id, to.id);
        println!("{pair:<36} {reference:>12.0} {ours:>12.0} {ratio:>7.2}");
    }
}

fn parse_all(frames: &[Vec<u8>]) {
    for frame in frames {
        black_box(serde_json::from_slice::<Value>(frame).ok());
    }
}

fn frames(body: &[u8]) -> Vec<Vec<u8>> {
    let mut list = Vec::new();
    let mut sink = |frame: Frame<'_>| {
        list.push(frame.data.to_vec());
        Ok(())
    };
    let mut framer = Sse::new();
    framer.push(body, &mut sink).ok();
    framer.finish(&mut sink).ok();
    list
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn speed(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64() / 1e6
}

fn ratio(reference: Duration, ours: Duration) -> f64 {
    reference.as_secs_f64() / ours.as_secs_f64()
}

/// A typical answer of a coding session in the protocol's own frames: reasoning, prose, two calls.
fn stream(protocol: &Protocol) -> Vec<u8> {
    let mut encoder = protocol.inbound.encoder(BodyKind::Stream, &ReplyTo::default());
    let mut out = Vec::new();
    script().iter().for_each(|event| encoder.push(event, &mut out));
    encoder.finish(&mut out);
    out
}

fn script() -> Vec<Event> {
    let none = || Extras::NONE;
    let mut events = vec![Event::Started {
        id: Some("answer_0123456789abcdef".into()),
        model: Some("model-name-2026".into()),
        extras: none(),
    }];
    let mut part = |kind: PartKind, pieces: usize, piece: &dyn Fn(usize) -> Delta| {
        let at = events.iter().filter(|event| matches!(event, Event::Opened { .. })).count();
        events.push(Event::Opened { at, kind, extras: none() });
        events.extend((0..pieces).map(|n| Event::Delta { at, delta: piece(n), extras: none() }));
        events.push(Event::Closed { at, extras: none() });
    };
    let word = |n: usize| WORDS.get(n % WORDS.len()).copied().unwrap_or_default();
    part(PartKind::Thinking, 1500, &|n| Delta::Thinking(word(n).to_owned()));
    part(PartKind::Text, 3000, &|n| Delta::Text(word(n).to_owned()));
    for call in ["call_a", "call_b"] {
        let kind = PartKind::ToolCall {
            id: CallId::Given(call.into()),
            name: "edit_file".into(),
            kind: CallKind::Function,
        };
        part(kind, 1000, &|n| {
            Delta::Arguments(ARGUMENTS.get(n).map_or_else(
                || if n == 999 { "\"}".into() } else { word(n).replace(['\n', '"'], " ") },
                |text| (*text).to_owned(),
            ))
        });
    }
    events.push(Event::Usage(Usage {
        input: Some(12_000),
        cache_read: Some(9_000),
        output: Some(4_500),
        reasoning: Some(1_500),
        ..Usage::default()
    }));
    events.push(Event::Finished { stop: Stop::ToolUse, extras: none() });
    events
}

const WORDS: &[&str] = &[
    "The",
    " parser",
    " reads",
    " a",
    " line",
    ",\n",
    " then",
    " \"checks\"",
    " 切替",
    " it",
    "; ",
    "fn main() {",
    "\n    ",
    "let x = 1;",
    " and",
    " so on",
];
const ARGUMENTS: &[&str] = &["{\"path\": ", "\"src/main.rs\", ", "\"new_string\": \""];
