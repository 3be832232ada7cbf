//! Real servers, one that does whatever it should not, real authorisation servers, and our own server as clients see it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bed;
mod everything;
mod hostile;
mod known;
mod many;
mod oauth;
mod oauth_faults;
mod oauth_hub;
mod oauth_kit;
mod others;
mod remote;
mod serve;
mod servers;
mod talk;
