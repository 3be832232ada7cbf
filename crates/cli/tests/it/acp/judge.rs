//! The official client library of the protocol, every method of it.

use std::path::Path;
use std::process::Output;

use rail_testkit::judges::{Language, judge_of};
use rail_testkit::{Models, Turn, call, text, thinking};
use serde_json::{Value, json};

use crate::agent_sdks::configuration;
use crate::home::Home;

fn turns() -> Vec<Turn> {
    let question = json!({"question": "Which?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "red", "description": ""}, {"label": "blue", "description": ""}]});
    vec![
        Turn::reply(vec![call("read_file", json!({"file_path": "a.txt"}))]),
        Turn::reply(vec![
            text("I change it."),
            call("edit_file", json!({"file_path": "a.txt", "old_string": "two", "new_string": "three"})),
        ]),
        Turn::reply(vec![thinking("Done?", None), text("Changed.")]),
        Turn::reply(vec![call(
            "bash",
            json!({"command": "echo hello; touch made.txt; up=..; touch $up/outside.txt; cd /"}),
        )]),
        Turn::reply(vec![call(
            "todo_write",
            json!({"todos": [{"content": "one", "status": "in_progress", "activeForm": "Doing one"}]}),
        )]),
        Turn::reply(vec![text("Ran.")]),
        Turn::reply(vec![call("bash", json!({"command": "sleep 600"}))]),
        Turn::reply(vec![call("ask_user_question", json!({"questions": [question]}))]),
        Turn::reply(vec![text("Blue then.")]),
        Turn::reply(vec![call("write_file", json!({"file_path": "new.txt", "content": "new\n"}))]),
        Turn::reply(vec![text("On we go.")]),
    ]
}

#[test]
fn typescript_sdk() {
    let list = include_str!("../../judges/acp.json");
    let Some(judge) = judge_of(Language::Node, list, Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let models = Models::start(turns()).unwrap();
    let home = Home::with(&configuration(&models)).set("PATH", "/usr/local/bin:/usr/bin:/bin");
    home.write("work/a.txt", "one\ntwo\n");
    // Among the temporary files a command may write: these are others.
    let temp = home.path("temp");
    std::fs::create_dir(&temp).unwrap();
    let home = home.set("TMPDIR", temp.to_str().unwrap());
    let work = home.path("work").canonicalize().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges/acp.mjs");
    let mut command = judge.command(&script);
    command.arg(env!("CARGO_BIN_EXE_rail")).arg(&work).arg(judge.folder());
    command.envs(home.variables()).current_dir(&work);
    let Output { status, stdout, stderr } = command.output().unwrap();
    let said = String::from_utf8_lossy(&stdout).into_owned();
    assert!(status.success(), "{said}{}", String::from_utf8_lossy(&stderr));
    let seen: String = said.replace(work.to_str().unwrap(), "WORK");
    insta::assert_snapshot!(seen);
    // What the editor had not saved is what was changed, and the sandbox held in its terminal.
    assert_eq!(home.read("work/a.txt"), "unsaved one\nthree\n");
    assert!(home.path("work/made.txt").exists() && !home.path("outside.txt").exists());
    assert!(!home.path("work/new.txt").exists());
    let requests = models.requests();
    let told: Vec<Value> = requests
        .iter()
        .map(|asked| serde_json::to_value(&asked.request().unwrap().messages).unwrap())
        .collect();
    let told = serde_json::to_string(&told).unwrap();
    assert!(told.contains("unsaved one"), "the model saw what was not saved");
    assert!(told.contains("<file path="), "the model saw what was embedded");
    assert!(told.contains("the working folder is now `/`"), "{told}");
}
