//! What a configuration keeps secret.

use rail_route::Provider;
use rail_stdx::Mask;

use crate::Loaded;

impl Loaded {
    /// Covers in texts what this configuration keeps secret, these words besides, and what looks like a secret.
    pub fn mask<'a>(&'a self, more: impl IntoIterator<Item = &'a str>) -> Mask {
        let ledger = self.settings.gateway.ledger.iter().map(|address| address.0.reveal());
        let ledger = ledger.flat_map(|address| [address, password(address)]);
        let search = self.settings.web.search.key.iter().map(|key| key.0.reveal());
        let proxy = self.settings.web.proxy.iter().map(|proxy| password(proxy));
        let providers = self.routing.providers.values();
        Mask::of(
            providers
                .flat_map(|provider| secrets_of(provider))
                .chain(ledger)
                .chain(search)
                .chain(proxy)
                .chain(more),
        )
    }
}

fn secrets_of(provider: &Provider) -> impl Iterator<Item = &str> {
    let headers = provider.headers.iter().filter(|(name, _)| names_secret(name));
    let words = headers.flat_map(|(_, value)| value.reveal().split([' ', ';', ',', '=']));
    provider.keys.iter().map(|key| key.reveal()).chain(words)
}

/// The password that stands in an address; empty when there is none.
fn password(address: &str) -> &str {
    let authority = address.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    user.split_once(':').map_or("", |(_, password)| password)
}

fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["auth", "key", "token", "secret", "password", "cookie"].iter().any(|word| name.contains(word))
}
