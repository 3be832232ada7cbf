//! By which names a gateway may be called, and from which pages.
//!
//! A page on the web can make a browser call this machine, under a name of its own that leads here (DNS rebinding) or from
//! another site. Neither has a name that we know.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::{HeaderMap, Version, header};

/// From where a gateway can be reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    /// From this machine alone.
    Here,
    /// From others.
    Others,
}

impl Reach {
    /// That of a gateway that listens on this address.
    pub(super) fn of(address: IpAddr) -> Self {
        if address.to_canonical().is_loopback() { Self::Here } else { Self::Others }
    }
}

/// Why a request's `Host` is not ours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum WrongHost {
    /// It is missing, there are several, or it is no host.
    Malformed,
    /// It is a name that we do not go by.
    Foreign(String),
}

/// Whether a request calls this gateway by a name that it goes by: an address or `localhost`, or one of `own`.
///
/// What listens on loopback goes by loopback addresses only. A request of HTTP/1.0 may have no `Host`; no browser sends that.
pub(super) fn check_host(
    headers: &HeaderMap,
    version: Version,
    reach: Reach,
    own: &[String],
) -> Result<(), WrongHost> {
    let mut all = headers.get_all(header::HOST).iter();
    let (first, second) = (all.next(), all.next());
    let value = match (first, second) {
        (None, _) if version == Version::HTTP_10 => return Ok(()),
        (Some(value), None) => value.to_str().map_err(|_| WrongHost::Malformed)?,
        (None | Some(_), _) => return Err(WrongHost::Malformed),
    };
    let host = Host::parse(value).ok_or(WrongHost::Malformed)?;
    let ours = match reach {
        Reach::Here => host.is_here() || host.is_one_of(own),
        Reach::Others => host.is_here() || host.is_one_of(own) || matches!(host, Host::Address(_)),
    };
    if ours { Ok(()) } else { Err(WrongHost::Foreign(host.shown())) }
}

/// The page's origin that a browser names, if it is neither on this machine nor one of `own`.
pub(super) fn foreign_origin<'a>(headers: &'a HeaderMap, own: &[String]) -> Option<&'a [u8]> {
    let foreign = |value: &&[u8]| {
        let origin = std::str::from_utf8(value).ok().and_then(|text| text.split_once("://"));
        let host = origin.and_then(|(_, host)| Host::parse(host));
        !host.is_some_and(|host| host.is_here() || host.is_one_of(own))
    };
    headers.get_all(header::ORIGIN).iter().map(|value| value.as_bytes()).find(foreign)
}

/// A host, without its port.
#[derive(PartialEq, Eq, Debug)]
enum Host<'a> {
    Address(IpAddr),
    Name(&'a str),
}

impl<'a> Host<'a> {
    /// Reads `host` or `host:port`; none when it is neither.
    fn parse(text: &'a str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']')?;
                let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) };
                return is_port(port).then_some(Self::Address(host.parse::<Ipv6Addr>().ok()?.into()));
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if host.is_empty() || !host.bytes().all(is_name) || !is_port(port) {
            return None;
        }
        Some(host.parse::<Ipv4Addr>().map_or(Self::Name(host), |address| Self::Address(address.into())))
    }

    fn is_here(&self) -> bool {
        match self {
            Self::Address(address) => address.to_canonical().is_loopback(),
            Self::Name(name) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    fn is_one_of(&self, own: &[String]) -> bool {
        match self {
            Self::Address(address) => own.iter().any(|own| own.parse() == Ok(*address)),
            Self::Name(name) => own.iter().any(|own| own.eq_ignore_ascii_case(name)),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Address(address) => address.to_string(),
            Self::Name(name) => (*name).to_owned(),
        }
    }
}

fn is_port(port: Option<&str>) -> bool {
    port.is_none_or(|port| port.bytes().all(|byte| byte.is_ascii_digit()) && port.len() <= 5)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn headers(name: http::HeaderName, values: &[&str]) -> HeaderMap {
        let value = |text: &&str| (name.clone(), HeaderValue::from_str(text).unwrap());
        values.iter().map(value).collect()
    }

    fn host(values: &[&str], reach: Reach) -> Result<(), WrongHost> {
        let own = ["gateway.example.com".to_owned(), "10.1.2.3".to_owned()];
        check_host(&headers(header::HOST, values), Version::HTTP_11, reach, &own)
    }

    #[test]
    fn a_gateway_goes_by_addresses_and_its_own_names() {
        let both = [
            "localhost",
            "LocalHost:4141",
            "127.0.0.1:4141",
            "127.9.9.9",
            "[::1]:80",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "gateway.example.com:443",
            "Gateway.Example.COM",
            "10.1.2.3:80",
        ];
        for text in both {
            assert_eq!(
                (host(&[text], Reach::Here), host(&[text], Reach::Others)),
                (Ok(()), Ok(())),
                "{text}"
            );
        }
        for text in ["192.168.0.7:4141", "[2001:db8::1]", "0.0.0.0:4141"] {
            assert!(matches!(host(&[text], Reach::Here), Err(WrongHost::Foreign(_))), "{text}");
            assert_eq!(host(&[text], Reach::Others), Ok(()), "{text}");
        }
    }

    #[test]
    fn other_names_are_refused() {
        let foreign = [
            "evil.example",
            "evil.example:4141",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "gateway.example.com.evil.example",
            "evil-localhost",
            "localhost.",
            "127.1",
            "2130706433",
            "0x7f.1",
        ];
        let malformed = [
            "",
            ":4141",
            "localhost:4141:1",
            "localhost:x",
            "user@localhost",
            "localhost/",
            "[::1",
            "[::1]x",
            "::1",
            "[localhost]",
            "[fe80::1%25lo]",
            "localhost localhost",
            "localhost,evil.example",
        ];
        for reach in [Reach::Here, Reach::Others] {
            for text in foreign {
                let name = text.trim_end_matches(":4141").to_owned();
                assert_eq!(host(&[text], reach), Err(WrongHost::Foreign(name)), "{text}");
            }
            for text in malformed {
                assert_eq!(host(&[text], reach), Err(WrongHost::Malformed), "{text}");
            }
            assert_eq!(host(&[], reach), Err(WrongHost::Malformed));
            assert_eq!(host(&["localhost", "localhost"], reach), Err(WrongHost::Malformed));
            assert_eq!(check_host(&HeaderMap::new(), Version::HTTP_10, reach, &[]), Ok(()));
        }
        // RFC 3986 lets a port be empty.
        assert_eq!(host(&["localhost:"], Reach::Here), Ok(()));
    }

    #[test]
    fn pages_of_other_sites_are_known_by_their_origin() {
        let own = ["gateway.example.com".to_owned()];
        let foreign = |values: &[&str]| foreign_origin(&headers(header::ORIGIN, values), &own).is_some();
        assert!(!foreign(&[]));
        for origin in
            ["http://localhost:3000", "http://127.0.0.1:4141", "https://gateway.example.com", "http://[::1]"]
        {
            assert!(!foreign(&[origin]), "{origin}");
        }
        for origin in [
            "null",
            "",
            "https://evil.example",
            "http://localhost.evil.example",
            "http://localhost@evil.example",
            "localhost",
            "http://10.0.0.1",
        ] {
            assert!(foreign(&[origin]), "{origin}");
        }
        assert!(foreign(&["http://localhost", "https://evil.example"]));
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[ -~]{0,24}|\\[?[0-9a-f:.%]{0,12}\\]?(:[0-9]{0,6})?") {
            let _ = Host::parse(&text);
            let _ = host(&[text.trim()], Reach::Here);
        }

        #[test]
        fn a_name_with_anything_around_it_is_another(before in "[a-z.-]{0,3}", after in "[a-z.-]{0,3}") {
            prop_assume!(!(before.is_empty() && after.is_empty()));
            let name = format!("{before}gateway.example.com{after}");
            prop_assert!(host(&[&name], Reach::Others).is_err());
        }
    }
}
