//! The response object around the output: what it says of the answer and of the request.

use rail_model::{Extras, Map, Stop};
use serde_json::{Value, json};

use super::types::Answer;
use super::{ABOUT, CHAT, COMPLETE_ON_LENGTH, FRAMES, ID, kept_fields};
use crate::ids;
use crate::protocol::ReplyTo;
use crate::told::Told;

/// Fields that repeat the request or stamp the answer: nobody elsewhere misses them.
const ECHOED: &[&str] = &[
    "object",
    "created_at",
    "completed_at",
    "status",
    "background",
    "error",
    "incomplete_details",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "reasoning",
    "safety_identifier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "usage",
    "user",
    "metadata",
    "conversation",
    "access_programs",
    "image",
    "frequency_penalty",
    "presence_penalty",
];

/// Id, model and the rest of a response object, once its output and usage are taken.
pub(super) fn read(mut answer: Answer) -> (Option<String>, Option<String>, Extras) {
    let (id, model) = (answer.id.take(), answer.model.take());
    let (mut about, mut rest) = (Map::new(), Map::new());
    for (key, value) in answer.leftovers() {
        let usual = key == "service_tier" && matches!(value.as_str(), Some("default" | "auto"));
        let echoed = usual || ECHOED.contains(&key.as_str());
        if echoed { &mut about } else { &mut rest }.insert(key, value);
    }
    let mut extras = Extras::rest(ID, rest);
    extras.insert(ID, ABOUT, Value::Object(about));
    (id, model, extras)
}

/// A response object as its own protocol said it; None when another protocol answered.
pub(super) fn said(extras: &Extras) -> Option<Map> {
    let mut map = extras.get(ID, ABOUT)?.as_object()?.clone();
    map.extend(kept_fields(extras).filter(|(key, _)| key != FRAMES));
    Some(map)
}

/// A response object for an answer of another protocol: the client's own wishes, and what its library wants to see.
fn fresh(reply_to: &ReplyTo) -> Map {
    let echo = |key: &str, default: Value| reply_to.echo.get(key).cloned().unwrap_or(default);
    let mut map = Map::new();
    let fields = [
        ("object", json!("response")),
        ("created_at", json!(reply_to.now)),
        ("status", json!("in_progress")),
        ("background", json!(false)),
        ("completed_at", Value::Null),
        ("error", Value::Null),
        ("incomplete_details", Value::Null),
        ("instructions", echo("instructions", Value::Null)),
        ("max_output_tokens", echo("max_output_tokens", Value::Null)),
        ("max_tool_calls", echo("max_tool_calls", Value::Null)),
        ("parallel_tool_calls", echo("parallel_tool_calls", json!(true))),
        ("previous_response_id", echo("previous_response_id", Value::Null)),
        ("reasoning", echo("reasoning", json!({"effort": null, "summary": null}))),
        ("store", echo("store", json!(false))),
        ("temperature", echo("temperature", Value::Null)),
        ("text", echo("text", json!({"format": {"type": "text"}}))),
        ("tool_choice", echo("tool_choice", json!("auto"))),
        ("tools", echo("tools", json!([]))),
        ("top_p", echo("top_p", Value::Null)),
        ("truncation", echo("truncation", json!("disabled"))),
        ("usage", Value::Null),
        ("user", echo("user", Value::Null)),
        ("metadata", echo("metadata", json!({}))),
    ];
    map.extend(fields.map(|(key, value)| (key.to_owned(), value)));
    for key in ["prompt_cache_key", "prompt_cache_retention", "safety_identifier", "top_logprobs"] {
        if let Some(value) = reply_to.echo.get(key) {
            map.insert(key.to_owned(), value.clone());
        }
    }
    map
}

/// What Chat Completions says of its answers in the same or nearly the same words.
const SHARED: &[(&str, &str)] = &[("created", "created_at"), ("service_tier", "service_tier")];

/// A response object for an answer of another protocol that said this of itself; what can't be said is named.
pub(super) fn adapted(extras: &Extras, reply_to: &ReplyTo, told: &mut Told) -> Map {
    let mut map = fresh(reply_to);
    for key in extras.lost_on(ID) {
        let shared = SHARED.iter().find(|(theirs, _)| *theirs == key);
        match (shared, extras.get(CHAT, key)) {
            (Some((_, ours)), Some(value)) => map.insert((*ours).to_owned(), value.clone()).map_or((), drop),
            (Some(_) | None, _) => told.once(key, "openai-responses can't say it; left out"),
        }
    }
    map
}

/// The answer's id as a client of this protocol expects it.
pub(super) fn answer_id(id: Option<&str>, extras: &Extras, reply_to: &ReplyTo) -> String {
    match id {
        Some(id) if extras.get(ID, ABOUT).is_some() || id.starts_with("resp_") => id.to_owned(),
        Some(_) | None => {
            let (id, seed) = (id.unwrap_or_default(), &reply_to.seed);
            format!(
                "resp_{:016x}{:016x}",
                ids::fnv(id.as_bytes()),
                ids::fnv(format!("{seed}/{id}").as_bytes())
            )
        }
    }
}

/// Why it stopped, from the status of a response.
pub(super) fn stop(answer: &Answer, called: bool) -> Stop {
    let reason = answer.incomplete_details.as_ref().and_then(|details| details.reason.as_deref());
    match (answer.status.as_deref(), reason) {
        (Some("completed") | None, _) if called => Stop::ToolUse,
        (Some("completed") | None, _) => Stop::EndTurn,
        (Some("incomplete"), Some("max_output_tokens")) => Stop::MaxTokens,
        (Some("incomplete"), Some("content_filter")) => Stop::Refusal,
        (Some("incomplete"), Some(other)) => Stop::Other(other.to_owned()),
        (Some(other), _) => Stop::Other(other.to_owned()),
    }
}

/// Writes the end into a response object of ours.
pub(super) fn end(map: &mut Map, stop: &Stop, refused: bool, reply_to: &ReplyTo, told: &mut Told) {
    let lenient = reply_to.echo.get(COMPLETE_ON_LENGTH) == Some(&Value::Bool(true));
    let reason = match stop {
        Stop::EndTurn | Stop::ToolUse | Stop::StopSequence(None) => None,
        Stop::StopSequence(Some(_)) => {
            told.once("stop_sequence", "openai-responses does not say which; left out");
            None
        }
        Stop::Pause => {
            told.once("stop", "openai-responses has no pause; said as completed");
            None
        }
        Stop::MaxTokens | Stop::ContextFull if lenient => None,
        Stop::MaxTokens | Stop::ContextFull => Some("max_output_tokens"),
        Stop::Refusal if refused => None,
        Stop::Refusal => Some("content_filter"),
        Stop::MalformedCall | Stop::Other(_) => {
            told.once("stop", "openai-responses has no such reason; said as completed");
            None
        }
    };
    let status = if reason.is_some() { "incomplete" } else { "completed" };
    map.insert("status".to_owned(), Value::from(status));
    if let Some(reason) = reason {
        map.insert("incomplete_details".to_owned(), json!({ "reason": reason }));
    } else {
        map.insert("completed_at".to_owned(), Value::from(reply_to.now));
    }
}
