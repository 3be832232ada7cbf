use serde_json::json;

use super::{check, dir, row};

#[test]
fn deepseek_writes_its_tokens_in_many_ways() {
    let fence = "```";
    check(vec![
        row("<｜tool▁call▁begin｜>function<｜tool▁sep｜>list_dir\n```json\n{\"path\": \"a\"}\n```<｜tool▁call▁end｜>").call("list_dir", dir("a")),
        row("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>list_dir\n```json\n{\"path\": \"a\"}```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>")
            .call("list_dir", dir("a")),
        row("<|tool▁calls▁begin|><|tool▁call▁begin|>list_dir<|tool▁sep|>{\"path\": \"a\"}<|tool▁call▁end|><|tool▁calls▁end|>").call("list_dir", dir("a")),
        row("<|tool_calls_begin|><|tool_call_begin|>list_dir<|tool_sep|>{\"path\": \"a\"}<|tool_call_end|><|tool_calls_end|>").call("list_dir", dir("a")),
        row("<｜tool▁calls▁begin｜>function<｜tool▁sep｜>list_dir\n```json\n{\"path\": \"a\"}\n```").call("list_dir", dir("a")),
        row("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>list_dir<｜tool▁sep｜>{\"path\": \"a\"}<｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{}")
            .call("list_dir", dir("a"))
            .call("get_time", json!({})),
        row("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_time<｜tool▁sep｜><｜tool▁call▁end｜><｜tool▁calls▁end｜>").call("get_time", json!({})),
        row("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>list_dir<｜tool▁sep｜>{\"path\": \"<｜tool▁call▁end｜>\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>")
            .call("list_dir", dir("<｜tool▁call▁end｜>")),
        row("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>list_dir<｜tool▁sep｜>{\"path\": \"a\"<｜tool▁call▁end｜><｜tool▁calls▁end｜>").call("list_dir", dir("a")),
        row(&format!("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>write_file\n{fence}json\n{{\"file_path\": \"a\", \"content\": \"{fence}\\n{}\"}}\n{fence}<｜tool▁call▁end｜>", "y".repeat(2000)))
            .call("write_file", json!({"file_path": "a", "content": format!("{fence}\n{}", "y".repeat(2000))})),
        row("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>foo<｜tool▁sep｜>{}<｜tool▁call▁end｜>").unknown("foo", json!({})),
        row("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>write_file\n```json\n").cut("write_file"),
        row("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write_file<｜tool▁sep｜>{\"file_path\": \"a\", \"content\": \"b").cut("write_file"),
        row("<｜tool▁calls▁begin｜>{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}}<｜tool▁calls▁end｜>").call("list_dir", dir("a")),
        row("Calls begin with <｜tool▁calls▁begin｜> there.").says("Calls begin with <｜tool▁calls▁begin｜> there."),
        row("So.</think>\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>")
            .says("So.")
            .call("get_time", json!({})),
        row("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{}<｜tool▁call▁end｜>\nDone.").call("get_time", json!({})).says("Done."),
    ]);
}

#[test]
fn kimi_strays_from_its_format() {
    let long = "z".repeat(5000);
    check(vec![
        row("<|tool_calls_section_begin|>noise<|tool_call_begin|>functions.list_dir:0<|tool_call_argument_begin|>{\"path\": \"a\"}<|tool_call_end|>more noise<|tool_call_begin|>functions.get_time:1<|tool_call_argument_begin|>{}<|tool_call_end|> <|tool_calls_section_end|>Bye.")
            .call("list_dir", dir("a"))
            .call("get_time", json!({}))
            .says("Bye."),
        row("<|tool_call_begin|>functions.read-file:0<|tool_call_argument_begin|>{\"file_path\": \"a\"}<|tool_call_end|>")
            .call("read-file", json!({"file_path": "a"})),
        row("<|tool_call_begin|>0<|tool_call_argument_begin|>{\"file_path\": \"a\", \"content\": \"b\"}<|tool_call_end|>")
            .call("write_file", json!({"file_path": "a", "content": "b"})),
        row("<|tool_call_begin|>functions.:3<|tool_call_argument_begin|>{\"path\": \"a\"}<|tool_call_end|>").call("list_dir", dir("a")),
        row("<|tool_call_begin|>0<|tool_call_argument_begin|>{\"what\": \"a\"}<|tool_call_end|>").unknown("0", json!({"what": "a"})),
        row("<|tool_calls_section_begin|><|tool_call_begin|>functions.list_dir:0<|tool_call_argument_begin|>{\"path\": \"a\"}<|tool_calls_section_end|>").call("list_dir", dir("a")),
        row("<|tool_calls_section_begin|><|tool_call_begin|>functions.list_dir:0<|tool_call_argument_begin|>{\"path\": \"a\"}<|tool_call_begin|>functions.get_time:1<|tool_call_argument_begin|>{}")
            .call("list_dir", dir("a"))
            .call("get_time", json!({})),
        row("<|tool_calls_section_begin|><|tool_call_begin|>functions.list_dir:0<|tool_call_argument_begin|>{\n  \"path\": \"a\\nb\"\n}<|tool_call_end|><|tool_calls_section_end|>")
            .call("list_dir", dir("a\nb")),
        row("<|tool_calls_section_begin|><|tool_call_begin|>functions.nope:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>")
            .unknown("nope", json!({})),
        row(&format!("<|tool_calls_section_begin|><|tool_call_begin|>functions.get_time:0<|tool_call_argument_begin|>{{}}<|tool_call_end|><|tool_call_begin|>functions.write_file:1<|tool_call_argument_begin|>{{\"file_path\": \"<|tool_call_end|>\", \"content\": \"{long}\"}}<|tool_call_end|><|tool_calls_section_end|>"))
            .call("get_time", json!({}))
            .call("write_file", json!({"file_path": "<|tool_call_end|>", "content": long})),
        row(&format!("<|tool_call_begin|>functions.write_file:1<|tool_call_argument_begin|>{{\"file_path\": \"a\", \"content\": \"{long}")).cut("write_file"),
        row("<|tool_call_begin|>functions.write_file:1<|tool_call_argument_begin|>").cut("write_file"),
        row("Kimi begins with <|tool_calls_section_begin|> and ends.").says("Kimi begins with <|tool_calls_section_begin|> and ends."),
    ]);
    let text = "<|tool_call_begin|>functions.get_time:7<|tool_call_argument_begin|>{}<|tool_call_end|>";
    assert_eq!(row(text).case().decode([text]).ids, ["functions.get_time:7"]);
}

#[test]
fn mistral_has_three_generations() {
    let long = "m".repeat(4000);
    check(vec![
        row("[TOOL_CALLS]list_dir[CALL_ID]aB3dE6gH9[ARGS]{\"path\": \"a\"}").call("list_dir", dir("a")),
        row("Sure. [TOOL_CALLS]list_dir[ARGS]{\"path\": \"a\"}[TOOL_CALLS]get_time[ARGS]{}</s>")
            .says("Sure.")
            .call("list_dir", dir("a"))
            .call("get_time", json!({})),
        row("[TOOL_CALLS] list_dir [ARGS] {\"path\": \"a\"}").call("list_dir", dir("a")),
        row("[TOOL_CALLS]list_dir[ARGS]{\"path\": \"a\"}get_time[ARGS]{}").call("list_dir", dir("a")).call("get_time", json!({})),
        row("[TOOL_CALLS] [{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}}][TOOL_CALLS] [{\"name\": \"get_time\", \"arguments\": {}}]")
            .call("list_dir", dir("a"))
            .call("get_time", json!({})),
        row("[TOOL_CALLS] [{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}}]\n[1] is a footnote.")
            .call("list_dir", dir("a"))
            .says("[1] is a footnote."),
        row("[TOOL_CALLS]list_dir[ARGS]{\"path\": \"a\"}\n\nI will report.").call("list_dir", dir("a")).says("I will report."),
        row("[TOOL_CALLS]list_dir{\"path\": \"a\"}\nget_time is next.").call("list_dir", dir("a")).says("get_time is next."),
        row("[TOOL_CALLS]nope[ARGS]{\"a\": 1}").unknown("nope", json!({"a": 1})),
        row(&format!("[TOOL_CALLS] [{{\"name\": \"get_time\", \"arguments\": {{}}}}, {{\"name\": \"write_file\", \"arguments\": {{\"file_path\": \"]\", \"content\": \"{long}\"}}}}] Done."))
            .call("get_time", json!({}))
            .call("write_file", json!({"file_path": "]", "content": long}))
            .says("Done."),
        row(&format!("[TOOL_CALLS]write_file[ARGS]{{\"file_path\": \"a\", \"content\": \"[TOOL_CALLS]{long}")).cut("write_file"),
        row("[TOOL_CALLS]write_file[ARGS]").cut("write_file"),
        row("The [TOOL_CALLS] token starts a call.").says("The [TOOL_CALLS] token starts a call."),
        row("[TOOL_CALLS] is a token.").says("[TOOL_CALLS] is a token."),
    ]);
    let text = "[TOOL_CALLS]list_dir[CALL_ID]aB3dE6gH9[ARGS]{\"path\": \"a\"}";
    assert_eq!(row(text).case().decode([text]).ids, ["aB3dE6gH9"]);
    let text = "[TOOL_CALLS][{\"name\": \"get_time\", \"arguments\": {}, \"id\": \"Zz0000001\"}]";
    assert_eq!(row(text).case().decode([text]).ids, ["Zz0000001"]);
}
