//! The terminal interface of the agent, over its protocol alone.

pub mod complete;
pub mod diff;
pub mod highlight;
pub mod input;
pub mod markdown;
pub mod screen;
pub mod text;
pub mod theme;
pub mod wrap;
