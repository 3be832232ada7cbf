//! Agents that work for another one.

pub mod types;
