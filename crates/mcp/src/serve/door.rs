//! Who may come in over HTTP.
//!
//! A page on the web can make a browser call this machine, under a name of its own that leads here (DNS rebinding) or from another site.
//! Neither has a name that we go by, and no browser is a client of ours.

use std::net::IpAddr;

use http::uri::Authority;
use http::{HeaderMap, StatusCode, header};
use rail_stdx::Secret;
use subtle::ConstantTimeEq;

/// The path at which MCP is spoken.
pub(super) const PATH: &str = "/mcp";

/// Who may come in.
pub(super) struct Door {
    /// Whether others than this machine can reach it.
    pub(super) open_to_others: bool,
    /// Further names that it goes by.
    pub(super) names: Vec<String>,
    /// What a client must bring.
    pub(super) key: Option<Secret>,
}

/// Why a request does not come in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    NoHost,
    ForeignHost,
    Browser,
    NothingThere,
    NoKey,
}

impl Refused {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::NoHost => StatusCode::BAD_REQUEST,
            Self::ForeignHost | Self::Browser => StatusCode::FORBIDDEN,
            Self::NothingThere => StatusCode::NOT_FOUND,
            Self::NoKey => StatusCode::UNAUTHORIZED,
        }
    }

    pub(super) fn says(self) -> &'static str {
        match self {
            Self::NoHost => "the request's `Host` header is missing, there is more than one, or it names no host",
            Self::ForeignHost => {
                "this server does not go by the name in the request's `Host` header; call it by its address, or start it with `--host NAME`"
            }
            Self::Browser => "the request comes from a web page (`Origin`), and pages are not served",
            Self::NothingThere => "nothing is served here; MCP is spoken at `/mcp`",
            Self::NoKey => "the key is missing or wrong; send it as `Authorization: Bearer KEY`",
        }
    }
}

impl Door {
    /// Whether a request may come in; the first thing that is wrong with it answers it.
    pub(super) fn admit(&self, path: &str, headers: &HeaderMap) -> Result<(), Refused> {
        self.host(headers)?;
        if headers.contains_key(header::ORIGIN) {
            return Err(Refused::Browser);
        }
        if path != PATH {
            return Err(Refused::NothingThere);
        }
        self.has_key(headers)
    }

    fn host(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let mut all = headers.get_all(header::HOST).iter();
        let (Some(value), None) = (all.next(), all.next()) else { return Err(Refused::NoHost) };
        let text = value.to_str().map_err(|_| Refused::NoHost)?;
        let authority: Authority = text.parse().map_err(|_| Refused::NoHost)?;
        let host = authority.host();
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_ours = match bare.parse::<IpAddr>() {
            Ok(address) => self.open_to_others || address.to_canonical().is_loopback(),
            Err(_) => host.eq_ignore_ascii_case("localhost"),
        };
        let is_named = || self.names.iter().any(|name| name.eq_ignore_ascii_case(bare));
        // `user@host` is no host, whatever stands behind it.
        if text.contains('@') {
            return Err(Refused::NoHost);
        }
        if is_ours || is_named() { Ok(()) } else { Err(Refused::ForeignHost) }
    }

    fn has_key(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let Some(key) = &self.key else { return Ok(()) };
        let mut all = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (all.next(), all.next()) else { return Err(Refused::NoKey) };
        let text = value.to_str().map_err(|_| Refused::NoKey)?;
        let sent = text.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let (_, sent) = sent.ok_or(Refused::NoKey)?;
        let same = sent.trim().as_bytes().ct_eq(key.reveal().as_bytes());
        if bool::from(same) { Ok(()) } else { Err(Refused::NoKey) }
    }
}
