//! The protocol with a host of the test's own: what a client may do, at any moment, and what it gets.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bed;
mod cancel;
mod hostile;
mod sessions;
