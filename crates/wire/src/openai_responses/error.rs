//! Errors, both ways: in HTTP answers, inside answers, and in mid-stream.

use std::time::Duration;

use rail_model::{ApiError, ErrorKind};
use serde_json::{Value, json};

use super::ID;
use crate::apology;
use crate::protocol::HttpReply;

/// Reads an error answer, whatever its body is.
pub(super) fn read(reply: &HttpReply) -> ApiError {
    match serde_json::from_slice::<Value>(&reply.body) {
        Ok(body) => from_json(body, reply),
        Err(_) => {
            let message = apology::excerpt(reply);
            let kind = apology::refine(ErrorKind::from_status(reply.status), &message);
            let retry_after = apology::retry_after(reply, &message);
            let status = if reply.status >= 400 { reply.status } else { kind.status() };
            ApiError { status, retry_after, ..ApiError::new(kind, message) }
        }
    }
}

/// Reads an error that came inside an answer or a stream.
pub(super) fn read_said(said: Value) -> ApiError {
    from_json(said, &HttpReply::default())
}

fn from_json(said: Value, reply: &HttpReply) -> ApiError {
    let error = innermost(&said);
    let text = |key: &str| error.and_then(|error| error.get(key)).and_then(Value::as_str);
    let plain = error.and_then(Value::as_str);
    let message = text("message").or(plain).map_or_else(|| excerpt(&said, reply), str::to_owned);
    let code = error.and_then(|error| error.get("code")).and_then(|code| match code {
        Value::String(code) => Some(code.clone()),
        Value::Number(code) => Some(code.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    });
    let kind = kind(code.as_deref(), text("type"), reply.status, &message);
    let status = if reply.status >= 400 { reply.status } else { kind.status() };
    ApiError {
        status,
        kind,
        param: text("param").map(str::to_owned),
        retry_after: apology::retry_after(reply, &message),
        said: error.is_some().then(|| (ID, said.clone())),
        code,
        message,
    }
}

/// The error object: beside everything else, inside a failed response, or the event itself.
fn innermost(said: &Value) -> Option<&Value> {
    let found =
        said.get("error").or_else(|| said.pointer("/response/error")).filter(|error| !error.is_null());
    found.or_else(|| (said.get("type").and_then(Value::as_str) == Some("error")).then_some(said))
}

fn excerpt(said: &Value, reply: &HttpReply) -> String {
    if reply.body.is_empty() && !said.is_null() {
        return "the upstream failed without saying why".to_owned();
    }
    apology::excerpt(reply)
}

fn kind(code: Option<&str>, word: Option<&str>, status: u16, message: &str) -> ErrorKind {
    let known = [code, word].into_iter().flatten().find_map(|word| {
        Some(match word {
            "context_length_exceeded" => ErrorKind::ContextLength,
            "insufficient_quota" | "usage_not_included" | "billing_hard_limit_reached" => ErrorKind::Quota,
            "rate_limit_exceeded" | "too_many_requests" | "rate_limit_error" => ErrorKind::RateLimited,
            "server_is_overloaded" | "slow_down" | "overloaded_error" => ErrorKind::Overloaded,
            "invalid_prompt"
            | "content_policy_violation"
            | "content_filter"
            | "misalignment_policy_violation"
            | "image_content_policy_violation"
            | "bio_policy" => ErrorKind::Refused,
            "model_not_found" => ErrorKind::NotFound,
            "invalid_api_key" | "authentication_error" => ErrorKind::Authentication,
            "vector_store_timeout" => ErrorKind::Timeout,
            "server_error" | "internal_error" => ErrorKind::Server,
            word if word.starts_with("invalid_image") || word.starts_with("image_") => {
                ErrorKind::InvalidRequest
            }
            _ => return None,
        })
    });
    let by_status = || match (status, word) {
        (0, Some("invalid_request_error")) => ErrorKind::InvalidRequest,
        (0, _) => ErrorKind::Server,
        (status, _) => ErrorKind::from_status(status),
    };
    apology::refine(known.unwrap_or_else(by_status), message)
}

/// Writes an error answer: unmodified if it was said so in this protocol.
pub(super) fn write(error: &ApiError) -> HttpReply {
    let own = error.said.as_ref().filter(|(origin, _)| *origin == ID).map(|(_, said)| said);
    let body = own.filter(|said| said.get("error").is_some() && !is_of_answer(said));
    let status = if own.is_some() { error.status } else { error.kind.status() };
    let body = body.cloned().unwrap_or_else(|| {
        let code = error.code.as_deref().filter(|_| own.is_some()).or(code(error.kind));
        let (message, param) = (message(error), &error.param);
        json!({"error": {"message": message, "type": word(error.kind), "param": param, "code": code}})
    });
    let mut reply = HttpReply::json(status, body.to_string().into_bytes());
    apology::say_retry_after(error, &mut reply);
    reply
}

/// Whether the error was said as an answer or an event, which is no body of an HTTP error.
fn is_of_answer(said: &Value) -> bool {
    said.get("object").is_some() || said.get("type").is_some()
}

fn word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidRequest
        | ErrorKind::Authentication
        | ErrorKind::Permission
        | ErrorKind::NotFound
        | ErrorKind::Conflict
        | ErrorKind::TooLarge
        | ErrorKind::ContextLength
        | ErrorKind::Refused => "invalid_request_error",
        ErrorKind::RateLimited => "rate_limit_error",
        ErrorKind::Quota => "insufficient_quota",
        ErrorKind::Overloaded => "service_unavailable_error",
        ErrorKind::Timeout | ErrorKind::Server => "server_error",
    }
}

fn code(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::Authentication => Some("invalid_api_key"),
        ErrorKind::NotFound => Some("model_not_found"),
        ErrorKind::ContextLength => Some("context_length_exceeded"),
        ErrorKind::Refused => Some("invalid_prompt"),
        ErrorKind::RateLimited => Some("rate_limit_exceeded"),
        ErrorKind::Quota => Some("insufficient_quota"),
        ErrorKind::Overloaded => Some("server_is_overloaded"),
        ErrorKind::Timeout | ErrorKind::Server => Some("server_error"),
        ErrorKind::InvalidRequest | ErrorKind::Permission | ErrorKind::Conflict | ErrorKind::TooLarge => None,
    }
}

/// The code of `response.failed`: Codex decides by it alone whether to wait, to ask again or to give up.
fn failed_code(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ContextLength => "context_length_exceeded",
        ErrorKind::Quota => "insufficient_quota",
        // An overload passes, but Codex gives up at the API's own word for it and waits only for this one.
        ErrorKind::RateLimited | ErrorKind::Overloaded => "rate_limit_exceeded",
        ErrorKind::InvalidRequest
        | ErrorKind::TooLarge
        | ErrorKind::Refused
        | ErrorKind::Authentication
        | ErrorKind::Permission
        | ErrorKind::NotFound => "invalid_prompt",
        ErrorKind::Conflict | ErrorKind::Timeout | ErrorKind::Server => "server_error",
    }
}

/// The `error` of a failed response.
pub(super) fn failed(error: &ApiError) -> Value {
    let own = error.said.as_ref().filter(|(origin, _)| *origin == ID).and_then(|(_, said)| innermost(said));
    match own.filter(|own| {
        own.get("code").is_some_and(Value::is_string) && own.get("type") != Some(&json!("error"))
    }) {
        Some(own) => own.clone(),
        None => {
            let waits = error.kind == ErrorKind::Overloaded && error.retry_after.is_none();
            let retry_after = if waits { Some(OVERLOAD_WAIT) } else { error.retry_after };
            let error = ApiError { retry_after, ..error.clone() };
            json!({"code": failed_code(error.kind), "message": message(&error)})
        }
    }
}

/// How long a client is asked to wait for an overload to pass when the upstream did not say.
const OVERLOAD_WAIT: Duration = Duration::from_secs(5);

/// The message, with the words by which clients learn how long to wait.
fn message(error: &ApiError) -> String {
    match error.retry_after {
        Some(delay)
            if matches!(error.kind, ErrorKind::RateLimited | ErrorKind::Overloaded)
                && apology::spoken_delay(&error.message).is_none() =>
        {
            format!("{} Please try again in {:.3}s.", error.message, delay.as_secs_f64())
        }
        Some(_) | None => error.message.clone(),
    }
}
