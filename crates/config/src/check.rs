//! What the schema says is held against a tree, key by key.

use rail_stdx::nearest;

use crate::reference::{self, Reference};
use crate::schema::Shape;
use crate::tree::{Node, Table, Value};
use crate::way::Way;
use crate::{Problem, format};

/// Finds all that the schema does not allow, and takes it out, so that the rest can be looked at further.
pub(crate) fn check(tree: &mut Node) -> Vec<Problem> {
    let mut check = Check { problems: Vec::new() };
    // The root is a table: files are, and so are variables and flags.
    check.node(tree, Shape::root(), &Way::default());
    check.problems
}

struct Check {
    problems: Vec<Problem>,
}

/// Whether a value can stay.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Stays,
    Goes,
}

impl Check {
    fn node(&mut self, node: &mut Node, shape: Shape, way: &Way) -> Verdict {
        let form = kinds(&node.value).iter().find_map(|kind| shape.form(kind));
        let Some(form) = form else {
            let text = wrong_kind(&node.value, shape);
            self.problems.push(Problem::new(&node.origin, way.to_string(), text));
            return Verdict::Goes;
        };
        let wrong = match &mut node.value {
            Value::Table(table) => {
                let missing = self.table(table, form, way);
                missing.map(|key| format!("`{key}` is missing; write it"))
            }
            Value::List(list) => {
                let mut at = 0;
                list.retain_mut(|item| {
                    let verdict =
                        form.item().map_or(Verdict::Stays, |shape| self.node(item, shape, &way.at(at)));
                    at += 1;
                    verdict == Verdict::Stays
                });
                None
            }
            Value::Text(text) => match &text.reference {
                Some(reference) => {
                    wrong_text(&text.value, shape, form).map(|_| reference::not_right(reference))
                }
                // What it stands for is looked at once that is known.
                None if Reference::parse(&text.value).is_some() => None,
                None => wrong_text(&text.value, shape, form),
            },
            Value::Integer(number) => wrong_number(*number as f64, form),
            Value::Float(number) => wrong_number(*number, form),
            Value::Bool(_) | Value::Other(_) => None,
        };
        match wrong {
            Some(text) => {
                self.problems.push(Problem::new(&node.origin, way.to_string(), text));
                Verdict::Goes
            }
            None => Verdict::Stays,
        }
    }

    /// Looks at each member; gives the first key that is missing.
    fn table(&mut self, table: &mut Table, shape: Shape, way: &Way) -> Option<&'static str> {
        let missing = shape.required().find(|key| !table.contains_key(*key));
        table.retain(|key, member| {
            let way = way.to(key);
            let Some(shape) = shape.member(key) else {
                let text = unknown_key(key, shape);
                self.problems.push(Problem::new(&member.key, way.to_string(), text));
                return false;
            };
            self.node(&mut member.node, shape, &way) == Verdict::Stays
        });
        missing
    }
}

/// The schema's names for what a value is; a whole number is a number too.
fn kinds(value: &Value) -> &'static [&'static str] {
    match value {
        Value::Bool(_) => &["boolean"],
        Value::Integer(_) => &["integer", "number"],
        Value::Float(_) => &["number"],
        Value::Text(_) => &["string"],
        Value::List(_) => &["array"],
        Value::Table(_) => &["object"],
        Value::Other(_) => &[],
    }
}

/// The words for what the schema wants.
pub(crate) fn wanted(shape: Shape) -> String {
    let mut wanted: Vec<&str> = Vec::new();
    for form in shape.forms() {
        let word = match form.kind() {
            "string" => "a string",
            "integer" => "a whole number",
            "number" => "a number",
            "boolean" => "`true` or `false`",
            "array" => "a list",
            _ => "a table",
        };
        if !wanted.contains(&word) {
            wanted.push(word);
        }
    }
    wanted.join(" or ")
}

fn wrong_kind(value: &Value, shape: Shape) -> String {
    let wanted = wanted(shape);
    let takes = |kind: &str| shape.form(kind).is_some();
    let way_out = match value {
        Value::Text(text) if takes("boolean") && matches!(text.value.as_str(), "true" | "false") => {
            "; write it without quotes"
        }
        Value::Text(text)
            if (takes("integer") || takes("number")) && text.value.trim().parse::<f64>().is_ok() =>
        {
            "; write it without quotes"
        }
        Value::Text(_) if takes("array") => "; write it in brackets: [\"…\"]",
        Value::Integer(_) | Value::Float(_) if takes("string") && shape.format() == Some("duration") => {
            "; write it with its unit, such as \"5s\""
        }
        Value::Integer(_) | Value::Float(_) if takes("string") && shape.format() == Some("size") => {
            "; write it with its unit, such as \"64KB\""
        }
        Value::Bool(_) | Value::Integer(_) | Value::Float(_) if takes("string") => "; write it in quotes",
        Value::List(_) if takes("string") && shape.format() == Some("chain") => {
            "; write the targets as one text with `;` between them"
        }
        Value::Other("null") => "; leave the key out instead",
        Value::Other("a date") if takes("string") => "; write it in quotes",
        Value::Bool(_)
        | Value::Integer(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Table(_)
        | Value::Other(_) => "",
    };
    format!("{wanted} is wanted here, and this is {}{way_out}", value.kind())
}

/// Of text, the whole shape names the words, and the form that fits the rules of its kind.
fn wrong_text(text: &str, shape: Shape, form: Shape) -> Option<String> {
    let words = shape.words();
    if words.is_empty() {
        return format::wrong(form.format()?, text);
    }
    if words.iter().any(|(word, _)| *word == text) {
        return None;
    }
    let known = words.iter().map(|(word, _)| *word);
    let meant = nearest(text, known.clone());
    let meant = meant.map_or_else(|| "there".to_owned(), |word| format!("did you mean `{word}`? There"));
    let known: Vec<String> = known.map(|word| format!("`{word}`")).collect();
    Some(format!("`{text}` is not known; {meant} are: {}", known.join(", ")))
}

fn wrong_number(number: f64, form: Shape) -> Option<String> {
    match (form.minimum(), form.maximum()) {
        (Some(least), _) if number < least => Some(format!("{number} is too small; write {least} or more")),
        (_, Some(most)) if number > most => Some(format!("{number} is too large; write {most} or less")),
        (Some(_) | None, Some(_) | None) => None,
    }
}

fn unknown_key(key: &str, shape: Shape) -> String {
    let known: Vec<&str> = shape.keys().map(|(key, _)| key).collect();
    if let Some(meant) = nearest(key, known.iter().copied()) {
        return format!("there is no such key; did you mean `{meant}`?");
    }
    let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
    format!("there is no such key; here are: {}", known.join(", "))
}
