//! What people and programs see of calls: previews on stderr, and the events' own names.

use std::process::Output;

use rail_testkit::{Models, Turn, call, text};
use serde_json::{Value, json};

use crate::agent_sdks::configuration;
use crate::home::Home;

/// A model that reads a file and writes another.
fn scene() -> (Models, Home) {
    let content: String = (1..=12).map(|number| format!("new {number}\n")).collect();
    let models = Models::start(vec![
        Turn::reply(vec![call("Read", json!({"file_path": "a.txt"}))]),
        Turn::reply(vec![call("Write", json!({"file_path": "b.txt", "content": content}))]),
        Turn::reply(vec![text("Done.")]),
    ]);
    let models = models.unwrap();
    let home = Home::with(&configuration(&models));
    home.write("work/a.txt", "one\ntwo\nthree\nfour\nfive\n");
    (models, home)
}

/// What is said on stderr of the calls.
fn said(verbose: &str) -> String {
    let (_models, home) = scene();
    let args = ["-p", "hi", verbose, "--permission-mode", "accept-edits"];
    let Output { status, stderr, .. } = home.rail(&args, "");
    assert_eq!(status.code(), Some(0));
    let stderr = String::from_utf8(stderr).unwrap();
    let of_calls = |line: &&str| line.starts_with("  ") || line.ends_with(".txt:");
    stderr.lines().filter(of_calls).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_few_lines_of_results_are_shown() {
    insta::assert_snapshot!(said("-v"), @r"
    rail: Read a.txt:
      1	one
      2	two
      3	three
      … 2 more lines
    rail: Write b.txt:
      + new 1
      + new 2
      + new 3
      + new 4
      + new 5
      + new 6
      + new 7
      + new 8
      + new 9
      + new 10
      … 2 more lines
    ");
}

#[test]
fn all_lines_of_results_are_shown_when_asked_for() {
    let said = said("-vv");
    assert!(!said.contains("more line"), "{said}");
    assert!(said.contains("  5\tfive\n") && said.ends_with("  + new 12"), "{said}");
}

#[test]
fn settings_say_how_many_lines_are_shown() {
    let (models, home) = scene();
    let settings = "[tools]\npreview_lines = 1\npreview_diff_lines = 2\n";
    home.write(".config/switchrail/config.toml", &format!("{}{settings}", configuration(&models)));
    let Output { stderr, .. } = home.rail(&["-p", "hi", "-v", "--permission-mode", "accept-edits"], "");
    let said = String::from_utf8(stderr).unwrap();
    assert!(said.contains("  1\tone\n  … 4 more lines\n"), "{said}");
    assert!(said.contains("  + new 1\n  + new 2\n  … 10 more lines\n"), "{said}");
}

#[test]
fn events_of_calls_have_their_names_and_fields() {
    let (_models, home) = scene();
    let Output { stdout, .. } = home.rail(&["-p", "hi", "--output-format", "events"], "");
    let stdout = String::from_utf8(stdout).unwrap();
    let events: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_calls: Vec<&Value> =
        events.iter().filter(|event| event["data"]["tool_call_id"].is_string()).collect();
    let told: Vec<Value> = of_calls
        .iter()
        .map(|event| {
            let data = &event["data"];
            json!([
                event["type"],
                data["success"],
                data["output"].is_string(),
                data["error"].is_string(),
                data["duration_ms"].is_u64()
            ])
        })
        .collect();
    // Nobody is there to allow the second call.
    assert_eq!(
        told,
        [
            json!(["tool_call_start", null, false, false, false]),
            json!(["tool_call_end", true, true, false, true]),
            json!(["tool_call_start", null, false, false, false]),
            json!(["permission_request", null, false, false, false]),
            json!(["tool_call_end", false, false, true, true]),
        ]
    );
    let ids: Vec<&Value> = of_calls.iter().map(|event| &event["data"]["tool_call_id"]).collect();
    assert!(ids[0] == ids[1] && ids[2] == ids[3] && ids[3] == ids[4] && ids[0] != ids[2], "{ids:?}");
}
