//! `GET /api/status`: what runs here.

use http::Response;
use serde_json::json;

use super::answer::{self, Wrong};
use crate::Gateway;
use crate::body::Body;
use crate::clock::unix_ms;

/// What runs here.
pub(crate) async fn status(gateway: &Gateway) -> Result<Response<Body>, Wrong> {
    let observe = gateway.observe();
    let keys = gateway.ledger().has_keys().await?;
    let configuration = gateway.configuration();
    Ok(answer::json(
        gateway,
        &json!({
            "version": env!("CARGO_PKG_VERSION"),
            "started": observe.started(),
            "uptime_ms": unix_ms().saturating_sub(observe.started()),
            "address": address(gateway),
            "ledger": gateway.ledger().kind(),
            "keys": keys,
            "log_bodies": configuration.settings.gateway.log_bodies,
            "providers": configuration.routing.providers.len(),
            "in_flight": observe.flights().count(),
        }),
    ))
}

/// Where the gateway listens.
pub(super) fn address(gateway: &Gateway) -> String {
    let told = gateway.observe().address().map(|address| address.to_string());
    told.unwrap_or_else(|| gateway.configuration().settings.gateway.listen.clone())
}
