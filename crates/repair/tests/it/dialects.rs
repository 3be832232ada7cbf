//! Every tool in every dialect: shown, called, brought home; and understood whatever dialect is shown.

use std::sync::LazyLock;

use proptest::prelude::*;
use rail_model::{Extras, Json, Map, ToolDecl, ToolKind};
use rail_repair::{Catalog, Found, Mapping};
use serde_json::{Value, json};

/// The native tools as `native.toml` lists them, with schemas made from their parameters.
static NATIVE: LazyLock<Vec<ToolDecl>> = LazyLock::new(|| {
    let file: toml::Table = include_str!("../../data/dialects/native.toml").parse().unwrap();
    let tools = file["tools"].as_array().unwrap();
    tools.iter().map(declared).collect()
});

fn declared(tool: &toml::Value) -> ToolDecl {
    let mut schema = json!({"type": "object", "properties": {}, "required": []});
    let paths = tool.get("parameters").and_then(toml::Value::as_table);
    for path in paths.iter().flat_map(|paths| paths.keys()) {
        let mut node = &mut schema;
        for step in path.split('.') {
            let key = step.trim_end_matches("[]");
            if node["properties"].get(key).is_none() {
                node["properties"][key] = json!({});
                node["required"].as_array_mut().unwrap().push(key.into());
            }
            node = &mut node["properties"][key];
            if step.ends_with("[]") {
                if node.get("items").is_none() {
                    *node = json!({"type": "array", "items": {"type": "object", "properties": {}, "required": []}});
                }
                node = &mut node["items"];
            }
        }
    }
    ToolDecl {
        name: tool["name"].as_str().unwrap().to_owned(),
        description: None,
        kind: ToolKind::Function { parameters: Some(Json::from(schema)) },
        strict: None,
        cache: None,
        extras: Extras::NONE,
    }
}

fn schema(tool: &ToolDecl) -> Value {
    let ToolKind::Function { parameters: Some(schema) } = &tool.kind else { panic!("a function") };
    schema.value()
}

/// A call that keeps a schema, with as much in it as `seed` says; the same seed fills two schemas of one shape alike.
fn call(schema: &Value, seed: &mut u64) -> Value {
    if let Some(items) = schema.get("items") {
        return (0..next(seed) % 3).map(|_| call(items, seed)).collect();
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return next(seed).into();
    };
    let mut map = Map::new();
    for (key, node) in properties {
        if !next(seed).is_multiple_of(4) {
            map.insert(key.clone(), call(node, seed));
        }
    }
    Value::Object(map)
}

fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

fn object(value: Value) -> Map {
    let Value::Object(map) = value else { panic!("an object") };
    map
}

proptest! {
    #[test]
    fn shown_called_and_brought_home_is_the_native_call(seed in any::<u64>()) {
        for name in Mapping::names() {
            let mapping = Mapping::builtin(name).unwrap();
            for native in &*NATIVE {
                let shown = mapping.present(native);
                let theirs = object(call(&schema(&shown), &mut seed.clone()));
                let ours = object(call(&schema(native), &mut seed.clone()));
                let (tool, home) = mapping.bring_home(&shown.name, theirs);
                prop_assert_eq!(&tool, &native.name, "{}", name);
                prop_assert_eq!(Value::Object(home).to_string(), Value::Object(ours).to_string(), "{}", name);
            }
        }
    }
}

#[test]
fn required_parameters_are_shown_by_their_names() {
    for name in Mapping::names() {
        let mapping = Mapping::builtin(name).unwrap();
        for native in &*NATIVE {
            let schema = schema(&mapping.present(native));
            let keys: Vec<&str> =
                schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            let required: Vec<&str> =
                schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert_eq!(keys, required, "{name}: {}", native.name);
        }
    }
}

#[test]
fn every_name_of_every_dialect_is_understood_whatever_is_shown() {
    for shown in Mapping::names() {
        let shown = Mapping::builtin(shown).unwrap();
        let tools: Vec<ToolDecl> = NATIVE.iter().map(|tool| shown.present(tool)).collect();
        let catalog = Catalog::new(&tools);
        for spoken in Mapping::names() {
            let spoken = Mapping::builtin(spoken).unwrap();
            for native in &*NATIVE {
                let name = spoken.present(native).name;
                let Found::Tool(tool, _) = catalog.find(&name) else { panic!("{name} is not understood") };
                assert_eq!(tool.name, shown.present(native).name, "{name}");
            }
        }
    }
}
