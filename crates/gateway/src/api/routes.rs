//! `GET /api/routes` and `GET /api/models`: who serves what.

use std::collections::BTreeSet;

use http::Response;
use rail_route::{Alias, AliasTo, Chain, Routing, built_in_virtual_models};
use serde_json::{Value, json};

use super::answer;
use crate::Gateway;
use crate::body::Body;

/// Virtual models with their chains, and aliases with what they lead to.
pub(crate) fn routes(gateway: &Gateway) -> Response<Body> {
    let loaded = gateway.configuration();
    let routing = &*loaded.routing;
    let models: Vec<Value> = virtual_models(routing)
        .into_iter()
        .map(|name| {
            json!({
                "name": name,
                "chain": targets(chain_of(routing, &name).as_ref()),
                "security": targets(routing.security.get(&name)),
                "built_in": built_in_virtual_models().any(|known| known == name),
            })
        })
        .collect();
    let aliases: Vec<Value> = routing.aliases.iter().map(|alias| shown(routing, alias)).collect();
    answer::json(
        gateway,
        &json!({
            "virtual_models": models,
            "aliases": aliases,
            "rules": routing.rules,
            "options": routing.options,
            "active": routing.active,
        }),
    )
}

/// All names that a client may ask for.
pub(crate) fn models(gateway: &Gateway) -> Response<Body> {
    let loaded = gateway.configuration();
    let routing = &*loaded.routing;
    let aliases = routing.aliases.iter().map(|alias| json!({"name": alias.name, "kind": "alias"}));
    let virtual_models =
        virtual_models(routing).into_iter().map(|name| json!({"name": name, "kind": "virtual"}));
    let targets = routing.providers.values().flat_map(|provider| {
        routing.targets_of(&provider.name).into_iter().map(move |target| {
            let profile = routing.profiles.of(provider, &target.model);
            json!({
                "name": target.to_string(),
                "kind": "target",
                "window": profile.window,
                "max_output": profile.max_output,
                "vision": profile.vision,
                "price": profile.price,
                "unusable": provider.unusable,
            })
        })
    });
    let all: Vec<Value> = aliases.chain(virtual_models).chain(targets).collect();
    answer::json(gateway, &json!({"models": all}))
}

/// The built-in ones in their order, then the user's own by name.
pub(super) fn virtual_models(routing: &Routing) -> Vec<String> {
    let mut all: Vec<String> = built_in_virtual_models().map(str::to_owned).collect();
    let named = routing.chains.keys().chain(routing.security.keys());
    let own: BTreeSet<&String> = named.chain(routing.rules.iter().map(|rule| &rule.name)).collect();
    all.extend(
        own.into_iter()
            .filter(|name| !built_in_virtual_models().any(|known| known == name.as_str()))
            .cloned(),
    );
    all
}

/// The chain of a virtual model, under `[router]` or in its rule.
fn chain_of(routing: &Routing, name: &str) -> Option<Chain> {
    let of_rule = || routing.rules.iter().find(|rule| rule.name == name)?.chain.as_ref()?.parse().ok();
    routing.chains.get(name).cloned().or_else(of_rule)
}

fn shown(routing: &Routing, alias: &Alias) -> Value {
    let (to, chain) = match &alias.to {
        AliasTo::Classified => ("virtual".to_owned(), None),
        AliasTo::Virtual(name) => (name.clone(), chain_of(routing, name)),
        AliasTo::Chain(chain) => (chain.to_string(), Some(chain.clone())),
    };
    json!({"name": alias.name, "to": to, "targets": targets(chain.as_ref()), "origin": alias.origin})
}

fn targets(chain: Option<&Chain>) -> Vec<String> {
    chain.into_iter().flat_map(|chain| &chain.0).map(ToString::to_string).collect()
}
