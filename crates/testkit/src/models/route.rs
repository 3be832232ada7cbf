//! Which protocol a request belongs to, and what is answered without a turn.

use rail_model::{ApiError, ErrorKind};
use rail_wire::{ALL, HttpCall, HttpReply, Operation, Protocol};
use serde_json::{Value, json};

/// The one model that lists name; any other name is answered as well.
pub const SCRIPTED_MODEL: &str = "scripted-model";

/// The protocol and the operation of the endpoint that a request came to.
pub(super) fn find(call: &HttpCall) -> Option<(&'static Protocol, Operation)> {
    let found: Vec<_> = ALL
        .iter()
        .flat_map(|protocol| protocol.inbound.endpoints().iter().map(move |endpoint| (*protocol, endpoint)))
        .filter(|(_, endpoint)| endpoint.method == call.method && matches(endpoint.path, &call.path))
        .map(|(protocol, endpoint)| (protocol, endpoint.operation))
        .collect();
    let likely = likely(call);
    // Only the list of models has one address in several protocols; the headers tell them apart.
    let chosen = found.iter().find(|(protocol, _)| protocol.id == likely.id).or_else(|| found.first());
    chosen.copied()
}

/// The protocol that a request to nowhere most likely was meant in.
pub(super) fn likely(call: &HttpCall) -> &'static Protocol {
    let id = if call.header("anthropic-version").is_some() {
        "anthropic"
    } else if call.header("x-goog-api-key").is_some() || call.path.starts_with("/v1beta") {
        "gemini"
    } else {
        "openai-chat"
    };
    rail_wire::find(id).unwrap_or(&rail_wire::anthropic::PROTOCOL)
}

/// What a request to nowhere gets.
pub(super) fn nowhere(call: &HttpCall) -> HttpReply {
    if call.path == "/" && matches!(call.method.as_str(), "GET" | "HEAD") {
        return HttpReply::json(200, json!({"scripted": SCRIPTED_MODEL}).to_string().into_bytes());
    }
    let known = ALL.iter().flat_map(|protocol| protocol.inbound.endpoints());
    let mut known: Vec<String> =
        known.map(|endpoint| format!("{} {}", endpoint.method, endpoint.path)).collect();
    known.sort();
    known.dedup();
    let HttpCall { method, path, .. } = call;
    let message = format!("no endpoint at {method} {path}; there are {}", known.join(", "));
    likely(call).inbound.write_error(&ApiError::new(ErrorKind::NotFound, message))
}

/// The list of models, as each protocol writes it.
pub(super) fn models(protocol: &Protocol) -> HttpReply {
    let list: Value = match protocol.id.name() {
        "anthropic" => {
            let model = json!({
                "type": "model", "id": SCRIPTED_MODEL, "display_name": "Scripted model",
                "created_at": "2026-01-01T00:00:00Z",
            });
            json!({"data": [model], "has_more": false, "first_id": SCRIPTED_MODEL, "last_id": SCRIPTED_MODEL})
        }
        "gemini" => {
            let methods = ["generateContent", "countTokens", "embedContent"];
            let model = json!({
                "name": format!("models/{SCRIPTED_MODEL}"), "version": "1", "displayName": "Scripted model",
                "inputTokenLimit": 1_000_000, "outputTokenLimit": 65_536, "supportedGenerationMethods": methods,
            });
            json!({"models": [model]})
        }
        _ => {
            let model = json!({
                "id": SCRIPTED_MODEL, "object": "model", "created": super::NOW, "owned_by": "rail-testkit",
            });
            json!({"object": "list", "data": [model]})
        }
    };
    HttpReply::json(200, list.to_string().into_bytes())
}

/// Whether a path is one of the pattern, in which `{model}` stands for one segment or a part of one.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once("{model}") {
        None => pattern == path,
        Some((before, after)) => path
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|model| !model.is_empty() && !model.contains('/')),
    }
}
