//! The transports against real servers, and requests against sockets that fail in every way.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a failed test")]

mod answers;
mod calls;
mod cancel;
mod cassettes;
mod circuits;
mod connections;
mod counted;
mod encodings;
mod ends;
mod errands;
mod faults;
mod hidden;
mod http2;
mod keys;
mod leaks;
mod learning;
mod limits;
mod lists;
mod local;
mod odd;
mod over;
mod probes;
mod protocols;
mod proxies;
mod relay;
mod scripts;
mod seals;
mod switch;
mod tls;
mod told;
mod world;
