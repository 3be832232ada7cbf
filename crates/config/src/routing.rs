//! Settings become what the router and the upstream client work with.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rail_model::ProtocolId;
use rail_route::{Alias, AliasTo, Chain, Profiles, Provider, Routing};
use rail_stdx::Secret;

use crate::extras::Extras;
use crate::found::known;
use crate::reference::{Outside, absolute};
use crate::settings::{ProviderSettings, Settings};
use crate::way::Way;
use crate::{Node, Origin, Problem};

/// The protocol of cassettes.
pub(crate) const REPLAY: ProtocolId = ProtocolId::new("replay");

pub(crate) struct Input<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) tree: &'a Node,
    pub(crate) extras: &'a Extras,
    pub(crate) outside: &'a dyn Outside,
}

/// The id with this name.
pub(crate) fn protocol(name: &str) -> Option<ProtocolId> {
    if name == REPLAY.name() { Some(REPLAY) } else { rail_wire::find(name).map(|protocol| protocol.id) }
}

/// What the router needs, and what will not work.
pub(crate) fn routing(input: &Input<'_>, mut unusable: BTreeMap<String, String>) -> (Routing, Vec<Problem>) {
    let mut warnings = Vec::new();
    let Input { settings, extras, .. } = input;
    let mut providers: BTreeMap<String, Arc<Provider>> =
        extras.providers.iter().map(|provider| (provider.name.clone(), Arc::new(provider.clone()))).collect();
    for (name, of) in &settings.providers {
        let mut provider = provider(input, name, of);
        provider.unusable = unusable.remove(name);
        if let Some(warning) = key_of_known(input, of, &mut provider) {
            warnings.push(warning);
        }
        providers.insert(name.clone(), Arc::new(provider));
    }
    // Text that is no chain was found by the check.
    let chain = |text: &str| text.parse::<Chain>().ok();
    let mut chains: BTreeMap<String, Chain> = extras.chains.clone();
    for (name, text) in settings.router.chains() {
        chains.extend(chain(&text.0).map(|chain| (name.to_owned(), chain)));
    }
    for rule in &settings.router.rules {
        if let Some(chain) = rule.chain.as_deref().and_then(chain) {
            chains.entry(rule.name.clone()).or_insert(chain);
        }
    }
    let security = settings.security.iter();
    let routing = Routing {
        providers,
        chains,
        security: security.filter_map(|(name, text)| Some((name.clone(), chain(&text.0)?))).collect(),
        rules: settings.router.rules.clone(),
        options: settings.router.options.clone(),
        aliases: aliases(input),
        profiles: Profiles::with(settings.models.clone().into_iter().collect()),
        active: None,
    };
    let active = extras.active.clone().filter(|active| routing.providers.contains_key(active));
    if let (Some(wanted), None) = (&extras.active, &active) {
        let text = format!(
            "the active provider is to be `{wanted}`, which is not configured; run `rail provider use NAME` with another"
        );
        warnings.push(Problem::new(&Origin::BuiltIn, "", text));
    }
    (Routing { active, ..routing }, warnings)
}

fn provider(input: &Input<'_>, name: &str, of: &ProviderSettings) -> Provider {
    let known = known(name);
    let said = of.protocol.as_deref().and_then(protocol);
    // A provider without a protocol is one whose reference leads nowhere: it is unusable and never asked.
    let protocol = said.or(known.as_ref().map(|known| known.protocol)).unwrap_or(REPLAY);
    let base_url = of.base_url.as_deref().or(known.as_ref().map(|known| known.base_url.as_str()));
    let base_url = base_url.unwrap_or_default();
    let path = |key: &str, text: &Option<String>| -> Option<PathBuf> {
        let origin = input.tree.origin_of(&["providers", name, key]);
        Some(absolute(text.as_deref()?, origin.folder(), input.outside.home().as_deref()))
    };
    let keys = of.key.iter().chain(&of.keys).map(|key| key.0.clone()).collect();
    let headers = of.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.0.clone()));
    Provider {
        keys,
        headers: headers.collect(),
        timeouts: (&of.timeouts).into(),
        retry: (&of.retry).into(),
        models: of.models.profiles(),
        proxy: of.proxy.clone(),
        ca: path("ca", &of.ca),
        cassette: path("cassette", &of.cassette),
        ..Provider::new(name, protocol, base_url.trim_end_matches('/'))
    }
}

/// The key of a well-known provider stands in its usual variable, unless the configuration says otherwise. With an address
/// of its own it is not that provider, and must not get its key.
fn key_of_known(input: &Input<'_>, of: &ProviderSettings, provider: &mut Provider) -> Option<Problem> {
    let variables = known(&provider.name)?.keys;
    let first = variables.first()?;
    let said = of.key.is_some() || !of.keys.is_empty() || of.base_url.is_some();
    if said || provider.unusable.is_some() {
        return None;
    }
    let set = variables.iter().find_map(|name| input.outside.variable(name).filter(|key| !key.is_empty()));
    if let Some(key) = set {
        provider.keys = vec![Secret::new(key)];
        return None;
    }
    let why = format!("`env:{first}` is not set; export it or run `rail init`");
    provider.unusable = Some(why.clone());
    let origin = input.tree.origin_of(&["providers", &provider.name]);
    Some(Problem::new(&origin, Way::from(["providers", &provider.name, "key"]).to_string(), why))
}

/// Aliases of the configuration before those from elsewhere.
fn aliases(input: &Input<'_>) -> Vec<Alias> {
    let ours = input.settings.aliases.iter().filter_map(|(name, text)| {
        let origin = input.tree.origin_of(&["aliases", name]);
        Some(Alias {
            name: name.clone(),
            to: alias_to(text)?,
            origin: format!("[aliases], {}", origin.brief()),
        })
    });
    let is_free = |alias: &&Alias| !input.settings.aliases.contains_key(&alias.name);
    ours.chain(input.extras.aliases.iter().filter(is_free).cloned()).collect()
}

/// What an alias leads to: `virtual`, a chain, or a virtual model.
pub(crate) fn alias_to(text: &str) -> Option<AliasTo> {
    let text = text.trim();
    if text == "virtual" {
        Some(AliasTo::Classified)
    } else if text.contains(',') {
        text.parse().ok().map(AliasTo::Chain)
    } else {
        Some(AliasTo::Virtual(text.to_owned()))
    }
}
