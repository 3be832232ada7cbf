//! The schemas in a request's body, whatever the protocol.

use serde_json::Value;

use super::path;

/// Where schemas stand, in all protocols.
pub(super) const PLACES: &[&str] = &[
    "tools[].function.parameters",
    "tools[].parameters",
    "tools[].input_schema",
    "tools[].functionDeclarations[].parameters",
    "tools[].functionDeclarations[].parametersJsonSchema",
    "functions[].parameters",
    "response_format.json_schema.schema",
    "text.format.schema",
    "output_config.format.schema",
    "output_format.schema",
    "generationConfig.responseSchema",
    "generationConfig.responseJsonSchema",
];

/// Keywords whose value is a schema, or a list of schemas.
const INNER: &[&str] = &[
    "items",
    "prefixItems",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
];
/// Keywords whose value names schemas.
const NAMED: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Takes keywords out of every schema; a property that only has such a name stays.
pub(super) fn strip(body: &mut Value, keys: &[String]) -> bool {
    let mut changed = false;
    for place in PLACES {
        changed |= path::each(body, place, &|schema| clean(schema, keys));
    }
    changed
}

/// Whether a schema of the body uses the keyword.
pub(super) fn uses(body: &Value, key: &str) -> bool {
    // A copy, since looking and changing walk the same way; it is made only when a target has refused the request.
    strip(&mut body.clone(), &[key.to_owned()])
}

/// The place of a keyword that stands at the top of a schema.
pub(super) fn at_top(body: &Value, key: &str) -> Option<String> {
    let mut copy = body.clone();
    let found = PLACES.iter().find(|place| path::each(&mut copy, place, &|schema| schema.get(key).is_some()));
    found.map(|place| format!("{place}.{key}"))
}

fn clean(schema: &mut Value, keys: &[String]) -> bool {
    let mut changed = false;
    if let Some(list) = schema.as_array_mut() {
        for inner in list {
            changed |= clean(inner, keys);
        }
        return changed;
    }
    let Some(fields) = schema.as_object_mut() else { return changed };
    let before = fields.len();
    fields.retain(|key, _| !keys.contains(key));
    changed |= fields.len() != before;
    for (key, inner) in fields {
        if INNER.contains(&key.as_str()) {
            changed |= clean(inner, keys);
        } else if NAMED.contains(&key.as_str()) {
            for named in inner.as_object_mut().into_iter().flat_map(|named| named.values_mut()) {
                changed |= clean(named, keys);
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keywords_go_and_properties_of_the_same_name_stay() {
        let mut body = json!({
            "format": "kept",
            "tools": [{"function": {"parameters": {
                "type": "object", "format": "x",
                "properties": {"format": {"type": "string", "format": "uri"}, "l": {"items": {"anyOf": [{"format": "a"}]}}},
                "required": ["format"], "enum": [{"format": 1}],
            }}}],
            "messages": [{"content": "{\"format\":1}"}],
        });
        assert!(uses(&body, "format") && !uses(&body, "pattern"));
        assert_eq!(at_top(&body, "enum").as_deref(), Some("tools[].function.parameters.enum"));
        assert!(strip(&mut body, &["format".to_owned()]));
        assert_eq!(
            body,
            json!({
                "format": "kept",
                "tools": [{"function": {"parameters": {
                    "type": "object",
                    "properties": {"format": {"type": "string"}, "l": {"items": {"anyOf": [{}]}}},
                    "required": ["format"], "enum": [{"format": 1}],
                }}}],
                "messages": [{"content": "{\"format\":1}"}],
            })
        );
        assert!(!strip(&mut body, &["format".to_owned()]));
    }
}
