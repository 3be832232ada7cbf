//! MCP as clients see it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod serve;
