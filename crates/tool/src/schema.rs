use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The schema of a tool's input, as providers take it: no references, no `$schema`, no title, and nothing that tells a model no more
/// than the rest does, since it is sent with every request.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    // The tool's own description says it.
    schema.remove("description");
    let mut schema = schema.to_value();
    shorten(&mut schema);
    schema
}

/// Takes out what the parameters mean, name by name. A tool that is declared in short says it when it is first used.
pub(crate) fn take_meanings(schema: &mut Value) -> Vec<(String, String)> {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return Vec::new() };
    let mut taken = Vec::new();
    for (name, property) in properties {
        if let Value::Object(property) = property
            && let Some(Value::String(meaning)) = property.shift_remove("description")
        {
            taken.push((name.clone(), meaning));
        }
    }
    taken
}

/// Takes out that a count is not negative, which nobody takes it to be; who writes it is told.
pub(crate) fn take_zeros(schema: &mut Value) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for property in properties.values_mut().filter_map(Value::as_object_mut) {
        if property.get("minimum").is_some_and(|least| least == 0) {
            property.shift_remove("minimum");
        }
    }
}

fn shorten(node: &mut Value) {
    let Value::Object(node) = node else { return };
    node.shift_remove("format");
    // That nothing was said is the default of all that may be left out.
    if node
        .get("default")
        .is_some_and(|value| [Value::Null, Value::Bool(false), Value::Array(Vec::new())].contains(value))
    {
        node.shift_remove("default");
    }
    words(node);
    let required = node.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        for (name, property) in properties {
            shorten(property);
            if !required.contains(&Value::from(name.as_str())) {
                without_null(property);
            }
        }
    }
    if let Some(items) = node.get_mut("items") {
        shorten(items);
        // What an item is, its parts say.
        if let Value::Object(items) = items
            && items.contains_key("properties")
        {
            items.shift_remove("description");
        }
    }
}

/// What may be left out need not be null: a null that a model writes for it is mended.
fn without_null(property: &mut Value) {
    let Value::Object(property) = property else { return };
    if let Some(Value::Array(types)) = property.get("type")
        && let [one, null] = types.as_slice()
        && null == "null"
    {
        let one = one.clone();
        property.insert("type".to_owned(), one);
    }
    if let Some(Value::Array(values)) = property.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(branches)) = property.get("anyOf")
        && let [Value::Object(one), null] = branches.as_slice()
        && null.get("type") == Some(&Value::from("null"))
    {
        let one = one.clone();
        property.shift_remove("anyOf");
        // What is said of the parameter comes before what is said of its type.
        for (key, value) in one {
            property.entry(key).or_insert(value);
        }
        words(property);
    }
}

/// A choice of words, each with a description of its own, is a list of words: what they mean stands at the parameter.
fn words(node: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = node.get("oneOf") else { return };
    let words: Option<Vec<Value>> = branches.iter().map(|branch| branch.get("const").cloned()).collect();
    if let Some(words) = words.filter(|words| words.iter().all(Value::is_string)) {
        node.shift_remove("oneOf");
        node.insert("type".to_owned(), "string".into());
        node.insert("enum".to_owned(), words.into());
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Input {
        /// Always.
        file: String,
        /// How many.
        limit: Option<u64>,
        /// Which way.
        #[serde(default)]
        way: Way,
        /// Which other way.
        other: Option<Way>,
        /// Parts.
        #[serde(default)]
        parts: Vec<Part>,
    }

    #[derive(Default, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Way {
        /// Up the hill.
        #[default]
        Up,
        /// Down again.
        Down,
    }

    /// A part.
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Part {
        /// All of it.
        #[serde(default)]
        all: bool,
    }

    #[test]
    fn a_schema_says_nothing_twice() {
        let expected = json!({
            "type": "object",
            "properties": {
                "file": {"type": "string", "description": "Always."},
                "limit": {"type": "integer", "minimum": 0, "description": "How many."},
                "way": {"type": "string", "enum": ["up", "down"], "description": "Which way."},
                "other": {"type": "string", "enum": ["up", "down"], "description": "Which other way."},
                "parts": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"all": {"type": "boolean", "description": "All of it."}}},
                    "description": "Parts.",
                },
            },
            "required": ["file"],
        });
        assert_eq!(of::<Input>(), expected);
    }
}
