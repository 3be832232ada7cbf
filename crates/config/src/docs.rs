//! The reference of all keys, made of what the types say of themselves.

use std::fmt::Write;

use serde_json::Value;

use crate::check::wanted;
use crate::schema::Shape;
use crate::variables::variable;
use crate::way::Way;

/// The page for users: an introduction, and every key with its type, default, meaning and variable.
pub fn reference() -> String {
    let mut out = String::from(include_str!("docs.md"));
    for (key, shape) in Shape::root().keys() {
        section(shape, &Way::from([key]), shape.about(), &mut out);
    }
    out
}

/// A table of keys under its heading, then the tables below it.
fn section(shape: Shape, way: &Way, about: &str, out: &mut String) {
    let Some(table) = shape.form("object") else { return };
    let mut below = Vec::new();
    let mut rows = String::new();
    let named = table.keys().map(|(key, shape)| (key, shape, key));
    let any = table.any_key().map(|shape| ("NAME", shape, "NAME"));
    for (key, shape, label) in named.chain(any) {
        let way = way.to(key);
        match inner(shape) {
            Some((inner, suffix)) if inner.keys().next().is_some() || inner.any_key().is_some() => {
                below.push((inner, format!("{way}{suffix}"), way.clone(), shape.about()));
                // A list of names or a table of them is both a value and a section.
                if shape.forms().len() == 1 {
                    continue;
                }
            }
            Some(_) | None => {}
        }
        row(shape, label, &way, &mut rows);
    }
    let _ = write!(out, "\n## `{}`\n\n{about}\n", heading(shape, way));
    if !rows.is_empty() {
        let _ = write!(
            out,
            "\n| key | value | default | meaning and variable |\n| --- | --- | --- | --- |\n{rows}"
        );
    }
    for (shape, _, way, about) in below {
        let about = if about.is_empty() { shape.about() } else { about };
        section(shape, &way, about, out);
    }
}

fn heading(shape: Shape, way: &Way) -> String {
    if shape.kind() == "array" { format!("[[{way}]]") } else { format!("[{way}]") }
}

/// The table inside a value, if it is one or a list of them.
fn inner(shape: Shape) -> Option<(Shape, &'static str)> {
    if let Some(table) = shape.form("object") {
        return Some((table, ""));
    }
    let item = shape.form("array")?.item()?;
    item.form("object").map(|table| (table, "[]"))
}

fn row(shape: Shape, key: &str, way: &Way, out: &mut String) {
    let default = shape.default().filter(|default| !is_empty(default)).map(shown).unwrap_or_default();
    let variable = variable(&way.keys());
    let about = cell(shape.about());
    let words: String = shape.words().iter().map(|(word, about)| words_line(word, about)).collect();
    let _ = writeln!(out, "| `{key}` | {} | {default} | {about}{words}<br>`{variable}` |", kind(shape));
}

fn words_line(word: &str, about: &str) -> String {
    let about = cell(about);
    if about.is_empty() { String::new() } else { format!("<br>`{word}`: {about}") }
}

fn kind(shape: Shape) -> String {
    let words = shape.words();
    if !words.is_empty() {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        return words.join(", ");
    }
    match shape.format() {
        Some("chain") => "a chain".to_owned(),
        Some("duration") => "a length of time".to_owned(),
        Some("secret") => "a secret".to_owned(),
        Some("path") => "a path".to_owned(),
        Some(_) | None => match shape.form("array").and_then(Shape::item) {
            Some(item) if shape.forms().len() == 1 => format!("a list of {}", plural(item)),
            Some(_) | None => wanted(shape),
        },
    }
}

fn plural(item: Shape) -> &'static str {
    match (item.kind(), item.format()) {
        ("object", _) => "tables",
        (_, Some("secret")) => "secrets",
        (_, Some("permission-rule")) => "rules",
        _ => "strings",
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`\"{text}\"`"),
        other => format!("`{other}`"),
    }
}

/// Text in a cell of a table: on one line, with no bar that would end it.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
