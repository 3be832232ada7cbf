//! The client's side: a hub of servers, each kept by a task of its own.

mod answers;
mod content;
mod desk;
mod events;
mod host;
mod hub;
mod keeper;
mod known;
mod limits;
mod link;
mod lists;
mod names;
mod post;
mod schema;
mod search;
mod server;
mod session;
mod spec;
mod sse;
mod state;
mod stdio;
mod streamable;
mod tool;

pub use content::{given, parts_of_content};
pub use host::{Answer, Ask, Host, Offers, Sample, Sampled};
pub use hub::{Hub, Setup};
pub use limits::Limits;
pub use lists::{Prompt, PromptArgument, Resource, Template};
pub use names::{sampling_name, tool_name};
pub use schema::sound as sound_schema;
pub use spec::{ServerSpec, TimeLimits, Tokens, ToolFilter, Way};
pub use state::{ServerState, State};
