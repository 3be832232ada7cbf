use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// From where a server can be reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// From this machine alone.
    Here,
    /// From others.
    Others,
}

impl Reach {
    /// That of a server that listens on this address.
    pub fn of(address: IpAddr) -> Self {
        if address.to_canonical().is_loopback() { Self::Here } else { Self::Others }
    }
}

/// The host that a client calls a server by, without its port.
///
/// A page on the web can make a browser call this machine under a name of its own that leads here (DNS rebinding). It can't make it
/// use a name that the server goes by, which is why every server must look at it, and why it is looked at in one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Host<'a> {
    /// An address, as addresses are written: `127.1` and `2130706433` are names.
    Address(IpAddr),
    /// A name.
    Name(&'a str),
}

impl<'a> Host<'a> {
    /// Reads `host` or `host:port`; none when it is neither.
    pub fn parse(text: &'a str) -> Option<Self> {
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

    /// Whether a server goes by it: this machine, one of its `own` names and addresses, and for one that others can reach any
    /// address, since nobody else can make an address lead here.
    pub fn is_of(&self, reach: Reach, own: &[String]) -> bool {
        let any = matches!((reach, self), (Reach::Others, Self::Address(_)));
        any || self.is_here() || self.is_one_of(own)
    }

    /// Whether it is this machine.
    pub fn is_here(&self) -> bool {
        match self {
            Self::Address(address) => address.to_canonical().is_loopback(),
            Self::Name(name) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Whether it is one of these names and addresses.
    pub fn is_one_of(&self, own: &[String]) -> bool {
        match self {
            Self::Address(address) => own.iter().any(|own| own.parse() == Ok(*address)),
            Self::Name(name) => own.iter().any(|own| own.eq_ignore_ascii_case(name)),
        }
    }
}

impl std::fmt::Display for Host<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

fn is_port(port: Option<&str>) -> bool {
    port.is_none_or(|port| port.bytes().all(|byte| byte.is_ascii_digit()) && port.len() <= 5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_ours(text: &str, reach: Reach) -> Option<bool> {
        let own = ["gateway.example.com".to_owned(), "10.1.2.3".to_owned(), "2001:db8::7".to_owned()];
        Host::parse(text).map(|host| host.is_of(reach, &own))
    }

    #[test]
    fn a_server_goes_by_addresses_and_its_own_names() {
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
            "[2001:db8:0::7]:1",
            // RFC 3986 lets a port be empty.
            "localhost:",
        ];
        for text in both {
            assert_eq!(
                [Reach::Here, Reach::Others].map(|reach| is_ours(text, reach)),
                [Some(true); 2],
                "{text}"
            );
        }
        for text in ["192.168.0.7:4141", "[2001:db8::1]", "0.0.0.0:4141"] {
            assert_eq!(is_ours(text, Reach::Here), Some(false), "{text}");
            assert_eq!(is_ours(text, Reach::Others), Some(true), "{text}");
        }
    }

    #[test]
    fn other_names_are_foreign_and_anything_else_is_none() {
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
            "localhost:123456",
            "user@localhost",
            "localhost/",
            "http://localhost",
            "[::1",
            "[::1]x",
            "[::1]localhost",
            "::1",
            "[localhost]",
            "[fe80::1%25lo]",
            "localhost localhost",
            "localhost,evil.example",
        ];
        for reach in [Reach::Here, Reach::Others] {
            for text in foreign {
                assert_eq!(is_ours(text, reach), Some(false), "{text}");
            }
            for text in malformed {
                assert_eq!(is_ours(text, reach), None, "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[ -~]{0,24}|\\[?[0-9a-f:.%]{0,12}\\]?(:[0-9]{0,6})?") {
            let _ = is_ours(&text, Reach::Here);
        }

        #[test]
        fn a_name_with_anything_around_it_is_another(before in "[a-z.-]{0,3}", after in "[a-z.-]{0,3}") {
            prop_assume!(!(before.is_empty() && after.is_empty()));
            let name = format!("{before}gateway.example.com{after}");
            prop_assert_eq!(is_ours(&name, Reach::Others), Some(false));
        }
    }
}
