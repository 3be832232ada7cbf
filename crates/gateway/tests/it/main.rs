//! The gateway on real sockets.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod attacks;
mod door;
mod entry;
mod keys;
mod limits;
mod outage;
mod packed;
mod smuggling;
mod stop;
mod telling;
mod wire;
