//! Linear cost, shown by counted work: twice the input allocates twice, not four times, as much.

use rail_model::{CallId, CallKind, Delta, Event, Extras, PartKind, Stop};
use rail_wire::{ALL, BodyKind, HttpCall, Protocol, TargetSpec};
use serde_json::{Value, json};

use crate::corpus::write_answer;

/// A call whose argument has this many 4-byte pieces.
fn long_call(pieces: usize) -> Vec<Event> {
    let kind = PartKind::ToolCall {
        id: CallId::Given("call_1".into()),
        name: "write_file".into(),
        kind: CallKind::Function,
    };
    let delta =
        |text: &str| Event::Delta { at: 0, delta: Delta::Arguments(text.into()), extras: Extras::NONE };
    let mut events = vec![
        Event::Started { id: Some("a".into()), model: Some("m".into()), extras: Extras::NONE },
        Event::Opened { at: 0, kind, extras: Extras::NONE },
        delta("{\"content\": \""),
    ];
    events.extend((0..pieces).map(|_| delta("abc ")));
    events.extend([
        delta("\"}"),
        Event::Closed { at: 0, extras: Extras::NONE },
        Event::Finished { stop: Stop::ToolUse, extras: Extras::NONE },
    ]);
    events
}

/// Bytes allocated while a body is decoded in reads of `read` bytes and written again in `to`.
fn work(from: &Protocol, to: &Protocol, body: &[u8], read: usize) -> u64 {
    let mut decoder = from.outbound.decoder(BodyKind::Stream);
    let mut encoder = to.inbound.encoder(BodyKind::Stream, &rail_wire::ReplyTo::default());
    let (mut events, mut out) = (Vec::new(), Vec::new());
    let info = allocation_counter::measure(|| {
        for piece in body.chunks(read) {
            decoder.push(piece, &mut events).unwrap();
            events.drain(..).for_each(|event| encoder.push(&event, &mut out));
            out.clear();
        }
        decoder.finish(&mut events).unwrap();
        events.drain(..).for_each(|event| encoder.push(&event, &mut out));
    });
    info.bytes_total
}

#[test]
fn a_long_argument_in_small_pieces_costs_linear_work() {
    for from in ALL {
        for to in ALL {
            let [small, large] = [8 << 10, 32 << 10].map(|pieces| {
                let (body, _) = write_answer(from, BodyKind::Stream, &long_call(pieces));
                work(from, to, &body, 4096)
            });
            assert!(
                large < small * 5,
                "{} -> {}: {small} bytes of work for a quarter of {large}",
                from.id,
                to.id
            );
        }
    }
}

#[test]
fn a_long_line_in_small_reads_costs_linear_work() {
    for protocol in ALL {
        let [small, large] = [64 << 10, 256 << 10].map(|size| {
            let mut events = long_call(0);
            events.insert(
                3,
                Event::Delta { at: 0, delta: Delta::Arguments("x".repeat(size)), extras: Extras::NONE },
            );
            let (body, _) = write_answer(protocol, BodyKind::Stream, &events);
            work(protocol, protocol, &body, 4)
        });
        assert!(large < small * 6, "{}: {small} bytes of work for a quarter of {large}", protocol.id);
    }
}

/// A long conversation of Claude Code's kind with 60 tools, of about so many bytes.
fn long_request(bytes: usize) -> Vec<u8> {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string", "description": "Where it is."}, "limit": {"type": "integer"}}, "required": ["path"]});
    let tools: Vec<Value> = (0..60)
        .map(|at| json!({"name": format!("tool_{at}"), "description": "Reads a file. ".repeat(20), "input_schema": schema}))
        .collect();
    let text = "fn main() {\n    println!(\"hello\");\n}\n".repeat(50);
    let turns = (0..bytes / 2300).flat_map(|at| {
        let id = format!("toolu_{at}");
        let call = json!({"role": "assistant", "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": id, "name": "tool_1", "input": {"path": "a"}}]});
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]});
        [call, result]
    });
    let messages: Vec<Value> = [json!({"role": "user", "content": "Go."})].into_iter().chain(turns).collect();
    let body =
        json!({"max_tokens": 32000, "stream": true, "tools": tools, "messages": messages, "model": "m"});
    serde_json::to_vec(&body).unwrap()
}

#[test]
fn passing_a_request_on_costs_little_more_than_its_copy() {
    let protocol = &rail_wire::anthropic::PROTOCOL;
    let body = long_request(300_000);
    let request = protocol.inbound.decode_request(&HttpCall::post("", body.clone())).unwrap();
    let target = TargetSpec::new("t");
    let forwarded = allocation_counter::measure(|| {
        assert!(protocol.outbound.forward(&request, &target, &body).is_some());
    });
    let encoded = allocation_counter::measure(|| {
        protocol.outbound.encode_request(&request, &target);
    });
    let copy = body.len() as u64;
    assert!(forwarded.bytes_total < copy + copy / 4, "{} bytes for a copy of {copy}", forwarded.bytes_total);
    assert!(forwarded.bytes_total * 3 < encoded.bytes_total, "{} bytes to encode", encoded.bytes_total);
    assert!(forwarded.count_total * 3 < encoded.count_total);
}
