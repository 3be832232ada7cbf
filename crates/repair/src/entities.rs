//! Entities that a server put into arguments as if they were to be shown in a browser.

use serde_json::Value;

use crate::path::Path;
use crate::{Repair, Step};

/// What becomes of entities in strings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entities {
    /// They are the model's own words.
    Kept,
    /// The server escaped the model's words, so they are undone once.
    Decoded,
}

/// The longest entity that is looked for, with its ends: `&#x10FFFF;`.
const MAX_ENTITY: usize = 10;

/// Decodes the entities in all strings of a value, once.
pub(crate) fn decode(value: &mut Value, path: &Path<'_>, repairs: &mut Vec<Repair>) {
    match value {
        Value::String(text) => {
            if let Some(plain) = decoded(text) {
                *text = plain;
                repairs.push(Repair::new(Step::Entities, path.to_string()));
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                decode(item, &Path::Item(path, at), repairs);
            }
        }
        Value::Object(map) => {
            for (name, member) in map.iter_mut() {
                decode(member, &Path::Member(path, name), repairs);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text without entities; None when it has none.
fn decoded(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = text;
    let mut found = false;
    while let Some((before, from)) = rest.find('&').and_then(|at| rest.split_at_checked(at)) {
        plain.push_str(before);
        let (c, length) = entity(from).unwrap_or(('&', 1));
        found |= length > 1;
        plain.push(c);
        rest = from.get(length..).unwrap_or_default();
    }
    plain.push_str(rest);
    found.then_some(plain)
}

/// The character that an entity at the start of a text stands for, and how long the entity is.
fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(MAX_ENTITY).position(|byte| byte == b';')?;
    let c = match text.get(1..end)? {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        number => {
            let number = number.strip_prefix('#')?;
            let (digits, radix) = match number.strip_prefix(['x', 'X']) {
                Some(digits) => (digits, 16),
                None => (number, 10),
            };
            // A sign would be read as part of the number.
            let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let code = u32::from_str_radix(digits, radix).ok().filter(|code| plain && *code > 0)?;
            char::from_u32(code)?
        }
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entities_are_decoded_once() {
        for (text, expected) in [
            ("a &amp;&amp; b", "a && b"),
            ("&lt;p class=&quot;x&quot;&gt;it&#39;s &apos;é&apos;&lt;/p&gt;", "<p class=\"x\">it's 'é'</p>"),
            ("&amp;lt;", "&lt;"),
            ("&#x3C;&#X3e;&#128640;", "<>🚀"),
            ("&&amp;&", "&&&"),
        ] {
            assert_eq!(decoded(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "a & b",
            "a && b;",
            "&nbsp;",
            "&;",
            "&#;",
            "&#x;",
            "&#+65;",
            "&#0;",
            "&#xD800;",
            "&#1114112;",
            "&AMP;",
            "&amp",
            "?a=1&lt=2;",
        ] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }

    #[test]
    fn all_strings_of_a_value_and_no_keys() {
        let mut value = json!({"a": "&lt;", "&lt;": [{"b": "&amp;"}, 1, "x"]});
        let mut repairs = Vec::new();
        decode(&mut value, &Path::Root("arguments"), &mut repairs);
        assert_eq!(value, json!({"a": "<", "&lt;": [{"b": "&"}, 1, "x"]}));
        let paths: Vec<&str> = repairs.iter().map(|repair| repair.path.as_str()).collect();
        assert_eq!(paths, ["arguments.a", "arguments.&lt;[0].b"]);
    }
}
