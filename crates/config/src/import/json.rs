//! JSON of other programs, which people write with comments, trailing commas, single quotes and bare keys.

use serde_json::{Map, Value};

use crate::json::{self, Json, JsonError, JsonValue, Syntax};

/// Reads JSON, JSON with comments, or JSON5; the error says where and what.
pub fn read(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    json::read(text, Syntax::Json5).map(value).map_err(|error| told(text, &error))
}

fn value(json: Json) -> Value {
    match json.value {
        JsonValue::Null => Value::Null,
        JsonValue::Bool(value) => Value::Bool(value),
        JsonValue::Number(number) => Value::Number(number),
        JsonValue::Text(text) => Value::String(text),
        JsonValue::List(list) => list.into_iter().map(value).collect(),
        // Of a key that is there twice the last one counts, as those programs have it.
        JsonValue::Table(members) => Value::Object(
            members.into_iter().map(|member| (member.key, value(member.json))).collect::<Map<_, _>>(),
        ),
    }
}

fn told(text: &str, JsonError { at, text: problem }: &JsonError) -> String {
    let before = text.get(..*at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}: {problem}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_people_write() {
        for (text, expected) in [
            (r#"{"a": [1, -2.5, true, null, "x\n"]}"#, json!({"a": [1, -2.5, true, null, "x\n"]})),
            ("\u{feff}// one\n{ /* two\n */ a: 'b', // c\n 'd': [1,2,],\n}", json!({"a": "b", "d": [1, 2]})),
            (r#"{'it\'s "so"': "http://x/*y*/"}"#, json!({"it's \"so\"": "http://x/*y*/"})),
            ("[+1, .5, 5., 0x1F, -0x1]", json!([1, 0.5, 5.0, 31, -1])),
            ("{$a_1: 'x\\x41\\v'}", json!({"$a_1": "xA\u{b}"})),
            ("'a\\\nb'", json!("ab")),
            ("{\"a\": \"tab\there\"}", json!({"a": "tab\there"})),
        ] {
            assert_eq!(read(text).unwrap().to_string(), expected.to_string(), "{text}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            ("{\n \"a\": 1 // x\n \"b\": 2\n}", "line 3, column 2: `,` or `}` is missing here"),
            ("{\n /* a\n */ 'b' 1}", "line 3, column 9: `:` is missing after the key"),
            ("", "line 1, column 1: the file ends before a value; it may have been cut off"),
            ("[1,,2]", "line 1, column 4: a value is missing here"),
            ("{key: sk-secret}", "line 1, column 7: this is no value; write text in double quotes"),
            ("'a\nb'", "line 1, column 1: the text has no end on its line; write `'` after it"),
        ] {
            assert_eq!(read(text).unwrap_err(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            let _ = read(&text);
        }

        #[test]
        fn pieces_of_json_are_read_or_refused(text in "[\\[\\]{},:'\"/*\\\\a0x.+\n -]{0,60}") {
            let _ = read(&text);
        }

        #[test]
        fn json_is_json(text in any::<String>(), number in any::<i64>()) {
            let value = json!({"a": [text, number, {"b": null}], "c": false});
            prop_assert_eq!(read(&value.to_string()).unwrap(), value.clone());
            prop_assert_eq!(read(&serde_json::to_string_pretty(&value).unwrap()).unwrap(), value);
        }
    }
}
