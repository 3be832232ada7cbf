use std::net::IpAddr;

use url::{Host, Url};

/// An address of the web, read as browsers read it: one that may be asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    url: Url,
    who: Who,
    port: u16,
}

/// Who is spoken with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    /// Small letters, no dot at its end.
    Name(String),
    Address(IpAddr),
}

/// Why a text is no address that may be asked for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotAsked {
    /// It is none.
    #[error("`{text}` is no address of the web ({why}); write it whole, such as `https://example.com/page`")]
    Unreadable {
        /// The text, cut.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// It is one of something else.
    #[error("`{0}:` addresses are not fetched; only `http://` and `https://` are")]
    Scheme(String),
    /// It names a user.
    #[error(
        "the address holds a user name or a password, which are never sent; leave out what stands before the `@`"
    )]
    User,
}

impl Place {
    /// Reads an address.
    ///
    /// # Errors
    /// Why it may not be asked for.
    pub fn parse(text: &str) -> Result<Self, NotAsked> {
        let text = text.trim();
        // A bare `example.com/page` is meant to be one; `localhost:80` would be a scheme by the standard.
        let url = match Url::parse(text) {
            Ok(url) => url,
            Err(url::ParseError::RelativeUrlWithoutBase)
                if text.contains('.') && !text.starts_with(['/', '.']) =>
            {
                Url::parse(&format!("https://{text}")).map_err(|error| unreadable(text, &error))?
            }
            Err(error) => return Err(unreadable(text, &error)),
        };
        Self::of(url)
    }

    /// The address that stands in a page of this one, or that this one sends on to.
    ///
    /// # Errors
    /// Why it may not be asked for.
    pub fn join(&self, text: &str) -> Result<Self, NotAsked> {
        Self::of(self.url.join(text).map_err(|error| unreadable(text, &error))?)
    }

    fn of(mut url: Url) -> Result<Self, NotAsked> {
        let port = match (url.scheme(), url.port()) {
            (_, Some(port)) => port,
            ("http", None) => 80,
            ("https", None) => 443,
            (scheme, None) => return Err(NotAsked::Scheme(scheme.to_owned())),
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(NotAsked::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(NotAsked::User);
        }
        // What stands behind `#` is for whoever shows the page; no server sees it.
        url.set_fragment(None);
        let who = match url.host() {
            Some(Host::Domain(name)) => Who::Name(name.trim_end_matches('.').to_ascii_lowercase()),
            Some(Host::Ipv4(address)) => Who::Address(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Who::Address(IpAddr::V6(address)),
            None => return Err(unreadable(url.as_str(), &url::ParseError::EmptyHost)),
        };
        match &who {
            Who::Name(name) if name.is_empty() || name.starts_with('.') => {
                Err(unreadable(url.as_str(), &url::ParseError::EmptyHost))
            }
            Who::Name(_) | Who::Address(_) => Ok(Self { url, who, port }),
        }
    }

    /// The host in one spelling, as permission is asked for it.
    pub fn host(&self) -> String {
        match &self.who {
            Who::Name(name) => name.clone(),
            Who::Address(address) => address.to_canonical().to_string(),
        }
    }

    /// The whole address in one spelling, without what stands behind `#`.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// Whether what is said on the way can't be read by others.
    pub fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    pub(crate) fn who(&self) -> &Who {
        &self.who
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// `host:port`, the port always said.
    pub(crate) fn authority(&self) -> String {
        format!("{}:{}", self.spelled_host(), self.port)
    }

    /// The value of the `host` header: the port only where it is not the usual one.
    pub(crate) fn host_header(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.spelled_host()),
            None => self.spelled_host(),
        }
    }

    /// The path and the query, as a request line has them.
    pub(crate) fn path(&self) -> String {
        match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        }
    }

    fn spelled_host(&self) -> String {
        match &self.who {
            Who::Name(name) => name.clone(),
            Who::Address(IpAddr::V4(address)) => address.to_string(),
            Who::Address(IpAddr::V6(address)) => format!("[{address}]"),
        }
    }
}

/// The same place with these pairs behind what its query holds already.
pub(crate) fn with_query(place: &Place, pairs: &[(&str, &str)]) -> Place {
    let mut place = place.clone();
    place.url.query_pairs_mut().extend_pairs(pairs);
    place
}

/// Ends of names that never lead out of a local network.
const LOCAL_ENDS: &[&str] = &[
    "localhost",
    "local",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "home.arpa",
    "localdomain",
    "private",
];

/// Whether a name is one of a local network, whatever it would be resolved to.
pub(crate) fn is_local_name(name: &str) -> bool {
    let ends =
        |end: &&str| name.strip_suffix(*end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    // A name without a dot is completed by the machine's own search list.
    !name.contains('.') || LOCAL_ENDS.iter().any(ends)
}

fn unreadable(text: &str, error: &url::ParseError) -> NotAsked {
    let shown: String = text.chars().filter(|c| !c.is_control()).take(200).collect();
    NotAsked::Unreadable { text: shown, why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn odd_spellings_are_one_host() {
        for (text, host) in [
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://2130706433/", "127.0.0.1"),
            ("http://017700000001/", "127.0.0.1"),
            ("http://127.1/", "127.0.0.1"),
            ("http://127.0.0.1./", "127.0.0.1"),
            ("http://[::ffff:127.0.0.1]/", "127.0.0.1"),
            ("http://[::FFFF:7f00:1]:80/", "127.0.0.1"),
            ("http://[0:0:0:0:0:0:0:1]/", "::1"),
            ("http://%31%32%37.0.0.1/", "127.0.0.1"),
            ("http://127。0。0。1/", "127.0.0.1"),
            ("http://①②⑦.0.0.1/", "127.0.0.1"),
            ("http:\\\\127.0.0.1\\x", "127.0.0.1"),
            ("http:///127.0.0.1/", "127.0.0.1"),
            ("hTTp://LocalHost.:80/", "localhost"),
            ("http://loc\talhost/", "localhost"),
            ("http://ⓛocalhost/", "localhost"),
            ("https://docs.rs/x#y", "docs.rs"),
            ("docs.rs/x", "docs.rs"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
        ] {
            assert_eq!(Place::parse(text).map(|place| place.host()), Ok(host.to_owned()), "{text}");
        }
        assert_eq!(Place::parse("https://docs.rs/x?y#z").unwrap().as_str(), "https://docs.rs/x?y");
    }

    #[test]
    fn what_is_not_asked_for() {
        let said = |text: &str| Place::parse(text).unwrap_err().to_string();
        insta::assert_snapshot!(said("file:///etc/passwd"), @"`file:` addresses are not fetched; only `http://` and `https://` are");
        insta::assert_snapshot!(said("localhost:8080"), @"`localhost:` addresses are not fetched; only `http://` and `https://` are");
        insta::assert_snapshot!(said("https://me:pw@docs.rs/"), @"the address holds a user name or a password, which are never sent; leave out what stands before the `@`");
        insta::assert_snapshot!(said("https://docs.rs@127.0.0.1/"), @"the address holds a user name or a password, which are never sent; leave out what stands before the `@`");
        insta::assert_snapshot!(said("the docs"), @"`the docs` is no address of the web (relative URL without a base); write it whole, such as `https://example.com/page`");
        insta::assert_snapshot!(said("http://"), @"`http://` is no address of the web (empty host); write it whole, such as `https://example.com/page`");
        insta::assert_snapshot!(said("http://./"), @"`http://./` is no address of the web (empty host); write it whole, such as `https://example.com/page`");
        for text in [
            "ftp://a.example/",
            "javascript:alert(1)",
            "data:text/html,x",
            "gopher://a:70/",
            "ws://a.example",
        ] {
            assert!(matches!(Place::parse(text), Err(NotAsked::Scheme(_))), "{text}");
        }
        for text in ["", "/etc/passwd", "./x", "http://a b/", "http://1.2.3.4.5/", "http://[::1/"] {
            assert!(matches!(Place::parse(text), Err(NotAsked::Unreadable { .. })), "{text}");
        }
    }

    #[test]
    fn names_of_local_networks() {
        for name in [
            "localhost",
            "a.localhost",
            "printer.local",
            "metadata.google.internal",
            "nas",
            "router.lan",
            "x.home.arpa",
        ] {
            assert!(is_local_name(name), "{name}");
        }
        for name in ["docs.rs", "local.example", "notlocalhost.example", "internal.example.com"] {
            assert!(!is_local_name(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,60}|(https?|file):[/\\\\]{0,3}[0-9a-fx.:@\\[\\]%#?]{0,30}") {
            if let Ok(place) = Place::parse(&text) {
                // What was read once is read the same again.
                prop_assert_eq!(Place::parse(place.as_str()).map(|again| again.host()), Ok(place.host()));
            }
        }

        /// However a machine's own address is spelled, it is that address.
        #[test]
        fn loopback_in_any_spelling(tail in 0_u32..(1 << 24), style in 0_usize..6) {
            let bits = (127 << 24) | tail;
            let [a, b, c, d] = std::net::Ipv4Addr::from(bits).octets();
            let host = match style {
                0 => format!("{bits}"),
                1 => format!("0x{bits:x}"),
                2 => format!("0{bits:o}"),
                3 => format!("0x{a:x}.0{b:o}.{}", u32::from(c) << 8 | u32::from(d)),
                4 => format!("[::ffff:{a}.{b}.{c}.{d}]"),
                _ => format!("%{:02x}{}.{b}.{c}.{d}.", b'1', "27"),
            };
            let place = Place::parse(&format!("http://{host}/")).unwrap();
            prop_assert_eq!(place.host(), format!("{a}.{b}.{c}.{d}"));
        }
    }
}
