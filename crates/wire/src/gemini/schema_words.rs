//! The words of the API's schemas, as tables, and what can be told of a schema by looking at it.

use serde_json::{Map, Value};

/// What the API's `Schema` knows.
pub(super) const KNOWN: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "propertyOrdering",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "default",
    "anyOf",
];
/// Keys that are looked at and become something else.
pub(super) const REWRITTEN: &[&str] =
    &["$ref", "$defs", "definitions", "const", "allOf", "oneOf", "if", "then", "else", "prefixItems"];
pub(super) const TYPES: &[&str] = &["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];
/// Which keys mean something for which type; the others go with every type.
pub(super) const BOUND: &[(&str, &[&str])] = &[
    ("items", &["ARRAY"]),
    ("minItems", &["ARRAY"]),
    ("maxItems", &["ARRAY"]),
    ("properties", &["OBJECT"]),
    ("required", &["OBJECT"]),
    ("minProperties", &["OBJECT"]),
    ("maxProperties", &["OBJECT"]),
    ("propertyOrdering", &["OBJECT"]),
    ("minimum", &["NUMBER", "INTEGER"]),
    ("maximum", &["NUMBER", "INTEGER"]),
    ("minLength", &["STRING"]),
    ("maxLength", &["STRING"]),
    ("pattern", &["STRING"]),
    ("enum", &["STRING"]),
];
/// Anything: an array or an object can't be left open, so what remains is the simple values.
pub(super) fn anything() -> Map<String, Value> {
    let simple = ["STRING", "NUMBER", "BOOLEAN"]
        .map(|name| Value::Object(Map::from_iter([("type".to_owned(), Value::from(name))])));
    Map::from_iter([("anyOf".to_owned(), Value::Array(simple.to_vec()))])
}

/// The types said, in upper case, and whether null is one of them.
pub(super) fn types(flat: &Map<String, Value>) -> (Vec<&'static str>, bool) {
    let said: Vec<&str> = match flat.get("type") {
        Some(Value::String(name)) => vec![name.as_str()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(_) | None => Vec::new(),
    };
    let mut out: Vec<&'static str> = Vec::new();
    for name in said {
        let upper = name.to_ascii_uppercase();
        if let Some(known) = TYPES.iter().find(|known| **known == upper).filter(|known| !out.contains(known))
        {
            out.push(known);
        }
    }
    let null = out.contains(&"NULL");
    out.retain(|name| *name != "NULL");
    (out, null)
}

/// The type that other keywords imply.
pub(super) fn implied(flat: &Map<String, Value>) -> Vec<&'static str> {
    let has = |key: &str| flat.contains_key(key);
    if has("properties") || has("required") {
        vec!["OBJECT"]
    } else if has("items") || has("prefixItems") {
        vec!["ARRAY"]
    } else if has("pattern") || has("minLength") || has("maxLength") {
        vec!["STRING"]
    } else if has("minimum") || has("maximum") {
        vec!["NUMBER"]
    } else {
        Vec::new()
    }
}

pub(super) fn values(flat: &Map<String, Value>) -> Option<Value> {
    flat.get("const").map(|only| Value::Array(vec![only.clone()])).or_else(|| flat.get("enum").cloned())
}

pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) | Value::Null => "STRING",
        Value::Bool(_) => "BOOLEAN",
        Value::Number(number) if number.is_f64() => "NUMBER",
        Value::Number(_) => "INTEGER",
        Value::Array(_) => "ARRAY",
        Value::Object(_) => "OBJECT",
    }
}

/// Adds what a second schema demands; what the first says stands.
pub(super) fn merge(flat: &mut Map<String, Value>, other: Map<String, Value>) {
    for (key, value) in other {
        match (key.as_str(), flat.get_mut(&key), value) {
            ("properties", Some(Value::Object(fields)), Value::Object(more)) => {
                for (name, field) in more {
                    fields.entry(name).or_insert(field);
                }
            }
            ("required", Some(Value::Array(names)), Value::Array(more)) => {
                for name in more {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
            (_, Some(_), _) => {}
            (_, None, value) => {
                flat.insert(key, value);
            }
        }
    }
}
