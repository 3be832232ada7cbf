//! A plan and a request become an answer, whatever fails on the way.

mod decompress;
mod live;
mod transport;

pub use live::{Live, LiveSettings, Proxies};
pub use transport::{Body, BoxFuture, Incoming, Outgoing, Transport, TransportError, TransportErrorKind};
