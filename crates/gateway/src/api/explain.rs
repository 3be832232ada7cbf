//! `POST /api/explain`: what this gateway would do with a request.

use bytes::Bytes;
use http::{Response, StatusCode};
use rail_route::{Client, PlanInput, calibrated, estimate, facts};
use rail_wire::{HttpCall, Protocol, recognise};
use serde_json::Value;
use tokio::time::Instant;

use super::answer::{self, Wrong};
use super::query::Query;
use crate::Gateway;
use crate::body::Body;

/// The plan for the request that the body is, with the reasons; nothing is sent.
pub(crate) fn explain(gateway: &Gateway, query: &Query, body: &Bytes) -> Result<Response<Body>, Wrong> {
    let protocol = protocol(query, body)?;
    let path = query.text("path").unwrap_or_default();
    let (path, rest) = path.split_once('?').unwrap_or((path, ""));
    let call = HttpCall { query: rest.to_owned(), ..HttpCall::post(path, body.to_vec()) };
    let mut request = protocol.inbound.decode_request(&call).map_err(|error| Wrong::query(error.message))?;
    if let Some(model) = query.text("model") {
        request.model = model.to_owned();
    }
    let client = Client { headers: &[], name: query.text("client") };
    let facts = facts(&request, &client, estimate(&request).total());
    let session = gateway.sessions().lock().ok().and_then(|sessions| sessions.get(facts.session).cloned());
    let (loaded, health, learned) =
        (gateway.configuration(), gateway.upstream().health(), gateway.upstream().learned());
    let now = Instant::now().into_std();
    let input = PlanInput {
        routing: &loaded.routing,
        facts: &facts,
        health: &health,
        session: session.as_ref(),
        now,
    };
    let (plan, facts) = calibrated(&input, |target| learned.calibration(target));
    Ok(answer::json(gateway, &rail_route::explain(&plan, &facts)))
}

fn protocol(query: &Query, body: &Bytes) -> Result<&'static Protocol, Wrong> {
    if let Some(name) = query.text("protocol") {
        return rail_wire::find(name).ok_or_else(|| {
            let known: Vec<&str> = rail_wire::ALL.iter().map(|protocol| protocol.id.name()).collect();
            Wrong::query(format!("there is no protocol `{name}`; there are {}", known.join(", ")))
        });
    }
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| Wrong::new(StatusCode::BAD_REQUEST, format!("the body is no JSON: {error}")))?;
    recognise(&value).ok_or_else(|| {
        let message = "the body is a request of no known protocol; say which it is by `?protocol=`";
        Wrong::new(StatusCode::BAD_REQUEST, message)
    })
}
