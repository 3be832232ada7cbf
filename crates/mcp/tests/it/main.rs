//! Real servers, and one that does whatever it should not.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bed;
mod hostile;
mod known;
mod many;
mod talk;
