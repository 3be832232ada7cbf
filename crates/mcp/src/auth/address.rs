//! Addresses of servers: which may be spoken to at all, and which are the same.

use std::fmt;
use std::net::IpAddr;

use http::Uri;

/// An address that may be spoken to: `https`, or `http` on this machine itself.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// As it was written, without a fragment.
    text: String,
    uri: Uri,
}

/// Who may be spoken to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    /// Also this machine, without encryption: the server to be used is here too.
    Loopback,
    /// Only others, by `https`: a server elsewhere must not have us knock at what runs here.
    Remote,
}

/// Why an address can't be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BadAddress {
    NotAbsolute,
    NotHttps,
    Loopback,
    UserInfo,
    Fragment,
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAbsolute => "it is no whole address",
            Self::NotHttps => "it is not `https`, which only a server on this machine need not be",
            Self::Loopback => "it is on this machine, and the server that names it is not",
            Self::UserInfo => "it has a user name in it",
            Self::Fragment => "it has a fragment",
        })
    }
}

impl Address {
    /// The address of the server itself, which the user gave: a fragment means nothing there.
    pub(super) fn of_server(text: &str) -> Result<Self, BadAddress> {
        Self::checked(text.split('#').next().unwrap_or_default())
    }

    /// An address that somebody else named.
    pub(super) fn named(text: &str, reach: Reach) -> Result<Self, BadAddress> {
        if text.contains('#') {
            return Err(BadAddress::Fragment);
        }
        let address = Self::checked(text)?;
        match reach {
            Reach::Remote if address.is_loopback() => Err(BadAddress::Loopback),
            Reach::Remote | Reach::Loopback => Ok(address),
        }
    }

    fn checked(text: &str) -> Result<Self, BadAddress> {
        let uri: Uri = text.trim().parse().map_err(|_| BadAddress::NotAbsolute)?;
        let authority = uri.authority().ok_or(BadAddress::NotAbsolute)?;
        if authority.as_str().contains('@') {
            return Err(BadAddress::UserInfo);
        }
        if authority.host().is_empty() {
            return Err(BadAddress::NotAbsolute);
        }
        let address = Self { text: text.trim().to_owned(), uri };
        match address.uri.scheme_str() {
            Some("https") => Ok(address),
            Some("http") if address.is_loopback() => Ok(address),
            Some(_) => Err(BadAddress::NotHttps),
            None => Err(BadAddress::NotAbsolute),
        }
    }

    /// As it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Who may be named by whoever is at this address.
    pub(super) fn reach(&self) -> Reach {
        if self.is_loopback() { Reach::Loopback } else { Reach::Remote }
    }

    /// The host, for messages.
    pub(super) fn host(&self) -> String {
        self.uri.authority().map(|authority| authority.as_str().to_ascii_lowercase()).unwrap_or_default()
    }

    /// Scheme, host and port, as they are compared.
    pub(super) fn origin(&self) -> String {
        let scheme = self.uri.scheme_str().unwrap_or_default();
        let host = self.uri.host().unwrap_or_default().to_ascii_lowercase();
        let usual = if scheme == "https" { 443 } else { 80 };
        match self.uri.port_u16().filter(|port| *port != usual) {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        }
    }

    /// The path without a `/` at its end; empty at the root.
    pub(super) fn path(&self) -> &str {
        self.uri.path().trim_end_matches('/')
    }

    /// The query, with its `?`.
    fn query(&self) -> String {
        self.uri.query().map(|query| format!("?{query}")).unwrap_or_default()
    }

    /// One spelling for all addresses that are the same.
    pub(super) fn canonical(&self) -> String {
        format!("{}{}{}", self.origin(), self.path(), self.query())
    }

    /// A well-known place of this address, with its path behind (RFC 8414, RFC 9728).
    pub(super) fn well_known(&self, name: &str) -> String {
        format!("{}/.well-known/{name}{}", self.origin(), self.path())
    }

    /// Whether this address is the other or lies below it, path segment by path segment.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let below = self.path().strip_prefix(other.path());
        let below = below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let asks = other.uri.query().is_none() || other.uri.query() == self.uri.query();
        self.origin() == other.origin() && below && asks
    }

    /// Where a `location` leads from here, in the same origin; None where it leads elsewhere.
    pub(super) fn follow(&self, location: &str) -> Option<Self> {
        let whole = match location.strip_prefix('/') {
            Some(rest) if !rest.starts_with(['/', '\\']) => format!("{}{location}", self.origin()),
            Some(_) | None => location.to_owned(),
        };
        let next = Self::named(&whole, self.reach()).ok()?;
        (next.origin() == self.origin()).then_some(next)
    }

    fn is_loopback(&self) -> bool {
        let host = self.uri.host().unwrap_or_default().to_ascii_lowercase();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || host.ends_with(".localhost")
            || bare.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_https_and_this_machine_are_spoken_to() {
        let told = |text: &str, reach| match Address::named(text, reach) {
            Ok(address) => address.canonical(),
            Err(bad) => format!("{bad:?}"),
        };
        for (text, here, elsewhere) in [
            ("https://A.test/", "https://a.test", "https://a.test"),
            ("https://a.test:443/x/?q=1", "https://a.test/x?q=1", "https://a.test/x?q=1"),
            ("http://127.0.0.1:80/x", "http://127.0.0.1/x", "Loopback"),
            ("http://LOCALHOST:8080", "http://localhost:8080", "Loopback"),
            ("https://[::1]/x", "https://[::1]/x", "Loopback"),
            ("https://[::ffff:127.0.0.1]/x", "https://[::ffff:127.0.0.1]/x", "Loopback"),
            ("http://a.test/", "NotHttps", "NotHttps"),
            ("http://127.0.0.1.test/", "NotHttps", "NotHttps"),
            ("http://localhost@a.test/", "UserInfo", "UserInfo"),
            ("https://a.test/#x", "Fragment", "Fragment"),
            ("javascript:alert(1)", "NotAbsolute", "NotAbsolute"),
            ("file:///etc/passwd", "NotAbsolute", "NotAbsolute"),
            ("ftp://a.test/", "NotHttps", "NotHttps"),
            ("/x", "NotAbsolute", "NotAbsolute"),
            ("a.test", "NotAbsolute", "NotAbsolute"),
            ("", "NotAbsolute", "NotAbsolute"),
        ] {
            assert_eq!(told(text, Reach::Loopback), here, "{text}");
            assert_eq!(told(text, Reach::Remote), elsewhere, "{text}");
        }
    }

    #[test]
    fn a_resource_covers_what_lies_below_it() {
        for (server, resource, covers) in [
            ("https://a.test/mcp", "https://a.test/mcp", true),
            ("https://a.test/mcp/", "https://A.test:443/mcp", true),
            ("https://a.test/mcp/x", "https://a.test", true),
            ("https://a.test/mcp?x=1", "https://a.test/mcp", true),
            ("https://a.test/mcp", "https://a.test/mcp?x=1", false),
            ("https://a.test/mcpx", "https://a.test/mcp", false),
            ("https://a.test/mcp", "https://a.test/other", false),
            ("https://a.test/mcp", "https://b.test/mcp", false),
            ("https://a.test/mcp", "https://a.test:8443/mcp", false),
        ] {
            let [server, resource] = [server, resource].map(|text| Address::of_server(text).unwrap());
            assert_eq!(server.is_within(&resource), covers, "{server:?} {resource:?}");
        }
    }

    #[test]
    fn redirects_lead_nowhere_else() {
        let from = Address::of_server("https://a.test/x").unwrap();
        let to = |location: &str| from.follow(location).map(|to| to.canonical());
        assert_eq!(to("/y").as_deref(), Some("https://a.test/y"));
        assert_eq!(to("https://a.test:443/z").as_deref(), Some("https://a.test/z"));
        for elsewhere in
            ["//b.test/y", "/\\b.test", "https://b.test/", "http://a.test/x", "y", "", "http://127.0.0.1/"]
        {
            assert_eq!(to(elsewhere), None, "{elsewhere}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_judged(text in "(https?://)?(\\PC|[/:@#?.\\[\\]]){0,30}") {
            if let Ok(address) = Address::named(&text, Reach::Remote) {
                prop_assert!(address.origin().starts_with("https://"));
                let again = Address::named(&address.canonical(), Reach::Remote).unwrap();
                prop_assert_eq!(again.canonical(), address.canonical());
            }
        }
    }
}
