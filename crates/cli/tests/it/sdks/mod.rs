//! The official SDKs through the real gateway: a client of every protocol on a model of every protocol.

mod gateway;
mod heard;
mod scenes;
mod seen;

use std::path::Path;

use rail_testkit::Models;
use rail_testkit::judges::{self, Expected, Language, Scenario};
use serde_json::{Map, Value, json};

use crate::home::Home;
use gateway::Gateway;

const PROTOCOLS: [&str; 4] = ["anthropic", "openai-chat", "openai-responses", "gemini"];

#[test]
fn python_anthropic() {
    through(Language::Python, "anthropic");
}

#[test]
fn python_openai_chat() {
    through(Language::Python, "openai-chat");
}

#[test]
fn python_openai_responses() {
    through(Language::Python, "openai-responses");
}

#[test]
fn python_gemini() {
    through(Language::Python, "gemini");
}

#[test]
fn node_anthropic() {
    through(Language::Node, "anthropic");
}

#[test]
fn node_openai_chat() {
    through(Language::Node, "openai-chat");
}

#[test]
fn node_openai_responses() {
    through(Language::Node, "openai-responses");
}

#[test]
fn node_gemini() {
    through(Language::Node, "gemini");
}

/// A scenario, and the model that it is played on. Each has a model of its own, so that no failure is remembered against another.
struct Played {
    /// The protocol of the client.
    sdk: &'static str,
    /// The protocol of the model.
    of: &'static str,
    /// What the client calls the model.
    target: String,
    scenario: Scenario,
    models: Models,
}

/// Plays every scenario of one SDK on models of every protocol, through one gateway that has keys.
fn through(language: Language, sdk: &'static str) {
    let Some(judge) = judges::judge(language, Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let played = played(language, sdk);
    let home = Home::with(&configuration(&played));
    let made = home.rail(&["key", "create", "sdks"], "");
    let key = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let gateway = Gateway::start(&home);
    let asks: Map<String, Value> = serde_json::from_str(judges::asks(sdk)).unwrap();
    let input = played.iter().map(|Played { scenario, target, .. }| {
        let mut ask = asks.get(scenario.ask).cloned().unwrap_or_else(|| json!({}));
        ask["model"] = json!(target);
        let key = if scenario.name.starts_with("wrong key") { "rail_wrong" } else { &key };
        json!({"name": target, "mode": scenario.mode, "ask": ask, "url": gateway.url(), "key": key})
    });
    let lines = judges::run(&judge, sdk, &Value::Array(input.collect()));
    let mut failures = Vec::new();
    for played in &played {
        let mut found = Vec::new();
        match lines.iter().find(|line| line["name"] == *played.target) {
            Some(line) => seen::check(played, line.clone(), &mut found),
            None => found.push("the SDK's script said nothing of it".to_owned()),
        }
        heard::check(played, &mut found);
        let name = &played.scenario.name;
        failures.extend(found.iter().map(|failure| format!("{name} (on {}): {failure}", played.of)));
    }
    let (failed, all) = (failures.len(), played.len());
    assert!(failures.is_empty(), "{failed} failures in {all} scenarios:\n{}", failures.join("\n"));
}

fn played(language: Language, sdk: &'static str) -> Vec<Played> {
    let pairs = PROTOCOLS.iter().flat_map(|of| {
        let scenes = scenes::of(sdk, of, language).into_iter();
        scenes.map(move |scenario| (*of, scenario))
    });
    let played = pairs.enumerate().map(|(at, (of, mut scenario))| {
        let models = Models::start(std::mem::take(&mut scenario.turns)).unwrap();
        Played { sdk, of, target: format!("p{at},m"), scenario, models }
    });
    let mut played: Vec<Played> = played.collect();
    for Played { sdk, of, target, scenario, .. } in &mut played {
        if let Expected::Saw(expected) = &mut scenario.expected {
            seen::expect_of_gateway(sdk, of, target, scenario.mode, expected);
        }
    }
    played
}

fn configuration(played: &[Played]) -> String {
    let provider = |Played { of, target, models, .. }: &Played| {
        let protocol = rail_wire::find(of).unwrap();
        format!(
            "[providers.{}]\nprotocol = \"{of}\"\nbase_url = \"{}\"\nkey = \"of-the-provider\"\nretry = {{ tries = 0 }}\n\
             models = {{ m = {{ tools = \"native\", vision = true, stream_usage = true, custom_tools = true }} }}\n",
            target.split(',').next().unwrap(),
            models.base_url(protocol.id),
        )
    };
    let providers: String = played.iter().map(provider).collect();
    format!("{providers}[router]\ndefault = \"p0,m\"\n[gateway]\nlisten = \"127.0.0.1:0\"\nlog = \"quiet\"\n")
}
