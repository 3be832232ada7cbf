use crate::schema::Schema;
use serde_json::Value;
pub(crate) fn from_text(raw: &str, schema: Option<&Schema<'_>>) -> Value {
    if schema.is_some_and(Schema::only_string) {
        return raw.into();
    }
    serde_json::from_str(raw.trim()).unwrap_or_else(|_| raw.into())
}
