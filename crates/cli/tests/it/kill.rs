//! `kill -9` of `rail -p` at every stage, and what the session that goes on sends.

use std::process::Child;

use rail_model::{PartBody, Request};
use rail_testkit::{Models, Turn, call, text};
use serde_json::json;

use crate::home::Home;

const GO_ON: &[&str] = &["-c", "-p", "go on", "--sandbox", "workspace", "--yolo"];

fn home(models: &Models) -> Home {
    let id = rail_wire::find("openai-chat").unwrap().id;
    Home::with(&format!(
        "[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nkey = \"none\"\n\
         models = {{ m = {{ window = 64000, max_output = 8000 }} }}\n[router]\ndefault = \"p,m\"\n",
        models.base_url(id)
    ))
    .set("PATH", "/usr/local/bin:/usr/bin:/bin")
}

fn start(home: &Home) -> Child {
    let mut child = home.start(&["-p", "begin", "--verbose", "--sandbox", "workspace", "--yolo"]);
    drop(child.stdin.take());
    child
}

/// Ends it as the kernel does: at once.
fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Waits until something holds that only the disk can tell.
fn wait_until(child: &mut Child, holds: impl Fn() -> bool) {
    while !holds() {
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::yield_now();
    }
}

/// All that the only session has written.
fn journal(home: &Home) -> String {
    let listing = rail_journal::list(&home.path("state/switchrail/sessions"), None);
    let session = listing.ok().and_then(|listing| listing.sessions.into_iter().next());
    session
        .and_then(|session| std::fs::read_to_string(session.folder.join("journal.jsonl")).ok())
        .unwrap_or_default()
}

/// What the only session has of an answer that is not complete.
fn shown(home: &Home) -> String {
    let listing = rail_journal::list(&home.path("state/switchrail/sessions"), None);
    let session = listing.ok().and_then(|listing| listing.sessions.into_iter().next());
    let seen = session.and_then(|session| rail_journal::view(&session.folder).ok());
    seen.and_then(|seen| seen.window.partial().map(|(_, text)| text.to_owned())).unwrap_or_default()
}

/// The session goes on; gives what was sent for it.
fn go_on(home: &Home, models: &Models) -> Request {
    let before = models.requests().len();
    let said = home.said(GO_ON, "");
    assert!(said.contains("Gone on."), "{said}");
    let asked = models.requests();
    let request = asked[before].request().unwrap().clone();
    assert_paired(&request);
    let texts = texts(&request);
    assert!(texts.first().is_some_and(|text| text.contains("begin")), "{texts:#?}");
    assert!(texts.last().is_some_and(|text| text.contains("go on")), "{texts:#?}");
    request
}

fn texts(request: &Request) -> Vec<String> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let texts = parts.filter_map(|part| match &part.body {
        PartBody::Text(text) => Some(text.clone()),
        PartBody::ToolResult(result) => Some(format!(
            "=> {}",
            result.content.iter().filter_map(rail_model::Part::as_text).collect::<String>()
        )),
        _ => None,
    });
    texts.collect()
}

fn assert_paired(request: &Request) {
    let mut waiting = Vec::new();
    for part in request.messages.iter().flat_map(|message| &message.parts) {
        match &part.body {
            PartBody::ToolCall(call) => waiting.push(call.id.as_str()),
            PartBody::ToolResult(result) => {
                let at = waiting.iter().position(|id| *id == result.id.as_str());
                waiting.remove(at.unwrap_or_else(|| panic!("a result without a call: {request:#?}")));
            }
            _ => {}
        }
    }
    assert!(waiting.is_empty(), "calls without results: {request:#?}");
}

fn gone_on() -> Turn {
    Turn::reply(vec![text("Gone on.")])
}

fn append() -> rail_model::Part {
    call("bash", json!({"command": "echo ran >> ran.txt"}))
}

fn ran(home: &Home) -> String {
    std::fs::read_to_string(home.path("work/ran.txt")).unwrap_or_default()
}

#[test]
fn before_the_first_byte() {
    let models = Models::start(vec![Turn::stall(vec![]).reached("asked"), gone_on()]).unwrap();
    let home = home(&models);
    let child = start(&home);
    models.wait_for("asked");
    kill(child);
    let request = go_on(&home, &models);
    assert_eq!(texts(&request), ["begin", "go on"]);
}

#[test]
fn in_the_middle_of_a_text_what_was_shown_is_kept() {
    let words = "I shall look at it first";
    let models = Models::start(vec![Turn::stall(vec![text(words)]), gone_on()]).unwrap();
    let home = home(&models);
    let mut child = start(&home);
    // An answer is printed when it is whole; who sees it earlier sees it after it was written down.
    wait_until(&mut child, || shown(&home) == words);
    kill(child);
    let request = go_on(&home, &models);
    assert_eq!(texts(&request), ["begin", words, "go on"]);
}

#[test]
fn before_the_calls_are_complete_none_of_them_runs() {
    let first = Turn::reply(vec![text("I run it."), append()]).gate_before_end("never").reached("said");
    let models = Models::start(vec![first, gone_on()]).unwrap();
    let home = home(&models);
    let child = start(&home);
    models.wait_for("said");
    kill(child);
    models.open("never");
    let request = go_on(&home, &models);
    assert!(!texts(&request).iter().any(|text| text.starts_with("=>")), "{request:#?}");
    assert_eq!(ran(&home), "");
}

#[test]
fn while_a_call_runs_it_is_not_run_again_and_the_model_is_told() {
    let command = "echo ran >> ran.txt; touch begun; sleep 60";
    let first = Turn::reply(vec![call("bash", json!({"command": command})), append()]);
    let models = Models::start(vec![first, gone_on()]).unwrap();
    let home = home(&models);
    let mut child = start(&home);
    wait_until(&mut child, || home.path("work/begun").exists());
    kill(child);
    let request = go_on(&home, &models);
    let results: Vec<String> = texts(&request).into_iter().filter(|text| text.starts_with("=>")).collect();
    assert_eq!(results.len(), 2, "{request:#?}");
    assert!(results[0].contains("nobody knows what became of it"), "{results:?}");
    assert_eq!(ran(&home), "ran\n");
}

#[test]
fn behind_a_result_it_stays() {
    let models = Models::start(vec![
        Turn::reply(vec![append()]),
        Turn::stall(vec![]).reached("asked again"),
        gone_on(),
    ])
    .unwrap();
    let home = home(&models);
    let child = start(&home);
    models.wait_for("asked again");
    kill(child);
    let request = go_on(&home, &models);
    let results: Vec<String> = texts(&request).into_iter().filter(|text| text.starts_with("=>")).collect();
    assert_eq!(results.len(), 1, "{request:#?}");
    assert!(!results[0].contains("nobody knows"), "{results:?}");
    assert_eq!(ran(&home), "ran\n");
}

/// One call is over and its result shown, the other runs.
#[test]
fn between_two_results_the_one_that_is_there_stays() {
    let second = call("bash", json!({"command": "echo ran >> ran.txt; touch begun; sleep 60"}));
    let models = Models::start(vec![Turn::reply(vec![append(), second]), gone_on()]).unwrap();
    let home = home(&models);
    let mut child = start(&home);
    wait_until(&mut child, || home.path("work/begun").exists() && journal(&home).contains("\"results\""));
    kill(child);
    let request = go_on(&home, &models);
    let results: Vec<String> = texts(&request).into_iter().filter(|text| text.starts_with("=>")).collect();
    assert_eq!(results.len(), 2, "{request:#?}");
    assert!(!results[0].contains("nobody knows"), "{results:?}");
    assert!(results[1].contains("nobody knows"), "{results:?}");
    assert_eq!(ran(&home), "ran\nran\n");
}
