//! One request, from its arrival to its answer.

use bytes::Bytes;
use http::Response;

use crate::Gateway;
use crate::arrival::Arrival;
use crate::body::Body;

/// Brings a request to its answer, and its record to the ledger. Dropping the future, or the answer's body, ends the request.
pub(crate) async fn exchange(gateway: &Gateway, arrival: Arrival) -> Response<Body> {
    let _ = (
        gateway.sessions(),
        gateway.upstream(),
        arrival.id,
        arrival.came,
        arrival.at,
        arrival.key,
        arrival.protocol.id,
        arrival.operation,
        arrival.call,
        Body::Pieces(Box::pin(Body::Whole(Bytes::new()))),
    );
    Response::new(Body::Whole(Bytes::new()))
}
