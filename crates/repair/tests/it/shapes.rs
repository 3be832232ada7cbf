//! Calls that only their shape tells: which JSON is one, where it may stand, and where it is cut.

use serde_json::{Value, json};

use crate::rows::{call, check, check_cut, check_text, read_as};

const LIST: &str = r#"{"name": "list_dir", "arguments": {"path": "src"}}"#;
const TIME: &str = r#"{"tool": "get_time"}"#;

fn both() -> Vec<Value> {
    vec![
        json!({"name": "list_dir", "arguments": {"path": "src"}}),
        json!({"name": "get_time", "arguments": {}}),
    ]
}

/// Calls among text, where the shape was taught.
#[test]
fn what_was_taught_counts_anywhere() {
    for (text, content) in [
        (format!("Ok: {LIST} {TIME} Done."), "Ok:\nDone."),
        (format!("Ok: {LIST}, {TIME} Done."), "Ok:\nDone."),
        (format!("Ok: {LIST}; {TIME}\nDone."), "Ok:\nDone."),
        (format!("Ok.\n{LIST},\n{TIME}\n, and so on."), "Ok.\n, and so on."),
        (format!("Ok: [{LIST}, {TIME}] Done."), "Ok:\nDone."),
        (format!("Ok: [\n  {LIST},\n  {TIME}\n] Done."), "Ok:\nDone."),
        (format!("Ok: {{\"tool_calls\": [{LIST}, {TIME}]}} Done."), "Ok:\nDone."),
        (format!("Use {{a}} and {{\"b\": 1}}. {LIST}{TIME}"), "Use {a} and {\"b\": 1}."),
        (format!("{{\"b\": \"never closed\n\n{LIST}\n{TIME}"), "{\"b\": \"never closed"),
    ] {
        let got = read_as(&text, &json!({"prompted": true}));
        assert_eq!((got.content.as_str(), got.calls), (content, both()), "{text}");
    }
}

/// What is a part of other JSON is no call, even where calls may stand anywhere.
#[test]
fn json_that_holds_a_call_is_none() {
    for text in [
        format!("{{\"tools\": [{LIST}]}}"),
        format!("{{\"tools\": [\n  {LIST}\n]}}\n"),
        format!("See {{\"result\": {LIST}}}."),
        format!("[{LIST}, {{\"name\": \"nobody\", \"arguments\": {{}}}}]"),
        format!("[{LIST}, 5]"),
        format!("{{\"tool_calls\": {LIST}}}"),
        format!("`{LIST}` is a call."),
    ] {
        let got = read_as(&text, &json!({"prompted": true}));
        assert_eq!((got.content.as_str(), got.calls.len()), (text.as_str(), 0));
    }
}

#[test]
fn only_what_can_be_arguments_makes_a_call() {
    check(vec![
        (r#"{"name": "get_time", "arguments": null}"#, call("get_time", json!({}))),
        (r#"{"name": "get_time", "arguments": []}"#, call("get_time", json!({}))),
        (r#"{"name": "list_dir", "arguments": [{"path": "a"}]}"#, call("list_dir", json!({"path": "a"}))),
        (r#"{"action": "list_dir", "action_input": "a"}"#, call("list_dir", json!({"path": "a"}))),
    ]);
    check_text(&[
        r#"{"name": "list_dir", "arguments": 5}"#,
        r#"{"name": "list_dir", "arguments": true}"#,
        r#"{"name": "list_dir", "arguments": ["a"]}"#,
        r#"{"name": "list_dir", "arguments": [{"path": "a"}, {"path": "b"}]}"#,
        "```json\n{\"name\": \"list_dir\", \"arguments\": 5}\n```",
    ]);
}

#[test]
fn a_fence_may_close_what_brackets_should() {
    check(vec![
        (
            "```json\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}\n```",
            call("list_dir", json!({"path": "a"})),
        ),
        (
            "~~~json\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}\n~~~",
            call("list_dir", json!({"path": "a"})),
        ),
        (
            "```json\n{\"name\": \"write_file\", \"arguments\": {\"file_path\": \"a\", \"content\": \"```\\nb\\n```\"}}\n```",
            call("write_file", json!({"file_path": "a", "content": "```\nb\n```"})),
        ),
        (
            "<tool_call>\n~~~json\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}}\n~~~\n</tool_call>",
            call("list_dir", json!({"path": "a"})),
        ),
        (
            "<tools>{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}</tools>",
            call("list_dir", json!({"path": "a"})),
        ),
    ]);
}

#[test]
fn a_call_is_cut_once_its_name_is_known() {
    check_cut(
        &[
            (r#"{"name": "write_file""#, "write_file"),
            (r#"{"name": "write_file", "argu"#, "write_file"),
            (r#"{"name": "write_file", "arguments":"#, "write_file"),
            (r#"{"id": "1", "name": "write_file","#, "write_file"),
            (r#"{"tool_calls": [{"function": {"name": "write_file", "#, "write_file"),
            ("```json\n{\"name\": \"write_file\", \"a", "write_file"),
            (r#"<tool_call>{"name": "write_file", "a"#, "write_file"),
        ],
        "length",
    );
    let got =
        read_as(&format!("[{LIST}, {{\"name\": \"write_file\", \"a"), &json!({"finish_reason": "length"}));
    assert_eq!(
        (got.content, got.calls, got.incomplete),
        (String::new(), both()[..1].to_vec(), vec!["write_file".into()])
    );
}

/// What is missing is only what closes: it is the same call, wherever the text ends behind its arguments.
#[test]
fn markup_that_is_cut_leaves_nothing() {
    let listed = vec![json!({"name": "list_dir", "arguments": {"path": "src"}})];
    for (text, from) in [
        (format!("<tool_call>\n{LIST}\n</tool_call>"), LIST),
        (format!("<TOOLCALL>[{LIST}]</TOOLCALL>"), LIST),
        ("<｜tool▁call▁begin｜>function<｜tool▁sep｜>list_dir\n```json\n{\"path\": \"src\"}\n```<｜tool▁call▁end｜>".into(), "\"src\"}"),
        ("<|channel|>commentary to=functions.list_dir<|message|>{\"path\": \"src\"}<|call|>".into(), "\"src\"}"),
        ("<|tool_call>call:list_dir{path:<|\"|>src<|\"|>}<tool_call|>".into(), "src<|\"|>}"),
        ("✿FUNCTION✿: list_dir\n✿ARGS✿: {\"path\": \"src\"}\n✿RESULT✿".into(), "\"src\"}"),
        ("Action:\n```json\n[{\"tool_name\": \"list_dir\", \"parameters\": {\"path\": \"src\"}}]\n```".to_owned(), "}}]"),
        (format!("{{\"tool_calls\": [{{\"function\": {{\"name\": \"list_dir\", \"arguments\": {}}}}}]}}", json!("{\"path\": \"src\"}")), "}\""),
    ] {
        let whole = text.find(from).unwrap() + from.len();
        for end in (whole..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let got = read_as(&text[..end], &json!({"finish_reason": "stop"}));
            assert_eq!((got.content.as_str(), &got.calls), ("", &listed), "{}", &text[..end]);
        }
    }
    check(vec![
        ("<tool_call>{\"name\": \"get_time\"}</tool_call> a < b", ("a < b", vec![("get_time", json!({}))])),
        ("<tool_call>{\"name\": \"get_time\"}</tool_call>\n`x`", ("`x`", vec![("get_time", json!({}))])),
        (
            "<tool_call>{\"name\": \"get_time\"}</tool_call>\n<b>x</b>",
            ("<b>x</b>", vec![("get_time", json!({}))]),
        ),
    ]);
}

#[test]
fn a_name_that_is_cut_names_nobody() {
    for text in [
        r#"{"name": "write_fi"#,
        r#"<tool_call>{"name": "write_fi"#,
        r#"<tool_call>{"name": "#,
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
        r#"{"name": "list_dir", "version": "1"#,
        r#"[{"name": "list_dir"}, {"name": "get_time", "#,
    ] {
        let got = read_as(text, &json!({"finish_reason": "length"}));
        assert_eq!((got.content.as_str(), got.calls.len(), got.incomplete.len()), (text, 0, 0), "{got:?}");
    }
    // An answer that is over may have said no more.
    let got = read_as(r#"{"name": "get_time""#, &json!({"finish_reason": "stop"}));
    assert_eq!((got.calls.len(), got.incomplete), (0, vec!["get_time".to_owned()]));
}

/// Functionary v3.2 says whom a message is for; where nothing is known of the model, only the shape tells.
#[test]
fn a_recipient_may_stand_before_its_arguments() {
    check(vec![
        (">>>list_dir\n{\"path\": \"a\"}", call("list_dir", json!({"path": "a"}))),
        (
            "Ok.\n>>>list_dir\n{\"path\": \"a\"}>>>get_time\n{}",
            ("Ok.", vec![("list_dir", json!({"path": "a"})), ("get_time", json!({}))]),
        ),
    ]);
    check_text(&[
        ">>>list_dir\n['a', 'b']",
        ">>> list_dir\n{'a'}",
        ">>>nobody\n{\"path\": \"a\"}",
        ">>>list_dir\n{\"path\": \"a\"}\nIs what it prints.",
        "Ok.\nlist_dir\n{\"path\": \"a\"}",
    ]);
}

#[test]
fn words_about_markup_are_words() {
    check_text(&[
        "For each call:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call>",
        "<tool_call>\n{\"name\": ..., \"arguments\": ...}\n</tool_call>",
        "Mistral says [TOOL_CALLS] [ { \"name\": ... } ] then.",
        "The token <｜tool▁call▁begin｜> begins a call, and <｜tool▁call▁end｜> ends it.",
        "Kimi has <|tool_call_begin|> and <|tool_call_end|> tokens.",
        "✿FUNCTION✿ and ✿ARGS✿ are marks.",
        "✿FUNCTION✿: f\n✿ARGS✿: what it is called with",
    ]);
    check(vec![
        (
            "[TOOL_CALLS]list_dir{\"path\": \"a\"}get_time{}",
            ("", vec![("list_dir", json!({"path": "a"})), ("get_time", json!({}))]),
        ),
        (
            "[TOOL_CALLS]list_dir{\"path\": \"a\"}\nget_time {is} another",
            ("get_time {is} another", vec![("list_dir", json!({"path": "a"}))]),
        ),
        ("<｜tool▁call▁begin｜>get_time<｜tool▁call▁end｜>", call("get_time", json!({}))),
        ("✿FUNCTION✿: list_dir\n✿ARGS✿: a", call("list_dir", json!({"path": "a"}))),
    ]);
}

/// What has no end of its own reaches no further than the reasoning or the code it stands in.
#[test]
fn a_draft_ends_where_the_reasoning_does() {
    for draft in [
        "✿FUNCTION✿: list_dir\n✿ARGS✿: {\"path\": \"a\"}\n✿RESULT✿ no.",
        "✿FUNCTION✿: run_command\n✿ARGS✿: ls",
        "<|channel|>commentary to=functions.run_command<|message|>ls",
        "<|recipient|>run_command\n<|content|>ls",
        "<|python_tag|>import os",
    ] {
        let got = read_as(&format!("<think>So: {draft}</think>Done."), &json!({}));
        let said = (got.content.as_str(), got.reasoning, got.calls.len(), got.incomplete.len());
        assert_eq!(said, ("Done.", format!("So: {draft}"), 0, 0));
        check_text(&[&format!("So:\n```\n{draft}\n```\nDone.")]);
    }
    let real = "<think>So:\n✿FUNCTION✿: list_dir\n✿ARGS✿: {\"path\": \"src\"}\n✿RESULT✿: a b";
    let got = read_as(real, &json!({}));
    assert_eq!((got.content.as_str(), got.reasoning.as_str(), got.calls), ("", "So:", both()[..1].to_vec()));
}
