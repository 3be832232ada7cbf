use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use rail_stdx::Proxies;

use crate::{Place, WebFault};

/// The way to a place.
pub(crate) fn via(proxies: &Proxies, place: &Place) -> Result<Via, WebFault> {
    let scheme = if place.is_secure() { "https" } else { "http" };
    let Some(proxy) = proxies.toward(scheme) else { return Ok(Via::Direct) };
    let uri = Uri::builder().scheme(scheme).authority(place.authority()).path_and_query("/").build();
    let uri = uri.map_err(|error| WebFault::unreachable(place, error))?;
    // The value is not shown: it may hold a password.
    let unusable = || {
        let what = "the proxy for the web is no address of a proxy; write `http://HOST:PORT`, `https://…` or `socks5://…`";
        WebFault::Misconfigured(what.to_owned())
    };
    let matcher = || Matcher::builder().all(proxy.reveal().to_owned());
    match matcher().no(proxies.no.clone().unwrap_or_default()).build().intercept(&uri) {
        Some(found) => of(&found).ok_or_else(unusable),
        // One that can't be read is not the same as none: who names one does not want to be seen without it.
        None if matcher().build().intercept(&uri).is_none() => Err(unusable()),
        None => Ok(Via::Direct),
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
