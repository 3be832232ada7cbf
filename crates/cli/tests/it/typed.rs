//! Slash commands, files that a message names, and who is asked about calls, in a session that a program drives.

use std::path::Path;
use std::time::{Duration, Instant};

use rail_model::Part;
use rail_testkit::{Models, Turn, call};
use serde_json::{Value, json};

use crate::headless::{Driven, lines, say, scene};
use crate::home::Home;

const STREAM: &[&str] = &["--output-format", "stream-json", "--input-format", "stream-json"];

/// What the user said last in the last request.
fn last(models: &Models) -> String {
    let asked = models.requests().pop().unwrap();
    let message = asked.request().unwrap().messages.last().unwrap().clone();
    message.parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n\n")
}

impl Driven {
    /// The result of a message.
    fn result(&mut self, words: &str) -> Value {
        self.user(words);
        self.of_type("result")
    }

    /// What a command says that asks no model.
    fn said(&mut self, words: &str) -> String {
        let result = self.result(words);
        assert_eq!(
            (&result["subtype"], &result["is_error"], &result["num_turns"]),
            (&json!("success"), &json!(false), &json!(0)),
            "{result}"
        );
        result["result"].as_str().unwrap().to_owned()
    }
}

fn home_with_programs(home: Home) -> Home {
    home.set("PATH", "/usr/local/bin:/usr/bin:/bin").set("SWITCHRAIL_DISCOVERY__SERVERS", "[]")
}

#[test]
fn commands_are_told_to_a_session_that_is_open() {
    let (models, home) = scene(vec![
        Turn::reply(vec![call("Write", json!({"file_path": "new.txt", "content": "fresh\n"}))]),
        say("Written."),
        say("Again.").repeat(),
    ]);
    let home = home_with_programs(home);
    let mut driven = Driven::start(&home, &["--permission-mode", "acceptEdits"]);
    assert!(driven.said("/usage").starts_with("messages 0\n"));
    assert_eq!(driven.result("write it")["result"], "Written.");
    let file = home.path("work/new.txt");
    assert!(driven.said("/undo").starts_with("restored "));
    assert!(!file.exists());
    assert!(driven.said("/redo").starts_with("restored "));
    assert!(file.exists());
    let diff = driven.said("/diff");
    assert!(diff.contains("+fresh\n"), "{diff}");
    assert!(driven.said("/usage").starts_with("messages 1\nrequests 2\n"));
    assert_eq!(driven.said("/todo"), "nothing is on the list\n");
    assert!(driven.said("/rewind").starts_with("1  write it\n"));
    assert!(driven.said("/permissions").starts_with("mode accept-edits"));
    assert_eq!(driven.said("/plan"), "planning: nothing is changed from now on");
    assert!(driven.said("/permissions").starts_with("mode plan"));
    assert_eq!(driven.said("/plan"), "planning is over");
    assert_eq!(driven.said("/model one,small"), "one,small is asked from now on");
    assert_eq!(driven.result("hello")["result"], "Again.");
    assert_eq!(models.requests().pop().unwrap().request().unwrap().model, "small");
    let short = driven.result("/compact keep all");
    assert_eq!((&short["is_error"], &short["reason"]), (&json!(true), &json!("failed")));
    assert!(short["result"].as_str().unwrap().contains("nothing to make shorter"), "{short}");
    assert!(driven.said("/rewind 1").contains("the conversation ends before message 1"));
    assert!(!file.exists());
    driven.result("begin anew");
    let messages = models.requests().pop().unwrap().request().unwrap().messages.clone();
    assert!(!format!("{messages:?}").contains("write it"), "{messages:?}");
    let (_, code) = driven.end();
    assert_eq!(code, Some(0));
}

#[test]
fn commands_that_look_around_answer_without_a_model() {
    let (models, home) = scene(Vec::new());
    let home = home_with_programs(home);
    home.write("work/AGENTS.md", "Be kind.\n");
    let mut driven = Driven::start(&home, &[]);
    for (typed, shown) in [
        ("/help", "/undo"),
        ("/memory", "AGENTS.md"),
        ("/hooks", "there are no hooks"),
        ("/config router.default", "router.default = \"one,big\""),
        ("/model", "one: big"),
        ("/provider", "one"),
        ("/provider one", "`one` is the active provider"),
        ("/provider one", "This session goes on as it began"),
        ("/generation", "read_file"),
        ("/generation gen1", "write_file"),
        ("/route say hello", "one,big"),
        ("/sessions", ""),
        ("/export", "# "),
    ] {
        let said = driven.said(typed);
        assert!(said.contains(shown), "{typed}: {said}");
    }
    for (typed, why) in [
        ("/quit", "is for the terminal interface"),
        ("/compct", "did you mean `/compact`?"),
        ("/generation gen9", "/generation: "),
    ] {
        let result = driven.result(typed);
        assert_eq!((&result["is_error"], &result["num_turns"]), (&json!(true), &json!(0)));
        assert!(result["result"].as_str().unwrap().contains(why), "{result}");
    }
    assert_eq!(models.requests().len(), 0);
    // It asks providers whether they are there.
    assert!(driven.said("/doctor").contains("Configuration\n"));
    driven.result("/quit");
    // The last task decides.
    assert_eq!(driven.end().1, Some(1));
}

#[test]
fn only_commands_that_do_something_are_listed() {
    let (_models, home) = scene(vec![say("Hello.")]);
    home.write(
        ".config/switchrail/commands/fix.md",
        "---\ndescription: Mends it.\nargument-hint: what\n---\nFix $1",
    );
    let mut driven = Driven::start(&home, &[]);
    driven.ask("begin", &json!({"subtype": "initialize"}));
    let welcome = driven.of_type("control_response");
    let commands = welcome["response"]["response"]["commands"].as_array().unwrap().clone();
    let fix = json!({"name": "fix", "description": "Mends it.", "argumentHint": "what"});
    assert!(commands.contains(&fix), "{commands:?}");
    driven.user("hi");
    let init = driven.of_type("system");
    let names: Vec<&str> =
        init["slash_commands"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(names, commands.iter().map(|each| each["name"].as_str().unwrap()).collect::<Vec<_>>());
    for absent in ["quit", "theme", "resume"] {
        assert!(!names.contains(&absent), "{absent}: {names:?}");
    }
    driven.of_type("result");
    for name in names.iter().filter(|name| !["fix", "init", "doctor"].contains(name)) {
        let result = driven.result(&format!("/{name}"));
        let text = result["result"].as_str().unwrap();
        assert!(!text.contains("is for the terminal interface"), "{name}: {text}");
    }
    driven.end();
}

#[test]
fn a_command_of_the_user_s_own_and_files_reach_the_model() {
    let run = || Turn::reply(vec![call("Bash", json!({"command": "touch made"}))]);
    let (models, home) = scene(vec![run(), say("Mended."), run(), say("Not done."), say("Seen.").repeat()]);
    let home = home_with_programs(home);
    home.write("work/a.txt", "one\n");
    home.write(
        ".config/switchrail/commands/fix.md",
        "---\nallowed-tools: Bash(touch:*)\nmodel: one,small\n---\nFix $1 of $ARGUMENTS. @a.txt",
    );
    let mut driven = Driven::start(&home, &[]);
    let result = driven.result("/fix this now");
    assert_eq!((&result["result"], &result["is_error"]), (&json!("Mended."), &json!(false)), "{result}");
    let asked = models.requests();
    assert_eq!(asked[0].request().unwrap().model, "small");
    let sent = asked[0].request().unwrap().messages.last().unwrap().parts.clone();
    let sent: Vec<&str> = sent.iter().filter_map(Part::as_text).collect();
    let sent = sent.join("\n\n");
    assert!(sent.starts_with("Fix this of this now. @a.txt"), "{sent}");
    assert!(sent.contains("What `@a.txt` holds now:\n\n1\tone"), "{sent}");
    // What a command allows, and the model it names, are for its task alone.
    let denied = driven.result("run it");
    assert_eq!(denied["permission_denials"][0]["tool_name"], "Bash", "{denied}");
    assert_eq!(models.requests()[2].request().unwrap().model, "big");
    driven.result("see @a.txt");
    assert_eq!(last(&models), "see @a.txt\n\nWhat `@a.txt` holds now:\n\n1\tone\n\n[1 line in all]");
    let blocks = json!([{"type": "text", "text": "first"}, {"type": "text", "text": "/undo and @a.txt"}]);
    driven.write(&json!({"type": "user", "message": {"role": "user", "content": blocks}}));
    driven.of_type("result");
    assert!(last(&models).starts_with("first\n\n/undo and @a.txt\n\nWhat `@a.txt`"), "{}", last(&models));
    assert_eq!(driven.end().1, Some(0));
}

/// Waits for a file, and not for ever.
#[expect(clippy::disallowed_methods, reason = "a test that waits in vain has to end")]
pub(crate) fn wait_for(file: &Path) {
    let begun = Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{} never came", file.display());
        std::thread::yield_now();
    }
}

#[test]
fn a_command_that_is_being_put_together_can_be_interrupted() {
    let (models, home) = scene(vec![say("Next.")]);
    let home = home_with_programs(home);
    home.write(
        ".config/switchrail/commands/slow.md",
        "---\nallowed-tools: Bash\n---\n!`touch begun; sleep 60; touch over`",
    );
    let mut driven = Driven::start(&home, &[]);
    driven.user("/slow");
    wait_for(&home.path("work/begun"));
    driven.ask("stop", &json!({"subtype": "interrupt"}));
    assert_eq!(driven.of_type("result")["reason"], "interrupted");
    assert_eq!(driven.result("and on")["result"], "Next.");
    assert_eq!(models.requests().len(), 1);
    assert_eq!(driven.end().1, Some(0));
    assert!(!home.path("work/over").exists());
}

/// A denial that nobody was asked about is a failure in every format; what somebody refused is not.
#[test]
fn a_task_that_was_not_allowed_something_fails_in_every_format() {
    let turns = || vec![Turn::reply(vec![call("Bash", json!({"command": "touch a"}))]), say("I could not.")];
    let named = "--allow 'Bash(touch a)'";
    let checks = |result: &Value| {
        assert_eq!(
            (&result["is_error"], &result["reason"], &result["result"]),
            (&json!(true), &json!("answered"), &json!("I could not."))
        );
        assert!(result["denials"][0]["allow"].as_str().unwrap().contains(named), "{result}");
        assert!(result["errors"][0].as_str().unwrap().contains(named), "{result}");
        assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
    };
    for format in ["text", "json", "stream-json", "events"] {
        let (_models, home) = scene(turns());
        let output = home.bounded(&["-p", "hi", "--output-format", format], "");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && err.contains(named), "{format}: {err}");
        match format {
            "json" | "stream-json" => checks(lines(&output.stdout).last().unwrap()),
            _ => {}
        }
    }
    let user = json!({"type": "user", "message": {"role": "user", "content": "hi"}}).to_string();
    let (_models, home) = scene(turns());
    let output = home.bounded(STREAM, &user);
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && err.contains(named), "{err}");
    checks(lines(&output.stdout).last().unwrap());

    let (_models, home) = scene(turns());
    let mut driven = Driven::start(&home, &["--permission-prompt-tool", "stdio"]);
    driven.user("hi");
    let asked = driven.of_type("control_request");
    driven.answer(&asked, &json!({"behavior": "deny", "message": "no"}));
    let result = driven.of_type("result");
    assert_eq!((&result["is_error"], &result["denials"]), (&json!(false), &json!([])));
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
    assert_eq!(driven.end().1, Some(0));
}

#[test]
fn what_happens_is_told_on_stderr_in_every_format() {
    for format in ["text", "json", "stream-json", "events"] {
        let (_models, home) =
            scene(vec![Turn::reply(vec![call("list_dir", json!({"path": "."}))]), say("Hello.")]);
        let output = home.bounded(&["-p", "hi", "-v", "--output-format", format], "");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        for line in [
            "rail: providers: one\n",
            "rail: one,big answers (",
            "was called as `list_directory`",
            "a call was mended: ",
        ] {
            assert!(err.contains(line), "{format}: {line}: {err}");
        }
    }
    let user = json!({"type": "user", "message": {"role": "user", "content": "hi"}}).to_string();
    for (flag, told) in [("-v", true), ("--verbose", false)] {
        let (_models, home) = scene(vec![say("Hello.")]);
        let output = home.bounded(&[STREAM, &[flag]].concat(), &user);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(err.contains("rail: one,big answers ("), told, "{flag}: {err}");
    }
}

/// Plays the servers of a client: answers what is asked of them until a result comes.
fn play(driven: &mut Driven, answers: &dyn Fn(&Value) -> Value) -> (Vec<Value>, Value) {
    let mut asked = Vec::new();
    loop {
        let line = driven.until(|line| line["type"] == "control_request" || line["type"] == "result");
        if line["type"] == "result" {
            return (asked, line);
        }
        let message = &line["request"]["message"];
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => {
                json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "a", "version": "1"}})
            }
            "tools/list" => {
                let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
                json!({"tools": [tool("may.i"), tool("other")]})
            }
            "tools/call" => {
                asked.push(message["params"].clone());
                let text = answers(&message["params"]["arguments"]).to_string();
                json!({"content": [{"type": "text", "text": text}]})
            }
            _ => json!({}),
        };
        let reply = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        driven.answer(&line, &json!({"mcp_response": reply}));
    }
}

#[test]
fn a_tool_of_the_client_is_asked_about_calls() {
    let run = |command: &str| Turn::reply(vec![call("Bash", json!({ "command": command }))]);
    let (models, home) = scene(vec![run("echo one > made.txt"), run("echo no >> made.txt"), say("Done.")]);
    let home = home_with_programs(home);
    let config = json!({"mcpServers": {"my ask": {"type": "sdk", "name": "my ask"}}}).to_string();
    let flags = ["--permission-prompt-tool", "mcp__my_ask__may_i", "--mcp-config", &config];
    let mut driven = Driven::start(&home, &flags);
    driven.user("go");
    let (asked, result) = play(&mut driven, &|arguments| {
        if arguments["input"]["command"] == "echo one > made.txt" {
            json!({"behavior": "allow", "updatedInput": {"command": "echo two > made.txt"}})
        } else {
            json!({"behavior": "deny", "message": "not this"})
        }
    });
    assert_eq!(result["result"], "Done.");
    assert_eq!(home.read("work/made.txt"), "two\n");
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert_eq!(asked[0]["name"], "may.i");
    assert_eq!(asked[0]["arguments"]["tool_name"], "Bash");
    assert!(asked[0]["arguments"]["tool_use_id"].is_string(), "{asked:?}");
    let requests = models.requests();
    let tools: Vec<&str> =
        requests[0].request().unwrap().tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(tools.contains(&"mcp__my_ask__other") && !tools.contains(&"mcp__my_ask__may_i"), "{tools:?}");
    let told = format!("{:?}", requests[2].request().unwrap().messages);
    assert!(told.contains("not this"), "{told}");
    assert_eq!(driven.end().1, Some(0));
}

#[test]
fn a_tool_that_is_not_there_can_not_be_asked() {
    let (_models, home) = scene(Vec::new());
    let user = json!({"type": "user", "message": {"role": "user", "content": "hi"}}).to_string();
    let output = home.bounded(&[STREAM, &["--permission-prompt-tool", "mcp__a__b"]].concat(), &user);
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("no MCP server of the client has the tool `mcp__a__b`; there are: none"), "{err}");
}

/// As root, outside of a container, nothing may bring bypass; an answer to a question neither.
#[test]
fn an_answer_brings_no_mode_that_a_request_could_not() {
    let run = |command: &str| Turn::reply(vec![call("Bash", json!({ "command": command }))]);
    let (_models, home) = scene(vec![run("touch one.txt"), run("touch two.txt"), say("Done.")]);
    let home = home_with_programs(home);
    let mut driven = Driven::start(&home, &["--permission-prompt-tool", "stdio", "--sandbox", "off"]);
    driven.user("go");
    let mut asked = 0;
    let result = loop {
        let line = driven.until(|line| line["type"] == "control_request" || line["type"] == "result");
        if line["type"] == "result" {
            break line;
        }
        asked += 1;
        let update = json!({"type": "setMode", "mode": "bypassPermissions", "destination": "session"});
        let answer = json!({"behavior": "allow", "updatedInput": line["request"]["input"], "updatedPermissions": [update]});
        driven.answer(&line, &answer);
    };
    assert_eq!(result["result"], "Done.");
    let contained = ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| Path::new(mark).exists());
    let refused = rustix::process::geteuid().is_root() && !contained;
    assert_eq!(asked, if refused { 2 } else { 1 });
    driven.end();
}

/// What the user's words have run and read is judged by the mode that holds then, not by the one that the session began with.
#[test]
fn commands_in_words_are_judged_by_the_mode_of_the_moment() {
    let (_models, home) = scene(vec![say("Looked.").repeat()]);
    let home = home_with_programs(home);
    home.write(
        ".config/switchrail/commands/make.md",
        "---\nallowed-tools: Bash(touch:*)\n---\nIt is !`touch made.txt`",
    );
    let mut driven = Driven::start(&home, &["--permission-mode", "acceptEdits"]);
    driven.said("/plan");
    driven.result("/make");
    assert!(!home.path("work/made.txt").exists(), "planning changes nothing");
    driven.said("/plan");
    driven.result("/make");
    assert!(home.path("work/made.txt").exists(), "it would have run");
    driven.end();
}
