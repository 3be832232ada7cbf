//! Commands in the background, as front ends are told of them.

use rail_agent::team::types;
use rail_proto::{Command, SessionEvent, Shell, ShellState};
use rail_testkit::{Models, Turn, call, text};
use serde_json::json;

use crate::loop_bed::{Bed, texts};

fn background(command: &str) -> Turn {
    Turn::reply(vec![call("bash", json!({"command": command, "run_in_background": true}))])
}

fn said(words: &str) -> Turn {
    Turn::reply(vec![text(words)])
}

fn shells(event: &SessionEvent) -> Option<Vec<Shell>> {
    match event {
        SessionEvent::Shells(shells) => Some(shells.clone()),
        _ => None,
    }
}

fn states(shells: &[Shell]) -> Vec<(&str, ShellState)> {
    shells.iter().map(|shell| (shell.id.as_str(), shell.state)).collect()
}

#[tokio::test]
async fn shells_are_told_and_killed_by_the_user() {
    let read = Turn::reply(vec![call("bash_output", json!({"bash_id": "bash_1"}))]);
    let bed = Bed::new(vec![background("cat"), said("begun"), read, background("cat"), said("done")]);
    let mut talk = bed.open();
    talk.say("go");
    let now = talk.until(shells).await;
    assert_eq!(states(&now), [("bash_1", ShellState::Running)]);
    assert_eq!(now[0].command, "cat");
    talk.done().await;
    talk.send(Command::KillShell { id: "bash_1".to_owned() });
    assert_eq!(states(&talk.until(shells).await), [("bash_1", ShellState::Killed)]);
    assert_eq!(talk.ask("go on").await.text, "done");
    assert!(talk.results()[1].1.contains("`bash_1` has ended: killed by SIGTERM"), "{:?}", talk.results());
    // What the session leaves ends with it, and that is told.
    let seen = talk.end().await;
    let last = seen.iter().rev().find_map(shells).unwrap();
    assert_eq!(states(&last), [("bash_1", ShellState::Killed), ("bash_2", ShellState::Killed)]);
}

#[tokio::test]
async fn shells_of_an_agent_are_told_with_it_and_can_be_killed() {
    let first = |request: &rail_model::Request| texts(request).first().cloned().unwrap_or_default();
    let mut bed = Bed::on(
        Models::answering(move |request| match (first(request).as_str(), request.messages.len()) {
            ("go", 1) => {
                let task = json!({"description": "job", "prompt": "job", "subagent_type": "general-purpose"});
                Turn::reply(vec![call("task", task)])
            }
            ("job", 1) => background("cat"),
            ("job", 3) => {
                Turn::reply(vec![call("bash_output", json!({"bash_id": "bash_1", "wait": 60_000}))])
            }
            (who, _) => said(&format!("{who} ended")),
        })
        .unwrap(),
    );
    bed.agents = types::built_in();
    let mut talk = bed.open();
    talk.say("go");
    let of_agent = |event: &SessionEvent| match event {
        SessionEvent::AgentEvent { id, event } => Some((id.clone(), shells(event)?)),
        _ => None,
    };
    let (agent, now) = talk.until(of_agent).await;
    assert_eq!(states(&now), [("bash_1", ShellState::Running)]);
    // Without its agent the id means nothing here.
    talk.send(Command::KillShell { id: "bash_1".to_owned() });
    talk.send(Command::KillShell { id: format!("{agent}/bash_1") });
    assert_eq!(talk.done().await.text, "go ended");
    let last = talk.seen.iter().rev().find_map(of_agent).unwrap();
    assert_eq!(states(&last.1), [("bash_1", ShellState::Killed)]);
    assert!(!talk.seen.iter().any(|event| shells(event).is_some()));
}
