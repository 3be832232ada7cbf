//! Long calls in tags leave as they come, and hostile text costs no more than its length.

use proptest::prelude::*;
use serde_json::json;

use crate::tags_common::{call, calls, check, cut, given_early, prose};

/// More than is held back.
fn long(inner: &str) -> String {
    let line = "let x = \"a < b\\n\"; // <tag> & 'é' </tag>\n";
    format!("{}{inner}\n{}end", line.repeat(40), line.repeat(40))
}

/// A call of `write_file` with a long value in each format, and what may stand in the value that looks like its end.
fn formats(value: &str) -> Vec<(&'static str, String)> {
    let qwen = format!(
        "<function=write_file>\n<parameter=file_path>\na\n</parameter>\n<parameter=content>\n{value}\n</parameter>\n</function>"
    );
    vec![
        ("qwen", format!("<tool_call>\n{qwen}\n</tool_call>")),
        ("qwen, bare", qwen),
        ("glm", format!("<tool_call>write_file<arg_key>file_path</arg_key><arg_value>a</arg_value><arg_key>content</arg_key><arg_value>{value}</arg_value></tool_call>")),
        ("invoke", format!("<function_calls><invoke name=\"write_file\"><parameter name=\"file_path\">a</parameter><parameter name=\"content\">{value}</parameter></invoke></function_calls>")),
        ("invoke on lines", format!("<function_calls>\n<invoke name=\"write_file\">\n<parameter name=\"file_path\">a</parameter>\n<parameter name=\"content\">\n{value}\n</parameter>\n</invoke>\n</function_calls>")),
        ("dsml", format!("<｜DSML｜tool_calls><｜DSML｜invoke name=\"write_file\"><｜DSML｜parameter name=\"file_path\" string=\"true\">a</｜DSML｜parameter><｜DSML｜parameter name=\"content\" string=\"true\">{value}</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>")),
        ("step3", format!("<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"write_file\"><steptml:parameter name=\"file_path\">a</steptml:parameter><steptml:parameter name=\"content\">{value}</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>")),
        ("kimi", format!("<|open|>tools<|sep|><|open|>call tool=\"write_file\" index=\"1\"<|sep|><|open|>argument key=\"file_path\" type=\"string\"<|sep|>a<|close|>argument<|sep|><|open|>argument key=\"content\" type=\"string\"<|sep|>{value}<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>")),
        ("m3", format!("@<tool_call>@<invoke name=\"write_file\">@<file_path>a@</file_path>@<content>{value}@</content>@</invoke>@</tool_call>").replace('@', "]<]minimax[>[")),
        ("minicpm", format!("<function name=\"write_file\"><param name=\"file_path\">a</param><param name=\"content\"><![CDATA[{value}]]></param></function>")),
        ("legacy", format!("<function_calls><invoke><tool_name>write_file</tool_name><parameters><file_path>a</file_path><content>{value}</content></parameters></invoke></function_calls>")),
    ]
}

const CLOSERS: &str = "</parameter> a </function> b </tool_call> c </arg_value> d </invoke> e </｜DSML｜parameter> f <|close|>argument<|sep|> g </param> h ]]> i </content> j <parameter=content> k";

#[test]
fn a_value_may_hold_calls_of_its_own_format() {
    let mut rows = Vec::new();
    for (why, example) in formats("x") {
        // The tags of the one mean the same at any depth, and what ends the values of the other can't stand in them.
        if matches!(why, "m3" | "minicpm") {
            continue;
        }
        for value in [example.clone(), format!("So:\n{example}\nor\n{example}\nor {}", long(""))] {
            let text = formats(&value).into_iter().find(|(other, _)| *other == why);
            let arguments = json!({"file_path": "a", "content": value});
            rows.extend(text.map(|(_, text)| calls(why, text, json!([call("write_file", arguments)]))));
        }
    }
    check(&rows);
}

#[test]
fn a_long_value_comes_whole() {
    for inner in ["", CLOSERS] {
        let value = long(inner);
        let rows: Vec<_> = formats(&value)
            .into_iter()
            .map(|(why, text)| {
                let expected = json!([call("write_file", json!({"file_path": "a", "content": value}))]);
                calls(why, format!("So:\n{text}\nDone."), expected).saying("So:\nDone.")
            })
            .collect();
        check(&rows);
    }
}

#[test]
fn a_long_value_that_is_cut_is_no_call() {
    let value = long(CLOSERS);
    let rows: Vec<_> = formats(&value)
        .into_iter()
        .map(|(why, text)| {
            let at = text.find("end").unwrap();
            cut(why, &text[..at], &["write_file"])
        })
        .collect();
    check(&rows);
}

#[test]
fn a_long_string_leaves_before_it_is_whole() {
    let value = long("");
    // These are held: only their closers prove them, or tell what their first character is.
    let held = ["qwen, bare", "minicpm", "m3", "invoke on lines"];
    for (format, text) in formats(&value) {
        let known = &text[..text.find("end").unwrap()];
        assert_eq!(given_early(known) > value.len(), !held.contains(&format), "{format}");
    }
}

#[test]
fn a_call_with_nothing_around_it_is_text_until_it_is_closed() {
    let text = format!("See <invoke name=\"write_file\"><parameter name=\"content\">{}", long("and so on"));
    check(&[prose("never closed", &text)]);
}

#[test]
fn many_angle_brackets_are_text() {
    let text = "<<a <b> </c> <d:e> <｜f｜> <function <tool_call> x < 3 ".repeat(100);
    let text = text.trim_end();
    check(&[prose("angle brackets", text)]);
}

/// Bits of markup of all these formats.
const BITS: &[&str] = &[
    "<tool_call>",
    "</tool_call>",
    "<function=list_dir>",
    "<function=frob>",
    "</function>",
    "<parameter=path>",
    "<parameter name=\"path\">",
    "</parameter>",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "list_dir",
    "path",
    "src",
    "{\"path\": \"src\"}",
    "<function_calls>",
    "</function_calls>",
    "<invoke name=\"list_dir\">",
    "<invoke>",
    "<tool_name>list_dir</tool_name>",
    "<parameters>",
    "</parameters>",
    "</invoke>",
    "<path>",
    "</path>",
    "<｜DSML｜tool_calls>",
    "<｜DSML｜invoke name=\"list_dir\">",
    "<｜DSML｜parameter name=\"path\" string=\"true\">",
    "</｜DSML｜parameter>",
    "</｜DSML｜invoke>",
    "</｜DSML｜tool_calls>",
    "<|open|>",
    "<|close|>",
    "<|sep|>",
    "tools",
    "response",
    "call tool=\"list_dir\" index=\"1\"",
    "argument key=\"path\" type=\"string\"",
    "]<]minimax[>[",
    "<item>",
    "<function name=\"list_dir\">",
    "<param name=\"path\">",
    "</param>",
    "<![CDATA[",
    "]]>",
    "\n",
    " ",
    "<",
    "`",
    "```\n",
    "<think>",
    "</think>",
    "Ġ",
    "<tool_calls>",
    "</tool_calls>",
    "<tool_sep>",
];

proptest! {
    #[test]
    fn any_mix_of_markup_is_read_alike_in_any_pieces(
        bits in prop::collection::vec(0..BITS.len(), 0..24),
        cut in any::<bool>(),
    ) {
        let text: String = bits.iter().map(|at| BITS[*at]).collect();
        crate::tags_common::alike_in_any_pieces(&text, if cut { "length" } else { "stop" });
    }
}
