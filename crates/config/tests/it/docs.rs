use std::fs;
use std::path::Path;

use rail_config::{reference, schema};
use serde_json::Value;

#[test]
fn docs_tell_every_key() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let fresh = reference();
    #[expect(clippy::disallowed_methods, reason = "the switch of all golden files")]
    let is_update = std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always");
    if is_update {
        fs::write(&path, fresh).unwrap();
    } else {
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == fresh,
            "docs/configuration.md is stale; run `INSTA_UPDATE=always cargo test -p rail-config docs` and read the diff"
        );
    }
}

#[test]
fn every_key_has_a_meaning() {
    let mut silent = Vec::new();
    properties(schema(), &mut |name, property| {
        if property.get("description").is_none() {
            silent.push(name.to_owned());
        }
    });
    assert_eq!(silent, Vec::<String>::new());
}

#[test]
fn the_schema_is_one_that_editors_understand() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["additionalProperties"], false);
    let mut references = Vec::new();
    each(schema, &mut |node| {
        if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
            references.push(reference.to_owned());
        }
        assert_ne!(node.get("type"), Some(&Value::from("null")), "{node}");
        if let Some(kind) = node.get("type").filter(|kind| !kind.is_object()) {
            let known = ["string", "integer", "number", "boolean", "array", "object"];
            assert!(known.contains(&kind.as_str().unwrap_or_default()), "{node}");
        }
    });
    assert!(references.len() > 20);
    for reference in references {
        assert!(schema.pointer(reference.trim_start_matches('#')).is_some(), "{reference} leads nowhere");
    }
    insta::assert_snapshot!(format!("{schema:#}"));
}

fn each(node: &Value, see: &mut dyn FnMut(&Value)) {
    see(node);
    match node {
        Value::Object(map) => map.values().for_each(|value| each(value, see)),
        Value::Array(list) => list.iter().for_each(|value| each(value, see)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn properties(schema: &Value, see: &mut dyn FnMut(&str, &Value)) {
    each(schema, &mut |node| {
        if let (Some("object"), Some(map)) =
            (node.get("type").and_then(Value::as_str), node.get("properties").and_then(Value::as_object))
        {
            map.iter().for_each(|(name, property)| see(name, property));
        }
    });
}
