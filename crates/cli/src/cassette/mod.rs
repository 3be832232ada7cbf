//! Cassettes: `rail record` and `rail replay`.

mod record;
mod replay;

pub(crate) use record::Recording;
pub(crate) use replay::Replaying;
