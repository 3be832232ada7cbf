//! Who may come in over HTTP.
//!
//! A page on the web can make a browser call this machine, under a name of its own that leads here (DNS rebinding) or from another site.
//! Neither has a name that we go by, and no browser is a client of ours.

use http::{HeaderMap, StatusCode, header};
use rail_stdx::{Host, Reach, Secret};
use subtle::ConstantTimeEq;

/// The path at which MCP is spoken.
pub(super) const PATH: &str = "/mcp";

/// Who may come in.
pub(super) struct Door {
    /// Who can reach it.
    pub(super) reach: Reach,
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
            Self::NoHost => {
                "the request's `Host` header is missing, there is more than one, or it names no host"
            }
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
        let host = Host::parse(text).ok_or(Refused::NoHost)?;
        if host.is_of(self.reach, &self.names) { Ok(()) } else { Err(Refused::ForeignHost) }
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

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use http::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    use super::*;

    fn headers(all: &[(HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            headers.append(name.clone(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    fn here() -> Door {
        Door { reach: Reach::Here, names: vec!["dev.example".to_owned()], key: None }
    }

    fn host(door: &Door, hosts: &[&str]) -> Result<(), Refused> {
        let all: Vec<_> = hosts.iter().map(|host| (header::HOST, *host)).collect();
        door.admit(PATH, &headers(&all))
    }

    #[test]
    fn it_goes_by_its_own_names_only() {
        let open = Door { reach: Reach::Others, ..here() };
        for ours in [
            "127.0.0.1",
            "127.0.0.1:80",
            "LocalHost:4141",
            "[::1]:1",
            "127.9.9.9",
            "[::ffff:127.0.0.1]",
            "Dev.Example:1",
        ] {
            assert_eq!((host(&here(), &[ours]), host(&open, &[ours])), (Ok(()), Ok(())), "{ours}");
        }
        for address in ["10.0.0.1:80", "[2001:db8::1]", "0.0.0.0"] {
            assert_eq!(
                (host(&here(), &[address]), host(&open, &[address])),
                (Err(Refused::ForeignHost), Ok(())),
                "{address}"
            );
        }
        for foreign in
            ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "2130706433", "0x7f.1"]
        {
            for door in [&here(), &open] {
                assert_eq!(host(door, &[foreign]), Err(Refused::ForeignHost), "{foreign}");
            }
        }
        for broken in [
            &[][..],
            &["localhost", "localhost"],
            &[""],
            &["a b"],
            &["evil@127.0.0.1"],
            &["http://localhost"],
            &["[::1]localhost"],
        ] {
            assert_eq!(host(&here(), broken), Err(Refused::NoHost), "{broken:?}");
        }
    }

    #[test]
    fn no_page_comes_in_and_nothing_stands_elsewhere() {
        let local = (header::HOST, "localhost");
        for origin in ["http://localhost", "null", "https://evil.example", ""] {
            let asked = headers(&[local.clone(), (header::ORIGIN, origin)]);
            assert_eq!(here().admit(PATH, &asked), Err(Refused::Browser), "{origin}");
        }
        for path in ["/", "/mcp/", "/MCP", "/mcp/x", "//mcp", ""] {
            assert_eq!(
                here().admit(path, &headers(std::slice::from_ref(&local))),
                Err(Refused::NothingThere),
                "{path}"
            );
        }
    }

    #[test]
    fn the_key_opens_and_nothing_else_does() {
        let door = Door { key: Some(Secret::new("right")), ..here() };
        let with = |keys: &[&str]| {
            let mut all = vec![(header::HOST, "localhost")];
            all.extend(keys.iter().map(|key| (header::AUTHORIZATION, *key)));
            door.admit(PATH, &headers(&all))
        };
        assert_eq!((with(&["Bearer right"]), with(&["bearer  right "])), (Ok(()), Ok(())));
        let wrong: [&[&str]; 8] = [
            &[],
            &["right"],
            &["Bearer"],
            &["Bearer "],
            &["Bearer rightly"],
            &["Bearer Right"],
            &["Basic right"],
            &["Bearer right", "Bearer right"],
        ];
        for keys in wrong {
            assert_eq!(with(keys), Err(Refused::NoKey), "{keys:?}");
        }
    }

    proptest! {
        #[test]
        fn a_host_that_is_let_in_is_ours(text in "(localhost|127\\.0\\.0\\.1|\\[::1\\]|[a-z.@:0-9\\[\\]/%-]){0,6}") {
            if host(&here(), &[&text]).is_ok() {
                let name = text.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
                let name = name.map_or(text.as_str(), |(name, _)| name);
                let bare = name.trim_start_matches('[').trim_end_matches(']');
                let is_loopback = bare.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
                prop_assert!(is_loopback || name.eq_ignore_ascii_case("localhost"), "{}", text);
            }
        }
    }
}
