//! Providers that need no configuration: the catalog of known ones, those whose keys are in the environment, and the chains
//! that make `rail` work with what was found.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use rail_model::ProtocolId;
use rail_route::{Chain, ProfilePatch, Provider, Target, built_in_virtual_models};
use rail_stdx::Secret;
use rail_wire::openai_chat;
use serde::Deserialize;

use crate::endpoint;
use crate::settings::Discovery;

/// A provider of the catalog.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownProvider {
    /// Its usual name in a configuration.
    pub name: String,
    /// The protocol it speaks.
    pub protocol: ProtocolId,
    /// The protocol that servers speak which take its place at another address.
    pub elsewhere: ProtocolId,
    /// The address that the protocol's paths are appended to.
    pub base_url: String,
    /// The variables that its key is usually in, the first that is set counts; none for servers on this machine.
    pub keys: Vec<String>,
    /// Some of its models; none for servers on this machine, which are asked.
    pub models: Vec<String>,
    /// Which of them suits each virtual model.
    pub suits: BTreeMap<String, String>,
    /// Whether it is a server on this machine.
    pub local: bool,
}

/// A provider whose variables are set.
#[derive(Clone, PartialEq, Debug)]
pub struct FoundProvider {
    /// The provider, ready for use.
    pub provider: Provider,
    /// The variables that say so, as in `ANTHROPIC_API_KEY is set`.
    pub because: String,
    /// The variable that its key is in; None for a server that wants none, and for a token that goes into a header.
    pub key: Option<String>,
    /// Which of its models suits each virtual model; empty for a server that must be asked for its models.
    pub suits: BTreeMap<String, String>,
}

/// A server on this machine that answered, with the models it says it has.
#[derive(Clone, PartialEq, Debug)]
pub struct Local {
    /// The provider.
    pub provider: Provider,
    /// Its models, in its own order.
    pub models: Vec<String>,
}

/// How long the first word of a server on this machine may take. It loads the model first, and reads the prompt at 25 tokens a
/// second where there is no graphics card.
const LOCAL_FIRST_TOKEN: Duration = Duration::from_mins(10);

/// A provider on this machine, which is given time.
pub fn on_this_machine(mut provider: Provider) -> Provider {
    provider.timeouts.first_token = LOCAL_FIRST_TOKEN;
    provider
}

/// The provider that is known by this name, in any case.
pub fn known(name: &str) -> Option<KnownProvider> {
    let same = |one: &String| one.eq_ignore_ascii_case(name);
    let found = CATALOG.provider.iter().find(|entry| same(&entry.name));
    let found = found.or_else(|| CATALOG.provider.iter().find(|entry| entry.also.iter().any(same)));
    found.map(Entry::known)
}

/// All providers that are known by name, in the order of the catalog.
pub fn catalog() -> Vec<KnownProvider> {
    CATALOG.provider.iter().map(Entry::known).collect()
}

/// The addresses where servers on this machine usually listen, without a path.
pub fn usual_addresses() -> Vec<String> {
    let local = CATALOG.provider.iter().filter(|entry| entry.local);
    let urls = local.flat_map(|entry| std::iter::once(&entry.base_url).chain(&entry.also_at));
    urls.map(|url| url.trim_end_matches("/v1").to_owned()).collect()
}

/// The addresses where model servers are looked for: where `OLLAMA_HOST` says, then those that are configured.
pub fn servers_to_ask(env: &BTreeMap<String, String>, discovery: &Discovery) -> Vec<String> {
    let moved = from_environment(env).into_iter().filter(|found| found.provider.name == "ollama");
    let configured = discovery.servers.iter().map(|server| server.0.clone());
    let mut addresses: Vec<String> = Vec::new();
    for url in moved.map(|found| found.provider.base_url).chain(configured) {
        let address = url.trim_end_matches('/').trim_end_matches("/v1").to_owned();
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    addresses
}

/// The providers whose variables are set, in the order of the catalog.
///
/// `ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL`, `GOOGLE_GEMINI_BASE_URL` and the like move a provider, `ANTHROPIC_MODEL` and the
/// like name its one model, `OLLAMA_HOST` says where Ollama is. A key that is valid in one of two regions is tried in both,
/// unless an address is set: the wrong one refuses it, and the next target is asked.
pub fn from_environment(env: &BTreeMap<String, String>) -> Vec<FoundProvider> {
    let env = Env(env);
    CATALOG.provider.iter().filter_map(|entry| entry.found(&env)).collect()
}

/// The chain of each virtual model, from what was found.
///
/// Each provider stands in a chain with its best suited model, in the order of the catalog, which says which of them come
/// first for which virtual model. Servers on this machine stand behind, each with its best coder model (for images, with one
/// that sees); with nothing else they come first. A virtual model that nothing suits has no chain, and falls to `default`.
pub fn default_chains(found: &[FoundProvider], local: &[Local]) -> BTreeMap<String, Chain> {
    let mut chains = BTreeMap::new();
    for name in built_in_virtual_models() {
        let suited = |found: &FoundProvider| {
            found.suits.get(name).map(|model| Target::new(&found.provider.name, model))
        };
        let first = CATALOG.first.get(name).map(Vec::as_slice).unwrap_or_default();
        let place = |found: &&FoundProvider| {
            first.iter().position(|first| *first == found.provider.name).unwrap_or(first.len())
        };
        let mut order: Vec<&FoundProvider> = found.iter().collect();
        order.sort_by_key(place);
        let mut targets: Vec<Target> = order.into_iter().filter_map(suited).collect();
        for server in local {
            let model = best_local(&server.models, name);
            targets.extend(model.map(|model| Target::new(&server.provider.name, model)));
        }
        if !targets.is_empty() {
            chains.insert(name.to_owned(), Chain(targets));
        }
    }
    chains
}

/// Parts of names of models that write code, the best first.
const CODERS: [&str; 4] = ["coder", "devstral", "codestral", "code"];
/// Parts of names of models that see.
const SEERS: [&str; 8] = ["vl", "vision", "llava", "gemma", "pixtral", "minicpm-v", "omni", "moondream"];
/// Parts of names of models that do not converse.
const NO_CHAT: [&str; 6] = ["embed", "rerank", "whisper", "tts", "bge", "guard"];

/// The model of a server on this machine that suits a virtual model best: by its name, then by its size, then the first.
fn best_local<'a>(models: &'a [String], virtual_model: &str) -> Option<&'a str> {
    let has = |model: &str, parts: &[&str]| parts.iter().position(|part| model.to_lowercase().contains(part));
    let sees = virtual_model == "imageProcessing";
    let parts: &[&str] = if sees { &SEERS } else { &CODERS };
    let chat = models.iter().filter(|model| has(model, &NO_CHAT).is_none());
    let chat = chat.filter(|model| !sees || has(model, parts).is_some());
    // A chain is written with `,` and `;` between names.
    let chat = chat.filter(|model| !model.contains([',', ';']) && !model.trim().is_empty());
    let rank =
        |model: &&String| (has(model, parts).unwrap_or(parts.len()), std::cmp::Reverse(billions(model)));
    chat.min_by_key(rank).map(String::as_str)
}

/// The size in a model's name, in billions of parameters: the largest number before a `b`.
fn billions(model: &str) -> u32 {
    let model = model.to_lowercase();
    let parts = model.split(|c: char| !c.is_ascii_alphanumeric());
    parts.filter_map(|part| part.strip_suffix('b')?.parse().ok()).max().unwrap_or(0)
}

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| toml::from_str(CATALOG_TEXT).unwrap_or_default());
const CATALOG_TEXT: &str = include_str!("../data/providers.toml");

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Catalog {
    first: BTreeMap<String, Vec<String>>,
    provider: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default)]
    also: Vec<String>,
    protocol: String,
    /// The protocol when the address is not its own.
    protocol_elsewhere: Option<String>,
    base_url: String,
    /// Other addresses where a server on this machine often listens.
    #[serde(default)]
    also_at: Vec<String>,
    #[serde(default)]
    keys: Vec<String>,
    /// Variables with tokens that are sent as `Authorization: Bearer`.
    #[serde(default)]
    bearer: Vec<String>,
    base_url_from: Option<String>,
    /// A variable with a host and port, as Ollama's.
    host_from: Option<String>,
    model_from: Option<String>,
    #[serde(default)]
    not_models: Vec<String>,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    suits: BTreeMap<String, String>,
    /// The same provider in another part of the world: found by the same key, and its models suit the same.
    region_of: Option<String>,
    #[serde(default)]
    local: bool,
}

impl Entry {
    fn known(&self) -> KnownProvider {
        KnownProvider {
            name: self.name.clone(),
            protocol: protocol(&self.protocol),
            elsewhere: self.elsewhere(),
            base_url: self.base_url.clone(),
            keys: self.keys.iter().chain(&self.bearer).cloned().collect(),
            models: self.models.clone(),
            suits: self.suits(),
            local: self.local,
        }
    }

    fn elsewhere(&self) -> ProtocolId {
        protocol(self.protocol_elsewhere.as_ref().unwrap_or(&self.protocol))
    }

    fn home(&self) -> Option<&'static Entry> {
        CATALOG.provider.iter().find(|entry| Some(&entry.name) == self.region_of.as_ref())
    }

    fn suits(&self) -> BTreeMap<String, String> {
        self.home().map_or(&self.suits, |home| &home.suits).clone()
    }

    fn found(&self, env: &Env<'_>) -> Option<FoundProvider> {
        if let Some(host) = &self.host_from {
            return self.served(host, env.get(host)?);
        }
        if self
            .home()
            .is_some_and(|home| home.base_url_from.as_ref().is_some_and(|name| env.get(name).is_some()))
        {
            return None;
        }
        let moved = self.base_url_from.as_ref().and_then(|name| Some((name, env.get(name)?)));
        let moved = moved.filter(|(_, url)| endpoint::is_http(url));
        let first_of =
            |names: &'_ [String]| names.iter().find_map(|name| Some((name.clone(), env.get(name)?)));
        let (key, token) = (first_of(&self.keys), first_of(&self.bearer));
        // A token goes with an address of its own; at home the key does.
        let (key, token) = match (key, token) {
            (Some(key), Some(_)) if moved.is_none() => (Some(key), None),
            (_, Some(token)) => (None, Some(token)),
            (key, None) => (key, None),
        };
        let mut because = vec![key.as_ref().or(token.as_ref())?.0.clone()];
        let mut provider = Provider::new(&self.name, protocol(&self.protocol), &self.base_url);
        if let Some((name, url)) = moved {
            provider.protocol = self.elsewhere();
            provider.base_url = endpoint::base_url(url, provider.protocol);
            because.push(name.clone());
        }
        provider.keys.extend(key.iter().map(|(_, key)| Secret::new(*key)));
        let bearer =
            token.map(|(_, token)| ("authorization".to_owned(), Secret::new(format!("Bearer {token}"))));
        provider.headers.extend(bearer);
        let mut suits = self.suits();
        let mut models = self.models.clone();
        if let Some((name, model)) = self.own_model(env) {
            suits = built_in_virtual_models().map(|kind| (kind.to_owned(), model.to_owned())).collect();
            models = vec![model.to_owned()];
            because.push(name.clone());
        }
        provider.models = models.into_iter().map(|model| (model, ProfilePatch::default())).collect();
        Some(FoundProvider { provider, because: said(&because), key: key.map(|(name, _)| name), suits })
    }

    /// The model that a variable names, if it is one that can stand in a chain.
    fn own_model<'a>(&'a self, env: &Env<'a>) -> Option<(&'a String, &'a str)> {
        let name = self.model_from.as_ref()?;
        // Claude Code marks the long window so; no endpoint knows it.
        let model = env.get(name)?.trim_end_matches("[1m]");
        let word = self.not_models.iter().any(|word| word.eq_ignore_ascii_case(model));
        (!word && !model.contains([',', ';'])).then_some((name, model))
    }

    /// A server on this machine, or another, at the host that a variable names.
    fn served(&self, variable: &str, host: &str) -> Option<FoundProvider> {
        let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
        let rest = rest.trim_end_matches('/');
        let (name, port) = match rest.rsplit_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|c| c.is_ascii_digit()) => {
                (name, port)
            }
            _ => (rest, self.base_url.rsplit(':').next()?.split('/').next()?),
        };
        // These mean "all addresses" to the server that listens; a client asks the machine itself.
        let name = match name {
            "" | "0.0.0.0" => "127.0.0.1",
            "[::]" => "[::1]",
            name => name,
        };
        let url = format!("{scheme}://{name}:{port}/v1");
        let provider = Provider::new(&self.name, protocol(&self.protocol), &url);
        let because = said(&[variable.to_owned()]);
        endpoint::is_http(&url).then_some(FoundProvider {
            provider,
            because,
            key: None,
            suits: BTreeMap::new(),
        })
    }
}

/// `A is set`, `A and B are set`.
fn said(names: &[String]) -> String {
    match names {
        [one] => format!("{one} is set"),
        names => format!("{} are set", names.join(" and ")),
    }
}

fn protocol(id: &str) -> ProtocolId {
    rail_wire::find(id).map_or(openai_chat::ID, |protocol| protocol.id)
}

/// The environment, where blank is not set.
struct Env<'a>(&'a BTreeMap<String, String>);

impl<'a> Env<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_catalog_is_whole() {
        let catalog: Catalog = toml::from_str(CATALOG_TEXT).unwrap();
        let mut names = BTreeSet::new();
        for entry in &catalog.provider {
            let name = &entry.name;
            for called in std::iter::once(name).chain(&entry.also) {
                assert!(names.insert(called.clone()), "{called} is said twice");
            }
            assert_eq!(protocol(&entry.protocol).name(), entry.protocol, "{name}");
            assert_eq!(
                endpoint::base_url(&entry.base_url, protocol(&entry.protocol)),
                entry.base_url,
                "{name}"
            );
            assert_eq!(entry.keys.is_empty(), entry.local, "{name}: a key, or this machine");
            assert_eq!(entry.models.is_empty(), entry.local, "{name}");
            assert!(
                entry.local || entry.also_at.is_empty(),
                "{name}: only servers on this machine are looked for"
            );
            assert!(entry.region_of.is_none() || entry.home().is_some(), "{name}");
            let suits = entry.suits();
            assert_eq!(suits.contains_key("default"), !entry.local, "{name}");
            for (kind, model) in &suits {
                assert!(built_in_virtual_models().any(|known| known == kind), "{name}: {kind}");
                assert!(entry.models.contains(model), "{name}: {model} is not among its models");
            }
        }
        for (kind, first) in &catalog.first {
            assert!(built_in_virtual_models().any(|known| known == kind), "{kind}");
            assert!(
                first.iter().all(|name| catalog.provider.iter().any(|entry| entry.name == *name)),
                "{kind}"
            );
        }
    }

    #[test]
    fn sizes() {
        for (model, expected) in [
            ("qwen3-coder:30b", 30),
            ("qwen3-235b-a22b-q4", 235),
            ("gpt-oss", 0),
            ("llama-3.1-8B-it", 8),
            ("b", 0),
        ] {
            assert_eq!(billions(model), expected, "{model}");
        }
    }
}
