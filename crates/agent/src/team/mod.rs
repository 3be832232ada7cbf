//! Agents that calls set to work: their types, what they may take together, and what is told of them.

pub(crate) mod figures;
pub(crate) mod purse;
pub(crate) mod tools;
pub mod types;

pub use purse::{Estimate, Hold, Purse, Taken, Turn};
pub use types::{AgentType, Tools};
