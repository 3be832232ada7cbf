//! The executor and the files it guards, on real folders.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bed;
mod files;
mod pipeline;
mod schedule;
