//! Tokens, both ways: the API counts cached input and reasoning inside its totals.

use rail_model::{Extras, Usage};
use serde_json::Value;

use super::types::{InputDetails, OutputDetails, Tokens};
use super::{AS_COUNTED, ID, object};
use crate::shape::Count;

pub(super) fn read(mut tokens: Tokens) -> Usage {
    let mut details = tokens.input_tokens_details.take();
    let cache_read = details.as_mut().and_then(|details| details.cached_tokens.take()).map(|count| count.0);
    let cache_write =
        details.as_mut().and_then(|details| details.cache_write_tokens.take()).map(|count| count.0);
    let mut spent = tokens.output_tokens_details.take();
    let reasoning = spent.as_mut().and_then(|spent| spent.reasoning_tokens.take()).map(|count| count.0);
    let (input, output) = (tokens.input_tokens.take(), tokens.output_tokens.take());
    let total = tokens.total_tokens.take();
    let without = |all: Option<Count>, parts: [Option<u64>; 2]| {
        all.map(|all| parts.into_iter().flatten().fold(all.0, u64::saturating_sub))
    };
    let mut usage = Usage {
        input: without(input, [cache_read, cache_write]),
        cache_read,
        cache_write,
        output: without(output, [reasoning, None]),
        reasoning,
        extras: Extras::rest(ID, tokens.leftovers()),
    };
    usage.extras.mark(ID, AS_COUNTED);
    // Totals that do not add up are kept as they were said.
    let odd = [
        ("input_tokens", input, usage.all_input()),
        ("output_tokens", output, usage.all_output()),
        ("total_tokens", total, usage.total()),
    ];
    for (key, said, computed) in odd {
        if let Some(Count(said)) = said.filter(|said| said.0 != computed) {
            usage.extras.insert(ID, key, Value::from(said));
        }
    }
    let nested = [
        ("input_tokens_details", details.map(InputDetails::leftovers)),
        ("output_tokens_details", spent.map(OutputDetails::leftovers)),
    ];
    for (key, left) in nested {
        if let Some(left) = left.filter(|left| !left.is_empty()) {
            usage.extras.insert(ID, key, Value::Object(left));
        }
    }
    usage
}

/// Every number is there: Codex fails to read an end with some of them missing and asks again.
pub(super) fn write(usage: &Usage) -> Value {
    let kept = |key: &str| usage.extras.get(ID, key);
    let literal =
        |key: &str, computed: u64| Some(Count(kept(key).and_then(Value::as_u64).unwrap_or(computed)));
    let details = InputDetails {
        cached_tokens: Some(Count(usage.cache_read.unwrap_or_default())),
        cache_write_tokens: usage
            .cache_write
            .or((!usage.extras.marked(ID, AS_COUNTED)).then_some(0))
            .map(Count),
        rest: None,
    };
    let spent =
        OutputDetails { reasoning_tokens: Some(Count(usage.reasoning.unwrap_or_default())), rest: None };
    let nested = |key: &str| kept(key).and_then(Value::as_object);
    let tokens = Tokens {
        input_tokens: literal("input_tokens", usage.all_input()),
        input_tokens_details: Some(details.with_rest(nested("input_tokens_details"))),
        output_tokens: literal("output_tokens", usage.all_output()),
        output_tokens_details: Some(spent.with_rest(nested("output_tokens_details"))),
        total_tokens: literal("total_tokens", usage.total()),
        rest: None,
    };
    Value::Object(object(&tokens.with_rest(usage.extras.owned_by(ID))))
}
