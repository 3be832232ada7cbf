//! Calls as Python: what models write, and what must stay text.

use serde_json::json;

use crate::rows::{call, check, check_cut, check_text, cut_names, read};

#[test]
fn python_lists_are_calls() {
    let one = |path: &str| json!({"path": path});
    check(vec![
        ("```\n[list_dir(path='a')]\n```", call("list_dir", one("a"))),
        (
            "```tool_call\n[list_dir(path='a'), get_time()]\n```",
            ("", vec![("list_dir", one("a")), ("get_time", json!({}))]),
        ),
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
        (
            "list_dir(path='a')  # the folder\nget_time()",
            ("", vec![("list_dir", json!({"path": "a"})), ("get_time", json!({}))]),
        ),
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
        "list_dir(path='a) is how to call it.",
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
