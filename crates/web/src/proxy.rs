use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use rail_stdx::Secret;

use crate::{Place, WebFault};

/// The proxies to go through; they may hold passwords.
#[derive(Clone, Default, Debug)]
pub struct Proxies {
    /// For plain addresses.
    pub http: Option<Secret>,
    /// For secure addresses.
    pub https: Option<Secret>,
    /// For both, where there is none of its own.
    pub all: Option<Secret>,
    /// Hosts that are reached without: names with their subdomains, addresses, networks, or `*`.
    pub no: Option<String>,
}

impl Proxies {
    /// Reads the usual variables, whose lower case wins as with curl.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let read = |name: &str| {
            let named = variable(&name.to_ascii_lowercase()).filter(|value| !value.is_empty());
            named.or_else(|| variable(name).filter(|value| !value.is_empty()))
        };
        Self {
            http: read("HTTP_PROXY").map(Secret::new),
            https: read("HTTPS_PROXY").map(Secret::new),
            all: read("ALL_PROXY").map(Secret::new),
            no: read("NO_PROXY"),
        }
    }

    /// One for everything.
    pub fn only(url: Secret) -> Self {
        Self { all: Some(url), ..Self::default() }
    }

    /// The way to a place.
    pub(crate) fn via(&self, place: &Place) -> Result<Via, WebFault> {
        let url =
            |proxy: &Option<Secret>| proxy.as_ref().map(|url| url.reveal().to_owned()).unwrap_or_default();
        let named = [&self.http, &self.https, &self.all].iter().any(|proxy| proxy.is_some());
        if !named {
            return Ok(Via::Direct);
        }
        let matcher = Matcher::builder()
            .http(url(&self.http))
            .https(url(&self.https))
            .all(url(&self.all))
            .no(self.no.clone().unwrap_or_default())
            .build();
        let scheme = if place.is_secure() { "https" } else { "http" };
        let uri = Uri::builder().scheme(scheme).authority(place.authority()).path_and_query("/").build();
        let uri = uri.map_err(|error| WebFault::unreachable(place, error))?;
        // The value is not shown: it may hold a password.
        let unusable = || {
            let what =
                "the proxy for the web has no address; write `http://HOST:PORT`, `https://…` or `socks5://…`";
            WebFault::Misconfigured(what.to_owned())
        };
        match matcher.intercept(&uri) {
            Some(found) => of(&found).ok_or_else(unusable),
            // One for everything that is used for nothing could not be read.
            None if self.all.is_some() && self.no.is_none() => Err(unusable()),
            None => Ok(Via::Direct),
        }
    }
}

/// The way to a host.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Via {
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

fn of(found: &Intercept) -> Option<Via> {
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
