//! A request for a token count.

use http::Response;
use rail_ledger::Ending;
use rail_model::{ApiError, ErrorKind, TokenCount};
use rail_route::{Plan, estimate};

use super::record::Open;
use super::way;
use crate::Gateway;
use crate::arrival::Arrival;
use crate::body::Body;

/// Answers a request for a token count: by the count of the target that would be asked first, else by our own estimate. A count
/// helps a client to decide when to shorten a conversation, so an estimate is better than none.
pub(super) async fn answer(gateway: &Gateway, arrival: Arrival) -> Response<Body> {
    let mut open = Open::new(gateway, &arrival);
    let inbound = arrival.protocol.inbound;
    let request = match inbound.decode_request(&arrival.call) {
        Ok(request) => request,
        Err(error) => return open.fail(inbound, &error, Ending::Refused),
    };
    let estimated = estimate(&request).total();
    let way = match way::find(&mut open, &arrival, &request, estimated).await {
        Ok(way) => way,
        Err((error, ending)) => return open.fail(inbound, &error, ending),
    };
    // Another target's count would be of other tokens.
    let first = Plan { attempts: way.plan.attempts.iter().take(1).cloned().collect(), ..(*way.plan).clone() };
    let (heard, upstream) = (open.heard(), gateway.upstream());
    let count = match upstream.count(&first, &request, &*heard).await {
        Ok(counted) => {
            open.answers(&counted.target);
            counted.count
        }
        Err(none) => {
            open.has_problem(&format!("estimated, because {}", none.error.message));
            TokenCount { input: way.tokens, ..TokenCount::default() }
        }
    };
    drop(heard);
    match inbound.write_count(&count) {
        Some(reply) => open.answer(reply),
        None => {
            let problem = format!("{} has no token counts", arrival.protocol.id);
            open.fail(inbound, &ApiError::new(ErrorKind::NotFound, problem), Ending::Refused)
        }
    }
}
