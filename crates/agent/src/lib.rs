//! The agent: what the user wants becomes requests, calls and an end with a reason.

mod aside;
mod bill;
pub mod commands;
pub mod context;
mod driver;
pub mod hooks;
pub mod machine;
pub mod memory;
mod plans;
pub mod prompt;
pub mod repeat;
pub mod skills;
pub mod team;

pub use aside::{Aside, AsideParts, sight};
pub use driver::{Agent, Begin, Errands, Handle, McpSetup, Numbered, OpenError, Setup, file_change};
