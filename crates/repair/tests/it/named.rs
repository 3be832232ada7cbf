//! Formats whose arguments are JSON after a header or in an envelope, and the protocols with channels.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::decode::{Case, Decoded};

/// What a text should become.
#[derive(Default)]
struct Row {
    text: String,
    calls: Vec<Value>,
    incomplete: Vec<&'static str>,
    content: &'static str,
    reasoning: &'static str,
    options: Value,
}

fn row(text: &str) -> Row {
    Row { text: text.to_owned(), options: json!({}), ..Row::default() }
}

impl Row {
    fn call(mut self, name: &str, arguments: Value) -> Self {
        self.calls.push(json!({"name": name, "arguments": arguments}));
        self
    }

    fn unknown(mut self, name: &str, arguments: Value) -> Self {
        self.calls.push(json!({"name": name, "arguments": arguments, "unknown": true}));
        self
    }

    fn cut(mut self, name: &'static str) -> Self {
        self.incomplete.push(name);
        self.options["finish_reason"] = json!("length");
        self
    }

    fn says(mut self, content: &'static str) -> Self {
        self.content = content;
        self
    }

    fn thinks(mut self, reasoning: &'static str) -> Self {
        self.reasoning = reasoning;
        self
    }

    fn hint(mut self, family: &str) -> Self {
        self.options["hint"] = json!(family);
        self
    }

    fn case(&self) -> Case {
        Case(json!({"chunks": [self.text], "tools": tools(), "options": self.options}))
    }
}

fn tools() -> Value {
    let tool = |name: &str, required: &[&str], optional: &[&str]| {
        let properties: serde_json::Map<String, Value> = required
            .iter()
            .chain(optional)
            .map(|key| ((*key).to_owned(), json!({"type": "string"})))
            .collect();
        json!({"name": name, "parameters": {"type": "object", "properties": properties, "required": required}})
    };
    json!([
        tool("list_dir", &["path"], &[]),
        tool("read-file", &["file_path"], &[]),
        tool("write_file", &["file_path", "content"], &[]),
        tool("get_time", &[], &[]),
        tool("python", &["code"], &[]),
    ])
}

/// The answer without what this table does not compare; a call that can't be read because it was cut counts as incomplete.
fn answer(got: &Decoded) -> (Vec<Value>, Vec<String>, String, String) {
    let (cut, calls): (Vec<Value>, Vec<Value>) =
        got.calls.iter().cloned().partition(|call| call.get("fault").is_some());
    let mut incomplete = got.incomplete.clone();
    incomplete.extend(cut.iter().map(|call| call["name"].as_str().unwrap().to_owned()));
    (calls, incomplete, got.content.clone(), got.reasoning.clone())
}

fn pieces(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// Checks rows whole and in pieces of every size.
fn check(rows: Vec<Row>) {
    let mut wrong = Vec::new();
    for row in rows {
        let case = row.case();
        let incomplete: Vec<String> = row.incomplete.iter().map(|name| (*name).to_owned()).collect();
        let want = (row.calls.clone(), incomplete, row.content.to_owned(), row.reasoning.to_owned());
        let short: String = row.text.chars().take(300).collect();
        let whole = answer(&case.decode([row.text.as_str()]));
        if whole != want {
            wrong.push(format!("{short:?}\n   got {whole:?}\n  want {want:?}"));
            continue;
        }
        for size in [1, 2, 3, 7] {
            let pieces = pieces(&row.text, size);
            let got = answer(&case.decode(pieces.iter().map(String::as_str)));
            if got != want {
                wrong.push(format!("in pieces of {size}: {short:?}\n   got {got:?}\n  want {want:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn dir(path: &str) -> Value {
    json!({ "path": path })
}

#[test]
fn functionary_addresses_its_messages() {
    check(vec![
        row("all\nOne moment.>>>get_time\n{}>>>list_dir\n{\"path\": \"q\"}")
            .hint("functionary_v3.2")
            .says("One moment.")
            .call("get_time", json!({}))
            .call("list_dir", dir("q")),
        row("list_dir\n{\"path\": \"q\"}").hint("functionary_v3.2").call("list_dir", dir("q")),
        row(">>>list_dir\n{\"path\": \"q\"}").hint("functionary_v3.2").call("list_dir", dir("q")),
        row("all\nIn Python:\n>>> x = 1\nlike so.")
            .hint("functionary_v3.2")
            .says("In Python:\n>>> x = 1\nlike so."),
        row("python\nprint(1)").hint("functionary_v3.2").call("python", json!({"code": "print(1)"})),
        row("write_file\n{\"file_path\": \"a\", \"content\": \"b").hint("functionary_v3.2").cut("write_file"),
        row("all\nOne moment.>>>list_dir\n{}").says("all\nOne moment.>>>list_dir\n{}"),
        row("<|from|>assistant\n<|recipient|>list_dir\n<|content|>{\"path\": \"v2\"}")
            .call("list_dir", dir("v2")),
        row("<|recipient|>all\n<|content|>Hi.<|stop|>").says("Hi."),
        row("list_dir\n<|content|>{\"path\": \"v2\"}<|stop|>").call("list_dir", dir("v2")),
        row("all\n<|content|>Hi.\n<|from|>assistant\n<|recipient|>get_time\n<|content|>{}<|stop|>")
            .says("Hi.")
            .call("get_time", json!({})),
        row("The token <|from|> names the speaker.").says("The token <|from|> names the speaker."),
    ]);
}

#[test]
fn harmony_has_channels() {
    let long = "x".repeat(3000);
    check(vec![
        row("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.list_dir <|constrain|>json<|message|>{\"path\": \"a\"}<|call|>")
            .thinks("Hm.")
            .call("list_dir", dir("a")),
        row("<|start|>assistant<|channel|>commentary<|message|>I will look.<|end|><|start|>assistant<|channel|>commentary to=functions.list_dir<|message|>{\"path\": \"a\"}<|call|>")
            .says("I will look.")
            .call("list_dir", dir("a")),
        row("<|channel|>commentary<|message|>First.<|end|>\n<|start|>assistant<|channel|>final<|message|>Second.<|return|>")
            .says("First.\nSecond."),
        row("<|channel|>analysis<|message|>One.<|end|><|start|>assistant<|channel|>analysis<|message|>Two.<|end|>").thinks("One.\nTwo."),
        row(" to=functions.list_dir<|channel|>commentary <|constrain|>json<|message|>{\"path\": \"a\"}<|call|>")
            .call("list_dir", dir("a")),
        row("to=list_dir<|channel|>analysis<|message|>{\"path\": \"a\"}").call("list_dir", dir("a")),
        row("to=list_dir is how you address a tool.").says("to=list_dir is how you address a tool."),
        row("<|channel|>commentary to=functions.list_dir <|constrain|>python<|message|>{\"path\": \"a\"}<|return|>")
            .call("list_dir", dir("a")),
        row("<|channel|>commentary to=functions.list_dir<|constrain|>json<|message|>{\"path\": \"a\"}<|end|>Done.")
            .call("list_dir", dir("a"))
            .says("Done."),
        row("<|channel|>commentary to=functions.list_dir json{\"path\": \"a\"}<|call|>").call("list_dir", dir("a")),
        row("<|channel|>analysis to=python code<|message|>print(\"a\")<|call|>")
            .call("python", json!({"code": "print(\"a\")"})),
        row("<|channel|>commentary to=browser.search<|message|>{\"q\": 1}<|call|>").unknown("browser.search", json!({"q": 1})),
        row("<|start|>assistant<|channel|>python<|channel|>commentary<|message|>{\"code\": \"1\"}<|call|>")
            .call("python", json!({"code": "1"})),
        row("<|start|>assistant<|message|>Hello.<|end|>").says("Hello."),
        row("<|channel|>commentary to=functions.get_time <|constrain|>json<|message|><|call|>").call("get_time", json!({})),
        row("<|channel|>commentary to=multi_tool_use.parallel <|constrain|>json<|message|>{\"tool_uses\": [{\"recipient_name\": \"list_dir\", \"parameters\": {\"path\": \"a\"}}, {\"recipient_name\": \"get_time\", \"parameters\": {}}]}<|call|>")
            .call("list_dir", dir("a"))
            .call("get_time", json!({})),
        row("<|channel|>commentary to=functions.list_dir<|message|>{\"path\": \"a\"}<|call|><|start|>assistant<|channel|>commentary to=functions.get_time<|message|>{}<|call|>")
            .call("list_dir", dir("a"))
            .call("get_time", json!({})),
        row(&format!("<|channel|>commentary to=functions.write_file<|message|>{{\"file_path\": \"a\", \"content\": \"<|call|>{long}\"}}<|call|>"))
            .call("write_file", json!({"file_path": "a", "content": format!("<|call|>{long}")})),
        row(&format!("<|channel|>commentary to=functions.write_file<|message|>{{\"file_path\": \"a\", \"content\": \"{long}")).cut("write_file"),
        row("<|channel|>commentary to=functions.write_file<|message|>{\"file_path\": \"a\", \"content\": \"b").cut("write_file"),
        row("<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>").cut("write_file"),
        // Headers that make no sense are text.
        row("<|channel|>whatever this, is").says("<|channel|>whatever this, is"),
        row("gpt-oss has <|channel|> and <|start|> tokens.").says("gpt-oss has <|channel|> and <|start|> tokens."),
        row("The header is `<|channel|>final<|message|>` there.").says("The header is `<|channel|>final<|message|>` there."),
        row("<|start|>user<|message|>Hi.<|end|>").says("<|start|>user<|message|>Hi.<|end|>"),
        row("<|channel|>commentary to=functions.wri").says("<|channel|>commentary to=functions.wri"),
        // A call in what is said is a call.
        row("<|channel|>final<|message|>Now.\n<tool_call>{\"name\": \"get_time\", \"arguments\": {}}</tool_call><|return|>")
            .says("Now.")
            .call("get_time", json!({})),
    ]);
}

#[test]
fn harmony_without_its_tokens_needs_the_hint() {
    check(vec![
        row("analysisNeed the list.assistantcommentary to=functions.list_dir json{\"path\": \"a\"}assistantfinalDone.")
            .hint("harmony")
            .thinks("Need the list.")
            .call("list_dir", dir("a"))
            .says("Done."),
        row("commentaryI will look.assistantcommentary to=functions.list_dir json{\"path\": \"a\"}")
            .hint("harmony")
            .says("I will look.")
            .call("list_dir", dir("a")),
        row("commentary to=functions.list_dir json{\"path\": \"a\"}").hint("harmony").call("list_dir", dir("a")),
        row("analysisHm.assistant to=functions.list_dircommentary json{\"path\": \"a\"}")
            .hint("harmony")
            .thinks("Hm.")
            .call("list_dir", dir("a")),
        row("finalFour.").hint("harmony").says("Four."),
        row("final answers are short").hint("harmony").says("final answers are short"),
        row("Four.").hint("harmony").says("Four."),
        row("analysisHm.assistantfinalFour.").says("analysisHm.assistantfinalFour."),
        row("analysisHm.assistantcommentary to=functions.write_file json{\"file_path\": \"a")
            .hint("harmony")
            .thinks("Hm.")
            .cut("write_file"),
        row("<|channel|>final<|message|>Four.<|return|>").hint("harmony").says("Four."),
    ]);
}

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

/// Words of all these formats, and what may stand between them.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "<|channel|>",
        "<|start|>",
        "<|message|>",
        "<|end|>",
        "<|call|>",
        "<|return|>",
        "<|constrain|>",
        "assistant",
        "analysis",
        "commentary",
        "final",
        " to=",
        "functions.",
        "list_dir",
        "get_time",
        "write_file",
        "python",
        "json",
        "{}",
        "{\"path\": \"a\"}",
        "{\"path\": \"",
        "\"}",
        "{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}}",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\n",
        " ",
        "```",
        "`",
        "text",
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>",
        "function",
        "<|tool_calls_section_begin|>",
        "<|tool_call_begin|>",
        ":0",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
        "<|tool_calls_section_end|>",
        "[TOOL_CALLS]",
        "[ARGS]",
        "[CALL_ID]",
        "<|python_tag|>",
        "<|tools_prefix|>",
        "<|tools_suffix|>",
        "<|tool_call:begin|>",
        "<|tool_call:name|>",
        "<|tool_call:args|>",
        "✿FUNCTION✿",
        "✿ARGS✿",
        "✿RESULT✿",
        "<tool>",
        "</tool>",
        "<response>",
        "</response>",
        "<tool_calls>",
        "</tool_calls>",
        "<think>",
        "</think>",
        ">>>",
        "all",
        "<|from|>",
        "<|recipient|>",
        "<|content|>",
        "<|START_RESPONSE|>",
        "<|END_RESPONSE|>",
        "[BEGIN FINAL RESPONSE]",
    ]);
    prop::collection::vec(word, 0..14).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn how_the_text_is_cut_does_not_matter(
        text in words(),
        family in prop::sample::select(vec!["", "harmony", "functionary_v3.2", "ernie"]),
        size in 1..9_usize,
    ) {
        let case = row(&text).hint(family).case();
        let pieces = pieces(&text, size);
        let whole = case.decode([text.as_str()]);
        let cut = case.decode(pieces.iter().map(String::as_str));
        prop_assert_eq!(answer(&whole), answer(&cut));
        prop_assert_eq!(whole.ids, cut.ids);
    }

    #[test]
    fn no_words_are_lost(text in words(), family in prop::sample::select(vec!["", "harmony", "functionary_v3.2"])) {
        // Two formats have places for words that nobody should see.
        let text = text.replace("<|tool_calls_section_begin|>", "").replace("✿RESULT✿", "");
        let got = row(&text).hint(family).case().decode([text.as_str()]);
        prop_assume!(answer(&got).1.is_empty());
        let said = format!("{} {} {}", got.content, got.reasoning, Value::from(got.calls));
        prop_assert!(said.matches("text").count() >= text.matches("text").count(), "{text:?} became {said:?}");
    }
}
