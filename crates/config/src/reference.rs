//! Values that stand elsewhere: `env:NAME`, `file:PATH`, `keyring:NAME`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rail_stdx::Secret;

use crate::pasted::hide;
use crate::schema::Shape;
use crate::tree::{Node, Value};
use crate::way::Way;
use crate::{Origin, Problem};

/// A value that stands elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reference<'a> {
    /// In an environment variable.
    Variable(&'a str),
    /// In a file.
    File(&'a str),
    /// In the system's keyring, under the service `switchrail`.
    Keyring(&'a str),
}

impl<'a> Reference<'a> {
    /// What a text refers to, if it does.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (kind, name) = text.split_once(':')?;
        let is_name = |name: &str| {
            let mut bytes = name.bytes();
            bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
                && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        match kind {
            "env" if is_name(name) => Some(Self::Variable(name)),
            // `file://` begins an address.
            "file" if !name.is_empty() && !name.starts_with("//") => Some(Self::File(name)),
            "keyring" if !name.is_empty() => Some(Self::Keyring(name)),
            _ => None,
        }
    }
}

/// What the configuration asks of the machine; the one way to it.
pub trait Outside {
    /// The value of an environment variable, if it is set.
    fn variable(&self, name: &str) -> Option<String>;
    /// The text of a file; the error says why there is none.
    fn file(&self, path: &Path) -> Result<String, String>;
    /// What the keyring has under a name; the error says why there is none and what to do.
    fn keyring(&self, name: &str) -> Result<String, String>;
    /// The user's home, if there is one.
    fn home(&self) -> Option<PathBuf>;
}

/// What came of looking up references.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// Providers that lack something, each with what.
    pub(crate) unusable: BTreeMap<String, String>,
    /// MCP servers that lack something.
    pub(crate) servers: BTreeSet<String>,
    /// What lacks elsewhere.
    pub(crate) problems: Vec<Problem>,
    /// What lacks with providers and MCP servers: others can still serve.
    pub(crate) warnings: Vec<Problem>,
    /// Files that were read.
    pub(crate) files: Vec<PathBuf>,
}

/// Looks up every reference in the tree. One that leads nowhere is taken out.
pub(crate) fn resolve(tree: &mut Node, outside: &dyn Outside) -> Resolved {
    let mut resolved = Resolved::default();
    walk(tree, &Way::default(), &mut |node, way| {
        let Value::Text(text) = &mut node.value else { return Keep::Yes };
        let written = text.value.clone();
        let Some(reference) = Reference::parse(&written) else { return Keep::Yes };
        match look_up(reference, &node.origin, outside, &mut resolved.files) {
            Ok(value) => {
                text.value = value;
                text.reference = Some(written);
                Keep::Yes
            }
            Err(problem) => {
                resolved.lacks(&node.origin, way, problem);
                Keep::No
            }
        }
    });
    without_servers(tree, &resolved.servers);
    resolved
}

/// Takes out MCP servers that lack something.
fn without_servers(tree: &mut Node, names: &BTreeSet<String>) {
    let Value::Table(root) = &mut tree.value else { return };
    let Some(Value::Table(mcp)) = root.get_mut("mcp").map(|member| &mut member.node.value) else { return };
    let Some(Value::Table(servers)) = mcp.get_mut("servers").map(|member| &mut member.node.value) else {
        return;
    };
    servers.retain(|name, _| !names.contains(name));
}

impl Resolved {
    fn lacks(&mut self, origin: &Origin, way: &Way, problem: String) {
        let found = Problem::new(origin, way.to_string(), problem.clone());
        match way.keys().as_slice() {
            // One provider without its key must not stop the others.
            ["providers", name, ..] => {
                self.warnings.push(found);
                self.unusable.entry((*name).to_owned()).or_insert_with(|| hide(&problem));
            }
            // Nor must one server of tools.
            ["mcp", "servers", name, ..] => {
                let text = format!("{problem}. Until then this server is left out");
                self.warnings.push(Problem::new(origin, way.to_string(), text));
                self.servers.insert((*name).to_owned());
            }
            _ => self.problems.push(found),
        }
    }
}

/// What a reference stands for, as the one at this place means it; the error says why nothing, and what to write.
pub(crate) fn value(text: &str, origin: &Origin, outside: &dyn Outside) -> Result<Secret, String> {
    let reference = Reference::parse(text).ok_or_else(|| {
        "a key is told by where it stands, not by itself; write `env:NAME`, `file:PATH` or `keyring:NAME`"
            .to_owned()
    })?;
    look_up(reference, origin, outside, &mut Vec::new()).map(Secret::new)
}

fn look_up(
    reference: Reference<'_>,
    origin: &Origin,
    outside: &dyn Outside,
    files: &mut Vec<PathBuf>,
) -> Result<String, String> {
    match reference {
        Reference::Variable(name) => {
            let value = outside.variable(name).filter(|value| !value.is_empty());
            value.ok_or_else(|| format!("`env:{name}` is not set; export it or run `rail init`"))
        }
        Reference::File(path) => {
            let path = absolute(path, origin.folder(), outside.home().as_deref());
            files.push(path.clone());
            let text = outside.file(&path).map_err(|why| {
                format!("{} can't be read: {why}; write the value there, or correct the path", path.display())
            })?;
            Ok(text.trim_end_matches(['\r', '\n']).to_owned())
        }
        Reference::Keyring(name) => outside.keyring(name),
    }
}

/// What to say of a wrong value that stands elsewhere. It may be a secret at the wrong place, so that it is not told.
pub(crate) fn not_right(reference: &str) -> String {
    format!("what `{reference}` stands for is not right here; correct it there")
}

/// A path as a file means it: `~` is the home, and it is relative to the folder of the file.
pub(crate) fn absolute(path: &str, folder: Option<&Path>, home: Option<&Path>) -> PathBuf {
    let inner = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (inner, home, folder) {
        (Some(rest), Some(home), _) => home.join(rest.trim_start_matches('/')),
        (Some(_) | None, _, Some(folder)) => folder.join(path),
        (Some(_) | None, _, None) => PathBuf::from(path),
    }
}

/// Whether a value stays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Yes,
    No,
}

/// Shows each value that is no table and no list, with the way to it.
pub(crate) fn walk(node: &mut Node, way: &Way, see: &mut dyn FnMut(&mut Node, &Way) -> Keep) -> Keep {
    match &mut node.value {
        Value::Table(table) => {
            table.retain(|key, member| walk(&mut member.node, &way.to(key), see) == Keep::Yes);
            Keep::Yes
        }
        Value::List(list) => {
            let mut at = 0;
            list.retain_mut(|item| {
                let keep = walk(item, &way.at(at), see);
                at += 1;
                keep == Keep::Yes
            });
            Keep::Yes
        }
        Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) | Value::Other(_) => {
            see(node, way)
        }
    }
}

/// What the schema says of a place, by its keys.
pub(crate) fn shape_at(keys: &[&str]) -> Option<Shape> {
    keys.iter().try_fold(Shape::root(), |shape, key| {
        if key.starts_with('[') { shape.form("array")?.item() } else { shape.form("object")?.member(key) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_refer_and_texts_that_do_not() {
        for (text, expected) in [
            ("env:QWEN_KEY", Some(Reference::Variable("QWEN_KEY"))),
            ("file:key.txt", Some(Reference::File("key.txt"))),
            ("file:~/key", Some(Reference::File("~/key"))),
            ("file:/srv/key", Some(Reference::File("/srv/key"))),
            ("keyring:qwen", Some(Reference::Keyring("qwen"))),
            ("env:", None),
            ("env:A B", None),
            ("env:1", None),
            ("file:", None),
            ("file:///srv/key", None),
            ("keyring:", None),
            ("sk-env:X", None),
            ("Env:X", None),
            ("", None),
        ] {
            assert_eq!(Reference::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn paths_are_meant_from_the_file() {
        let (folder, home) = (Some(Path::new("/etc/x")), Some(Path::new("/u/me")));
        for (path, expected) in [
            ("a/b", "/etc/x/a/b"),
            ("/a", "/a"),
            ("~", "/u/me/"),
            ("~/a", "/u/me/a"),
            ("~other/a", "/etc/x/~other/a"),
        ] {
            assert_eq!(absolute(path, folder, home), Path::new(expected), "{path}");
        }
        assert_eq!(absolute("~/a", None, None), Path::new("~/a"));
    }
}
