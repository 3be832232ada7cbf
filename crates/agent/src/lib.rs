//! The agent: what the user wants becomes requests, calls and an end with a reason.

pub mod commands;
pub mod context;
mod driver;
pub mod hooks;
pub mod machine;
pub mod memory;
pub mod prompt;
pub mod repeat;
pub mod team;

pub use driver::{Agent, Begin, Errands, Handle, Numbered, OpenError, Setup};
