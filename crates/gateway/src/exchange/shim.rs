//! Stands in for calls of `rail-upstream` that are being made: its own take precedence as soon as they are there.

use rail_model::{ApiError, EmbedReply, EmbedRequest, ErrorKind, Loss, Request, TokenCount};
use rail_route::{Plan, Target};
use rail_upstream::{NoAnswer, Notes, Upstream};

pub(super) struct Counted {
    pub(super) target: Target,
    pub(super) count: TokenCount,
}

pub(super) struct Embedded {
    pub(super) target: Target,
    pub(super) reply: EmbedReply,
    pub(super) losses: Vec<Loss>,
}

pub(super) trait Shim {
    async fn count(&self, _: &Plan, _: &Request, _: &dyn Notes) -> Result<Counted, NoAnswer> {
        Err(none())
    }
    async fn embed(&self, _: &Plan, _: &EmbedRequest, _: &dyn Notes) -> Result<Embedded, NoAnswer> {
        Err(none())
    }
}

impl Shim for Upstream {}

fn none() -> NoAnswer {
    NoAnswer { error: ApiError::new(ErrorKind::NotFound, "no target has such a call"), sent: Vec::new() }
}
