//! Tool calls in every spelling, cut in every place.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod cases;
mod cassettes;
