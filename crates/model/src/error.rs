use std::time::Duration;

use serde_json::Value;

use crate::ProtocolId;

/// An error as an API says it, read from one protocol and writable in any.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{kind:?} ({status}): {message}")]
pub struct ApiError {
    /// The HTTP status; for an error in mid-stream, the one it would have had.
    pub status: u16,
    /// What went wrong.
    pub kind: ErrorKind,
    /// For a person to read.
    pub message: String,
    /// The provider's own code, such as `insufficient_quota`.
    pub code: Option<String>,
    /// The field at fault.
    pub param: Option<String>,
    /// When to try again.
    pub retry_after: Option<Duration>,
    /// The error as it was said, for a client of the same protocol.
    pub said: Option<(ProtocolId, Value)>,
}

impl ApiError {
    /// An error of our own making.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let status = kind.status();
        Self { status, kind, message: message.into(), code: None, param: None, retry_after: None, said: None }
    }

    /// Whose fault it is, for the decision what to try next.
    pub fn fault(&self) -> Fault {
        use ErrorKind as K;
        match self.kind {
            K::RateLimited | K::Overloaded | K::Timeout | K::Server => Fault::Passing,
            K::Authentication | K::Permission | K::NotFound | K::Quota => Fault::Target,
            K::ContextLength => Fault::TooLong,
            K::InvalidRequest | K::TooLarge | K::Refused | K::Conflict => Fault::Request,
        }
    }
}

/// What went wrong, in words all protocols share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// The request is malformed or asks for what is not offered.
    InvalidRequest,
    /// The key is missing or wrong.
    Authentication,
    /// The key may not do this.
    Permission,
    /// No such model or endpoint.
    NotFound,
    /// The request conflicts with another.
    Conflict,
    /// The body has too many bytes.
    TooLarge,
    /// The conversation has too many tokens.
    ContextLength,
    /// The content was refused.
    Refused,
    /// Too many requests or tokens for now.
    RateLimited,
    /// No money or no quota left.
    Quota,
    /// Too busy for anybody.
    Overloaded,
    /// Too slow.
    Timeout,
    /// Anything else on the server's side.
    Server,
}

impl ErrorKind {
    /// The usual HTTP status of this kind.
    pub fn status(self) -> u16 {
        match self {
            Self::InvalidRequest | Self::ContextLength | Self::Refused => 400,
            Self::Authentication => 401,
            Self::Permission => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::TooLarge => 413,
            Self::RateLimited | Self::Quota => 429,
            Self::Server => 500,
            Self::Overloaded => 503,
            Self::Timeout => 504,
        }
    }

    /// The kind that an HTTP status alone suggests.
    pub fn from_status(status: u16) -> Self {
        match status {
            401 => Self::Authentication,
            402 => Self::Quota,
            403 => Self::Permission,
            404 => Self::NotFound,
            408 | 504 => Self::Timeout,
            409 => Self::Conflict,
            413 => Self::TooLarge,
            429 => Self::RateLimited,
            503 | 529 => Self::Overloaded,
            400..=499 => Self::InvalidRequest,
            _ => Self::Server,
        }
    }
}

/// Whose fault an error is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It will pass: try again, then elsewhere.
    Passing,
    /// This target can't: go elsewhere at once.
    Target,
    /// Too long for this window: go where there is a larger one.
    TooLong,
    /// The request's own: nobody will take it.
    Request,
}
