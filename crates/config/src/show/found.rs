//! What counts without being configured, as a configuration would have it.

use rail_route::{Alias, AliasTo, Provider};
use rail_stdx::Secret;

use crate::tree::{Member, Node, Table, Text, Value};
use crate::{Loaded, Origin};

/// Providers, aliases and chains from elsewhere than our own files, each with why it is there.
pub(super) fn tree(loaded: &Loaded) -> Node {
    let mut providers = Table::new();
    for provider in &loaded.extras.providers {
        // One of our own files replaces it as a whole.
        if !loaded.settings.providers.contains_key(&provider.name) {
            let (origin, key) = origin(loaded, provider);
            providers.insert(provider.name.clone(), member(&origin, of_provider(provider, key, &origin)));
        }
    }
    let aliases = loaded.extras.aliases.iter().map(|alias| {
        let origin = Origin::Found(alias.origin.clone());
        (alias.name.clone(), member(&origin, Value::text(&leads_to(alias))))
    });
    let made = Origin::Found("their best suited models".to_owned());
    let chains = loaded.extras.chains.iter();
    let chains = chains.map(|(name, chain)| (name.clone(), member(&made, Value::text(&chain.to_string()))));
    let sections = [("providers", providers), ("aliases", aliases.collect()), ("router", chains.collect())];
    let sections = sections.into_iter().filter(|(_, table)| !table.is_empty());
    let sections =
        sections.map(|(name, table)| (name.to_owned(), member(&Origin::BuiltIn, Value::Table(table))));
    Node { origin: Origin::BuiltIn, value: Value::Table(sections.collect()) }
}

/// Why a provider is there, and the variable of its key.
fn origin<'a>(loaded: &'a Loaded, provider: &Provider) -> (Origin, Option<&'a str>) {
    let extras = &loaded.extras;
    if let Some(found) = extras.found.iter().find(|found| found.provider.name == provider.name) {
        return (Origin::Found(found.because.clone()), found.key.as_deref());
    }
    let why = match extras.hijack.backs.iter().find(|back| back.provider == provider.name) {
        Some(back) => back.origin.clone(),
        None => "a server answers".to_owned(),
    };
    (Origin::Found(why), None)
}

fn of_provider(provider: &Provider, key: Option<&str>, origin: &Origin) -> Value {
    let mut table = Table::new();
    let mut say = |key: &str, value: Value| table.insert(key.to_owned(), member(origin, value));
    say("protocol", Value::text(provider.protocol.name()));
    say("base_url", Value::text(&provider.base_url));
    match (key, provider.keys.first()) {
        (Some(name), _) => {
            let reference = Some(format!("env:{name}"));
            say("key", Value::Text(Text { value: String::new(), reference }));
        }
        (None, Some(key)) => {
            say("key", hidden(key));
        }
        (None, None) => {}
    }
    if !provider.headers.is_empty() {
        let headers = provider.headers.iter();
        let headers = headers.map(|(name, value)| (name.clone(), member(origin, hidden(value))));
        say("headers", Value::Table(headers.collect()));
    }
    if !provider.models.is_empty() {
        let node = |name: &String| Node { origin: origin.clone(), value: Value::text(name) };
        say("models", Value::List(provider.models.keys().map(node).collect()));
    }
    Value::Table(table)
}

/// The secret itself never gets into what is shown.
fn hidden(secret: &Secret) -> Value {
    Value::text(&secret.to_string())
}

fn leads_to(alias: &Alias) -> String {
    match &alias.to {
        AliasTo::Classified => "virtual".to_owned(),
        AliasTo::Virtual(name) => name.clone(),
        AliasTo::Chain(chain) => chain.to_string(),
    }
}

fn member(origin: &Origin, value: Value) -> Member {
    Member { key: origin.clone(), node: Node { origin: origin.clone(), value } }
}
