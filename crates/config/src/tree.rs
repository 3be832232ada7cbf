use std::collections::BTreeMap;
use std::fmt;

use crate::Origin;

/// A value with its origin.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Who said it.
    pub origin: Origin,
    /// What it is.
    pub value: Value,
}

/// What a file can say.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Another number, finite.
    Float(f64),
    /// Text.
    Text(Text),
    /// Values in order.
    List(Vec<Node>),
    /// Values by key.
    Table(Table),
    /// What no key takes, by its name: `null`, a date, a number that is too large.
    Other(&'static str),
}

/// Values by key.
pub type Table = BTreeMap<String, Member>;

/// A value in a table, and who wrote its key.
#[derive(Clone, PartialEq, Debug)]
pub struct Member {
    /// Who wrote the key.
    pub key: Origin,
    /// The value.
    pub node: Node,
}

/// Text as it was written, and what it stands for. It may be a secret, so that debugging shows its reference at most.
#[derive(Clone, PartialEq, Eq)]
pub struct Text {
    /// What it says; of a reference, what it stands for once that is known.
    pub value: String,
    /// The reference, such as `env:QWEN_KEY`, if it was written as one.
    pub reference: Option<String>,
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reference.as_deref().unwrap_or("***"))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self { value: text.to_owned(), reference: None }
    }
}

impl Value {
    /// Text that is no reference.
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// What it is, with its article.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) => "true or false",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number with a fraction",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other(name) => name,
        }
    }
}

impl Node {
    /// An empty table that nobody wrote.
    pub fn empty() -> Self {
        Self { origin: Origin::BuiltIn, value: Value::Table(Table::new()) }
    }

    /// Its members, if it is a table.
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Other(_) => None,
        }
    }

    /// Its text, if it is text.
    pub fn text(&self) -> Option<&Text> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Table(_)
            | Value::List(_)
            | Value::Other(_) => None,
        }
    }

    /// The member at the end of a way of keys; a number picks from a list.
    pub fn find(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(self, |node, key| match &node.value {
            Value::Table(table) => table.get(*key).map(|member| &member.node),
            Value::List(list) => list.get(key.parse::<usize>().ok()?),
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) | Value::Other(_) => None,
        })
    }

    /// Who said what stands at the end of a way of keys, or the nearest that is there above it.
    pub fn origin_of(&self, keys: &[&str]) -> Origin {
        let deepest = (0..=keys.len()).rev().find_map(|count| self.find(keys.get(..count)?));
        deepest.map_or(Origin::BuiltIn, |node| node.origin.clone())
    }

    /// Puts a later layer over this one: tables are joined key by key, everything else is replaced.
    ///
    /// `key` and `keys` of a provider are one thing said in two ways, so that either replaces the other. Permission rules and
    /// hooks add up: a later file can't take back what an earlier one denies or checks, and an answer that is kept for a project keeps
    /// the user's own.
    pub fn merge(&mut self, mut later: Node) {
        let moments = later.find(&["hooks"]).and_then(Node::table).into_iter().flatten();
        let moments: Vec<[String; 2]> =
            moments.map(|(name, _)| ["hooks".to_owned(), name.to_owned()]).collect();
        let rules = ["allow", "ask", "deny"].map(|list| ["permissions".to_owned(), list.to_owned()]);
        for [section, list] in moments.iter().chain(&rules) {
            let way = [section.as_str(), list];
            let earlier = self.find(&way).map(|node| &node.value);
            let later = later.find_mut(&way).map(|node| &mut node.value);
            if let (Some(Value::List(earlier)), Some(Value::List(later))) = (earlier, later) {
                later.splice(..0, earlier.iter().cloned());
            }
        }
        // A project's command must not get the secrets of a server of the user's: who names a server says all of it.
        let says_whole = |node: &Node| ["command", "url"].iter().any(|key| node.find(&[key]).is_some());
        for (name, member) in later.find(&["mcp", "servers"]).and_then(Node::table).into_iter().flatten() {
            if let (true, Some(earlier)) =
                (says_whole(&member.node), self.find_mut(&["mcp", "servers", name]))
            {
                *earlier = Node { origin: member.node.origin.clone(), value: Value::Table(Table::new()) };
            }
        }
        for (name, member) in later.find(&["providers"]).and_then(Node::table).into_iter().flatten() {
            let says = |key| member.node.table().is_some_and(|table| table.contains_key(key));
            let earlier = self.find_mut(&["providers", name]);
            if let Some(Node { value: Value::Table(earlier), .. }) = earlier {
                match (says("key"), says("keys")) {
                    (true, false) => drop(earlier.remove("keys")),
                    (false, true) => drop(earlier.remove("key")),
                    (true, true) | (false, false) => {}
                }
            }
        }
        merge(self, later);
    }

    fn find_mut(&mut self, keys: &[&str]) -> Option<&mut Node> {
        keys.iter().try_fold(self, |node, key| match &mut node.value {
            Value::Table(table) => table.get_mut(*key).map(|member| &mut member.node),
            Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Other(_) => None,
        })
    }

    /// As the value that serde reads.
    pub(crate) fn to_toml(&self) -> toml::Value {
        match &self.value {
            Value::Bool(value) => toml::Value::Boolean(*value),
            Value::Integer(value) => toml::Value::Integer(*value),
            Value::Float(value) => toml::Value::Float(*value),
            Value::Text(text) => toml::Value::String(text.value.clone()),
            Value::List(list) => toml::Value::Array(list.iter().map(Node::to_toml).collect()),
            Value::Table(table) => {
                let members = table.iter().map(|(key, member)| (key.clone(), member.node.to_toml()));
                toml::Value::Table(members.collect())
            }
            Value::Other(name) => toml::Value::String((*name).to_owned()),
        }
    }

    /// What these defaults say, said by nobody.
    pub(crate) fn built_in(value: &toml::Value) -> Self {
        let origin = Origin::BuiltIn;
        let value = match value {
            toml::Value::Boolean(value) => Value::Bool(*value),
            toml::Value::Integer(value) => Value::Integer(*value),
            toml::Value::Float(value) => Value::Float(*value),
            toml::Value::String(value) => Value::text(value),
            toml::Value::Array(list) => Value::List(list.iter().map(Self::built_in).collect()),
            toml::Value::Table(table) => {
                let member = |node| Member { key: Origin::BuiltIn, node };
                let members = table.iter().map(|(key, value)| (key.clone(), member(Self::built_in(value))));
                Value::Table(members.collect())
            }
            toml::Value::Datetime(_) => Value::Other("a date"),
        };
        Self { origin, value }
    }
}

fn merge(earlier: &mut Node, later: Node) {
    let (into, from) = match (&mut earlier.value, later.value) {
        (Value::Table(into), Value::Table(from)) => (into, from),
        (_, value) => {
            *earlier = Node { origin: later.origin, value };
            return;
        }
    };
    for (key, member) in from {
        match into.get_mut(&key) {
            Some(there) => {
                // A table goes on standing where it was first written.
                if !matches!(member.node.value, Value::Table(_)) {
                    there.key = member.key;
                }
                merge(&mut there.node, member.node);
            }
            None => {
                into.insert(key, member);
            }
        }
    }
}
