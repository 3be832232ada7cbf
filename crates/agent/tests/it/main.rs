//! The agent's parts on real folders and processes.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod aside;
mod commands;
mod context_common;
mod context_compact;
mod context_props;
mod context_trim;
mod environment;
mod hooks;
mod loop_agents;
mod loop_always;
mod loop_back;
mod loop_bed;
mod loop_compact;
mod loop_ends;
mod loop_hooks;
mod loop_journal;
mod loop_memory;
mod loop_questions;
mod loop_shells;
mod loop_switch;
mod loop_turns;
mod memory;
mod prompt;
mod skills;
mod team_types;
