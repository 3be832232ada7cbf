//! Gemma, ReAct, Command R and GLM-4-0414: what models write, and what must stay text.

use serde_json::json;

use crate::rows::{call, check, check_cut, check_text, cut_names, read};

#[test]
fn gemma_calls_are_read() {
    let a = || json!({"path": "a"});
    check(vec![
        (
            "<|tool_call>call:list_dir{path:<|\"|>the token <|\"|> quotes<|\"|>}<tool_call|>",
            call("list_dir", json!({"path": "the token <|\"|> quotes"})),
        ),
        (
            "<|tool_call>{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}}<tool_call|>",
            call("list_dir", a()),
        ),
        ("<|tool_call>call:list_dir{path:<|\"|>a<|\"|>}<tool_call|>", call("list_dir", a())),
        (
            "<|tool_call>call:list_dir{path:<|\"|>a<|\"|>,recursive:true,depth:2}<tool_call|> ok",
            ("ok", vec![("list_dir", json!({"path": "a", "recursive": true, "depth": 2}))]),
        ),
        (
            "<|tool_call>call:list_dir{path:<|\"|>a \"b\" {c}, d: ] <tool_call|> <b>'\n<|\"|>}<tool_call|>",
            call("list_dir", json!({"path": "a \"b\" {c}, d: ] <tool_call|> <b>'\n"})),
        ),
        ("<|tool_call>call:list_dir{path:\"a\"}<tool_call|>", call("list_dir", a())),
        ("<|tool_call>call:list_dir(path=\"a\")<tool_call|>", call("list_dir", a())),
        (
            "<|tool_call>call:list_dir(path: <|\"|>a<|\"|>, depth: 2)<tool_call|>",
            call("list_dir", json!({"path": "a", "depth": 2})),
        ),
        ("<|tool_call>call:mcp:fs:list_dir{path:<|\"|>a<|\"|>}<tool_call|>", call("list_dir", a())),
        ("<|tool_call>call:list_dir{path:a}<tool_call|>", call("list_dir", a())),
        (
            "<|tool_call>call:run_command{command:ls -la, then (more)}<tool_call|>",
            call("run_command", json!({"command": "ls -la, then (more)"})),
        ),
        (
            "<|tool_call>call:send{from:<|\"|>m<|\"|>,to:['x',\"it's\",<|\"|>y, z<|\"|>,],options:{a:[1,-2.5],b:{c:null,d:False},<|\"|>e f<|\"|>:<|\"|>}<|\"|>}}<tool_call|>",
            call(
                "send",
                json!({"from": "m", "to": ["x", "it's", "y, z"], "options": {"a": [1, -2.5], "b": {"c": null, "d": false}, "e f": "}"}}),
            ),
        ),
        ("<|tool_call>call:list_dir{path:<|\"|>a<|\"|>]}<tool_call|>", call("list_dir", a())),
        ("<|tool_call>call:list_dir{path:<|\"|>a<|\"|>}}]<tool_call|>", call("list_dir", a())),
        ("<|tool_call>call:list_dir{path:<|\"|>a<|\"|><tool_call|>", call("list_dir", a())),
        ("<|tool_call>call:list_dir{path:<|\"|>a<|\"|>}", call("list_dir", a())),
        (
            "<|tool_call>call:get_time{}<tool_call|><|tool_call>call:get_time{}<tool_call|>",
            ("", vec![("get_time", json!({})), ("get_time", json!({}))]),
        ),
        (
            "<|tool_call>call:get_time{}call:list_dir{path:<|\"|>a<|\"|>}<tool_call|>",
            ("", vec![("get_time", json!({})), ("list_dir", a())]),
        ),
        (
            "<|tool_call>call:teleport{to:<|\"|>Mars<|\"|>}<tool_call|>",
            call("teleport", json!({"to": "Mars"})),
        ),
        (
            "thought\nhm<|tool_call>call:get_time{}<tool_call|>",
            ("thought\nhm", vec![("get_time", json!({}))]),
        ),
        (
            "<start_function_call>call:list_dir{path:<escape>a<escape>,recursive:<escape>true<escape>,depth:<escape>2<escape>}<end_function_call>",
            call("list_dir", json!({"path": "a", "recursive": true, "depth": 2})),
        ),
        (
            "<start_function_call>call:run_command{command:<escape>3<escape>}<end_function_call><start_function_call>call:get_time{}<end_function_call>",
            ("", vec![("run_command", json!({"command": "3"})), ("get_time", json!({}))]),
        ),
    ]);
    check_text(&[
        "The token <|tool_call> opens a call.",
        "<|tool_call>nothing",
        "<|tool_call>call:list_dir",
        "<|tool_call>call: {",
        "<|tool_call>call:list_dir{path}<tool_call|>",
        "<start_function_call> and <end_function_call>",
        "thought\nI think.",
    ]);
    check_cut(
        &[
            ("<|tool_call>call:list_dir{path:<|\"|>a", "list_dir"),
            ("<|tool_call>call:list_dir{path:<|\"|>a<|\"", "list_dir"),
            ("<|tool_call>call:list_dir{path:<|\"|>a<|\"|>,recursive:tr", "list_dir"),
            ("<|tool_call>call:list_dir{path:<|\"|>a<|\"|>,", "list_dir"),
            ("<|tool_call>call:send{from:<|\"|>a<|\"|>,to:[<|\"|>b", "send"),
            ("<|tool_call>call:list_dir{", "list_dir"),
            ("<start_function_call>call:list_dir{path:<escape>a", "list_dir"),
        ],
        "length",
    );
}

#[test]
fn a_long_gemma_text_is_given_out_while_it_comes() {
    let text: String = (0..200).map(|n| format!("<p class=\"x\">{n}</p> }}]<tool_call|>\n")).collect();
    let got = read(
        &format!(
            "Hi<|tool_call>call:write_file{{file_path:<|\"|>f<|\"|>,content:<|\"|>{text}<|\"|>}}<tool_call|>"
        ),
        "stop",
    );
    assert_eq!(got.content, "Hi");
    assert_eq!(got.calls, [json!({"name": "write_file", "arguments": {"file_path": "f", "content": text}})]);
    let cut =
        read(&format!("<|tool_call>call:write_file{{file_path:<|\"|>f<|\"|>,content:<|\"|>{text}"), "length");
    assert_eq!((cut.content.as_str(), cut_names(&cut)), ("", vec!["write_file".to_owned()]));
}

#[test]
fn react_lines_are_calls() {
    let a = || json!({"path": "a"});
    check(vec![
        ("Action: list_dir\nAction Input: {\"path\": \"a\"}\nObservation", call("list_dir", a())),
        ("Action: list_dir\nAction Input: {\"path\": \"a\"}", call("list_dir", a())),
        (
            "Thought: hm\n\n**Action:** list_dir\n**Action Input:** {\"path\": \"a\"}\n",
            ("Thought: hm", vec![("list_dir", a())]),
        ),
        (
            "**Action**: `list_dir`\n**Action Input**:\n```json\n{\"path\": \"a\"}\n```\n",
            call("list_dir", a()),
        ),
        (
            "Action: list_dir\nAction Input: {\"path\": \"a\"}\nObservation: x\nAction: get_time\nAction Input: {}\nObservation: y\nFinal Answer: z",
            call("list_dir", a()),
        ),
        ("Action: list_dir\nAction Input: {\"path\": \"a\"}\n\n**Observation:** x", call("list_dir", a())),
        ("Action: get_time\nAction Input:\n", call("get_time", json!({}))),
        ("Action: get_time\nAction Input: None\nObservation: 5", call("get_time", json!({}))),
        (
            "Action: get_time\nAction Input: {}\nAction: list_dir\nAction Input: {\"path\": \"a\"}",
            ("", vec![("get_time", json!({})), ("list_dir", a())]),
        ),
    ]);
    check_text(&[
        "Action: teleport\nAction Input: {}",
        "Action: list_dir done\nAction Input: ok",
        "2024-05-01 Action: list_dir\n2024-05-01 Action Input: {}",
        "Action: list_dir",
        "Action: list_dir\n",
        "Action: list_dir\nResult: ok",
        "Action: list_dir\nAction Input: {\"path\": \"a\"}\nThis is how ReAct looks.",
        "Action: send\nAction Input: hello",
        "Actions speak louder.",
        "Action",
        "Thought: I know.\nFinal Answer: 42\nObservation: none",
    ]);
    check_cut(
        &[
            ("Action: list_dir\nAction Input: {\"path\": \"a", "list_dir"),
            ("Action: run_command\nAction Input: ls", "run_command"),
        ],
        "length",
    );
}

#[test]
fn a_plain_input_is_the_only_text_of_the_tool() {
    // Where the string belongs is for `settle` to say; here it is only taken as the arguments.
    for (text, string) in [
        ("Action: run_command\nAction Input: ls -la", "ls -la"),
        ("Action: run_command\nAction Input: \"ls -la\"\nObservation: x", "ls -la"),
        ("Action: run_command\nAction Input: a\nb\n\nObservation: x\ny", "a\nb"),
    ] {
        let got = read(text, "stop");
        assert_eq!(got.content, "", "{text}");
        let arguments = &got.calls[0]["arguments"];
        assert!(
            *arguments == json!(string) || *arguments == json!({"command": string}),
            "{text}: {arguments}"
        );
    }
}

#[test]
fn command_r_actions_are_calls() {
    let query = || json!({"query": "q"});
    let search = "{\"tool_name\": \"brave_search\", \"parameters\": {\"query\": \"q\"}}";
    let answer = "{\"tool_name\": \"directly-answer\", \"parameters\": {}}";
    let fenced = |items: &str| format!("Plan: I search.\nAction: ```json\n[\n{items}\n]\n```");
    let both = fenced(&format!("{answer},\n{search}"));
    let none = format!("{}\nAnswer: 42", fenced(&answer.replace('-', "_")));
    check(vec![
        (&fenced(search), ("Plan: I search.", vec![("brave_search", query())])),
        (&format!("Action:\n[{search}]"), call("brave_search", query())),
        (&both, ("Plan: I search.", vec![("brave_search", query())])),
        (&none, ("Plan: I search.\n\nAnswer: 42", vec![])),
        (
            "Action:\n```json\n{\"action\": \"brave_search\", \"action_input\": {\"query\": \"q\"}}\n```",
            call("brave_search", query()),
        ),
    ]);
    check_text(&[
        &format!("{}\nThat is how it looks.", fenced(search)),
        &fenced("{\"tool_name\": \"teleport\", \"parameters\": {}}"),
        "Action:\n```json\n[]\n```",
        "Action:\n- look\n- leap",
    ]);
}

#[test]
fn a_name_alone_before_json_is_a_call_only_at_the_start() {
    check(vec![
        ("list_dir\n{\"path\": \"a\"}", call("list_dir", json!({"path": "a"}))),
        ("\nlist_dir \n{\"path\": \"a\"}\n", call("list_dir", json!({"path": "a"}))),
    ]);
    check_text(&[
        "Well.\nlist_dir\n{\"path\": \"a\"}",
        "list_dir\n{\"path\": \"a\"}\nis the call",
        "teleport\n{\"to\": \"Mars\"}",
        "list_dir\n\nlists.",
        "list_dir\n",
        "list_dir and\n{}",
    ]);
    check_cut(&[("list_dir\n{\"path\": \"a", "list_dir")], "length");
}
