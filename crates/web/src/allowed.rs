use std::net::IpAddr;

use crate::address::{is_in, plain};

/// Places that are not on the public internet and may be spoken with all the same.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Allowed(Vec<Entry>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Entry {
    who: Who,
    /// Only at this port.
    port: Option<u16>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Who {
    Network(IpAddr, u8),
    Name(String),
    /// Those under it; it begins with a dot.
    Under(String),
}

/// A text that names no place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is no host, address or network; write `127.0.0.1:8080`, `10.0.0.0/8`, `[::1]:3000`, `intranet.example` or `*.intranet.example`"
)]
pub struct NoPlace(pub String);

impl Allowed {
    /// Reads `127.0.0.1:8080`, `10.0.0.0/8`, `intranet.example`, `*.intranet.example`; each may have a port.
    ///
    /// # Errors
    /// The first that can't be read.
    pub fn parse<T: AsRef<str>>(entries: impl IntoIterator<Item = T>) -> Result<Self, NoPlace> {
        let read = |text: T| entry(text.as_ref()).ok_or_else(|| NoPlace(text.as_ref().to_owned()));
        entries.into_iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an address may be spoken with at a port, whatever name led to it.
    pub(crate) fn has_address(&self, address: IpAddr, port: u16) -> bool {
        let address = plain(address);
        self.at(port).any(|who| match who {
            Who::Network(network, prefix) => is_in(address, *network, *prefix),
            Who::Name(_) | Who::Under(_) => false,
        })
    }

    /// Whether a name may be spoken with at a port, wherever it leads. The name is in small letters, without a dot at its end.
    pub(crate) fn has_name(&self, name: &str, port: u16) -> bool {
        self.at(port).any(|who| match who {
            Who::Network(..) => false,
            Who::Name(known) => known == name,
            Who::Under(end) => name.ends_with(end.as_str()) && name.len() > end.len(),
        })
    }

    fn at(&self, port: u16) -> impl Iterator<Item = &Who> {
        self.0.iter().filter(move |entry| entry.port.is_none_or(|only| only == port)).map(|entry| &entry.who)
    }
}

fn entry(text: &str) -> Option<Entry> {
    let text = text.trim();
    let whole = |who| Some(Entry { who, port: None });
    if let Ok(address) = text.parse::<IpAddr>() {
        return whole(network(address, None)?);
    }
    if let Some((address, prefix)) = text.split_once('/') {
        let address = address.trim_matches(['[', ']']).parse().ok()?;
        return whole(network(address, Some(prefix.parse().ok()?))?);
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => (host, Some(port.parse().ok()?)),
        Some(_) | None => (text, None),
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let who = match address.parse() {
        Ok(address) => network(address, None)?,
        Err(_) => name(host)?,
    };
    Some(Entry { who, port })
}

fn network(address: IpAddr, prefix: Option<u8>) -> Option<Who> {
    let bits = |address: IpAddr| if address.is_ipv4() { 32 } else { 128 };
    let prefix = prefix.unwrap_or(bits(address));
    // `::ffff:10.0.0.0/104` is a network of IPv4 in another spelling.
    let (address, prefix) = match (plain(address), address.is_ipv4()) {
        (IpAddr::V4(inner), false) => (IpAddr::V4(inner), prefix.checked_sub(96)?),
        (address, _) => (address, prefix),
    };
    (prefix <= bits(address)).then_some(Who::Network(address, prefix))
}

fn name(host: &str) -> Option<Who> {
    let (under, alone) = host.strip_prefix("*.").map_or((false, host), |rest| (true, rest));
    let alone = alone.trim_end_matches('.');
    let good = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    if alone.is_empty() || alone.starts_with('.') || alone.contains("..") || !alone.chars().all(good) {
        return None;
    }
    match url::Host::parse(alone).ok()? {
        url::Host::Domain(name) if under => Some(Who::Under(format!(".{name}"))),
        url::Host::Domain(name) => Some(Who::Name(name)),
        // `127.1` is an address in an odd spelling.
        url::Host::Ipv4(address) if !under => network(IpAddr::V4(address), None),
        url::Host::Ipv4(_) | url::Host::Ipv6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_allowed() {
        let allowed = Allowed::parse([
            "127.0.0.1:8080",
            "10.0.0.0/8",
            "[::1]:3000",
            "fd00::/8",
            "Intranet.Example",
            "*.corp.example:443",
            "192.168.1.7",
        ])
        .unwrap();
        let address = |text: &str, port| allowed.has_address(text.parse().unwrap(), port);
        assert!(address("127.0.0.1", 8080) && address("::ffff:127.0.0.1", 8080));
        assert!(!address("127.0.0.1", 8081) && !address("127.0.0.2", 8080));
        assert!(address("10.255.0.1", 1) && !address("11.0.0.1", 1));
        assert!(address("::1", 3000) && !address("::1", 80) && address("fdab::1", 80));
        assert!(address("192.168.1.7", 22) && !address("192.168.1.8", 22));
        assert!(allowed.has_name("intranet.example", 80) && !allowed.has_name("a.intranet.example", 80));
        assert!(allowed.has_name("a.b.corp.example", 443) && !allowed.has_name("a.corp.example", 80));
        assert!(!allowed.has_name("corp.example", 443) && !allowed.has_name("evilcorp.example", 443));
    }

    #[test]
    fn what_names_no_place() {
        for text in [
            "",
            "http://a",
            "a/b",
            "10.0.0.0/33",
            "::1/129",
            "a b",
            "a..b",
            "*.",
            "*",
            "a:port",
            "::ffff:1.2.3.4/90",
        ] {
            assert_eq!(Allowed::parse([text]), Err(NoPlace(text.to_owned())));
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[0-9a-f.:/*\\[\\]% ]{0,30}|\\PC{0,20}") {
            let _ = Allowed::parse([text]);
        }
    }
}
