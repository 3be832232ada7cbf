//! MCP in both directions: servers as a session uses them, whatever they do, logins to remote ones, and our own tools as a server.

pub mod auth;
mod client;
pub mod serve;

pub use client::{
    Answer, Ask, Host, Hub, Limits, Offers, Prompt, PromptArgument, Resource, Sample, Sampled, ServerSpec,
    ServerState, Setup, State, Template, TimeLimits, Tokens, ToolFilter, Way, given, parts_of_content,
    sampling_name, sound_schema, tool_name,
};
