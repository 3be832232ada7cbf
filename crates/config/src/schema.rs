use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::Settings;

/// The JSON Schema of the configuration, for editors and for the check.
pub fn schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let mut schema = generator.into_root_schema_for::<Settings>().to_value();
        without_null(&mut schema);
        if let Some(root) = schema.as_object_mut() {
            root.insert("title".to_owned(), json!("Switchrail configuration"));
            // Editors find the schema of a JSON file by this key, which says nothing to us.
            root.insert("patternProperties".to_owned(), json!({r"^\$schema$": {"type": "string"}}));
        }
        schema
    });
    &SCHEMA
}

/// What may be left out is left out, not null: TOML has no null, and in JSON it would be a value without a meaning.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Array(types)) = map.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    map.insert("type".to_owned(), only);
                }
            }
            if map.get("default").is_some_and(Value::is_null) {
                map.remove("default");
            }
            if let Some(Value::Array(options)) = map.get_mut("anyOf") {
                options.retain(|option| option.get("type") != Some(&json!("null")));
                if let [Value::Object(only)] = options.as_slice() {
                    let only = only.clone();
                    map.remove("anyOf");
                    for (key, value) in only {
                        map.entry(key).or_insert(value);
                    }
                }
            }
            map.values_mut().for_each(without_null);
        }
        Value::Array(list) => list.iter_mut().for_each(without_null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What the schema says of one place in the configuration.
#[derive(Clone, Copy)]
pub(crate) struct Shape(&'static Value);

impl Shape {
    /// The whole configuration.
    pub(crate) fn root() -> Self {
        Self(schema())
    }

    /// What a keyword says, here or where this place refers to.
    fn says(self, keyword: &str) -> Option<&'static Value> {
        self.0.get(keyword).or_else(|| self.referred()?.says(keyword))
    }

    fn referred(self) -> Option<Self> {
        let name = self.0.get("$ref")?.as_str()?.strip_prefix('#')?;
        schema().pointer(name).map(Self)
    }

    /// The forms that a value may have; itself when there is one.
    pub(crate) fn forms(self) -> Vec<Self> {
        let forms = self.says("anyOf").or_else(|| self.says("oneOf")).and_then(Value::as_array);
        forms.map_or_else(|| vec![self], |forms| forms.iter().flat_map(|form| Self(form).forms()).collect())
    }

    /// The words that are allowed, each with its meaning; empty when any text is.
    pub(crate) fn words(self) -> Vec<(&'static str, &'static str)> {
        let listed = self.says("enum").and_then(Value::as_array).into_iter().flatten();
        let listed = listed.filter_map(|word| Some((word.as_str()?, "")));
        let forms = self.forms().into_iter();
        let told = forms.filter_map(|form| Some((form.0.get("const")?.as_str()?, form.about())));
        listed.chain(told).collect()
    }

    /// `string`, `integer`, `number`, `boolean`, `array`, `object`.
    pub(crate) fn kind(self) -> &'static str {
        let is_word = self.says("enum").is_some() || self.says("const").is_some();
        self.says("type").and_then(Value::as_str).unwrap_or(if is_word { "string" } else { "object" })
    }

    /// Which kind of text: `secret`, `chain`, `duration`, `base-url`, ….
    pub(crate) fn format(self) -> Option<&'static str> {
        self.says("format").and_then(Value::as_str)
    }

    /// The smallest number.
    pub(crate) fn minimum(self) -> Option<f64> {
        self.says("minimum").and_then(Value::as_f64)
    }

    /// The largest number.
    pub(crate) fn maximum(self) -> Option<f64> {
        self.says("maximum").and_then(Value::as_f64)
    }

    /// What holds when nothing is said.
    pub(crate) fn default(self) -> Option<&'static Value> {
        self.says("default")
    }

    /// What it is for.
    pub(crate) fn about(self) -> &'static str {
        self.says("description").and_then(Value::as_str).unwrap_or_default()
    }

    /// The keys with a meaning of their own, in the order of the types.
    pub(crate) fn keys(self) -> impl Iterator<Item = (&'static str, Self)> {
        let keys = self.says("properties").and_then(Value::as_object).into_iter().flatten();
        keys.map(|(key, shape)| (key.as_str(), Self(shape)))
    }

    /// What stands under a key, if there can be such a key.
    pub(crate) fn member(self, key: &str) -> Option<Self> {
        let own = self.says("properties").and_then(|keys| keys.get(key)).map(Self);
        own.or_else(|| self.any_key())
    }

    /// What stands under a key of the user's choice, if there can be one.
    pub(crate) fn any_key(self) -> Option<Self> {
        self.says("additionalProperties").filter(|shape| shape.is_object()).map(Self)
    }

    /// What stands in a list.
    pub(crate) fn item(self) -> Option<Self> {
        self.says("items").map(Self)
    }

    /// The keys that must be there.
    pub(crate) fn required(self) -> impl Iterator<Item = &'static str> {
        let keys = self.says("required").and_then(Value::as_array).into_iter().flatten();
        keys.filter_map(Value::as_str)
    }

    /// Whether both are the same place of the schema, or lead to it.
    pub(crate) fn is(self, other: Self) -> bool {
        let end = |shape: Self| shape.referred().unwrap_or(shape).0;
        std::ptr::eq(end(self), end(other))
    }

    /// The form that a table, a list or text has here, where there are several.
    pub(crate) fn form(self, kind: &str) -> Option<Self> {
        self.forms().into_iter().find(|form| form.kind() == kind)
    }
}
