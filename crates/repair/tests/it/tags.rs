//! Calls written in tags, in every spelling that models were seen to use.

use serde_json::json;

use crate::tags_common::{call, calls, check, cut, prose, unknown};

#[test]
fn qwen_xml() {
    let dir = || json!([call("list_dir", json!({"path": "src"}))]);
    check(&[
        calls(
            "types come from the schema, strings stay as they are",
            "<tool_call>\n<function=read_file>\n<parameter=file_path>\n007\n</parameter>\n<parameter=limit>\n40\n</parameter>\n</function>\n</tool_call>",
            json!([call("read_file", json!({"file_path": "007", "limit": 40}))]),
        ),
        calls(
            "the wrapper of Seed",
            "<seed:tool_call>\n<function=list_dir>\n<parameter=path>src</parameter>\n</function>\n</seed:tool_call>",
            dir(),
        ),
        calls(
            "several functions in one wrapper, and several wrappers",
            "<tool_call>\n<function=get_time>\n</function>\n<function=list_dir>\n<parameter=path>\nsrc\n</parameter>\n</function>\n</tool_call>\n<tool_call><function=get_time></function></tool_call>",
            json!([
                call("get_time", json!({})),
                call("list_dir", json!({"path": "src"})),
                call("get_time", json!({}))
            ]),
        ),
        calls(
            "no wrapper, its closer left alone",
            "Opening.\n<function=list_dir>\n<parameter=path>\nsrc\n</parameter>\n</function>\n</tool_call>",
            dir(),
        )
        .saying("Opening."),
        calls(
            "no wrapper, text behind",
            "<function=list_dir>\n<parameter=path>\nsrc\n</parameter>\n</function>\nDone.",
            dir(),
        )
        .saying("Done."),
        calls("no wrapper, JSON", "<function=list_dir>{\"path\": \"src\"}</function>", dir()),
        calls(
            "JSON body in the wrapper",
            "<tool_call>\n<function=list_dir>\n{\"path\": \"src\"}\n</function>\n</tool_call>",
            dir(),
        ),
        calls(
            "a parameter named by an attribute",
            "<tool_call>\n<function=list_dir>\n<parameter name=\"path\">src</parameter>\n</function>\n</tool_call>",
            dir(),
        ),
        calls(
            "all named by attributes",
            "<function name=\"list_dir\">\n<parameter name=\"path\">src</parameter>\n</function>",
            dir(),
        ),
        calls(
            "no closer of a parameter before the next",
            "<tool_call>\n<function=edit_file>\n<parameter=file_path>\nm.c\n<parameter=old_string>\na\n</parameter>\n</function>\n</tool_call>",
            json!([call("edit_file", json!({"file_path": "m.c", "old_string": "a"}))]),
        ),
        calls(
            "no closer of the last parameter",
            "<tool_call>\n<function=list_dir>\n<parameter=path>\nsrc\n</function>\n</tool_call>",
            dir(),
        ),
        calls(
            "no closer of the function",
            "<tool_call>\n<function=list_dir>\n<parameter=path>\nsrc\n</parameter>\n</tool_call>",
            dir(),
        ),
        calls(
            "no closer but the parameter's",
            "<tool_call>\n<function=list_dir>\n<parameter=path>\nsrc\n</parameter>\n",
            dir(),
        ),
        calls(
            "a token that ends the turn behind the parameter",
            "<tool_call>\n<function=list_dir>\n<parameter=path>\nsrc\n</parameter><|im_end|>",
            dir(),
        ),
        calls(
            "closers that repeat the name",
            "<tool_call><function=list_dir><parameter=path>src</parameter=path></function=list_dir></tool_call>",
            dir(),
        ),
        calls(
            "a closer in a value, and a tag of a parameter that was there",
            "<tool_call>\n<function=write_file>\n<parameter=file_path>\nx\n</parameter>\n<parameter=content>\nWrite </parameter> and </function> and\n<parameter=file_path>\nhere </tool_call>.\n</parameter>\n</function>\n</tool_call>",
            json!([call(
                "write_file",
                json!({"file_path": "x", "content": "Write </parameter> and </function> and\n<parameter=file_path>\nhere </tool_call>."})
            )]),
        ),
        calls(
            "one line end on each side, no more",
            "<tool_call>\n<function=edit_file>\n<parameter=old_string>\n\n  a \n\n</parameter>\n<parameter=new_string>\r\nb\r\n</parameter>\n</function>\n</tool_call>",
            json!([call("edit_file", json!({"old_string": "\n  a \n", "new_string": "b"}))]),
        ),
        calls(
            "a name nobody declared, within the wrapper",
            "<tool_call>\n<function=frob>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>",
            json!([unknown("frob", json!({"x": 1}))]),
        ),
        calls(
            "a broken sibling",
            "<tool_call>\n<function=list_dir>\n<parameter=path>\nsrc\n</parameter>\n</function>\n<function=get_time> hm, no",
            dir(),
        )
        .saying("<function=get_time> hm, no"),
        calls(
            "a blank in the opener",
            "<tool_call >\n<function=list_dir>\n<parameter=path>\nsrc\n</parameter>\n</function>\n</tool_call>",
            dir(),
        ),
        prose("an example in prose", "Use <function=NAME> and <parameter=KEY> inside <tool_call> tags."),
        prose(
            "an unknown name without a wrapper",
            "See <function=frob>\n<parameter=x>\n1\n</parameter>\n</function> there.",
        ),
        prose("a declared name that is only mentioned", "Write <function=list_dir> and then the path."),
        prose(
            "an example in a fence",
            "Like this:\n```xml\n<tool_call>\n<function=list_dir>\n<parameter=path>\nsrc\n</parameter>\n</function>\n</tool_call>\n```\nSee?",
        ),
        calls(
            "a fence with nothing behind it",
            "```xml\n<tool_call>\n<function=list_dir>\n<parameter=path>\nsrc\n</parameter>\n</function>\n</tool_call>\n```",
            dir(),
        ),
        prose("code within a line", "Say `<function=list_dir>` or `<b>`, `a <tool_call> b`, not `x`."),
        calls(
            "a call behind code within a line",
            "Like `<b>`: <tool_call><function=list_dir><parameter=path>src</parameter></function></tool_call> so.",
            dir(),
        )
        .saying("Like `<b>`:\nso."),
        prose("C++", "std::function<void()> f; #include <functional>\nif (a <b) x<y>(z);"),
        cut("cut in a value", "<tool_call>\n<function=list_dir>\n<parameter=path>\nsr", &["list_dir"]),
        cut("cut in a value, nobody says so", "<tool_call>\n<function=list_dir>\n<parameter=path>\nsr", &["list_dir"])
            .stopped(),
        cut(
            "cut behind a value",
            "<tool_call>\n<function=list_dir>\n<parameter=path>\nsrc\n</parameter>\n",
            &["list_dir"],
        ),
        cut(
            "cut in a tag",
            "<tool_call>\n<function=list_dir>\n<parameter=path>\nsrc\n</parameter>\n<param",
            &["list_dir"],
        ),
        cut("cut without a wrapper", "<function=list_dir>\n<parameter=path>\nsr", &["list_dir"]),
    ]);
}

#[test]
fn glm() {
    let dir = || json!([call("list_dir", json!({"path": "src"}))]);
    let make = || json!([call("run_command", json!({"command": "make"}))]);
    check(&[
        calls(
            "lines",
            "Look.\n<tool_call>list_dir\n<arg_key>path</arg_key>\n<arg_value>src</arg_value>\n<arg_key>recursive</arg_key>\n<arg_value>true</arg_value>\n</tool_call>",
            json!([call("list_dir", json!({"path": "src", "recursive": true}))]),
        )
        .saying("Look."),
        calls(
            "no value opener",
            "<tool_call>list_dir<arg_key>path</arg_key>src</arg_value></tool_call>",
            dir(),
        ),
        calls(
            "no key opener",
            "<tool_call>run_commandcommand</arg_key><arg_value>make</arg_value></tool_call>",
            make(),
        ),
        calls(
            "no key opener, on a new line",
            "<tool_call>run_command\ncommand</arg_key>\n<arg_value>make</arg_value>\n</tool_call>",
            make(),
        ),
        calls(
            "no key opener, later",
            "<tool_call>run_command<arg_key>command</arg_key><arg_value>make</arg_value>timeout</arg_key><arg_value>5</arg_value></tool_call>",
            json!([call("run_command", json!({"command": "make", "timeout": 5}))]),
        ),
        calls(
            "no key closer",
            "<tool_call>run_command<arg_key>command<arg_value>make</arg_value></tool_call>",
            make(),
        ),
        calls(
            "doubled key closer",
            "<tool_call>run_command<arg_key>command</arg_key></arg_key><arg_value>make</arg_value></tool_call>",
            make(),
        ),
        calls(
            "the opener of a call in place of a key's",
            "<tool_call>run_command<tool_call>command</arg_key><arg_value>make</arg_value></tool_call>",
            make(),
        ),
        calls(
            "no value closer",
            "<tool_call>run_command<arg_key>command</arg_key><arg_value>make<arg_key>timeout</arg_key><arg_value>5</arg_value></tool_call>",
            json!([call("run_command", json!({"command": "make", "timeout": 5}))]),
        ),
        calls(
            "no closer of the last value",
            "<tool_call>run_command<arg_key>command</arg_key><arg_value>make</tool_call>",
            make(),
        ),
        calls(
            "no closer at all",
            "<tool_call>list_dir<arg_key>path</arg_key><arg_value>src</arg_value>",
            json!([call("list_dir", json!({"path": "src"}))]),
        ),
        cut(
            "no closer at all, of a tool that acts",
            "<tool_call>run_command<arg_key>command</arg_key><arg_value>make</arg_value>",
            &["run_command"],
        )
        .stopped(),
        calls("no parameters", "<tool_call>get_time</tool_call>", json!([call("get_time", json!({}))])),
        calls("no parameters, no closer", "<tool_call>get_time", json!([call("get_time", json!({}))])),
        calls(
            "values are not trimmed",
            "<tool_call>edit_file<arg_key>old_string</arg_key><arg_value>\n a \n</arg_value></tool_call>",
            json!([call("edit_file", json!({"old_string": "\n a \n"}))]),
        ),
        calls(
            "a closer in a value",
            "<tool_call>run_command<arg_key>command</arg_key><arg_value>echo '</arg_value>' </tool_call> x</arg_value></tool_call>",
            json!([call("run_command", json!({"command": "echo '</arg_value>' </tool_call> x"}))]),
        ),
        calls(
            "a name nobody declared",
            "<tool_call>frob<arg_key>x</arg_key><arg_value>1</arg_value></tool_call>",
            json!([unknown("frob", json!({"x": 1}))]),
        ),
        calls(
            "a name and JSON",
            "<tool_call>list_dir\n{\"path\": \"src\"}\n</tool_call> <tool_call>list_dir{\"path\": \"src\"}</tool_call>",
            json!([call("list_dir", json!({"path": "src"})), call("list_dir", json!({"path": "src"}))]),
        ),
        calls(
            "LongCat",
            "<longcat_tool_call>list_dir\n<longcat_arg_key>path</longcat_arg_key>\n<longcat_arg_value>src</longcat_arg_value>\n</longcat_tool_call>",
            dir(),
        ),
        calls(
            "Hunyuan",
            "<tool_calls>\n<tool_call>list_dir<tool_sep>\n<arg_key>path</arg_key>\n<arg_value>src</arg_value>\n</tool_call>\n<tool_call>get_time<tool_sep></tool_call>\n</tool_calls>",
            json!([call("list_dir", json!({"path": "src"})), call("get_time", json!({}))]),
        ),
        calls(
            "Hunyuan with suffixes",
            "<tool_calls:opensource>\n<tool_call:opensource>list_dir<tool_sep:opensource>\n<arg_key:opensource>path</arg_key:opensource>\n<arg_value:opensource>src</arg_value:opensource>\n</tool_call:opensource>\n</tool_calls:opensource>",
            dir(),
        ),
        calls(
            "Hunyuan with suffixes, without the outer tag",
            "<tool_call:opensource>list_dir<tool_sep:opensource><arg_key:opensource>path</arg_key:opensource><arg_value:opensource>src</arg_value:opensource></tool_call:opensource>",
            dir(),
        ),
        calls(
            "the outer tag said twice",
            "<tool_calls><tool_calls>\n<tool_call>get_time</tool_call></tool_calls>",
            json!([call("get_time", json!({}))]),
        ),
        calls(
            "JSON in the outer tag",
            "<tool_calls><tool_call>{\"name\": \"list_dir\", \"arguments\": {\"path\": \"src\"}}</tool_call></tool_calls>",
            dir(),
        ),
        prose("a mention", "GLM wraps calls in <tool_call> and </tool_call> tags, with <arg_key> inside."),
        prose("a word nobody declared", "It says <tool_call>name</tool_call> there."),
        cut(
            "cut in a value",
            "<tool_call>run_command<arg_key>command</arg_key><arg_value>mak",
            &["run_command"],
        ),
        cut("cut in a key", "<tool_call>run_command<arg_key>comm", &["run_command"]),
    ]);
}

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
