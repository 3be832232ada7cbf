//! The configuration in force, for people and for programs. Secrets are never in it.

mod found;

use std::fmt::Write;

use serde_json::{Map, json};

use crate::compose::is_literal_secret;
use crate::pasted::hide;
use crate::settings::ProviderSettings;
use crate::tree::{Member, Node, Table, Text, Value};
use crate::way::{Way, quoted};
use crate::{Loaded, Settings};

/// Which values are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// Those that differ from the default.
    Changed,
    /// All.
    All,
}

/// Whether it is shown who said a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum With {
    /// It is.
    Origins,
    /// It is not.
    ValuesOnly,
}

/// The values as TOML, each with a remark on who said it. A secret is `***`, a reference stands as it was written.
///
/// What was found where nothing is configured stands there as well, with the reason.
pub fn show_toml(loaded: &Loaded, which: Which, with: With) -> String {
    let tree = shown(loaded, which);
    let mut out = String::new();
    if let Some(table) = tree.table() {
        section(table, &Way::default(), Heading::None, with, &mut out);
    }
    out
}

/// The values as JSON. With origins, each key has `{"value", "origin"}` under its whole path; else it is the
/// configuration as a file would have it.
pub fn show_json(loaded: &Loaded, which: Which, with: With) -> serde_json::Value {
    let tree = shown(loaded, which);
    match with {
        With::ValuesOnly => plain(&tree),
        With::Origins => {
            let mut map = Map::new();
            leaves(&tree, &Way::default(), &mut map);
            serde_json::Value::Object(map)
        }
    }
}

/// The tree as it may be seen.
fn shown(loaded: &Loaded, which: Which) -> Node {
    let mut tree = found::tree(loaded);
    tree.merge(loaded.tree.clone());
    match which {
        Which::All => {
            let names = loaded.routing.providers.keys().cloned();
            let providers = names.map(|name| (name, ProviderSettings::default())).collect();
            let said = std::mem::replace(&mut tree, built_in(Settings { providers, ..Settings::default() }));
            tree.merge(said);
        }
        Which::Changed => drop(without(&mut tree, &built_in(Settings::default()))),
    }
    mask(&mut tree, &Way::default());
    tree
}

fn built_in(settings: Settings) -> Node {
    // Settings are tables of plain values, which TOML can always say.
    toml::Value::try_from(settings).map_or_else(|_| Node::empty(), |value| Node::built_in(&value))
}

/// Takes out what is as by default; whether nothing is left.
fn without(node: &mut Node, default: &Node) -> bool {
    if let (Value::Table(table), Value::Table(defaults)) = (&mut node.value, &default.value) {
        table.retain(|key, member| {
            let default = defaults.get(key).map(|default| &default.node);
            !default.is_some_and(|default| without(&mut member.node, default))
        });
        return table.is_empty();
    }
    node.to_toml() == default.to_toml()
}

fn mask(node: &mut Node, way: &Way) {
    let is_secret = is_literal_secret(node, way);
    match &mut node.value {
        Value::Table(table) => {
            table.iter_mut().for_each(|(key, member)| mask(&mut member.node, &way.to(key)))
        }
        Value::List(list) => list.iter_mut().enumerate().for_each(|(at, item)| mask(item, &way.at(at))),
        Value::Text(text) => {
            text.value = match &text.reference {
                Some(reference) => hide(reference),
                None if is_secret => "***".to_owned(),
                None => hide(&without_password(&text.value)),
            };
        }
        Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Other(_) => {}
    }
}

/// Text without the user, password and query that an address in it may hold.
fn without_password(text: &str) -> String {
    let Some((before, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')).unwrap_or(rest.len());
    let (address, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let authority = address.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, host) = match authority.rsplit_once('@') {
        Some((_, host)) => ("***@", host),
        None => ("", authority),
    };
    let path = address.get(authority.len()..).unwrap_or_default();
    let path = match path.split_once('?') {
        Some((path, _)) => format!("{path}?***"),
        None => path.to_owned(),
    };
    format!("{before}://{user}{host}{path}{}", without_password(after))
}

/// How the table that is written is introduced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heading {
    None,
    Table,
    Item,
}

fn section(table: &Table, way: &Way, heading: Heading, with: With, out: &mut String) {
    let (tables, values): (Vec<_>, Vec<_>) = table.iter().partition(|(_, member)| is_section(&member.node));
    // An item of a list must be seen even if only tables stand in it.
    if !values.is_empty() || tables.is_empty() || heading == Heading::Item {
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = match heading {
            Heading::None => Ok(()),
            Heading::Table => writeln!(out, "[{way}]"),
            Heading::Item => writeln!(out, "[[{way}]]"),
        };
    }
    for (key, member) in values {
        let _ = write!(out, "{} = {}", quoted(key), inline(&member.node));
        remark(member, with, out);
    }
    for (key, member) in tables {
        let way = way.to(key);
        match &member.node.value {
            Value::Table(table) => section(table, &way, Heading::Table, with, out),
            Value::List(list) => {
                for table in list.iter().filter_map(Node::table) {
                    section(table, &way, Heading::Item, with, out);
                }
            }
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) | Value::Other(_) => {}
        }
    }
}

fn remark(member: &Member, with: With, out: &mut String) {
    let _ = match with {
        With::Origins => writeln!(out, " # {}", member.node.origin.brief()),
        With::ValuesOnly => writeln!(out),
    };
}

/// Whether a value gets headings of its own: a table with something in it, or a list of such.
fn is_section(node: &Node) -> bool {
    match &node.value {
        Value::Table(table) => !table.is_empty(),
        Value::List(list) => !list.is_empty() && list.iter().all(|item| item.table().is_some()),
        Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) | Value::Other(_) => false,
    }
}

/// A value on one line.
fn inline(node: &Node) -> String {
    node.to_toml().to_string()
}

fn plain(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Bool(value) => json!(value),
        Value::Integer(value) => json!(value),
        Value::Float(value) => json!(value),
        Value::Text(Text { value, .. }) => json!(value),
        Value::List(list) => list.iter().map(plain).collect(),
        Value::Table(table) => serde_json::Value::Object(
            table.iter().map(|(key, member)| (key.clone(), plain(&member.node))).collect(),
        ),
        Value::Other(name) => json!(name),
    }
}

fn leaves(node: &Node, way: &Way, out: &mut Map<String, serde_json::Value>) {
    match node.table() {
        Some(table) if !table.is_empty() => {
            table.iter().for_each(|(key, member)| leaves(&member.node, &way.to(key), out));
        }
        Some(_) | None => {
            let value = json!({ "value": plain(node), "origin": node.origin.to_string() });
            out.insert(way.to_string(), value);
        }
    }
}
