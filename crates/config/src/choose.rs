use std::sync::Arc;

use rail_route::Provider;
use rail_stdx::nearest;

use crate::Loaded;
use crate::endpoint::plain;
use crate::hijack::Back;
use crate::pasted::hide;

/// What a name given to `rail provider use` means.
#[derive(Clone, PartialEq, Debug)]
pub struct Chosen<'a> {
    /// The provider.
    pub provider: &'a Arc<Provider>,
    /// The prefix of the environment form that it comes from.
    pub back: Option<&'a Back>,
}

/// Why a name can't be chosen.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotChosen {
    /// Nothing has this name.
    #[error("there is no provider `{name}`; {help}")]
    Unknown {
        /// The name.
        name: String,
        /// The nearest one, or all there are.
        help: String,
    },
    /// A prefix has it that does not count.
    #[error("`{prefix}` is complete in the environment form, and not in force; set HIJACK_ENABLED=true")]
    NotInForce {
        /// The prefix.
        prefix: String,
    },
}

impl Loaded {
    /// The provider that is meant by a name: the provider of exactly this name, else that of a prefix of the environment
    /// form, else one of this name in any case.
    pub fn choose(&self, name: &str) -> Result<Chosen<'_>, NotChosen> {
        let (name, hijack) = (name.trim(), &self.extras.hijack);
        let providers = &self.routing.providers;
        let of = |provider: &str| {
            // A provider of one's own that has the name of a prefix's is not that prefix's any more.
            let back = hijack.backs.iter().find(|back| back.provider == provider);
            let back = back.filter(|_| hijack.enabled && !self.settings.providers.contains_key(provider));
            providers.get(provider).map(|provider| Chosen { provider, back })
        };
        let exact = || providers.get(name).and_then(|provider| of(&provider.name));
        let by_prefix = || hijack.back(name).filter(|_| hijack.enabled).and_then(|back| of(&back.provider));
        let by_any_case = || {
            providers.values().find(|one| one.name.eq_ignore_ascii_case(name)).and_then(|one| of(&one.name))
        };
        if let Some(chosen) = exact().or_else(by_prefix).or_else(by_any_case) {
            return Ok(chosen);
        }
        match hijack.back(name) {
            Some(back) => Err(NotChosen::NotInForce { prefix: back.prefix.clone() }),
            None => Err(NotChosen::Unknown { name: hide(&plain(name)), help: self.help(name) }),
        }
    }

    fn help(&self, name: &str) -> String {
        let prefixes = self.extras.hijack.backs.iter().map(|back| back.prefix.as_str());
        let prefixes = prefixes.filter(|_| self.extras.hijack.enabled);
        let names = || self.routing.providers.keys().map(String::as_str).chain(prefixes.clone());
        match nearest(name, names()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if self.routing.providers.is_empty() => {
                "none is configured; run `rail init`, or set a key such as ANTHROPIC_API_KEY".to_owned()
            }
            None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
        }
    }
}
