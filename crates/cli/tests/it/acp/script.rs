//! Scripts of our own client: whole transcripts, the editor's files and terminals, and ends at any point.

use rail_testkit::{Turn, call, text, thinking};
use serde_json::{Value, json};

use super::{Editor, allow, prompt, stops, update};

/// A transcript without what differs from run to run.
fn told(editor: &Editor) -> String {
    let transcript = editor.client.transcript();
    let mut lines = Vec::new();
    // How far a command is, is told now and then.
    let is_progress = |line: &String| line.contains("\"tool_call_update\"") && !line.contains("\"status\"");
    for line in whole(&transcript).into_iter().filter(|line| !is_progress(line)) {
        // The list of commands is that of another test.
        let line = match line.find("\"availableCommands\":") {
            Some(at) => format!("{}…", &line[..at]),
            None => line.to_owned(),
        };
        lines.push(timeless(&line));
    }
    lines.join("\n")
}

/// The lines, with pieces of one message in one: how it was cut is the network's doing.
fn whole(transcript: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut last: Option<Value> = None;
    for line in transcript.lines() {
        let said: Option<Value> = line.strip_prefix("< ").and_then(|line| serde_json::from_str(line).ok());
        let update = said.as_ref().map(|said| &said["params"]["update"]);
        let is_chunk = update.is_some_and(|update| update["messageId"].is_string());
        match (last.take(), said) {
            (Some(mut before), Some(said)) if is_chunk && without_text(&before) == without_text(&said) => {
                let text =
                    |of: &Value| of["params"]["update"]["content"]["text"].as_str().unwrap().to_owned();
                before["params"]["update"]["content"]["text"] = Value::from(text(&before) + &text(&said));
                *lines.last_mut().unwrap() = format!("< {before}");
                last = Some(before);
            }
            (_, said) => {
                lines.push(line.to_owned());
                last = said.filter(|_| is_chunk);
            }
        }
    }
    lines
}

fn without_text(said: &Value) -> Value {
    let mut said = said.clone();
    said["params"]["update"]["content"]["text"] = Value::Null;
    said
}

/// Times in milliseconds are told as `N ms`.
fn timeless(line: &str) -> String {
    let mut pieces = line.split(" ms").peekable();
    let mut out = String::new();
    while let Some(piece) = pieces.next() {
        let is_time = pieces.peek().is_some();
        let kept = if is_time { piece.trim_end_matches(|c: char| c.is_ascii_digit()) } else { piece };
        out.push_str(kept);
        out.push_str(if is_time && kept.len() < piece.len() {
            "N ms"
        } else if is_time {
            " ms"
        } else {
            ""
        });
    }
    out
}

#[test]
fn a_whole_session() {
    let editor = Editor::open(
        vec![
            Turn::reply(vec![
                thinking("Let me look.", None),
                text("I write it."),
                call("write_file", json!({"file_path": "hello.txt", "content": "hello\n"})),
            ]),
            Turn::reply(vec![call("bash", json!({"command": "cat hello.txt"}))]),
            Turn::reply(vec![text("It says hello.")]),
        ],
        &json!({}),
    );
    let asks = json!({"do": "expect", "method": "session/request_permission", "holding": {"toolCall": {"kind": "edit", "content": [{"type": "diff", "newText": "hello\n"}]}}});
    let editor = editor.play(&json!([prompt(1, "Write hello."), asks, allow(), stops(1, "end_turn")]));
    insta::assert_snapshot!(told(&editor));
    let (said, home, _) = editor.over();
    assert_eq!(home.read("work/hello.txt"), "hello\n");
    assert_eq!(said, "");
}

#[test]
fn rejected_is_told_to_the_model() {
    let editor = Editor::open(
        vec![
            Turn::reply(vec![call("bash", json!({"command": "touch a"}))]),
            Turn::reply(vec![text("Then not.")]),
        ],
        &json!({}),
    );
    let reject = json!({"do": "answer", "method": "session/request_permission",
        "result": {"outcome": {"outcome": "selected", "optionId": "reject-once"}}});
    let failed = update(json!({"sessionUpdate": "tool_call_update", "status": "failed"}));
    let (_, home, models) =
        editor.play(&json!([prompt(1, "Touch."), reject, failed, stops(1, "end_turn")])).over();
    assert!(!home.path("work/a").exists());
    assert_eq!(models.requests().len(), 2);
}

#[test]
fn allowed_for_always_is_not_asked_again() {
    let touch = |name: &str| Turn::reply(vec![call("bash", json!({"command": format!("touch {name}")}))]);
    let editor = Editor::open(vec![touch("a"), touch("b"), Turn::reply(vec![text("Done.")])], &json!({}));
    let always = json!({"do": "answer", "method": "session/request_permission",
        "result": {"outcome": {"outcome": "selected", "optionId": "allow-always-2"}}});
    let (_, home, _) = editor.play(&json!([prompt(1, "Touch."), always, stops(1, "end_turn")])).over();
    assert!(home.path("work/a").exists() && home.path("work/b").exists());
}

#[test]
fn what_the_editor_refuses_is_read_and_written_on_the_disk() {
    let editor = Editor::start(
        vec![
            Turn::reply(vec![call("read_file", json!({"file_path": "a.txt"}))]),
            Turn::reply(vec![call(
                "edit_file",
                json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"}),
            )]),
            Turn::reply(vec![text("Done.")]),
        ],
        &["--permission-mode", "accept-edits"],
    );
    editor.home.write("work/a.txt", "one\n");
    let refuse = |method: &str| json!({"do": "refuse", "method": method, "code": -32603});
    let (_, home, _) = editor
        .play(&json!([
            {"do": "request", "id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": true, "writeTextFile": true}}}},
            {"do": "await", "id": 0},
            {"do": "request", "id": 1, "method": "session/new", "params": {"cwd": "${work}", "mcpServers": []}},
            {"do": "await", "id": 1, "holding": {"result": {"modes": {"currentModeId": "accept-edits"}}}, "keep": {"session": "/result/sessionId"}},
            prompt(2, "Edit."),
            refuse("fs/read_text_file"), refuse("fs/read_text_file"), refuse("fs/read_text_file"), refuse("fs/read_text_file"),
            refuse("fs/write_text_file"), stops(2, "end_turn"),
        ]))
        .over();
    assert_eq!(home.read("work/a.txt"), "two\n");
}

#[test]
fn what_changed_in_the_editor_since_it_was_read_is_not_overwritten() {
    let editor = Editor::start(
        vec![
            Turn::reply(vec![call("read_file", json!({"file_path": "a.txt"}))]),
            Turn::reply(vec![call(
                "edit_file",
                json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"}),
            )]),
            Turn::reply(vec![text("Read it again.")]),
        ],
        &["--permission-mode", "accept-edits"],
    );
    editor.home.write("work/a.txt", "one\n");
    let gives =
        |text: &str| json!({"do": "answer", "method": "fs/read_text_file", "result": {"content": text}});
    let failed = update(json!({"sessionUpdate": "tool_call_update", "status": "failed"}));
    let (_, home, models) = editor
        .play(&json!([
            {"do": "request", "id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": true, "writeTextFile": true}}}},
            {"do": "await", "id": 0},
            {"do": "request", "id": 1, "method": "session/new", "params": {"cwd": "${work}", "mcpServers": []}},
            {"do": "await", "id": 1, "keep": {"session": "/result/sessionId"}},
            prompt(2, "Edit."), gives("one\n"), gives("one, typed on\n"), gives("one, typed on\n"), failed, stops(2, "end_turn"),
        ]))
        .over();
    assert_eq!(home.read("work/a.txt"), "one\n");
    let last = serde_json::to_string(&models.requests()[2].request().unwrap().messages).unwrap();
    assert!(last.contains("was changed since it was read"), "{last}");
}

#[test]
fn what_the_editor_keeps_to_itself_is_on_the_disk_as_well_and_other_forms_are_ours() {
    let editor = Editor::start(
        vec![
            Turn::reply(vec![call("write_file", json!({"file_path": "sub/new.txt", "content": "new\n"}))]),
            Turn::reply(vec![call("read_file", json!({"file_path": "dos.txt"}))]),
            Turn::reply(vec![call(
                "edit_file",
                json!({"file_path": "dos.txt", "old_string": "one", "new_string": "two"}),
            )]),
            Turn::reply(vec![text("Done.")]),
        ],
        &["--permission-mode", "accept-edits"],
    );
    editor.home.write("work/dos.txt", "one\r\n");
    let written = json!({"do": "answer", "method": "fs/write_text_file", "result": {}});
    // Of what ends its lines in another way the editor is not asked: nobody would answer.
    let (_, home, _) = editor
        .play(&json!([
            {"do": "request", "id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": true, "writeTextFile": true}}}},
            {"do": "await", "id": 0},
            {"do": "request", "id": 1, "method": "session/new", "params": {"cwd": "${work}", "mcpServers": []}},
            {"do": "await", "id": 1, "keep": {"session": "/result/sessionId"}},
            prompt(2, "Edit."), written, stops(2, "end_turn"),
        ]))
        .over();
    assert_eq!(
        (home.read("work/sub/new.txt"), home.read("work/dos.txt")),
        ("new\n".to_owned(), "two\r\n".to_owned())
    );
}

#[test]
fn a_command_in_a_terminal_is_ended_with_its_turn() {
    let editor = Editor::open(
        vec![Turn::reply(vec![call("bash", json!({"command": "sleep 600"}))])],
        &json!({"terminal": true}),
    );
    let made = json!({"do": "answer", "method": "terminal/create", "result": {"terminalId": "t"}});
    let shown = update(
        json!({"sessionUpdate": "tool_call_update", "content": [{"type": "terminal", "terminalId": "t"}]}),
    );
    let waits = json!({"do": "expect", "method": "terminal/wait_for_exit"});
    let cancel = json!({"do": "notify", "method": "session/cancel", "params": {"sessionId": "${session}"}});
    let killed = json!({"do": "expect", "method": "terminal/kill"});
    let released = json!({"do": "expect", "method": "terminal/release"});
    let editor = editor.play(&json!([
        prompt(1, "Sleep."),
        made,
        shown,
        waits,
        cancel,
        stops(1, "cancelled"),
        killed,
        released,
    ]));
    let (_, home, _) = editor.over();
    let orders = std::fs::read_dir(home.path("state/switchrail/orders")).unwrap().count();
    assert_eq!(orders, 0, "an order that was never begun is taken away");
}

#[test]
fn without_a_terminal_to_be_had_commands_run_as_ever() {
    let editor = Editor::open(
        vec![
            Turn::reply(vec![call("bash", json!({"command": "echo $((6*7)) > made.txt; cat made.txt"}))]),
            Turn::reply(vec![text("Done.")]),
        ],
        &json!({"terminal": true}),
    );
    let refuse = json!({"do": "refuse", "method": "terminal/create", "code": -32603});
    let (_, home, _) = editor
        .play(&json!([
            prompt(1, "Count."),
            allow(),
            refuse,
            update(json!({"status": "completed"})),
            stops(1, "end_turn")
        ]))
        .over();
    assert_eq!(home.read("work/made.txt"), "42\n");
}

#[test]
fn a_command_that_has_begun_in_a_terminal_is_not_run_again() {
    let editor = Editor::open(
        vec![
            Turn::reply(vec![call("bash", json!({"command": "echo again > made.txt"}))]),
            Turn::reply(vec![text("Who knows.")]),
        ],
        &json!({"terminal": true}),
    );
    let asked = json!({"do": "expect", "method": "terminal/create"});
    let editor = editor.play(&json!([prompt(1, "Make it."), allow(), asked]));
    // The terminal has begun: the order is taken.
    let orders = std::fs::read_dir(editor.home.path("state/switchrail/orders")).unwrap();
    let orders: Vec<_> = orders.map(|order| order.unwrap().path()).collect();
    assert_eq!(orders.len(), 1, "{orders:?}");
    std::fs::remove_file(&orders[0]).unwrap();
    let refuse = json!({"do": "refuse", "method": "terminal/create", "code": -32603});
    let failed = update(json!({"sessionUpdate": "tool_call_update", "status": "failed"}));
    let (_, home, models) = editor.play(&json!([refuse, failed, stops(1, "end_turn")])).over();
    assert!(!home.path("work/made.txt").exists(), "it was run twice");
    let said = serde_json::to_string(&models.requests()[1].request().unwrap().messages).unwrap();
    assert!(said.contains("it was not run again"), "{said}");
}

#[test]
fn agents_are_shown_with_the_call_that_set_them_to_work() {
    let task = json!({"description": "Look around", "prompt": "Look.", "subagent_type": "general-purpose"});
    let editor = Editor::open(
        vec![
            Turn::reply(vec![call("task", task)]),
            Turn::reply(vec![call("list_directory", json!({"path": "."}))]),
            Turn::reply(vec![text("Nothing there.")]),
            Turn::reply(vec![text("It is empty.")]),
        ],
        &json!({}),
    );
    let (_, _, models) = editor
        .play(&json!([
            prompt(1, "Have it looked at."),
            update(json!({"sessionUpdate": "tool_call", "title": "Task Look around", "kind": "think"})),
            update(json!({"sessionUpdate": "tool_call_update", "status": "completed"})),
            stops(1, "end_turn"),
        ]))
        .over();
    assert_eq!(models.requests().len(), 4);
}

#[test]
fn two_folders_at_once() {
    let editor = Editor::open(
        vec![
            Turn::reply(vec![call("list_directory", json!({"path": "."}))]),
            Turn::reply(vec![text("One.")]),
            Turn::reply(vec![call("list_directory", json!({"path": "."}))]),
            Turn::reply(vec![text("Two.")]),
        ],
        &json!({}),
    );
    editor.home.write("work/in-work.txt", "");
    editor.home.write("other/in-other.txt", "");
    let other = json!({"do": "request", "id": 2, "method": "session/prompt",
        "params": {"sessionId": "${other}", "prompt": [{"type": "text", "text": "List."}]}});
    let (_, _, models) = editor
        .play(&json!([
            {"do": "request", "id": 9, "method": "session/new", "params": {"cwd": "${home}/other", "mcpServers": []}},
            {"do": "await", "id": 9, "keep": {"other": "/result/sessionId"}},
            prompt(1, "List."), stops(1, "end_turn"), other, stops(2, "end_turn"),
        ]))
        .over();
    let said = |at: usize| serde_json::to_string(&models.requests()[at].request().unwrap().messages).unwrap();
    assert!(said(1).contains("in-work.txt") && !said(1).contains("in-other.txt"));
    assert!(said(3).contains("in-other.txt") && !said(3).contains("in-work.txt"));
}

#[test]
fn servers_of_the_editor_are_joined_to_the_configured_ones() {
    let editor = Editor::start(
        vec![
            // Servers delay nothing; who looks for their tools waits for them.
            Turn::reply(vec![call("mcp_search", json!({"query": "add"}))]),
            Turn::reply(vec![call(
                "mcp_call",
                json!({"name": "mcp__small-one__add", "arguments": {"a": 2, "b": 40}}),
            )]),
            Turn::reply(vec![text("Added.")]),
        ],
        &["--allow", "mcp__small-one__add"],
    );
    editor.home.write("server.py", crate::mcp_session::SERVER);
    let server = json!({"name": "small one", "command": "python3", "args": ["${home}/server.py"], "env": []});
    let (_, _, models) = editor
        .play(&json!([
            {"do": "request", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}},
            {"do": "await", "id": 0},
            {"do": "request", "id": 1, "method": "session/new", "params": {"cwd": "${work}", "mcpServers": [server]}},
            {"do": "await", "id": 1, "keep": {"session": "/result/sessionId"}},
            prompt(2, "Add."), stops(2, "end_turn"),
        ]))
        .over();
    let said = serde_json::to_string(&models.requests()[2].request().unwrap().messages).unwrap();
    assert!(said.contains("\"42\""), "{said}");
}

#[test]
fn without_a_provider_the_way_to_one_is_told() {
    let home = crate::home::Home::new().set("SWITCHRAIL_DISCOVERY__SERVERS", "[]");
    let input: String = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "authenticate", "params": {"methodId": "configuration"}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": home.path("work"), "mcpServers": []}}),
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect();
    let output = home.bounded(&["acp"], &input);
    let lines: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for id in [1, 2] {
        let answer = lines.iter().find(|line| line["id"] == id).unwrap();
        assert_eq!(answer["error"]["code"], -32000, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("rail init"), "{answer}");
    }
}
