//! A view on a JSON Schema, as far as reading and mending arguments depends on it.

mod fits;
mod types;

use std::cell::Cell;

use rail_model::Map;
use serde_json::Value;

use crate::{Tool, free_text};

pub(crate) use types::{Kind, Types};

/// The schema that allows anything.
static ANYTHING: Value = Value::Bool(true);

/// How many schemas may stand for one: by reference or by `allOf`. More are left unread.
const MAX_VIEWS: usize = 64;

/// A schema, or a part of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema<'a> {
    /// What references point into.
    root: &'a Value,
    node: &'a Value,
}

/// Bounds the work on one call: schemas come from outside and may refer to themselves. When it is spent, everything fits.
pub(crate) struct Fuel {
    steps: Cell<usize>,
    depth: Cell<usize>,
}

/// How deep schemas are followed into a value; no honest one goes further, and deeper ones would cost call stack.
const MAX_SCHEMA_DEPTH: usize = 96;

impl Fuel {
    fn new(steps: usize) -> Self {
        Self { steps: Cell::new(steps), depth: Cell::new(0) }
    }

    /// Enough for any honest schema, and linear in the arguments.
    pub(crate) fn for_text(bytes: usize) -> Self {
        Self::new(20_000 + bytes.saturating_mul(32))
    }

    /// Takes one step; false when there is nothing left.
    pub(crate) fn step(&self) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(1));
        left > 0
    }

    /// Does something one level further down; None when that is too deep or nothing is left.
    pub(crate) fn deeper<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        if !self.step() || self.depth.get() >= MAX_SCHEMA_DEPTH {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let done = work();
        self.depth.set(self.depth.get() - 1);
        Some(done)
    }
}

impl<'a> Schema<'a> {
    /// What a tool's arguments must be; anything when it declares nothing.
    pub(crate) fn of(tool: &'a Tool) -> Self {
        if tool.free_text {
            return Self::new(&free_text::TAUGHT);
        }
        Self::new(tool.schema().unwrap_or(&ANYTHING))
    }

    /// A whole schema.
    pub(crate) fn new(root: &'a Value) -> Self {
        Self { root, node: root }
    }

    fn at(self, node: &'a Value) -> Self {
        Self { root: self.root, node }
    }

    fn anything(self) -> Self {
        self.at(&ANYTHING)
    }

    /// The schema of a member: declared by name, by pattern, or as one of any name.
    pub(crate) fn property(self, name: &str) -> Option<Self> {
        let declared = self.declarations(name);
        if let Some(first) = declared.first() {
            // Alternatives that disagree about a member say that it exists, and nothing more.
            let agreed = declared.iter().all(|other| other == first);
            return Some(if agreed { self.at(first) } else { self.anything() });
        }
        let others = self.views().into_iter().filter_map(|view| self.undeclared(view, name)).next();
        others.map(|node| self.at(node))
    }

    /// Whether a member of exactly this name is declared.
    pub(crate) fn declares(self, name: &str) -> bool {
        !self.declarations(name).is_empty()
    }

    /// The names of all declared members, in order.
    pub(crate) fn parameters(self) -> impl Iterator<Item = &'a str> {
        let mut names: Vec<&str> = Vec::new();
        for view in self.views_and_branches() {
            for name in map(view, "properties").into_iter().flat_map(Map::keys) {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
        }
        names.into_iter()
    }

    /// Whether members are declared at all, be it none of them.
    pub(crate) fn lists_parameters(self) -> bool {
        self.views_and_branches().into_iter().any(|view| map(view, "properties").is_some())
    }

    /// Whether a member must be there.
    pub(crate) fn requires(self, name: &str) -> bool {
        self.required().any(|required| required == name)
    }

    /// The names of the members that must be there.
    pub(crate) fn required(self) -> impl Iterator<Item = &'a str> {
        let lists = self.views().into_iter().filter_map(|view| view.get("required")?.as_array());
        lists.flatten().filter_map(Value::as_str)
    }

    /// Whether members that nobody declared are forbidden.
    pub(crate) fn is_closed(self) -> bool {
        let closed = |view: &&Value| view.get("additionalProperties") == Some(&Value::Bool(false));
        self.views().iter().any(closed)
    }

    /// The schema of one element of a list.
    pub(crate) fn item(self, at: usize) -> Option<Self> {
        self.views().into_iter().find_map(|view| {
            let prefix =
                view.get("prefixItems").or_else(|| view.get("items").filter(|items| items.is_array()));
            let listed = prefix.and_then(Value::as_array);
            if let Some(node) = listed.and_then(|list| list.get(at)) {
                return Some(self.at(node));
            }
            view.get("items").filter(|items| !items.is_array()).map(|node| self.at(node))
        })
    }

    /// The alternatives of `anyOf` and `oneOf`, if there are any.
    pub(crate) fn branches(self) -> Vec<Self> {
        self.views().into_iter().flat_map(alternatives).take(MAX_VIEWS).map(|node| self.at(node)).collect()
    }

    /// The values that are allowed, where they are listed.
    pub(crate) fn values(self) -> Option<Vec<&'a Value>> {
        self.views().into_iter().find_map(|view| match (view.get("const"), view.get("enum")) {
            (Some(only), _) => Some(vec![only]),
            (None, Some(Value::Array(list))) => Some(list.iter().collect()),
            (None, _) => None,
        })
    }

    /// The types that are allowed here.
    pub(crate) fn types(self) -> Types {
        types::of(self, &Fuel::new(2_000))
    }

    /// True when strings are allowed and nothing else.
    pub(crate) fn only_string(self) -> bool {
        self.types() == Types::STRING
    }

    /// All nodes that hold at once: this one, what it refers to, and the members of `allOf`.
    fn views(self) -> Vec<&'a Value> {
        let mut views = vec![self.node];
        let mut next = 0;
        while let Some(&view) = views.get(next) {
            next += 1;
            let referred = view.get("$ref").and_then(Value::as_str).and_then(|to| resolve(self.root, to));
            let all = view.get("allOf").and_then(Value::as_array).into_iter().flatten();
            for more in referred.into_iter().chain(all) {
                if views.len() < MAX_VIEWS && !views.iter().any(|known| std::ptr::eq(*known, more)) {
                    views.push(more);
                }
            }
        }
        views
    }

    fn views_and_branches(self) -> Vec<&'a Value> {
        let mut views = self.views();
        views.extend(self.branches().into_iter().flat_map(|branch| branch.views()));
        views
    }

    fn declarations(self, name: &str) -> Vec<&'a Value> {
        let of = |views: Vec<&'a Value>| -> Vec<&'a Value> {
            views.into_iter().filter_map(|view| map(view, "properties")?.get(name)).collect()
        };
        let own = of(self.views());
        match own.first() {
            Some(first) => vec![first],
            None => of(self.views_and_branches()),
        }
    }

    /// The schema for a member that is not declared by name.
    fn undeclared(self, view: &'a Value, name: &str) -> Option<&'a Value> {
        let patterns = map(view, "patternProperties").into_iter().flatten();
        match patterns.into_iter().find_map(|(pattern, node)| matches(pattern, name).then_some(node)) {
            Some(node) => Some(node),
            // An empty one says as little as `true` does.
            None => view
                .get("additionalProperties")
                .filter(|node| node.as_object().is_some_and(|map| !map.is_empty())),
        }
    }

    /// Whether a name may be one of a pattern's; a pattern that can't be read here may match anything.
    pub(crate) fn may_match(self, name: &str) -> bool {
        let patterns = self.views().into_iter().filter_map(|view| map(view, "patternProperties"));
        patterns.flat_map(Map::keys).any(|pattern| literal(pattern).is_none() || matches(pattern, name))
    }
}

fn map<'a>(view: &'a Value, key: &str) -> Option<&'a Map> {
    view.get(key).and_then(Value::as_object)
}

fn alternatives(view: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().filter_map(|key| view.get(key)?.as_array()).flatten()
}

/// What a local reference points to.
fn resolve<'a>(root: &'a Value, to: &str) -> Option<&'a Value> {
    match to.strip_prefix('#')? {
        "" => Some(root),
        pointer if !pointer.contains('%') => root.pointer(pointer),
        pointer => root.pointer(&pointer.replace("%20", " ").replace("%24", "$").replace("%25", "%")),
    }
}

/// Patterns are regular expressions; only the plain ones that schemas really use are understood.
fn matches(pattern: &str, name: &str) -> bool {
    match literal(pattern) {
        Some(prefix) => name.starts_with(prefix),
        None => false,
    }
}

/// The prefix that a plain pattern asks for: `^x-`, `.*`.
fn literal(pattern: &str) -> Option<&str> {
    if matches!(pattern, "" | ".*" | "^.*$" | ".+" | "^.+$" | "^" | "^.*") {
        return Some("");
    }
    let prefix = pattern.strip_prefix('^')?;
    let prefix = prefix.strip_suffix(".*$").or_else(|| prefix.strip_suffix(".*")).unwrap_or(prefix);
    prefix.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ')).then_some(prefix)
}

#[cfg(test)]
mod tests;
