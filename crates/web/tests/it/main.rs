//! The fetcher and the engines against scripted servers on real sockets.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bodies;
mod guards;
mod markdown;
mod proxied;
mod redirects;
mod search;
mod site;
mod slow;
mod socks;
