//! What several crates' tests need of the outside: a scripted peer, and scripted models, on real sockets.

mod acp;
pub mod install;
pub mod judges;
mod models;
mod pdfs;
mod peer;
mod postgres;
mod proxy;
mod tls;

pub use acp::{AcpClient, AcpStep};
pub use models::{
    Asked, COUNTED, Models, NOW, Question, SCRIPTED_MODEL, ScriptError, Turn, call, image, read_script,
    redacted, text, thinking, vector,
};
pub use pdfs::{Pdfs, pdfs};
pub use peer::{
    Conversation, Departure, Leaving, Peer, Recorded, Step, chunk, garbage, http_head, http_whole,
    last_chunk, refused_addr, sse_head,
};
pub use postgres::Postgres;
pub use proxy::{Admits, ProxyPeer};
pub use tls::{Authority, ServerCert};
