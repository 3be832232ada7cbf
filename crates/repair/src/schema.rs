use crate::Tool;
use serde_json::Value;
pub(crate) struct Schema<'a>(&'a Value);
impl<'a> Schema<'a> {
    pub(crate) fn of(tool: &'a Tool) -> Option<Self> {
        tool.schema.as_ref().map(Self)
    }
    pub(crate) fn property(&self, key: &str) -> Option<Schema<'a>> {
        self.0.get("properties")?.get(key).map(Schema)
    }
    pub(crate) fn declares(&self, key: &str) -> bool {
        self.property(key).is_some()
    }
    pub(crate) fn required(&self) -> impl Iterator<Item = &'a str> {
        self.0.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }
    pub(crate) fn only_string(&self) -> bool {
        self.0.get("type").is_some_and(|t| t == "string")
    }
}
