use serde_json::json;

use super::{check, dir, row};

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
        row("assistant<|channel|>analysis<|message|>Hm.<|end|>assistant<|channel|>final<|message|>Four.<|return|>")
            .thinks("Hm.")
            .says("Four."),
        row("assistant to=functions.get_time<|channel|>commentary<|message|>{}<|call|>").call("get_time", json!({})),
        row("<|channel|>commentary to=functions.get_time<|message|>{}}<|call|>").call("get_time", json!({})),
        row("to=multi_tool_use.parallel<|message|>no JSON<|call|>").says("to=multi_tool_use.parallel<|message|>no JSON<|call|>"),
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
fn what_is_said_in_a_channel_comes_as_it_is_said() {
    let text = format!("<|channel|>final<|message|>{}<|return|>", "Many words. ".repeat(50));
    let case = row(&text).case();
    let pieces = super::pieces(&text, 10);
    let got = case.decode(pieces.iter().map(String::as_str));
    let half = got.growth.get(got.growth.len() / 2).copied().unwrap();
    assert!(half > 200, "{half} bytes after half of the text");
}
