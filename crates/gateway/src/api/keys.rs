//! `GET /api/keys`: the gateway's keys, without their secrets.

use http::Response;
use rail_ledger::Standing;
use serde_json::{Value, json};

use super::answer::{self, Wrong};
use crate::Gateway;
use crate::body::Body;
use crate::clock::unix_ms;

/// All keys, the oldest first.
pub(crate) async fn keys(gateway: &Gateway) -> Result<Response<Body>, Wrong> {
    let keys = gateway.ledger().standings(unix_ms()).await?;
    let keys: Vec<Value> = keys.iter().map(shown).collect();
    Ok(answer::json(gateway, &json!({"keys": keys})))
}

/// Named field by field, so that nothing gets here by being added elsewhere.
fn shown(standing: &Standing) -> Value {
    let key = &standing.key;
    json!({
        "id": key.id.0,
        "name": key.name,
        "state": standing.state.word(),
        "admin": key.admin,
        "models": key.models,
        "per_minute": key.rate.map(|rate| rate.per_minute),
        "budget": key.budget.map(|budget| json!({"usd": budget.amount.dollars(), "per": budget.per.word()})),
        "spent_usd": standing.spent.dollars(),
        "held_usd": standing.held.dollars(),
        "created": key.created,
        "expires": key.expires,
        "revoked": key.revoked,
    })
}
