//! Tool calls in every spelling, cut in every place.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod arguments;
mod cases;
mod decode;
mod dialects;
mod hostile;
mod lines;
mod live;
mod named;
mod native;
mod parts;
mod prompted;
mod python;
mod rows;
mod settle;
mod tags;
mod tags_common;
mod tags_long;
mod tags_tokens;
mod truncation;
