//! The official SDKs as judges: what they see must be what was scripted, and what they send must be read without loss.

mod answers;
mod errors;
mod install;
mod read;
mod shapes;

use std::io::Write;
use std::process::Stdio;

use rail_model::Part;
use rail_testkit::{Models, SCRIPTED_MODEL, Turn};
use rail_wire::Protocol;
use serde_json::{Map, Value, json};

use install::{Judge, Language};

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

/// One call of the SDK, and what must come of it.
struct Scenario {
    /// Unique; what is scripted and how it is asked for.
    name: String,
    /// How the SDK is called: `whole`, `stream`, `helper` (its own accumulation), `count`, `embed`, `models`,
    /// and `loop` or `loop-whole`, which answer the calls of a first answer.
    mode: &'static str,
    /// Which of the requests in `asks/` is sent.
    ask: &'static str,
    turns: Vec<Turn>,
    expected: Expected,
    /// The answer that the second request must have in it.
    sent_back: Option<Vec<Part>>,
}

/// What must come of a call.
enum Expected {
    /// The SDK saw this, and perhaps more.
    Saw(Value),
    /// The SDK raised an error.
    Raised(Raised),
}

/// An error of an SDK.
#[derive(Default)]
struct Raised {
    /// Its class.
    class: Option<&'static str>,
    /// A class that it is derived from.
    ancestor: Option<&'static str>,
    status: Option<u16>,
    /// What its message has in it.
    says: &'static str,
    retry_after: Option<&'static str>,
}

/// Scenarios that fail, with the reason; one that passes must leave this list.
const KNOWN: &[(Language, &str, &str, &str)] = &[];

fn judge(language: Language, sdk: &str) {
    let protocol = rail_wire::find(sdk).unwrap_or_else(|| panic!("rail-wire does not speak {sdk}"));
    let Some(judge) = install::judge(language) else { return };
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

fn asks(sdk: &str) -> &'static str {
    match sdk {
        "anthropic" => include_str!("../judges/asks/anthropic.json"),
        "openai-chat" => include_str!("../judges/asks/openai-chat.json"),
        "openai-responses" => include_str!("../judges/asks/openai-responses.json"),
        "gemini" => include_str!("../judges/asks/gemini.json"),
        other => panic!("no requests for {other}"),
    }
}

fn scenarios(protocol: &'static Protocol, language: Language) -> Vec<Scenario> {
    let sdk = protocol.id.name();
    let mut all = answers::scenarios(sdk, language);
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

/// Runs the script of one SDK over all scenarios, and gives its lines.
fn run(judge: &Judge, sdk: &str, input: &Value) -> Vec<Value> {
    let mut child = judge.script(sdk).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // The script reads all its input before it says anything, so this cannot block on its output.
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the script of {sdk} failed; its message is above");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("`{line}` is no JSON")))
        .collect()
}

fn compare(expected: &Expected, line: &Value, failures: &mut Vec<String>) {
    match (expected, line.get("saw"), line.get("raised")) {
        (Expected::Saw(expected), Some(saw), _) => {
            for (key, expected) in expected.as_object().unwrap() {
                if !same(expected, &saw[key]) {
                    failures.push(format!("{key} should be {}, is {}", short(expected), short(&saw[key])));
                }
            }
        }
        (Expected::Raised(expected), _, Some(raised)) => {
            let mut unmet = |what: &str, holds: bool| {
                if !holds {
                    failures.push(format!("{what} does not fit: raised {}", short(raised)));
                }
            };
            let ancestors = raised["ancestors"].as_array().unwrap();
            unmet("class", expected.class.is_none_or(|class| raised["class"] == class));
            unmet(
                "ancestor",
                expected.ancestor.is_none_or(|class| ancestors.iter().any(|kind| kind == class)),
            );
            unmet("status", expected.status.is_none_or(|status| raised["status"] == status));
            unmet("message", raised["message"].as_str().unwrap().contains(expected.says));
            unmet("retry-after", expected.retry_after.is_none_or(|delay| raised["retry_after"] == delay));
        }
        (Expected::Saw(_), None, Some(raised)) => failures.push(format!("raised {}", short(raised))),
        (Expected::Raised(_), Some(saw), None) => {
            failures.push(format!("raised nothing, saw {}", short(saw)))
        }
        _ => failures.push(format!("`{line}` says neither what was seen nor what was raised")),
    }
}

/// Equal as JSON values, numbers by their value and not by their spelling.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(600) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}
