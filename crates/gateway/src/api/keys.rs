//! `GET /api/keys`: the gateway's keys, without their secrets.

use http::Response;
use rail_ledger::Key;
use serde_json::{Value, json};

use super::answer::{self, Wrong};
use crate::Gateway;
use crate::body::Body;

/// All keys, the oldest first.
pub(crate) async fn keys(gateway: &Gateway) -> Result<Response<Body>, Wrong> {
    let keys = gateway.ledger().keys().await?;
    let keys: Vec<Value> = keys.iter().map(shown).collect();
    Ok(answer::json(gateway, &json!({"keys": keys})))
}

/// Named field by field, so that nothing gets here by being added elsewhere.
fn shown(key: &Key) -> Value {
    json!({
        "id": key.id.0,
        "name": key.name,
        "admin": key.admin,
        "models": key.models,
        "per_minute": key.rate.map(|rate| rate.per_minute),
        "budget": key.budget.map(|budget| json!({"usd": budget.amount.dollars(), "per": budget.per})),
        "created": key.created,
        "expires": key.expires,
        "revoked": key.revoked,
    })
}
