//! `GET /api/usage` and `GET /api/usage/series`: tokens, cost, latency, failures.

use http::{Response, StatusCode};

use super::answer::Wrong;
use super::query::Query;
use crate::Gateway;
use crate::body::Body;

/// Figures by what they are told apart.
pub(crate) async fn usage(_gateway: &Gateway, _query: &Query) -> Result<Response<Body>, Wrong> {
    Err(Wrong::new(StatusCode::NOT_IMPLEMENTED, "the ledger has no figures yet"))
}

/// Figures over time.
pub(crate) async fn series(_gateway: &Gateway, _query: &Query) -> Result<Response<Body>, Wrong> {
    Err(Wrong::new(StatusCode::NOT_IMPLEMENTED, "the ledger has no figures yet"))
}
