//! Reasoning and what only looks like it.

use serde_json::{Value, json};

use crate::decode::Case;

/// A text, and the content, the reasoning and the calls it becomes.
struct Row(&'static str, &'static str, &'static str, &'static str, Value);

const CALL: &str = "<tool_call>\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \"r\"}}\n</tool_call>";

fn row(why: &'static str, text: &'static str, content: &'static str, thought: &'static str) -> Row {
    Row(why, text, content, thought, json!([]))
}

fn case(text: &str) -> Case {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tools = json!([{"name": "list_dir", "parameters": parameters}]);
    Case(json!({"id": "x", "kind": "text", "chunks": [text], "tools": tools, "options": {}}))
}

fn check(rows: &[Row]) {
    for Row(why, text, content, thought, calls) in rows {
        let text = text.replace("CALL", CALL);
        let (content, thought) = (content.replace("CALL", CALL), thought.replace("CALL", CALL));
        let characters: Vec<char> = text.chars().collect();
        for length in [characters.len(), 1, 2, 3, 7] {
            let pieces: Vec<String> = characters.chunks(length).map(|piece| piece.iter().collect()).collect();
            let got = case(&text).decode(pieces.iter().map(String::as_str));
            assert_eq!(
                (&got.content, &got.reasoning, &Value::from(got.calls)),
                (&content, &thought, calls),
                "{why}, in pieces of {length}: {text:?}"
            );
        }
    }
}

#[test]
fn tags_in_code_within_reasoning() {
    let call = || json!([{"name": "list_dir", "arguments": {"path": "r"}}]);
    check(&[
        row(
            "a closer in a fence",
            "<think>\n```\n</think>\n```\nmore</think>Done.",
            "Done.",
            "```\n</think>\n```\nmore",
        ),
        row(
            "a fence that nobody closed",
            "<think>\n```py\nx\n</think>\nHere:\n```py\ny\n```\nDone.",
            "Here:\n```py\ny\n```\nDone.",
            "```py\nx",
        ),
        row("a closer right behind a fence", "<think>\n```\nx\n```</think>Done.", "Done.", "```\nx\n```"),
        row("a fence right before a closer", "<think>```</think>Done.", "Done.", "```"),
        row(
            "a closer in backticks",
            "<think>Say `</think>` then.\nok</think>Done.",
            "Done.",
            "Say `</think>` then.\nok",
        ),
        row(
            "a closer in quotes",
            "<think>Say \"</think>\" then</think>Done.",
            "Done.",
            "Say \"</think>\" then",
        ),
        row("a closer behind a quote", "<think>He said \"hi\"</think>Done.", "Done.", "He said \"hi\""),
        row(
            "a call that is shown, in reasoning without an end",
            "<think>I could write\n```\nCALL\n```\nhm",
            "",
            "I could write\n```\nCALL\n```\nhm",
        ),
        Row(
            "a call that is shown and one that is meant",
            "<think>Not\n```\nCALL\n```\nbut\nCALL",
            "",
            "Not\n```\nCALL\n```\nbut",
            call(),
        ),
    ]);
}

#[test]
fn tags_that_are_only_named() {
    let same = |why, text| row(why, text, text, "");
    check(&[
        same("both", "Models wrap plans in <think> and </think> tags."),
        same("with dots between", "Wrap it in <think>...</think>, please."),
        same("in quotes", "Say \"<think>\" to start and then \"</think>\" to end."),
        same("the opener alone", "The <think> tag begins it.\n\nThen another <think> comes."),
        row("in a sentence, with words", "Let me see <think>plan</think> Yes.", "Let me see\nYes.", "plan"),
        row("behind a sentence", "Fine. <think>one\n\ntwo</think>Yes.", "Fine.\nYes.", "one\n\ntwo"),
        row("behind a sentence, never closed", "好。<think>计划", "好。", "计划"),
        row("a closer of nothing", "Sure.</think> Yes.", "Sure. Yes.", ""),
    ]);
}

#[test]
fn blanks_before_markup_go_however_the_text_is_cut() {
    let call = || json!([{"name": "list_dir", "arguments": {"path": "r"}}]);
    check(&[
        row(
            "in a tag that is only named, before a channel",
            "</think>`<|channel>thought\n<|channel|>analysis<|message|>",
            "`<|channel>thought",
            "",
        ),
        row(
            "in a tag that is only named, before reasoning",
            "Say `<|channel>thought\n<think>plan</think>Yes.",
            "Say `<|channel>thought\nYes.",
            "plan",
        ),
        Row("behind a fence, before a call", "```\nx\n```  \nCALL", "```\nx\n```", "", call()),
        row(
            "wide ones, before the end of reasoning",
            "<|channel|>analysis<|message|>plan\u{3000}<|end|><|channel|>final<|message|>Yes.",
            "Yes.",
            "plan",
        ),
    ]);
}

/// How many bytes of plain text are held at most while it comes.
fn most_held(text: &str) -> usize {
    let case = case(text);
    let pieces: Vec<String> = text.chars().map(String::from).collect();
    let got = case.decode(pieces.iter().map(String::as_str));
    assert_eq!(got.content, text);
    let mut come = 0;
    let held = pieces.iter().zip(got.growth.iter().skip(2)).map(|(piece, said)| {
        come += piece.len();
        text.get(..come).unwrap_or_default().trim_end().len().saturating_sub(*said)
    });
    held.max().unwrap_or(0)
}

#[test]
fn plain_text_is_held_no_longer_than_a_word() {
    for text in [
        "Sure, see list_dir (a tool). To do: all.\nFunctions are fine.\n\n- a\n* b\n> c\n| d |\n1. e",
        "<div class=\"a\"><p>Hello <b>you</b></p><script>if (a<b) x();</script></div>\n<invoice id=\"3\">",
        "template<typename T> class function<T>; a << b; a<=b; <|> |> <$> arr[0] [link](x) {y}",
        "你好，世界。◁ ✿ <｜x｜> ｜ 完\n\n    indented\n`a <b` ~~c~~",
        "{\"result\": [1, 2, 3], \"name\": \"something long\", \"ok\": true, \"more\": [{}, {}]}",
        "[{\"id\": 1, \"title\": \"first\"}, {\"id\": 2, \"title\": \"second\"}, {\"id\": 3}]",
    ] {
        let held = most_held(text);
        // A word of another script has three bytes a letter.
        assert!(held <= 24, "{held} bytes of {text:?} were held");
    }
}
