//! The official SDKs as judges: what they see must be what was scripted, and what they send must be read without loss.

mod read;
mod shapes;

use std::path::Path;

use rail_testkit::judges::{
    Expected, Language, Scenario, answers, asks, compare, errors, judge as installed, run,
};
use rail_testkit::{Models, SCRIPTED_MODEL, Turn};
use rail_wire::Protocol;
use serde_json::{Map, Value, json};

#[test]
fn python_anthropic() {
    judge(Language::Python, "anthropic");
}

#[test]
fn python_openai_chat() {
    judge(Language::Python, "openai-chat");
}

#[test]
fn python_openai_responses() {
    judge(Language::Python, "openai-responses");
}

#[test]
fn python_gemini() {
    judge(Language::Python, "gemini");
}

#[test]
fn node_anthropic() {
    judge(Language::Node, "anthropic");
}

#[test]
fn node_openai_chat() {
    judge(Language::Node, "openai-chat");
}

#[test]
fn node_openai_responses() {
    judge(Language::Node, "openai-responses");
}

#[test]
fn node_gemini() {
    judge(Language::Node, "gemini");
}

/// Scenarios that fail, with the reason; one that passes must leave this list.
const KNOWN: &[(Language, &str, &str, &str)] = &[];

fn judge(language: Language, sdk: &str) {
    let protocol = rail_wire::find(sdk).unwrap_or_else(|| panic!("rail-wire does not speak {sdk}"));
    let Some(judge) = installed(language, Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let asks: Map<String, Value> = serde_json::from_str(asks(sdk)).unwrap();
    let played: Vec<(Scenario, Models)> = scenarios(protocol, language)
        .into_iter()
        .map(|mut scenario| {
            let models = Models::start(std::mem::take(&mut scenario.turns)).unwrap();
            (scenario, models)
        })
        .collect();
    let input = played.iter().map(|(Scenario { name, mode, ask, .. }, models)| {
        json!({"name": name, "mode": mode, "ask": asks[*ask], "url": models.url("")})
    });
    let lines = run(&judge, sdk, &Value::Array(input.collect()));

    let mut failures = Vec::new();
    for (scenario, models) in &played {
        let mut found = Vec::new();
        match lines.iter().find(|line| line["name"] == *scenario.name) {
            Some(line) => compare(&scenario.expected, line, &mut found),
            None => found.push("the SDK's script said nothing of it".to_owned()),
        }
        read::check(protocol, scenario, &models.requests(), &mut found);
        let is_it = |known: &&(Language, &str, &str, &str)| {
            (known.0, known.1, known.2) == (language, sdk, &*scenario.name)
        };
        match KNOWN.iter().find(is_it) {
            Some(_) if found.is_empty() => {
                found.push("passes, so it must leave the list of known failures".to_owned())
            }
            Some((.., why)) => {
                println!("known to fail: {} ({why})", scenario.name);
                found.clear();
            }
            None => {}
        }
        failures.extend(found.iter().map(|failure| format!("{}: {failure}", scenario.name)));
    }
    let (failed, all) = (failures.len(), played.len());
    assert!(failures.is_empty(), "{failed} failures in {all} scenarios:\n{}", failures.join("\n"));
}

fn scenarios(protocol: &'static Protocol, language: Language) -> Vec<Scenario> {
    let sdk = protocol.id.name();
    let mut all = answers::scenarios(sdk, sdk, language);
    all.extend(answers::loops(sdk, language));
    all.extend(errors::scenarios(sdk, language));
    // Requests that say all there is to say, in every way of asking.
    for (ask, mode) in [("image", "whole"), ("image", "stream"), ("rich", "whole"), ("rich", "stream")] {
        let expected = Expected::Saw(json!({"parts": [{"text": "Read."}]}));
        let turns = vec![Turn::reply(vec![rail_testkit::text("Read.")])];
        all.push(Scenario {
            name: format!("{ask} asked, {mode}"),
            mode,
            ask,
            turns,
            expected,
            sent_back: None,
        });
    }
    let mut without_turn = |mode, ask, expected| {
        let name = format!("{mode} {ask}");
        all.push(Scenario {
            name,
            mode,
            ask,
            turns: Vec::new(),
            expected: Expected::Saw(expected),
            sent_back: None,
        });
    };
    if sdk != "openai-chat" {
        without_turn("count", "count", json!({"tokens": rail_testkit::COUNTED}));
    }
    if sdk != "openai-responses" {
        let prefix = if sdk == "gemini" { "models/" } else { "" };
        without_turn("models", "models", json!({"models": [format!("{prefix}{SCRIPTED_MODEL}")]}));
    }
    let vectors = |inputs: &[&str], dimensions| {
        let vectors: Vec<_> = inputs.iter().map(|input| rail_testkit::vector(input, dimensions)).collect();
        json!({"vectors": vectors})
    };
    match sdk {
        "gemini" => without_turn("embed", "embed", vectors(&["one", "zwei — 二"], 6)),
        "openai-chat" => {
            without_turn("embed", "embed", vectors(&["one", "zwei — 二"], 6));
            without_turn("embed", "embed-floats", vectors(&["one"], 4));
            without_turn("embed", "embed-base64", base64_vectors(&["1 2 3", "4"]));
        }
        _ => {}
    }
    all
}

/// Asked for base64 by name, the SDKs hand it out as it came.
fn base64_vectors(inputs: &[&str]) -> Value {
    let bytes = |input: &&str| -> Vec<u8> {
        let numbers = rail_testkit::vector(input, 4);
        numbers.iter().flat_map(|number| (*number as f32).to_le_bytes()).collect()
    };
    let texts: Vec<String> = inputs.iter().map(|input| base64(&bytes(input))).collect();
    json!({"vectors": texts})
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |bytes: &[u8]| -> String {
        let padded = [bytes[0], *bytes.get(1).unwrap_or(&0), *bytes.get(2).unwrap_or(&0)];
        let bits = u32::from_be_bytes([0, padded[0], padded[1], padded[2]]);
        let letter = |at: usize| match at <= bytes.len() {
            true => char::from(LETTERS[(bits >> (18 - 6 * at)) as usize & 63]),
            false => '=',
        };
        (0..4).map(letter).collect()
    };
    bytes.chunks(3).map(group).collect()
}
