//! Tool-call arguments and the small conversions that several protocols share.

use rail_model::{Json, Loss};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The key under which text that is no JSON object goes where only an object is allowed.
pub(crate) const RAW: &str = "_raw";

/// A call's arguments where the protocol wants an object: the model's own text if it is one, wrapped and named if not.
pub(crate) fn object(text: &str, path: &str, losses: &mut Vec<Loss>) -> Json {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return empty();
    }
    if let Some(mended) = without_lone_surrogates(text) {
        losses.push(Loss::new(path, "half of a surrogate pair, which no server takes, became U+FFFD"));
        return object(&mended, path, losses);
    }
    match Json::parse(text.to_owned()) {
        Ok(json) if json.is_object() => json,
        Ok(_) | Err(_) => {
            let reason = format!("the arguments are no JSON object; sent whole as the string `{RAW}`");
            losses.push(Loss::new(path, reason));
            Json::from(Value::Object(Map::from_iter([(RAW.to_owned(), Value::String(text.to_owned()))])))
        }
    }
}

/// JSON text with each escaped half of a surrogate pair replaced; None when there is none, which is nearly always.
fn without_lone_surrogates(text: &str) -> Option<String> {
    let escape = |at: usize| {
        let unit = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(unit, 16).ok()
    };
    let mut out = String::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(found) = text.get(at..)?.find('\\') {
        at += found;
        at += match (escape(at), escape(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str(text.get(copied..at)?);
                out.push_str("\\ufffd");
                copied = at + 6;
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
    (copied > 0).then(|| out + text.get(copied..).unwrap_or_default())
}

/// `{}`.
pub(crate) fn empty() -> Json {
    Json::from(Value::Object(Map::new()))
}

/// The schema of a tool that takes anything: an object without properties.
pub(crate) fn any_object() -> Json {
    let fields =
        [("type".to_owned(), Value::from("object")), ("properties".to_owned(), Value::Object(Map::new()))];
    Json::from(Value::Object(Map::from_iter(fields)))
}

/// The schema of a tool for servers that refuse anything but an object which says its properties, be they none.
pub(crate) fn schema(said: Option<&Json>) -> Json {
    let Some(json) = said else { return any_object() };
    if Outline::of(json).is_some_and(|outline| outline.is_whole()) {
        return json.clone();
    }
    let Value::Object(mut map) = json.value() else { return any_object() };
    let object = map.get("type").is_none_or(|kind| kind == "object");
    let whole = map.contains_key("type")
        && map.get("properties").is_some_and(Value::is_object)
        && map.get("required").is_none_or(|names| !names.is_null());
    if !object || whole || map.contains_key("$ref") {
        return json.clone();
    }
    map.entry("type").or_insert_with(|| Value::from("object"));
    if !map.get("properties").is_some_and(Value::is_object) {
        map.insert("properties".to_owned(), Value::Object(Map::new()));
    }
    map.retain(|key, value| key != "required" || !value.is_null());
    Json::from(Value::Object(map))
}

/// What decides whether a schema can go out as it is: nearly always it can, and then no tree of it is made.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    properties: Option<&'a RawValue>,
    // A `null` must be seen, so it may not become an absent field.
    #[serde(borrow, default, deserialize_with = "said")]
    required: Option<&'a RawValue>,
}

fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Outline<'a> {
    fn of(json: &'a Json) -> Option<Self> {
        serde_json::from_str(json.text()).ok()
    }

    fn is_whole(&self) -> bool {
        self.kind.is_some_and(|kind| kind.get() == "\"object\"")
            && self.properties.is_some_and(|properties| properties.get().starts_with('{'))
            && self.required.is_none_or(|required| required.get() != "null")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_sent_as_the_model_wrote_them_or_named() {
        let table = [
            (r#"{"a": 1.0}"#, r#"{"a": 1.0}"#, 0),
            ("", "{}", 0),
            ("[1]", r#"{"_raw":"[1]"}"#, 1),
            (r#"{"a":"#, r#"{"_raw":"{\"a\":"}"#, 1),
            (r#"{"s":"\ud83d\ude00 \\ud800"}"#, r#"{"s":"\ud83d\ude00 \\ud800"}"#, 0),
            (r#"{"s":"\ud800x\udc00"}"#, r#"{"s":"\ufffdx\ufffd"}"#, 1),
        ];
        for (text, expected, count) in table {
            let mut losses = Vec::new();
            assert_eq!(object(text, "x", &mut losses).text(), expected);
            assert_eq!(losses.len(), count, "{text}: {losses:?}");
        }
    }

    #[test]
    fn a_schema_says_its_properties_and_stays_as_it_is_where_it_does() {
        let table = [
            (r#"{"properties":{}, "type":"object"}"#, None),
            (r#"{"type":"object","properties":{"a":{"type":["string"]}},"required":["a"]}"#, None),
            (r#"{"type":"string"}"#, None),
            (r##"{"$ref":"#/$defs/a"}"##, None),
            ("{}", Some(r#"{"type":"object","properties":{}}"#)),
            (r#"{"type":"object"}"#, Some(r#"{"type":"object","properties":{}}"#)),
            (r#"{"type":"object","properties":null}"#, Some(r#"{"type":"object","properties":{}}"#)),
            (
                r#"{"type":"object","properties":{},"required":null}"#,
                Some(r#"{"type":"object","properties":{}}"#),
            ),
            ("true", Some(r#"{"type":"object","properties":{}}"#)),
            // Said twice, the last counts.
            (r#"{"type":"string","type":"object","properties":{}}"#, None),
        ];
        for (text, expected) in table {
            let json = Json::parse(text.to_owned()).unwrap();
            assert_eq!(schema(Some(&json)).text(), expected.unwrap_or(text));
        }
    }
}
