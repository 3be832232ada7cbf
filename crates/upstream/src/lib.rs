//! A plan and a request become an answer, whatever fails on the way.

pub mod auth;
mod cassette;
mod decompress;
mod live;
mod local;
mod models;
mod transport;

pub use cassette::{
    CassetteError, CassetteHead, Matching, Pace, Record, Replay, Transports, cassette_protocol,
};
pub use live::{Live, LiveSettings, Proxies};
pub use local::{Candidate, LOCAL_LIMIT, LocalKind, LocalServer, find_local, usual_candidates};
pub use models::{ListError, list_models};
pub use transport::{Body, BoxFuture, Incoming, Outgoing, Transport, TransportError, TransportErrorKind};
