//! `rail -p` without a terminal: what it prints, what it reads, and how it ends.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output};

use rail_testkit::{Models, Turn, call, text};
use serde_json::{Value, json};

use crate::agent_sdks::configuration;
use crate::home::Home;

pub(crate) fn scene(turns: Vec<Turn>) -> (Models, Home) {
    let models = Models::start(turns).unwrap();
    let home = Home::with(&configuration(&models));
    (models, home)
}

pub(crate) fn say(words: &str) -> Turn {
    Turn::reply(vec![text(words)])
}

pub(crate) fn lines(out: &[u8]) -> Vec<Value> {
    let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

#[test]
fn json_is_one_object() {
    let (_models, home) = scene(vec![say("Hello.")]);
    let Output { status, stdout, .. } = home.rail(&["-p", "hi", "--output-format", "json"], "");
    assert_eq!(status.code(), Some(0));
    let [result] = &lines(&stdout)[..] else { panic!("{}", String::from_utf8_lossy(&stdout)) };
    assert_eq!(result["type"], "result");
    assert_eq!(
        (&result["subtype"], &result["result"], &result["reason"]),
        (&json!("success"), &json!("Hello."), &json!("answered"))
    );
    assert_eq!(result["targets"], json!(["one,big"]));
}

#[test]
fn events_are_numbered_from_one() {
    let (_models, home) = scene(vec![say("Hello.")]);
    let Output { status, stdout, .. } = home.rail(&["-p", "hi", "--output-format", "events"], "");
    assert_eq!(status.code(), Some(0));
    let events = lines(&stdout);
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=u64::try_from(events.len()).unwrap()).collect::<Vec<_>>());
    assert_eq!(events.first().unwrap()["type"], "opened");
    assert_eq!(events.last().unwrap(), &json!({"seq": events.len(), "type": "closed", "data": null}));
}

#[test]
fn limits_are_failures_with_their_subtype() {
    let looks = || Turn::reply(vec![call("LS", json!({"path": "."}))]);
    let (_models, home) = scene(vec![looks(), looks().repeat()]);
    let Output { status, stdout, .. } =
        home.rail(&["-p", "hi", "--output-format", "json", "--max-turns", "2"], "");
    assert_eq!(status.code(), Some(1));
    let result = lines(&stdout).remove(0);
    assert_eq!(
        (&result["subtype"], &result["is_error"], &result["num_turns"]),
        (&json!("error_max_turns"), &json!(true), &json!(2))
    );

    let Output { status, stdout, .. } =
        home.rail(&["-p", "hi", "--output-format", "json", "--max-budget-usd", "0"], "");
    assert_eq!(status.code(), Some(1));
    assert_eq!(lines(&stdout).remove(0)["subtype"], "error_max_budget_usd");
}

#[test]
fn what_is_wrong_with_flags_is_said_with_exit_2() {
    let home = Home::new();
    for (args, expected) in [
        (
            &["-p", "hi", "--permission-prompt-tool", "mcp__ask__me"][..],
            "without `--input-format stream-json` there are none",
        ),
        (&["-p", "hi", "--permission-prompt-tool", "me"], "`me` can't be asked; say `stdio`, or a tool"),
        (&["-p", "hi", "--permission-prompt-tool", "stdio"], "without `--input-format stream-json`"),
        (&["--input-format", "stream-json"], "needs `--output-format stream-json`"),
        (&["-p", "hi", "--mcp-config", "{]"], "--mcp-config: this is no JSON"),
        (&["-p", "hi", "--settings", "/no/such/file"], "--settings: /no/such/file can't be read"),
        (&["-p", "hi", "--session-id", "x"], "--session-id"),
    ] {
        let Output { status, stderr, .. } = home.rail(args, "");
        let said = String::from_utf8_lossy(&stderr);
        assert!(status.code() == Some(2) && said.contains(expected), "{args:?}: {status} {said}");
    }
}

#[test]
fn programs_that_ask_for_the_version_are_answered() {
    let Output { status, stdout, .. } = Home::new().rail(&["-v"], "");
    assert_eq!(status.code(), Some(0));
    let said = String::from_utf8(stdout).unwrap();
    assert!(said.starts_with("2.") && said.contains("rail"), "{said}");
}

/// A session that the test drives.
pub(crate) struct Driven {
    child: Child,
    to: Option<ChildStdin>,
    from: Lines<BufReader<ChildStdout>>,
}

impl Driven {
    pub(crate) fn start(home: &Home, more: &[&str]) -> Self {
        let args = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
        let mut child = home.start_bounded(&[&args[..], more].concat());
        let (to, out) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, to, from: BufReader::new(out).lines() }
    }

    pub(crate) fn write(&mut self, line: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn user(&mut self, words: &str) {
        self.write(&json!({"type": "user", "message": {"role": "user", "content": words}}));
    }

    pub(crate) fn ask(&mut self, id: &str, request: &Value) {
        self.write(&json!({"type": "control_request", "request_id": id, "request": request}));
    }

    pub(crate) fn answer(&mut self, request: &Value, response: &Value) {
        let said = json!({"subtype": "success", "request_id": request["request_id"], "response": response});
        self.write(&json!({"type": "control_response", "response": said}));
    }

    /// The next message that this wants.
    pub(crate) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut seen = String::new();
        for line in self.from.by_ref() {
            let line = line.unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if wanted(&message) {
                return message;
            }
            seen = format!("{seen}{line}\n");
        }
        panic!("it never came; there was:\n{seen}");
    }

    pub(crate) fn of_type(&mut self, kind: &str) -> Value {
        self.until(|message| message["type"] == kind)
    }

    /// Closes its input, and gives what comes after and how it ends.
    pub(crate) fn end(mut self) -> (Vec<Value>, Option<i32>) {
        drop(self.to.take());
        let rest = self.from.by_ref().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        (rest, self.child.wait().unwrap().code())
    }
}

#[test]
fn each_message_has_a_result_and_the_end_comes_after_the_last() {
    let (models, home) = scene(vec![say("One."), say("Two.")]);
    let mut driven = Driven::start(&home, &["--replay-user-messages"]);
    driven.user("first");
    driven.user("second");
    let (rest, code) = driven.end();
    assert_eq!(code, Some(0));
    let results: Vec<&Value> =
        rest.iter().filter(|line| line["type"] == "result").map(|line| &line["result"]).collect();
    assert_eq!(results, ["One.", "Two."]);
    assert_eq!(rest.iter().filter(|line| line["isReplay"] == true).count(), 2);
    assert_eq!(models.requests().len(), 2);
}

#[test]
fn control_requests_are_answered() {
    let (_models, home) = scene(vec![say("One."), say("Two.")]);
    let mut driven = Driven::start(&home, &[]);
    let cases = [
        (json!({"subtype": "initialize", "hooks": null}), "success"),
        (json!({"subtype": "set_permission_mode", "mode": "plan"}), "success"),
        (json!({"subtype": "set_permission_mode", "mode": "odd"}), "error"),
        (json!({"subtype": "set_model", "model": "one,big"}), "success"),
        (json!({"subtype": "mcp_status"}), "success"),
        (
            json!({"subtype": "mcp_message", "server_name": "a", "message": {"jsonrpc": "2.0", "method": "notifications/x"}}),
            "success",
        ),
        (json!({"subtype": "dance"}), "error"),
        (json!({"subtype": "interrupt"}), "success"),
    ];
    for round in ["first", "second"] {
        for (request, expected) in &cases {
            driven.ask("r1", request);
            let answer = driven.of_type("control_response");
            assert_eq!(
                (&answer["response"]["subtype"], &answer["response"]["request_id"]),
                (&json!(expected), &json!("r1")),
                "{request}"
            );
        }
        driven.user(round);
        driven.of_type("result");
    }
    assert_eq!(driven.end().1, Some(0));
}

#[test]
fn an_interrupt_ends_a_task_and_takes_its_question_back() {
    let (_models, home) =
        scene(vec![Turn::reply(vec![call("Bash", json!({"command": "touch a"}))]), say("Next.")]);
    let mut driven = Driven::start(&home, &["--permission-prompt-tool", "stdio"]);
    driven.user("first");
    let asked = driven.of_type("control_request");
    assert_eq!(
        (&asked["request"]["subtype"], &asked["request"]["tool_name"]),
        (&json!("can_use_tool"), &json!("Bash"))
    );
    driven.ask("stop", &json!({"subtype": "interrupt"}));
    // Which of both comes first is nobody's business.
    let either = |line: &Value| line["type"] == "control_cancel_request" || line["type"] == "result";
    let mut both = [driven.until(either), driven.until(either)];
    both.sort_by_key(|line| line["type"].to_string());
    let [taken_back, result] = both;
    assert_eq!(taken_back["request_id"], asked["request_id"]);
    assert_eq!(
        (&result["subtype"], &result["reason"]),
        (&json!("error_during_execution"), &json!("interrupted"))
    );
    driven.user("second");
    assert_eq!(driven.of_type("result")["result"], "Next.");
    assert_eq!(driven.end().1, Some(0));
    assert!(!home.path("work/a").exists());
}

#[test]
fn the_question_of_an_agent_that_is_stopped_is_taken_back_once() {
    let task = json!({"description": "job", "prompt": "job", "subagent_type": "general-purpose"});
    let (_models, home) = scene(vec![
        Turn::reply(vec![call("Task", task)]),
        Turn::reply(vec![call("Bash", json!({"command": "touch a"}))]),
        say("Next."),
    ]);
    let mut driven = Driven::start(&home, &["--permission-prompt-tool", "stdio"]);
    driven.user("first");
    let begun = driven.until(|line| line["message"]["content"][0]["type"] == "tool_use");
    let asked = driven.of_type("control_request");
    driven.ask("stop", &json!({"subtype": "stop_task", "task_id": begun["message"]["content"][0]["id"]}));
    let taken_back = driven.of_type("control_cancel_request");
    assert_eq!(taken_back["request_id"], asked["request_id"]);
    assert_eq!(driven.of_type("result")["result"], "Next.");
    let (rest, code) = driven.end();
    assert!(rest.iter().all(|line| line["type"] != "control_cancel_request"), "{rest:?}");
    assert_eq!(code, Some(0));
    assert!(!home.path("work/a").exists());
}

#[test]
fn a_denial_may_stop_the_task() {
    let (_models, home) = scene(vec![Turn::reply(vec![call("Bash", json!({"command": "touch a"}))])]);
    let mut driven = Driven::start(&home, &["--permission-prompt-tool", "stdio"]);
    driven.user("first");
    let asked = driven.of_type("control_request");
    driven.answer(&asked, &json!({"behavior": "deny", "message": "no", "interrupt": true}));
    assert_eq!(driven.of_type("result")["reason"], "interrupted");
    assert_eq!(driven.end().1, Some(0));
}

#[test]
fn leave_for_longer_is_not_asked_again() {
    let touch = |file: &str| Turn::reply(vec![call("Write", json!({"file_path": file, "content": "x"}))]);
    let (_models, home) = scene(vec![touch("a"), touch("a"), say("Done.")]);
    let mut driven = Driven::start(&home, &["--permission-prompt-tool", "stdio"]);
    driven.user("first");
    let asked = driven.of_type("control_request");
    let widest = asked["request"]["permission_suggestions"].as_array().unwrap().first().cloned();
    driven.answer(&asked, &json!({"behavior": "allow", "updatedInput": asked["request"]["input"], "updatedPermissions": [widest]}));
    let next = driven.until(|line| line["type"] == "control_request" || line["type"] == "result");
    assert_eq!(next["type"], "result", "{next}");
    assert!(home.path("work/a").exists());
    assert_eq!(driven.end().1, Some(0));
}

#[test]
fn a_line_that_is_no_message_ends_it_with_exit_2() {
    let (_models, home) = scene(Vec::new());
    let Output { status, stderr, .. } =
        home.rail(&["--output-format", "stream-json", "--input-format", "stream-json"], "[1]\n");
    assert_eq!(status.code(), Some(2));
    assert!(String::from_utf8_lossy(&stderr).contains("line 1 of stdin is no JSON object"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_130() {
    for driven in [false, true] {
        let (models, home) = scene(vec![Turn::stall(vec![text("Hm")]).reached("asked")]);
        let stream = ["--output-format", "stream-json", "--input-format", "stream-json"];
        let plain = ["-p", "hi", "--output-format", "json"];
        let mut child = home.start(if driven { &stream } else { &plain });
        // A task alone waits for what is piped in; a client keeps its line open.
        let mut to = child.stdin.take().filter(|_| driven);
        if let Some(to) = &mut to {
            writeln!(to, "{}", json!({"type": "user", "message": {"content": "hi"}})).unwrap();
        }
        models.wait_for("asked");
        #[expect(
            clippy::disallowed_methods,
            reason = "a signal is sent by another process, as a terminal does"
        )]
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        drop(to);
        assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
        let result = lines(&output.stdout).pop().unwrap();
        assert_eq!(result["reason"], "interrupted");
    }
}

#[test]
fn a_closed_stdout_ends_it() {
    let (models, home) =
        scene(vec![say("One."), Turn::reply(vec![call("LS", json!({"path": "."}))]).repeat()]);
    let mut driven = Driven::start(&home, &[]);
    driven.user("first");
    driven.of_type("result");
    let Driven { mut child, to, from } = driven;
    drop(from);
    writeln!(&mut to.as_ref().unwrap(), "{}", json!({"type": "user", "message": {"content": "again"}}))
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(to);
    // It did not go on with what nobody could see.
    assert!(models.requests().len() < 20);
}

#[test]
fn sessions_have_the_id_that_is_wanted_and_are_forked() {
    let (models, home) = scene(vec![say("Hello.").repeat()]);
    let id = "0198c5a3-5d2e-7c1f-9a44-d1b2c3e4f506";
    let session = |args: &[&str]| {
        let Output { status, stdout, stderr } =
            home.rail(&[&["-p", "hi", "--output-format", "json"], args].concat(), "");
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        lines(&stdout).remove(0)["session_id"].clone()
    };
    assert_eq!(session(&["--session-id", id]), id);
    assert_ne!(session(&["--resume", id, "--fork-session"]), id);
    assert_eq!(session(&["--resume", id]), id);
    let counts: Vec<usize> =
        models.requests().iter().map(|asked| asked.request().unwrap().messages.len()).collect();
    // Both go on with the first answer, and neither with the other's.
    assert_eq!(counts, [1, 3, 3]);
}

#[test]
fn rules_of_unknown_tools_are_left_out_but_no_broken_denial_is() {
    let (_models, home) = scene(vec![say("Hello.").repeat()]);
    let said = |rules: &str| {
        let Output { status, stderr, .. } = home.rail(&["-p", "hi", "--disallowedTools", rules], "");
        (status.code(), String::from_utf8(stderr).unwrap())
    };
    let (code, told) = said("Nope,Bash");
    assert!(code == Some(0) && told.contains("there is no tool `Nope`"), "{told}");
    assert_eq!(said("Edit(").0, Some(2));
}
