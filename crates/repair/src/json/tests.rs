use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MAX_DEPTH, Read, State, read_strict, read_tolerant, write};

fn value(text: &str) -> Value {
    match read_tolerant(text) {
        Ok(Read { value, state: State::Complete, .. }) => value,
        other => panic!("{text}: {other:?}"),
    }
}

fn state(text: &str) -> State {
    read_tolerant(text).unwrap_or_else(|why| panic!("{text}: {why}")).state
}

#[test]
fn every_defect_has_one_meaning() {
    let table = [
        (r#"{"a": 1,}"#, json!({"a": 1})),
        (r#"{"a": [1, 2,,], ,"b": 2}"#, json!({"a": [1, 2], "b": 2})),
        (r#"{'a': 'it\'s "x"', 'b': 'é'}"#, json!({"a": "it's \"x\"", "b": "é"})),
        (r#"{'a': 'don't', 'b': 1}"#, json!({"a": "don't", "b": 1})),
        (
            r#"{"a": True, "b": False, "c": None, "d": undefined}"#,
            json!({"a": true, "b": false, "c": null, "d": null}),
        ),
        (r#"{"a": "True", "b": "None",}"#, json!({"a": "True", "b": "None"})),
        (r#"{path: "x", max_n: 2, $k: 1, 3: 4}"#, json!({"path": "x", "max_n": 2, "$k": 1, "3": 4})),
        ("{\"a\": \"l1\nl2\tx\0\"}", json!({"a": "l1\nl2\tx\0"})),
        (r#"{"a": "\d+\(x\)\bw\fz\n"}"#, json!({"a": "\\d+\\(x\\)\\bw\\fz\n"})),
        (r#"{"a": "\d", "b": "\b"}"#, json!({"a": "\\d", "b": "\u{8}"})),
        (r#"{"p": "C:\Users\new\temp"}"#, json!({"p": "C:\\Users\\new\\temp"})),
        (r#"{"p": "C:\\Users\\new",}"#, json!({"p": "C:\\Users\\new"})),
        (r#"{"p": "C:\new",}"#, json!({"p": "C:\\new"})),
        (r#"{"p": "C:\dir\", "q": "D:\"}"#, json!({"p": "C:\\dir\\", "q": "D:\\"})),
        (r#"{"c": "echo "hello there" && pwd"}"#, json!({"c": "echo \"hello there\" && pwd"})),
        (r#"{"c": "grep "foo"", "path": "."}"#, json!({"c": "grep \"foo\"", "path": "."})),
        (
            r#"{"c": "print("a", "b")", "d": "x "y" z"}"#,
            json!({"c": "print(\"a\", \"b\")", "d": "x \"y\" z"}),
        ),
        (
            r#"{"c": "{"a": "x", "b": "y"}", "f": "g"}"#,
            json!({"c": "{\"a\": \"x\", \"b\": \"y\"}", "f": "g"}),
        ),
        (r#"{"c": "a 5" disk"}"#, json!({"c": "a 5\" disk"})),
        (
            "{\u{201c}a\u{201d}: \u{201c}x \"y\" z\u{201d}, \u{2018}b\u{2019}: 1}",
            json!({"a": "x \"y\" z", "b": 1}),
        ),
        ("{\"a\": 1, // one\n /* two */ \"b\": 2 # three\n}", json!({"a": 1, "b": 2})),
        ("{\"a\": \"x\"\n\"b\": 2\n\"c\": [1\n2]}", json!({"a": "x", "b": 2, "c": [1, 2]})),
        (r#"{"a": src/main.rs, "b": [x, y]}"#, json!({"a": "src/main.rs", "b": ["x", "y"]})),
        (r#"{"a": ls -la}"#, json!({"a": "ls -la"})),
        (
            r#"{"a": NaN, "b": Infinity, "c": -Infinity}"#,
            json!({"a": "NaN", "b": "Infinity", "c": "-Infinity"}),
        ),
        (r#"{"a": 007, "b": 1.2.3, "c": 12:30}"#, json!({"a": "007", "b": "1.2.3", "c": "12:30"})),
        (r#"{"a": "\ud83d x \ude80\ud83d\ude80"}"#, json!({"a": "\u{fffd} x \u{fffd}🚀"})),
        (r#"{"a": "\u12"}"#, json!({"a": "\\u12"})),
        (r#"{"a": [1, 2}"#, json!({"a": [1, 2]})),
        (r#"{"a": {"b": 1]}}"#, json!({"a": {"b": 1}})),
        (r#"{"a": (1, 'x')}"#, json!({"a": [1, "x"]})),
        ("{\"a\": \"\"\"x\n\"y\" z\"\"\"}", json!({"a": "x\n\"y\" z"})),
        ("\u{feff}{\"a\": 1}", json!({"a": 1})),
    ];
    for (text, expected) in table {
        assert_eq!(value(text), expected, "{text}");
        assert!(read_tolerant(text).unwrap().mended, "{text}");
        assert_eq!(read_strict(text), None, "{text}");
    }
}

#[test]
fn the_last_of_two_equal_keys_stands() {
    assert_eq!(value(r#"{"a": 1, "b": 2, "a": 3}"#), json!({"a": 3, "b": 2}));
}

#[test]
fn numbers_keep_their_spelling() {
    let text = r#"{"a":12345678901234567890123,"b":1.10,"c":-0,"d":1e400}"#;
    assert_eq!(write(&value(text)), r#"{"a":12345678901234567890123,"b":1.10,"c":-0,"d":1e+400}"#);
}

#[test]
fn what_follows_a_value_is_the_callers() {
    assert_eq!(read_strict(" {\"a\": 1} </tool_call>"), Some((json!({"a": 1}), 9)));
    assert_eq!(read_strict("12abc"), None);
    let read = read_tolerant("{'a': 1}{'b': 2}").unwrap();
    assert_eq!((read.end, read.value), (8, json!({"a": 1})));
}

#[test]
fn the_state_tells_a_cut_string_from_an_open_container() {
    use State::{OpenContainer, OpenString};
    let table = [
        (r#"{"a": "x"#, OpenString),
        (r#"{"a": "x\"#, OpenString),
        (r#"{"a": "say "hi"#, OpenString),
        (r#"{"a": "x""#, OpenContainer),
        (r#"{"a": ["x""#, OpenContainer),
        (r#"{"a": 1"#, OpenContainer),
        (r#"{"a": [1, {"b": true"#, OpenContainer),
        ("{", OpenContainer),
        (r#"{"a": 1,"#, OpenString),
        (r#"{"a":"#, OpenString),
        (r#"{"a""#, OpenString),
        (r#"{"a"#, OpenString),
        (r#"{"a": tru"#, OpenString),
        (r#"{"a": "say "hi" x", "b": {"c": "d"}"#, OpenContainer),
        (r#"{"a":{"\\":"","\"":{"a":""}}"#, OpenContainer),
        (r#""abc"#, OpenString),
    ];
    for (text, expected) in table {
        assert_eq!(state(text), expected, "{text}");
        assert!(read_tolerant(text).unwrap().mended);
    }
    assert_eq!(read_tolerant(r#"{"a": [1, {"b": "x""#).unwrap().value, json!({"a": [1, {"b": "x"}]}));
}

#[test]
fn what_has_no_meaning_or_two_is_refused() {
    let table = [
        ("", "the text is empty at byte 0"),
        ("   ", "the text is empty at byte 3"),
        ("hello there", "a value is expected at byte 0"),
        (r#"{"a": }"#, "a value is expected at byte 6"),
        (r#"{"a": 1 b: 2}"#, "a value is expected at byte 6"),
        (r#"{"a" 1}"#, "a key with quotes in it at byte 1"),
        (r#"{"a", "b"}"#, "a key with quotes in it at byte 1"),
        (r#"{"a": "x" y}"#, "text after the end of a string at byte 9"),
        (
            r#"["say "hi", "bye" now"]"#,
            "quotes inside a string are not escaped, and it can be read in more than one way",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(read_tolerant(text).map_err(|why| why.to_string()), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn depth_is_bounded_and_needs_no_call_stack() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read_strict(&nested(MAX_DEPTH)).is_some());
    assert_eq!(read_strict(&nested(MAX_DEPTH + 1)), None);
    assert_eq!(read_tolerant(&nested(100_000)), Err("containers nest too deep at byte 512".to_owned()));
    assert_eq!(
        read_tolerant(&"{\"a\":".repeat(100_000)),
        Err("containers nest too deep at byte 2560".to_owned())
    );
    assert_eq!(read_tolerant(&"[".repeat(512)).unwrap().state, State::OpenContainer);
}

/// Characters that mean something to the reader, and some that do not.
pub(crate) fn noise() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            "\"",
            "'",
            ",",
            ":",
            "\\",
            "\n",
            " ",
            "a",
            "b\": ",
            "true",
            "None",
            "1",
            "-",
            "\\u",
            "d83d",
            "C:\\",
            "//",
            "/*",
            "*/",
            "#",
            "\u{201c}",
            "\u{201d}",
            "é",
            "\0",
            "(",
            ")",
            "\"\"\"",
            "{\"a\": \"",
            "\", \"b\": ",
        ]),
        0..40,
    )
    .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_panics_and_ends_lie_in_the_text(text in prop_oneof![noise(), any::<String>()]) {
        if let Ok(read) = read_tolerant(&text) {
            prop_assert!(text.is_char_boundary(read.end));
        }
        read_strict(&text);
    }

    #[test]
    fn strict_is_what_serde_reads(text in prop_oneof![noise(), any::<String>()]) {
        let theirs: Option<Value> = serde_json::from_str(&text).ok();
        let ours = read_strict(&text).filter(|(_, end)| text[*end..].trim_matches([' ', '\t', '\r', '\n']).is_empty());
        prop_assert_eq!(ours.map(|(value, _)| value), theirs);
    }

    #[test]
    fn values_survive(value in crate::tests::any_json()) {
        let text = write(&value);
        prop_assert_eq!(read_strict(&text), Some((value.clone(), text.len())));
        let read = Read { value, end: text.len(), state: State::Complete, mended: false };
        prop_assert_eq!(read_tolerant(&text), Ok(read));
    }

    #[test]
    fn unescaped_quotes_do_not_hide_a_cut(inner in prop::collection::vec(
        prop::sample::select(vec!["x", " \"hi\" ", "{\"a\": 1}", "f(\"a\", \"b\")", "5\" ", "}", "\", \"k\": \"v", "\\n"]), 1..5,
    )) {
        let text = format!("{{\"o\": {{\"p\": \"{}\", \"q\": {{\"r\": \"s\"}}}}", inner.concat());
        if let Ok(read) = read_tolerant(&text) {
            prop_assert!(read.state != State::Complete || read.end < text.len(), "{}: {:?}", text, read);
        }
    }

    #[test]
    fn a_cut_text_is_never_complete(value in crate::tests::any_json(), cut in 0.0..1.0f64) {
        let text = write(&json!({"a": value}));
        let mut at = (text.len() as f64 * cut) as usize;
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        if let Ok(read) = read_tolerant(&text[..at]) {
            prop_assert_ne!(read.state, State::Complete);
        }
    }
}
