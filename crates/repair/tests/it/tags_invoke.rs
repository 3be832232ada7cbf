//! Calls written in the tags of Anthropic's models and of those that follow them.

use serde_json::json;

use crate::tags_common::{call, calls, check, cut, prose, unknown};

#[test]
fn invoke() {
    let dir = || json!([call("list_dir", json!({"path": "src"}))]);
    check(&[
        calls(
            "a namespace that is listed nowhere",
            "Hm.\n<acme:function_calls>\n<acme:invoke name=\"list_dir\">\n<acme:parameter name=\"path\">src</acme:parameter>\n</acme:invoke>\n</acme:function_calls>",
            dir(),
        )
        .saying("Hm."),
        calls(
            "a namespace, and nothing around the call",
            "<acme:invoke name=\"list_dir\"><acme:parameter name=\"path\">src</acme:parameter></acme:invoke>\n</acme:function_calls>",
            dir(),
        ),
        calls(
            "a closer of another namespace belongs to the value",
            "<acme:function_calls><acme:invoke name=\"run_command\"><acme:parameter name=\"command\">a</parameter>\n</invoke></acme:parameter></acme:invoke></acme:function_calls>",
            json!([call("run_command", json!({"command": "a</parameter>\n</invoke>"}))]),
        ),
        calls(
            "no wrapper",
            "Reading.\n<invoke name=\"list_dir\">\n<parameter name=\"path\">src</parameter>\n</invoke>\nDone.",
            dir(),
        )
        .saying("Reading.\nDone."),
        calls(
            "no closer of the wrapper",
            "<function_calls>\n<invoke name=\"list_dir\">\n<parameter name=\"path\">src</parameter>\n</invoke>\n",
            dir(),
        ),
        calls(
            "line ends on both sides go, one alone stays",
            "<function_calls><invoke name=\"edit_file\"><parameter name=\"old_string\">\n\n a\n</parameter><parameter name=\"new_string\">b\n</parameter><parameter name=\"file_path\">\nc</parameter></invoke></function_calls>",
            json!([call(
                "edit_file",
                json!({"old_string": "\n a", "new_string": "b\n", "file_path": "\nc"})
            )]),
        ),
        calls(
            "no closer of a parameter, on lines",
            "<function_calls>\n<invoke name=\"list_dir\">\n<parameter name=\"path\">src\n</invoke>\n</function_calls>",
            dir(),
        ),
        calls(
            "the oldest form",
            "<function_calls>\n<invoke>\n<tool_name>read_file</tool_name>\n<parameters>\n<file_path>/etc/<b>hosts</b></file_path>\n<limit>3</limit>\n</parameters>\n</invoke>\n<invoke><tool_name>get_time</tool_name><parameters></parameters></invoke>\n</function_calls>",
            json!([
                call("read_file", json!({"file_path": "/etc/<b>hosts</b>", "limit": 3})),
                call("get_time", json!({}))
            ]),
        ),
        calls(
            "the oldest form without a wrapper",
            "<invoke>\n<tool_name>get_time</tool_name>\n</invoke>",
            json!([call("get_time", json!({}))]),
        ),
        calls(
            "MiniMax M2 with all quotes",
            "<minimax:tool_call><invoke name='list_dir'><parameter name=path>src</parameter></invoke><invoke name=get_time></invoke></minimax:tool_call>",
            json!([call("list_dir", json!({"path": "src"})), call("get_time", json!({}))]),
        ),
        calls(
            "MiniMax M2 with a closer in a value",
            "<minimax:tool_call>\n<invoke name=\"run_command\">\n<parameter name=\"command\">echo </parameter> x</parameter>\n</invoke>\n</minimax:tool_call>",
            json!([call("run_command", json!({"command": "echo </parameter> x"}))]),
        ),
        calls(
            "Dots",
            "<dots_function_call>\n<invoke name=\"list_dir\">\n<parameter name=\"path\">src</parameter>\n</invoke>\n</dots_function_call>",
            dir(),
        ),
        calls(
            "Muse Glimmer with its channel",
            " to=list_dir<|message|><atem:function_calls>\n<atem:invoke name=\"list_dir\">\n<atem:parameter name=\"path\">src</atem:parameter>\n</atem:invoke>\n</atem:function_calls><|eom|>",
            dir(),
        ),
        calls(
            "invoke in the wrapper of another format",
            "<tool_call>\n<invoke name=\"list_dir\">\n<parameter name=\"path\">src</parameter>\n</invoke>\n</tool_call>",
            dir(),
        ),
        calls(
            "a broken sibling does not harm those around it",
            "<function_calls>\n<invoke name=\"list_dir\">\n<parameter name=\"path\">src</parameter>\n</invoke>\n<invoke name=\"get_time\">oops\n<invoke name=\"get_time\">\n</invoke>\n</function_calls>",
            json!([call("list_dir", json!({"path": "src"})), call("get_time", json!({}))]),
        )
        .saying("<invoke name=\"get_time\">oops"),
        calls(
            "a name nobody declared, within the wrapper",
            "<function_calls><invoke name=\"frob\"><parameter name=\"x\">1</parameter></invoke></function_calls>",
            json!([unknown("frob", json!({"x": 1}))]),
        ),
        prose("a mention", "Put <invoke name=\"x\"> into <function_calls>, then </function_calls>."),
        prose(
            "an unknown name without a wrapper",
            "<invoke name=\"frob\">\n<parameter name=\"x\">1</parameter>\n</invoke>",
        ),
        prose(
            "not closed, without a wrapper",
            "<invoke name=\"list_dir\">\n<parameter name=\"path\">src</parameter>",
        ),
        cut(
            "cut in a value",
            "<function_calls>\n<invoke name=\"list_dir\">\n<parameter name=\"path\">s",
            &["list_dir"],
        ),
        cut(
            "one whole, one cut",
            "<function_calls><invoke name=\"list_dir\"><parameter name=\"path\">src</parameter></invoke><invoke name=\"read_file\"><parameter name=\"file_path\">s",
            &["read_file"],
        )
        .and_calls(dir()),
    ]);
}
