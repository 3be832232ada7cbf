//! What answers are made of besides parts: the end, tokens, log probabilities, counts.

use rail_model::{Extras, Json, Logprob, Map, Stop, TokenCount, Usage};
use serde_json::Value;

use super::types::{Chosen, CountAnswer, Logprobs, Tokens, Top};
use super::{ID, NO_TOTAL, OWN, SAME_DETAILS};
use crate::error::{WireError, parse};
use crate::protocol::HttpReply;
use crate::shape::Count;

/// Reasons that mean a filter stepped in.
const REFUSALS: &[&str] = &[
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
];

/// Why the model stopped. `STOP` is said even when there are calls to run.
pub(super) fn stop(reason: &str, called: bool) -> Stop {
    match reason {
        "STOP" if called => Stop::ToolUse,
        "STOP" => Stop::EndTurn,
        "MAX_TOKENS" => Stop::MaxTokens,
        "MALFORMED_FUNCTION_CALL" => Stop::MalformedCall,
        refusal if REFUSALS.contains(&refusal) => Stop::Refusal,
        other => Stop::Other(other.to_owned()),
    }
}

/// The word for a reason; the exact one of this protocol stays in the extras.
pub(super) fn reason(stop: &Stop) -> &'static str {
    match stop {
        Stop::EndTurn | Stop::StopSequence(_) | Stop::ToolUse | Stop::Pause => "STOP",
        Stop::MaxTokens | Stop::ContextFull => "MAX_TOKENS",
        Stop::Refusal => "SAFETY",
        Stop::MalformedCall => "MALFORMED_FUNCTION_CALL",
        Stop::Other(_) => "OTHER",
    }
}

/// The fields of a report that are lists and words; in a stream they seldom change.
#[derive(Default, PartialEq)]
pub(super) struct Details([Option<Json>; 6]);

impl Details {
    fn take(tokens: &mut Tokens) -> Self {
        Self([
            tokens.prompt_details.take(),
            tokens.cache_details.take(),
            tokens.candidates_details.take(),
            tokens.tool_use_details.take(),
            tokens.traffic_type.take(),
            tokens.service_tier.take(),
        ])
    }

    fn put(&self, tokens: &mut Tokens) {
        let [prompt, cache, candidates, tool_use, traffic, tier] = self.0.clone();
        tokens.prompt_details = prompt;
        tokens.cache_details = cache;
        tokens.candidates_details = candidates;
        tokens.tool_use_details = tool_use;
        tokens.traffic_type = traffic;
        tokens.service_tier = tier;
    }
}

/// Tokens in disjoint buckets. `last` are the details of the report before: the same again are only marked.
pub(super) fn usage(mut tokens: Tokens, last: &mut Details) -> Usage {
    let mut marks = Extras::NONE;
    marks.mark(ID, OWN);
    let details = Details::take(&mut tokens);
    if details == *last && details != Details::default() {
        marks.mark(ID, SAME_DETAILS);
    } else {
        details.put(&mut tokens);
        *last = details;
    }
    let count = |count: &Option<Count>| count.map(|count| count.0);
    let (prompt, cached, tool_use) = (count(&tokens.prompt), count(&tokens.cached), count(&tokens.tool_use));
    let read = cached.unwrap_or(0);
    let mut usage = Usage {
        input: prompt.map(|prompt| prompt.saturating_sub(read).saturating_add(tool_use.unwrap_or(0))),
        cache_read: tokens.cached.take().map(|count| count.0),
        cache_write: None,
        output: tokens.candidates.take().map(|count| count.0),
        reasoning: tokens.thoughts.take().map(|count| count.0),
        extras: Extras::NONE,
    };
    if prompt.is_some_and(|prompt| prompt >= read) {
        tokens.prompt = None;
    }
    match tokens.total {
        None => marks.mark(ID, NO_TOTAL),
        Some(total) if total.0 == usage.total() => tokens.total = None,
        Some(_) => {}
    }
    usage.extras = Extras::rest(ID, tokens.leftovers());
    usage.extras.merge(marks);
    usage
}

/// Tokens as the API counts them: cached ones are part of the prompt, thoughts stand apart.
pub(super) fn tokens(usage: &Usage) -> Tokens {
    let own = usage.extras.origin() == Some(ID);
    let kept = usage.extras.owned_by(ID);
    let has = |key: &str| kept.is_some_and(|kept| kept.contains_key(key));
    let tool_use =
        kept.and_then(|kept| kept.get("toolUsePromptTokenCount")).and_then(Value::as_u64).unwrap_or(0);
    let told = usage.input.is_some() || (!own && (usage.cache_read.is_some() || usage.cache_write.is_some()));
    let prompt =
        (told && !has("promptTokenCount")).then(|| Count(usage.all_input().saturating_sub(tool_use)));
    let total = (!usage.extras.marked(ID, NO_TOTAL) && !has("totalTokenCount")).then(|| Count(usage.total()));
    Tokens {
        prompt,
        cached: usage.cache_read.filter(|count| own || *count > 0).map(Count),
        candidates: usage.output.map(Count),
        thoughts: usage.reasoning.filter(|count| own || *count > 0).map(Count),
        total,
        ..Tokens::default()
    }
    .with_rest(kept)
}

/// Log probabilities, and what is left over; the whole back when it is not of the usual form.
pub(super) fn logprobs(mut result: Logprobs) -> Result<(Vec<Logprob>, Map), Logprobs> {
    let regular = |chosen: &Chosen| chosen.token.is_some() && chosen.log_probability.is_some();
    let chosen = result.chosen.as_deref().unwrap_or_default();
    let tops = result.top.as_deref();
    let even = tops.is_none_or(|tops| {
        let some = tops.iter().any(|top| top.candidates.as_ref().is_some_and(|list| !list.is_empty()));
        some && tops.len() == chosen.len()
            && tops.iter().all(|top| {
                top.rest.is_none() && top.candidates.as_ref().is_some_and(|list| list.iter().all(regular))
            })
    });
    if chosen.is_empty() || !chosen.iter().all(regular) || !even {
        return Err(result);
    }
    let mut tops = result.top.take().unwrap_or_default().into_iter();
    let list = result.chosen.take().unwrap_or_default().into_iter().map(|chosen| {
        let top = tops.next().and_then(|top| top.candidates).unwrap_or_default();
        Logprob { top: top.into_iter().map(token).collect(), ..token(chosen) }
    });
    let list = list.collect();
    Ok((list, result.leftovers()))
}

fn token(mut chosen: Chosen) -> Logprob {
    let token = chosen.token.take().unwrap_or_default();
    let logprob = chosen.log_probability.take().unwrap_or_else(|| 0.into());
    // Not said here, but other protocols' clients demand them.
    let bytes = Some(Json::from(Value::from(token.as_bytes())));
    Logprob { token, logprob, bytes, top: Vec::new(), extras: Extras::rest(ID, chosen.leftovers()) }
}

/// Log probabilities as the API lays them out.
pub(super) fn logprobs_result(list: &[Logprob]) -> Logprobs {
    let spell = |one: &Logprob| {
        Chosen { token: Some(one.token.clone()), log_probability: Some(one.logprob.clone()), rest: None }
            .with_rest(one.extras.owned_by(ID))
    };
    let tops =
        list.iter().map(|one| Top { candidates: Some(one.top.iter().map(spell).collect()), rest: None });
    let some = list.iter().any(|one| !one.top.is_empty());
    Logprobs { chosen: Some(list.iter().map(spell).collect()), top: some.then(|| tops.collect()), rest: None }
}

pub(super) fn read_count(body: &[u8]) -> Result<TokenCount, WireError> {
    let mut answer: CountAnswer = parse(ID, body)?;
    let input = answer.total_tokens.take().ok_or_else(|| super::path::missing("totalTokens"))?;
    let cached = answer.cached.take().map(|count| count.0);
    Ok(TokenCount { input: input.0, cached, extras: Extras::rest(ID, answer.leftovers()) })
}

pub(super) fn write_count(count: &TokenCount) -> HttpReply {
    let answer =
        CountAnswer { total_tokens: Some(Count(count.input)), cached: count.cached.map(Count), rest: None };
    let answer = answer.with_rest(count.extras.owned_by(ID));
    HttpReply::json(200, serde_json::to_vec(&answer).unwrap_or_default())
}
