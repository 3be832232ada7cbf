//! MCP on the official SDK.

pub mod serve;
