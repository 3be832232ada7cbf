//! `GET /api/sessions`: the conversations lately heard of.

use http::Response;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::answer::{self, Wrong};
use super::query::Query;
use crate::Gateway;
use crate::body::Body;
use crate::clock::unix_ms;

/// How many are shown when nobody says.
const USUAL: u64 = 100;
/// How many are shown at most.
const MOST: u64 = 1000;

/// The conversations lately heard of, the newest first.
pub(crate) fn sessions(gateway: &Gateway, query: &Query) -> Result<Response<Body>, Wrong> {
    let most = usize::try_from(query.number("limit", 1..=MOST)?.unwrap_or(USUAL)).unwrap_or_default();
    let (now, unix) = (Instant::now().into_std(), unix_ms());
    let sessions = gateway.sessions().lock();
    let shown: Vec<Value> = sessions
        .iter()
        .flat_map(|sessions| sessions.newest().take(most))
        .map(|(key, session)| {
            let ago = now.saturating_duration_since(session.seen).as_millis();
            json!({
                "session": key.to_string(),
                "target": session.target.to_string(),
                "virtual_model": session.virtual_model,
                "in_a_row": session.in_a_row,
                "cached_tokens": session.cached_at(now),
                "output_tokens": session.output_tokens,
                "at": unix.saturating_sub(u64::try_from(ago).unwrap_or(u64::MAX)),
            })
        })
        .collect();
    drop(sessions);
    Ok(answer::json(gateway, &json!({"sessions": shown})))
}
