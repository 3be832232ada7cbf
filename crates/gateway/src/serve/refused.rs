//! What is not let in, and how it is told.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use rail_ledger::{Ending, Refusal};
use rail_model::{ApiError, ErrorKind};
use rail_wire::{HttpReply, Protocol};

use crate::body::Body;

/// Why a request is not let in, for its client.
#[derive(Debug)]
pub(super) struct Refused {
    /// None is what the client's protocol says.
    status: Option<u16>,
    error: ApiError,
    header: Option<(HeaderName, String)>,
    ending: Ending,
}

impl Refused {
    /// A refusal with the status that the client's protocol has for its kind.
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { status: None, error: ApiError::new(kind, message), header: None, ending: Ending::Refused }
    }

    /// The same with this status.
    pub(super) fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }

    /// The same with a header.
    pub(super) fn with_header(self, name: HeaderName, value: impl Into<String>) -> Self {
        Self { header: Some((name, value.into())), ..self }
    }

    /// The same, with the advice to come back after a while.
    pub(super) fn come_back_after(mut self, wait: Duration) -> Self {
        self.error.retry_after = Some(wait);
        self
    }

    /// What it makes of the request.
    pub(super) fn ending(&self) -> Ending {
        self.ending
    }

    /// What the client is told.
    pub(super) fn message(&self) -> &str {
        &self.error.message
    }

    /// The answer, in the client's protocol.
    pub(super) fn answer(&self, protocol: &Protocol) -> Response<Body> {
        let HttpReply { status, headers, body } = protocol.inbound.write_error(&self.error);
        let mut response = Response::new(Body::Whole(Bytes::from(body)));
        let status = StatusCode::from_u16(self.status.unwrap_or(status));
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let own = self.header.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(own) {
            // What can't stand in a header is left out: the body says it all.
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                response.headers_mut().append(name, value);
            }
        }
        response
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        let error = crate::refusal::error(&refusal);
        let header = (error.kind == ErrorKind::Authentication).then(challenge);
        Self { status: None, error, header, ending: crate::refusal::ending(&refusal) }
    }
}

/// A key is missing or wrong.
pub(super) fn unauthorized(message: impl Into<String>) -> Refused {
    Refused { header: Some(challenge()), ..Refused::new(ErrorKind::Authentication, message) }
}

/// How a key is to be sent.
fn challenge() -> (HeaderName, String) {
    (header::WWW_AUTHENTICATE, "Bearer".to_owned())
}
