//! What goes wrong, and which of its own errors each SDK must make of it.

use std::time::Duration;

use rail_model::{ApiError, ErrorKind};
use serde_json::json;

use super::{Expected, Language, Raised, Scenario};
use crate::{Turn, text};

const MESSAGE: &str = "for the judges";

/// Errors before and in an answer, as the client of a protocol must see them, whoever is behind it.
pub fn scenarios(sdk: &str, language: Language) -> Vec<Scenario> {
    let mut all = Vec::new();
    for (word, kind) in [
        ("invalid request", ErrorKind::InvalidRequest),
        ("bad key", ErrorKind::Authentication),
        ("forbidden", ErrorKind::Permission),
        ("no such model", ErrorKind::NotFound),
        ("rate limit", ErrorKind::RateLimited),
        ("overloaded", ErrorKind::Overloaded),
        ("server", ErrorKind::Server),
    ] {
        let limited = kind == ErrorKind::RateLimited;
        let retry_after = limited.then_some(Duration::from_secs(7));
        let error = ApiError { retry_after, ..ApiError::new(kind, MESSAGE) };
        for mode in ["whole", "stream", "helper"] {
            // Google's Node SDK shows no headers.
            let shown = limited && (sdk, language) != ("gemini", Language::Node);
            let raised = Raised {
                class: Some(class(sdk, language, kind)),
                ancestor: Some(base(sdk, language)),
                status: Some(status(sdk, kind)),
                says: MESSAGE,
                retry_after: shown.then_some("7"),
            };
            all.push(failing(format!("{word}, {mode}"), mode, Turn::error(error.clone()), raised));
        }
    }
    let half = || vec![text("Half of an ans")];
    for mode in ["stream", "helper"] {
        let busy = ApiError::new(ErrorKind::Overloaded, MESSAGE);
        let (name, turns) = (format!("broken, {mode}"), vec![Turn::breaks(half(), busy)]);
        let expected = in_stream(sdk, language, mode);
        all.push(Scenario { name, mode, ask: "plain", turns, expected, sent_back: None });
        all.push(failing(format!("cut, {mode}"), mode, Turn::cut(half()), Raised::default()));
    }
    all.push(failing("cut, whole".to_owned(), "whole", Turn::cut(half()), Raised::default()));
    all
}

fn failing(name: String, mode: &'static str, turn: Turn, raised: Raised) -> Scenario {
    Scenario {
        name,
        mode,
        ask: "plain",
        turns: vec![turn],
        expected: Expected::Raised(raised),
        sent_back: None,
    }
}

/// Anthropic has a status of its own for overload.
fn status(sdk: &str, kind: ErrorKind) -> u16 {
    match (sdk, kind) {
        ("anthropic", ErrorKind::Overloaded) => 529,
        (_, kind) => kind.status(),
    }
}

/// The class that an SDK has for an error of this kind.
pub fn class(sdk: &str, language: Language, kind: ErrorKind) -> &'static str {
    match (sdk, language, kind) {
        ("gemini", Language::Node, _) => "ApiError",
        ("gemini", Language::Python, kind) if kind.status() < 500 => "ClientError",
        ("gemini", Language::Python, _) => "ServerError",
        ("anthropic", _, ErrorKind::Overloaded) => "OverloadedError",
        (_, _, ErrorKind::InvalidRequest) => "BadRequestError",
        (_, _, ErrorKind::Authentication) => "AuthenticationError",
        (_, _, ErrorKind::Permission) => "PermissionDeniedError",
        (_, _, ErrorKind::NotFound) => "NotFoundError",
        (_, _, ErrorKind::RateLimited) => "RateLimitError",
        (_, _, ErrorKind::Overloaded | ErrorKind::Server) => "InternalServerError",
        (_, _, other) => panic!("{other:?} is not scripted here"),
    }
}

fn base(sdk: &str, language: Language) -> &'static str {
    match (sdk, language) {
        ("gemini", Language::Node) => "ApiError",
        _ => "APIError",
    }
}

/// What becomes of an error in mid-stream.
fn in_stream(sdk: &str, language: Language, mode: &str) -> Expected {
    let ancestor = match (sdk, language, mode) {
        // The SDK's accumulation only misses the end that it waits for.
        ("openai-responses", Language::Python, "helper") => {
            return Expected::Raised(Raised { says: "response.completed", ..Raised::default() });
        }
        // A failed answer is an answer, too.
        ("openai-responses", _, _) => {
            // An overload in mid-stream asks the client to wait: Codex gives up at the API's own word for it.
            let message = format!("{MESSAGE} Please try again in 5.000s.");
            let error = json!({"code": "rate_limit_exceeded", "message": message});
            return Expected::Saw(json!({"stop": "failed", "error": error}));
        }
        ("anthropic", Language::Python, _) => "APIStatusError",
        _ => base(sdk, language),
    };
    Expected::Raised(Raised { ancestor: Some(ancestor), says: MESSAGE, ..Raised::default() })
}
