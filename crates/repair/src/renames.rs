use std::collections::{BTreeMap, BTreeSet};

use rail_model::Map;

/// Names of parameters and what they are called at home, by the place of the object that holds them.
///
/// A place is a path of native names: empty for the arguments themselves, `entities[]` for each object of that list.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Renames(BTreeMap<String, BTreeMap<String, String>>);

/// Why a pair of parameter paths is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum PairFault {
    #[error("`{0}` and `{1}` are not equally deep: only names can change, not places")]
    Shape(String, String),
    #[error("`{0}` means both `{1}` and `{2}`")]
    TwoMeanings(String, String, String),
}

impl Renames {
    /// Takes up a pair of paths such as `nodes[].kind` and `entities[].entityType`; each step on the way is a pair of its own.
    pub(crate) fn pair(&mut self, theirs: &str, native: &str) -> Result<(), PairFault> {
        let shape = || PairFault::Shape(theirs.to_owned(), native.to_owned());
        let (from, to) = steps(theirs).zip(steps(native)).ok_or_else(shape)?;
        if from.len() != to.len() || from.iter().zip(&to).any(|(from, to)| from.1 != to.1) {
            return Err(shape());
        }
        let mut place = String::new();
        for ((from, _), (to, lists)) in from.into_iter().zip(to) {
            let known = self.0.entry(place.clone()).or_default();
            if let Some(other) = known.insert(from.to_owned(), to.to_owned()).filter(|other| other != to) {
                return Err(PairFault::TwoMeanings(theirs.to_owned(), other, to.to_owned()));
            }
            place = join(&place, to);
            place.push_str(lists);
        }
        Ok(())
    }

    /// Adds one name; an older meaning of it gives way.
    pub(crate) fn insert(&mut self, place: &str, theirs: String, native: &str) {
        self.0.entry(place.to_owned()).or_default().insert(theirs, native.to_owned());
    }

    /// What a name at this place is called at home.
    pub(crate) fn native(&self, place: &str, theirs: &str) -> Option<&str> {
        self.0.get(place)?.get(theirs).map(String::as_str)
    }

    /// The first name for a native one at this place.
    pub(crate) fn theirs(&self, place: &str, native: &str) -> Option<&str> {
        self.0.get(place)?.iter().find(|(_, to)| *to == native).map(|(from, _)| from.as_str())
    }

    /// Whether there are names at this place or below it.
    pub(crate) fn reach(&self, place: &str) -> bool {
        let below = |at: &String| {
            at.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        place.is_empty() || self.0.keys().any(below)
    }

    /// All names: place, theirs, native.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.0.iter().flat_map(|(place, names)| {
            names.iter().map(move |(theirs, native)| (place.as_str(), theirs.as_str(), native.as_str()))
        })
    }
}

/// The place of a key in the object at `place`.
pub(crate) fn join(place: &str, key: &str) -> String {
    if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") }
}

/// The steps of a path.
fn steps(path: &str) -> Option<Vec<(&str, &str)>> {
    path.split('.').map(step).collect()
}

/// A step of a path: its key, and the brackets after it.
fn step(text: &str) -> Option<(&str, &str)> {
    let (key, lists) = text.split_at_checked(text.find("[]").unwrap_or(text.len()))?;
    (!key.is_empty() && lists == "[]".repeat(lists.len() / 2)).then_some((key, lists))
}

/// Gives keys new names without moving them. A key whose new name is taken stays as it is; of two that want one name, the later.
pub(crate) fn rename_keys(map: &mut Map, mut new_name: impl FnMut(&str) -> Option<String>) {
    let mut wanted = BTreeSet::new();
    let mut changes = BTreeMap::new();
    for key in map.keys() {
        if let Some(name) = new_name(key).filter(|name| name != key && wanted.insert(name.clone())) {
            changes.insert(key.clone(), name);
        }
    }
    // A name is free when its holder gives it up; a holder that can't may block another in turn.
    while let Some(blocked) = changes
        .iter()
        .find(|(_, name)| map.contains_key(*name) && !changes.contains_key(*name))
        .map(|(key, _)| key.clone())
    {
        changes.remove(&blocked);
    }
    if changes.is_empty() {
        return;
    }
    let old = std::mem::take(map);
    map.extend(old.into_iter().map(|(key, value)| (changes.remove(&key).unwrap_or(key), value)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_pair_step_by_step() {
        let mut renames = Renames::default();
        renames.pair("nodes[].kind", "entities[].entityType").unwrap();
        renames.pair("action", "action").unwrap();
        let all: Vec<_> = renames.iter().collect();
        assert_eq!(
            all,
            [("", "action", "action"), ("", "nodes", "entities"), ("entities[]", "kind", "entityType")]
        );
        assert!(renames.reach("entities[]") && renames.reach("entities") && !renames.reach("entit"));
    }

    #[test]
    fn a_pair_changes_names_and_not_places() {
        let mut renames = Renames::default();
        for (theirs, native) in
            [("a.b", "a"), ("a[]", "a"), ("", "a"), ("a..b", "a.b.c"), ("a[x]", "a[]"), ("a[][", "a[]")]
        {
            assert!(matches!(renames.pair(theirs, native), Err(PairFault::Shape(..))), "{theirs} {native}");
        }
        renames.pair("a", "b").unwrap();
        assert_eq!(renames.pair("a", "c").unwrap_err().to_string(), "`a` means both `b` and `c`");
    }
}
