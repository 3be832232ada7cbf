//! Texts of the corpus cut at every character: what a tool that acts is called with is what the model meant, or nothing.

use serde_json::{Value, json};

use crate::decode::Case;

/// Tools of the corpus that write or execute.
const ACTS: [&str; 5] = ["write_file", "edit_file", "run_command", "python", "http_request"];

#[test]
fn a_call_that_acts_is_whole_or_not_run() {
    let mut wrong = Vec::new();
    for case in Case::all().iter().filter(|case| case.is_text()) {
        let text = case.text();
        // Code without a closer ends where the model stops, so all of it is meant.
        if text.len() > 400 || case.id() == "functionary-v31-python" {
            continue;
        }
        let meant: Vec<Value> = case.decode([text.as_str()]).calls;
        if !meant.iter().any(|call| ACTS.iter().any(|name| call["name"] == *name)) {
            continue;
        }
        for finish in ["length", "stop"] {
            let mut cut = Case(case.0.clone());
            cut.0["options"]["finish_reason"] = json!(finish);
            for (at, _) in text.char_indices() {
                let got = cut.decode([&text[..at]]);
                for call in got.calls.iter().filter(|call| ACTS.iter().any(|name| call["name"] == *name)) {
                    if call.get("fault").is_none() && !meant.contains(call) {
                        wrong.push(format!("{} {finish} {:?}\n    {call}", case.id(), &text[..at]));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A string that has no end is proof of a cut, whatever closes the call.
#[test]
fn a_string_without_an_end_is_never_completed() {
    let long = "x".repeat(1500);
    for command in ["rm -rf /tmp/x".to_owned(), long] {
        for text in [
            format!(
                r#"<tool_call>{{"name": "run_command", "arguments": {{"command": "{command}</tool_call>"#
            ),
            format!(
                "<tool_call>\n{{\"name\": \"run_command\", \"arguments\": {{\"command\": \"{command}\n</tool_call>"
            ),
            format!("[TOOL_CALLS]run_command[ARGS]{{\"command\": \"{command}</s>"),
            format!("[TOOL_CALLS]run_command[ARGS]{{\"command\": \"{command}"),
            format!(
                "<|tool_call_begin|>functions.run_command:0<|tool_call_argument_begin|>{{\"command\": \"{command}<|tool_call_end|>"
            ),
            format!(
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>run_command<｜tool▁sep｜>{{\"command\": \"{command}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
            ),
            format!("<function=run_command>{{\"command\": \"{command}</function>"),
            format!(
                "<|channel|>commentary to=functions.run_command <|constrain|>json<|message|>{{\"command\": \"{command}<|call|>"
            ),
            format!("<tool_call>\n<function=run_command>\n<parameter=command>\n{command}"),
            format!("<tool_call>run_command<arg_key>command</arg_key><arg_value>{command}"),
            format!("<function_calls><invoke name=\"run_command\"><parameter name=\"command\">{command}"),
            format!("<tool_call>\n<function=run_command>\n<parameter=command>\n{command}</parameter>"),
            format!("<tool_call>run_command<arg_key>command</arg_key><arg_value>{command}</arg_value>"),
            format!(
                "<function_calls><invoke name=\"run_command\"><parameter name=\"command\">{command}</parameter>"
            ),
            format!(
                "<tool_call>\n<function=run_command>\n<parameter=command>\n{command}</parameter>\nSo that was that."
            ),
            format!(
                "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"run_command\">]<]minimax[>[<command>{command}]<]minimax[>[</command> and so on"
            ),
            format!(
                "<function=run_command><parameter=command>{command}</parameter> and so on.\n\nNow <b>this</b> is text.\n"
            ),
            format!("<|tool_call>call:run_command{{command:<|\"|>{command}"),
            format!("<|python_start|>[run_command(command='{command}"),
            format!("Action: run_command\nAction Input: {{\"command\": \"{command}"),
            format!("```json\n{{\"name\": \"run_command\", \"arguments\": {{\"command\": \"{command}\n```"),
        ] {
            for finish in ["stop", "tool_calls", "length"] {
                let got = crate::rows::read(&text, finish);
                let run = got.calls.iter().filter(|call| call.get("fault").is_none()).count();
                assert_eq!(run, 0, "{finish} {}: {:?}", text.replace(&command, "…"), got.calls);
            }
        }
    }
}
