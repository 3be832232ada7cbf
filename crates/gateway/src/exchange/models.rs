//! The list of models: aliases, virtual models and targets, in the shape that the client expects.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::Response;
use rail_ledger::Key;
use rail_model::{ApiError, ErrorKind};
use rail_route::{AliasTo, ModelProfile, Routing, Target};
use rail_wire::{HttpCall, HttpReply, gemini};
use serde_json::{Value, json};

use super::codex::codex_model;
use super::head;
use crate::Gateway;
use crate::arrival::Arrival;
use crate::body::Body;

/// Models have no age here; protocols demand one.
const CREATED: &str = "2026-01-01T00:00:00Z";
const CREATED_SECONDS: u64 = 1_767_225_600;

/// A name that clients may ask for.
#[derive(Debug)]
struct Listed {
    name: String,
    /// The provider of a target; Switchrail for names of our own.
    owner: String,
    /// The virtual model that an alias stands for.
    stands_for: Option<String>,
    /// Who may answer.
    targets: Vec<Target>,
    profile: Arc<ModelProfile>,
}

/// How a list is written.
#[derive(Clone, Copy)]
enum Shape {
    Anthropic,
    OpenAi,
    Gemini,
    Codex,
}

/// Answers a request for all models, or for one.
pub(super) fn answer(gateway: &Gateway, arrival: &Arrival) -> Response<Body> {
    let mut listed = list(&gateway.configuration().routing);
    if let Some(key) = &arrival.key {
        listed.retain(|model| may_ask(key, model));
    }
    let shape = shape(arrival);
    let reply = match one(&arrival.call.path) {
        None => HttpReply::json(200, whole(shape, &listed).to_string().into_bytes()),
        Some(name) => match listed.iter().position(|model| model.name == name) {
            Some(at) => HttpReply::json(200, entry(shape, at, &listed).to_string().into_bytes()),
            None => {
                let problem = format!("there is no model `{name}`; the list of models has those there are");
                arrival.protocol.inbound.write_error(&ApiError::new(ErrorKind::NotFound, problem))
            }
        },
    };
    head::of_whole(reply, None)
}

/// Whether a key may ask for a model by this name: it is allowed the name, or one of those who answer to it.
fn may_ask(key: &Key, model: &Listed) -> bool {
    let target = |target: &Target| key.allows(&target.model) || key.allows(&target.to_string());
    let behind = model.stands_for.as_deref().is_some_and(|name| key.allows(name));
    key.allows(&model.name) || behind || model.targets.iter().any(target)
}

/// Several protocols have the same address for it.
fn shape(arrival: &Arrival) -> Shape {
    let HttpCall { path, query, .. } = &arrival.call;
    let asks = |name: &str| query.split('&').any(|pair| pair.split('=').next() == Some(name));
    if path.starts_with("/v1beta/") || arrival.protocol.id == gemini::ID {
        Shape::Gemini
    } else if asks("client_version") {
        Shape::Codex
    } else if arrival.call.header("anthropic-version").is_some() {
        Shape::Anthropic
    } else {
        Shape::OpenAi
    }
}

/// The model that a path names, if it is for one.
fn one(path: &str) -> Option<String> {
    let (_, name) = path.split_once("/models/")?;
    (!name.is_empty()).then(|| gemini::unescape(name))
}

/// Every name once: aliases as they are, then virtual models that have a chain, then targets.
fn list(routing: &Routing) -> Vec<Listed> {
    let mut seen = BTreeSet::new();
    let aliases = routing.aliases.iter().filter(|alias| !alias.name.contains('*'));
    let aliases = aliases.map(|alias| {
        let (stands_for, targets) = match &alias.to {
            AliasTo::Classified => (None, chain(routing, "default")),
            AliasTo::Virtual(name) => (Some(name.clone()), chain(routing, name)),
            AliasTo::Chain(chain) => (None, chain.0.as_slice()),
        };
        (alias.name.clone(), "switchrail".to_owned(), stands_for, targets.to_vec())
    });
    let virtual_models = routing.chains.keys();
    let virtual_models = virtual_models
        .map(|name| (name.clone(), "switchrail".to_owned(), None, chain(routing, name).to_vec()));
    let targets = targets(routing).into_iter();
    let targets = targets.map(|target| (target.to_string(), target.provider.clone(), None, vec![target]));
    let all = aliases.chain(virtual_models).chain(targets);
    all.filter(|(name, ..)| seen.insert(name.clone()))
        .map(|(name, owner, stands_for, targets)| {
            let profile = profile(routing, targets.first());
            Listed { name, owner, stands_for, targets, profile }
        })
        .collect()
}

/// Who serves a virtual model, the first first.
fn chain<'r>(routing: &'r Routing, name: &str) -> &'r [Target] {
    let chain = routing.chains.get(name).or_else(|| routing.chains.get("default"));
    chain.map_or(&[], |chain| chain.0.as_slice())
}

/// Models that providers list or that chains name, in the order of their names.
fn targets(routing: &Routing) -> BTreeSet<Target> {
    let listed = routing.providers.values().flat_map(|provider| {
        provider.models.keys().map(|model| Target::new(provider.name.as_str(), model.as_str()))
    });
    let named = routing.chains.values().chain(routing.security.values()).flat_map(|chain| &chain.0);
    let named = named.filter(|target| routing.providers.contains_key(&target.provider)).cloned();
    listed.chain(named).collect()
}

fn profile(routing: &Routing, target: Option<&Target>) -> Arc<ModelProfile> {
    let known = target.and_then(|target| {
        let provider = routing.providers.get(&target.provider)?;
        Some(routing.profiles.of(provider, &target.model))
    });
    known.unwrap_or_default()
}

fn whole(shape: Shape, listed: &[Listed]) -> Value {
    let entries: Vec<Value> = (0..listed.len()).map(|at| entry(shape, at, listed)).collect();
    match shape {
        Shape::Anthropic => {
            let [first, last] = [listed.first(), listed.last()].map(|model| model.map(|model| &model.name));
            json!({"data": entries, "has_more": false, "first_id": first, "last_id": last})
        }
        Shape::OpenAi => json!({"object": "list", "data": entries}),
        Shape::Gemini | Shape::Codex => json!({"models": entries}),
    }
}

fn entry(shape: Shape, at: usize, listed: &[Listed]) -> Value {
    let Some(Listed { name, owner, profile, .. }) = listed.get(at) else { return Value::Null };
    match shape {
        Shape::Anthropic => {
            json!({"type": "model", "id": name, "display_name": name, "created_at": CREATED})
        }
        Shape::OpenAi => {
            json!({"id": name, "object": "model", "created": CREATED_SECONDS, "owned_by": owner})
        }
        Shape::Gemini => {
            let mut model = json!({
                "name": format!("models/{name}"),
                "version": "1",
                "displayName": name,
                "supportedGenerationMethods": ["generateContent", "countTokens", "embedContent"],
            });
            let limits = [
                ("inputTokenLimit", profile.max_input.or(profile.window)),
                ("outputTokenLimit", profile.max_output),
            ];
            for (key, limit) in limits {
                if let (Some(limit), Some(fields)) = (limit, model.as_object_mut()) {
                    fields.insert(key.to_owned(), Value::from(limit));
                }
            }
            model
        }
        Shape::Codex => codex_model(name, profile, at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_one_model_or_none() {
        for (path, name) in [
            ("/v1/models", None),
            ("/v1/models/", None),
            ("/v1/models/coding", Some("coding")),
            ("/v1beta/models/qwen%2Cqwen3%3a8b", Some("qwen,qwen3:8b")),
            ("/v1/models/a/b", Some("a/b")),
            ("/v1/models/%zz%", Some("%zz%")),
        ] {
            assert_eq!(one(path).as_deref(), name, "{path}");
        }
    }
}
