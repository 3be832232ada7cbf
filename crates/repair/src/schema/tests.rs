use serde_json::{Value, json};

use super::{Fuel, Schema, Types};

fn types(schema: Value) -> String {
    Schema::new(&schema).types().words()
}

#[test]
fn types_come_from_every_way_of_saying_them() {
    let table = [
        (json!({"type": "string"}), "a string"),
        (json!({"type": "STRING"}), "a string"),
        (json!({"type": ["string", "null"]}), "a string or null"),
        (json!({"type": "integer", "nullable": true}), "an integer or null"),
        (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), "an integer or null"),
        (json!({"allOf": [{"type": ["string", "array"]}, {"type": ["array", "object"]}]}), "an array"),
        (json!({"enum": ["a", "b"]}), "a string"),
        (json!({"const": true}), "a boolean"),
        (json!({"properties": {}}), "an object"),
        (json!({"items": {}}), "an array"),
        (
            json!({"$ref": "#/$defs/x", "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"type": "boolean"}}}),
            "a boolean",
        ),
        (json!({"type": "number"}), "a number"),
    ];
    for (schema, words) in table {
        assert_eq!(types(schema.clone()), words, "{schema}");
    }
    for open in [json!({}), json!(true), json!(null), json!({"type": "file"}), json!({"$ref": "other.json"})]
    {
        assert_eq!(Schema::new(&open).types(), Types::ALL, "{open}");
    }
}

#[test]
fn members_are_found_through_references_and_alternatives() {
    let schema = json!({
        "$ref": "#/$defs/base",
        "allOf": [{"properties": {"b": {"type": "integer"}}, "required": ["b"]}],
        "anyOf": [{"properties": {"c": {"type": "null"}, "d": {"type": "string"}}}, {"properties": {"d": {"type": "integer"}}}],
        "patternProperties": {"^x-": {"type": "boolean"}},
        "additionalProperties": {"type": "array"},
        "$defs": {"base": {"properties": {"a": {"type": "string"}}, "required": ["a"]}},
    });
    let schema = Schema::new(&schema);
    let of = |name: &str| schema.property(name).map(|property| property.types().words());
    assert_eq!(of("a").as_deref(), Some("a string"));
    assert_eq!(of("b").as_deref(), Some("an integer"));
    assert_eq!(of("c").as_deref(), Some("null"));
    assert_eq!(schema.property("d").map(Schema::types), Some(Types::ALL), "the alternatives disagree");
    assert_eq!(of("x-y").as_deref(), Some("a boolean"));
    assert_eq!(of("z").as_deref(), Some("an array"));
    assert!(schema.declares("a") && schema.declares("d") && !schema.declares("x-y") && !schema.declares("z"));
    assert_eq!(schema.parameters().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    let mut required: Vec<&str> = schema.required().collect();
    required.sort_unstable();
    assert_eq!(required, ["a", "b"]);
    assert!(schema.requires("b") && !schema.requires("c"));
}

#[test]
fn values_fit_or_not() {
    let schema = json!({
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "f": {"type": "number"},
            "mode": {"enum": ["a", 1]},
            "pair": {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
            "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "child": {"$ref": "#"},
        },
        "required": ["n"],
        "additionalProperties": false,
    });
    let schema = Schema::new(&schema);
    for good in [
        json!({"n": 1}),
        json!({"n": 1.0, "f": 1, "mode": 1.0}),
        json!({"n": 1, "pair": ["x", 2, 3], "either": ["x"]}),
        json!({"n": 1, "either": "x", "child": {"n": 2, "child": {"n": 3}}}),
    ] {
        assert!(schema.fits(&good, &Fuel::for_text(0)), "{good}");
    }
    for bad in [
        json!({}),
        json!([]),
        json!({"n": "1"}),
        json!({"n": 1.5}),
        json!({"n": 1, "mode": "b"}),
        json!({"n": 1, "pair": [1]}),
        json!({"n": 1, "pair": ["x", "y"]}),
        json!({"n": 1, "either": [1]}),
        json!({"n": 1, "child": {}}),
        json!({"n": 1, "other": 1}),
    ] {
        assert!(!schema.fits(&bad, &Fuel::for_text(0)), "{bad}");
    }
}

#[test]
fn only_strings_is_nothing_but_strings() {
    assert!(Schema::new(&json!({"type": "string", "enum": ["a"]})).only_string());
    assert!(!Schema::new(&json!({"type": ["string", "null"]})).only_string());
    assert!(!Schema::new(&json!({})).only_string());
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    let loops = [
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"allOf": [{"$ref": "#"}, {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}]}]}),
    ];
    for schema in loops {
        let schema = Schema::new(&schema);
        schema.types();
        schema.fits(&json!({"a": [1]}), &Fuel::for_text(0));
        assert_eq!(schema.property("a").map(Schema::types), None);
        assert_eq!(schema.parameters().count(), 0);
    }
}
