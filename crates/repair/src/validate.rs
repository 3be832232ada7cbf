//! Says what in arguments does not keep a schema. It is there to answer a model, so it looks at what models get wrong:
//! types, members, listed values. It is no complete validator: formats, lengths and ranges are the tool's own business.

use serde_json::Value;

use crate::Problem;
use crate::path::Path;
use crate::schema::{Fuel, Kind, Schema};

/// More than these would bury the answer.
const MAX_PROBLEMS: usize = 16;

/// How much of a value is quoted.
const MAX_QUOTED: usize = 60;

/// What does not fit, in the order of the arguments.
pub(crate) fn validate(arguments: &Value, schema: Schema<'_>, fuel: &Fuel) -> Vec<Problem> {
    let mut found = Vec::new();
    if !schema.fits(arguments, fuel) {
        look(arguments, schema, &Path::Root(""), fuel, &mut found);
    }
    found.truncate(MAX_PROBLEMS);
    found
}

fn look(value: &Value, schema: Schema<'_>, path: &Path<'_>, fuel: &Fuel, found: &mut Vec<Problem>) {
    if found.len() >= MAX_PROBLEMS {
        return;
    }
    let before = found.len();
    let types = schema.types_within(fuel);
    let kind = Kind::of(value);
    if !types.has(kind) {
        found.push(problem(path, format!("is {}, but must be {}", kind.words(), types.words())));
        return;
    }
    let allowed = schema.values().filter(|allowed| !allowed.iter().any(|one| Schema::same(one, value)));
    if let Some(allowed) = allowed {
        let listed: Vec<String> = allowed.iter().take(MAX_PROBLEMS).map(|one| short(one)).collect();
        found.push(problem(path, format!("is {}, but must be one of {}", short(value), listed.join(", "))));
        return;
    }
    fuel.deeper(|| match value {
        Value::Object(_) => members(value, schema, path, fuel, found),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let here = Path::Item(path, at);
                if let Some(schema) = schema.item(at).filter(|schema| !schema.fits(item, fuel)) {
                    look(item, schema, &here, fuel, found);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    });
    if found.len() == before {
        branches(value, schema, path, fuel, found);
    }
}

fn members(value: &Value, schema: Schema<'_>, path: &Path<'_>, fuel: &Fuel, found: &mut Vec<Problem>) {
    let Value::Object(map) = value else { return };
    for name in schema.required().filter(|name| !map.contains_key(*name)) {
        let types = schema.property(name).map(|schema| schema.types_within(fuel).words());
        let what = types.map_or_else(String::new, |types| format!(" and must be {types}"));
        found.push(problem(&Path::Member(path, name), format!("is missing{what}")));
    }
    for (name, member) in map {
        if found.len() >= MAX_PROBLEMS {
            return;
        }
        let here = Path::Member(path, name);
        if schema.is_closed() && !schema.declares(name) && !schema.may_match(name) {
            let known: Vec<&str> = schema.parameters().collect();
            let known =
                if known.is_empty() { "none".to_owned() } else { format!("`{}`", known.join("`, `")) };
            found.push(problem(&here, format!("is not a parameter; there are: {known}")));
        } else if let Some(schema) = schema.property(name).filter(|schema| !schema.fits(member, fuel)) {
            look(member, schema, &here, fuel, found);
        }
    }
}

/// Nothing is wrong by itself, so no alternative fits: with one that could be meant, its problems are the answer.
fn branches(value: &Value, schema: Schema<'_>, path: &Path<'_>, fuel: &Fuel, found: &mut Vec<Problem>) {
    let kind = Kind::of(value);
    let meant: Vec<Schema<'_>> =
        schema.branches().into_iter().filter(|branch| branch.types_within(fuel).has(kind)).collect();
    match meant.as_slice() {
        [] => {}
        [one] => {
            fuel.deeper(|| look(value, *one, path, fuel, found));
        }
        many => {
            let mut closest: Option<Vec<Problem>> = None;
            for branch in many {
                let mut own = Vec::new();
                fuel.deeper(|| look(value, *branch, path, fuel, &mut own));
                if closest.as_ref().is_none_or(|known| own.len() < known.len()) {
                    closest = Some(own);
                }
            }
            let hint = closest.and_then(|own| own.into_iter().next());
            let hint = hint.map_or_else(String::new, |one| {
                format!("; the closest asks that `{}` {}", one.path, one.what)
            });
            found.push(problem(path, format!("fits none of its {} allowed forms{hint}", many.len())));
        }
    }
}

fn problem(path: &Path<'_>, what: String) -> Problem {
    Problem { path: path.to_string(), what }
}

/// A value in short.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_QUOTED) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn problems_say_where_and_what_is_expected() {
        let schema = json!({
            "type": "object",
            "properties": {
                "url": {"type": "string"},
                "method": {"type": "string", "enum": ["GET", "PUT"]},
                "limit": {"type": ["integer", "null"]},
                "items": {"type": "array", "items": {"type": "object", "properties": {"done": {"type": "boolean"}}, "required": ["text"]}},
                "either": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"n": {"type": "integer"}}}]},
            },
            "required": ["url"],
            "additionalProperties": false,
        });
        let said = |value: Value| -> Vec<String> {
            validate(&value, Schema::new(&schema), &Fuel::for_text(0))
                .into_iter()
                .map(|problem| format!("{}: {}", problem.path, problem.what))
                .collect()
        };
        assert_eq!(said(json!({"url": "x", "limit": null, "items": []})), Vec::<String>::new());
        assert_eq!(said(json!({})), ["url: is missing and must be a string"]);
        assert_eq!(
            said(json!({"url": 1, "method": "get", "limit": "ten", "other": 1})),
            [
                "url: is an integer, but must be a string",
                "method: is \"get\", but must be one of \"GET\", \"PUT\"",
                "limit: is a string, but must be an integer or null",
                "other: is not a parameter; there are: `url`, `method`, `limit`, `items`, `either`",
            ]
        );
        assert_eq!(
            said(json!({"url": "x", "items": [{"text": 1}, {"done": "x"}]})),
            ["items[1].text: is missing", "items[1].done: is a string, but must be a boolean"]
        );
        assert_eq!(
            said(json!({"url": "x", "either": {"n": "x"}})),
            ["either.n: is a string, but must be an integer"]
        );
        assert_eq!(said(json!([])), [": is an array, but must be an object"]);
    }
}
