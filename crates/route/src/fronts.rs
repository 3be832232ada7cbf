//! What chains say, for people who choose among providers.

use std::collections::BTreeSet;

use crate::{AliasTo, Chain, Routing, Target};

/// The target that a chain begins with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Front {
    /// Whose chain it is: `coding`, `coding (security)`, `alias gemini-2.5-flash`.
    pub of: String,
    /// The first target that can be reached; None when none can.
    pub target: Option<Target>,
}

impl Routing {
    /// What each chain begins with, as things are: chains by name, then security chains, then aliases.
    pub fn fronts(&self) -> Vec<Front> {
        let chains = self.chains.iter().map(|(name, chain)| (name.clone(), chain));
        let security = self.security.iter().map(|(name, chain)| (format!("{name} (security)"), chain));
        let aliases = self.aliases.iter().filter_map(|alias| match &alias.to {
            AliasTo::Chain(chain) => Some((format!("alias {}", alias.name), chain)),
            AliasTo::Classified | AliasTo::Virtual(_) => None,
        });
        let all = chains.chain(security).chain(aliases);
        all.map(|(of, chain)| Front { of, target: self.front(chain).cloned() }).collect()
    }

    /// The targets of a provider that some chain, rule or alias names, by the model's name.
    pub fn chained_targets_of(&self, provider: &str) -> Vec<Target> {
        let chains = self.chains.values().chain(self.security.values()).cloned();
        let rules = self.rules.iter().filter_map(|rule| rule.chain.as_ref()?.parse().ok());
        let aliases = self.aliases.iter().filter_map(|alias| match &alias.to {
            AliasTo::Chain(chain) => Some(chain.clone()),
            AliasTo::Classified | AliasTo::Virtual(_) => None,
        });
        let targets = chains.chain(rules).chain(aliases).flat_map(|chain: Chain| chain.0);
        let own: BTreeSet<Target> = targets.filter(|target| target.provider == provider).collect();
        own.into_iter().collect()
    }

    /// All targets of a provider, those that it lists and those that a chain names, by the model's name.
    pub fn targets_of(&self, provider: &str) -> Vec<Target> {
        let listed = self.providers.get(provider).into_iter().flat_map(|provider| provider.models.keys());
        let listed = listed.map(|model| Target::new(provider, model));
        let all: BTreeSet<Target> = self.chained_targets_of(provider).into_iter().chain(listed).collect();
        all.into_iter().collect()
    }

    fn front<'c>(&self, chain: &'c Chain) -> Option<&'c Target> {
        let can_be_reached = |target: &&Target| {
            self.providers.get(&target.provider).is_some_and(|provider| provider.unusable.is_none())
        };
        let is_active = |target: &&Target| self.active.as_ref() == Some(&target.provider);
        let reached = || chain.0.iter().filter(can_be_reached);
        reached().find(is_active).or_else(|| reached().next())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use rail_model::ProtocolId;

    use super::*;
    use crate::{Alias, ProfilePatch, Provider, Rule};

    fn chain(text: &str) -> Chain {
        text.parse().unwrap()
    }

    fn routing() -> Routing {
        let provider = |name: &str| {
            let mut provider = Provider::new(name, ProtocolId::new("openai-chat"), "http://x/v1");
            provider.models = BTreeMap::from([("listed".to_owned(), ProfilePatch::default())]);
            provider.unusable = (name == "broken").then(|| "no key".to_owned());
            (name.to_owned(), Arc::new(provider))
        };
        let chains = [("default", "broken,x;a,m;b,m"), ("coding", "b,c;b,m"), ("own", "gone,x")];
        let to = |name: &str, to| Alias { name: name.to_owned(), to, origin: String::new() };
        Routing {
            providers: ["a", "b", "broken"].map(provider).into(),
            chains: chains.map(|(name, text)| (name.to_owned(), chain(text))).into(),
            security: [("coding".to_owned(), chain("a,last;b,last"))].into(),
            rules: vec![Rule { chain: Some("b,ruled".to_owned()), ..Rule::default() }],
            aliases: vec![to("flash", AliasTo::Chain(chain("a,f;b,f"))), to("x", AliasTo::Classified)],
            ..Routing::default()
        }
    }

    fn fronts(active: Option<&str>) -> String {
        let routing = Routing { active: active.map(str::to_owned), ..routing() };
        let shown = |front: Front| {
            format!("{}: {}", front.of, front.target.map_or("-".to_owned(), |target| target.to_string()))
        };
        routing.fronts().into_iter().map(shown).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn chains_begin_with_the_active_provider() {
        for (active, expected) in [
            (None, "coding: b,c, default: a,m, own: -, coding (security): a,last, alias flash: a,f"),
            (Some("b"), "coding: b,c, default: b,m, own: -, coding (security): b,last, alias flash: b,f"),
            (
                Some("broken"),
                "coding: b,c, default: a,m, own: -, coding (security): a,last, alias flash: a,f",
            ),
        ] {
            assert_eq!(fronts(active), expected, "{active:?}");
        }
    }

    #[test]
    fn the_targets_of_a_provider() {
        let models =
            |targets: Vec<Target>| targets.into_iter().map(|target| target.model).collect::<Vec<_>>();
        let routing = routing();
        assert_eq!(models(routing.chained_targets_of("b")), ["c", "f", "last", "m", "ruled"]);
        assert_eq!(models(routing.targets_of("b")), ["c", "f", "last", "listed", "m", "ruled"]);
        assert_eq!(models(routing.targets_of("nobody")), Vec::<String>::new());
    }
}
