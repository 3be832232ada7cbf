use std::path::Path;
use std::sync::Arc;

use rail_route::Provider;

use crate::endpoint::{plain, shown};
use crate::{Loaded, Origin};

/// A provider as it may be shown: nothing of it is secret.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedProvider<'a> {
    /// The provider itself.
    pub provider: &'a Arc<Provider>,
    /// Whether it stands at the front of every chain that has it.
    pub active: bool,
    /// Its address, without a password and a query.
    pub address: String,
    /// Where it comes from: `config.toml:3`, `ANTHROPIC_API_KEY is set`, `BACK_* in ~/.gemini/.env`.
    pub origin: String,
    /// What is known of its key.
    pub key: KeyShown,
}

/// What may be shown of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeyShown {
    /// There is none.
    None,
    /// Enough of each to tell it from others.
    Hints(Vec<String>),
    /// It is in a header of one's own.
    InHeader(String),
}

impl Loaded {
    /// All providers, in the order of their names. `home` is shortened to `~`.
    pub fn listed_providers(&self, home: Option<&Path>) -> Vec<ListedProvider<'_>> {
        let listed = |provider| self.listed(provider, home);
        self.routing.providers.values().map(listed).collect()
    }

    fn listed<'a>(&'a self, provider: &'a Arc<Provider>, home: Option<&Path>) -> ListedProvider<'a> {
        let address = match &provider.cassette {
            Some(cassette) => tilde(&cassette.display().to_string(), home),
            None => shown(&provider.base_url),
        };
        ListedProvider {
            provider,
            active: self.routing.active.as_ref() == Some(&provider.name),
            address,
            origin: tilde(&self.origin(&provider.name), home),
            key: key(provider),
        }
    }

    /// Who says that there is this provider.
    fn origin(&self, name: &str) -> String {
        if self.settings.providers.contains_key(name) {
            return match self.tree.origin_of(&["providers", name]) {
                Origin::File { file, at, .. } => format!("{}:{}", file.display(), at.line),
                other => other.to_string(),
            };
        }
        let extras = &self.extras;
        let back = extras.hijack.backs.iter().find(|back| back.provider == name && extras.hijack.enabled);
        let found = || extras.found.iter().find(|found| found.provider.name == name);
        match (back, found()) {
            (Some(back), _) => back.origin.clone(),
            (None, Some(found)) => found.because.clone(),
            (None, None) => "it answers on this machine".to_owned(),
        }
    }
}

fn key(provider: &Provider) -> KeyShown {
    let hints: Vec<String> = provider.keys.iter().map(|key| plain(&key.hint())).collect();
    let names = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
    let header = provider.headers.iter().find(|(name, _)| names.contains(&name.as_str()));
    match (hints.is_empty(), header) {
        (false, _) => KeyShown::Hints(hints),
        (true, Some((name, _))) => KeyShown::InHeader(name.clone()),
        (true, None) => KeyShown::None,
    }
}

/// Paths below the home begin with `~`.
fn tilde(text: &str, home: Option<&Path>) -> String {
    match home.and_then(Path::to_str).filter(|home| *home != "/") {
        Some(home) => text.replace(&format!("{home}/"), "~/"),
        None => text.to_owned(),
    }
}
