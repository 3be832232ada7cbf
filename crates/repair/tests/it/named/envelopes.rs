use serde_json::json;

use super::{check, dir, row};

#[test]
fn envelopes_differ_only_in_their_tags() {
    let one = r#"{"name": "list_dir", "arguments": {"path": "a"}}"#;
    let two = r#"{"name": "get_time", "arguments": {}}"#;
    let long = "e".repeat(4000);
    let tags = [
        ("<function_call>", "</function_call>"),
        ("<|tool_call|>", "<|/tool_call|>"),
        ("<|tool_call|>", "</|tool_call|>"),
        ("<|python_tag|>", "<|eom_id|>"),
        ("<|python_start|>", "<|python_end|>"),
        ("<|tool_call_start|>", "<|tool_call_end|>"),
        ("<|START_ACTION|>", "<|END_ACTION|>"),
        ("<tool_calls>", "</tool_calls>"),
        ("<|action_start|><|plugin|>", "<|action_end|>"),
        ("<|action_start|> <|plugin|>", "<|action_end|>"),
        ("<TOOLCALL>", "</TOOLCALL>"),
        ("<|function_call|>", "<|message_sep|>"),
        ("function call<|role_sep|>", ""),
        ("<|content_invoke_tool_json|>", "<|end_message|>"),
        ("<|tools_prefix|>", "<|tools_suffix|>"),
    ];
    for (open, close) in tags {
        let big = format!(
            r#"{{"name": "write_file", "arguments": {{"file_path": "{close}", "content": "{long}"}}}}"#
        );
        check(vec![
            row(&format!("Hi. {open}{one}{close}\nBye.")).says("Hi.\nBye.").call("list_dir", dir("a")),
            row(&format!("{open}\n[{one}, {two}]\n{close}"))
                .call("list_dir", dir("a"))
                .call("get_time", json!({})),
            row(&format!("{open}\n{one}\n{two}\n{close}"))
                .call("list_dir", dir("a"))
                .call("get_time", json!({})),
            row(&format!("{open}{one}{close}\n{open}{two}{close}"))
                .call("list_dir", dir("a"))
                .call("get_time", json!({})),
            row(&format!("{open}[{two}, {big}, {one}]{close}"))
                .call("get_time", json!({}))
                .call("write_file", json!({"file_path": close, "content": long}))
                .call("list_dir", dir("a")),
            row(&format!("{open}{one}")).call("list_dir", dir("a")),
            row(&format!("{open}{}{close}", r#"{"name": "nope", "arguments": {}}"#))
                .unknown("nope", json!({})),
            row(&format!("{open}{}", big.get(..3000).unwrap())).cut("write_file"),
            row(&format!("{open}[{two}, {}", r#"{"name": "write_file", "arguments": {"file_path": "a"#))
                .call("get_time", json!({}))
                .cut("write_file"),
        ]);
    }
}

#[test]
fn tags_that_are_only_mentioned_are_text() {
    let opened = [
        "<function_call>",
        "<|tool_call|>",
        "<|python_tag|>",
        "<|python_start|>",
        "<|tool_call_start|>",
        "<|START_ACTION|>",
        "<tool_calls>",
        "<|action_start|> <|plugin|>",
        "<TOOLCALL>",
        "<|function_call|>",
        "<|content_invoke_tool_json|>",
        "<|tools_prefix|>",
        "<|tool_call:begin|>",
        "✿FUNCTION✿",
        "<tool>",
        "<tools>",
        "<json>",
        "<response>",
        "<answer>",
        "functools[",
        "<|START_RESPONSE|>",
        "[BEGIN FINAL RESPONSE]",
        "<|END_RESPONSE|>",
    ];
    for open in opened {
        for text in [
            format!("The opener {open} starts it."),
            format!("Quoted: `{open}` and on."),
            format!("It ends with {open}"),
            format!("A fence:\n```\n{open}\n```\nand text."),
        ] {
            if open.contains("END_") && text.ends_with(open) {
                continue;
            }
            let got = row(&text).case().decode([text.as_str()]);
            assert_eq!((got.content.as_str(), got.calls.len()), (text.as_str(), 0), "{text}");
        }
    }
    check(vec![
        row("import functools\nfunctools[0] and functools.wraps")
            .says("import functools\nfunctools[0] and functools.wraps"),
        row("<tool>{\"name\": \"nope\", \"arguments\": {}}</tool>")
            .says("<tool>{\"name\": \"nope\", \"arguments\": {}}</tool>"),
        row("<json>{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}} is it")
            .says("<json>{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}} is it"),
        row("<tools>{\"name\": \"list_dir\", \"description\": \"d\", \"parameters\": {}}</tools>")
            .says("<tools>{\"name\": \"list_dir\", \"description\": \"d\", \"parameters\": {}}</tools>"),
        row("<answer>four</answer>").says("<answer>four</answer>"),
        row("<response>four</response>").says("<response>four</response>"),
        row("<function_call>{\"a\": 1}</function_call>").says("<function_call>{\"a\": 1}</function_call>"),
        row("<tool_calls>[]</tool_calls>").says("<tool_calls>[]</tool_calls>"),
    ]);
}

#[test]
fn wrong_tags_need_the_exact_shape() {
    for (open, close) in
        [("<tool>", "</tool>"), ("<tools>", "</tools>"), ("<json>", "</json>"), ("<response>", "</response>")]
    {
        check(vec![
            row(&format!("Look: {open}\n{{\"name\": \"list_dir\", \"arguments\": {{\"path\": \"a\"}}}}\n{close} Then more."))
                .says("Look:\nThen more.")
                .call("list_dir", dir("a")),
            row(&format!("{open}[{{\"name\": \"list_dir\", \"arguments\": {{\"path\": \"a\"}}}}, {{\"name\": \"get_time\", \"arguments\": {{}}}}]{close}"))
                .call("list_dir", dir("a"))
                .call("get_time", json!({})),
            row(&format!("{open}{{\"name\": \"write_file\", \"arguments\": {{\"file_path\": \"a\", \"content\": \"{}\"}}}}{close}", "w".repeat(3000)))
                .call("write_file", json!({"file_path": "a", "content": "w".repeat(3000)})),
            row(&format!("{open}{{\"name\": \"write_file\", \"arguments\": {{\"file_path\": \"a")).cut("write_file"),
        ]);
    }
}

#[test]
fn the_rest_of_the_zoo() {
    check(vec![
        row("functools[{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}}, {\"name\": \"get_time\", \"arguments\": {}}]")
            .call("list_dir", dir("a"))
            .call("get_time", json!({})),
        row("Right. functools[{\"name\": \"get_time\", \"arguments\": {}}] Then.").says("Right.\nThen.").call("get_time", json!({})),
        row("<tool_calls>\n<tool_call>{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}}</tool_call>\n<tool_call>{\"name\": \"get_time\", \"arguments\": {}}</tool_call>\n</tool_calls>")
            .call("list_dir", dir("a"))
            .call("get_time", json!({})),
        row("<|tools_prefix|>[{\"list_dir\": {\"path\": \"a\"}}, {\"get_time\": {}}]<|tools_suffix|>Bye.")
            .call("list_dir", dir("a"))
            .call("get_time", json!({}))
            .says("Bye."),
        row("<|tools_prefix|>[{\"nope\": {\"a\": [1]}}]<|tools_suffix|>").unknown("nope", json!({"a": [1]})),
        row("<|tools_prefix|>[{\"write_file\": {\"file_path\": \"a").cut("write_file"),
        row("<|inner_prefix|>Hm.<|inner_suffix|><|tools_prefix|>[{\"get_time\": {}}]").thinks("Hm.").call("get_time", json!({})),
        row("<|tool_call:begin|>x1<|tool_call:name|>list_dir<|tool_call:args|>{\"path\": \"a\"}<|tool_call:end|><|tool_call:begin|>x2<|tool_call:name|>get_time<|tool_call:args|>{}<|tool_call:end|>")
            .call("list_dir", dir("a"))
            .call("get_time", json!({})),
        row("<|tool_call:begin|>x1<|tool_call:name|>write_file<|tool_call:args|>{\"file_path\": \"a").cut("write_file"),
        row("✿FUNCTION✿: list_dir\n✿ARGS✿: {\"path\": \"a\"}\n✿FUNCTION✿: get_time\n✿ARGS✿: {}\n✿RESULT✿: made up\n✿RETURN✿: Done.")
            .call("list_dir", dir("a"))
            .call("get_time", json!({}))
            .says("Done."),
        row("✿FUNCTION✿: python\n✿ARGS✿: print(1)✿RESULT✿").call("python", json!({"code": "print(1)"})),
        row("Now.<|python_tag|>import os\nprint(os.getcwd())<|eom_id|>")
            .says("Now.")
            .call("python", json!({"code": "import os\nprint(os.getcwd())"})),
        row(&format!("<|python_tag|>x = \"{}\"", "p".repeat(2000))).call("python", json!({"code": format!("x = \"{}\"", "p".repeat(2000))})),
        row("<|python_tag|>print(").cut("python"),
        row("<|START_RESPONSE|>Hello.<|END_RESPONSE|>").says("Hello."),
        row("<|START_THINKING|>Hm.<|END_THINKING|><|START_TEXT|>Hello <b>you</b>.<|END_TEXT|><|END_OF_TURN_TOKEN|>").thinks("Hm.").says("Hello <b>you</b>."),
        row("Steps.\n[BEGIN FINAL RESPONSE]\nFour.\n[END FINAL RESPONSE]\n<|end|>").says("Steps.\nFour."),
        row("<answer>\nFour.\n</answer>").hint("hunyuan").says("Four."),
        row("<think>Hm.</think><answer>Four.</answer>").hint("hunyuan").thinks("Hm.").says("Four."),
        row("<answer>{\"name\": \"get_time\", \"arguments\": {}}</answer>").hint("hunyuan").call("get_time", json!({})),
        row("<think>[{\"name\": \"get_time\"}] <tool_calls>[{\"name\": \"get_time\", \"arguments\": {}}]</tool_calls></think><answer>No.</answer>")
            .hint("hunyuan")
            .thinks("[{\"name\": \"get_time\"}] <tool_calls>[{\"name\": \"get_time\", \"arguments\": {}}]</tool_calls>")
            .says("No."),
        row("<response>{\"name\": \"get_time\", \"arguments\": {}}</response>").hint("ernie").call("get_time", json!({})),
        row("{\"name\": \"multi_tool_use.parallel\", \"arguments\": {\"tool_uses\": [{\"recipient_name\": \"get_time\", \"parameters\": {}}, {\"recipient_name\": \"list_dir\", \"parameters\": {\"path\": \"a\"}}]}}")
            .call("get_time", json!({}))
            .call("list_dir", dir("a")),
        row("<tool_call>{\"tool_uses\": [{\"recipient_name\": \"get_time\", \"parameters\": {}}]}</tool_call>").call("get_time", json!({})),
        row("<function_call> {\"name\": \"get_time\", \"arguments\": {}}<function_call> {\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}}<|endoftext|>")
            .call("get_time", json!({}))
            .call("list_dir", dir("a")),
        // What was read before a broken one stands.
        row("<|tool_call|>[{\"name\": \"get_time\", \"arguments\": {}}, {\"a\": 1}]").call("get_time", json!({})).says("{\"a\": 1}]"),
    ]);
}
