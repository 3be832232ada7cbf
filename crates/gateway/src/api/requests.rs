//! `GET /api/requests` and `GET /api/requests/{id}`: what was asked, and what became of it.

use http::{Response, StatusCode};
use serde::Serialize;

use super::answer::{self, Wrong};
use super::query::{Query, decoded};
use crate::Gateway;
use crate::body::Body;
use crate::clock::unix_ms;
use crate::observe::shown::{Ended, OnItsWay, With};

/// How many are shown when nobody says.
const USUAL: u64 = 50;
/// How many are shown at most.
const MOST: u64 = 1000;

#[derive(Serialize)]
struct List<'a> {
    on_their_way: Vec<OnItsWay<'a>>,
    requests: Vec<Ended<'a>>,
    /// What `before` is for the next page.
    next: Option<&'a str>,
}

/// The requests on their way, and the newest of those that ended.
pub(crate) async fn list(gateway: &Gateway, query: &Query) -> Result<Response<Body>, Wrong> {
    let most = query.number("limit", 1..=MOST)?.unwrap_or(USUAL);
    let most = usize::try_from(most).unwrap_or_default();
    let before = query.text("before");
    let flights = match before {
        Some(_) => Vec::new(),
        None => gateway.observe().flights().newest(most),
    };
    let entries = gateway.ledger().recent(most, before).await?;
    let now = unix_ms();
    let is_full = entries.len() == most;
    Ok(answer::json(
        gateway,
        &List {
            on_their_way: flights.iter().map(|(id, flight)| OnItsWay::new(id, flight, now)).collect(),
            requests: entries.iter().map(|entry| Ended::new(entry, With::Nothing)).collect(),
            next: entries.last().filter(|_| is_full).map(|entry| entry.id.as_str()),
        },
    ))
}

/// One request, with what was said in it if that was kept.
pub(crate) async fn one(gateway: &Gateway, id: &str) -> Result<Response<Body>, Wrong> {
    let missing = || Wrong::new(StatusCode::NOT_FOUND, format!("there is no record of a request `{id}`"));
    let id = decoded(id).ok_or_else(missing)?;
    if let Some(flight) = gateway.observe().flights().get(&id) {
        return Ok(answer::json(gateway, &OnItsWay::new(&id, &flight, unix_ms())));
    }
    let entry = gateway.ledger().entry(&id).await?.ok_or_else(missing)?;
    Ok(answer::json(gateway, &Ended::new(&entry, With::Bodies)))
}
