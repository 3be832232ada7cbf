//! What a dashboard needs, as JSON: `/api/*`, `/metrics`, and the page at `/`.

use bytes::Bytes;
use http::{Request, Response};

use crate::Gateway;
use crate::body::Body;

/// Answers a request for one of the gateway's own pages; none when there is no such page.
pub(crate) async fn page(gateway: &Gateway, request: &Request<()>) -> Option<Response<Body>> {
    let _ = (gateway.ledger(), request.uri());
    Some(Response::new(Body::Whole(Bytes::new())))
}
