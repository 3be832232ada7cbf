//! Errors, read and written.

use std::time::Duration;

use rail_model::{ApiError, ErrorKind, Map};
use serde_json::Value;

use super::ID;
use crate::apology;
use crate::protocol::HttpReply;

/// The API's words for what went wrong, and the kind each means.
const STATUSES: &[(&str, ErrorKind)] = &[
    ("INVALID_ARGUMENT", ErrorKind::InvalidRequest),
    ("OUT_OF_RANGE", ErrorKind::InvalidRequest),
    // The location or the account is not allowed to use the API at all.
    ("FAILED_PRECONDITION", ErrorKind::Permission),
    ("UNAUTHENTICATED", ErrorKind::Authentication),
    ("PERMISSION_DENIED", ErrorKind::Permission),
    ("NOT_FOUND", ErrorKind::NotFound),
    ("UNIMPLEMENTED", ErrorKind::NotFound),
    ("ABORTED", ErrorKind::Conflict),
    ("ALREADY_EXISTS", ErrorKind::Conflict),
    ("RESOURCE_EXHAUSTED", ErrorKind::RateLimited),
    ("UNAVAILABLE", ErrorKind::Overloaded),
    ("DEADLINE_EXCEEDED", ErrorKind::Timeout),
    ("CANCELLED", ErrorKind::Timeout),
    ("INTERNAL", ErrorKind::Server),
    ("UNKNOWN", ErrorKind::Server),
    ("DATA_LOSS", ErrorKind::Server),
];

/// Waits longer than this are as good as none: clients of this API give up.
const LONG: Duration = Duration::from_secs(300);

/// Whether bytes that are no answer are an error in a list.
pub(super) fn is_error(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|value| object(&value).is_some())
}

fn object(body: &Value) -> Option<&Map> {
    let body = body.as_array().map_or(Some(body), |list| list.first())?;
    body.get("error")?.as_object()
}

pub(super) fn read(reply: &HttpReply) -> ApiError {
    let body: Option<Value> =
        serde_json::from_slice(&reply.body).ok().filter(|body: &Value| body.is_object() || body.is_array());
    let error = body.as_ref().and_then(object);
    let text = |key: &str| error.and_then(|error| error.get(key)).and_then(Value::as_str);
    let message = text("message").map_or_else(|| apology::excerpt(reply), str::to_owned);
    let code = error
        .and_then(|error| error.get("code"))
        .and_then(Value::as_u64)
        .and_then(|code| u16::try_from(code).ok());
    let status = Some(reply.status).filter(|status| *status >= 400).or(code).unwrap_or(500);
    let word = text("status");
    let kind = word.and_then(|word| STATUSES.iter().find(|(known, _)| *known == word)).map(|(_, kind)| *kind);
    let details: Vec<&Value> = error
        .and_then(|error| error.get("details"))
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .collect();
    let retry_after =
        details.iter().find_map(|detail| delay(detail)).or_else(|| apology::retry_after(reply, &message));
    let kind =
        refined(kind.unwrap_or_else(|| ErrorKind::from_status(status)), &message, &details, retry_after);
    ApiError {
        status,
        kind,
        message,
        code: reason(&details).or(word).map(str::to_owned),
        param: field(&details),
        retry_after,
        said: body.map(|body| (ID, body)),
    }
}

/// A limit of the minute passes; one of the day, or a limit of nothing, does not. The wording is the same for all.
fn refined(kind: ErrorKind, message: &str, details: &[&Value], retry_after: Option<Duration>) -> ErrorKind {
    if kind != ErrorKind::RateLimited {
        return apology::refine(kind, message);
    }
    let quotas =
        details.iter().filter_map(|detail| detail.get("violations")).filter_map(Value::as_array).flatten();
    let mut ids = quotas.filter_map(|quota| quota.get("quotaId")).filter_map(Value::as_str);
    let daily = ids.any(|id| id.contains("PerDay") || id.contains("Daily"));
    let nothing = message.trim_end().ends_with("limit: 0")
        || message.contains("limit: 0,")
        || message.contains("limit: 0\n");
    if daily || nothing || retry_after.is_some_and(|delay| delay > LONG) { ErrorKind::Quota } else { kind }
}

fn delay(detail: &Value) -> Option<Duration> {
    let text = detail.get("retryDelay")?.as_str()?;
    apology::spoken_delay(&format!("retry in {text}"))
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

fn reason<'a>(details: &[&'a Value]) -> Option<&'a str> {
    details.iter().find_map(|detail| detail.get("reason")?.as_str())
}

fn field(details: &[&Value]) -> Option<String> {
    let violations = details.iter().find_map(|detail| detail.get("fieldViolations")?.as_array())?;
    violations.first()?.get("field")?.as_str().map(str::to_owned)
}

pub(super) fn write(error: &ApiError) -> HttpReply {
    let (status, body) = match &error.said {
        Some((origin, body)) if *origin == ID => (error.status, body.clone()),
        Some(_) | None => (error.kind.status(), body(error)),
    };
    let mut reply = HttpReply::json(status, serde_json::to_vec(&body).unwrap_or_default());
    apology::say_retry_after(error, &mut reply);
    reply
}

/// The error as one object, as it also stands in a stream.
pub(super) fn body(error: &ApiError) -> Value {
    if let Some((origin, said)) = &error.said
        && *origin == ID
    {
        // A list of one error is not a frame of a stream; its element is.
        return said.as_array().and_then(|list| list.first()).unwrap_or(said).clone();
    }
    let mut out = Map::new();
    // Clients decide by the number, and know only this API's.
    out.insert("code".to_owned(), Value::from(error.kind.status()));
    out.insert("message".to_owned(), Value::from(message(error)));
    out.insert("status".to_owned(), Value::from(word(error.kind)));
    let details = details(error);
    if !details.is_empty() {
        out.insert("details".to_owned(), Value::Array(details));
    }
    Value::Object(Map::from_iter([("error".to_owned(), Value::Object(out))]))
}

fn word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidRequest | ErrorKind::TooLarge | ErrorKind::ContextLength | ErrorKind::Refused => {
            "INVALID_ARGUMENT"
        }
        ErrorKind::Authentication => "UNAUTHENTICATED",
        ErrorKind::Permission => "PERMISSION_DENIED",
        ErrorKind::NotFound => "NOT_FOUND",
        ErrorKind::Conflict => "ABORTED",
        ErrorKind::RateLimited | ErrorKind::Quota => "RESOURCE_EXHAUSTED",
        ErrorKind::Overloaded => "UNAVAILABLE",
        ErrorKind::Timeout => "DEADLINE_EXCEEDED",
        ErrorKind::Server => "INTERNAL",
    }
}

/// Clients look for the API's own wording.
fn message(error: &ApiError) -> String {
    let said = error.message.as_str();
    if error.kind == ErrorKind::ContextLength && !said.contains("exceeds the maximum number of tokens") {
        return format!("The input token count exceeds the maximum number of tokens allowed. {said}");
    }
    match error.retry_after {
        Some(delay) if error.kind == ErrorKind::RateLimited && apology::spoken_delay(said).is_none() => {
            format!("{said}\nPlease retry in {}.", seconds(delay))
        }
        Some(_) | None => said.to_owned(),
    }
}

fn details(error: &ApiError) -> Vec<Value> {
    let mut list = Vec::new();
    let mut say = |kind: &str, key: &str, value: Value| {
        let kind = Value::from(format!("type.googleapis.com/google.rpc.{kind}"));
        list.push(Value::Object(Map::from_iter([("@type".to_owned(), kind), (key.to_owned(), value)])));
    };
    let one = |key: &str, value: &str| {
        Value::Array(vec![Value::Object(Map::from_iter([(key.to_owned(), Value::from(value))]))])
    };
    if error.kind == ErrorKind::Quota {
        // The one thing by which Gemini CLI knows that waiting will not help.
        say("QuotaFailure", "violations", one("quotaId", "BudgetPerDay"));
    }
    if let Some(delay) = error.retry_after {
        say("RetryInfo", "retryDelay", Value::from(seconds(delay)));
    }
    if let Some(param) = &error.param {
        say("BadRequest", "fieldViolations", one("field", param));
    }
    list
}

fn seconds(delay: Duration) -> String {
    format!("{}s", delay.as_secs_f64())
}
