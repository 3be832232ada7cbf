//! The real `rail` binary, as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod cassettes;
mod chat_answers;
mod clients;
mod config;
mod decode;
mod explain;
mod faults;
mod gateway;
mod home;
mod init;
mod interrupt;
mod ledger;
mod native_calls;
mod process;
mod providers;
mod readme;
mod record;
mod replicas;
mod run;
mod scratch;
mod sdks;
mod serve;
mod soak;
mod switch;
mod terminal;
mod tools;
mod translate;
