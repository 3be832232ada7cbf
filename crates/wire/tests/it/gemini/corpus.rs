use std::path::PathBuf;

use rail_model::{Assembler, Grammar};
use rail_wire::{BodyKind, HttpCall, HttpReply, ReplyTo, TargetSpec, gemini};
use serde_json::{Map, Value, json};

use super::{body, decode, encode, events, payloads, written};

fn corpus(kind: &str) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/gemini").join(kind);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
        .into_iter()
        .map(|file| (file.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&file).unwrap()))
        .collect()
}

fn json_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

/// `snake_case` keys as `camelCase`, except where data stands.
pub(crate) fn in_camel_case(value: &Value) -> Value {
    const DATA: &[&str] = &[
        "args",
        "response",
        "parameters",
        "parametersJsonSchema",
        "responseSchema",
        "responseJsonSchema",
        "customConfigs",
    ];
    match value {
        Value::Array(list) => list.iter().map(in_camel_case).collect(),
        Value::Object(map) => {
            let mut out = Map::new();
            for (key, value) in map {
                let mut camel = String::new();
                let mut upper = false;
                for char in key.chars() {
                    match char {
                        '_' => upper = true,
                        char if upper => {
                            camel.push(char.to_ascii_uppercase());
                            upper = false;
                        }
                        char => camel.push(char),
                    }
                }
                let value = if DATA.contains(&camel.as_str()) { value.clone() } else { in_camel_case(value) };
                out.insert(camel, value);
            }
            Value::Object(out)
        }
        other => other.clone(),
    }
}

#[test]
fn requests_come_back_the_same() {
    for (name, bytes) in corpus("request") {
        let original = json_of(&bytes);
        let encoded = encode(&decode(&original));
        assert_eq!(in_camel_case(&body(&encoded)), in_camel_case(&original), "{name}");
        assert!(encoded.losses.is_empty(), "{name}: {:?}", encoded.losses);
        // Twice the same bytes, so that caches hit.
        assert_eq!(encode(&decode(&original)).call, encoded.call, "{name}");
    }
}

#[test]
fn token_counts_come_back_the_same() {
    for (name, bytes) in corpus("count-request") {
        let call = HttpCall::post("/v1beta/models/gemini-2.5-flash:countTokens", bytes.clone());
        let request = gemini::PROTOCOL.inbound.decode_request(&call).unwrap();
        let encoded =
            gemini::PROTOCOL.outbound.encode_count(&request, &TargetSpec::new("gemini-2.5-flash")).unwrap();
        assert_eq!(encoded.call.path, "/models/gemini-2.5-flash:countTokens");
        assert_eq!(in_camel_case(&body(&encoded)), in_camel_case(&json_of(&bytes)), "{name}");
    }
    for (name, bytes) in corpus("count-response") {
        let count = gemini::PROTOCOL.outbound.read_count(&bytes).unwrap();
        let reply = gemini::PROTOCOL.inbound.write_count(&count).unwrap();
        assert_eq!(json_of(&reply.body), json_of(&bytes), "{name}");
    }
}

#[test]
fn embeddings_come_back_the_same() {
    for (name, bytes) in corpus("embed-request") {
        let call = HttpCall::post("/v1beta/models/gemini-embedding-001:embedContent", bytes.clone());
        let request = gemini::PROTOCOL.inbound.decode_embed(&call).unwrap();
        let encoded = gemini::PROTOCOL
            .outbound
            .encode_embed(&request, &TargetSpec::new("gemini-embedding-001"))
            .unwrap();
        assert_eq!(in_camel_case(&body(&encoded)), in_camel_case(&json_of(&bytes)), "{name}");
        assert!(encoded.losses.is_empty(), "{name}: {:?}", encoded.losses);
    }
    for (name, bytes) in corpus("embed-response") {
        let reply = gemini::PROTOCOL.outbound.read_embed(&bytes).unwrap();
        let written = gemini::PROTOCOL.inbound.write_embed(&reply, &ReplyTo::default()).unwrap();
        assert_eq!(json_of(&written.body), json_of(&bytes), "{name}");
    }
}

#[test]
fn whole_answers_come_back_the_same() {
    for (name, bytes) in corpus("response") {
        let events = events(BodyKind::Whole, &bytes, usize::MAX);
        assert_eq!(json_of(&written(BodyKind::Whole, &events)), json_of(&bytes), "{name}");
        let mut grammar = Grammar::default();
        let mut assembler = Assembler::default();
        for event in events {
            grammar.accept(&event).unwrap();
            assembler.push(event);
        }
        grammar.end().unwrap();
        // Folded into an answer and taken apart again it is still the same.
        let reply = assembler.finish().unwrap().unwrap();
        assert_eq!(json_of(&written(BodyKind::Whole, &reply.into_events())), json_of(&bytes), "{name}");
    }
}

#[test]
fn streams_come_back_frame_by_frame_and_any_split_gives_the_same_events() {
    for (name, bytes) in corpus("stream") {
        let kind = if name.ends_with(".array.json") { BodyKind::Array } else { BodyKind::Stream };
        let whole = events(kind, &bytes, usize::MAX);
        for step in [1, 2, 3, 7, 64] {
            assert_eq!(events(kind, &bytes, step), whole, "{name} in steps of {step}");
        }
        let mut grammar = Grammar::default();
        whole.iter().for_each(|event| grammar.accept(event).unwrap());
        grammar.end().unwrap();
        let again = written(kind, &whole);
        assert_eq!(payloads(kind, &again), payloads(kind, &bytes), "{name}");
    }
}

#[test]
fn errors_come_back_the_same() {
    for (name, bytes) in corpus("error") {
        let status: u16 = name.split('.').nth(1).unwrap().parse().unwrap();
        let reply = HttpReply { status, headers: Vec::new(), body: bytes.clone() };
        let error = gemini::PROTOCOL.outbound.read_error(&reply);
        assert_eq!(error.status, status, "{name}");
        assert!(!error.message.is_empty(), "{name}");
        let written = gemini::PROTOCOL.inbound.write_error(&error);
        let body: Value = serde_json::from_slice(&written.body).unwrap();
        match serde_json::from_slice::<Value>(&bytes) {
            Ok(said) => assert_eq!((written.status, body), (status, said), "{name}"),
            Err(_) => assert_eq!(body["error"]["code"], json!(written.status), "{name}"),
        }
    }
}
