//! Cleaning of schemas: what each keyword becomes, and that it ends.

use proptest::prelude::*;
use serde_json::{Value, json};

use rail_model::Map;

use super::schema::clean;
use super::schema_words::KNOWN;

fn cleaned(schema: &Value) -> (Value, Vec<String>) {
    let mut losses = Vec::new();
    let value = clean(schema, "p", &mut losses);
    (value, losses.into_iter().map(|loss| loss.path).collect())
}

#[test]
fn trap_33_each_keyword_becomes_what_the_api_knows() {
    let any = json!({"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}]});
    let table: &[(Value, Value, &[&str])] = &[
        (
            json!({"type": "string", "$schema": "x", "additionalProperties": false}),
            json!({"type": "STRING"}),
            &["p.$schema", "p.additionalProperties"],
        ),
        (json!({"type": ["string", "null"]}), json!({"type": "STRING", "nullable": true}), &[]),
        (
            json!({"type": ["string", "integer"], "minLength": 1, "minimum": 2}),
            json!({"anyOf": [{"type": "STRING", "minLength": 1}, {"type": "INTEGER", "minimum": 2}]}),
            &[],
        ),
        (json!({"const": "a"}), json!({"type": "STRING", "enum": ["a"]}), &[]),
        (
            json!({"enum": ["a", 1, null]}),
            json!({"type": "STRING", "enum": ["a", "1"], "nullable": true}),
            &[],
        ),
        (
            json!({"type": "integer", "enum": [1, 2]}),
            json!({"type": "INTEGER", "description": "One of: 1, 2."}),
            &["p.enum"],
        ),
        (
            json!({"const": true, "description": "D."}),
            json!({"type": "BOOLEAN", "description": "D. One of: true."}),
            &["p.enum"],
        ),
        (
            json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 2}),
            json!({"type": "NUMBER"}),
            &["p.exclusiveMinimum", "p.multipleOf"],
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"}),
            json!({"type": "STRING", "nullable": true, "description": "d"}),
            &[],
        ),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}),
            &[],
        ),
        (
            json!({"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {"type": "string"}}, "required": ["b"]}]}),
            json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}, "b": {"type": "STRING"}}, "required": ["a", "b"]}),
            &[],
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "if": {"required": ["a"]}, "then": {"properties": {"b": {"type": "string"}}, "required": ["b"]}}),
            json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}, "b": {"type": "STRING"}}}),
            &["p.if"],
        ),
        (json!({"type": "array"}), json!({"type": "ARRAY", "items": any}), &[]),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}),
            json!({"type": "ARRAY", "items": {"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}}),
            &["p.prefixItems"],
        ),
        (json!(true), any.clone(), &["p.type"]),
        (
            json!({"type": "object", "properties": {"properties": {"type": "object", "properties": {"$ref": {"type": "string"}}}, "x": true}}),
            json!({"type": "OBJECT", "properties": {"properties": {"type": "OBJECT", "properties": {"$ref": {"type": "STRING"}}}, "x": any}}),
            &["p.properties.x.type"],
        ),
        (json!({"type": "object", "properties": {}}), json!({"type": "OBJECT"}), &[]),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "gone"]}),
            json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}, "required": ["a"]}),
            &["p.required"],
        ),
        (
            json!({"type": "object", "patternProperties": {"^x": {}}, "properties": {"a": {"type": "object", "default": {"$ref": "#/data", "const": 1}}}}),
            json!({"type": "OBJECT", "properties": {"a": {"type": "OBJECT", "default": {"$ref": "#/data", "const": 1}}}}),
            &["p.patternProperties"],
        ),
    ];
    for (schema, expected, losses) in table {
        let (value, lost) = cleaned(schema);
        assert_eq!(&value, expected, "{schema}");
        assert_eq!(lost, *losses, "{schema}");
    }
}

#[test]
fn trap_33_references_are_followed_and_cycles_cut() {
    let schema = json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node", "description": "root"}, "far": {"$ref": "https://x.example/s"}, "b": {"allOf": [{"$ref": "#/$defs/leaf"}, {"$ref": "#/$defs/leaf"}]}},
        "$defs": {
            "node": {"type": "object", "properties": {"value": {"$ref": "#/$defs/leaf"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}},
            "leaf": {"type": "string", "const": "l"}
        }
    });
    let (value, lost) = cleaned(&schema);
    let tree = &value["properties"]["tree"];
    assert_eq!((&tree["type"], &tree["description"]), (&json!("OBJECT"), &json!("root")));
    assert_eq!(tree["properties"]["value"], json!({"type": "STRING", "enum": ["l"]}));
    assert_eq!(value["properties"]["b"], json!({"type": "STRING", "enum": ["l"]}));
    assert!(lost.contains(&"p.properties.tree.properties.kids.items.$ref".to_owned()), "{lost:?}");
    assert!(lost.contains(&"p.properties.far.$ref".to_owned()));
}

#[test]
fn a_schema_that_multiplies_is_cut() {
    let mut defs = Map::new();
    for at in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        defs.insert(
            format!("d{at}"),
            json!({"type": "object", "properties": {"a": next, "b": next}, "allOf": [next, next]}),
        );
    }
    let (_, lost) = cleaned(&json!({"$ref": "#/$defs/d0", "$defs": defs}));
    assert!(lost.len() < 20_000);
}

fn schemas() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "string", "OBJECT", "integer", "null", "array", "Number", "boolean", "bogus",
    ]);
    let leaf = prop_oneof![
        names.clone().prop_map(|name| json!({"type": name})),
        prop::collection::vec(names, 0..3).prop_map(|list| json!({"type": list})),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/properties/a"})),
        Just(json!({"enum": [1, "x", null, {"a": 1}]})),
        Just(json!({"enum": [1.5, 2]})),
        Just(json!({"const": null})),
        Just(json!({"type": "string", "enum": []})),
        Just(json!(true)),
        Just(json!(null)),
        Just(json!(["a"])),
        Just(json!({"nullable": true, "minItems": -1, "maxLength": "3", "title": 5, "format": "date"})),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let keys =
            prop::sample::select(vec!["anyOf", "oneOf", "allOf", "prefixItems", "items", "required", "enum"]);
        let ones = prop::sample::select(vec![
            "items",
            "not",
            "if",
            "then",
            "else",
            "additionalProperties",
            "default",
            "properties",
        ]);
        let named = prop::sample::select(vec!["a", "b", "properties", "$ref", "type"]);
        let piece = prop_oneof![
            (keys, prop::collection::vec(inner.clone(), 0..3)).prop_map(|(key, list)| json!({key: list})),
            (ones, inner.clone()).prop_map(|(key, one)| json!({key: one})),
            prop::collection::btree_map(named, inner, 0..3)
                .prop_map(|fields| json!({"properties": fields, "required": ["a", "z"]})),
        ];
        prop::collection::vec(piece, 1..4).prop_map(|pieces| {
            let maps = pieces.into_iter().filter_map(|piece| piece.as_object().cloned());
            Value::Object(maps.flatten().collect())
        })
    })
}

fn only_known(value: &Value) -> bool {
    let Some(map) = value.as_object() else { return false };
    let deeper = |value: &Value| match value {
        Value::Array(list) => list.iter().all(only_known),
        other => only_known(other),
    };
    map.keys().all(|key| KNOWN.contains(&key.as_str()))
        && (map.contains_key("type") || map.contains_key("anyOf"))
        && map.get("items").is_none_or(deeper)
        && map.get("anyOf").is_none_or(deeper)
        && map.get("properties").is_none_or(|fields| {
            fields.as_object().is_some_and(|fields| !fields.is_empty() && fields.values().all(only_known))
        })
        && map.get("enum").is_none_or(|list| {
            map.get("type") == Some(&json!("STRING"))
                && list.as_array().is_some_and(|list| list.iter().all(Value::is_string))
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn cleaning_twice_is_cleaning_once(schema in schemas()) {
        let (once, _) = cleaned(&schema);
        prop_assert!(only_known(&once), "{once}");
        let (twice, lost) = cleaned(&once);
        prop_assert_eq!(&twice, &once);
        prop_assert!(lost.is_empty(), "{lost:?} of {once}");
    }
}
