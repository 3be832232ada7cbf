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

/// What became of a schema when it was brought to JSON Schema's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reading {
    /// Nothing: it had them.
    Same,
    /// [`to_proto`] gives what it was.
    TheWayBack,
    /// It can't be got back from what it is now.
    OneWay,
}

/// Brings a schema to JSON Schema's words, where it stands.
pub(super) fn read(schema: &mut Value) -> Reading {
    let mut reader = Reader { changed: false, one_way: false };
    reader.read(schema);
    match (reader.changed, reader.one_way) {
        (false, _) => Reading::Same,
        (true, false) => Reading::TheWayBack,
        (true, true) => Reading::OneWay,
    }
}

struct Reader {
    changed: bool,
    one_way: bool,
}

impl Reader {
    fn read(&mut self, schema: &mut Value) {
        let Value::Object(map) = schema else { return };
        let spelled = |key: &String| SPELLINGS.iter().find(|(other, _)| other == key).map(|(_, key)| *key);
        if map.keys().any(|key| spelled(key).is_some()) {
            let renamed = std::mem::take(map).into_iter();
            *map = renamed.map(|(key, value)| (spelled(&key).map_or(key, str::to_owned), value)).collect();
            self.lost();
        }
        for (key, value) in map.iter_mut() {
            self.field(key, value);
        }
        if map.get("nullable") == Some(&Value::Bool(true)) && map.get("type").is_some_and(Value::is_string) {
            map.shift_remove("nullable");
            if let Some(name) = map.get_mut("type") {
                *name = Value::Array(vec![name.take(), Value::from("null")]);
            }
            self.changed = true;
        }
    }

    fn field(&mut self, key: &str, value: &mut Value) {
        match (key, value) {
            ("type", Value::String(name)) => {
                self.one_way |= name.bytes().any(|byte| byte.is_ascii_lowercase());
                self.changed |= name.bytes().any(|byte| byte.is_ascii_uppercase());
                name.make_ascii_lowercase();
            }
            ("type", Value::Array(names)) => {
                let ends_in_null =
                    matches!(names.as_slice(), [Value::String(_), Value::String(null)] if null == "null");
                self.one_way |= ends_in_null;
            }
            ("$ref", Value::String(place)) if place.contains("#/defs/") => {
                *place = place.replacen("#/defs/", "#/$defs/", 1);
                self.lost();
            }
            (_, value) if COUNTS.contains(&key) => {
                if let Some(count) = value.as_str().and_then(|digits| digits.parse::<u64>().ok()) {
                    *value = Value::from(count);
                    self.lost();
                }
            }
            (_, Value::Array(list)) if LISTS.contains(&key) => list.iter_mut().for_each(|one| self.read(one)),
            (_, value @ Value::Object(_)) if ONE.contains(&key) => self.read(value),
            (_, Value::Object(named)) if NAMED.contains(&key) => {
                named.values_mut().for_each(|one| self.read(one));
            }
            _ => {}
        }
    }

    fn lost(&mut self) {
        (self.changed, self.one_way) = (true, true);
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by copying, which says in a few words what is meant.
    fn to_json_schema(schema: &Value) -> Value {
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

    fn schemas() -> impl Strategy<Value = Value> {
        let words = prop::sample::select(vec![
            "STRING", "string", "OBJECT", "Array", "null", "NULL", "7", "#/defs/a", "",
        ]);
        let leaf = prop_oneof![
            words.clone().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            (0..9u32).prop_map(Value::from),
            Just(Value::Null),
            prop::collection::vec(words.prop_map(Value::from), 0..3).prop_map(Value::from),
        ];
        let keys = prop::sample::select(vec![
            "type",
            "nullable",
            "items",
            "any_of",
            "anyOf",
            "properties",
            "$defs",
            "$ref",
            "ref",
            "minItems",
            "min_items",
            "x",
        ]);
        leaf.prop_recursive(4, 24, 4, move |inner| {
            let object = prop::collection::vec((keys.clone(), inner.clone()), 0..5).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            });
            prop_oneof![3 => object, 1 => prop::collection::vec(inner, 0..3).prop_map(Value::from)]
        })
    }

    proptest! {
        #[test]
        fn reading_in_place_is_reading(original in schemas()) {
            let plain = to_json_schema(&original);
            let expected = match (plain == original, to_proto(&plain) == original) {
                (true, _) => Reading::Same,
                (false, true) => Reading::TheWayBack,
                (false, false) => Reading::OneWay,
            };
            let mut read_in_place = original.clone();
            prop_assert_eq!(read(&mut read_in_place), expected, "{}", original);
            prop_assert_eq!(read_in_place.to_string(), plain.to_string());
        }
    }
}
