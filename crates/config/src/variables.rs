//! `SWITCHRAIL_*` variables and flags: single values, brought to the place that the schema has for them.

use rail_stdx::nearest;

use crate::schema::Shape;
use crate::tree::{Member, Node, Table, Value};
use crate::way::Way;
use crate::{Origin, Problem, read};

/// What our variables begin with.
pub(crate) const PREFIX: &str = "SWITCHRAIL_";

/// Stands for `--config`.
pub(crate) const CONFIG: &str = "SWITCHRAIL_CONFIG";

/// The variable that sets a key: `SWITCHRAIL_ROUTER__OPTIONS__LONG_CONTEXT_THRESHOLD`.
pub(crate) fn variable(keys: &[&str]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| spelled(key)).collect();
    format!("{PREFIX}{}", keys.join("__"))
}

/// A key in capitals, with `_` where a word begins.
fn spelled(key: &str) -> String {
    let mut out = String::new();
    for c in key.chars() {
        if c.is_uppercase() && out.chars().next_back().is_some_and(|before| before != '_') {
            out.push('_');
        }
        out.extend(if c.is_alphanumeric() { c.to_uppercase().next() } else { Some('_') });
    }
    // Words that were all capitals before are left as they were.
    if key.chars().all(|c| !c.is_lowercase()) { key.to_owned() } else { out }
}

/// Puts a variable into the tree; `known` is what the layers below say, for the names that users gave.
pub(crate) fn add_variable(tree: &mut Node, known: &Node, name: &str, text: &str) -> Result<(), Problem> {
    let origin = Origin::Variable(name.to_owned());
    let mut shape = Shape::root();
    let mut there = Some(known);
    let mut keys: Vec<String> = Vec::new();
    let mut parts = name.strip_prefix(PREFIX).unwrap_or(name).split("__");
    while let Some(part) = parts.next() {
        let Some((key, below)) = step(shape, there, part) else {
            let rest: String = parts.map(|part| format!("__{part}")).collect();
            let mut known = known_keys(shape, there);
            // It stands for a flag, and is no key.
            known.extend(keys.is_empty().then(|| "config".to_owned()));
            return Err(Problem::new(&origin, "", unknown(&keys, part, &rest, &known)));
        };
        there = there.and_then(|node| node.find(&[&key]));
        keys.push(key);
        shape = below;
    }
    put(tree, &keys, value(text, shape, &origin), &origin);
    Ok(())
}

/// Puts a flag's value at a dotted path.
pub(crate) fn add_flag(tree: &mut Node, path: &str, text: &str, flag: &'static str) -> Result<(), Problem> {
    let origin = Origin::Flag(flag);
    let wrong = |text: &str| Problem::new(&origin, path, text);
    let keys = read::path(path).ok_or_else(|| wrong("this is no path of keys; write `a.b.c`"))?;
    let refs: Vec<&str> = keys.iter().map(String::as_str).collect();
    // An unknown key is found by the check, as in files.
    let node = match crate::reference::shape_at(&refs) {
        Some(shape) => value(text, shape, &origin),
        None => Node { origin: origin.clone(), value: Value::text(text) },
    };
    put(tree, &keys, node, &origin);
    Ok(())
}

/// The key that a part of a variable's name stands for, and what the schema says of it.
fn step(shape: Shape, known: Option<&Node>, part: &str) -> Option<(String, Shape)> {
    let table = shape.form("object")?;
    if part.is_empty() {
        return None;
    }
    if let Some((key, shape)) = table.keys().find(|(key, _)| alike(key, part)) {
        return Some((key.to_owned(), shape));
    }
    let any = table.any_key()?;
    let users = known.and_then(Node::table).into_iter().flatten().map(|(key, _)| key);
    let user = users.into_iter().find(|key| alike(key, part)).cloned();
    Some((user.unwrap_or_else(|| part.to_lowercase()), any))
}

fn alike(key: &str, part: &str) -> bool {
    let squash = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    squash(key) == squash(part)
}

/// The keys that there are or can be, and those that users gave.
fn known_keys(shape: Shape, known: Option<&Node>) -> Vec<String> {
    let Some(table) = shape.form("object") else { return Vec::new() };
    let mut keys: Vec<String> = table.keys().map(|(key, _)| key.to_owned()).collect();
    let users = known.and_then(Node::table).into_iter().flatten().map(|(key, _)| key.clone());
    let users: Vec<String> = users.filter(|key| table.any_key().is_some() && !keys.contains(key)).collect();
    keys.extend(users);
    keys
}

/// What to say of a part that is no key; `rest` is what follows it in the name.
fn unknown(above: &[String], part: &str, rest: &str, known: &[String]) -> String {
    let above: Vec<&str> = above.iter().map(String::as_str).collect();
    let begin = if above.is_empty() { PREFIX.to_owned() } else { format!("{}__", variable(&above)) };
    match nearest(part, known.iter().map(String::as_str)) {
        Some(meant) => format!("no key has this variable; did you mean `{begin}{}{rest}`?", spelled(meant)),
        None if known.is_empty() => {
            let way = above.iter().fold(Way::default(), |way, key| way.to(key));
            format!("no key has this variable: `{way}` has no keys below it; remove the variable")
        }
        None => {
            let known: Vec<String> = known.iter().map(|key| format!("`{}`", spelled(key))).collect();
            format!("no key has this variable; after `{begin}` come: {}", known.join(", "))
        }
    }
}

/// The text as the schema wants it: a number, a list or a table where one is wanted and it reads as one.
fn value(text: &str, shape: Shape, origin: &Origin) -> Node {
    let as_text = || Node { origin: origin.clone(), value: Value::text(text) };
    if shape.form("string").is_some() {
        return as_text();
    }
    read::value(text, origin).unwrap_or_else(as_text)
}

fn put(tree: &mut Node, keys: &[String], node: Node, origin: &Origin) {
    let Some((last, way)) = keys.split_last() else { return };
    let mut node = Node {
        origin: origin.clone(),
        value: Value::Table(Table::from([(last.clone(), Member { key: origin.clone(), node })])),
    };
    for key in way.iter().rev() {
        let member = Member { key: origin.clone(), node };
        node = Node { origin: origin.clone(), value: Value::Table(Table::from([(key.clone(), member)])) };
    }
    tree.merge(node);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_keys() {
        for (keys, expected) in [
            (
                &["router", "options", "long_context_threshold"][..],
                "SWITCHRAIL_ROUTER__OPTIONS__LONG_CONTEXT_THRESHOLD",
            ),
            (&["router", "imageProcessing"], "SWITCHRAIL_ROUTER__IMAGE_PROCESSING"),
            (&["hooks", "PreToolUse"], "SWITCHRAIL_HOOKS__PRE_TOOL_USE"),
            (&["providers", "NAME", "base_url"], "SWITCHRAIL_PROVIDERS__NAME__BASE_URL"),
            (&["providers", "my-own", "key"], "SWITCHRAIL_PROVIDERS__MY_OWN__KEY"),
        ] {
            assert_eq!(variable(keys), expected);
        }
    }
}
