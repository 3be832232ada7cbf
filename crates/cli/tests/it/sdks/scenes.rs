//! What is played on each pair of protocols.

use rail_model::{ErrorKind, Part, PartBody, Seal};
use rail_testkit::judges::{Expected, Language, Raised, Scenario, answers, errors};
use rail_testkit::{COUNTED, Turn, call, text, thinking};
use serde_json::{Value, json};

/// Valid base64, which Google's SDKs demand of signatures.
pub(super) const SIGNATURE: &str = "c2lnbmF0dXJlIG9mIGEga2luZA==";

/// The scenarios of a client of one protocol on a model of another or the same.
pub(super) fn of(sdk: &str, model: &str, language: Language) -> Vec<Scenario> {
    let mut all = answers::scenarios(sdk, model, language);
    // Long answers are the same for every model behind.
    all.retain(|scenario| sdk == model || !scenario.name.starts_with("large"));
    all.extend(loops(model));
    all.extend(errors::scenarios(sdk, language).into_iter().map(|scenario| told(sdk, language, scenario)));
    let read = || vec![Turn::reply(vec![text("Read.")])];
    let said = || json!({"parts": [{"text": "Read."}]});
    for ask in ["image", "rich"] {
        all.push(scene(format!("{ask} asked, whole"), "whole", ask, read(), said()));
        all.push(scene(format!("{ask} asked, stream"), "stream", ask, read(), said()));
    }
    for ask in ["plain", "rich"] {
        all.push(scene(format!("headers of {ask}"), "headers", ask, read(), json!({})));
    }
    if language == Language::Python {
        all.push(scene("async, whole".to_owned(), "async-whole", "plain", read(), said()));
        all.push(scene("async, stream".to_owned(), "async-stream", "plain", read(), said()));
    }
    let stalls = vec![Turn::stall(vec![text("Half of an ans")])];
    all.push(scene("left in mid-stream".to_owned(), "leave", "plain", stalls, json!({})));
    all.extend(lists(sdk, model));
    for mode in ["whole", "stream"] {
        all.push(wrong_key(sdk, language, mode));
    }
    all
}

/// A connection that closes in mid-stream is an answer that failed, where the protocol has such answers: the gateway says so.
/// Only Python's accumulation misses the end that it waits for.
fn told(sdk: &str, language: Language, scenario: Scenario) -> Scenario {
    let cut = scenario.name.starts_with("cut") && scenario.mode != "whole";
    match (sdk, language, scenario.mode) {
        ("openai-responses", Language::Python, "helper") => scenario,
        ("openai-responses", _, _) if cut => {
            Scenario { expected: Expected::Saw(json!({"stop": "failed"})), ..scenario }
        }
        _ => scenario,
    }
}

/// What takes no turn of a model.
fn lists(sdk: &str, model: &str) -> Vec<Scenario> {
    let without_turn =
        |mode: &'static str, ask, expected| scene(format!("{mode} {ask}"), mode, ask, Vec::new(), expected);
    let mut all = Vec::new();
    if sdk != "openai-chat" {
        // Where the model's protocol has no counts, the gateway estimates.
        let counted = if model == "openai-chat" { json!({}) } else { json!({"tokens": COUNTED}) };
        all.push(without_turn("count", "count", counted));
    }
    if sdk != "openai-responses" {
        all.push(without_turn("models", "models", json!({})));
    }
    all.push(without_turn("retrieve", "models", json!({})));
    let vectors = |inputs: &[&str], dimensions| {
        let vectors: Vec<_> = inputs.iter().map(|input| rail_testkit::vector(input, dimensions)).collect();
        json!({"vectors": vectors})
    };
    let embeds = |protocol: &str| matches!(protocol, "gemini" | "openai-chat");
    if embeds(sdk) && embeds(model) {
        all.push(without_turn("embed", "embed", vectors(&["one", "zwei — 二"], 6)));
        if sdk == "openai-chat" {
            all.push(without_turn("embed", "embed-floats", vectors(&["one"], 4)));
        }
    }
    all
}

/// A call, its result, and the answer; what the model said of itself must come back to it.
fn loops(model: &str) -> Vec<Scenario> {
    let seal = || Some(Seal { issuer: String::new(), data: SIGNATURE.to_owned() });
    let called = |part: Part| Part { seal: seal().filter(|_| model == "gemini"), ..part };
    let parts = || -> Vec<Part> {
        let thought = thinking("Hm.", (model != "openai-chat").then_some(SIGNATURE));
        let calls = [called(call("read_file", json!({"path": "ä"}))), call("list", json!({}))];
        [thought, text("I will.")].into_iter().chain(calls).collect()
    };
    let looped = |mode: &'static str| {
        let turns = vec![Turn::reply(parts()), Turn::reply(vec![text("Done.")])];
        let sent_back = parts().into_iter().filter(|part| !matches!(part.body, PartBody::Thinking(_)));
        let scenario = scene(mode.to_owned(), mode, "plain", turns, json!({"parts": [{"text": "Done."}]}));
        Scenario { sent_back: Some(sent_back.collect()), ..scenario }
    };
    vec![looped("loop"), looped("loop-whole")]
}

fn wrong_key(sdk: &str, language: Language, mode: &'static str) -> Scenario {
    let class = errors::class(sdk, language, ErrorKind::Authentication);
    let raised = Raised { class: Some(class), status: Some(401), says: "key", ..Raised::default() };
    let scenario = scene(format!("wrong key, {mode}"), mode, "plain", Vec::new(), json!({}));
    Scenario { expected: Expected::Raised(raised), ..scenario }
}

fn scene(name: String, mode: &'static str, ask: &'static str, turns: Vec<Turn>, expected: Value) -> Scenario {
    Scenario { name, mode, ask, turns, expected: Expected::Saw(expected), sent_back: None }
}
