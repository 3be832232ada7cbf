//! Answers of the gateway's own pages.

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use crate::Gateway;
use crate::body::Body;

/// What stands in the head of each of our pages: nothing is loaded from elsewhere, nothing may frame it, nothing is kept or told.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        // The hash is that of the one style we have.
        "default-src 'none'; style-src 'sha256-i2rx1Xnx9K6EJddNeRx0N7ChdcNOQ8dCGhE9SsZpVGM='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Why a page is not shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) status: StatusCode,
    /// What is wrong, and what to do.
    pub(crate) message: String,
    /// What may be done instead.
    pub(crate) allow: Option<&'static str>,
}

impl Wrong {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), allow: None }
    }

    /// The query is wrong.
    pub(crate) fn query(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }
}

impl From<rail_ledger::LedgerError> for Wrong {
    fn from(error: rail_ledger::LedgerError) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
    }
}

/// A page of JSON, with every secret covered.
pub(crate) fn json(gateway: &Gateway, value: &impl Serialize) -> Response<Body> {
    match serde_json::to_string(value) {
        Ok(text) => of_type("application/json", gateway.observe().cover(&text)),
        Err(error) => {
            let message = format!("the answer can't be written: {error}");
            wrong(gateway, &Wrong::new(StatusCode::INTERNAL_SERVER_ERROR, message))
        }
    }
}

/// An error as a page of JSON.
pub(crate) fn wrong(gateway: &Gateway, wrong: &Wrong) -> Response<Body> {
    let text = json!({"error": {"status": wrong.status.as_u16(), "message": wrong.message}}).to_string();
    let mut response = of_type("application/json", gateway.observe().cover(&text));
    *response.status_mut() = wrong.status;
    if let Some(allow) = wrong.allow {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
    }
    response
}

/// A page of this type.
pub(crate) fn of_type(kind: &'static str, text: impl Into<Bytes>) -> Response<Body> {
    with_type(kind, Body::Whole(text.into()))
}

/// A page of this type that may come in pieces.
pub(crate) fn with_type(kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
