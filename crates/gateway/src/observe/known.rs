//! What of the configuration metrics and traces need: which targets have a name of their own, and whose they are.

use std::collections::{BTreeMap, BTreeSet};

use rail_route::{Provider, Routing};

/// What a target is called that nobody configured.
pub(crate) const OTHER: &str = "other";

/// The targets and providers that the configuration names.
///
/// Clients may ask for any model of a provider; only configured ones become labels, so that nobody can fill a memory with names.
#[derive(Default)]
pub(crate) struct Known {
    targets: BTreeSet<String>,
    providers: BTreeMap<String, ProviderNames>,
}

/// The names of a provider outside the configuration.
pub(crate) struct ProviderNames {
    /// What the GenAI conventions call it; its own name where they have none.
    pub(crate) system: String,
    /// Its host.
    pub(crate) host: String,
    /// Its port.
    pub(crate) port: u16,
    /// The label of its targets that nobody configured.
    other: String,
}

impl Known {
    /// Those of this routing.
    pub(crate) fn new(routing: &Routing) -> Self {
        let targets = routing.providers.keys().flat_map(|name| routing.targets_of(name));
        let providers = routing.providers.values();
        Self {
            targets: targets.map(|target| target.to_string()).collect(),
            providers: providers.map(|provider| (provider.name.clone(), names(provider))).collect(),
        }
    }

    /// Whether a target is configured.
    pub(crate) fn has(&self, target: &str) -> bool {
        self.targets.contains(target)
    }

    /// A target as a label: itself, or its provider's `other`.
    pub(crate) fn label<'a>(&'a self, target: &'a str) -> &'a str {
        if self.has(target) {
            return target;
        }
        self.provider(target).map_or(OTHER, |provider| &provider.other)
    }

    /// The provider of a target.
    pub(crate) fn provider(&self, target: &str) -> Option<&ProviderNames> {
        self.providers.get(target.split(',').next()?)
    }

    /// What the GenAI conventions call a target's provider.
    pub(crate) fn system<'a>(&'a self, target: &str) -> &'a str {
        self.provider(target).map_or(OTHER, |provider| &provider.system)
    }
}

/// The model of a target written `provider,model`.
pub(crate) fn model_of(target: &str) -> &str {
    target.split_once(',').map_or(target, |(_, model)| model)
}

fn names(provider: &Provider) -> ProviderNames {
    let (scheme, rest) = provider.base_url.split_once("://").unwrap_or(("", ""));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let usual = if scheme.eq_ignore_ascii_case("http") { 80 } else { 443 };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().unwrap_or(usual)),
        Some(_) | None => (authority, usual),
    };
    let host = host.to_ascii_lowercase();
    let system = system(&host).unwrap_or(&provider.name).to_owned();
    ProviderNames { system, host, port, other: format!("{},{OTHER}", provider.name) }
}

/// The name that the GenAI conventions have for who answers at this host.
fn system(host: &str) -> Option<&'static str> {
    const SYSTEMS: &[(&str, &str)] = &[
        ("anthropic.com", "anthropic"),
        ("amazonaws.com", "aws.bedrock"),
        ("openai.azure.com", "azure.ai.openai"),
        ("models.ai.azure.com", "azure.ai.inference"),
        ("cohere.com", "cohere"),
        ("cohere.ai", "cohere"),
        ("deepseek.com", "deepseek"),
        ("generativelanguage.googleapis.com", "gcp.gemini"),
        ("aiplatform.googleapis.com", "gcp.vertex_ai"),
        ("groq.com", "groq"),
        ("mistral.ai", "mistral_ai"),
        ("moonshot.ai", "moonshot_ai"),
        ("moonshot.cn", "moonshot_ai"),
        ("openai.com", "openai"),
        ("perplexity.ai", "perplexity"),
        ("x.ai", "x_ai"),
    ];
    let is = |domain: &str| {
        host.strip_suffix(domain).is_some_and(|front| front.is_empty() || front.ends_with(['.', '-']))
    };
    SYSTEMS.iter().find(|(domain, _)| is(domain)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::world::loaded;

    #[test]
    fn only_what_is_configured_has_a_name() {
        let known = Known::new(
            &loaded(
                r#"
                [providers.mine]
                protocol = "openai-chat"
                base_url = "http://LocalHost:1234/v1"
                models = ["a"]
                [providers.google]
                protocol = "gemini"
                base_url = "https://europe-west1-aiplatform.googleapis.com/v1beta"
                key = "k"
                [router]
                default = "google,g"
                "#,
            )
            .routing,
        );
        let label = |target| known.label(target).to_owned();
        assert_eq!(label("mine,a"), "mine,a");
        assert_eq!(label("google,g"), "google,g");
        assert_eq!(label("mine,made up by a client"), "mine,other");
        assert_eq!(label("nobody,a"), "other");
        assert_eq!(label(""), "other");
        let of = |target| known.provider(target).map(|p| (p.system.as_str(), p.host.as_str(), p.port));
        assert_eq!(of("mine,a"), Some(("mine", "localhost", 1234)));
        assert_eq!(of("google,x"), Some(("gcp.vertex_ai", "europe-west1-aiplatform.googleapis.com", 443)));
        assert_eq!(system("api.x.ai"), Some("x_ai"));
        assert_eq!(system("max.ai"), None);
    }
}
