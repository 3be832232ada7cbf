//! Output limits: what was asked for, and the figure that a refusal names.

use serde_json::Value;

use super::{Fix, Remedy};

/// The fields of all protocols that limit the output.
const FIELDS: &[&str] =
    &["/max_tokens", "/max_completion_tokens", "/max_output_tokens", "/generationConfig/maxOutputTokens"];
/// How refusals name them.
const NAMES: &[&str] = &[
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "maxoutputtokens",
    "max tokens",
    "completion tokens",
    "output tokens",
];
/// Words before the most that is allowed.
const MOST: &[&str] = &[
    "at most ",
    "<= ",
    "less than or equal to ",
    "no more than ",
    "maximum value is ",
    "maximum is ",
    "maximum of ",
    "limit is ",
    "limit of ",
    "exceed ",
    "exceeds ",
    "> ",
];
/// Less room than this for an answer is no room.
const LEAST: u64 = 256;

/// A limit that is too high for the target, or for what is left of its window after this request.
pub(super) fn too_high(lower: &str, sent: &Value) -> Option<Remedy> {
    let asked = FIELDS.iter().find_map(|field| sent.pointer(field)).and_then(Value::as_u64)?;
    if let Some(room) = room(lower) {
        let fits = room >= LEAST && room < asked;
        return fits.then_some(Remedy { fix: Fix::MaxOutput { most: room }, lasting: false });
    }
    let named = NAMES.iter().any(|name| lower.contains(name));
    let most = named.then(|| most(lower)).flatten().filter(|most| (16..asked).contains(most))?;
    Some(Remedy { fix: Fix::MaxOutput { most }, lasting: true })
}

/// What a window leaves for the answer, where the refusal says how long window and input are.
fn room(lower: &str) -> Option<u64> {
    // "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"
    if let Some((_, sum)) = lower.split_once("exceed context limit: ") {
        let numbers = numbers(sum);
        return numbers.get(2)?.checked_sub(*numbers.first()?);
    }
    // "`inputs` tokens + `max_new_tokens` must be <= 32769. Given: 800 `inputs` tokens and 32000 `max_new_tokens`"
    if let Some((_, rest)) = lower.split_once("`max_new_tokens` must be <= ") {
        let numbers = numbers(rest);
        return numbers.first()?.checked_sub(*numbers.get(1)?);
    }
    let window = after(lower, "maximum context length is ")?;
    // "you requested 40000 tokens (8000 in the messages, 32000 in the completion)"
    if let (Some(all), Some(output)) = (after(lower, "you requested "), before(lower, " in the completion")) {
        return window.checked_sub(all.checked_sub(output)?);
    }
    // "your request has 8000 input tokens", "your prompt contains at least 62466 input tokens"
    window.checked_sub(before(lower, " input tokens")?)
}

/// The most that a refusal says it would take.
fn most(lower: &str) -> Option<u64> {
    if let Some((_, range)) = lower.split_once("range") {
        // "[1, 8192]", "from 1 (inclusive) to 65537 (exclusive)"
        let most = numbers(range).get(1).copied()?;
        return Some(if range.contains("exclusive)") { most - 1 } else { most });
    }
    let between = || lower.split_once("between ").and_then(|(_, rest)| numbers(rest).get(1).copied());
    MOST.iter().find_map(|words| after(lower, words)).or_else(between)
}

/// The number right after these words.
fn after(text: &str, words: &str) -> Option<u64> {
    text.match_indices(words).find_map(|(at, _)| {
        let rest = text.get(at + words.len()..)?.trim_start_matches(['`', '\'', '"']);
        rest.starts_with(|c: char| c.is_ascii_digit()).then(|| numbers(rest).first().copied()).flatten()
    })
}

/// The number right before these words.
fn before(text: &str, words: &str) -> Option<u64> {
    let (head, _) = text.split_once(words)?;
    head.ends_with(|c: char| c.is_ascii_digit()).then(|| numbers(head).last().copied()).flatten()
}

/// All whole numbers, `1,024` read as one.
fn numbers(text: &str) -> Vec<u64> {
    let mut numbers = Vec::new();
    let mut digits = String::new();
    let mut chars = text.chars().chain([' ']).peekable();
    while let Some(c) = chars.next() {
        if c.is_ascii_digit() {
            digits.push(c);
        } else if !(matches!(c, ',' | '_')
            && !digits.is_empty()
            && chars.peek().is_some_and(char::is_ascii_digit))
        {
            numbers.extend(std::mem::take(&mut digits).parse::<u64>());
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        assert_eq!(numbers("[1, 8192] 1,024 a3b 99999999999999999999999 7"), [1, 8192, 1024, 3, 7]);
        assert_eq!(numbers(""), [0_u64; 0]);
    }
}
