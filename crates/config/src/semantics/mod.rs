//! What types can't say: what belongs together, what contradicts, what leads nowhere.

mod provider;
mod rest;
mod router;

use std::collections::BTreeMap;

use crate::reference::not_right;
use crate::way::Way;
use crate::{Extras, Node, Origin, Problem, Settings};

pub(crate) struct Input<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) tree: &'a Node,
    pub(crate) extras: &'a Extras,
    /// Providers that lack a value, and why.
    pub(crate) unusable: &'a BTreeMap<String, String>,
    /// What was found before: a value that was taken out for it is not missing.
    pub(crate) earlier: &'a [Problem],
}

#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

pub(crate) fn check(input: &Input<'_>) -> Found {
    let mut found = Found::default();
    provider::check(input, &mut found);
    router::check(input, &mut found);
    rest::check(input, &mut found);
    found
}

impl Input<'_> {
    /// A problem at a place, or at the nearest that is there above it.
    fn problem(&self, way: &Way, text: impl Into<String>) -> Problem {
        let reference = self.node(way).and_then(Node::text).and_then(|text| text.reference.as_deref());
        let text = reference.map_or_else(|| text.into(), not_right);
        Problem::new(&self.origin(way), way.to_string(), text)
    }

    fn node(&self, way: &Way) -> Option<&Node> {
        let keys = way.keys();
        let keys: Vec<&str> = keys.iter().map(|key| key.trim_matches(['[', ']'])).collect();
        self.tree.find(&keys)
    }

    /// A problem with a key itself.
    fn key_problem(&self, way: &Way, text: impl Into<String>) -> Problem {
        let keys = way.keys();
        let above = keys.split_last().and_then(|(last, above)| {
            let table = self.tree.find(above)?.table()?;
            table.get(*last).map(|member| member.key.clone())
        });
        Problem::new(&above.unwrap_or_else(|| self.origin(way)), way.to_string(), text)
    }

    fn origin(&self, way: &Way) -> Origin {
        let keys = way.keys();
        let keys: Vec<&str> = keys.iter().map(|key| key.trim_matches(['[', ']'])).collect();
        self.tree.origin_of(&keys)
    }

    /// Whether something at or below this place was wrong already.
    fn is_broken(&self, way: &Way) -> bool {
        let way = way.to_string();
        self.earlier.iter().any(|problem| {
            let rest = problem.key.strip_prefix(&way);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }
}
