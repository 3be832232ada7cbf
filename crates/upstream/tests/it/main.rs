//! Requests against real sockets that fail in every way.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a failed test")]

mod answers;
mod cancel;
mod faults;
mod keys;
mod learning;
mod limits;
mod plain;
mod scripts;
mod switch;
mod world;
