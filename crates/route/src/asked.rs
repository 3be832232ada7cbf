//! How the model name of a request is understood.

use std::cmp::Reverse;

use rail_stdx::fits;

use crate::classify::{DEFAULT, built_in_virtual_models};
use crate::{Alias, AliasTo, Chain, Routing, Target};

/// What a model name asked for means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// The request is classified; the reason, if an alias said so.
    Classified(Option<String>),
    /// This virtual model.
    Virtual(String, String),
    /// These targets, in this order.
    Targets(Vec<Target>, String),
}

/// Understands a name, in this order: exact alias, target, virtual model, alias with a pattern, configured model. Any other
/// name says nothing. What an alias stands for is taken as it is written: it is never looked up as an alias again.
pub(crate) fn asked(routing: &Routing, name: &str) -> Asked {
    if let Some(alias) = routing.aliases.iter().find(|alias| alias.name == name) {
        return through(alias, format!("`{name}` is an alias ({})", alias.origin));
    }
    // A whole chain is as clear as a single target.
    if let Ok(Chain(targets)) = name.parse::<Chain>() {
        let what = if targets.len() == 1 { "the target was" } else { "the chain was" };
        return Asked::Targets(targets, format!("{what} asked for by name"));
    }
    if routing.has_virtual_model(name) {
        return Asked::Virtual(name.to_owned(), "the virtual model was asked for by name".to_owned());
    }
    if let Some(alias) = closest(&routing.aliases, name) {
        return through(alias, format!("`{name}` is an alias by `{}` ({})", alias.name, alias.origin));
    }
    match routing.targets_with(name) {
        targets if targets.is_empty() => Asked::Classified(None),
        targets => {
            let of: Vec<&str> = targets.iter().map(|target| target.provider.as_str()).collect();
            let why = format!("`{name}` is a model of {}", of.join(", "));
            Asked::Targets(targets, why)
        }
    }
}

fn through(alias: &Alias, why: String) -> Asked {
    match &alias.to {
        AliasTo::Classified => Asked::Classified(Some(why)),
        AliasTo::Virtual(name) => Asked::Virtual(name.clone(), why),
        AliasTo::Chain(chain) => Asked::Targets(chain.0.clone(), why),
    }
}

/// The alias whose pattern fits and says the most; of equal ones the first.
fn closest<'r>(aliases: &'r [Alias], name: &str) -> Option<&'r Alias> {
    let patterns = aliases.iter().filter(|alias| alias.name.contains('*') && fits(&alias.name, name));
    patterns.min_by_key(|alias| Reverse(says(&alias.name)))
}

/// How much a pattern says: the characters that stand for themselves.
fn says(pattern: &str) -> usize {
    pattern.chars().filter(|c| !matches!(c, '*' | '?')).count()
}

impl Routing {
    /// Whether the configuration itself says which chain answers to this name: it is an alias or a virtual model. A target or a
    /// chain that somebody spells out is not, nor is a model's own name, nor one that nobody knows.
    pub fn has_chain_for(&self, name: &str) -> bool {
        if self.aliases.iter().any(|alias| alias.name == name) {
            return true;
        }
        name.parse::<Chain>().is_err()
            && (self.has_virtual_model(name) || closest(&self.aliases, name).is_some())
    }

    /// Whether a virtual model of this name exists: a built-in one, or one that has a chain or a rule.
    pub fn has_virtual_model(&self, name: &str) -> bool {
        built_in_virtual_models().any(|known| known == name)
            || self.chains.contains_key(name)
            || self.security.contains_key(name)
            || self.rules.iter().any(|rule| rule.name == name)
    }

    /// Every target with a model of this name at a configured provider: in the order of the default chain, then by the
    /// provider's name. A model counts as configured when its provider lists it or a chain names it.
    pub fn targets_with(&self, model: &str) -> Vec<Target> {
        let mut found: Vec<Target> = Vec::new();
        let listed = self.providers.values().filter(|provider| provider.models.contains_key(model));
        found.extend(listed.map(|provider| Target::new(provider.name.as_str(), model)));
        let chains = self.chains.values().chain(self.security.values()).flat_map(|chain| &chain.0);
        let named =
            chains.filter(|target| target.model == model && self.providers.contains_key(&target.provider));
        found.extend(named.cloned());
        let order = self.chains.get(DEFAULT).map_or(&[][..], |chain| &chain.0);
        let place = |target: &Target| order.iter().position(|known| known == target).unwrap_or(order.len());
        found.sort_by(|one, other| (place(one), &one.provider).cmp(&(place(other), &other.provider)));
        found.dedup();
        found
    }
}
