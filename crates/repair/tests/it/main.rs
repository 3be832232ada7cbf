//! Tool calls in every spelling, cut in every place.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod arguments;
mod cases;
mod cassettes;
mod cost;
mod decode;
mod dialects;
mod docs;
mod hostile;
mod invariants;
mod lines;
mod live;
mod named;
mod native;
mod parts;
mod prompted;
mod python;
mod rows;
mod settle;
mod shapes;
mod stream;
mod tags;
mod tags_common;
mod tags_invoke;
mod tags_long;
mod tags_tokens;
mod thinking;
mod truncation;
