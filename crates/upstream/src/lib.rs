//! A plan and a request become an answer, whatever fails on the way.
//!
//! [`Upstream::ask`] is one loop over the plan. It ends with a [`Reply`] once the first content is here, and from then on
//! nothing is retried: that a client sees one answer from one target is a fact of the types. [`Upstream::relay`] does the
//! same, and lets the client's own bytes go to a target of the same protocol, and the target's own bytes to the client.

mod alone;
mod answer;
mod ask;
pub mod auth;
mod cassette;
pub mod decompress;
mod errand;
mod failure;
mod fix;
mod flow;
mod headers;
mod health_file;
mod issuer;
mod keys;
mod learned;
mod letter;
mod limits;
mod live;
mod local;
mod models;
mod note;
mod probe;
mod raw;
mod reply;
mod said;
mod secrets;
mod send;
mod shared;
mod spec;
mod transport;
mod url;
mod verdict;
mod visit;
mod vlm;

pub use ask::{Counted, Embedded, NoAnswer, Upstream};
pub use cassette::{
    CassetteError, CassetteHead, Matching, Pace, Record, Replay, Transports, cassette_protocol,
};
pub use errand::Original;
pub use failure::{Class, Limit};
pub use fix::{Fix, Remedy};
pub use health_file::{HealthFile, KeptHealth};
pub use learned::{Learned, Lesson};
pub use live::{Authorities, Live, LiveSettings, authorities};
pub use local::{Candidate, LocalKind, LocalServer, find_local};
pub use models::{ListError, list_models};
pub use note::{Note, Notes, Outcome, Sent};
pub use probe::{Answered, ProbeFailure, ProviderProbe, TargetProbe};
pub use reply::{Broken, Mended, Reply};
pub use transport::{Body, BoxFuture, Incoming, Outgoing, Transport, TransportError, TransportErrorKind};
