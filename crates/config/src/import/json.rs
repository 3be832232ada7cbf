//! JSON as people write it: comments, trailing commas, single quotes, bare keys.

use serde_json::Value;

/// Reads JSON, JSON with comments, or JSON5. Lines of an error are those of the text.
pub(super) fn read(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&strict(text.strip_prefix('\u{feff}').unwrap_or(text)))
}

/// The same in strict JSON, line by line; what makes no sense stays, for the parser to name.
fn strict(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // A comma waits for what follows it: before a bracket that closes it says nothing.
    let mut comma = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        if c.is_whitespace() {
            out.push(if c == '\n' { c } else { ' ' });
            rest = after;
            continue;
        }
        if let Some(end) = comment(rest) {
            let (said, left) = rest.split_at_checked(end).unwrap_or((rest, ""));
            out.extend(said.chars().filter(|c| *c == '\n'));
            rest = left;
            continue;
        }
        if let Some(at) = comma.take()
            && matches!(c, '}' | ']')
        {
            out.replace_range(at..at + 1, " ");
        }
        rest = match c {
            '"' | '\'' => string(after, c, &mut out),
            ',' => {
                comma = Some(out.len());
                out.push(',');
                after
            }
            c if is_word(c) => word(rest, &mut out),
            c => {
                out.push(c);
                after
            }
        };
    }
    out
}

/// Where a comment at the beginning of the text ends.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let inside = text.strip_prefix("/*")?;
    Some(inside.find("*/").map_or(text.len(), |at| at + 4))
}

/// A string after its opening quote; gives what follows it.
fn string<'a>(text: &'a str, quote: char, out: &mut String) -> &'a str {
    out.push('"');
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => {
                out.push('"');
                return chars.as_str();
            }
            '"' => out.push_str("\\\""),
            '\t' => out.push_str("\\t"),
            '\\' => match chars.next() {
                // A string goes on after a line that ends with a backslash; the parser has no word for that.
                Some('\n') => {}
                Some('\'') => out.push('\''),
                Some('v') => out.push_str("\\u000b"),
                Some('0') => out.push_str("\\u0000"),
                Some('x') => out.push_str("\\u00"),
                Some(c @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u')) => out.extend(['\\', c]),
                Some(c) => out.push(c),
                None => out.push('\\'),
            },
            c => out.push(c),
        }
    }
    ""
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '+' | '-' | '.')
}

/// A number, `true`, `false`, `null` or a bare key; gives what follows it.
fn word<'a>(text: &'a str, out: &mut String) -> &'a str {
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let (word, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let unsigned = word.trim_start_matches(['+', '-']);
    let minus = if word.starts_with('-') { "-" } else { "" };
    let hex = unsigned.strip_prefix("0x").or(unsigned.strip_prefix("0X"));
    if let Some(number) = hex.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        out.push_str(&format!("{minus}{number}"));
    } else if unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        let zero = if unsigned.starts_with('.') { "0" } else { "" };
        let end = if unsigned.ends_with('.') { "0" } else { "" };
        out.push_str(&format!("{minus}{zero}{unsigned}{end}"));
    } else if matches!(word, "true" | "false" | "null") {
        out.push_str(word);
    } else {
        out.push('"');
        out.push_str(word);
        out.push('"');
    }
    rest
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
            ("{\n \"a\": 1 // x\n \"b\": 2\n}", "expected `,` or `}` at line 3 column 2"),
            ("{\n /* a\n */ 'b' 1}", "expected `:` at line 3 column 6"),
            ("", "EOF while parsing a value at line 1 column 0"),
            ("[1,,2]", "expected value at line 1 column 4"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), expected, "{text}");
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
