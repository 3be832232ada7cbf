//! Which variables of the environment hold keys.

use std::collections::BTreeSet;

use crate::found::catalog;
use crate::reference::Reference;
use crate::tree::{Node, Value};
use crate::variables::PREFIX;
use crate::{Env, Loaded};

/// Keys of the engines that search the web.
const SEARCH_KEYS: &[&str] = &["BRAVE_API_KEY", "TAVILY_API_KEY"];

/// The variables that hold keys: those of the providers that are known by name and of search engines, those that the configuration refers to as
/// `env:NAME`, those of the environment form, and ours that set up a provider. They need not be set.
pub fn key_variables(loaded: &Loaded, env: &Env) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = catalog().into_iter().flat_map(|known| known.keys).collect();
    names.extend(SEARCH_KEYS.iter().map(|name| (*name).to_owned()));
    referred(&loaded.tree, &mut names);
    names.extend(loaded.extras.hijack.prefixes.iter().map(|prefix| format!("{prefix}_API_KEY")));
    let ours = env.all().map(|(name, _)| name);
    names.extend(ours.filter(|name| name.starts_with(&format!("{PREFIX}PROVIDERS__"))).map(str::to_owned));
    names
}

fn referred(node: &Node, names: &mut BTreeSet<String>) {
    match &node.value {
        Value::Text(text) => {
            if let Some(Reference::Variable(name)) = text.reference.as_deref().and_then(Reference::parse) {
                names.insert(name.to_owned());
            }
        }
        Value::List(list) => list.iter().for_each(|inner| referred(inner, names)),
        Value::Table(table) => table.values().for_each(|member| referred(&member.node, names)),
        Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Other(_) => {}
    }
}
