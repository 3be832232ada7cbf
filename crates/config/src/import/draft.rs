use std::collections::BTreeSet;
use std::fmt::Write;

use rail_model::ProtocolId;
use rail_stdx::Secret;
use serde_json::{Map, Value};
use toml_edit::{Array, InlineTable, Key};

use super::Imported;
use crate::endpoint::{self, plain};

/// The TOML that is being written, with what goes beside it.
///
/// Foreign text reaches it only as quoted keys and values, and in remarks that can't end their line.
#[derive(Default)]
pub(crate) struct Draft {
    done: Imported,
    names: BTreeSet<String>,
}

impl Draft {
    pub(crate) fn new(title: &str) -> Self {
        let mut draft = Self::default();
        draft.remark(title);
        draft
    }

    pub(crate) fn remark(&mut self, text: &str) {
        let _ = writeln!(self.done.toml, "# {}", plain(text));
    }

    pub(crate) fn blank(&mut self) {
        self.done.toml.push('\n');
    }

    pub(crate) fn table(&mut self, way: &[&str]) {
        let _ = writeln!(self.done.toml, "\n[{}]", dotted(way));
    }

    pub(crate) fn element(&mut self, way: &[&str]) {
        let _ = writeln!(self.done.toml, "\n[[{}]]", dotted(way));
    }

    pub(crate) fn pair(&mut self, key: &str, value: impl Into<toml_edit::Value>) {
        let _ = writeln!(self.done.toml, "{} = {}", dotted(&[key]), value.into());
    }

    pub(crate) fn list(&mut self, key: &str, values: &[String]) {
        self.pair(key, values.iter().map(String::as_str).collect::<Array>());
    }

    /// A table on one line.
    pub(crate) fn inline(&mut self, key: &str, values: &[(String, String)]) {
        self.pair(key, values.iter().map(|(name, value)| (name, value)).collect::<InlineTable>());
    }

    pub(crate) fn note(&mut self, text: impl AsRef<str>) {
        self.done.notes.push(plain(text.as_ref()));
    }

    /// Puts a key apart and gives what the configuration says instead. The name is made fit for a variable, and free.
    pub(crate) fn secret(&mut self, name: &str, value: &str) -> String {
        let usual = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let name: String = name.chars().map(usual).collect();
        let mut free = name.clone();
        for number in 2.. {
            if self.names.insert(free.clone()) {
                break;
            }
            free = format!("{name}_{number}");
        }
        self.done.env.push((free.clone(), Secret::new(value)));
        format!("env:{free}")
    }

    /// What the configuration says for a foreign value that may be a key: a variable by its name, or the value put apart.
    pub(crate) fn hidden(&mut self, name: &str, value: &str) -> String {
        match variable(value) {
            Some(variable) => format!("env:{variable}"),
            None => self.secret(name, value),
        }
    }

    /// What the configuration says for an address: the value put apart where it holds a password or a query, which may be a key.
    pub(crate) fn address(&mut self, name: &str, url: &str) -> String {
        if endpoint::shown(url) == url { url.to_owned() } else { self.secret(name, url) }
    }

    /// A base address, without the user name that none may have.
    pub(crate) fn base_url(&mut self, place: &str, url: &str, protocol: ProtocolId) {
        let base = endpoint::base_url(url, protocol);
        let bare = endpoint::without_user(&base);
        if bare != base {
            self.note(format!(
                "{place}: the user name and password of its address are left out; put them into `headers`"
            ));
        }
        self.pair("base_url", bare);
    }

    /// Notes that nothing came of it.
    pub(crate) fn nothing(&mut self, what: &str) {
        self.note(format!("no provider was found in {what}; name the file you mean, or run `rail init`"));
    }

    /// Notes the keys that nobody took.
    pub(crate) fn left_over(&mut self, place: &str, left: &Map<String, Value>) {
        if !left.is_empty() {
            let keys: Vec<String> = left.keys().map(|key| format!("`{key}`")).collect();
            self.note(format!("{place}: nothing here stands for {}", keys.join(", ")));
        }
    }

    pub(crate) fn finish(self) -> Imported {
        self.done
    }
}

/// The variable that a value stands for: `$NAME` or `${NAME}`.
pub(crate) fn variable(value: &str) -> Option<&str> {
    let rest = value.trim().strip_prefix('$')?;
    let name = rest.strip_prefix('{').map_or(Some(rest), |rest| rest.strip_suffix('}'))?;
    let usual = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (usual && !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

/// Takes the first of these keys out of an object.
pub(crate) fn take(map: &mut Map<String, Value>, keys: &[&str]) -> Option<Value> {
    let key = keys.iter().find(|key| map.contains_key(**key))?;
    map.shift_remove(*key).filter(|value| !value.is_null())
}

/// Takes a text out of an object, unless it is blank; what is no text stays there, to be noted.
pub(crate) fn take_text(map: &mut Map<String, Value>, keys: &[&str]) -> Option<String> {
    let key = keys.iter().find(|key| map.get(**key).is_some_and(Value::is_string))?;
    let text = map.shift_remove(*key)?;
    let text = text.as_str().map(str::trim).filter(|text| !text.is_empty())?;
    Some(text.to_owned())
}

/// Takes an object out of an object; what is none stays there, to be noted.
pub(crate) fn take_map(map: &mut Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    let key = keys.iter().find(|key| map.get(**key).is_some_and(Value::is_object));
    match key.and_then(|key| map.shift_remove(*key)) {
        Some(Value::Object(inner)) => inner,
        _ => Map::new(),
    }
}

/// The texts of a list, or of an object in it under `name` or `id`.
pub(crate) fn texts(value: Option<&Value>) -> Vec<String> {
    let name = |value: &Value| match value {
        Value::Object(map) => map.get("id").or(map.get("name"))?.as_str().map(str::to_owned),
        value => value.as_str().map(str::to_owned),
    };
    value.and_then(Value::as_array).into_iter().flatten().filter_map(name).collect()
}

/// Milliseconds, as a length of time in a configuration.
pub(crate) fn wait(value: &Value) -> Option<String> {
    let millis =
        value.as_u64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|millis| *millis > 0)?;
    Some(if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") })
}

fn dotted(way: &[&str]) -> String {
    way.iter().map(|key| Key::new(*key).display_repr().into_owned()).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_where_it_is_put() {
        let bad = "a\"]\nmode = \"bypass\" # '''";
        let mut draft = Draft::new(bad);
        draft.table(&["t", bad]);
        draft.remark(bad);
        draft.pair(bad, bad);
        draft.inline("inline", &[(bad.to_owned(), bad.to_owned())]);
        draft.element(&["list", bad]);
        draft.list("texts", &[bad.to_owned()]);
        let keys = [draft.secret("a-b", "one"), draft.secret("A_B", "two"), draft.hidden("c", "${D}")];
        assert_eq!(keys, ["env:A_B", "env:A_B_2", "env:D"]);
        let read: toml::Table = toml::from_str(&draft.finish().toml).unwrap();
        let inline = toml::Table::from_iter([(bad.to_owned(), bad.into())]);
        let table =
            toml::Table::from_iter([(bad.to_owned(), bad.into()), ("inline".to_owned(), inline.into())]);
        let texts = toml::Table::from_iter([("texts".to_owned(), vec![bad].into())]);
        let t = toml::Table::from_iter([(bad.to_owned(), table.into())]);
        let list = toml::Table::from_iter([(bad.to_owned(), vec![texts].into())]);
        assert_eq!(
            read,
            toml::Table::from_iter([("t".to_owned(), t.into()), ("list".to_owned(), list.into())])
        );
    }

    #[test]
    fn variables() {
        for (text, expected) in [
            ("$A_1", Some("A_1")),
            (" ${A} ", Some("A")),
            ("${A", None),
            ("$", None),
            ("$1", None),
            ("a$A", None),
            ("${A:-b}", None),
        ] {
            assert_eq!(variable(text), expected, "{text}");
        }
    }
}
