use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON value kept as the text it was written in: key order, number spelling and escapes survive, and copying it costs no parse.
#[derive(Clone)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Takes text that must be one JSON value.
    pub fn parse(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self)
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// The value as a tree, for the rare reader that must look inside.
    pub fn value(&self) -> Value {
        // The text was checked when it was taken, so only the depth limit can fail here.
        serde_json::from_str(self.0.get()).unwrap_or(Value::Null)
    }

    /// True for `{…}`.
    pub fn is_object(&self) -> bool {
        self.text().trim_start().starts_with('{')
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        let text = value.to_string();
        Self(RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text() || self.value() == other.value()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}
