//! How a request can fail, and what each failure means for what is tried next.

use std::fmt;
use std::time::Duration;

use rail_model::{ApiError, ErrorKind, Fault, ProtocolId};
use rail_route::Provider;
use rail_wire::WireError;
use serde_json::Value;

use crate::fix::{Remedy, diagnose, may_be_fixable};
use crate::secrets::Secrets;
use crate::{TransportError, TransportErrorKind, said};

/// What a failure means for what is tried next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Class {
    /// It will pass: the same target again, then the next.
    Passing {
        /// When the provider wants to be asked again, if it said so.
        retry_after: Option<Duration>,
    },
    /// A kept connection was gone: the same target again at once, on another one.
    Stale,
    /// The target can't be used as it is: the next at once.
    Target,
    /// The conversation is too long for the target: only larger ones.
    TooLong,
    /// The same target again, with a change.
    Fixable(Remedy),
    /// The request's own fault: another target may see it otherwise.
    Request,
}

impl Class {
    /// What an error means of which nothing can be fixed.
    pub(crate) fn unfixed(error: &ApiError) -> Self {
        match error.fault() {
            Fault::Passing => Self::Passing { retry_after: error.retry_after },
            Fault::Target => Self::Target,
            Fault::TooLong => Self::TooLong,
            Fault::Request => Self::Request,
        }
    }

    /// The word for it in records.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Passing { .. } => "passing",
            Self::Stale => "stale",
            Self::Target => "target",
            Self::TooLong => "too long",
            Self::Fixable(_) => "fixable",
            Self::Request => "request",
        }
    }
}

/// A time limit of a provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// From the send to the first content.
    FirstToken,
    /// Between two pieces of the answer.
    Idle,
    /// For the whole answer.
    Total,
}

impl Limit {
    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::FirstToken => "first_token",
            Self::Idle => "idle",
            Self::Total => "total",
        }
    }
}

/// Why one request got no answer, or only a part of one.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Failure {
    /// The provider said so.
    Said(ApiError),
    /// It did not get through.
    Transport(TransportError),
    /// What came is no answer of this protocol.
    Unreadable(WireError),
    /// A web page came instead of an answer; its words.
    Page(String),
    /// It took longer than this.
    Late(Limit, Duration),
    /// So many bytes came, and no content.
    Flood(usize),
}

impl Failure {
    /// The same, fit to be told: what the provider sent may repeat its key.
    pub(crate) fn settled(self, provider: &Provider) -> Self {
        let shown = |text: String| Secrets::of(provider).hidden(&text).unwrap_or(text);
        match self {
            Self::Said(mut error) => {
                said::settle(provider, &mut error);
                Self::Said(error)
            }
            Self::Page(words) => Self::Page(shown(words)),
            Self::Unreadable(error) => Self::Unreadable(WireError { problem: shown(error.problem), ..error }),
            Self::Transport(_) | Self::Late(..) | Self::Flood(_) => self,
        }
    }

    /// As it is told to a client.
    pub(crate) fn error(&self) -> ApiError {
        match self {
            Self::Said(error) => error.clone(),
            Self::Transport(_) | Self::Unreadable(_) | Self::Page(_) | Self::Flood(_) => {
                ApiError::new(ErrorKind::Server, self.to_string())
            }
            Self::Late(..) => ApiError::new(ErrorKind::Timeout, self.to_string()),
        }
    }

    /// What it means for what is tried next. `sent` is the body that was refused.
    pub(crate) fn class(&self, protocol: ProtocolId, sent: &[u8]) -> Class {
        match self {
            Self::Said(error) => class_of(error, protocol, sent),
            Self::Transport(error) => match error.kind {
                TransportErrorKind::Stale => Class::Stale,
                TransportErrorKind::Tls | TransportErrorKind::Unsendable => Class::Target,
                TransportErrorKind::Dns
                | TransportErrorKind::Connect
                | TransportErrorKind::Proxy
                | TransportErrorKind::Broken
                | TransportErrorKind::Encoding => Class::Passing { retry_after: None },
            },
            Self::Unreadable(_) | Self::Page(_) | Self::Late(..) | Self::Flood(_) => {
                Class::Passing { retry_after: None }
            }
        }
    }

    /// Whether the provider may have done the work and charged for it. `status` is what it answered, if it did.
    pub(crate) fn may_be_charged(&self, status: Option<u16>) -> bool {
        match self {
            Self::Said(_) => status.is_some_and(|status| status < 300),
            Self::Transport(error) => match error.kind {
                TransportErrorKind::Broken | TransportErrorKind::Stale | TransportErrorKind::Encoding => true,
                TransportErrorKind::Dns
                | TransportErrorKind::Connect
                | TransportErrorKind::Tls
                | TransportErrorKind::Proxy
                | TransportErrorKind::Unsendable => false,
            },
            Self::Unreadable(_) | Self::Late(..) | Self::Flood(_) => true,
            Self::Page(_) => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said(error) => f.write_str(&error.message),
            Self::Transport(error) => error.fmt(f),
            Self::Unreadable(error) => write!(f, "the answer can't be read: {error}"),
            Self::Page(words) => {
                write!(f, "a web page came instead of an answer ({words}); check `base_url`")
            }
            Self::Late(Limit::FirstToken, limit) => {
                write!(
                    f,
                    "no content within {}; raise `timeouts.first_token` if that is usual",
                    seconds(*limit)
                )
            }
            Self::Late(Limit::Idle, limit) => {
                write!(
                    f,
                    "the answer stopped for {}; raise `timeouts.idle` if that is usual",
                    seconds(*limit)
                )
            }
            Self::Late(Limit::Total, limit) => {
                write!(
                    f,
                    "the answer took longer than {}; raise `timeouts.total` if that is usual",
                    seconds(*limit)
                )
            }
            Self::Flood(bytes) => write!(f, "{bytes} bytes came without any content"),
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

fn class_of(error: &ApiError, protocol: ProtocolId, sent: &[u8]) -> Class {
    if may_be_fixable(error.kind) {
        let sent: Option<Value> = serde_json::from_slice(sent).ok();
        if let Some(remedy) = sent.and_then(|sent| diagnose(protocol, error, &sent)) {
            return Class::Fixable(remedy);
        }
    }
    Class::unfixed(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: ProtocolId = ProtocolId::new("openai-chat");
    const PASSING: Class = Class::Passing { retry_after: None };

    #[test]
    fn kinds_of_errors_have_a_class() {
        for (kind, expected) in [
            (ErrorKind::RateLimited, PASSING),
            (ErrorKind::Overloaded, PASSING),
            (ErrorKind::Timeout, PASSING),
            (ErrorKind::Server, PASSING),
            (ErrorKind::Authentication, Class::Target),
            (ErrorKind::Permission, Class::Target),
            (ErrorKind::NotFound, Class::Target),
            (ErrorKind::Quota, Class::Target),
            (ErrorKind::ContextLength, Class::TooLong),
            (ErrorKind::InvalidRequest, Class::Request),
            (ErrorKind::TooLarge, Class::Request),
            (ErrorKind::Refused, Class::Request),
            (ErrorKind::Conflict, Class::Request),
        ] {
            let said = Failure::Said(ApiError::new(kind, "no"));
            assert_eq!(said.class(CHAT, b"{\"temperature\":1}"), expected, "{kind:?}");
        }
    }

    #[test]
    fn failures_on_the_way_have_a_class_and_a_charge() {
        let transport = |kind| Failure::Transport(TransportError { kind, problem: "it broke".to_owned() });
        let wire = || Failure::Unreadable(WireError::truncated(CHAT, "no end"));
        let late = |limit| Failure::Late(limit, Duration::from_secs(3));
        for (failure, expected, charge) in [
            (transport(TransportErrorKind::Dns), PASSING, false),
            (transport(TransportErrorKind::Connect), PASSING, false),
            (transport(TransportErrorKind::Proxy), PASSING, false),
            (transport(TransportErrorKind::Broken), PASSING, true),
            (transport(TransportErrorKind::Encoding), PASSING, true),
            (transport(TransportErrorKind::Stale), Class::Stale, true),
            (transport(TransportErrorKind::Tls), Class::Target, false),
            (transport(TransportErrorKind::Unsendable), Class::Target, false),
            (wire(), PASSING, true),
            (late(Limit::FirstToken), PASSING, true),
            (late(Limit::Idle), PASSING, true),
            (late(Limit::Total), PASSING, true),
            (Failure::Flood(9), PASSING, true),
            (Failure::Page("Login".to_owned()), PASSING, false),
        ] {
            assert_eq!(failure.class(CHAT, b""), expected, "{failure}");
            assert_eq!(failure.may_be_charged(None), charge, "{failure}");
        }
        let said = Failure::Said(ApiError::new(ErrorKind::Overloaded, ""));
        assert_eq!([said.may_be_charged(Some(200)), said.may_be_charged(Some(503))], [true, false]);
    }
}
