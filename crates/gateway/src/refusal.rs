//! What a client is told when its key does not open the door, in words after which it does the right thing.

use std::time::Duration;

use rail_ledger::{Ending, Refusal};
use rail_model::{ApiError, ErrorKind};

/// When a ledger that does not answer is asked again.
const LEDGER_WAIT: Duration = Duration::from_secs(5);

/// A refusal as an error that any protocol can say. A spent budget is told as spent quota and not as a rate, so that clients
/// show it instead of trying again.
pub(crate) fn error(refusal: &Refusal) -> ApiError {
    let (kind, retry_after) = match refusal {
        Refusal::Unknown | Refusal::Revoked { .. } | Refusal::Expired { .. } => {
            (ErrorKind::Authentication, None)
        }
        Refusal::Model { .. } => (ErrorKind::Permission, None),
        Refusal::Rate { wait, .. } => (ErrorKind::RateLimited, Some(*wait)),
        Refusal::Budget { wait, .. } => (ErrorKind::Quota, Some(*wait)),
        Refusal::Ledger { .. } => (ErrorKind::Overloaded, Some(LEDGER_WAIT)),
    };
    ApiError { retry_after, ..ApiError::new(kind, refusal.to_string()) }
}

/// What a refusal makes of a request: a ledger that does not answer is no fault of the client's.
pub(crate) fn ending(refusal: &Refusal) -> Ending {
    match refusal {
        Refusal::Unknown
        | Refusal::Revoked { .. }
        | Refusal::Expired { .. }
        | Refusal::Model { .. }
        | Refusal::Rate { .. }
        | Refusal::Budget { .. } => Ending::Refused,
        Refusal::Ledger { .. } => Ending::Failed,
    }
}

#[cfg(test)]
mod tests {
    use rail_ledger::{Money, Period};
    use rail_wire::ALL;
    use serde_json::Value;

    use super::*;

    #[test]
    fn each_refusal_as_each_client_understands_it() {
        let name = || "ci".to_owned();
        let (model, allowed) = ("gpt-5".to_owned(), "qwen*".to_owned());
        let wait = Duration::from_secs(7200);
        let (amount, per) = (Money(5_000_000_000), Period::Day);
        let (left, expected) = (Money(0), Money(1));
        let budget = Refusal::Budget { name: name(), budget: amount, per, left, expected, wait };
        let rate = Refusal::Rate { name: name(), per_minute: 60, wait: Duration::from_millis(1500) };
        let ledger = Refusal::Ledger { problem: "disk full".to_owned() };
        let told: Vec<String> =
            [Refusal::Unknown, Refusal::Model { name: name(), model, allowed }, rate, budget, ledger]
                .iter()
                .flat_map(|refusal| ALL.iter().map(move |protocol| (refusal, protocol)))
                .map(|(refusal, protocol)| {
                    let reply = protocol.inbound.write_error(&error(refusal));
                    let body: Value = serde_json::from_slice(&reply.body).unwrap();
                    let word = ["code", "status", "type"]
                        .iter()
                        .filter_map(|key| body["error"].get(key)?.as_str())
                        .next();
                    let wait = reply.header("retry-after").unwrap_or("-");
                    format!("{} {} {} {wait}", protocol.id, reply.status, word.unwrap_or("-"))
                })
                .collect();
        insta::assert_snapshot!(told.join("\n"), @r#"
        anthropic 401 authentication_error -
        openai-chat 401 invalid_api_key -
        openai-responses 401 invalid_api_key -
        gemini 401 UNAUTHENTICATED -
        anthropic 403 permission_error -
        openai-chat 403 permission_denied -
        openai-responses 403 invalid_request_error -
        gemini 403 PERMISSION_DENIED -
        anthropic 429 rate_limit_error 2
        openai-chat 429 rate_limit_exceeded 2
        openai-responses 429 rate_limit_exceeded 2
        gemini 429 RESOURCE_EXHAUSTED 2
        anthropic 402 billing_error 7200
        openai-chat 429 insufficient_quota 7200
        openai-responses 429 insufficient_quota 7200
        gemini 429 RESOURCE_EXHAUSTED 7200
        anthropic 529 overloaded_error 5
        openai-chat 503 service_unavailable 5
        openai-responses 503 server_is_overloaded 5
        gemini 503 UNAVAILABLE 5
        "#);
    }
}
