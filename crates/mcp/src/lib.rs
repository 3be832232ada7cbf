//! Servers that speak MCP: their tools, prompts and resources, whatever the servers do.

mod client;

pub use client::{
    Answer, Ask, Host, Hub, Limits, Offers, Prompt, PromptArgument, Resource, Sample, Sampled, ServerSpec,
    ServerState, Setup, State, Template, TimeLimits, Tokens, Way, given, parts_of_content,
};
