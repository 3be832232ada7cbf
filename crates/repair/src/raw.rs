//! Values that a format writes as raw text, so that only the schema says what they are.

use serde_json::Value;

use crate::coerce::{container, number_of};
use crate::json;
use crate::schema::{Kind, Schema, Types};

/// What a raw text means under a schema. Text stays text, to the last blank, unless the schema asks for something else or
/// the text is just a literal of another type that it allows.
pub(crate) fn from_text(raw: &str, schema: Option<&Schema<'_>>) -> Value {
    let types = schema.map_or(Types::ALL, |schema| schema.types());
    let found = if types == Types::ALL {
        // Nobody knows the type: what is just a list, an object, a number or a boolean is one.
        strict(raw).filter(|value| !value.is_string() && !value.is_null())
    } else if types.has(Kind::String) {
        strict(raw).filter(|value| !value.is_string() && types.has(Kind::of(value)))
    } else {
        tolerant(raw.trim(), types)
    };
    found.unwrap_or_else(|| Value::String(raw.to_owned()))
}

/// The value that the whole text is, in strict JSON.
fn strict(raw: &str) -> Option<Value> {
    let (value, end) = json::read_strict(raw)?;
    raw.get(end..)?.trim().is_empty().then_some(value)
}

/// The value that the whole text is, as JSON or as a Python literal; strings are not allowed here.
fn tolerant(word: &str, types: Types) -> Option<Value> {
    // Even where the schema knows no null: one that need not be there is left out later.
    if matches!(word, "null" | "None") {
        return Some(Value::Null);
    }
    if let Some(number) = number_of(word, types) {
        return Some(Value::Number(number));
    }
    if types.has(Kind::Boolean) && (word.eq_ignore_ascii_case("true") || word.eq_ignore_ascii_case("false")) {
        return Some(Value::Bool(word.eq_ignore_ascii_case("true")));
    }
    container(word, types)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schema_says_what_raw_text_is() {
        let table = [
            (json!({"type": "string"}), " 5\n", json!(" 5\n")),
            (json!({"type": "string"}), "null", json!("null")),
            (json!({"type": "string"}), "{\"a\": 1}", json!("{\"a\": 1}")),
            (json!({"enum": ["1", "2"]}), "1", json!("1")),
            (json!({"type": "integer"}), " 5 ", json!(5)),
            (json!({"type": "integer"}), "5.0", json!(5)),
            (json!({"type": "integer"}), "5.5", json!("5.5")),
            (json!({"type": "integer"}), "five", json!("five")),
            (json!({"type": "integer"}), "null", json!(null)),
            (json!({"type": "array"}), "None", json!(null)),
            (json!({"type": "number"}), "5.5", json!(5.5)),
            (json!({"type": "number"}), "Infinity", json!("Infinity")),
            (json!({"type": "number"}), "1e999", json!("1e999")),
            (json!({"type": "boolean"}), "True", json!(true)),
            (json!({"type": "boolean"}), "false", json!(false)),
            (json!({"type": "array"}), "['a', None]", json!(["a", null])),
            (json!({"type": "array"}), "[\"a\",]", json!(["a"])),
            (json!({"type": "array"}), "{}", json!("{}")),
            (json!({"type": "object"}), "{\"a\": 1}", json!({"a": 1})),
            (json!({"type": "object"}), "\"{\\\"a\\\": 1}\"", json!({"a": 1})),
            (json!({"type": ["integer", "null"]}), "null", json!(null)),
            (json!({"type": ["integer", "null"]}), "None", json!(null)),
            (json!({"type": ["string", "null"]}), "null", json!(null)),
            (json!({"type": ["string", "null"]}), "None", json!("None")),
            (json!({"type": ["string", "integer"]}), "5", json!(5)),
            (json!({"type": ["string", "integer"]}), "5 apples", json!("5 apples")),
            (json!({"anyOf": [{"type": "string"}, {"type": "array"}]}), "[1]", json!([1])),
            (json!({"anyOf": [{"type": "string"}, {"type": "array"}]}), "{}", json!("{}")),
        ];
        for (schema, raw, expected) in table {
            assert_eq!(from_text(raw, Some(&Schema::new(&schema))), expected, "{schema} {raw:?}");
        }
    }

    #[test]
    fn without_a_schema_only_what_is_nothing_but_json_is_json() {
        let table = [
            ("00421", json!("00421")),
            ("5", json!(5)),
            ("-1.5", json!(-1.5)),
            ("true", json!(true)),
            ("True", json!("True")),
            ("null", json!("null")),
            ("\"x\"", json!("\"x\"")),
            ("[1, 2]", json!([1, 2])),
            ("[1, 2", json!("[1, 2")),
            ("{\"a\": 1}", json!({"a": 1})),
            ("a b ", json!("a b ")),
            ("", json!("")),
        ];
        for (raw, expected) in table {
            assert_eq!(from_text(raw, None), expected, "{raw:?}");
        }
    }
}
