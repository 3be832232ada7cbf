use std::collections::{BTreeMap, BTreeSet};

use rail_model::ProtocolId;
use rail_route::{Chain, Target};
use rail_wire::{anthropic, gemini, openai_chat, openai_responses};
use serde_json::{Map, Value};

use super::draft::{Draft, take, take_map, take_text, texts, wait};
use super::transformers::{self, Transformed};
use super::{ImportError, Imported, json};
use crate::endpoint;

const WHAT: &str = "the configuration of claude-code-router";

/// Their scenarios and our virtual models. `background` is a rule, not a virtual model of its own.
const SCENARIOS: [(&str, &str); 6] = [
    ("default", "default"),
    ("think", "reasoning"),
    ("longContext", "longContext"),
    ("webSearch", "webSearch"),
    ("image", "imageProcessing"),
    ("background", "background"),
];

/// What is left alone, with what to do instead.
const INSTEAD: [(&str, &str); 6] = [
    ("APIKEY", "make keys for the gateway's clients with `rail key create NAME`"),
    ("APIKEYS", "make keys for the gateway's clients with `rail key create NAME`"),
    ("LOG", "run `rail serve -v` to see each request"),
    ("LOG_LEVEL", "run `rail serve -v`, or `-vv` for more"),
    ("CUSTOM_ROUTER_PATH", "no JavaScript runs here; write its conditions as `[[router.rules]]`"),
    ("NON_INTERACTIVE_MODE", "`rail -p` never waits for a terminal"),
];

/// Reads claude-code-router's `config.json`: JSON, with comments if need be, in the shapes of its versions 1 and 2.
pub fn ccr(text: &str) -> Result<Imported, ImportError> {
    let wrong = |problem: String| ImportError { what: WHAT, problem };
    let value = json::read(text).map_err(wrong)?;
    let Value::Object(mut root) = value else { return Err(wrong("it is no JSON object".to_owned())) };
    let mut draft = Draft::new("From claude-code-router's config.json, by `rail config import ccr`.");
    let common = Common {
        proxy: take_text(&mut root, &["PROXY_URL", "HTTPS_PROXY", "https_proxy", "httpsProxy"]),
        total: root.get("API_TIMEOUT_MS").and_then(wait),
    };
    if common.total.is_some() {
        root.shift_remove("API_TIMEOUT_MS");
    }
    let mut names = Vec::new();
    let listed = take(&mut root, &["Providers", "providers"]);
    for (at, entry) in listed.as_ref().and_then(Value::as_array).into_iter().flatten().enumerate() {
        match entry {
            Value::Object(map) => provider(&mut draft, map.clone(), &common, &mut names),
            _ => draft.note(format!("provider {}: it is no object", at + 1)),
        }
    }
    oldest_form(&mut draft, &mut root, &common, &mut names);
    if names.is_empty() {
        draft.nothing(WHAT);
    }
    router(&mut draft, &mut root, &names);
    gateway(&mut draft, &mut root);
    for (key, instead) in INSTEAD {
        if take(&mut root, &[key]).is_some() {
            draft.note(format!("`{key}`: {instead}"));
        }
    }
    for plugin in texts_of_plugins(take(&mut root, &["transformers"]).as_ref()) {
        draft.note(format!(
            "transformer `{plugin}` of your own: no JavaScript runs here; most need no counterpart"
        ));
    }
    draft.left_over("config.json", &root);
    Ok(draft.finish())
}

/// What holds for all providers there, and is said of each one here.
struct Common {
    proxy: Option<String>,
    total: Option<String>,
}

fn provider(draft: &mut Draft, mut map: Map<String, Value>, common: &Common, names: &mut Vec<String>) {
    let Some(name) = take_text(&mut map, &["name", "NAME", "id"]) else {
        return draft.note("a provider without a name is left out");
    };
    let place = format!("provider `{name}`");
    if name.contains(|c: char| matches!(c, ',' | ';') || c.is_whitespace()) || names.contains(&name) {
        return draft.note(format!("{place} is left out: its name is taken, or holds a blank, `,` or `;`"));
    }
    if take(&mut map, &["enabled"]) == Some(Value::Bool(false)) {
        return draft.note(format!("{place} is left out: it was switched off"));
    }
    let url = take_text(&mut map, &["api_base_url", "baseUrl", "baseurl", "base_url", "HOST"]);
    let Some(url) = url.filter(|url| endpoint::is_http(url)) else {
        return draft.note(format!("{place} is left out: it has no http address"));
    };
    let spoken = take_text(&mut map, &["type", "protocol"]);
    // `transformers` of the second version names what the client speaks, not the provider.
    let second = map.contains_key("transformers");
    let mut changed = transformers::read(draft, &name, take(&mut map, &["transformer", "transformers"]));
    changed.protocol = changed.protocol.filter(|id| !(second && *id == anthropic::ID));
    let protocol = protocol(&url, spoken.as_deref(), &changed);
    draft.table(&["providers", &name]);
    draft.pair("protocol", protocol.name());
    draft.base_url(&place, &url, protocol);
    match take_text(&mut map, &["api_key", "apiKey", "apikey", "APIKEY"]) {
        Some(key) => {
            let key = draft.hidden(&format!("CCR_{name}_KEY"), &key);
            draft.pair("key", key);
        }
        None => draft.note(format!("{place} has no key")),
    }
    let mut models = texts(take(&mut map, &["models", "MODELS"]).as_ref());
    for model in models.extract_if(.., |model| model.contains([',', ';'])) {
        draft.note(format!("{place}: model `{model}` is left out: no model's name may hold `,` or `;`"));
    }
    // A proxy elsewhere can't reach a server on this machine.
    if let Some(proxy) = common.proxy.as_ref().filter(|_| !endpoint::is_loopback(&url)) {
        let proxy = draft.address(&format!("CCR_{name}_PROXY"), proxy);
        draft.pair("proxy", proxy);
    }
    if !changed.headers.is_empty() {
        draft.inline("headers", &changed.headers);
    }
    if let Some(total) = &common.total {
        draft.inline("timeouts", &[("total".to_owned(), total.clone())]);
    }
    models_of(draft, &name, &models, &changed);
    draft.left_over(&place, &map);
    names.push(name);
}

/// The models: a list, or a table where an output limit is known.
fn models_of(draft: &mut Draft, provider: &str, models: &[String], changed: &Transformed) {
    if changed.max_output.is_empty() {
        return draft.list("models", models);
    }
    let for_all = changed.max_output.get("");
    let named = changed.max_output.keys().filter(|model| !model.is_empty());
    let all: BTreeSet<&String> = models.iter().chain(named).collect();
    draft.table(&["providers", provider, "models"]);
    draft.remark("The output limits come from the `maxtoken` transformer.");
    for model in all {
        let limit = changed.max_output.get(model).or(for_all);
        let limit = limit.and_then(|limit| i64::try_from(*limit).ok());
        let profile = limit.map(|limit| ("max_output", limit)).into_iter();
        draft.pair(model, profile.collect::<toml_edit::InlineTable>());
    }
}

fn protocol(url: &str, spoken: Option<&str>, changed: &Transformed) -> ProtocolId {
    let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let spoken = spoken.unwrap_or_default();
    if path.ends_with("/messages") || spoken.contains("anthropic") {
        anthropic::ID
    } else if path.ends_with("/responses") || spoken.contains("responses") {
        openai_responses::ID
    } else if path.ends_with("/chat/completions") || spoken.contains("chat") {
        openai_chat::ID
    } else if spoken.contains("gemini") {
        gemini::ID
    } else {
        changed.protocol.unwrap_or_else(|| endpoint::protocol(url))
    }
}

/// The first versions had one provider in three keys beside the list.
fn oldest_form(draft: &mut Draft, root: &mut Map<String, Value>, common: &Common, names: &mut Vec<String>) {
    if !(root.contains_key("OPENAI_BASE_URL") && root.contains_key("OPENAI_MODEL")) {
        return;
    }
    let mut map = Map::new();
    map.insert("name".to_owned(), "openai".into());
    for (key, from) in [("api_base_url", "OPENAI_BASE_URL"), ("api_key", "OPENAI_API_KEY")] {
        map.extend(root.shift_remove(from).map(|value| (key.to_owned(), value)));
    }
    let model = take_text(root, &["OPENAI_MODEL"]).unwrap_or_default();
    map.insert("models".to_owned(), Value::from(vec![model.clone()]));
    provider(draft, map, common, names);
    if let Value::Object(router) = root.entry("Router").or_insert_with(|| Map::new().into()) {
        router.entry("default").or_insert_with(|| format!("openai,{model}").into());
    }
}

fn router(draft: &mut Draft, root: &mut Map<String, Value>, names: &[String]) {
    let mut router = take_map(root, &["Router", "router"]);
    for (key, value) in take_map(&mut router, &["routes"]) {
        router.entry(key).or_insert(value);
    }
    let mut fallback = take_map(root, &["fallback"]);
    let mut general = take_map(&mut router, &["fallback"]);
    let mode = take_text(&mut general, &["mode"]).unwrap_or_default();
    let behind = texts(take(&mut general, &["models"]).as_ref());
    if mode == "retry" {
        draft.note("Router.fallback: retries are set for each provider, under `retry`");
    }
    general.shift_remove("retryCount");
    draft.left_over("Router.fallback", &general);
    let mut chains = BTreeMap::new();
    for (scenario, ours) in SCENARIOS {
        let first = take_text(&mut router, &[scenario]);
        let own = texts(take(&mut fallback, &[scenario]).as_ref());
        let general = behind.iter().filter(|_| mode == "model-chain");
        if first.is_none() && own.is_empty() {
            continue;
        }
        let entries = first.iter().chain(&own).chain(general);
        let targets: Vec<Target> = entries.filter_map(|text| target(draft, text, names, scenario)).collect();
        if !targets.is_empty() {
            chains.insert(ours, Chain(targets));
        }
    }
    draft.left_over("fallback", &fallback);
    let background = chains.remove("background");
    if !chains.is_empty() {
        draft.table(&["router"]);
    }
    for (name, chain) in chains {
        draft.pair(name, chain.to_string());
    }
    if let Some(tokens) = take(&mut router, &["longContextThreshold"]).and_then(|tokens| tokens.as_i64()) {
        draft.table(&["router", "options"]);
        draft.pair("long_context_threshold", tokens);
    }
    if let Some(chain) = background {
        for (key, value, why) in [
            ("purpose", "background", "Titles, summaries and the like."),
            ("model", "claude-*haiku*", "What Claude Code asks its small model for."),
        ] {
            draft.element(&["router", "rules"]);
            draft.remark(why);
            draft.pair("name", "background");
            draft.pair("chain", chain.to_string());
            draft.pair(key, value);
        }
    }
    for rule in take(&mut router, &["rules"]).as_ref().and_then(Value::as_array).into_iter().flatten() {
        own_rule(draft, rule, names);
    }
    draft.left_over("Router", &router);
}

/// A rule of the second version, where what it asks can be said here.
fn own_rule(draft: &mut Draft, rule: &Value, names: &[String]) {
    let text = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = [text("name"), text("id")].into_iter().find(|name| !name.is_empty()).unwrap_or("rule");
    let threshold = rule.get("threshold").and_then(Value::as_i64);
    let condition: Option<(&str, toml_edit::Value)> = match text("type") {
        "model-prefix" => Some(("model", format!("{}*", text("pattern")).into())),
        "long-context" => threshold.map(|tokens| ("min_tokens", tokens.into())),
        "image" => Some(("images", true.into())),
        "thinking" => Some(("thinking", true.into())),
        "subagent" => Some(("purpose", "sub-agent".into())),
        _ => None,
    };
    let on = rule.get("enabled") != Some(&Value::Bool(false));
    let target = target(draft, text("target"), names, name);
    let (Some((key, value)), Some(target), true) = (condition, target, on) else {
        return draft.note(format!(
            "Router.rules: `{name}` is left out: it is switched off, or what it asks can't be said here"
        ));
    };
    draft.element(&["router", "rules"]);
    draft.pair("name", name);
    draft.pair("chain", target.to_string());
    draft.pair(key, value);
    for lost in ["rewrite", "rewrites", "fallback"].iter().filter(|key| rule.get(**key).is_some()) {
        draft.note(format!("Router.rules: `{lost}` of `{name}` has no counterpart"));
    }
}

/// A target as it is written there: `provider,model`, or `provider/model` with a provider that is known.
fn target(draft: &mut Draft, text: &str, names: &[String], place: &str) -> Option<Target> {
    let slashed = || text.split_once('/').filter(|(name, _)| names.iter().any(|known| known == name));
    let read = match (text.contains(','), slashed()) {
        (false, Some((provider, model))) => Ok(Target::new(provider.trim(), model.trim())),
        _ => text.parse::<Target>(),
    };
    match read {
        Ok(target) => {
            if !names.contains(&target.provider) {
                draft.note(format!(
                    "`{place}`: no provider `{}` is listed; its target is skipped until there is one",
                    target.provider
                ));
            }
            Some(target)
        }
        Err(error) => {
            draft.note(format!("`{place}`: {error}"));
            None
        }
    }
}

fn gateway(draft: &mut Draft, root: &mut Map<String, Value>) {
    let host = take_text(root, &["HOST"]);
    let port = take(root, &["PORT"]);
    let port = port.as_ref().and_then(|port| port.as_u64().or_else(|| port.as_str()?.trim().parse().ok()));
    if host.is_none() && port.is_none() {
        return;
    }
    let host = host.unwrap_or_else(|| "127.0.0.1".to_owned());
    draft.table(&["gateway"]);
    draft.remark("Clients that were pointed at claude-code-router find it here.");
    draft.pair("listen", format!("{host}:{}", port.unwrap_or(3456)));
}

/// The names of plugins: an object's `path` or `name`, or the text itself.
fn texts_of_plugins(value: Option<&Value>) -> Vec<String> {
    let name = |value: &Value| match value {
        Value::Object(map) => map.get("path").or(map.get("name")).and_then(Value::as_str).map(str::to_owned),
        value => value.as_str().map(str::to_owned),
    };
    value.and_then(Value::as_array).into_iter().flatten().filter_map(name).collect()
}
