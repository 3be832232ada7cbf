//! A plan and a request become an answer, whatever fails on the way.

mod transport;

pub use transport::{Body, BoxFuture, Incoming, Outgoing, Transport, TransportError, TransportErrorKind};
