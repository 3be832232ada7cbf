//! The real `rail` binary, as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod chat_answers;
mod native_calls;
mod translate;
