//! Streams of servers that are only more or less compatible: what each becomes, for a person to read.

use std::fmt::Write;

use rail_model::{Assembler, CallId, CallKind, Event, Part, PartBody};
use rail_wire::openai_chat::PROTOCOL;
use rail_wire::{BodyKind, Decode};

use crate::corpus::{Fixture, events_split, fixtures};

fn decoder() -> Box<dyn Decode> {
    PROTOCOL.outbound.decoder(BodyKind::Stream)
}

/// The assembled answer, the reason, the usage, or how it failed.
fn story(fixture: &Fixture) -> String {
    let (events, error) = events_split(&mut *decoder(), [fixture.bytes.as_slice()].into_iter());
    let mut assembler = Assembler::default();
    let mut text = String::new();
    for event in &events {
        if let Event::Opaque(opaque) = event {
            writeln!(text, "noise: {}", opaque.value).unwrap();
        }
    }
    events.into_iter().for_each(|event| assembler.push(event));
    assembler.parts().iter().for_each(|part| writeln!(text, "{}", told(part)).unwrap());
    match assembler.finish() {
        Some(Ok(reply)) => {
            writeln!(text, "stop: {:?}", reply.stop).unwrap();
            if let Some(usage) = reply.usage {
                let counts =
                    [usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning];
                writeln!(text, "usage: in, read, write, out, reasoning = {counts:?}").unwrap();
            }
        }
        Some(Err(failed)) => writeln!(text, "failed: {failed} code={:?}", failed.code).unwrap(),
        None => writeln!(text, "no end").unwrap(),
    }
    if let Some(error) = error {
        writeln!(text, "{:?}: {error}", error.kind).unwrap();
    }
    text
}

fn told(part: &Part) -> String {
    let body = match &part.body {
        PartBody::Text(text) => format!("text: {text:?}"),
        PartBody::Refusal(text) => format!("refusal: {text:?}"),
        PartBody::Thinking(text) => format!("thinking: {text:?}"),
        PartBody::Redacted(seal) => format!("redacted: {}", seal.data),
        PartBody::ToolCall(call) => {
            let id = match &call.id {
                CallId::Given(id) => id.clone(),
                CallId::Minted(id) => format!("minted {id}"),
            };
            let kind = if call.kind == CallKind::Custom { "custom call" } else { "call" };
            format!("{kind}: {} [{id}] {}", call.name, call.arguments)
        }
        PartBody::ToolResult(_) | PartBody::Media(_) => format!("{:?}", part.body),
        PartBody::Opaque(opaque) => format!("opaque: {}", opaque.value),
    };
    let seal =
        part.seal.as_ref().map(|seal| format!("\n  seal: {} {}", seal.issuer, seal.data)).unwrap_or_default();
    let extras =
        if part.extras.is_empty() { String::new() } else { format!("\n  extras: {:?}", part.extras) };
    format!("{body}{seal}{extras}")
}

#[test]
fn every_odd_stream_becomes_something_sensible() {
    let list = fixtures(&PROTOCOL, "compat", ".sse");
    assert!(list.len() > 40, "the corpus is there");
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_path("snapshots/openai_chat");
    settings.bind(|| {
        list.iter().for_each(|fixture| insta::assert_snapshot!(fixture.name.clone(), story(fixture)))
    });
}

#[test]
fn any_split_gives_the_same_events() {
    let kinds = ["stream", "compat"];
    for fixture in kinds.iter().flat_map(|kind| fixtures(&PROTOCOL, kind, ".sse")) {
        let whole = events_split(&mut *decoder(), [fixture.bytes.as_slice()].into_iter());
        for size in [1, 2, 3, 7, 64] {
            let pieces = events_split(&mut *decoder(), fixture.bytes.chunks(size));
            assert_eq!(whole, pieces, "{} in pieces of {size}", fixture.name);
        }
    }
}
