//! Hooks around real calls, through the real executor.

use std::sync::{Arc, Mutex};

use rail_model::{CallId, CallKind, ToolCall};
use rail_permit::{Answer, Mode, Policy, Question, Rule};
use rail_tool::{
    Asks, BoxFuture, Confine, Dialect, End, Executor, HookedCall, Hooks, Outcome, Parts, Reply, Session,
    ToolEvent, Watch,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Scene, brief};

/// Says no, and keeps what it was asked.
#[derive(Default)]
struct No(Mutex<Vec<Question>>);

impl Asks for No {
    fn ask<'a>(&'a self, _: &'a HookedCall, question: &'a Question) -> BoxFuture<'a, Reply> {
        self.0.lock().unwrap().push(question.clone());
        Box::pin(std::future::ready(Answer::No(None).into()))
    }

    fn keep(&self, _: &[Rule]) -> Result<(), String> {
        Ok(())
    }
}

impl Watch for No {
    fn event(&self, _: ToolEvent) {}
}

/// Runs one call with hooks around it; what became of it, and what was asked.
async fn run(scene: &Scene, tool: &str, input: Value) -> (Outcome, Vec<Question>) {
    let workspace = scene.session.workspace.clone();
    let mut session = Session::new(workspace.clone(), workspace.join("../session"));
    session.confine = Confine::Off;
    session.env = scene.session.env.clone();
    let asks = Arc::new(No::default());
    let executor = Executor::new(Parts {
        registry: rail_tools::registry(),
        session: Arc::new(session),
        policy: Policy { mode: Mode::Default, folders: vec![workspace], ..Policy::default() }.into(),
        asks: Arc::clone(&asks) as Arc<dyn Asks>,
        hooks: Arc::clone(&scene.runner) as Arc<dyn Hooks>,
        watch: Arc::clone(&asks) as Arc<dyn Watch>,
        dialect: Dialect::default(),
    });
    let call = ToolCall {
        id: CallId::Given("call_1".to_owned()),
        name: tool.to_owned(),
        arguments: input.to_string(),
        kind: CallKind::Function,
    };
    let outcome = executor.run(vec![call], &CancellationToken::new()).await.remove(0);
    let asked = asks.0.lock().unwrap().clone();
    (outcome, asked)
}

/// A scene with one file in its workspace, and one hook that answers this.
fn answering(event: &str, answer: &Value) -> Scene {
    let scene = Scene::one(event, &format!("echo '{answer}'"));
    std::fs::write(scene.session.workspace.join("a.txt"), "inside\n").unwrap();
    scene
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_redirects_an_allowed_read_is_asked_about() {
    let answer = json!({"hookSpecificOutput": {"updatedInput": {"file_path": "/etc/hosts"}}});
    let (outcome, asked) =
        run(&answering("PreToolUse", &answer), "Read", json!({"file_path": "a.txt"})).await;
    assert_eq!((outcome.end, asked.len()), (End::Rejected, 1), "{}", outcome.text());
    // Without the change nobody is asked.
    let (outcome, asked) =
        run(&answering("PreToolUse", &json!({})), "Read", json!({"file_path": "a.txt"})).await;
    assert_eq!((outcome.end, asked.len()), (End::Done, 0), "{}", outcome.text());
    assert!(outcome.text().contains("inside"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_refuses_allows_asks_and_adds() {
    let says = |say: &str| json!({"hookSpecificOutput": {"permissionDecision": say, "permissionDecisionReason": "so", "additionalContext": "know this"}});
    let write = json!({"command": "echo written >b.txt"});
    let read = json!({"file_path": "a.txt"});
    for (event, answer, tool, input, end, asked) in [
        ("PreToolUse", says("deny"), "Read", &read, End::Hooked, 0),
        ("PreToolUse", says("ask"), "Read", &read, End::Rejected, 1),
        ("PreToolUse", says("allow"), "Bash", &write, End::Done, 0),
        ("PreToolUse", json!({}), "Bash", &write, End::Rejected, 1),
        ("PreToolUse", json!({"continue": false, "stopReason": "enough"}), "Read", &read, End::Hooked, 0),
        (
            "PermissionRequest",
            json!({"hookSpecificOutput": {"decision": {"behavior": "allow"}}}),
            "Bash",
            &write,
            End::Done,
            0,
        ),
        (
            "PermissionRequest",
            json!({"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "so"}}}),
            "Bash",
            &write,
            End::Hooked,
            0,
        ),
        (
            "PermissionRequest",
            json!({"hookSpecificOutput": {"decision": {"behavior": "allow", "updatedInput": {"command": "cat /proc/1/root/etc/shadow"}}}}),
            "Bash",
            &write,
            End::Rejected,
            1,
        ),
        ("PermissionRequest", json!({"systemMessage": "asked"}), "Bash", &write, End::Rejected, 1),
        ("PermissionRequest", json!({"decision": "block"}), "Read", &read, End::Done, 0),
    ] {
        let (outcome, questions) = run(&answering(event, &answer), tool, input.clone()).await;
        assert_eq!((outcome.end, questions.len()), (end, asked), "{answer} {}", outcome.text());
        if answer == says("deny") {
            assert_eq!(outcome.text(), "a hook refused this call: so\nknow this");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_hooks_say_behind_a_call_stands_behind_its_result() {
    let objects = "cat >told.json; echo 'format it' >&2; exit 2";
    for (event, input, end) in [
        ("PostToolUse", json!({"file_path": "a.txt"}), End::Done),
        ("PostToolUseFailure", json!({"file_path": "missing.txt"}), End::Failed),
    ] {
        let scene = Scene::one(event, objects);
        std::fs::write(scene.session.workspace.join("a.txt"), "inside\n").unwrap();
        let (outcome, _) = run(&scene, "read_file", input).await;
        assert_eq!(outcome.end, end);
        assert!(outcome.text().ends_with("\na hook objects: format it"), "{}", outcome.text());
        let told = std::fs::read_to_string(scene.session.workspace.join("told.json")).unwrap();
        assert!(told.contains(r#""tool_name":"Read""#), "{told}");
        let said = scene.said.0.lock().unwrap();
        assert_eq!((said[0].0, brief(&said[0].1).as_str()), (event, r#"blocked "format it""#));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_check_is_told_and_somebody_is_asked() {
    let scene = Scene::one("PreToolUse", "/nowhere/check");
    std::fs::write(scene.session.workspace.join("a.txt"), "inside\n").unwrap();
    let (outcome, asked) = run(&scene, "Read", json!({"file_path": "a.txt"})).await;
    assert_eq!((outcome.end, asked.len()), (End::Rejected, 1), "{}", outcome.text());
    assert!(
        asked[0].reason.why.contains("a hook that checks this call is broken"),
        "{}",
        asked[0].reason.why
    );
    assert_eq!(scene.said.0.lock().unwrap()[0].1.problems.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_s_input_in_their_names_comes_home() {
    let answer = json!({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "echo changed", "background": false}}});
    let (outcome, _) =
        run(&answering("PreToolUse", &answer), "Bash", json!({"command": "echo as it was"})).await;
    assert!(outcome.text().starts_with("changed\n"), "{}", outcome.text());
}
