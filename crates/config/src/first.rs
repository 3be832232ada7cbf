//! The first configuration: what `rail init` found, asked for and writes. Nothing here asks or writes by itself.

mod answers;

use std::collections::{BTreeMap, BTreeSet};

use rail_route::{Chain, Provider, Target, Timeouts, built_in_virtual_models};
use rail_stdx::Secret;

pub use answers::{
    Picked, WrongAnswer, address, name, pick, pick_target, protocol_of, variable_name, wrong_secret,
};

use crate::found::{self, FoundProvider, KnownProvider, Local};
use crate::import::Imported;
use crate::import::draft::Draft;
use crate::settings::Wait;
use crate::{Extras, Inputs, Places, Settings, Trusted, extras};

/// Longer lists of models are not written: a provider with hundreds of them would hide everything else.
const MOST_MODELS: usize = 20;

/// A provider to set up.
#[derive(Clone, PartialEq, Debug)]
pub struct FirstProvider {
    /// Where it is and what it speaks; its keys are those to ask it with.
    pub provider: Provider,
    /// Why it is there, for a remark.
    pub why: String,
    /// Where its key stands, as `env:NAME`, `file:PATH` or `keyring:NAME`; None for servers that want none.
    pub key: Option<String>,
    /// Headers with secrets, each with where its value stands.
    pub headers: Vec<(String, String)>,
    /// The models that it said it has; empty when it was not asked.
    pub models: Vec<String>,
    /// Which model suits each virtual model, as far as that is known.
    pub suits: BTreeMap<String, String>,
    /// Values to keep in `.env`, which the key and the headers refer to.
    pub env: Vec<(String, Secret)>,
}

/// What can be set up without being asked for: keys in the environment and in the user's `.env`, and these servers.
///
/// What is configured already does not count.
pub fn look_around(inputs: &Inputs) -> Extras {
    let places = Places::find(&inputs.env, &inputs.working_folder).ok();
    let mut extras = extras::look(&inputs.env, places.as_ref(), Trusted::No);
    extras.local.clone_from(&inputs.local);
    extras.beside(&Settings::default())
}

impl FirstProvider {
    /// A provider that nothing is known of but where it is.
    pub fn new(provider: Provider, why: impl Into<String>) -> Self {
        Self {
            provider,
            why: why.into(),
            key: None,
            headers: Vec::new(),
            models: Vec::new(),
            suits: BTreeMap::new(),
            env: Vec::new(),
        }
    }

    /// A provider of the catalog.
    pub fn known(known: &KnownProvider) -> Self {
        let mut provider = Provider::new(&known.name, known.protocol, &known.base_url);
        if known.local {
            provider = found::on_this_machine(provider);
        }
        Self { suits: known.suits.clone(), ..Self::new(provider, "It is well known.") }
    }

    /// A provider whose variables are set. A token for a header is kept in `.env`: no reference can say `Bearer` before it.
    pub fn found(found: &FoundProvider) -> Self {
        let mut first = Self::new(found.provider.clone(), format!("{}.", found.because));
        first.key = found.key.as_ref().map(|name| format!("env:{name}"));
        first.suits.clone_from(&found.suits);
        for (header, value) in &found.provider.headers {
            let name = variable(&[&found.provider.name, header]);
            first.headers.push((header.clone(), format!("env:{name}")));
            first.env.push((name, value.clone()));
        }
        first
    }

    /// A server on this machine.
    pub fn local(local: &Local) -> Self {
        let provider = local.provider.clone();
        Self { models: local.models.clone(), ..Self::new(provider, "A model server that answered.") }
    }

    /// The models that are worth naming: those it said, else those that suit something.
    fn known_models(&self) -> Vec<String> {
        // A name that can stand in no chain is of no use, and may come from anybody.
        let models: Vec<String> =
            self.models.iter().filter(|model| answers::is_model(model)).cloned().collect();
        if !models.is_empty() {
            return models;
        }
        let named = self.provider.models.keys().chain(self.suits.values());
        named.cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// The name of a variable made of these words.
pub fn variable(words: &[&str]) -> String {
    let usual = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = words.join("_").chars().map(usual).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// The first variable of this name, or of this name and a number, that has this value or none.
pub fn free_variable(name: &str, value: &Secret, set: impl Fn(&str) -> Option<Secret>) -> String {
    let numbered = (2_u64..).map(|number| format!("{name}_{number}"));
    let is_free = |name: &String| set(name).is_none_or(|there| there == *value);
    std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or_else(|| name.to_owned())
}

/// The chain of each virtual model that these providers make.
pub fn chains(providers: &[FirstProvider]) -> BTreeMap<String, Chain> {
    let (mut known, mut asked) = (Vec::new(), Vec::new());
    for first in providers {
        let suits = fitting(first);
        let provider = first.provider.clone();
        if suits.is_empty() {
            asked.push(Local { provider, models: first.models.clone() });
        } else {
            known.push(FoundProvider { provider, because: String::new(), key: None, suits });
        }
    }
    // The catalog's order says whose model stands first.
    let place = |name: &str| found::catalog().iter().position(|known| known.name == name);
    known.sort_by_key(|found| place(&found.provider.name).unwrap_or(usize::MAX));
    found::default_chains(&known, &asked)
}

/// What suits, as far as the provider has it; nothing when it lacks what suits `default`.
fn fitting(first: &FirstProvider) -> BTreeMap<String, String> {
    // A list may name models by their dates only, where the plain name means the newest.
    let dated =
        |model: &str, listed: &str| listed.strip_prefix(model).is_some_and(|rest| rest.starts_with('-'));
    let has = |model: &String| {
        first.models.is_empty() || first.models.iter().any(|listed| listed == model || dated(model, listed))
    };
    let suits: BTreeMap<_, _> = first
        .suits
        .iter()
        .filter(|(_, model)| has(model))
        .map(|(kind, model)| (kind.clone(), model.clone()))
        .collect();
    if suits.contains_key("default") { suits } else { BTreeMap::new() }
}

/// Every target of these providers, those that suit something first.
pub fn targets(providers: &[FirstProvider], chains: &BTreeMap<String, Chain>) -> Vec<Target> {
    let of_chains = chains.values().flat_map(|chain| chain.0.iter().cloned());
    let listed = providers.iter().flat_map(|first| {
        let target = |model: String| Target::new(&first.provider.name, model);
        first.known_models().into_iter().map(target)
    });
    let mut targets: Vec<Target> = Vec::new();
    for target in of_chains.chain(listed) {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    targets
}

/// Puts a target at the front of a chain.
pub fn prefer(chains: &mut BTreeMap<String, Chain>, name: &str, target: Target) {
    let chain = chains.entry(name.to_owned()).or_default();
    chain.0.retain(|other| *other != target);
    chain.0.insert(0, target);
}

/// Writes the configuration, with a remark on each line's meaning, and the keys that go beside it.
pub fn write(providers: &[FirstProvider], chains: &BTreeMap<String, Chain>) -> Imported {
    let mut draft = Draft::new(
        "Written by `rail init`. `rail config check` tells what is wrong here, `rail config show` what is",
    );
    draft.remark("in force and why, and docs/configuration.md what else can be said.");
    let mut explained = BTreeSet::new();
    for first in providers {
        provider(&mut draft, first, chains, &mut explained);
    }
    router(&mut draft, chains);
    let mut written = draft.finish();
    written.env.extend(providers.iter().flat_map(|first| first.env.clone()));
    written
}

/// Writes a provider; a remark that was made before is not made again.
fn provider(
    draft: &mut Draft,
    first: &FirstProvider,
    chains: &BTreeMap<String, Chain>,
    explained: &mut BTreeSet<&'static str>,
) {
    let FirstProvider { provider, why, key, headers, .. } = first;
    draft.table(&["providers", &provider.name]);
    draft.remark(why);
    let mut say = |draft: &mut Draft, text: &'static str| {
        if explained.insert(text) {
            draft.remark(text);
        }
    };
    say(draft, "What it speaks: anthropic, openai-chat, openai-responses or gemini.");
    draft.pair("protocol", provider.protocol.name());
    say(draft, "Where it is; the protocol's own paths are appended.");
    draft.pair("base_url", &provider.base_url);
    if let Some(key) = key {
        say(
            draft,
            "Where its key stands: env:NAME (also in the file .env beside this one), file:PATH or keyring:NAME.",
        );
        draft.pair("key", key);
    }
    if !headers.is_empty() {
        say(draft, "Headers that are sent with every request.");
        draft.inline("headers", headers);
    }
    let first_token = provider.timeouts.first_token;
    if first_token != Timeouts::default().first_token {
        say(draft, "How long its first word may take: a small machine reads a long prompt for minutes.");
        draft.inline("timeouts", &[("first_token".to_owned(), Wait(first_token).to_string())]);
    }
    let models = models_to_write(first, chains);
    if !models.is_empty() {
        say(draft, "Models that can be asked for by their names alone; others as `provider,model`.");
        draft.list("models", &models);
    }
}

/// All models that it said, or of a long list those that the chains name.
fn models_to_write(first: &FirstProvider, chains: &BTreeMap<String, Chain>) -> Vec<String> {
    let in_chains = chains.values().flat_map(|chain| &chain.0);
    let in_chains = in_chains.filter(|target| target.provider == first.provider.name);
    let mut models: Vec<String> = first.known_models();
    if models.len() > MOST_MODELS {
        models.clear();
    }
    for target in in_chains {
        if !models.contains(&target.model) {
            models.push(target.model.clone());
        }
    }
    models
}

/// What each virtual model is, in the words of a remark.
fn about(name: &str) -> &'static str {
    match name {
        "default" => "Whatever is nothing else, and every kind that has no line here.",
        "coding" => "Requests that declare tools, as an agent's do.",
        "longContext" => {
            "Requests of more tokens than router.options.long_context_threshold, 60000 if not said."
        }
        "imageProcessing" => "Requests with an image in the last turn.",
        "webSearch" => "Requests whose tools search the web.",
        _ => "Requests that ask for thinking.",
    }
}

fn router(draft: &mut Draft, chains: &BTreeMap<String, Chain>) {
    let Some(default) = chains.get("default").filter(|chain| !chain.0.is_empty()) else { return };
    draft.table(&["router"]);
    draft.remark("Which targets, `provider,model`, serve which kind of request: the first that answers, `;` between them.");
    let others = built_in_virtual_models().filter(|name| *name != "default");
    for name in std::iter::once("default").chain(others) {
        let Some(chain) = chains.get(name).filter(|chain| !chain.0.is_empty()) else { continue };
        // What is as `default` needs no line, unless it was asked about.
        if chain == default && !ASKED.contains(&name) {
            continue;
        }
        draft.remark(about(name));
        draft.pair(name, chain.to_string());
    }
}

/// The virtual models whose targets are asked about.
pub const ASKED: [&str; 3] = ["default", "coding", "longContext"];

#[cfg(test)]
mod tests;
