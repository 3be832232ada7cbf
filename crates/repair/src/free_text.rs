//! Calls of tools that take free text.
//!
//! A tool that takes text is called natively with the text itself. Where it had to be taught as a function, to a model or by
//! a protocol that knows nothing else, the text stands in an object with one string (`{"input": "…"}`). It comes out here:
//! whoever runs the tool gets the text.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::arguments::{self, Reading};
use crate::coerce::MAX_ENCODINGS;
use crate::json::State;
use crate::unwrap::WRAPPERS;

/// The schema under which such a tool is taught as a function.
pub(crate) static TAUGHT: LazyLock<Value> = LazyLock::new(
    || json!({"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}),
);

/// What the text of a call turned out to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FreeText {
    /// The text itself.
    Plain,
    /// An object around this text.
    Wrapped(String),
    /// A JSON string with this text, which a limit may have made of a text that begins with a quote.
    Quoted(String),
    /// An object around this text, but only brackets are missing at its end.
    Unclosed(String),
    /// The beginning of an object around a text that has no end.
    Cut,
}

/// Reads the text of a call that came as a function's.
pub(crate) fn read(text: &str) -> FreeText {
    if !may_be_wrapped(text) {
        return FreeText::Plain;
    }
    let Reading::Values(read) = arguments::read(text) else { return FreeText::Plain };
    let mut values = read.values.into_iter();
    let (Some(value), None) = (values.next(), values.next()) else { return FreeText::Plain };
    match (read.state, inner(value)) {
        (State::Complete, Some(found)) => found,
        (State::OpenContainer, Some(FreeText::Wrapped(text) | FreeText::Quoted(text))) => {
            FreeText::Unclosed(text)
        }
        // A string that has no end says nothing of what was to follow, so its key must do.
        (State::OpenContainer | State::OpenString, _) if begins_wrapped(text) => FreeText::Cut,
        (State::Complete | State::OpenContainer | State::OpenString, _) => FreeText::Plain,
    }
}

/// Whether it may still turn out that an object stands around the text.
pub(crate) fn may_be_wrapped(begun: &str) -> bool {
    begun.trim_start().chars().next().is_none_or(|first| matches!(first, '{' | '"' | '[' | '`'))
}

fn begins_wrapped(text: &str) -> bool {
    let open = |c: char| c.is_whitespace() || matches!(c, '{' | '[' | '"' | '\'' | '\\');
    let key = text.trim_start_matches(open);
    key.is_empty() || WRAPPERS.iter().any(|name| key.starts_with(name) || name.starts_with(key))
}

/// The text that is meant, if nothing else could be, and what stood around it.
fn inner(mut value: Value) -> Option<FreeText> {
    let mut wrapped = false;
    // Each layer may be an object, and encoded once more.
    for _ in 0..2 * MAX_ENCODINGS {
        value = match value {
            Value::Object(map) if map.len() == 1 => {
                let (key, inner) = map.into_iter().next()?;
                wrapped = true;
                WRAPPERS.contains(&key.as_str()).then_some(inner)?
            }
            Value::String(text) if wrapped => return Some(FreeText::Wrapped(text)),
            // Encoded as a whole: an object with the text, or the text.
            Value::String(text) => match read(&text) {
                found @ FreeText::Wrapped(_) => return Some(found),
                FreeText::Plain | FreeText::Quoted(_) | FreeText::Unclosed(_) | FreeText::Cut => {
                    return Some(FreeText::Quoted(text));
                }
            },
            Value::Array(items) if items.len() == 1 && items.first().is_some_and(Value::is_object) => {
                items.into_iter().next()?
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                return None;
            }
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_comes_out_of_the_object_around_it() {
        let wrapped = |text: &str| FreeText::Wrapped(text.to_owned());
        for (text, expected) in [
            ("*** Begin\n{\"input\": 1}", FreeText::Plain),
            ("", FreeText::Plain),
            ("{\"input\": \"a\\nb\"}", wrapped("a\nb")),
            ("{\"input\": \"{\\\"input\\\": 1}\"}", wrapped("{\"input\": 1}")),
            (" {'input': 'a'}", wrapped("a")),
            ("{\"input\": \"\"}", wrapped("")),
            ("{\"arguments\": {\"input\": \"a\"}}", wrapped("a")),
            ("[{\"input\": \"a\"}]", wrapped("a")),
            ("\"a \\\"b\\\"\"", FreeText::Quoted("a \"b\"".to_owned())),
            ("\"{\\\"input\\\": \\\"a\\\"}\"", wrapped("a")),
            ("```json\n{\"input\": \"a\"}\n```", wrapped("a")),
            ("```python\nprint(1)\n```", FreeText::Plain),
            // Data of the tool's own.
            ("{\"input\": \"a\", \"more\": 1}", FreeText::Plain),
            ("{\"name\": \"a\"}", FreeText::Plain),
            ("{\"input\": 1}", FreeText::Plain),
            ("{ int x; }", FreeText::Plain),
            ("[1, 2]", FreeText::Plain),
            ("{\"name\": \"a", FreeText::Plain),
            // Cut.
            ("{\"input\": \"a\"", FreeText::Unclosed("a".to_owned())),
            ("{\"input\": \"a", FreeText::Cut),
            ("{\"input\":", FreeText::Cut),
            ("{\"in", FreeText::Cut),
            ("{", FreeText::Cut),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
