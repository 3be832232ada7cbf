use serde_json::{Value, json};

use super::coerce;
use crate::schema::{Fuel, Schema};

fn coerced(schema: &Value, arguments: Value) -> (Value, Vec<String>) {
    let Value::Object(mut map) = arguments else { panic!("arguments are an object") };
    let mut repairs = Vec::new();
    coerce(&mut map, Schema::new(schema), &Fuel::for_text(0), &mut repairs);
    (Value::Object(map), repairs.iter().map(|repair| format!("{} {}", repair.step, repair.path)).collect())
}

#[test]
fn values_become_what_the_schema_asks_for() {
    let table = [
        (json!({"type": "integer"}), json!("20"), json!(20)),
        (json!({"type": "integer"}), json!(" 5.0 "), json!(5)),
        (json!({"type": "number"}), json!("5.0"), json!(5.0)),
        (json!({"type": "boolean"}), json!("FALSE"), json!(false)),
        (json!({"type": "array"}), json!("[1, 2]"), json!([1, 2])),
        (json!({"type": "array"}), json!("['a']"), json!(["a"])),
        (json!({"type": "object"}), json!("{\"a\": 1}"), json!({"a": 1})),
        (json!({"type": "object"}), json!("\"{\\\"a\\\": 1}\""), json!({"a": 1})),
        (json!({"type": ["integer", "null"]}), json!("null"), json!(null)),
        (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!("7"), json!(7)),
        (json!({"type": "string"}), json!(42), json!("42")),
        (json!({"type": "string"}), json!(true), json!("true")),
        (json!({"type": ["string", "null"]}), json!(1.50), json!("1.5")),
        (json!({"type": "array", "items": {"type": "string"}}), json!("*.rs"), json!(["*.rs"])),
        (json!({"type": "array", "items": {"type": "integer"}}), json!(["1", 2]), json!([1, 2])),
        (json!({"prefixItems": [{"type": "integer"}, {"type": "string"}]}), json!(["1", 2]), json!([1, "2"])),
        (
            json!({"type": "array", "items": {"properties": {"n": {"type": "integer"}}}}),
            json!("[{\"n\": \"1\"}]"),
            json!([{"n": 1}]),
        ),
        (json!({"additionalProperties": {"type": "string"}}), json!({"X": 3}), json!({"X": "3"})),
        (
            json!({"anyOf": [{"properties": {"n": {"type": "integer"}}}, {"type": "string"}]}),
            json!({"n": "1"}),
            json!({"n": 1}),
        ),
    ];
    for (schema, given, expected) in table {
        let schema = json!({"properties": {"x": schema}, "required": ["x"]});
        let (mended, repairs) = coerced(&schema, json!({"x": given}));
        assert_eq!(mended, json!({"x": expected}), "{schema} {given}");
        assert!(!repairs.is_empty(), "{schema} {given}");
        let (again, repairs) = coerced(&schema, mended.clone());
        assert_eq!((again, repairs), (mended, Vec::new()), "{schema} {given}");
    }
}

#[test]
fn values_that_fit_or_cannot_are_left_alone() {
    let table = [
        (json!({"type": "string"}), json!("{\"a\": 1}")),
        (json!({"type": "string"}), json!("5")),
        (json!({"type": "string"}), json!({"a": 1})),
        (json!({"type": ["string", "array"]}), json!("[1]")),
        (json!({"type": ["string", "integer"]}), json!("5")),
        (json!({"type": ["string", "array"]}), json!(5)),
        (json!({}), json!("5")),
        (json!({"type": "integer"}), json!("ten")),
        (json!({"type": "integer"}), json!("1.5")),
        (json!({"type": "integer"}), json!(1.5)),
        (json!({"type": "number"}), json!("Infinity")),
        (json!({"type": "number"}), json!("NaN")),
        (json!({"type": "number"}), json!("1e999")),
        (json!({"type": "boolean"}), json!("yes")),
        (json!({"type": "boolean"}), json!(1)),
        (json!({"type": "array", "items": {"type": "string"}}), json!("[\"a\"")),
        (json!({"type": "array", "items": {"type": "integer"}}), json!(5)),
        (json!({"type": "object"}), json!("[1]")),
        (json!({"type": "integer"}), json!(null)),
    ];
    for (schema, given) in table {
        let schema = json!({"properties": {"x": schema}, "required": ["x"]});
        assert_eq!(coerced(&schema, json!({"x": given})), (json!({"x": given}), Vec::new()), "{schema}");
    }
}

#[test]
fn a_null_for_an_optional_parameter_is_dropped() {
    let schema = json!({"properties": {
        "a": {"type": "integer"},
        "b": {"type": ["integer", "null"]},
        "c": {"properties": {"d": {"type": "string"}}},
    }});
    let (mended, repairs) =
        coerced(&schema, json!({"a": null, "b": null, "c": {"d": null, "e": null}, "z": null}));
    assert_eq!(mended, json!({"b": null, "c": {"e": null}, "z": null}));
    assert_eq!(repairs, ["dropped arguments.a", "dropped arguments.c.d"]);
}

#[test]
fn paths_say_where() {
    let schema = json!({"properties": {"items": {"items": {"properties": {"done": {"type": "boolean"}}}}}});
    let (_, repairs) = coerced(&schema, json!({"items": [{"done": "true"}]}));
    assert_eq!(repairs, ["coerced arguments.items[0].done"]);
}

#[test]
fn a_schema_of_many_alternatives_of_itself_ends() {
    let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {
        "properties": {"x": {"anyOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}},
        "required": ["never"],
    }}});
    let deep = (0..200).fold(json!({"y": 1}), |inner, _| json!({"x": inner}));
    assert_eq!(coerced(&schema, deep.clone()).0, deep);
}
