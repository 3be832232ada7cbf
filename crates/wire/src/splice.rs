//! The model's name in JSON text, replaced without reading the text into a tree: all other bytes stay as they are.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::frame::BOM;
use crate::protocol::BodyKind;

/// Where the answers of a protocol name the model: keys from the outermost object inwards.
pub type ModelPaths = &'static [&'static [&'static str]];

/// The body of a request with another name of the model. None unless it is one object that has no field twice (which of two
/// counts is its reader's choice) and whose `model` is a string.
pub(crate) fn with_model(body: &[u8], model: &str) -> Option<Vec<u8>> {
    let named = read_fields(body)?;
    let mut out = Vec::with_capacity(body.len() + model.len());
    replace(body, &[named?], model, &mut out);
    Some(out)
}

/// The body of a request that does not name the model, as it is. None unless it is one object that has no field twice.
pub(crate) fn without_model(body: &[u8]) -> Option<Vec<u8>> {
    read_fields(body)?.is_none().then(|| body.to_vec())
}

/// Appends one whole frame of an answer, with this name of the model wherever the answer names it.
pub fn rename_model(frame: &[u8], kind: BodyKind, paths: ModelPaths, model: &str, out: &mut Vec<u8>) {
    let mut found = Vec::new();
    if may_name(frame)
        && let Some(at) = json_in(frame, kind)
    {
        let read = Cursor { text: frame, at }.at_paths(paths, &mut found);
        if read.is_none() {
            // What is no JSON names nothing.
            found.clear();
        }
    }
    replace(frame, &found, model, out);
}

/// Most frames of a stream do not name the model, and this costs less than to walk through them.
fn may_name(frame: &[u8]) -> bool {
    memchr::memmem::find(frame, b"model").is_some() || memchr::memmem::find(frame, b"\\u").is_some()
}

/// Where the JSON of a frame begins.
fn json_in(frame: &[u8], kind: BodyKind) -> Option<usize> {
    match kind {
        BodyKind::Whole | BodyKind::Array => memchr::memchr(b'{', frame),
        BodyKind::Stream => {
            let mut at = if frame.starts_with(BOM) { BOM.len() } else { 0 };
            while !frame.get(at..)?.starts_with(DATA) {
                at += memchr::memchr2(b'\n', b'\r', frame.get(at..)?)? + 1;
            }
            Some(at + DATA.len())
        }
    }
}

const DATA: &[u8] = b"data:";

fn replace(text: &[u8], found: &[Range<usize>], model: &str, out: &mut Vec<u8>) {
    let mut from = 0;
    for place in found {
        out.extend_from_slice(text.get(from..place.start).unwrap_or_default());
        out.extend_from_slice(serde_json::Value::from(model).to_string().as_bytes());
        from = place.end;
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
}

/// Reads the outermost fields of a body, and gives the place of the model's name if there is one.
fn read_fields(body: &[u8]) -> Option<Option<Range<usize>>> {
    let mut seen = BTreeSet::new();
    let mut named = None;
    let mut cursor = Cursor { text: body, at: 0 };
    cursor.blank();
    cursor.fields(&mut |cursor, key| {
        if key == "model" {
            named = Some(cursor.string()?);
        } else {
            cursor.skip()?;
        }
        seen.insert(key).then_some(())
    })?;
    cursor.blank();
    (cursor.at == body.len()).then_some(named)
}

/// What to do with a field; it must step over the value.
type Each<'e, 'a> = dyn FnMut(&mut Cursor<'a>, Cow<'a, str>) -> Option<()> + 'e;

/// A place in JSON text. None is text that is no JSON.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Finds the strings at the ends of the paths, which begin here.
    fn at_paths(&mut self, paths: &[&[&str]], found: &mut Vec<Range<usize>>) -> Option<()> {
        self.blank();
        self.fields(&mut |cursor, key| {
            let led_on = paths.iter().filter_map(|path| path.split_first());
            let onward: Vec<&[&str]> =
                led_on.filter(|(first, _)| **first == key).map(|(_, rest)| rest).collect();
            match cursor.peek()? {
                b'"' if onward.iter().any(|rest| rest.is_empty()) => found.push(cursor.string()?),
                b'{' if !onward.is_empty() => cursor.at_paths(&onward, found)?,
                _ => cursor.skip()?,
            }
            Some(())
        })
    }

    /// Steps through an object; each of its values is left to `each`.
    fn fields(&mut self, each: &mut Each<'_, 'a>) -> Option<()> {
        self.take(b'{')?;
        self.blank();
        if self.peek()? == b'}' {
            return self.take(b'}');
        }
        loop {
            let key = self.string().and_then(|place| self.words(place))?;
            self.blank();
            self.take(b':')?;
            self.blank();
            each(self, key)?;
            self.blank();
            if self.peek()? == b'}' {
                return self.take(b'}');
            }
            self.take(b',')?;
            self.blank();
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Steps over white space; where an event's data goes on on another line, also over the name of the field.
    fn blank(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            let ends_line = matches!(self.peek(), Some(b'\n' | b'\r'));
            self.at += 1;
            if ends_line && self.text.get(self.at..).is_some_and(|rest| rest.starts_with(DATA)) {
                self.at += DATA.len();
            }
        }
    }

    /// Steps over a string, and gives its place, quotes included.
    fn string(&mut self) -> Option<Range<usize>> {
        let from = self.at;
        self.take(b'"')?;
        loop {
            let rest = self.text.get(self.at..)?;
            let quote = memchr::memchr(b'"', rest)?;
            let before = rest.get(..quote)?.iter().rev().take_while(|byte| **byte == b'\\').count();
            self.at += quote + 1;
            // A quote behind an odd number of backslashes is inside.
            if before.is_multiple_of(2) {
                return Some(from..self.at);
            }
        }
    }

    /// What a string says.
    fn words(&self, place: Range<usize>) -> Option<Cow<'a, str>> {
        let quoted = self.text.get(place)?;
        if memchr::memchr(b'\\', quoted).is_some() {
            return serde_json::from_slice(quoted).ok().map(Cow::Owned);
        }
        let bare = quoted.get(1..quoted.len().saturating_sub(1))?;
        std::str::from_utf8(bare).ok().map(Cow::Borrowed)
    }

    /// Steps over a value.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return None,
                _ if depth == 0 => self.scalar(),
                _ => self.at += 1,
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Steps over a number or a word.
    fn scalar(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn body(text: &str) -> Option<String> {
        with_model(text.as_bytes(), "a \"b\"").map(|body| String::from_utf8(body).unwrap())
    }

    #[test]
    fn only_the_outermost_name_is_replaced() {
        for (text, expected) in [
            (r#"{"model":"m"}"#, Some(r#"{"model":"a \"b\""}"#)),
            (
                " {\n \"x\" : 1e5 , \"model\"\t: \"m\\\"\\\\\" }\r\n",
                Some(" {\n \"x\" : 1e5 , \"model\"\t: \"a \\\"b\\\"\" }\r\n"),
            ),
            (
                r#"{"a":{"model":"m"},"b":["model","\"model\":\"x\""],"model":"m","c":null}"#,
                Some(r#"{"a":{"model":"m"},"b":["model","\"model\":\"x\""],"model":"a \"b\"","c":null}"#),
            ),
            (r#"{"mod\u0065l":"m"}"#, Some(r#"{"mod\u0065l":"a \"b\""}"#)),
            (r#"{"model":"m","model":"n"}"#, None),
            (r#"{"model":"m","mod\u0065l":"n"}"#, None),
            (r#"{"model":"m","x":1,"x":2}"#, None),
            (r#"{"model":null}"#, None),
            (r#"{"x":"m"}"#, None),
            ("{}", None),
            ("", None),
            ("[]", None),
            (r#"{"model":"m"} {}"#, None),
            (r#"{"model":"m""#, None),
            (r#"{"model":"m","x":[}"#, None),
            (r#"{"model":"m","x":}"#, None),
        ] {
            assert_eq!(body(text).as_deref(), expected, "{text}");
        }
        assert_eq!(without_model(b"{\"x\":[1]}").as_deref(), Some(&b"{\"x\":[1]}"[..]));
        assert_eq!(without_model(b"{\"model\":\"m\"}"), None);
    }

    const PATHS: ModelPaths = &[&["model"], &["message", "model"]];

    fn renamed(frame: &str, kind: BodyKind) -> String {
        let mut out = Vec::new();
        rename_model(frame.as_bytes(), kind, PATHS, "new", &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn frames_of_answers() {
        use BodyKind::{Array, Stream, Whole};
        for (kind, frame, expected) in [
            (Whole, r#"{"model":"m","text":"model"}"#, r#"{"model":"new","text":"model"}"#),
            (Whole, r#"{"model":"m","model":"n"}"#, r#"{"model":"new","model":"new"}"#),
            (
                Whole,
                r#"{"model":null,"message":{"x":{"model":"m"},"model":"m"}}"#,
                r#"{"model":null,"message":{"x":{"model":"m"},"model":"new"}}"#,
            ),
            (
                Whole,
                r#"{"choices":[{"model":"m"}],"delta":{"model":"m"}}"#,
                r#"{"choices":[{"model":"m"}],"delta":{"model":"m"}}"#,
            ),
            (Array, ",\n{\"model\":\"m\"}", ",\n{\"model\":\"new\"}"),
            (Stream, "event: x\ndata: {\"model\":\"m\"}\n\n", "event: x\ndata: {\"model\":\"new\"}\n\n"),
            (Stream, "\u{feff}data:{\"model\":\"m\"}\r\n\r\n", "\u{feff}data:{\"model\":\"new\"}\r\n\r\n"),
            (
                Stream,
                "data: {\"x\":[\ndata: 1],\ndata: \"model\":\ndata:\"m\"}\n\n",
                "data: {\"x\":[\ndata: 1],\ndata: \"model\":\ndata:\"new\"}\n\n",
            ),
            (Stream, "data: [DONE]\n\n", "data: [DONE]\n\n"),
            (Stream, ": model\n\n", ": model\n\n"),
            (Stream, "data: {\"model\":\"m\n\n", "data: {\"model\":\"m\n\n"),
        ] {
            assert_eq!(renamed(frame, kind), expected);
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            "\\PC{0,6}|[\"\\\\{}\\[\\]:,]{0,6}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let key = prop_oneof![Just("model".to_owned()), Just("message".to_owned()), "\\PC{0,4}"];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// The same by a tree.
    fn by_tree(mut value: Value) -> Value {
        for path in ["/model", "/message/model"] {
            if let Some(name) = value.pointer_mut(path).filter(|name| name.is_string()) {
                *name = json!("new");
            }
        }
        value
    }

    proptest! {
        #[test]
        fn it_is_what_a_tree_gives(fields in prop::collection::vec(("model|message|\\PC{0,4}", value()), 0..5)) {
            let whole = Value::Object(fields.into_iter().collect());
            // In an object only; a path through a list would need a number.
            let expected = by_tree(whole.clone());
            for text in [serde_json::to_string(&whole).unwrap(), serde_json::to_string_pretty(&whole).unwrap()] {
                let read: Value = serde_json::from_str(&renamed(&text, BodyKind::Whole)).unwrap();
                prop_assert_eq!(&read, &expected);
                let spliced = with_model(text.as_bytes(), "new").map(|body| serde_json::from_slice::<Value>(&body).unwrap());
                let named = whole.get("model").is_some_and(Value::is_string);
                let mut only = whole.clone();
                if let Some(name) = only.get_mut("model") { *name = json!("new"); }
                prop_assert_eq!(spliced, named.then_some(only));
            }
        }

        #[test]
        fn any_text_is_only_changed_where_it_names_the_model(text in "([{}\\[\\],:\"\\\\ \n]|model|message|data:|m){0,24}") {
            for kind in [BodyKind::Whole, BodyKind::Stream, BodyKind::Array] {
                let out = renamed(&text, kind);
                prop_assert!(out == text || out.contains("\"new\""));
            }
            let _ = (with_model(text.as_bytes(), "new"), without_model(text.as_bytes()));
        }
    }
}
