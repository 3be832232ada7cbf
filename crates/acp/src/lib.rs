//! The agent over the Agent Client Protocol: JSON-RPC lines on two streams, many sessions at once.
//!
//! The official crate's types are used, and not its runtime: that one's queues have no bounds, and an error of one handler ends all.

mod ask;
mod calls;
mod client;
mod editor;
mod embedded;
mod form;
mod history;
mod lines;
mod opening;
mod options;
mod port;
mod prompt;
mod rpc;
mod server;
mod session;
mod update;

pub use agent_client_protocol_schema::v1::McpServer;
pub use editor::{Editor, Terminal, TerminalCommand, TerminalEnd, TerminalOutput};
pub use port::{Begin, BoxFuture, Facts, Host, Listed, Offered, Opened, Refused, Session, Wanted};
pub use server::serve;
