//! Python calls, Gemma, ReAct, Command R and GLM-4-0414: what models write, and what must stay text.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::decode::{Case, Decoded};

fn tools() -> Value {
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
fn read(text: &str, finish: &str) -> Decoded {
    let case = Case(
        json!({"id": "x", "kind": "text", "chunks": [text], "tools": tools(), "options": {"finish_reason": finish}}),
    );
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

type Expected = (&'static str, Vec<(&'static str, Value)>);

fn check(rows: Vec<(&str, Expected)>) {
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

fn call(name: &'static str, arguments: Value) -> Expected {
    ("", vec![(name, arguments)])
}

/// Each of these is text and nothing else.
fn check_text(texts: &[&str]) {
    for text in texts {
        let got = read(text, "stop");
        assert_eq!((got.content.as_str(), got.calls.len(), got.incomplete.len()), (*text, 0, 0), "{got:?}");
    }
}

/// The text is cut in a call of this tool: it is said to be incomplete, or can't be taken for whole.
fn check_cut(rows: &[(&str, &str)], finish: &str) {
    for (text, name) in rows {
        let got = read(text, finish);
        assert_eq!(
            (got.content.as_str(), cut_names(&got)),
            ("", vec![(*name).to_owned()]),
            "{text}: {got:?}"
        );
    }
}

fn cut_names(got: &Decoded) -> Vec<String> {
    let faulty = |call: &Value| {
        assert!(call["fault"].is_string(), "{call}");
        call["name"].as_str().unwrap().to_owned()
    };
    got.calls.iter().map(faulty).chain(got.incomplete.clone()).collect()
}

#[test]
fn python_lists_are_calls() {
    let one = |path: &str| json!({"path": path});
    check(vec![
        ("[list_dir(path=\"a\")]", call("list_dir", one("a"))),
        ("[ list_dir( path = 'a' , ) , ]", call("list_dir", one("a"))),
        ("[list_dir(path=\"a\"), get_time()]", ("", vec![("list_dir", one("a")), ("get_time", json!({}))])),
        (
            "[\n  list_dir(\n    path=\"a\",  # here\n    recursive=True,\n  ),\n  get_time()\n]",
            ("", vec![("list_dir", json!({"path": "a", "recursive": true})), ("get_time", json!({}))]),
        ),
        ("Sure.\n\n[get_time()]\n", ("Sure.", vec![("get_time", json!({}))])),
        ("[get_time()]<|eot_id|>", call("get_time", json!({}))),
        ("[get_time()]<|python_end|>", call("get_time", json!({}))),
        ("[get_time()]\n[list_dir(path='b')]", ("", vec![("get_time", json!({})), ("list_dir", one("b"))])),
        ("[list_dir('a', True)]", call("list_dir", json!({"path": "a", "recursive": true}))),
        ("[list_dir('a', depth=2)]", call("list_dir", json!({"path": "a", "depth": 2}))),
        ("[list_dir({'path': 'a'})]", call("list_dir", one("a"))),
        ("[list_dir(**{'path': 'a'})]", call("list_dir", one("a"))),
        ("[fs.stat(path='a')]", call("fs.stat", one("a"))),
        (
            "[send(from='me', to=('a', 'b'), options={'cc': {'x'}, 'n': -007, 'f': 1_0.5, 'ok': false, 'none': None})]",
            call(
                "send",
                json!({"from": "me", "to": ["a", "b"], "options": {"cc": ["x"], "n": -7, "f": 10.5, "ok": false, "none": null}}),
            ),
        ),
        ("[list_dir(path=f'a{{1}}')]", call("list_dir", one("a{1}"))),
        ("[list_dir(path='a' \"b\"\n r'\\c')]", call("list_dir", one("ab\\c"))),
        (
            "[list_dir(path='a)]', recursive=False)]",
            call("list_dir", json!({"path": "a)]", "recursive": false})),
        ),
        ("[list_dir(path='it\\'s \\\\')]", call("list_dir", one("it's \\"))),
        ("[run_command(command='a\nb')]", call("run_command", json!({"command": "a\nb"}))),
        (
            "[run_command(command=\"\"\"say \"hi\"\"\"\")]",
            call("run_command", json!({"command": "say \"hi\""})),
        ),
        ("[run_command(command='sed -n '1p' f')]", call("run_command", json!({"command": "sed -n '1p' f"}))),
        (
            "[run_command(command='sed -n '1p' f')]<|eot_id|>",
            call("run_command", json!({"command": "sed -n '1p' f"})),
        ),
        ("[send(from='a', to=['it's'])]", call("send", json!({"from": "a", "to": ["it's"]}))),
        ("[list_dir(path='\\u00e9\\ud83d\\ude00\\x41\\d')]", call("list_dir", one("é😀A\\d"))),
    ]);
}

#[test]
fn python_lines_are_calls() {
    check(vec![
        ("list_dir(path='a')", call("list_dir", json!({"path": "a"}))),
        (
            "get_time()\nlist_dir(path='a')\n",
            ("", vec![("get_time", json!({})), ("list_dir", json!({"path": "a"}))]),
        ),
        ("I look.\nget_time()", ("I look.", vec![("get_time", json!({}))])),
        ("run_command(command='grep 'x' f')", call("run_command", json!({"command": "grep 'x' f"}))),
        ("send(from='a', to=[])", call("send", json!({"from": "a", "to": []}))),
    ]);
}

#[test]
fn python_in_tokens_is_strong() {
    let a = || json!({"path": "a"});
    check(vec![
        ("<|python_start|>[list_dir(path='a')]<|python_end|><|eot|>", call("list_dir", a())),
        ("<|python_start|>list_dir(path='a')<|python_end|> Done.", ("Done.", vec![("list_dir", a())])),
        (
            "<|python_start|>[list_dir(path='a'), get_time()]",
            ("", vec![("list_dir", a()), ("get_time", json!({}))]),
        ),
        (
            "<|python_start|>{\"name\": \"list_dir\", \"parameters\": {\"path\": \"a\"}}<|python_end|>",
            call("list_dir", a()),
        ),
        ("<|python_start|>[teleport(to='Mars')]<|python_end|>", call("teleport", json!({"to": "Mars"}))),
        ("<|python_start|>[list_dir('a')]<|python_end|>", call("list_dir", a())),
        (
            "<|python_start|>[run_command(command='sed -n '1p' f'), get_time()]<|python_end|>",
            ("", vec![("run_command", json!({"command": "sed -n '1p' f"})), ("get_time", json!({}))]),
        ),
        (
            "Now <function_calls>\nget_time()\n\nlist_dir(path=\"a\")\n</function_calls> ok",
            ("Now\nok", vec![("get_time", json!({})), ("list_dir", a())]),
        ),
        ("<function_calls>list_dir(path=\"a\")</function_calls>", call("list_dir", a())),
        ("<function_calls>\nlist_dir(path=\"a\")", call("list_dir", a())),
        (
            "<|tool_call_start|>[list_dir(path=\"a\")]<|tool_call_end|>[list_dir(path=\"a\")]",
            call("list_dir", a()),
        ),
        (
            "<|tool_call_start|>[list_dir(path=\"a\")]<|tool_call_end|>\n[list_dir(path=\"a\")] It is.",
            ("It is.", vec![("list_dir", a())]),
        ),
        (
            "<|tool_call_start|>[get_time()]<|tool_call_end|><|tool_call_start|>[get_time()]<|tool_call_end|>",
            ("", vec![("get_time", json!({})), ("get_time", json!({}))]),
        ),
        (
            "<|python_tag|>brave_search.call(query=\"x y\")<|eom_id|>",
            call("brave_search", json!({"query": "x y"})),
        ),
        (
            "<|python_tag|>brave_search.call(query='a'); get_time.call()",
            ("", vec![("brave_search", json!({"query": "a"})), ("get_time", json!({}))]),
        ),
        (
            "<|python_start|>[list_dir(path='</function_calls>')]<|python_end|>",
            call("list_dir", json!({"path": "</function_calls>"})),
        ),
    ]);
}

#[test]
fn tool_code_fences_are_strong() {
    let a = || json!({"path": "a"});
    check(vec![
        ("```tool_code\nlist_dir(path='a')\n```", call("list_dir", a())),
        (
            "Look:\n```tool_code\nprint(list_dir(path='a'))\n```\nthat was it",
            ("Look:\nthat was it", vec![("list_dir", a())]),
        ),
        (
            "```tool_code\n# first\nget_time()\nprint(list_dir('a'))\n",
            ("", vec![("get_time", json!({})), ("list_dir", a())]),
        ),
        (
            "```tool_code\n[get_time(), list_dir(path='a')]\n```",
            ("", vec![("get_time", json!({})), ("list_dir", a())]),
        ),
        ("```tool_code\nlist_dir(path='a')```", call("list_dir", a())),
        ("```tool_code\nteleport(to='Mars')\n```", call("teleport", json!({"to": "Mars"}))),
        (
            "```tool_code\nrun_command(command='echo ```')\n```",
            call("run_command", json!({"command": "echo ```"})),
        ),
    ]);
    check_text(&[
        "```tool_code\nprint('hi')\n```",
        "```tool_code\nx = list_dir(path=p)\n```\nand\n```\nplain\n```",
        "```tool_code\nget_time()\nx + 1\n```",
        "```tool_codes\nget_time()\n```",
        "Gemma uses ```tool_code fences.",
        "Gemma uses ```tool_code get_time()``` fences.",
        "```tool_code\n```",
        "```tool_code",
        "```md\n```tool_code\nget_time()\n```\nmore",
    ]);
}

#[test]
fn python_that_is_no_call_is_text() {
    check_text(&[
        "print(sum([1, 2, 3]))",
        "print(list_dir(path='a'))",
        "teleport(to='Mars')",
        "list_dir",
        "list_dir(",
        "list_dir('a')",
        "list_dir(path: str) -> list",
        "list_dir(path='a') lists a folder.",
        "list_dir(path='a')\nlists a folder.",
        "list_dir(path=p)",
        "list_dir(path='a' + 'b')",
        "list_dir(path=f'{x}')",
        "list_dir (path='a')",
        "list_dir[0]",
        "  - list_dir(path='a')",
        "Use list_dir(path='a')",
        "`list_dir(path='a')`",
        "[list_dir](https://example.org)",
        "[list_dir(path='a')](https://example.org)",
        "[list_dir(path='a'), 3]",
        "[list_dir, get_time]",
        "[list_dir(path='a'), teleport()]",
        "[1, 2, 3]",
        "[run_command(command='a' b)]",
        "[run_command(command='a' 'b', 'c' d')]",
        "```python\nlist_dir(path='a')\n```",
        "The block <|python_start|> begins Python.",
        "<function_calls> is a tag",
        "<function_calls>\nimport os\n</function_calls>",
        "<|python_start|>[1, 2]<|python_end|>",
        "<|tool_call_start|>nothing<|tool_call_end|>",
    ]);
}

#[test]
fn python_that_is_cut_is_incomplete() {
    let rows = [
        ("[list_dir(path=\"a", "list_dir"),
        ("[list_dir(path=\"a\\", "list_dir"),
        ("[list_dir(path=\"a\\u00", "list_dir"),
        ("<|python_start|>[list_dir(path='a', recursive=Tr", "list_dir"),
        ("<|python_start|>[list_dir(path='a', rec", "list_dir"),
        ("<|python_start|>[list_dir(path='a',", "list_dir"),
        ("<|python_start|>[send(from='a', to=['b', 'c", "send"),
        ("<|python_start|>[list_dir(", "list_dir"),
        ("```tool_code\nprint(list_dir(path='a", "list_dir"),
        ("list_dir(path='a", "list_dir"),
    ];
    check_cut(&rows, "length");
    check_cut(&[("<|python_start|>[list_dir(path='a', recursive=", "list_dir")], "stop");
}

#[test]
fn a_long_string_is_given_out_while_it_comes() {
    let text: String =
        (0..400).map(|n| format!("line {n}: \"quoted\" )] </function_calls> {{}}\n")).collect();
    let literal = text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n");
    let expected = json!({"file_path": "f", "content": text});
    for whole in [
        format!(
            "Go. <|python_start|>[write_file(file_path='f', content='{literal}'), get_time()]<|python_end|>"
        ),
        format!("Go.\n[write_file(file_path='f', content='{literal}'), get_time()]"),
        format!("Go.\n```tool_code\nwrite_file(file_path='f', content='''{text}''')\nget_time()\n```"),
    ] {
        let got = read(&whole, "stop");
        assert_eq!(got.content, "Go.");
        assert_eq!(
            got.calls,
            [
                json!({"name": "write_file", "arguments": expected}),
                json!({"name": "get_time", "arguments": {}})
            ]
        );
    }
    let cut = read(&format!("<|python_start|>[write_file(file_path='f', content='{literal}"), "length");
    assert_eq!((cut.content.as_str(), cut_names(&cut)), ("", vec!["write_file".to_owned()]));
    // Once it is given out, a quote that nobody escaped can only be part of the text.
    let nested = format!("{literal} it's 'x', so) ok");
    let got = read(
        &format!("<|python_start|>[write_file(file_path='f', content='{nested}')]<|python_end|>"),
        "stop",
    );
    assert_eq!(
        got.calls,
        [
            json!({"name": "write_file", "arguments": {"file_path": "f", "content": format!("{text} it's 'x', so) ok")}})
        ]
    );
}

#[test]
fn gemma_calls_are_read() {
    let a = || json!({"path": "a"});
    check(vec![
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
        "Action: list_dir\nAction Input: a\n",
        "Action: run_command\nAction Input: ",
        "list_dir\n{",
        "<function_calls>list_dir(path='",
    ] {
        let text = word.repeat(400_000 / word.len());
        let case = Case(json!({"id": "x", "kind": "text", "chunks": [text], "tools": tools, "options": {}}));
        let pieces: Vec<&str> =
            text.as_bytes().chunks(4096).map(|piece| str::from_utf8(piece).unwrap()).collect();
        let began = std::time::Instant::now();
        case.decode(pieces);
        eprintln!("{word:?} {:?}", began.elapsed());
    }
}
