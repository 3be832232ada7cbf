use crate::Secret;

/// The proxies that an environment names; they may hold passwords.
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

    /// The one for addresses of this scheme, `http` or `https`, whether or not it can be used.
    pub fn toward(&self, scheme: &str) -> Option<&Secret> {
        let own = if scheme == "https" { &self.https } else { &self.http };
        own.as_ref().or(self.all.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_s_own_proxy_comes_before_the_one_for_all() {
        let variables =
            [("https_proxy", "small"), ("HTTPS_PROXY", "large"), ("http_proxy", ""), ("ALL_PROXY", "all")];
        let proxies = Proxies::from_variables(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        });
        let toward = |scheme| proxies.toward(scheme).map(Secret::reveal);
        assert_eq!((toward("https"), toward("http")), (Some("small"), Some("all")));
        assert!(Proxies::default().toward("https").is_none());
        let printed = format!("{:?}", Proxies::only(Secret::new("http://u:password@h:1")));
        assert!(!printed.contains("password"), "{printed}");
    }
}
