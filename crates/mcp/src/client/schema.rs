//! Schemas of others, made sound: whatever a server declares, its tool can be called, and an API takes its declaration.

use serde_json::{Map, Value, json};

/// How deep a schema is followed.
const DEEPEST: usize = 24;
/// Parts of a schema, references followed.
const PARTS: usize = 4_000;
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// The schema of a tool that takes anything.
pub(crate) fn anything() -> Value {
    json!({"type": "object", "properties": {}})
}

/// The schema, with references in their places, and without what is none.
///
/// # Errors
/// What is wrong with it: the tool takes anything then.
pub(crate) fn sound(schema: &Value, most: usize) -> Result<Value, String> {
    let Value::Object(_) = schema else { return Err("its schema is no object".to_owned()) };
    let length = schema.to_string().len();
    if length > most {
        return Err(format!("its schema of {length} bytes is longer than {most}"));
    }
    let mut walk = Walk { root: schema, parts: 0, open: Vec::new() };
    let Value::Object(mut sound) = walk.clean(schema, 0) else {
        return Err("its schema is no object".to_owned());
    };
    if walk.parts > PARTS || Value::Object(sound.clone()).to_string().len() > 4 * most {
        return Err("its schema has too many parts once its references are followed".to_owned());
    }
    fold(&mut sound);
    if sound.get("type").is_some_and(|kind| kind != "object") {
        return Err("its schema is not that of an object".to_owned());
    }
    // Unknown arguments pass: the server judges them.
    sound.shift_remove("additionalProperties");
    let mut whole = Map::new();
    whole.insert("type".to_owned(), "object".into());
    whole.insert("properties".to_owned(), json!({}));
    whole.extend(sound);
    Ok(Value::Object(whole))
}

/// Alternatives at the top, which not every API takes, become one list of parameters: what is needed in each is the server's to judge.
fn fold(top: &mut Map<String, Value>) {
    for (key, all) in [("allOf", true), ("anyOf", false), ("oneOf", false)] {
        let Some(Value::Array(branches)) = top.shift_remove(key) else { continue };
        for branch in branches {
            let Value::Object(branch) = branch else { continue };
            for (part, value) in branch {
                match (part.as_str(), value) {
                    ("properties", Value::Object(more)) => {
                        let known = top.entry("properties").or_insert_with(|| json!({}));
                        if let Value::Object(known) = known {
                            more.into_iter().for_each(|(name, schema)| {
                                known.entry(name).or_insert(schema);
                            });
                        }
                    }
                    ("required", Value::Array(more)) if all => {
                        if let Value::Array(known) = top.entry("required").or_insert_with(|| json!([])) {
                            known.extend(more);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

struct Walk<'a> {
    root: &'a Value,
    parts: usize,
    /// References that are being followed: a part that holds itself ends there.
    open: Vec<String>,
}

impl Walk<'_> {
    fn clean(&mut self, node: &Value, depth: usize) -> Value {
        self.parts += 1;
        let Value::Object(node) = node else { return json!({}) };
        if depth > DEEPEST || self.parts > PARTS {
            return json!({});
        }
        if let Some(Value::String(to)) = node.get("$ref") {
            return self.follow(to, node, depth);
        }
        let mut clean = Map::new();
        for (key, value) in node {
            if let Some(value) = self.part(key, value, depth) {
                clean.insert(key.clone(), value);
            }
        }
        Value::Object(clean)
    }

    fn part(&mut self, key: &str, value: &Value, depth: usize) -> Option<Value> {
        match (key, value) {
            ("$schema" | "$id" | "$anchor" | "$defs" | "definitions" | "$ref" | "$comment", _)
            // What depends on other parts is the server's to judge.
            | ("if" | "then" | "else" | "not" | "dependentSchemas" | "dependencies", _) => None,
            ("type", Value::String(kind)) => TYPES.contains(&kind.as_str()).then(|| value.clone()),
            ("type", Value::Array(kinds)) => {
                let known = kinds.iter().filter(|kind| kind.as_str().is_some_and(|kind| TYPES.contains(&kind)));
                let known: Vec<Value> = known.cloned().collect();
                (!known.is_empty()).then_some(Value::Array(known))
            }
            ("type", _) => None,
            ("properties" | "patternProperties", Value::Object(members)) => {
                let members = members.iter().map(|(name, schema)| (name.clone(), self.clean(schema, depth + 1)));
                Some(Value::Object(members.collect()))
            }
            ("items" | "contains" | "propertyNames", Value::Object(_)) => Some(self.clean(value, depth + 1)),
            ("items", _) => Some(json!({})),
            ("additionalProperties", Value::Bool(_)) => Some(value.clone()),
            ("additionalProperties", Value::Object(_)) => Some(self.clean(value, depth + 1)),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(branches)) if !branches.is_empty() => {
                Some(branches.iter().map(|branch| self.clean(branch, depth + 1)).collect())
            }
            ("enum", Value::Array(values)) if !values.is_empty() => Some(value.clone()),
            ("required", Value::Array(names)) => {
                let mut known: Vec<Value> = Vec::new();
                for name in names.iter().filter(|name| name.is_string() && !names.is_empty()) {
                    if !known.contains(name) {
                        known.push(name.clone());
                    }
                }
                (!known.is_empty()).then_some(Value::Array(known))
            }
            ("description" | "title" | "format" | "pattern", value) => {
                value.is_string().then(|| value.clone())
            }
            (
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "minLength" | "maxLength" | "minItems"
                | "maxItems" | "multipleOf",
                value,
            ) => value.is_number().then(|| value.clone()),
            // They are of no other form than the ones above.
            (
                "properties" | "patternProperties" | "contains" | "propertyNames" | "additionalProperties" | "anyOf"
                | "oneOf" | "allOf" | "prefixItems" | "enum" | "required",
                _,
            ) => None,
            (_, value) => Some(value.clone()),
        }
    }

    /// What a reference stands for, with what is said beside it.
    fn follow(&mut self, to: &str, beside: &Map<String, Value>, depth: usize) -> Value {
        let target = to.strip_prefix('#').and_then(|path| self.root.pointer(path));
        let mut found = match target {
            Some(target) if !self.open.iter().any(|open| open == to) => {
                self.open.push(to.to_owned());
                let found = self.clean(&target.clone(), depth + 1);
                self.open.pop();
                found
            }
            // It holds itself, or there is no such part: anything may be there.
            Some(_) | None => json!({}),
        };
        if let Value::Object(found) = &mut found {
            for (key, value) in
                beside.iter().filter(|(key, _)| ["description", "default"].contains(&key.as_str()))
            {
                found.insert(key.clone(), value.clone());
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_schema_is_one_whatever_was_declared() {
        let check = |schema: Value, expected: Value| assert_eq!(sound(&schema, 10_000), Ok(expected));
        check(json!({}), anything());
        check(
            json!({"$schema": "x", "type": "object", "additionalProperties": false, "required": ["a", 1, "a"],
                "properties": {"a": {"type": "text"}, "b": true, "c": 5, "d": {"type": ["string", "nothing"], "enum": []}}}),
            json!({"type": "object", "properties": {"a": {}, "b": {}, "c": {}, "d": {"type": ["string"]}}, "required": ["a"]}),
        );
        check(
            json!({"properties": {"tree": {"$ref": "#/$defs/Node", "description": "The root."}, "gone": {"$ref": "#/$defs/None"}},
                "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "n": {"type": "integer"}}}}}),
            json!({"type": "object", "properties": {
                "tree": {"type": "object", "properties": {"next": {}, "n": {"type": "integer"}}, "description": "The root."},
                "gone": {}}}),
        );
        check(
            json!({"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {}}}],
                "allOf": [{"properties": {"c": {}}, "required": ["c"]}]}),
            json!({"type": "object", "properties": {"c": {}, "a": {"type": "string"}, "b": {}}, "required": ["c"]}),
        );
        check(
            json!({"properties": 3, "required": "a", "items": []}),
            json!({"type": "object", "properties": {}, "items": {}}),
        );
    }

    #[test]
    fn what_is_no_schema_is_told() {
        for (schema, why) in [
            (json!([1]), "its schema is no object"),
            (json!("x"), "its schema is no object"),
            (Value::Null, "its schema is no object"),
            (json!({"type": "string"}), "its schema is not that of an object"),
            (json!({"description": "x".repeat(1_000)}), "its schema of 1018 bytes is longer than 1000"),
        ] {
            assert_eq!(sound(&schema, 1_000), Err(why.to_owned()), "{schema}");
        }
        // Each level refers twice to the next: followed, it would be a million parts.
        let level = |n: usize| json!({"properties": {"a": {"$ref": format!("#/$defs/{}", n + 1)}, "b": {"$ref": format!("#/$defs/{}", n + 1)}}});
        let defs: Map<String, Value> = (0..20).map(|n| (n.to_string(), level(n))).collect();
        let bomb = json!({"$ref": "#/$defs/0", "$defs": defs});
        assert!(sound(&bomb, 10_000).is_err());
    }

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "(object|string|#/properties/a|#|[a-c]{0,3})".prop_map(Value::from),
        ];
        let key =
            "(type|properties|items|\\$ref|anyOf|allOf|required|enum|additionalProperties|description|a|b)";
        leaf.prop_recursive(5, 60, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((key, inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_sound_stays_as_it_is(schema in tree()) {
            if let Ok(once) = sound(&schema, 100_000) {
                prop_assert_eq!(&once["type"], "object");
                prop_assert!(once["properties"].is_object());
                prop_assert!(!once.to_string().contains("\"$ref\":\""));
                prop_assert_eq!(sound(&once, 1_000_000), Ok(once.clone()));
            }
        }
    }
}
