//! Schemas in the API's own words (`STRING`, `nullable`), as everybody else reads them, and back.

use serde_json::{Map, Value};

/// Keys whose value is one schema, a list of schemas, or schemas by name; only there it goes deeper, never into data.
const ONE: &[&str] = &["items", "additionalProperties"];
const LISTS: &[&str] = &["anyOf", "prefixItems"];
const NAMED: &[&str] = &["properties", "$defs"];
/// Counts that protocol buffers spell as strings.
const COUNTS: &[&str] = &["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];
/// Other spellings of keys.
const SPELLINGS: &[(&str, &str)] = &[
    ("any_of", "anyOf"),
    ("property_ordering", "propertyOrdering"),
    ("additional_properties", "additionalProperties"),
    ("min_items", "minItems"),
    ("max_items", "maxItems"),
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("min_properties", "minProperties"),
    ("max_properties", "maxProperties"),
    ("ref", "$ref"),
    ("defs", "$defs"),
];

/// The schema in JSON Schema's words.
pub(super) fn to_json_schema(schema: &Value) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let mut out = Map::new();
    for (key, value) in map {
        let key = SPELLINGS.iter().find(|(other, _)| other == key).map_or(key.as_str(), |(_, key)| key);
        let value = match (key, value) {
            ("type", Value::String(name)) => Value::from(name.to_ascii_lowercase()),
            ("$ref", Value::String(place)) => Value::from(place.replacen("#/defs/", "#/$defs/", 1)),
            (_, Value::String(digits)) if COUNTS.contains(&key) => {
                digits.parse::<u64>().map_or_else(|_| value.clone(), Value::from)
            }
            _ => deeper(key, value, to_json_schema),
        };
        out.insert(key.to_owned(), value);
    }
    if out.get("nullable") == Some(&Value::Bool(true)) && out.get("type").is_some_and(Value::is_string) {
        out.shift_remove("nullable");
        if let Some(name) = out.get_mut("type") {
            *name = Value::Array(vec![name.take(), Value::from("null")]);
        }
    }
    Value::Object(out)
}

/// The way back, for a schema whose types were in upper case.
pub(super) fn to_proto(schema: &Value) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let mut out = Map::new();
    for (key, value) in map {
        match (key.as_str(), value) {
            ("type", Value::String(name)) => {
                out.insert(key.clone(), Value::from(name.to_ascii_uppercase()));
            }
            ("type", Value::Array(names)) => match names.as_slice() {
                [Value::String(name), Value::String(null)] if null == "null" => {
                    out.insert(key.clone(), Value::from(name.to_ascii_uppercase()));
                    out.insert("nullable".to_owned(), Value::Bool(true));
                }
                _ => {
                    out.insert(key.clone(), value.clone());
                }
            },
            (key, value) => {
                out.insert(key.to_owned(), deeper(key, value, to_proto));
            }
        }
    }
    Value::Object(out)
}

fn deeper(key: &str, value: &Value, change: fn(&Value) -> Value) -> Value {
    match value {
        Value::Array(list) if LISTS.contains(&key) => Value::Array(list.iter().map(change).collect()),
        Value::Object(_) if ONE.contains(&key) => change(value),
        Value::Object(named) if NAMED.contains(&key) => {
            Value::Object(named.iter().map(|(name, schema)| (name.clone(), change(schema))).collect())
        }
        _ => value.clone(),
    }
}
