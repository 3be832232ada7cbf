//! The protocol's own reference.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod docs;
mod examples;
