//! By which names a gateway may be called, and from which pages.
//!
//! A page on the web can make a browser call this machine, under a name of its own that leads here (DNS rebinding) or from
//! another site. Neither has a name that we know.

use http::{HeaderMap, Version, header};
use rail_stdx::{Host, Reach};

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
    if host.is_of(reach, own) { Ok(()) } else { Err(WrongHost::Foreign(host.to_string())) }
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

#[cfg(test)]
mod tests {
    use http::HeaderValue;

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
        let foreign = |name: &str| Err(WrongHost::Foreign(name.to_owned()));
        for (values, here, others) in [
            (&["LocalHost:4141"][..], Ok(()), Ok(())),
            (&["Gateway.Example.COM:443"], Ok(()), Ok(())),
            (&["192.168.0.7:4141"], foreign("192.168.0.7"), Ok(())),
            (&["evil.example:4141"], foreign("evil.example"), foreign("evil.example")),
            (&["user@localhost"], Err(WrongHost::Malformed), Err(WrongHost::Malformed)),
            (&[], Err(WrongHost::Malformed), Err(WrongHost::Malformed)),
            (&["localhost", "localhost"], Err(WrongHost::Malformed), Err(WrongHost::Malformed)),
        ] {
            assert_eq!(
                (host(values, Reach::Here), host(values, Reach::Others)),
                (here, others),
                "{values:?}"
            );
        }
        assert_eq!(check_host(&HeaderMap::new(), Version::HTTP_10, Reach::Here, &[]), Ok(()));
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
}
