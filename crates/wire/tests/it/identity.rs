//! P → P is the identity on JSON meaning, unknown fields, blocks and events included.

use rail_wire::{ALL, BodyKind, Protocol, gemini};
use serde_json::Value;

use crate::corpus::{
    error_reply, events, fixtures, frames, json, read_request, without_nulls, write_answer, write_request,
};
use crate::gemini::corpus::in_camel_case;

/// Collects every difference, so that one run shows them all.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn compare(&mut self, what: &str, expected: &Value, got: &Value) {
        if expected != got {
            let mut paths = Vec::new();
            differing(expected, got, String::new(), &mut paths);
            self.0.push(format!("{what}:\n    {}", paths.join("\n    ")));
        }
    }

    fn none(self) {
        assert!(self.0.is_empty(), "{} differ:\n{}", self.0.len(), self.0.join("\n"));
    }
}

fn differing(a: &Value, b: &Value, path: String, out: &mut Vec<String>) {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let keys = x.keys().chain(y.keys().filter(|key| !x.contains_key(*key)));
            for key in keys {
                match (x.get(key), y.get(key)) {
                    (Some(a), Some(b)) => differing(a, b, format!("{path}.{key}"), out),
                    (a, b) => out.push(format!("{path}.{key}: {a:?} became {b:?}")),
                }
            }
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            for (at, (a, b)) in x.iter().zip(y).enumerate() {
                differing(a, b, format!("{path}[{at}]"), out);
            }
        }
        _ if a != b => out.push(format!("{path}: {a} became {b}")),
        _ => {}
    }
}

fn each(check: impl Fn(&'static Protocol, &mut Differences)) {
    let mut differences = Differences::default();
    ALL.iter().for_each(|protocol| check(protocol, &mut differences));
    differences.none();
}

#[test]
fn requests() {
    each(|protocol, differences| {
        for fixture in fixtures(protocol, "request", ".json") {
            let what = format!("{} request {}", protocol.id, fixture.name);
            let request =
                read_request(protocol, &fixture.bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
            let (body, losses) = write_request(protocol, &request);
            assert_eq!(losses, [], "{what}");
            // Gemini allows two spellings of every key; we answer in one.
            let spelled = |value| if protocol.id == gemini::ID { in_camel_case(&value) } else { value };
            differences.compare(&what, &spelled(json(&fixture.bytes)), &spelled(body));
        }
    });
}

#[test]
fn answers() {
    each(|protocol, differences| {
        for fixture in fixtures(protocol, "response", ".json") {
            let what = format!("{} answer {}", protocol.id, fixture.name);
            let events = events(protocol, BodyKind::Whole, &fixture.bytes)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            let (body, losses) = write_answer(protocol, BodyKind::Whole, &events);
            assert_eq!(losses, [], "{what}");
            differences.compare(&what, &json(&fixture.bytes), &json(&body));
        }
    });
}

#[test]
fn streams() {
    each(|protocol, differences| {
        for (ending, kind) in [(".sse", BodyKind::Stream), (".array.json", BodyKind::Array)] {
            for fixture in fixtures(protocol, "stream", ending) {
                let what = format!("{} stream {}", protocol.id, fixture.name);
                let events =
                    events(protocol, kind, &fixture.bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
                let (body, losses) = write_answer(protocol, kind, &events);
                assert_eq!(losses, [], "{what}");
                let frames = |bytes: &[u8]| without_nulls(Value::Array(frames(bytes)));
                differences.compare(&what, &frames(&fixture.bytes), &frames(&body));
            }
        }
    });
}

#[test]
fn errors() {
    each(|protocol, differences| {
        for fixture in fixtures(protocol, "error", ".json") {
            let error = protocol.outbound.read_error(&error_reply(&fixture));
            let reply = protocol.inbound.write_error(&error);
            let what = format!("{} error {}", protocol.id, fixture.name);
            assert_eq!(reply.status, error_reply(&fixture).status, "{what}");
            differences.compare(&what, &json(&fixture.bytes), &json(&reply.body));
        }
    });
}
