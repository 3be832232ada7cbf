//! What errors of all protocols have in common: finding the message, when to try again, and what it is really about.

use std::time::Duration;

use rail_model::{ApiError, ErrorKind};

use crate::protocol::HttpReply;

/// A message for an error body that has none: what was there instead, short, on one line.
pub(crate) fn excerpt(reply: &HttpReply) -> String {
    let text = String::from_utf8_lossy(reply.body.get(..2000).unwrap_or(&reply.body));
    let text = without_tags(&text);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(200).collect();
    match (short.is_empty(), reply.status) {
        (true, 0) => "the upstream sent an error without a message".to_owned(),
        (true, status) => format!("HTTP {status} with an empty body"),
        (false, 0) => short,
        (false, status) => format!("HTTP {status}: {short}"),
    }
}

fn without_tags(text: &str) -> String {
    if !text.trim_start().starts_with('<') {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut inside = false;
    for char in text.chars() {
        match char {
            '<' => inside = true,
            '>' => {
                inside = false;
                out.push(' ');
            }
            _ if !inside => out.push(char),
            _ => {}
        }
    }
    out
}

/// When to try again: the header in seconds or milliseconds, or the words "try again in 3.2s", "retry in 12s".
pub(crate) fn retry_after(reply: &HttpReply, message: &str) -> Option<Duration> {
    let number = |name: &str| reply.header(name).and_then(|value| value.trim().parse::<f64>().ok());
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"));
    seconds.or_else(|| spoken_delay(message)).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

/// The delay in "…try again in 1m3.2s", "…retry in 250ms".
pub(crate) fn spoken_delay(message: &str) -> Option<f64> {
    let lower = message.to_ascii_lowercase();
    let start = ["try again in ", "retry in ", "retry after "]
        .iter()
        .find_map(|words| lower.find(words).map(|at| at + words.len()))?;
    let mut rest = lower.get(start..)?;
    let mut total = None;
    while let Some(digits) = rest.find(|char: char| !char.is_ascii_digit() && char != '.') {
        let Ok(value) = rest.get(..digits)?.trim_end_matches('.').parse::<f64>() else { break };
        let tail = rest.get(digits..)?.trim_start();
        let (unit, scale) = ["ms", "s", "m", "h", "d"]
            .iter()
            .zip([0.001, 1.0, 60.0, 3600.0, 86_400.0])
            .find(|(unit, _)| tail.starts_with(**unit))?;
        total = Some(total.unwrap_or(0.0) + value * scale);
        rest = tail.get(unit.len()..)?;
    }
    total
}

/// Says when to try again, in whole seconds rounded up, as every client reads it.
pub(crate) fn say_retry_after(error: &ApiError, reply: &mut HttpReply) {
    if let Some(delay) = error.retry_after {
        let seconds = delay.as_secs() + u64::from(delay.subsec_nanos() > 0);
        reply.headers.push(("retry-after".to_owned(), seconds.to_string()));
    }
}

/// A general kind made more exact by the provider's wording.
pub(crate) fn refine(kind: ErrorKind, message: &str) -> ErrorKind {
    let lower = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| lower.contains(words));
    match kind {
        ErrorKind::InvalidRequest | ErrorKind::TooLarge | ErrorKind::Server if says(OVERFLOW) => {
            ErrorKind::ContextLength
        }
        ErrorKind::InvalidRequest | ErrorKind::RateLimited | ErrorKind::Permission if says(NO_QUOTA) => {
            ErrorKind::Quota
        }
        ErrorKind::InvalidRequest if says(REFUSED) => ErrorKind::Refused,
        ErrorKind::InvalidRequest if says(NO_MODEL) => ErrorKind::NotFound,
        ErrorKind::InvalidRequest if says(BAD_KEY) => ErrorKind::Authentication,
        other => other,
    }
}

// Lower-case wordings of context overflow as the providers and local servers write it.
const OVERFLOW: &[&str] = &[
    "prompt is too long",
    "context length",
    "context_length_exceeded",
    "context window",
    "maximum context",
    "exceeds the maximum number of tokens",
    "input token count",
    "exceeds the available context size",
    "too many tokens",
    "reduce the length of the messages",
    "range of input length should be",
];
const NO_QUOTA: &[&str] = &[
    "insufficient_quota",
    "exceeded your current quota",
    "credit balance is too low",
    "insufficient balance",
    "arrearage",
    "billing details",
];
const REFUSED: &[&str] = &[
    "content policy",
    "content management policy",
    "content_filter",
    "safety system",
    "output blocked by content filtering",
    "data_inspection_failed",
];
const NO_MODEL: &[&str] = &["model not found", "model_not_found", "unknown model", "not a valid model"];
const BAD_KEY: &[&str] = &["api key not valid", "invalid api key", "incorrect api key"];

/// Claude Code compacts its history only when an overflow is said in Anthropic's words.
pub(crate) fn overflow_for_anthropic(error: &ApiError) -> String {
    let message = &error.message;
    if error.kind == ErrorKind::ContextLength && !message.to_ascii_lowercase().contains("prompt is too long")
    {
        format!("prompt is too long: {message}")
    } else {
        message.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_read_from_words() {
        let table = [
            ("Please try again in 3.2s.", Some(3.2)),
            ("try again in 1m3s", Some(63.0)),
            ("Please retry in 250ms", Some(0.25)),
            ("Please retry in 12.5s. More", Some(12.5)),
            ("try again in a while", None),
            ("nothing", None),
            ("retry in 5", None),
        ];
        for (message, expected) in table {
            let got = spoken_delay(message);
            assert_eq!(got.map(|s| (s * 1000.0).round()), expected.map(|s: f64| s * 1000.0), "{message}");
        }
    }

    #[test]
    fn pages_become_one_short_line() {
        let page =
            b"<html><head><title>502 Bad Gateway</title></head>\n<body><h1>Bad</h1></body></html>".to_vec();
        let reply = HttpReply { status: 502, headers: Vec::new(), body: page };
        assert_eq!(excerpt(&reply), "HTTP 502: 502 Bad Gateway Bad");
        assert_eq!(
            excerpt(&HttpReply { status: 503, ..HttpReply::default() }),
            "HTTP 503 with an empty body"
        );
    }
}
