//! Token counts, stop reasons and log probabilities, both ways.

use rail_model::{Extras, Logprob, Map, Stop, Usage};
use serde_json::{Number, Value};

use super::types::{InputDetails, LogprobEntry, OutputDetails, Tokens};
use super::{CHUNK, ID, object_at};
use crate::shape::Count;
use crate::told::Told;

/// Usage in disjoint buckets. Cached tokens are part of the prompt here, reasoning is part of the completion.
pub(super) fn read(mut tokens: Tokens) -> Usage {
    let mut input = tokens.prompt_tokens_details.take();
    let mut output = tokens.completion_tokens_details.take();
    let (given_in, given_out) = (input.is_some(), output.is_some());
    let details = input.as_mut().and_then(|details| details.cached_tokens.take());
    // DeepSeek and Moonshot have their own names for it.
    let cached = details.or(tokens.prompt_cache_hit_tokens).or(tokens.cached_tokens).map(|count| count.0);
    let written = input.as_mut().and_then(|details| details.cache_write_tokens.take()).map(|count| count.0);
    let reasoning = output.as_mut().and_then(|details| details.reasoning_tokens.take()).map(|count| count.0);
    let took_out = reasoning.is_some();
    let prompt = tokens.prompt_tokens.take().map(|count| count.0);
    let completion = tokens.completion_tokens.take().map(|count| count.0);
    let total = tokens.total_tokens.take().map(|count| count.0);
    // xAI counts reasoning beside the completion, not in it; its own total gives it away.
    let beside = match (prompt, completion, reasoning, total) {
        (Some(prompt), Some(completion), Some(reasoning), Some(total)) => {
            reasoning > 0 && total == prompt.saturating_add(completion).saturating_add(reasoning)
        }
        (_, _, _, _) => false,
    };
    let subtract = |all: u64, some: Option<u64>| all.saturating_sub(some.unwrap_or(0));
    let mut usage = Usage {
        input: prompt.map(|prompt| subtract(subtract(prompt, cached), written)),
        cache_read: cached,
        cache_write: written,
        output: completion
            .map(|completion| if beside { completion } else { subtract(completion, reasoning) }),
        reasoning,
        extras: Extras::NONE,
    };
    let mut left = tokens.leftovers();
    keep_details(
        &mut left,
        "prompt_tokens_details",
        given_in,
        details.is_some() || written.is_some(),
        input.map(InputDetails::leftovers),
    );
    keep_details(
        &mut left,
        "completion_tokens_details",
        given_out,
        took_out,
        output.map(OutputDetails::leftovers),
    );
    // Numbers that our own arithmetic would not give back are kept as they were said.
    let said =
        [("prompt_tokens", prompt, usage.all_input()), ("completion_tokens", completion, usage.all_output())];
    for (key, said, ours) in said.into_iter().chain([("total_tokens", total, usage.total())]) {
        if let Some(said) = said.filter(|said| *said != ours) {
            left.insert(key.to_owned(), Value::from(said));
        }
    }
    usage.extras = Extras::rest(ID, left);
    usage
}

fn keep_details(left: &mut Map, key: &str, given: bool, taken: bool, details: Option<Map>) {
    let details = details.unwrap_or_default();
    if given && !(taken && details.is_empty()) {
        left.insert(key.to_owned(), Value::Object(details));
    }
}

/// Usage as the protocol counts.
pub(super) fn write(usage: &Usage) -> Tokens {
    let details = InputDetails {
        cached_tokens: usage.cache_read.map(Count),
        cache_write_tokens: usage.cache_write.map(Count),
        rest: None,
    };
    let reasoning = OutputDetails { reasoning_tokens: usage.reasoning.map(Count), rest: None };
    let kept = usage.extras.owned_by(ID);
    let said = |key: &str| kept.is_some_and(|kept| kept.contains_key(key));
    let ours = |key: &str, count: u64| (!said(key)).then_some(Count(count));
    let mut tokens = Tokens {
        prompt_tokens: ours("prompt_tokens", usage.all_input()),
        completion_tokens: ours("completion_tokens", usage.all_output()),
        total_tokens: ours("total_tokens", usage.total()),
        ..Tokens::default()
    };
    if usage.cache_read.is_some() || usage.cache_write.is_some() {
        tokens.prompt_tokens_details =
            Some(details.with_rest(object_at(&usage.extras, "prompt_tokens_details")));
    }
    if usage.reasoning.is_some() {
        tokens.completion_tokens_details =
            Some(reasoning.with_rest(object_at(&usage.extras, "completion_tokens_details")));
    }
    let mut tokens = tokens.with_rest(kept);
    if let Some(rest) = &mut tokens.rest {
        rest.shift_remove(CHUNK);
    }
    tokens
}

/// Why it stopped. A word that our own would not give back is kept for its own protocol.
pub(super) fn read_stop(
    word: Option<&str>,
    sequence: Option<&Value>,
    called: bool,
    extras: &mut Extras,
) -> Stop {
    let stop = match word {
        Some("stop") | None if called => Stop::ToolUse,
        Some("stop") => match sequence.and_then(Value::as_str) {
            Some(sequence) => Stop::StopSequence(Some(sequence.to_owned())),
            None => Stop::EndTurn,
        },
        Some("tool_calls" | "function_call") if called => Stop::ToolUse,
        Some("tool_calls" | "function_call") | None => Stop::EndTurn,
        Some("length") => Stop::MaxTokens,
        Some("content_filter") => Stop::Refusal,
        Some(other) => Stop::Other(other.to_owned()),
    };
    if word != Some(usual_word(&stop)) {
        extras.insert(ID, "finish_reason", word.map_or(Value::Null, Value::from));
    }
    stop
}

/// The protocol's word for a reason.
pub(super) fn usual_word(stop: &Stop) -> &'static str {
    match stop {
        Stop::EndTurn | Stop::StopSequence(_) | Stop::Pause | Stop::MalformedCall | Stop::Other(_) => "stop",
        Stop::MaxTokens | Stop::ContextFull => "length",
        Stop::ToolUse => "tool_calls",
        Stop::Refusal => "content_filter",
    }
}

/// The word for a client: as it was said in this protocol, or the usual one.
pub(super) fn stop_word<'a>(
    stop: &'a Stop,
    end: &'a Extras,
    called: bool,
    told: &mut Told,
) -> Option<&'a str> {
    if let Some(said) = end.get(ID, "finish_reason") {
        return said.as_str();
    }
    match stop {
        Stop::MalformedCall | Stop::Other(_) if called => {
            told.once("finish_reason", "openai-chat has no such reason; said as tool_calls");
            return Some("tool_calls");
        }
        Stop::Pause | Stop::MalformedCall | Stop::Other(_) => {
            told.once("finish_reason", "openai-chat has no such reason; said as stop");
        }
        Stop::StopSequence(Some(_)) if end.origin() != Some(ID) => {
            told.once("stop_sequence", "openai-chat does not say which; left out");
        }
        Stop::EndTurn if called => return Some("tool_calls"),
        Stop::ToolUse if !called => return Some("stop"),
        Stop::EndTurn
        | Stop::MaxTokens
        | Stop::StopSequence(_)
        | Stop::ToolUse
        | Stop::Refusal
        | Stop::ContextFull => {}
    }
    Some(usual_word(stop))
}

pub(super) fn read_logprobs(entries: Vec<LogprobEntry>) -> Vec<Logprob> {
    let read = |mut entry: LogprobEntry| Logprob {
        token: entry.token.take().unwrap_or_default(),
        logprob: entry.logprob.take().unwrap_or_else(|| Number::from(0)),
        bytes: entry.bytes.take(),
        top: entry.top_logprobs.take_if(|top| !top.is_empty()).map(read_logprobs).unwrap_or_default(),
        extras: Extras::rest(ID, entry.leftovers()),
    };
    entries.into_iter().map(read).collect()
}

pub(super) fn write_logprobs(logprobs: &[Logprob]) -> Vec<LogprobEntry> {
    written(logprobs, true)
}

fn written(logprobs: &[Logprob], outer: bool) -> Vec<LogprobEntry> {
    let write = |logprob: &Logprob| {
        let own = logprob.extras.origin() == Some(ID);
        let top = written(&logprob.top, false);
        let entry = LogprobEntry {
            token: Some(logprob.token.clone()),
            logprob: Some(logprob.logprob.clone()),
            bytes: logprob.bytes.clone(),
            // Clients demand the list, even an empty one, but the rivals in it have none.
            top_logprobs: (!top.is_empty() || (outer && !own)).then_some(top),
            rest: None,
        };
        let mut entry = entry.with_rest(logprob.extras.owned_by(ID));
        if entry.bytes.is_none() {
            entry.rest.get_or_insert_default().entry("bytes").or_insert(Value::Null);
        }
        entry
    };
    logprobs.iter().map(write).collect()
}
