//! What a client of MCP servers meets outside: real authorisation servers, and those that mean no good.

mod oauth;
mod oauth_faults;
mod oauth_kit;
