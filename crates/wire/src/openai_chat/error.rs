//! Errors, both ways.

use rail_model::{ApiError, ErrorKind};
use serde_json::{Value, json};

use super::ID;
use crate::apology;
use crate::protocol::HttpReply;

/// Reads an error answer, whatever its body is. A status of 0 is an error inside HTTP 200 or in mid-stream.
pub(super) fn read(reply: &HttpReply) -> ApiError {
    let body = serde_json::from_slice::<Value>(&reply.body).ok();
    let error = body.as_ref().map(error_in);
    let field = |name: &str| error.and_then(|error| error.get(name));
    let said = message(error).or_else(|| refused(body.as_ref()));
    let message = said.unwrap_or_else(|| apology::excerpt(reply));
    let code = field("code").and_then(word);
    let status = Some(reply.status).filter(|status| *status >= 400).or_else(|| spoken_status(error));
    let kind = kind(field("type").and_then(word).as_deref(), code.as_deref(), status, &message);
    ApiError {
        status: status.unwrap_or_else(|| kind.status()),
        kind,
        code,
        param: field("param").and_then(word),
        retry_after: apology::retry_after(reply, &message),
        said: body.filter(|body| body.is_object() || body.is_array()).map(|body| (ID, body)),
        message,
    }
}

/// Whether an `error` field says anything; some servers send it empty with every answer.
pub(super) fn is_said(text: &str) -> bool {
    !matches!(text, "null" | "false" | "\"\"" | "{}")
}

/// The error object: under `error`, in a list (Google), or the body itself (older vLLM).
fn error_in(body: &Value) -> &Value {
    let body = body.get(0).unwrap_or(body);
    body.get("error").filter(|error| !error.is_null()).unwrap_or(body)
}

fn message(error: Option<&Value>) -> Option<String> {
    let error = error?;
    let fields = ["message", "detail", "msg"].iter().find_map(|name| error.get(name));
    let said = error.as_str().or_else(|| fields.and_then(Value::as_str)).map(str::to_owned);
    // FastAPI lists what it found wrong.
    let listed = || fields.filter(|value| value.is_array() || value.is_object()).map(Value::to_string);
    said.or_else(listed).filter(|text| !text.is_empty())
}

/// An answer whose only choice says that it failed.
fn refused(body: Option<&Value>) -> Option<String> {
    body?.get("choices")?;
    Some("the upstream said finish_reason `error` and no more".to_owned())
}

/// A string, or a number as one: codes come as both.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(_) | Value::Object(_) => Some(value.to_string()),
        Value::Null | Value::Bool(_) => None,
    }
}

/// A status that is said as a code, where there is no HTTP status to go by.
fn spoken_status(error: Option<&Value>) -> Option<u16> {
    let said = ["code", "status", "status_code"]
        .iter()
        .filter_map(|name| error?.get(name))
        .find_map(Value::as_u64)?;
    u16::try_from(said).ok().filter(|status| (400..600).contains(status))
}

fn kind(word: Option<&str>, code: Option<&str>, status: Option<u16>, message: &str) -> ErrorKind {
    let exact = code.and_then(by_code).or_else(|| word.and_then(by_code)).or_else(|| word.and_then(by_type));
    let general = || status.map_or(ErrorKind::Server, ErrorKind::from_status);
    apology::refine(exact.unwrap_or_else(general), message)
}

/// Codes that say more than a status.
fn by_code(code: &str) -> Option<ErrorKind> {
    Some(match code {
        "context_length_exceeded" | "string_above_max_length" => ErrorKind::ContextLength,
        "insufficient_quota" | "billing_hard_limit_reached" | "billing_not_active" => ErrorKind::Quota,
        "rate_limit_exceeded" => ErrorKind::RateLimited,
        "invalid_api_key" | "invalid_issuer" => ErrorKind::Authentication,
        "model_not_found" => ErrorKind::NotFound,
        "content_policy_violation" | "content_filter" | "invalid_prompt" => ErrorKind::Refused,
        "request_too_large" => ErrorKind::TooLarge,
        "missing_scope" | "unsupported_country_region_territory" => ErrorKind::Permission,
        "service_unavailable" | "slow_down" | "server_is_overloaded" | "engine_overloaded" => {
            ErrorKind::Overloaded
        }
        "timeout" | "request_timeout" => ErrorKind::Timeout,
        _ => return None,
    })
}

/// Types are vague here; only those that no status contradicts count.
fn by_type(word: &str) -> Option<ErrorKind> {
    Some(match word {
        "authentication_error" => ErrorKind::Authentication,
        "permission_error" => ErrorKind::Permission,
        "not_found_error" | "NotFoundError" => ErrorKind::NotFound,
        "rate_limit_error" | "tokens" | "requests" => ErrorKind::RateLimited,
        "overloaded_error" | "service_unavailable_error" | "ServiceUnavailable" => ErrorKind::Overloaded,
        "BadRequestError" => ErrorKind::InvalidRequest,
        _ => return None,
    })
}

/// Type and code as the API itself says them, so that its libraries react as they should.
fn words(kind: ErrorKind) -> (&'static str, Option<&'static str>) {
    match kind {
        ErrorKind::InvalidRequest | ErrorKind::Conflict => ("invalid_request_error", None),
        ErrorKind::Authentication => ("invalid_request_error", Some("invalid_api_key")),
        ErrorKind::Permission => ("invalid_request_error", Some("permission_denied")),
        ErrorKind::NotFound => ("invalid_request_error", Some("model_not_found")),
        ErrorKind::TooLarge => ("invalid_request_error", Some("request_too_large")),
        ErrorKind::ContextLength => ("invalid_request_error", Some("context_length_exceeded")),
        ErrorKind::Refused => ("invalid_request_error", Some("content_policy_violation")),
        ErrorKind::RateLimited => ("requests", Some("rate_limit_exceeded")),
        ErrorKind::Quota => ("insufficient_quota", Some("insufficient_quota")),
        ErrorKind::Overloaded => ("server_error", Some("service_unavailable")),
        ErrorKind::Timeout => ("server_error", Some("timeout")),
        ErrorKind::Server => ("server_error", None),
    }
}

/// Writes an error: unmodified if it was said in this protocol by an `error` field.
pub(super) fn write(error: &ApiError) -> HttpReply {
    let own = matches!(&error.said, Some((origin, _)) if *origin == ID);
    let status = if own { error.status } else { error.kind.status() };
    let mut reply = HttpReply::json(status, value(error).to_string().into_bytes());
    apology::say_retry_after(error, &mut reply);
    reply
}

/// The error as a frame of a stream. Clients know it by its `error` field alone, so what was said by an event's name
/// is said anew.
pub(super) fn stream_value(error: &ApiError) -> Value {
    let value = value(error);
    if says_error(&value) { value } else { self::value(&ApiError { said: None, ..error.clone() }) }
}

/// The error as JSON.
pub(super) fn value(error: &ApiError) -> Value {
    match &error.said {
        Some((origin, body)) if *origin == ID => {
            let mut body = body.clone();
            // An answer whose choice says `error` and no more looks to clients like any other that ended.
            if body.get("choices").is_some()
                && !says_error(&body)
                && let Some(fields) = body.as_object_mut()
            {
                fields.insert("error".to_owned(), said_anew(error, error.code.as_deref()));
            }
            body
        }
        // Another protocol's code would mean nothing here; one of our own making does.
        said => json!({"error": said_anew(error, error.code.as_deref().filter(|_| said.is_none()))}),
    }
}

fn says_error(body: &Value) -> bool {
    body.get("error").is_some_and(|error| is_said(&error.to_string()))
}

fn said_anew(error: &ApiError, own: Option<&str>) -> Value {
    let (word, code) = words(error.kind);
    json!({"message": error.message, "type": word, "param": error.param, "code": own.or(code)})
}
