//! Broken hooks are told, and end with all they started.

use rail_agent::hooks::{HookEvent, StopRound};
use rail_tool::HookSay;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Scene, bash, brief, call};

/// What a broken hook before a call and behind an answer comes to.
async fn broken(command: &str) -> String {
    let stop = HookEvent::Stop { last_message: None, round: StopRound::First };
    let before = Scene::one("PreToolUse", command).run(&bash()).await;
    let behind = Scene::one("Stop", command).run(&stop).await;
    format!("{}\n{}", brief(&before), brief(&behind))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_without_an_answer_is_told_and_its_call_is_asked_about() {
    let mut told = Vec::new();
    for command in [
        "echo '{\"decision\": '",
        "echo '{\"decision\": \"maybe\"}'",
        "echo '{\"decision\": 5}'",
        "echo '{\"continue\": \"no\"}'",
        "echo '{\"hookSpecificOutput\": []}'",
        "echo '{\"hookSpecificOutput\": {\"hookEventName\": \"Other\"}}'",
        "kill -KILL $$",
        "exit 143",
        "/nowhere/hook 2>/dev/null",
    ] {
        told.push(format!("{command}\n{}", broken(command).await));
    }
    insta::assert_snapshot!(told.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_decisions_of_single_events_are_told() {
    let mut told = Vec::new();
    for (event, answer) in [
        ("PreToolUse", json!({"hookSpecificOutput": {"permissionDecision": "defer"}})),
        ("PreToolUse", json!({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": "ls"}})),
        ("PreToolUse", json!({"hookSpecificOutput": {"permissionDecision": "deny", "updatedInput": "ls"}})),
        ("PermissionRequest", json!({"hookSpecificOutput": {"decision": "allow"}})),
        ("PermissionRequest", json!({"hookSpecificOutput": {"decision": {"behavior": "perhaps"}}})),
        ("PermissionRequest", json!({"hookSpecificOutput": {"decision": {}}})),
    ] {
        told.push(super::outcomes(&[event], &format!("echo '{answer}'")).await);
    }
    insta::assert_snapshot!(told.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_hangs_is_ended_with_all_it_started() {
    let command = "sleep 600 & echo $! >child; echo about to >&2; trap '' TERM; wait; sleep 600";
    let scene = Scene::new(json!({"PreToolUse": [{"hooks": [{"command": command, "timeout": 1}]}]}));
    let outcome = scene.run(&bash()).await;
    let expected = "it took longer than its 1 s and was ended; a larger `timeout` gives it more: about to";
    assert!(outcome.problems[0].ends_with(expected), "{outcome:?}");
    assert!(matches!(outcome.say, Some(HookSay::Ask(_))), "{outcome:?}");
    assert!(!alive(&scene));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_hook_is_ended_and_nothing_comes_of_it() {
    let scene = Scene::one("PreToolUse", "mkfifo gate; sleep 600 & echo $! >child; echo on >gate; wait");
    let cancel = CancellationToken::new();
    let gate = scene.session.workspace.join("gate");
    let child = scene.session.workspace.join("child");
    let waits = cancel.clone();
    let watcher = tokio::task::spawn_blocking(move || {
        while !child.exists() {
            std::thread::yield_now();
        }
        std::fs::read_to_string(gate).unwrap();
        waits.cancel();
    });
    let event = bash();
    let outcome = scene.runner.run(&event, &cancel).await;
    watcher.await.unwrap();
    assert_eq!(brief(&outcome), "nothing");
    assert!(!alive(&scene));
}

/// Whether the process whose number a hook wrote down is still there.
fn alive(scene: &Scene) -> bool {
    let pid = std::fs::read_to_string(scene.session.workspace.join("child")).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z') && !rest.starts_with('X'))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_floods_takes_no_memory_and_its_answer_is_not_read() {
    let flood = "head -c 20000000 /dev/zero | tr '\\0' x";
    let outcome = Scene::one("UserPromptSubmit", flood)
        .run(&HookEvent::UserPromptSubmit { prompt: String::new() })
        .await;
    assert!(outcome.context.is_empty());
    assert!(
        outcome.problems[0].ends_with("it printed more than 1048576 bytes, so that its answer was not read")
    );
    // What floods the other stream has answered all the same, and its reason is cut.
    let errors = Scene::one("PreToolUse", &format!("({flood}) >&2; exit 2")).run(&bash()).await;
    let Some(HookSay::Deny(why)) = errors.say else { panic!("{:?}", errors.problems) };
    assert_eq!(why.chars().count(), 2_001);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_needs_not_read_what_it_is_told() {
    let long = "x".repeat(3_000_000);
    for command in [
        "exec <&-; echo '{\"decision\": \"approve\"}'",
        "head -c 1 >/dev/null; echo '{\"decision\": \"approve\"}'",
    ] {
        let event = HookEvent::PreToolUse(call("bash", json!({"command": long})));
        let outcome = Scene::one("PreToolUse", command).run(&event).await;
        assert_eq!(brief(&outcome), "Allow", "{command}");
    }
    let counted = Scene::one("UserPromptSubmit", "wc -c");
    let outcome = counted.run(&HookEvent::UserPromptSubmit { prompt: long }).await;
    assert!(outcome.context[0].trim().parse::<usize>().unwrap() > 3_000_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_hook_leaves_running_is_ended_and_told() {
    let scene = Scene::one("Stop", "sleep 600 & echo $! >child");
    let outcome = scene.run(&HookEvent::Stop { last_message: None, round: StopRound::First }).await;
    assert!(
        outcome.problems[0].contains("it left `sleep 600` running, which was ended with it"),
        "{outcome:?}"
    );
    assert!(!alive(&scene));
}
