use std::collections::BTreeMap;

use rail_model::Map;
use serde_json::Value;

use crate::known::{self, Synonym};
use crate::renames::{Renames, join, rename_keys};
use crate::schema::{self, ObjectShape};
use crate::words::squash;
use crate::{Repair, Step, Tool};

/// Renames parameters that the tool does not declare to ones that it does.
///
/// The tool's name as the model wrote it does not matter: parameters of all dialects are understood whatever the call is named.
/// A name is changed only if the one it becomes is declared and absent: what was said outright always wins. What a name
/// stands for depends on nothing else in the call, so a second run changes nothing.
pub(crate) fn rename(arguments: &mut Map, tool: &Tool, _spelled: &str, repairs: &mut Vec<Repair>) {
    let Some(root) = &tool.schema else { return };
    let understood = known::understood(&tool.name);
    let names = Names { tool, root, understood, declared: known::declared(&tool.name) };
    names.rename(arguments, root, "", "arguments", repairs);
}

/// What names mean to one tool.
struct Names<'a> {
    tool: &'a Tool,
    root: &'a Value,
    /// What names mean to the native tool that this one stands for.
    understood: Option<&'static Renames>,
    /// What this tool's own parameters mean.
    declared: Option<&'static Renames>,
}

/// How sure it is that a name stands for another: of several names for one parameter, only a sure one counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sureness {
    /// The same name in another spelling, or one that a mapping in force names.
    Same,
    /// Another word for it.
    Likely,
}

impl Names<'_> {
    /// Renames the keys of the object at `place`, a path of native names; `path` is where it is in the call.
    fn rename(&self, map: &mut Map, node: &Value, place: &str, path: &str, repairs: &mut Vec<Repair>) {
        let Some(shape) = schema::object(node, self.root) else { return };
        if map.keys().any(|key| !shape.properties.contains_key(key)) {
            let changes = self.changes(map, &shape, place);
            for name in changes.values() {
                repairs.push(Repair::new(Step::Parameter, join(path, name)));
            }
            rename_keys(map, |key| changes.get(key).cloned());
        }
        for (key, value) in map.iter_mut().filter(|(_, value)| value.is_object() || value.is_array()) {
            let Some(node) = shape.properties.get(key) else { continue };
            let native = self.declared.and_then(|names| names.native(place, &squash(key))).unwrap_or(key);
            self.below(value, node, &join(place, native), &join(path, key), repairs);
        }
    }

    fn below(&self, value: &mut Value, node: &Value, place: &str, path: &str, repairs: &mut Vec<Repair>) {
        match value {
            Value::Object(map) => self.rename(map, node, place, path, repairs),
            Value::Array(list) => {
                let Some(node) = schema::items(node, self.root) else { return };
                let place = format!("{place}[]");
                for (at, item) in
                    list.iter_mut().enumerate().filter(|(_, item)| item.is_object() || item.is_array())
                {
                    self.below(item, node, &place, &format!("{path}[{at}]"), repairs);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The undeclared keys of an object that get another name.
    fn changes(&self, map: &Map, shape: &ObjectShape<'_>, place: &str) -> BTreeMap<String, String> {
        let properties = Properties::new(shape);
        let mut wanted = BTreeMap::<&str, Vec<(&str, Sureness)>>::new();
        for (key, value) in map.iter().filter(|(key, _)| !shape.properties.contains_key(*key)) {
            if let Some((target, sureness)) = self.target(key, value, &properties, place) {
                wanted.entry(target).or_default().push((key, sureness));
            }
        }
        let mut changes = BTreeMap::new();
        for (target, sources) in wanted {
            let free = !map.contains_key(target) && (!shape.open || shape.requires(target));
            if let Some(source) = winner(&sources).filter(|_| free) {
                changes.insert(source.to_owned(), target.to_owned());
            }
        }
        changes
    }

    /// The declared parameter that a name stands for.
    fn target<'p>(
        &self,
        key: &str,
        value: &Value,
        properties: &Properties<'p>,
        place: &str,
    ) -> Option<(&'p str, Sureness)> {
        let squashed = squash(key);
        if let Some(native) = self.tool.renames.native(place, &squashed) {
            let target = properties.exactly(native).or_else(|| self.declared_as(native, properties, place));
            if let Some(target) = target {
                return Some((target, Sureness::Same));
            }
        }
        if let Some(same) = properties.spelled(&squashed) {
            return only(same).map(|target| (target, Sureness::Same));
        }
        // The words of the table are names of arguments; inside them the same word may be data of any kind.
        if place.is_empty() {
            let synonyms = known::synonyms(&squashed).iter();
            let found: Vec<(&Synonym, &'p str)> = synonyms
                .filter_map(|synonym| Some((synonym, only(properties.spelled(&synonym.name)?)?)))
                .collect();
            match found.as_slice() {
                [] => {}
                [(synonym, target)] => {
                    return plausible(value, synonym.at_least).then_some((*target, Sureness::Likely));
                }
                _ => return None,
            }
        }
        let native = self.understood?.native(place, &squashed)?;
        self.declared_as(native, properties, place).map(|target| (target, Sureness::Likely))
    }

    /// The declared parameter that means a native one.
    fn declared_as<'p>(&self, native: &str, properties: &Properties<'p>, place: &str) -> Option<&'p str> {
        let declared = self.declared?;
        let found = properties.all().filter(|(squashed, _)| declared.native(place, squashed) == Some(native));
        only(&found.map(|(_, name)| name).collect::<Vec<_>>())
    }
}

/// Declared parameters by their squashed names.
struct Properties<'p>(BTreeMap<String, Vec<&'p str>>);

impl<'p> Properties<'p> {
    fn new(shape: &ObjectShape<'p>) -> Self {
        let mut names = BTreeMap::<_, Vec<&str>>::new();
        for name in shape.properties.keys() {
            names.entry(squash(name)).or_default().push(name);
        }
        Self(names)
    }

    fn spelled(&self, squashed: &str) -> Option<&[&'p str]> {
        self.0.get(squashed).map(Vec::as_slice)
    }

    fn exactly(&self, name: &str) -> Option<&'p str> {
        self.spelled(&squash(name))?.iter().find(|known| **known == name).copied()
    }

    fn all(&self) -> impl Iterator<Item = (&str, &'p str)> {
        self.0.iter().flat_map(|(squashed, names)| names.iter().map(move |name| (squashed.as_str(), *name)))
    }
}

fn only<'p>(names: &[&'p str]) -> Option<&'p str> {
    if let [name] = names { Some(name) } else { None }
}

/// The key that gets the name that several want: the only sure one, or else the only one at all.
fn winner<'k>(sources: &[(&'k str, Sureness)]) -> Option<&'k str> {
    let sure: Vec<&str> =
        sources.iter().filter(|(_, sureness)| *sureness == Sureness::Same).map(|(key, _)| *key).collect();
    match sure.as_slice() {
        [] => only(&sources.iter().map(|(key, _)| *key).collect::<Vec<_>>()),
        sure => only(sure),
    }
}

fn plausible(value: &Value, at_least: Option<f64>) -> bool {
    let Some(least) = at_least else { return true };
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    number.is_some_and(|number| number >= least)
}
