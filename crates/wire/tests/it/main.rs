//! The codecs against the corpus, against each other, and against hostile input.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod accepted;
mod anthropic;
mod corpus;
mod cost;
mod fit;
mod fit_common;
mod fit_parts;
mod fit_props;
mod fit_settings;
mod forward;
mod gemini;
mod identity;
mod matrix;
mod odd_answers;
mod openai_chat_answers;
mod openai_chat_calls;
mod openai_chat_compat;
mod openai_chat_errors;
mod openai_chat_random;
mod openai_chat_requests;
mod openai_chat_thinking;
mod openai_responses;
mod openai_responses_bad;
mod openai_responses_ways;
mod split;
mod stable;
mod traps;
