//! Hooks of a client: it is called back beside the commands, and answers as they do.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rail_agent::hooks::{
    CallbackGroup, CallbackHooks, HookCalls, HookEvent, HookFacts, HookOutcome, HookRunner,
};
use rail_tool::{BoxFuture, HookSay};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Scene, call};

/// Answers what the test wants, and keeps what it was told.
#[derive(Default)]
struct Client {
    told: Mutex<Vec<(String, Value)>>,
}

impl HookCalls for Client {
    fn call<'a>(&'a self, id: &'a str, input: &'a Value) -> BoxFuture<'a, Result<Value, String>> {
        self.told.lock().unwrap().push((id.to_owned(), input["tool_name"].clone()));
        let answer = match id {
            "denies" => Ok(
                json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "not now"}}),
            ),
            "silent" => Ok(Value::Null),
            "odd" => Ok(json!(5)),
            "gone" => Err("the client is gone".to_owned()),
            _ => return Box::pin(std::future::pending()),
        };
        Box::pin(std::future::ready(answer))
    }
}

/// What one callback for commands comes to, and what the client was told.
async fn run(id: &str, matcher: &str, limit: Option<Duration>) -> (HookOutcome, Vec<(String, Value)>) {
    let scene = Scene::new(json!({}));
    let client = Arc::new(Client::default());
    let facts = HookFacts {
        id: "s-1".to_owned(),
        transcript: PathBuf::from("/journals/s-1.jsonl"),
        session: Arc::clone(&scene.session),
    };
    let group = |event: &str| CallbackGroup {
        event: event.to_owned(),
        matcher: Some(matcher.to_owned()),
        callbacks: vec![id.to_owned()],
        limit,
    };
    let runner = HookRunner::new(&Default::default(), facts, Arc::clone(&scene.said) as _);
    let calls = Arc::clone(&client) as Arc<dyn HookCalls>;
    let runner =
        runner.with_callbacks(CallbackHooks { groups: vec![group("PreToolUse"), group("Unheard")], calls });
    assert_eq!(runner.problems(), ["there is no hook event `Unheard`; its callbacks are never called"]);
    let event = HookEvent::PreToolUse(call("bash", json!({"command": "ls"})));
    let outcome = runner.run(&event, &CancellationToken::new()).await;
    let told = client.told.lock().unwrap().clone();
    (outcome, told)
}

#[tokio::test]
async fn a_callback_answers_as_a_command_does() {
    let (outcome, told) = run("denies", "Bash", None).await;
    assert_eq!(
        outcome,
        HookOutcome { say: Some(HookSay::Deny("not now".to_owned())), ..HookOutcome::default() }
    );
    assert_eq!(told, [("denies".to_owned(), json!("Bash"))]);
    let (outcome, told) = run("denies", "Edit", None).await;
    assert_eq!((outcome, told), (HookOutcome::default(), Vec::new()));
    assert_eq!(run("silent", "Bash", None).await.0, HookOutcome::default());
}

#[tokio::test]
async fn a_callback_without_an_answer_makes_the_call_a_question() {
    for (id, limit) in [("gone", None), ("odd", None), ("never", Some(Duration::ZERO))] {
        let (outcome, _) = run(id, "Bash", limit).await;
        assert!(matches!(outcome.say, Some(HookSay::Ask(_))), "{id}: {outcome:?}");
        assert_eq!(outcome.problems.len(), 1, "{id}");
    }
}
