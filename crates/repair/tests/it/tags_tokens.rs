//! Calls written in tags that are tokens of their own, or nearly so.

use serde_json::json;

use crate::decode::Case;
use crate::tags_common::{Row, call, calls, check, cut, prose};

#[test]
fn dsml() {
    let dir = || json!([call("list_dir", json!({"path": "src"}))]);
    let spelled = |open: &str, close: &str| {
        format!(
            "<{open}tool_calls>\n<{open}invoke name=\"list_dir\">\n<{open}parameter name=\"path\" string=\"true\">src<{close}parameter>\n<{close}invoke>\n<{close}tool_calls>"
        )
    };
    check(&[
        calls("as it should be", spelled("｜DSML｜", "/｜DSML｜"), dir()),
        calls("doubled bars", spelled("｜｜DSML｜｜", "/｜｜DSML｜｜"), dir()),
        calls("other bars", spelled("‖DSML‖", "/‖DSML‖"), dir()),
        calls("bars of ASCII", spelled("|DSML|", "/|DSML|"), dir()),
        calls("blanks within", spelled(" ｜ DSML ｜ ", " / ｜ DSML ｜ "), dir()),
        calls("the slash behind the bars", spelled("｜DSML｜", "｜DSML｜/"), dir()),
        calls(
            "the attribute says what a value is, where no schema does",
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"read_file\">\n<｜DSML｜parameter name=\"y\" string=\"true\">8</｜DSML｜parameter>\n<｜DSML｜parameter name=\"z\" string=\"false\">8</｜DSML｜parameter>\n<｜DSML｜parameter name=\"x\" string=\"false\">not {json</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
            json!([call("read_file", json!({"y": "8", "z": 8, "x": "not {json"}))]),
        ),
        calls(
            "a wrapper that is opened and closed twice",
            format!("<｜DSML｜tool_calls>\n{}\n</｜DSML｜tool_calls>", spelled("｜DSML｜", "/｜DSML｜")),
            dir(),
        ),
        calls(
            "JSON body",
            "<｜DSML｜function_calls><｜DSML｜invoke name=\"list_dir\">{\"path\": \"src\"}</｜DSML｜invoke></｜DSML｜function_calls>",
            dir(),
        ),
        calls(
            "a call that closes itself",
            "<｜DSML｜function_calls><｜DSML｜invoke name=\"get_time\"/><｜DSML｜invoke name=\"get_time\" /></｜DSML｜function_calls>",
            json!([call("get_time", json!({})), call("get_time", json!({}))]),
        ),
        calls(
            "no wrapper",
            "Reading.\n<｜DSML｜invoke name=\"list_dir\">\n<｜DSML｜parameter name=\"path\" string=\"true\">src</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
            dir(),
        )
        .saying("Reading."),
        calls(
            "the opener said twice",
            "<｜DSML｜tool_calls>\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"list_dir\">\n<｜DSML｜parameter name=\"path\" string=\"true\">src</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
            dir(),
        ),
        calls(
            "a section that is not closed",
            "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"list_dir\">\n<｜DSML｜parameter name=\"path\" string=\"true\">src</｜DSML｜parameter>\n</｜DSML｜invoke>\n",
            dir(),
        ),
        calls(
            "a broken sibling",
            "<｜DSML｜tool_calls><｜DSML｜invoke name=\"get_time\"></｜DSML｜invoke><｜DSML｜invoke name=\"list_dir\">?<｜DSML｜invoke name=\"list_dir\"><｜DSML｜parameter name=\"path\" string=\"true\">src</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>",
            json!([call("get_time", json!({})), call("list_dir", json!({"path": "src"}))]),
        )
        .saying("<｜DSML｜invoke name=\"list_dir\">?"),
        calls(
            "a value as it is, with a closer in it",
            "<｜DSML｜tool_calls><｜DSML｜invoke name=\"run_command\"><｜DSML｜parameter name=\"command\" string=\"true\">\na < b </｜DSML｜parameter> c\n</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>",
            json!([call("run_command", json!({"command": "\na < b </｜DSML｜parameter> c\n"}))]),
        ),
        prose("a mention", "The opener is <｜DSML｜function_calls> and then <｜DSML｜invoke follows."),
        prose(
            "not closed, without a wrapper",
            "<｜DSML｜invoke name=\"list_dir\">\n<｜DSML｜parameter name=\"path\" string=\"true\">src",
        ),
        cut(
            "cut in a value",
            "<｜DSML｜tool_calls><｜DSML｜invoke name=\"list_dir\"><｜DSML｜parameter name=\"path\" string=\"true\">s",
            &["list_dir"],
        ),
    ]);
}

#[test]
fn step3() {
    check(&[
        calls(
            "values with angle brackets",
            "Go.<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"run_command\"><steptml:parameter name=\"command\">a <b> && c</steptml:parameter><steptml:parameter name=\"timeout\">5</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"get_time\"></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>",
            json!([call("run_command", json!({"command": "a <b> && c", "timeout": 5})), call("get_time", json!({}))]),
        )
        .saying("Go."),
        calls(
            "no outer token, no closers",
            "<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"get_time\"></steptml:invoke>",
            json!([call("get_time", json!({}))]),
        ),
        calls(
            "only the tags",
            "<steptml:invoke name=\"get_time\"></steptml:invoke>",
            json!([call("get_time", json!({}))]),
        ),
        prose("a mention", "Calls begin with <｜tool_calls_begin｜>, then <steptml:invoke follows."),
    ]);
}

#[test]
fn kimi_xtml() {
    let dir = || json!([call("list_dir", json!({"path": "src"}))]);
    let tools = "<|open|>tools<|sep|><|open|>call tool=\"list_dir\" index=\"1\"<|sep|><|open|>argument key=\"path\" type=\"string\"<|sep|>src<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>";
    check(&[
        calls(
            "all channels",
            format!("<|open|>message role=\"assistant\"<|sep|><|open|>response<|sep|>Hi.<|close|>response<|sep|>{tools}<|close|>message<|sep|>"),
            dir(),
        )
        .saying("Hi."),
        calls("text and no calls", "<|open|>response<|sep|>Hi.<|close|>response<|sep|>", json!([])).saying("Hi."),
        calls("blanks in the marks", tools.replace("<|", "<| ").replace("|>", " |>").replace("|>call", "|> call "), dir()),
        calls(
            "attributes are unescaped, values are not",
            "<|open|>tools<|sep|><|open|>call tool=\"run_command\" index=\"1\"<|sep|><|open|>argument key=\"a&amp;&quot;b\" type=\"string\"<|sep|>x &amp; y<|close|>argument<|sep|><|open|>argument key=\"command\" type=\"object\"<|sep|>{\"a\": 1}<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
            json!([call("run_command", json!({"a&\"b": "x &amp; y", "command": {"a": 1}}))]),
        ),
        calls(
            "two calls",
            "<|open|>tools<|sep|><|open|>call tool=\"get_time\" index=\"1\"<|sep|><|close|>call<|sep|><|open|>call tool=\"get_time\" index=\"2\"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
            json!([call("get_time", json!({})), call("get_time", json!({}))]),
        ),
        calls("marks lost in the middle", tools.replace("tools<|sep|><|open|>call", "toolscall"), dir()),
        calls("no section", tools.replace("<|open|>tools<|sep|>", ""), dir()),
        calls("a section that is not closed", tools.replace("<|close|>tools<|sep|>", ""), dir()),
        prose("a mention", "Sections begin with <|open|>tools and then <|sep|> follows."),
        cut(
            "cut in a value",
            "<|open|>tools<|sep|><|open|>call tool=\"list_dir\" index=\"1\"<|sep|><|open|>argument key=\"path\" type=\"string\"<|sep|>s",
            &["list_dir"],
        ),
    ]);
}

#[test]
fn minimax_m3() {
    let marked = |text: &str| text.replace('@', "]<]minimax[>[");
    check(&[
        Row {
            finish: "length",
            ..calls(
                "cut in the last closer",
                "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"get_time\">]<]minimax[>[</invoke>\n]<]mi",
                json!([call("get_time", json!({}))]),
            )
        },
        calls(
            "flat",
            marked("Go.\n@<tool_call>\n@<invoke name=\"run_command\">@<command>a <b> & </command>\n@</command>@<timeout>5@</timeout>@</invoke>\n@<invoke name=\"get_time\">@</invoke>\n@</tool_call>"),
            json!([call("run_command", json!({"command": "a <b> & </command>\n", "timeout": 5})), call("get_time", json!({}))]),
        )
        .saying("Go."),
        calls(
            "nested, and odd names",
            marked("@<tool_call>@<invoke name=\"search_text\">@<-n>x@</-n>@<globs>@<item>a@</item>@<item>b@</item>@</globs>@<o>@<p>@<q>z@</q>@</p>@</o>@</invoke>@</tool_call>"),
            json!([call("search_text", json!({"-n": "x", "globs": ["a", "b"], "o": {"p": {"q": "z"}}}))]),
        ),
        calls(
            "parameters named by an attribute",
            marked("@<tool_call>@<invoke name=\"list_dir\">@<parameter name=\"path\">src@</parameter>@</invoke>@</tool_call>"),
            json!([call("list_dir", json!({"path": "src"}))]),
        ),
        calls(
            "no closers",
            marked("@<tool_call>@<invoke name=\"list_dir\">@<path>src@</path>@</tool_call>"),
            json!([call("list_dir", json!({"path": "src"}))]),
        ),
        cut("cut", marked("@<tool_call>@<invoke name=\"list_dir\">@<path>sr"), &["list_dir"]),
        prose("a mention", &marked("Each tag stands behind @ there, as @<tool_call> does.")),
    ]);
}

#[test]
fn minicpm() {
    check(&[
        calls(
            "CDATA, with what would end it inside",
            "<function name=\"write_file\"><param name=\"file_path\">a</param><param name=\"content\"><![CDATA[x ]]> </param> ]] y]]></param></function>",
            json!([call("write_file", json!({"file_path": "a", "content": "x ]]> </param> ]] y"}))]),
        ),
        calls(
            "collapsed tags",
            "<functionname=\"list_dir\"><paramname=\"path\">src</param></function>",
            json!([call("list_dir", json!({"path": "src"}))]),
        ),
        calls(
            "what a tokenizer leaves",
            "<functionĠname=\"run_command\">Ċ<paramĠname=\"command\">lsĠ-l</param>Ċ</function>",
            json!([call("run_command", json!({"command": "ls -l"}))]),
        ),
        calls(
            "a letter that only looks like that",
            "<function name=\"run_command\"><param name=\"command\">Ġorġ</param></function>",
            json!([call("run_command", json!({"command": "Ġorġ"}))]),
        ),
        prose("an unknown name", "<function name=\"frob\"><param name=\"x\">1</param></function>"),
        cut(
            "cut in CDATA",
            "<function name=\"write_file\"><param name=\"content\"><![CDATA[x",
            &["write_file"],
        ),
    ]);
}

#[test]
fn without_tools_the_markup_of_calls_is_text() {
    let calls = "<|open|>tools<|sep|><|open|>call tool=\"get_time\" index=\"1\"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>";
    let text = format!("<|open|>response<|sep|>Hello<|close|>response<|sep|>\n{calls}");
    let case = Case(json!({"id": "x", "kind": "text", "chunks": [text], "tools": [], "options": {}}));
    assert_eq!(case.decode([text.as_str()]).content, format!("Hello\n{calls}"));
}
