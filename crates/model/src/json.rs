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

    /// The JSON that a value is written as; null for one that has none.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        // What is written here is JSON, so it is not read again to see that it is.
        Self(serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// The text as it was written, without a copy.
    pub fn into_text(self) -> String {
        Box::<str>::from(self.0).into_string()
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
        Self::of(value)
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
