//! The environment form of aliases: `<PREFIX>_API_ENDPOINT` and its fellows, from the environment and `.env` files.

mod banner;
mod read;

use std::collections::BTreeMap;

use rail_model::ProtocolId;
use rail_route::{Alias, AliasTo, Chain, ProfilePatch, Provider, Target};
use rail_stdx::Secret;

pub use banner::banner;

use crate::dotenv::EnvFile;
use crate::endpoint;

/// Where a variable may come from, in the order in which they count: the first that has it wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EnvSource {
    /// The environment of the process.
    Environment,
    /// `.switchrail/.env` of the project. It may come from somebody else: see [`Hijack::read`].
    Project,
    /// `$XDG_CONFIG_HOME/switchrail/.env`.
    User,
    /// `~/.gemini/.env`.
    Gemini,
}

/// The variables of one source.
#[derive(Clone, Debug)]
pub struct EnvLayer {
    source: EnvSource,
    label: String,
    values: BTreeMap<String, Secret>,
    /// Their names in the order of the source.
    names: Vec<String>,
}

impl EnvLayer {
    /// The environment of the process.
    pub fn environment(values: &BTreeMap<String, String>) -> Self {
        let values = values.iter().map(|(name, value)| (name.clone(), Secret::new(value)));
        Self::new(EnvSource::Environment, "the environment".to_owned(), values.collect())
    }

    /// A `.env` file; the label is its path as users know it.
    pub fn file(source: EnvSource, label: impl Into<String>, file: &EnvFile) -> Self {
        let values = file.values.iter().map(|value| (value.name.clone(), value.value.clone()));
        Self::new(source, label.into(), values.collect())
    }

    fn new(source: EnvSource, label: String, values: Vec<(String, Secret)>) -> Self {
        let names = values.iter().map(|(name, _)| name.clone()).collect();
        Self { source, label, values: values.into_iter().collect(), names }
    }
}

/// What the environment form says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hijack {
    /// `HIJACK_ENABLED` is `true`; otherwise nothing of it is in force.
    pub enabled: bool,
    /// The prefix of the back that answers first.
    pub active: Option<String>,
    /// All prefixes, complete or not, in the order in which they are first named.
    pub prefixes: Vec<String>,
    /// The complete prefixes, in the order in which they are first named.
    pub backs: Vec<Back>,
    /// What is left out, and why.
    pub notes: Vec<String>,
}

/// One complete prefix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Back {
    /// The prefix, as it is written.
    pub prefix: String,
    /// The provider's name, no other back's: the second of one name has its prefix behind it, as in `lmstudio-back`.
    pub provider: String,
    /// The protocol, as the endpoint tells it.
    pub protocol: ProtocolId,
    /// The endpoint, as it is written.
    pub endpoint: String,
    /// The model that answers.
    pub actual_model: String,
    /// The model that is asked for.
    pub target_model: String,
    /// The key.
    pub key: Secret,
    /// The prefix and where its variables come from.
    pub origin: String,
}

impl Back {
    fn target(&self) -> Target {
        Target::new(&self.provider, &self.actual_model)
    }
}

impl Hijack {
    /// Reads the layers, whatever their order; each variable counts from the first source that has it.
    ///
    /// A project file may define prefixes of its own. It may not send a key that comes from elsewhere to its own endpoint: the
    /// project's values of such a prefix are refused with a note, and what the other sources say of it stands. A caller that
    /// does not trust the folder at all leaves the project's layer out.
    pub fn read(layers: &[EnvLayer]) -> Self {
        read::hijack(layers)
    }

    /// One provider for each back; none unless in force.
    pub fn providers(&self) -> Vec<Provider> {
        self.in_force().iter().map(provider).collect()
    }

    /// One alias for each target model: the active back answers first, the others of that model in their order; none unless
    /// in force.
    pub fn aliases(&self) -> Vec<Alias> {
        let mut backs: Vec<&Back> = self.in_force().iter().collect();
        backs.sort_by_key(|back| Some(&back.prefix) != self.active.as_ref());
        let mut names: Vec<&str> = Vec::new();
        for back in self.in_force() {
            if !names.contains(&back.target_model.as_str()) {
                names.push(&back.target_model);
            }
        }
        let alias = |name: &str| {
            let of_it = || backs.iter().filter(|back| back.target_model == name);
            let origin = of_it().map(|back| back.origin.as_str()).collect::<Vec<_>>().join("; ");
            let chain = Chain(of_it().map(|back| back.target()).collect());
            Alias { name: name.to_owned(), to: AliasTo::Chain(chain), origin }
        };
        names.into_iter().map(alias).collect()
    }

    /// The back that is meant by a prefix or a provider's name, in any case; a prefix counts before a provider's name.
    pub fn back(&self, name: &str) -> Option<&Back> {
        let name = name.trim();
        let same = |one: &str| one.eq_ignore_ascii_case(name);
        let exact = self.backs.iter().find(|back| back.prefix == name);
        let by_prefix = || self.backs.iter().find(|back| same(&back.prefix));
        let by_provider = || self.backs.iter().find(|back| same(&back.provider));
        exact.or_else(by_prefix).or_else(by_provider)
    }

    fn in_force(&self) -> &[Back] {
        if self.enabled { &self.backs } else { &[] }
    }
}

/// A name that `rail provider use` got and no back has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no provider `{name}` is complete in the environment or a `.env` file; there is {known}")]
pub struct NoSuchBack {
    /// The name.
    pub name: String,
    /// Those there are.
    pub known: String,
}

/// The back that `rail provider use NAME` means: a prefix or a provider's name, in any case.
pub fn switch<'a>(hijack: &'a Hijack, name: &str) -> Result<&'a Back, NoSuchBack> {
    let known = || match hijack.backs.is_empty() {
        true => "none".to_owned(),
        false => available(hijack),
    };
    hijack.back(name).ok_or_else(|| NoSuchBack { name: endpoint::plain(name), known: known() })
}

/// The prefixes, in alphabetical order.
fn available(hijack: &Hijack) -> String {
    let mut prefixes: Vec<&str> = hijack.backs.iter().map(|back| back.prefix.as_str()).collect();
    prefixes.sort_unstable();
    prefixes.join(", ")
}

fn provider(back: &Back) -> Provider {
    let base = endpoint::base_url(&back.endpoint, back.protocol);
    let mut provider = Provider::new(&back.provider, back.protocol, base);
    provider.keys = vec![back.key.clone()];
    provider.models = BTreeMap::from([(back.actual_model.clone(), ProfilePatch::default())]);
    provider
}
