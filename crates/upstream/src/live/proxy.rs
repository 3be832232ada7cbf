use std::net::IpAddr;

use http::uri::{Authority, Scheme};
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use rail_route::Provider;
use rail_stdx::Proxies;

use super::fault;
use crate::TransportError;

/// The way to a host.
#[derive(Clone, PartialEq)]
pub(super) enum Via {
    Direct,
    /// Secure hosts through a tunnel, plain ones by asking the proxy for the whole address.
    Http {
        proxy: Uri,
        auth: Option<HeaderValue>,
    },
    /// The proxy resolves the name.
    Socks5 {
        proxy: Uri,
        auth: Option<(String, String)>,
    },
}

impl Via {
    /// Whether the way to the proxy itself is secure.
    pub(super) fn is_secure(&self) -> bool {
        match self {
            Via::Http { proxy, .. } => proxy.scheme() == Some(&Scheme::HTTPS),
            Via::Direct | Via::Socks5 { .. } => false,
        }
    }

    /// The proxy's host and port, without what is secret.
    pub(super) fn shown(&self) -> Option<String> {
        match self {
            Via::Direct => None,
            Via::Http { proxy, .. } | Via::Socks5 { proxy, .. } => {
                proxy.authority().map(Authority::to_string)
            }
        }
    }

    /// What a request must say to the proxy itself, which sees only those to plain addresses.
    pub(super) fn header_for(&self, uri: &Uri) -> Option<HeaderValue> {
        match self {
            Via::Http { auth, .. } if uri.scheme() == Some(&Scheme::HTTP) => auth.clone(),
            Via::Direct | Via::Http { .. } | Via::Socks5 { .. } => None,
        }
    }
}

/// The way that a provider's settings and the environment say.
pub(super) fn via(provider: &Provider, uri: &Uri, environment: &Proxies) -> Result<Via, TransportError> {
    let all = |url: &str| Matcher::builder().all(url.to_owned());
    // The value is not shown: it may hold a password.
    let (url, no, what) = match provider.proxy.as_deref() {
        Some("direct") => return Ok(Via::Direct),
        Some(url) => (url, "", format!("`providers.{}.proxy`", provider.name)),
        None => match environment.toward(uri.scheme_str().unwrap_or_default()) {
            Some(proxy) if !is_loopback(uri) => {
                let no = environment.no.as_deref().unwrap_or_default();
                (proxy.reveal(), no, "the proxy of the environment".to_owned())
            }
            Some(_) | None => return Ok(Via::Direct),
        },
    };
    match all(url).no(no.to_owned()).build().intercept(uri) {
        Some(found) => to_proxy(&found).ok_or_else(|| unusable(&what)),
        // One that can't be read is not the same as none: who names one does not want to be seen without it.
        None if all(url).build().intercept(uri).is_none() => Err(unusable(&what)),
        None => Ok(Via::Direct),
    }
}

fn to_proxy(found: &Intercept) -> Option<Via> {
    let proxy = found.uri();
    match proxy.scheme_str()? {
        "http" | "https" => Some(Via::Http { proxy: proxy.clone(), auth: found.basic_auth().cloned() }),
        "socks5" | "socks5h" => {
            let port = proxy.port_u16().unwrap_or(1080);
            let proxy = Uri::builder()
                .scheme("http")
                .authority(format!("{}:{port}", proxy.host()?))
                .path_and_query("/");
            let auth = found.raw_auth().map(|(name, password)| (name.to_owned(), password.to_owned()));
            Some(Via::Socks5 { proxy: proxy.build().ok()?, auth })
        }
        _ => None,
    }
}

fn unusable(what: &str) -> TransportError {
    fault::unsendable(format!(
        "{what} is no address of a proxy; write `http://HOST:PORT`, `https://…`, `socks5://…`, or `direct` for none"
    ))
}

/// A server on this machine is never behind the proxy that leads out of it.
fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    address.is_ok_and(|address| address.to_canonical().is_loopback())
        || name == "localhost"
        || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Proxies {
        Proxies::from_variables(|name| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn way(provider_proxy: Option<&str>, pairs: &[(&str, &str)], url: &str) -> String {
        let mut provider =
            Provider::new("p", rail_wire::openai_chat::PROTOCOL.id, "https://api.example.test/v1");
        provider.proxy = provider_proxy.map(str::to_owned);
        match via(&provider, &url.parse().unwrap(), &environment(pairs)) {
            Err(error) => error.problem,
            Ok(Via::Direct) => "direct".to_owned(),
            Ok(Via::Http { proxy, auth }) => format!("{proxy} {auth:?}"),
            Ok(Via::Socks5 { proxy, auth }) => format!("socks5 {proxy} {auth:?}"),
        }
    }

    #[test]
    fn ways() {
        let all: &[(&str, &str)] = &[
            ("HTTPS_PROXY", "http://secure:1"),
            ("http_proxy", "http://plain:2"),
            ("HTTP_PROXY", "http://upper:3"),
            ("NO_PROXY", "example.org, 10.0.0.0/8,.corp.test"),
        ];
        let no = "is no address of a proxy; write `http://HOST:PORT`, `https://…`, `socks5://…`, or `direct` for none";
        let own = format!("`providers.p.proxy` {no}");
        let environments = format!("the proxy of the environment {no}");
        for (own_proxy, pairs, url, expected) in [
            (None, &[][..], "https://api.test/", "direct"),
            (None, all, "https://api.test/", "http://secure:1/ None"),
            (None, all, "http://api.test/", "http://plain:2/ None"),
            (None, all, "https://example.org/", "direct"),
            (None, all, "https://api.example.org/", "direct"),
            (None, all, "https://notexample.org/", "http://secure:1/ None"),
            (None, all, "https://10.1.2.3/", "direct"),
            (None, all, "https://a.corp.test:8443/", "direct"),
            (None, all, "http://localhost:11434/", "direct"),
            (None, all, "http://LOCALHOST.:11434/", "direct"),
            (None, all, "http://dev.localhost/", "direct"),
            (None, all, "http://127.3.2.1:1234/", "direct"),
            (None, all, "http://[::1]:1234/", "direct"),
            (None, all, "http://[::ffff:127.0.0.1]:1234/", "direct"),
            (Some("direct"), all, "https://api.test/", "direct"),
            (Some("http://mine:9"), all, "http://localhost:1/", "http://mine:9/ None"),
            (Some("http://mine:9"), all, "https://example.org/", "http://mine:9/ None"),
            (Some("mine:9"), &[], "https://a.test/", "http://mine:9/ None"),
            (Some("http://u:p@mine:9"), &[], "https://a.test/", "http://mine:9/ Some(Sensitive)"),
            (
                Some("socks5://u:p@mine"),
                &[],
                "https://a.test/",
                "socks5 http://mine:1080/ Some((\"u\", \"p\"))",
            ),
            (Some("ftp://u:p@mine"), &[], "https://a.test/", &own),
            (Some(""), &[], "https://a.test/", &own),
            (None, &[("ALL_PROXY", "socks5h://s:5")], "https://a.test/", "socks5 http://s:5/ None"),
            (None, &[("ALL_PROXY", "socks4://s:5")], "https://a.test/", &environments),
            (None, &[("ALL_PROXY", "gopher://s:5")], "https://a.test/", &environments),
            (
                None,
                &[("HTTPS_PROXY", "gopher://s"), ("ALL_PROXY", "http://a:1")],
                "https://a.test/",
                &environments,
            ),
            (None, &[("HTTPS_PROXY", "http://[s"), ("NO_PROXY", "b.test")], "https://a.test/", &environments),
            (None, &[("HTTPS_PROXY", "http://[s")], "http://a.test/", "direct"),
            (
                None,
                &[("HTTPS_PROXY", ""), ("all_proxy", "http://a:1")],
                "https://a.test/",
                "http://a:1/ None",
            ),
            (None, &[("https_proxy", "http://a:1"), ("no_proxy", "*")], "https://a.test/", "direct"),
        ] {
            assert_eq!(way(own_proxy, pairs, url), expected, "{own_proxy:?} {pairs:?} {url}");
        }
    }
}
