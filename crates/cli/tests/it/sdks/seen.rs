//! What the client saw.

use std::collections::BTreeSet;

use rail_testkit::judges::{Expected, compare};
use serde_json::{Value, json};

use super::Played;

/// What a client must see differs behind a gateway: the name that it asked for, and no time of the model's own.
pub(super) fn expect_of_gateway(sdk: &str, of: &str, target: &str, mode: &str, expected: &mut Value) {
    let Some(fields) = expected.as_object_mut() else { return };
    fields.remove("created");
    if fields.contains_key("model") {
        fields.insert("model".to_owned(), json!(target));
    }
    if mode == "retrieve" {
        let prefix = if sdk == "gemini" { "models/" } else { "" };
        fields.insert("models".to_owned(), json!([format!("{prefix}{target}")]));
    }
    plain(expected, sdk == of);
}

/// Names what of a line of the SDK's script does not fit.
pub(super) fn check(played: &Played, mut line: Value, failures: &mut Vec<String>) {
    let Played { sdk, of, scenario, .. } = played;
    if let Some(saw) = line.get_mut("saw") {
        ids(saw, failures);
        plain(saw, sdk == of);
        beside(played, saw, failures);
    }
    compare(&scenario.expected, &line, failures);
    if let (Expected::Saw(_), "count", Some(0)) =
        (&scenario.expected, scenario.mode, line["saw"]["tokens"].as_u64())
    {
        failures.push("counted nothing".to_owned());
    }
}

/// Every call has an id of its own.
fn ids(saw: &Value, failures: &mut Vec<String>) {
    let parts = saw["parts"].as_array().into_iter().flatten();
    let mut ids = BTreeSet::new();
    for call in parts.filter(|part| part.get("call").is_some()) {
        match call["id"].as_str() {
            Some(id) if !id.is_empty() && ids.insert(id) => {}
            _ => failures.push(format!("no id of its own: {call}")),
        }
    }
}

/// Without what each pair of protocols may spell in its own way: ids of calls, signatures of others, zero tokens. And without the
/// name of the provider that signatures get, because these models are not their protocols' makers.
fn plain(saw: &mut Value, same: bool) {
    for part in saw.get_mut("parts").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(part) = part.as_object_mut() else { continue };
        part.remove("id");
        if !same {
            part.remove("signature");
        }
        for (_, data) in part.iter_mut().filter(|(key, _)| matches!(key.as_str(), "signature" | "redacted")) {
            let own = data.as_str().and_then(|data| data.strip_prefix("rail1.provider:")?.split_once('.'));
            if let Some((_, own)) = own {
                *data = json!(own);
            }
        }
    }
    if let Some(usage) = saw.get_mut("usage").and_then(Value::as_object_mut) {
        usage.values_mut().filter(|tokens| tokens.is_null()).for_each(|tokens| *tokens = json!(0));
    }
}

/// What the gateway says beside an answer, and in lists.
fn beside(played: &Played, saw: &Value, failures: &mut Vec<String>) {
    let Played { sdk, of, target, scenario, .. } = played;
    let mut unmet = |what: &str, holds: bool| {
        if !holds {
            failures.push(format!("{what} does not fit: {saw}"));
        }
    };
    match scenario.mode {
        "models" => {
            let is_it =
                |name: &Value| name.as_str().is_some_and(|name| name.trim_start_matches("models/") == target);
            unmet("the list", saw["models"].as_array().is_some_and(|list| list.iter().any(is_it)));
        }
        "headers" => {
            let headers = &saw["headers"];
            let is_id = |name: &str| headers[name].as_str().is_some_and(|id| id.starts_with("req_"));
            unmet("x-request-id", is_id("x-request-id"));
            unmet("request-id", is_id("request-id") == (*sdk == "anthropic"));
            unmet("x-switchrail-target", headers["x-switchrail-target"] == **target);
            let losses = headers["x-switchrail-losses"].as_str();
            match (sdk == of, scenario.ask) {
                (true, "plain") => unmet("x-switchrail-losses", losses.is_none()),
                // Signatures of the protocol's maker are nothing to another provider.
                (true, _) => {}
                (false, "plain") => {
                    unmet("x-switchrail-losses", losses.is_none_or(|losses| !losses.contains("messages")))
                }
                (false, _) => unmet("x-switchrail-losses", losses.is_some()),
            }
        }
        _ => {}
    }
}
