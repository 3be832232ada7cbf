//! From the text of a call's arguments to the values it holds.

use rail_model::Map;
use serde_json::Value;

use crate::json::{self, State};

/// One slot with more whole objects than these is no list of calls.
pub(crate) const MAX_VALUES: usize = 64;

/// What the text of arguments turned out to hold.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Reading {
    /// Nothing at all.
    Empty,
    /// One value or several, each as its own text had it.
    Values(Values),
    /// Words that are no JSON in any spelling.
    Bare(String),
    /// Nothing that can be read; why.
    Fault(String),
}

/// The values of a text, and how they were got.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Values {
    /// The different values; one but for a slot in which several calls ended up.
    pub(crate) values: Vec<Value>,
    /// How the last one ended.
    pub(crate) state: State,
    /// Strict JSON would have refused something.
    pub(crate) tolerant: bool,
    /// A fence stood around, or quotes whose content was not escaped.
    pub(crate) unwrapped: bool,
    /// Placeholders or repetitions were left out.
    pub(crate) fragments: bool,
}

impl Values {
    /// An object without members, as if it had been written.
    fn empty() -> Self {
        let values = vec![Value::Object(Map::new())];
        Self { values, state: State::Complete, tolerant: false, unwrapped: false, fragments: false }
    }
}

/// Reads the text of a call's arguments.
pub(crate) fn read(text: &str) -> Reading {
    if text.trim().is_empty() {
        return Reading::Empty;
    }
    if let Some(inside) = fenced(text) {
        return match inside.trim().is_empty() {
            true => unwrapped(Reading::Values(Values::empty())),
            false => unwrapped(read_plain(inside)),
        };
    }
    match read_plain(text) {
        // Encoded twice, but the second time without escaping anything.
        Reading::Fault(why) => match quoted(text).map(read_plain) {
            Some(Reading::Values(values)) if values.state == State::Complete => {
                unwrapped(Reading::Values(values))
            }
            Some(_) | None => Reading::Fault(why),
        },
        other => other,
    }
}

/// What a fence around the whole text holds; its closing line may be missing.
pub(crate) fn fenced(text: &str) -> Option<&str> {
    let text = text.trim();
    let mark = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark))?;
    let tick = mark.get(..1)?;
    let inside = text.trim_start_matches(tick);
    let length = text.len() - inside.len();
    let (info, body) = inside.split_once('\n').or_else(|| {
        // On one line the word is told from the content by the bracket that begins it.
        let at = inside.find(['{', '['])?;
        inside.split_at_checked(at)
    })?;
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    if !info.trim().chars().all(word) {
        return None;
    }
    let body = body.trim_end();
    let open = body.trim_end_matches(tick);
    Some(if body.len() - open.len() >= length { open } else { body })
}

fn quoted(text: &str) -> Option<&str> {
    let inside = text.trim().strip_prefix('"')?.strip_suffix('"')?.trim();
    (inside.starts_with('{') && inside.ends_with('}')).then_some(inside)
}

fn unwrapped(reading: Reading) -> Reading {
    match reading {
        Reading::Values(values) => Reading::Values(Values { unwrapped: true, ..values }),
        Reading::Empty | Reading::Bare(_) | Reading::Fault(_) => reading,
    }
}

fn read_plain(text: &str) -> Reading {
    let mut found: Vec<Value> = Vec::new();
    let (mut rest, mut tolerant, mut state) = (text, false, State::Complete);
    while state == State::Complete && !is_junk(rest) {
        if found.len() >= MAX_VALUES {
            return Reading::Fault("they hold too many values".to_owned());
        }
        let read = match json::read_tolerant(rest) {
            Ok(read) => read,
            Err(why) if found.is_empty() => return refused(text, why),
            Err(_) => return refused(text, leftover(text, rest)),
        };
        // After the first value, only further containers can be more than noise.
        if !found.is_empty() && !read.value.is_object() {
            return refused(text, leftover(text, rest));
        }
        rest = rest.get(read.end..).unwrap_or_default();
        state = read.state;
        tolerant |= read.mended;
        found.push(read.value);
    }
    tolerant |= !rest.trim().is_empty();
    let (values, fragments) = distinct(found);
    if values.is_empty() {
        return Reading::Fault("there is no value".to_owned());
    }
    Reading::Values(Values { values, state, tolerant, unwrapped: false, fragments })
}

/// What is left when nothing reads the text: words, or broken JSON.
fn refused(text: &str, why: String) -> Reading {
    let words = text.trim();
    if words.starts_with(['{', '[', '"', '\'', '<', '`']) {
        Reading::Fault(why)
    } else {
        Reading::Bare(words.to_owned())
    }
}

fn leftover(text: &str, rest: &str) -> String {
    format!("text follows the value at byte {}", text.len() - rest.len())
}

/// Closing brackets too many, commas, the end of a fence: nothing that could be meant.
fn is_junk(rest: &str) -> bool {
    rest.chars().all(|c| c.is_whitespace() || matches!(c, '}' | ']' | ',' | ';' | '`'))
}

/// Leaves out placeholders before the real value, and repetitions; says whether there were any.
pub(crate) fn distinct(found: Vec<Value>) -> (Vec<Value>, bool) {
    let count = found.len();
    let last = count.saturating_sub(1);
    let placeholder = |value: &Value| value.is_null() || value.as_object().is_some_and(|map| map.is_empty());
    let mut values: Vec<Value> = Vec::with_capacity(count);
    for (at, value) in found.into_iter().enumerate() {
        let stands_in = values.is_empty() && at < last && placeholder(&value);
        if !stands_in && !values.contains(&value) {
            values.push(value);
        }
    }
    let fragments = values.len() < count;
    (values, fragments)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(text: &str) -> Values {
        match read(text) {
            Reading::Values(values) => values,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn one_value_whatever_stands_around_it() {
        for (text, tolerant, unwrapped, fragments) in [
            (" {\"a\": 1}\n", false, false, false),
            ("{\"a\": 1}}", true, false, false),
            ("{\"a\": 1}]}", true, false, false),
            ("{'a': 1}", true, false, false),
            ("```json\n{\"a\": 1}\n```", false, true, false),
            ("~~~\n{\"a\": 1}\n~~~\n", false, true, false),
            ("```{\"a\": 1}```", false, true, false),
            ("```json\n{\"a\": 1}", false, true, false),
            ("{}{\"a\": 1}", false, false, true),
            ("null {\"a\": 1}", false, false, true),
            ("{\"a\": 1}{\"a\": 1}{\"a\": 1}", false, false, true),
            ("\"{\"a\": 1}\"", false, true, false),
        ] {
            let values = values(text);
            assert_eq!(values.values, [json!({"a": 1})], "{text}");
            assert_eq!(
                (values.tolerant, values.unwrapped, values.fragments),
                (tolerant, unwrapped, fragments),
                "{text}"
            );
        }
    }

    #[test]
    fn several_values_words_and_faults() {
        assert_eq!(values("{\"a\": 1}\n{\"a\": 2}{\"a\": 1}").values, [json!({"a": 1}), json!({"a": 2})]);
        assert_eq!(values("{\"a\": 1}{\"a\": ").state, State::OpenString);
        assert_eq!(read(" \n"), Reading::Empty);
        assert_eq!(read("ls -la"), Reading::Bare("ls -la".to_owned()));
        assert_eq!(read("2 files"), Reading::Bare("2 files".to_owned()));
        assert_eq!(
            read("{\"a\": 1} and more"),
            Reading::Fault("text follows the value at byte 8".to_owned())
        );
        assert_eq!(read("{\"a\" 1}"), Reading::Fault("a key with quotes in it at byte 1".to_owned()));
        assert!(matches!(read(&"{\"a\":1} {\"b\":2}".repeat(100)), Reading::Fault(_)));
    }
}
