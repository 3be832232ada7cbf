//! Scripts in files: a JSON list of turns.

use std::fmt;
use std::time::Duration;

use rail_model::{ApiError, CallId, ErrorKind, Map, Part, PartBody, Stop, Usage};
use serde_json::Value;

use super::turn::{Turn, call, image, redacted, text, thinking};

/// What is wrong with a script, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptError {
    place: String,
    problem: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

impl std::error::Error for ScriptError {}

/// Reads a script; the README of this crate says what may stand in it.
pub fn read_script(json: &str) -> Result<Vec<Turn>, ScriptError> {
    let script: Value = match serde_json::from_str(json) {
        Ok(script) => script,
        Err(error) => return fail("script", error.to_string()),
    };
    let Value::Array(turns) = script else { return fail("script", "must be a list of turns") };
    let last = turns.len().saturating_sub(1);
    let read = |(at, value): (usize, &Value)| {
        let place = format!("turn {at}");
        let turn = turn(&Fields::of(value, &place, TURN)?)?;
        match turn.repeats() && at < last {
            true => fail(&format!("{place}.repeat"), "only the last turn may repeat"),
            false => Ok(turn),
        }
    };
    turns.iter().enumerate().map(read).collect()
}

const TURN: &[&str] = &[
    "thinking",
    "signature",
    "redacted",
    "text",
    "image",
    "calls",
    "stop",
    "usage",
    "pings",
    "repeat",
    "echo",
    "error",
    "break",
    "cut",
    "markerless",
    "stall",
];

fn turn(fields: &Fields<'_>) -> Result<Turn, ScriptError> {
    let parts = parts(fields)?;
    let mut endings = Vec::new();
    if fields.flag("echo")? {
        endings.push(("echo", Turn::echo()));
    }
    if let Some(value) = fields.get("error") {
        endings.push(("error", Turn::error(error(value, &fields.at("error"))?)));
    }
    if let Some(value) = fields.get("break") {
        endings.push(("break", Turn::breaks(parts.clone(), error(value, &fields.at("break"))?)));
    }
    for (name, make) in [
        ("cut", Turn::cut as fn(Vec<Part>) -> Turn),
        ("markerless", Turn::markerless),
        ("stall", Turn::stall),
    ] {
        if fields.flag(name)? {
            endings.push((name, make(parts.clone())));
        }
    }
    let mut turn = match &*endings {
        [] if parts.is_empty() => {
            return fail(fields.place, "says nothing: give it `text`, `calls`, `error`, …");
        }
        [] => Turn::reply(parts),
        [("echo" | "error", _)] if !parts.is_empty() => {
            return fail(fields.place, "an `echo` or `error` says nothing else");
        }
        [(_, turn)] => turn.clone(),
        [(one, _), (other, _), ..] => return fail(fields.place, format!("has both `{one}` and `{other}`")),
    };
    if let Some(word) = fields.text("stop")? {
        turn = turn.stop(stop(word));
    }
    if let Some(value) = fields.get("usage") {
        turn = turn.usage(usage(value, &fields.at("usage"))?);
    }
    if let Some(pings) = fields.number("pings")? {
        turn = turn.pings(usize::try_from(pings).unwrap_or(usize::MAX));
    }
    Ok(if fields.flag("repeat")? { turn.repeat() } else { turn })
}

fn parts(fields: &Fields<'_>) -> Result<Vec<Part>, ScriptError> {
    let mut parts = Vec::new();
    let signature = fields.text("signature")?;
    match fields.text("thinking")? {
        Some(words) => parts.push(thinking(words, signature)),
        None if signature.is_some() => return fail(&fields.at("signature"), "signs no `thinking`"),
        None => {}
    }
    parts.extend(fields.text("redacted")?.map(redacted));
    parts.extend(fields.text("text")?.map(text));
    if let Some(value) = fields.get("image") {
        let place = fields.at("image");
        let picture = Fields::of(value, &place, &["mime", "data"])?;
        parts.push(image(picture.needed("mime")?, picture.needed("data")?));
    }
    let calls = match fields.get("calls") {
        None => &[][..],
        Some(Value::Array(calls)) => calls,
        Some(_) => return fail(&fields.at("calls"), "must be a list of calls"),
    };
    for (at, value) in calls.iter().enumerate() {
        let place = format!("{}[{at}]", fields.at("calls"));
        let one = Fields::of(value, &place, &["name", "arguments", "id"])?;
        let arguments = one.get("arguments").cloned().unwrap_or_else(|| Value::Object(Map::new()));
        let mut part = call(one.needed("name")?, arguments);
        if let (Some(id), PartBody::ToolCall(call)) = (one.text("id")?, &mut part.body) {
            call.id = CallId::Given(id.to_owned());
        }
        parts.push(part);
    }
    Ok(parts)
}

/// An error is a message, or a kind with a message and more.
fn error(value: &Value, place: &str) -> Result<ApiError, ScriptError> {
    if let Value::String(message) = value {
        return Ok(ApiError::new(ErrorKind::Server, message));
    }
    let fields = Fields::of(value, place, &["kind", "message", "code", "param", "retry_after_seconds"])?;
    let word = fields.text("kind")?.unwrap_or("server");
    let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == word) else {
        let known: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
        return fail(&fields.at("kind"), format!("`{word}` is no kind; there are {}", known.join(", ")));
    };
    let message = fields.text("message")?.unwrap_or("a scripted error");
    Ok(ApiError {
        code: fields.text("code")?.map(str::to_owned),
        param: fields.text("param")?.map(str::to_owned),
        retry_after: fields.number("retry_after_seconds")?.map(Duration::from_secs),
        ..ApiError::new(*kind, message)
    })
}

const KINDS: &[(&str, ErrorKind)] = &[
    ("invalid_request", ErrorKind::InvalidRequest),
    ("authentication", ErrorKind::Authentication),
    ("permission", ErrorKind::Permission),
    ("not_found", ErrorKind::NotFound),
    ("conflict", ErrorKind::Conflict),
    ("too_large", ErrorKind::TooLarge),
    ("context_length", ErrorKind::ContextLength),
    ("refused", ErrorKind::Refused),
    ("rate_limited", ErrorKind::RateLimited),
    ("quota", ErrorKind::Quota),
    ("overloaded", ErrorKind::Overloaded),
    ("timeout", ErrorKind::Timeout),
    ("server", ErrorKind::Server),
];

fn stop(word: &str) -> Stop {
    match word {
        "end_turn" => Stop::EndTurn,
        "max_tokens" => Stop::MaxTokens,
        "stop_sequence" => Stop::StopSequence(None),
        "tool_use" => Stop::ToolUse,
        "refusal" => Stop::Refusal,
        "pause" => Stop::Pause,
        "context_full" => Stop::ContextFull,
        "malformed_call" => Stop::MalformedCall,
        other => Stop::Other(other.to_owned()),
    }
}

fn usage(value: &Value, place: &str) -> Result<Usage, ScriptError> {
    let fields = Fields::of(value, place, &["input", "cache_read", "cache_write", "output", "reasoning"])?;
    Ok(Usage {
        input: fields.number("input")?,
        cache_read: fields.number("cache_read")?,
        cache_write: fields.number("cache_write")?,
        output: fields.number("output")?,
        reasoning: fields.number("reasoning")?,
        ..Usage::default()
    })
}

/// An object whose fields are all known by name.
struct Fields<'a> {
    map: &'a Map,
    place: &'a str,
}

impl<'a> Fields<'a> {
    fn of(value: &'a Value, place: &'a str, known: &[&str]) -> Result<Fields<'a>, ScriptError> {
        let Value::Object(map) = value else { return fail(place, "must be an object") };
        match map.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => {
                fail(&format!("{place}.{key}"), format!("no such field; there are {}", known.join(", ")))
            }
            None => Ok(Fields { map, place }),
        }
    }

    fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.place)
    }

    fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key)
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, ScriptError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => fail(&self.at(key), "must be a string"),
        }
    }

    fn needed(&self, key: &str) -> Result<&'a str, ScriptError> {
        self.text(key)?.map_or_else(|| fail(&self.at(key), "is missing"), Ok)
    }

    fn number(&self, key: &str) -> Result<Option<u64>, ScriptError> {
        match self.get(key).map(Value::as_u64) {
            None => Ok(None),
            Some(Some(number)) => Ok(Some(number)),
            Some(None) => fail(&self.at(key), "must be a whole number"),
        }
    }

    fn flag(&self, key: &str) -> Result<bool, ScriptError> {
        match self.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => fail(&self.at(key), "must be true or false"),
        }
    }
}

fn fail<T>(place: &str, problem: impl Into<String>) -> Result<T, ScriptError> {
    Err(ScriptError { place: place.to_owned(), problem: problem.into() })
}
