//! Errors, both ways.

use rail_model::{ApiError, ErrorKind};
use serde_json::{Value, json};

use super::ID;
use crate::apology;
use crate::protocol::HttpReply;

/// Reads an error answer, whatever its body is.
pub(super) fn read(reply: &HttpReply) -> ApiError {
    let body = serde_json::from_slice::<Value>(&reply.body).ok();
    let error = body.as_ref().and_then(|body| body.get("error"));
    let word = error.and_then(|error| error.get("type")).and_then(Value::as_str);
    let message = error.and_then(|error| error.get("message")).and_then(Value::as_str);
    let code = error.and_then(|error| error.pointer("/details/error_code")).and_then(Value::as_str);
    let message = message.map_or_else(|| apology::excerpt(reply), str::to_owned);
    let kind = match code {
        // Said as a rate limit, but waiting does not help.
        Some("enforced_spend_limit_reached") => ErrorKind::Quota,
        Some(_) | None => kind(word, reply.status, &message),
    };
    let status = if reply.status >= 400 { reply.status } else { status(kind) };
    ApiError {
        status,
        kind,
        code: code.map(str::to_owned),
        param: None,
        retry_after: apology::retry_after(reply, &message),
        said: body.filter(|body| body.get("error").is_some()).map(|body| (ID, body)),
        message,
    }
}

fn kind(word: Option<&str>, status: u16, message: &str) -> ErrorKind {
    let kind = match word {
        Some("invalid_request_error") => ErrorKind::InvalidRequest,
        Some("authentication_error") => ErrorKind::Authentication,
        Some("billing_error") => ErrorKind::Quota,
        Some("permission_error") => ErrorKind::Permission,
        Some("not_found_error") => ErrorKind::NotFound,
        Some("conflict_error") => ErrorKind::Conflict,
        Some("request_too_large") => ErrorKind::TooLarge,
        Some("rate_limit_error") => ErrorKind::RateLimited,
        Some("timeout_error") => ErrorKind::Timeout,
        Some("overloaded_error") => ErrorKind::Overloaded,
        Some("api_error") => ErrorKind::Server,
        Some(_) | None => ErrorKind::from_status(status),
    };
    apology::refine(kind, message)
}

fn word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidRequest | ErrorKind::ContextLength | ErrorKind::Refused => "invalid_request_error",
        ErrorKind::Authentication => "authentication_error",
        ErrorKind::Permission => "permission_error",
        ErrorKind::NotFound => "not_found_error",
        ErrorKind::Conflict => "conflict_error",
        ErrorKind::TooLarge => "request_too_large",
        ErrorKind::RateLimited => "rate_limit_error",
        ErrorKind::Quota => "billing_error",
        ErrorKind::Overloaded => "overloaded_error",
        ErrorKind::Timeout => "timeout_error",
        ErrorKind::Server => "api_error",
    }
}

/// The statuses of this protocol: overload has one of its own.
fn status(kind: ErrorKind) -> u16 {
    match kind {
        ErrorKind::Overloaded => 529,
        ErrorKind::Quota => 402,
        other => other.status(),
    }
}

/// Writes an error: unmodified if it was said in this protocol.
pub(super) fn write(error: &ApiError) -> HttpReply {
    let own = matches!(&error.said, Some((origin, _)) if *origin == ID);
    let status = if own { error.status } else { status(error.kind) };
    let mut reply = HttpReply::json(status, value(error).to_string().into_bytes());
    apology::say_retry_after(error, &mut reply);
    reply
}

/// The error as JSON, the same before and in a stream.
pub(super) fn value(error: &ApiError) -> Value {
    match &error.said {
        Some((origin, body)) if *origin == ID => body.clone(),
        Some(_) | None => {
            let message = apology::overflow_for_anthropic(error);
            json!({"type": "error", "error": {"type": word(error.kind), "message": message}})
        }
    }
}
