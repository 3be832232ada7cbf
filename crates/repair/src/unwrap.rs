//! Arguments that are wrapped: encoded twice, fenced, in a list, under a key of their own, or not there at all.

use rail_model::Map;
use serde_json::Value;

use crate::arguments::{self, Reading};
use crate::coerce::MAX_ENCODINGS;
use crate::json::State;
use crate::schema::{Kind, Schema};
use crate::{Repair, Step};

/// Keys under which models and servers put the arguments once more.
pub(crate) const WRAPPERS: [&str; 5] = ["arguments", "input", "parameters", "args", "properties"];

/// The object that is meant by a value, or why there is none.
pub(crate) fn unwrap(value: Value, schema: Schema<'_>, repairs: &mut Vec<Repair>) -> Result<Map, String> {
    let mut value = value;
    let mut encodings = 0;
    let mut layers = 0;
    loop {
        let inner = match value {
            Value::Object(map) => match wrapped(map, schema) {
                Ok(inner) => inner,
                Err(map) => {
                    if layers > 0 {
                        repairs.push(Repair::new(Step::Unwrapped, "arguments"));
                    }
                    return Ok(map);
                }
            },
            Value::Null => Value::Object(Map::new()),
            Value::Array(items) => one(items)?,
            Value::String(text) => match decoded(&text) {
                Some(inner) if encodings < MAX_ENCODINGS => {
                    encodings += 1;
                    inner
                }
                Some(_) => return Err("they are encoded as a string too often".to_owned()),
                None => return bare(&text, schema, repairs),
            },
            Value::Number(_) | Value::Bool(_) => return bare(&value.to_string(), schema, repairs),
        };
        layers += 1;
        value = inner;
    }
}

/// Words instead of an object: the value of the only required parameter that is a string.
pub(crate) fn bare(text: &str, schema: Schema<'_>, repairs: &mut Vec<Repair>) -> Result<Map, String> {
    let strings = |name: &&str| schema.property(name).is_some_and(|one| one.types().has(Kind::String));
    let mut required: Vec<&str> = schema.required().filter(strings).collect();
    required.dedup();
    // What looks like JSON and could not be read is a broken object, not the words of a parameter.
    let broken = text.trim_start().starts_with(['{', '[']) || names_parameter(text, schema);
    match required.as_slice() {
        [name] if !broken => {
            repairs.push(Repair::new(Step::Unwrapped, format!("arguments.{name}")));
            Ok(Map::from_iter([((*name).to_owned(), Value::String(text.to_owned()))]))
        }
        _ => Err("an object is expected, with a member for each parameter".to_owned()),
    }
}

/// Whether a text begins with a parameter's name, as in `command="ls"`: it says which value is whose, in no form we know.
fn names_parameter(text: &str, schema: Schema<'_>) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    let named = |name: &str| {
        let rest = text.strip_prefix(name).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(['=', ':']))
    };
    schema.parameters().any(named)
}

/// What stands under the only key, if that key is a wrapper and no parameter; else the object as it was.
fn wrapped(map: Map, schema: Schema<'_>) -> Result<Value, Map> {
    let only = match map.iter().next() {
        Some((key, value)) if map.len() == 1 => Some((key, value)),
        Some(_) | None => None,
    };
    // A tool that lists no parameters may well take one of that name.
    let wraps = only.is_some_and(|(key, value)| {
        WRAPPERS.contains(&key.as_str())
            && schema.lists_parameters()
            && schema.property(key).is_none()
            && holds_arguments(value)
    });
    if !wraps {
        return Err(map);
    }
    Ok(map.into_iter().next().map_or(Value::Null, |(_, value)| value))
}

fn holds_arguments(value: &Value) -> bool {
    match value {
        Value::Object(_) | Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::String(text) => decoded(text).is_some_and(|inner| inner.is_object()),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn one(items: Vec<Value>) -> Result<Value, String> {
    let count = items.len();
    match items.into_iter().next() {
        None => Ok(Value::Object(Map::new())),
        Some(only) if count == 1 && only.is_object() => Ok(only),
        Some(_) => Err("a list is not an object; send one call for each element".to_owned()),
    }
}

/// What a string holds, if that is an object, one more string, or nothing.
fn decoded(text: &str) -> Option<Value> {
    match arguments::read(text) {
        Reading::Empty => Some(Value::Object(Map::new())),
        Reading::Values(read) if read.state == State::Complete => {
            let mut values = read.values.into_iter();
            match (values.next(), values.next()) {
                (
                    Some(only @ (Value::Object(_) | Value::Null | Value::String(_) | Value::Array(_))),
                    None,
                ) => Some(only),
                _ => None,
            }
        }
        Reading::Values(_) | Reading::Bare(_) | Reading::Fault(_) => None,
    }
}
