//! Tool-call arguments and the small conversions that several protocols share.

use rail_model::{Effort, Json, Loss};
use serde_json::{Map, Value};

/// The key under which text that is no JSON object goes where only an object is allowed.
pub(crate) const RAW: &str = "_raw";

/// A call's arguments where the protocol wants an object: the model's own text if it is one, wrapped and named if not.
pub(crate) fn object(text: &str, path: &str, losses: &mut Vec<Loss>) -> Json {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return empty();
    }
    match Json::parse(text.to_owned()) {
        Ok(json) if json.is_object() => json,
        Ok(_) | Err(_) => {
            let reason = format!("the arguments are no JSON object; sent whole as the string `{RAW}`");
            losses.push(Loss::new(path, reason));
            Json::from(Value::Object(Map::from_iter([(RAW.to_owned(), Value::String(text.to_owned()))])))
        }
    }
}

/// `{}`.
pub(crate) fn empty() -> Json {
    Json::from(Value::Object(Map::new()))
}

/// The schema of a tool that takes anything: an object without properties.
pub(crate) fn any_object() -> Json {
    let fields =
        [("type".to_owned(), Value::from("object")), ("properties".to_owned(), Value::Object(Map::new()))];
    Json::from(Value::Object(Map::from_iter(fields)))
}

/// The schema of a tool for servers that refuse anything but an object which says its properties, be they none.
pub(crate) fn schema(said: Option<&Json>) -> Json {
    let Some(json) = said else { return any_object() };
    let Value::Object(mut map) = json.value() else { return any_object() };
    let object = map.get("type").is_none_or(|kind| kind == "object");
    let whole = map.contains_key("type")
        && map.get("properties").is_some_and(Value::is_object)
        && map.get("required").is_none_or(|names| !names.is_null());
    if !object || whole || map.contains_key("$ref") {
        return json.clone();
    }
    map.entry("type").or_insert_with(|| Value::from("object"));
    if !map.get("properties").is_some_and(Value::is_object) {
        map.insert("properties".to_owned(), Value::Object(Map::new()));
    }
    map.retain(|key, value| key != "required" || !value.is_null());
    Json::from(Value::Object(map))
}

/// The effort that a token budget stands for.
pub(crate) fn effort_of(budget: u64) -> Effort {
    match budget {
        0 => Effort::None,
        1..=1024 => Effort::Low,
        1025..=8192 => Effort::Medium,
        8193.. => Effort::High,
    }
}

/// The token budget that an effort stands for.
pub(crate) fn budget_of(effort: Option<&Effort>) -> u64 {
    match effort {
        Some(Effort::None) => 0,
        Some(Effort::Minimal) => 512,
        Some(Effort::Low) => 1024,
        Some(Effort::Medium | Effort::Other(_)) | None => 8192,
        Some(Effort::High) => 24_576,
        Some(Effort::XHigh | Effort::Max) => 32_768,
    }
}
