//! Every object in docs/gateway-api.md is compared with what the gateway really answers.

use rail_ledger::NewKey;
use serde_json::{Map, Value};

use super::tests::{ASKED, gateway, get, json_of, post};
use crate::observe::world::{CONFIGURATION, Lines, entry, observe};

const DOCS: &str = include_str!("../../../../docs/gateway-api.md");

/// The first object under a heading.
fn documented(heading: &str) -> Value {
    let (_, section) =
        DOCS.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no heading `{heading}`"));
    let section = section.split("\n## ").next().unwrap();
    let (_, object) =
        section.split_once("```json\n").unwrap_or_else(|| panic!("no object under `{heading}`"));
    serde_json::from_str(object.split("```").next().unwrap())
        .unwrap_or_else(|error| panic!("{heading}: {error}"))
}

/// Where two objects differ in their fields or in the kind of a value. `null` says nothing of a kind, an empty list nothing of what is in
/// it, and a field `*` stands for all.
fn differences(documented: &Value, real: &Value, path: &str, found: &mut Vec<String>) {
    match (documented, real) {
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Object(documented), Value::Object(real)) => of_objects(documented, real, path, found),
        (Value::Array(documented), Value::Array(real)) => {
            if let Some(documented) = documented.first() {
                real.iter().enumerate().for_each(|(at, real)| {
                    differences(documented, real, &format!("{path}[{at}]"), found);
                });
            }
        }
        (Value::Bool(_), Value::Bool(_))
        | (Value::Number(_), Value::Number(_))
        | (Value::String(_), Value::String(_)) => {}
        (_, _) => found.push(format!("{path}: documented as {documented}, and is {real}")),
    }
}

fn of_objects(
    documented: &Map<String, Value>,
    real: &Map<String, Value>,
    path: &str,
    found: &mut Vec<String>,
) {
    if let Some(any) = documented.get("*") {
        real.iter().for_each(|(name, real)| differences(any, real, &format!("{path}.{name}"), found));
        return;
    }
    for (name, value) in documented {
        match real.get(name) {
            Some(real) => differences(value, real, &format!("{path}.{name}"), found),
            None => found.push(format!("{path}.{name} is documented, and is not there")),
        }
    }
    let hidden = real.keys().filter(|name| !documented.contains_key(*name));
    found.extend(hidden.map(|name| format!("{path}.{name} is there, and is not documented")));
}

fn compare(heading: &str, real: &Value) {
    let mut found = Vec::new();
    differences(&documented(heading), real, "", &mut found);
    assert!(found.is_empty(), "{heading}:\n{}\n{real:#}", found.join("\n"));
}

#[tokio::test]
async fn every_page_is_as_documented() {
    let gateway = gateway().await;
    for page in ["status", "requests", "health", "routes", "sessions", "config"] {
        let path = format!("/api/{page}");
        let real = json_of(&gateway, get(&path)).await;
        let empty = real.as_object().unwrap().iter().find(|(_, value)| **value == Value::Array(Vec::new()));
        let may_be = ["rules", "warnings"];
        assert!(
            empty.is_none_or(|(name, _)| may_be.contains(&name.as_str())),
            "{path} shows nothing: {real}"
        );
        compare(&format!("`GET {path}`"), &real);
    }
    compare("`GET /api/requests/{id}`", &json_of(&gateway, get("/api/requests/r1")).await);
    let all = json_of(&gateway, get("/api/models")).await;
    let targets: Vec<Value> =
        all["models"].as_array().unwrap().iter().filter(|model| model["kind"] == "target").cloned().collect();
    assert!(!targets.is_empty());
    compare("`GET /api/models`", &serde_json::json!({"models": targets}));
    compare("`POST /api/explain`", &json_of(&gateway, post("/api/explain", "application/json", ASKED)).await);
    let since = "since=2024-02-01&until=2024-03-01";
    let usage = json_of(&gateway, get(&format!("/api/usage?by=client&{since}"))).await;
    assert_eq!((&usage["by"], &usage["rows"][0]["of"]), (&"client".into(), &"claude-code".into()));
    assert_eq!((&usage["total"]["requests"], &usage["total"]["cost_usd"]), (&3.into(), &0.0375.into()));
    compare("`GET /api/usage`", &usage);
    let series = json_of(&gateway, get(&format!("/api/usage/series?{since}"))).await;
    assert_eq!((&series["step_ms"], &series["points"][0]["requests"]), (&21_600_000.into(), &3.into()));
    compare("`GET /api/usage/series`", &series);
    let new = NewKey {
        name: "mine".to_owned(),
        models: vec!["claude-*".to_owned()],
        rate: "60/min".parse().ok(),
        budget: "5/day".parse().ok(),
        ..NewKey::default()
    };
    gateway.ledger().create_key(&new, 1).await.unwrap();
    compare("`GET /api/keys`", &json_of(&gateway, get("/api/keys")).await);
}

#[tokio::test]
async fn a_line_of_the_log_is_as_documented() {
    let (observe, lines): (_, Lines) = observe(&format!("{CONFIGURATION}\n[gateway]\nlog = \"json\""));
    observe.ended(&entry("r1"));
    observe.flush().await;
    let line = lines.text().lines().next().unwrap().to_owned();
    compare("The log", &serde_json::from_str(&line).unwrap());
}

#[test]
fn every_metric_is_documented() {
    let observe = observe(CONFIGURATION).0;
    observe.connections(1);
    let text = observe.metrics(&[], 0);
    let names = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .map(|line| line.split(' ').next().unwrap());
    let missing: Vec<&str> = names.filter(|name| !DOCS.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
