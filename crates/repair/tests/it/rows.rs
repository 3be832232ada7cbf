//! Tables of texts and what they become, each read whole and in pieces; and what holds for any text of these formats.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::decode::{Case, Decoded};

pub(crate) fn tools() -> Value {
    let string = json!({"type": "string"});
    json!([
        {"name": "list_dir", "parameters": {"type": "object", "properties": {"path": string, "recursive": {"type": "boolean"}, "depth": {"type": "integer"}}, "required": ["path"]}},
        {"name": "run_command", "parameters": {"type": "object", "properties": {"command": string}, "required": ["command"]}},
        {"name": "write_file", "parameters": {"type": "object", "properties": {"file_path": string, "content": string}, "required": ["file_path", "content"]}},
        {"name": "send", "parameters": {"type": "object", "properties": {"from": string, "to": {"type": "array", "items": string}, "options": {"type": "object"}}, "required": ["from", "to"]}},
        {"name": "get_time", "parameters": {"type": "object", "properties": {}}},
        {"name": "brave_search", "parameters": {"type": "object", "properties": {"query": string}, "required": ["query"]}},
        {"name": "fs.stat", "parameters": {"type": "object", "properties": {"path": string}}}
    ])
}

/// What a text becomes; the same however it is cut.
pub(crate) fn read(text: &str, finish: &str) -> Decoded {
    read_as(text, &json!({"finish_reason": finish}))
}

/// What a text becomes where this is known of the model; the same however it is cut.
pub(crate) fn read_as(text: &str, options: &Value) -> Decoded {
    let case =
        Case(json!({"id": "x", "kind": "text", "chunks": [text], "tools": tools(), "options": options}));
    let whole = case.decode([text]);
    let chars: Vec<char> = text.chars().collect();
    for length in [1, 2, 3, 7] {
        let pieces: Vec<String> = chars.chunks(length).map(|piece| piece.iter().collect()).collect();
        let cut = case.decode(pieces.iter().map(String::as_str));
        let same = |decoded: &Decoded| Decoded { growth: Vec::new(), ..decoded.clone() };
        assert_eq!(same(&cut), same(&whole), "in pieces of {length}: {text}");
    }
    whole
}

pub(crate) type Expected = (&'static str, Vec<(&'static str, Value)>);

pub(crate) fn check(rows: Vec<(&str, Expected)>) {
    let mut wrong = Vec::new();
    for (text, (content, calls)) in rows {
        let got = read(text, "stop");
        let calls: Vec<Value> = calls
            .into_iter()
            .map(|(name, arguments)| json!({"name": name, "arguments": arguments}))
            .collect();
        let named: Vec<Value> = got
            .calls
            .iter()
            .map(|call| json!({"name": call["name"], "arguments": call["arguments"]}))
            .collect();
        if got.content != content || named != calls || !got.incomplete.is_empty() {
            wrong.push(format!(
                "{text:?}\n   got {:?} {} {:?}\n  want {content:?} {}",
                got.content,
                Value::from(got.calls.clone()),
                got.incomplete,
                Value::from(calls)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} rows are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

pub(crate) fn call(name: &'static str, arguments: Value) -> Expected {
    ("", vec![(name, arguments)])
}

/// Each of these is text and nothing else.
pub(crate) fn check_text(texts: &[&str]) {
    for text in texts {
        let got = read(text, "stop");
        assert_eq!((got.content.as_str(), got.calls.len(), got.incomplete.len()), (*text, 0, 0), "{got:?}");
    }
}

/// The text is cut in a call of this tool: it is said to be incomplete, or can't be taken for whole.
pub(crate) fn check_cut(rows: &[(&str, &str)], finish: &str) {
    for (text, name) in rows {
        let got = read(text, finish);
        assert_eq!(
            (got.content.as_str(), cut_names(&got)),
            ("", vec![(*name).to_owned()]),
            "{text}: {got:?}"
        );
    }
}

pub(crate) fn cut_names(got: &Decoded) -> Vec<String> {
    let faulty = |call: &Value| {
        assert!(call["fault"].is_string(), "{call}");
        call["name"].as_str().unwrap().to_owned()
    };
    got.calls.iter().map(faulty).chain(got.incomplete.clone()).collect()
}

#[test]
fn prose_leaves_after_a_word() {
    let text = "Listing the folder now.\nlist_directory is another (one).\nprint is too.\nAction is not.\n";
    let case = Case(json!({"id": "x", "kind": "text", "chunks": [text], "tools": tools(), "options": {}}));
    let pieces: Vec<String> = text.chars().map(String::from).collect();
    let got = case.decode(pieces.iter().map(String::as_str));
    // The first two events come before the text, the last two behind it.
    for (at, known) in got.growth.iter().skip(2).take(text.len()).enumerate() {
        let word = "list_directory ".len();
        assert!(at + 1 - known <= word, "{:?} is held", &text[*known..=at]);
    }
}

/// Texts made of the words of these formats, in any order.
fn soup() -> impl Strategy<Value = String> {
    let words = [
        "list_dir(",
        "get_time()",
        "print(",
        "path=",
        "'",
        "\"",
        "'''",
        "\\",
        "a",
        "é",
        " ",
        "\n",
        ",",
        ")",
        "(",
        "[",
        "]",
        "{",
        "}",
        ":",
        "=",
        "#",
        "1",
        "True",
        "f'",
        "r\"",
        "<|python_start|>",
        "<|python_end|>",
        "<function_calls>",
        "</function_calls>",
        "<|tool_call_start|>",
        "<|tool_call_end|>",
        "<|python_tag|>",
        "list_dir.call(",
        "```tool_code\n",
        "```",
        "<|tool_call>",
        "call:list_dir{",
        "<|\"|>",
        "<tool_call|>",
        "<start_function_call>",
        "<escape>",
        "<end_function_call>",
        "\nAction: list_dir\n",
        "Action Input: ",
        "Observation:",
        "Action:",
        "list_dir\n",
        "{\"path\": \"a\"}",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..24).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_text_is_read_the_same_however_it_is_cut(text in soup(), cut in any::<bool>()) {
        let got = read(&text, if cut { "length" } else { "stop" });
        if got.calls.is_empty() && got.incomplete.is_empty() {
            prop_assert_eq!(got.content, text);
        }
    }
}

#[test]
fn hostile_text_is_read_in_good_time() {
    let tools = tools();
    for word in [
        "list_dir(path='it's\n",
        "[list_dir(path='it's\n",
        "list_dir(path='a')\n",
        "[list_dir(path=[[[[\n",
        "<|python_start|>[list_dir(path='a' b ",
        "<|tool_call>call:list_dir{path:a, b",
        "<|tool_call>call:list_dir{path:<|\"|>a ",
        "```tool_code\nlist_dir(path='a' b\n",
        "Action: list_dir\nAction Input: {}\n",
        "run_command(command='\\n'#",
        "Action: run_command\nAction Input: ",
        "list_dir\n{",
        "<function_calls>list_dir(path='",
    ] {
        let text = word.repeat(100_000 / word.len()) + ".";
        let case = Case(json!({"id": "x", "kind": "text", "chunks": [text], "tools": tools, "options": {}}));
        let pieces: Vec<&str> =
            text.as_bytes().chunks(4096).map(|piece| str::from_utf8(piece).unwrap()).collect();
        let got = case.decode(pieces);
        assert!(got.content == text || cut_names(&got).len() == 1, "{word}");
    }
}
