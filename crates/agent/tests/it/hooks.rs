//! Real hook scripts: what each event tells them, every form of answer, and hooks that are broken.

mod around_calls;
mod broken;
mod callbacks;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rail_agent::hooks::{
    CompactTrigger, EndReason, FailedBy, HookEvent, HookFacts, HookOutcome, HookRunner, HookWatch,
    StartSource, StopRound,
};
use rail_config::settings::Hooks;
use rail_permit::Mode;
use rail_tool::{HookSay, HookedCall, Session};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A session in a folder of its own, with hooks.
pub(crate) struct Scene {
    pub(crate) runner: Arc<HookRunner>,
    pub(crate) session: Arc<Session>,
    pub(crate) said: Arc<Said>,
    root: TempDir,
}

/// What was said around calls.
#[derive(Default)]
pub(crate) struct Said(pub(crate) Mutex<Vec<(&'static str, HookOutcome)>>);

impl HookWatch for Said {
    fn said(&self, event: &'static str, outcome: &HookOutcome) {
        self.0.lock().unwrap().push((event, outcome.clone()));
    }
}

impl Scene {
    /// With these settings.
    pub(crate) fn new(settings: Value) -> Self {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        let workspace = real.join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        let mut session = Session::new(workspace, real.join("session"));
        session.env = std::env::vars_os().collect();
        session.home = Some(real);
        let session = Arc::new(session);
        let facts = HookFacts {
            id: "s-1".to_owned(),
            transcript: PathBuf::from("/journals/s-1.jsonl"),
            session: Arc::clone(&session),
        };
        let said = Arc::new(Said::default());
        let settings: Hooks = serde_json::from_value(settings).unwrap();
        let runner = HookRunner::new(&settings, facts, Arc::clone(&said) as Arc<dyn HookWatch>);
        Self { runner: Arc::new(runner), session, said, root }
    }

    /// With one hook for one event.
    pub(crate) fn one(event: &str, command: &str) -> Self {
        Self::new(json!({event: [{"hooks": [{"type": "command", "command": command, "timeout": 20}]}]}))
    }

    pub(crate) async fn run(&self, event: &HookEvent) -> HookOutcome {
        self.runner.run(event, &CancellationToken::new()).await
    }

    /// A text with the scene's folders written as `{workspace}` and `{home}`.
    pub(crate) fn plain(&self, text: &str) -> String {
        let home = self.root.path().canonicalize().unwrap();
        text.replace(self.session.workspace.to_str().unwrap(), "{workspace}")
            .replace(home.to_str().unwrap(), "{home}")
    }
}

pub(crate) fn call(tool: &str, input: Value) -> HookedCall {
    HookedCall { id: "call_1".to_owned(), tool: tool.to_owned(), input }
}

fn bash() -> HookEvent {
    HookEvent::PreToolUse(call("bash", json!({"command": "ls"})))
}

/// One event of each kind.
fn events() -> Vec<HookEvent> {
    let edit = || call("edit_file", json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"}));
    let (id, agent_type) = ("a-1".to_owned(), "explore".to_owned());
    vec![
        HookEvent::SessionStart { source: StartSource::Startup, model: Some("m".to_owned()) },
        HookEvent::UserPromptSubmit { prompt: "say \"hi\"\nplease".to_owned() },
        HookEvent::PreToolUse(edit()),
        HookEvent::PermissionRequest(edit()),
        HookEvent::PostToolUse { call: call("bash", json!({"command": "ls"})), output: "a.rs".to_owned() },
        HookEvent::PostToolUse { call: edit(), output: "done".to_owned() },
        HookEvent::PostToolUseFailure { call: edit(), error: "no".to_owned(), by: FailedBy::Interrupt },
        HookEvent::Notification {
            kind: "permission_prompt".to_owned(),
            title: None,
            message: "may I?".to_owned(),
        },
        HookEvent::SubagentStart { id: id.clone(), agent_type: agent_type.clone() },
        HookEvent::SubagentStop {
            id,
            agent_type,
            transcript: Some("/journals/a-1.jsonl".into()),
            last_message: Some("found".to_owned()),
            round: StopRound::First,
        },
        HookEvent::PreCompact { trigger: CompactTrigger::Manual, instructions: "keep x".to_owned() },
        HookEvent::Stop { last_message: None, round: StopRound::Again },
        HookEvent::SessionEnd { reason: EndReason::PromptInputExit },
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn each_event_tells_its_hooks_what_they_know_from_elsewhere() {
    let mut told = String::new();
    for event in events() {
        let scene = Scene::one(event.name(), "cat >told.json");
        scene.runner.set_mode(Mode::AcceptEdits);
        assert_eq!(scene.run(&event).await, HookOutcome::default(), "{event:?}");
        let read = std::fs::read_to_string(scene.session.workspace.join("told.json")).unwrap();
        told.push_str(&scene.plain(&read));
        told.push('\n');
    }
    insta::assert_snapshot!(told);
}

/// The outcome of one hook that does this, for each event that is named.
async fn outcomes(names: &[&str], command: &str) -> String {
    let mut lines = Vec::new();
    for event in events().into_iter().filter(|event| names.is_empty() || names.contains(&event.name())) {
        let outcome = Scene::one(event.name(), command).run(&event).await;
        lines.push(format!("{}: {}", event.name(), brief(&outcome)));
    }
    lines.join("\n")
}

/// What an outcome says, without what it does not.
pub(crate) fn brief(outcome: &HookOutcome) -> String {
    let HookOutcome { blocked, say, updated_input, context, stop, messages, problems } = outcome;
    let mut parts = Vec::new();
    parts.extend(blocked.as_ref().map(|why| format!("blocked {why:?}")));
    parts.extend(say.as_ref().map(|say| format!("{say:?}")));
    parts.extend(updated_input.as_ref().map(|input| format!("input {input}")));
    parts.extend(stop.as_ref().map(|why| format!("stop {why:?}")));
    for (name, texts) in [("context", context), ("messages", messages), ("problems", problems)] {
        if !texts.is_empty() {
            parts.push(format!("{name} {texts:?}"));
        }
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_two_blocks_what_can_be_blocked() {
    insta::assert_snapshot!(outcomes(&[], "echo ignored; echo because >&2; exit 2").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_text_is_context_where_something_was_said() {
    insta::assert_snapshot!(outcomes(&[], "echo; echo ' on branch main '; echo noise >&2").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_exits_are_problems_and_nothing_else() {
    let names = ["PreToolUse", "Stop", "SessionStart"];
    insta::assert_snapshot!(outcomes(&names, "echo hm >&2; exit 1").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_of_answer_is_understood() {
    let mut lines = Vec::new();
    for (event, answer) in [
        ("PreToolUse", json!({"decision": "approve", "reason": "fine"})),
        ("PreToolUse", json!({"decision": "block", "reason": "old form"})),
        (
            "PreToolUse",
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}),
        ),
        (
            "PreToolUse",
            json!({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}),
        ),
        (
            "PreToolUse",
            json!({"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}, "systemMessage": "look"}),
        ),
        (
            "PreToolUse",
            json!({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"file_path": "/w/b.rs"}, "additionalContext": "moved"}}),
        ),
        ("PreToolUse", json!({"continue": false, "stopReason": "enough", "suppressOutput": true})),
        (
            "PermissionRequest",
            json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow", "updatedInput": {"file_path": "/x"}}}}),
        ),
        (
            "PermissionRequest",
            json!({"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "never", "interrupt": true}}}),
        ),
        (
            "PermissionRequest",
            json!({"hookSpecificOutput": {"decision": {"behavior": "allow", "updatedPermissions": []}}}),
        ),
        (
            "PostToolUse",
            json!({"decision": "block", "reason": "lint it", "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "3 warnings"}}),
        ),
        ("PostToolUse", json!({"hookSpecificOutput": {"updatedMCPToolOutput": "x"}})),
        ("PostToolUseFailure", json!({"hookSpecificOutput": {"additionalContext": "try again"}})),
        ("UserPromptSubmit", json!({"decision": "block", "reason": "a key is in it"})),
        (
            "UserPromptSubmit",
            json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "it is Monday"}}),
        ),
        (
            "SessionStart",
            json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "branch main"}}),
        ),
        ("SubagentStart", json!({"hookSpecificOutput": {"additionalContext": "be brief"}})),
        ("Stop", json!({"decision": "block", "reason": "tests fail"})),
        ("Stop", json!({"continue": false})),
        ("SubagentStop", json!({"decision": "block"})),
        ("PreCompact", json!({"decision": "block", "reason": "not now"})),
        ("Notification", json!({"systemMessage": "heard"})),
        ("SessionEnd", json!({"decision": "block", "reason": "stay"})),
        ("Stop", json!({"decision": "approve"})),
        ("Stop", json!({})),
    ] {
        let outcome = outcomes(&[event], &format!("cat <<'X'\n{answer}\nX")).await;
        lines.push(format!("{answer}\n  {outcome}"));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn matchers_choose_by_both_names_and_the_same_command_runs_once() {
    let hook = |word: &str| json!([{"command": format!("echo {word} >>ran")}]);
    let scene = Scene::new(json!({"PreToolUse": [
        {"matcher": "Bash", "hooks": hook("theirs")},
        {"matcher": "bash", "hooks": hook("ours")},
        {"matcher": "Edit|Write", "hooks": hook("edit")},
        {"matcher": "Ba.*", "hooks": hook("pattern")},
        {"matcher": "*", "hooks": hook("theirs")},
        {"hooks": hook("all")},
    ], "SessionStart": [{"matcher": "resume", "hooks": hook("resumed")}]}));
    scene.run(&bash()).await;
    scene.run(&HookEvent::SessionStart { source: StartSource::Startup, model: None }).await;
    let ran = std::fs::read_to_string(scene.session.workspace.join("ran")).unwrap();
    let mut ran: Vec<&str> = ran.lines().collect();
    ran.sort_unstable();
    assert_eq!(ran, ["all", "ours", "pattern", "theirs"]);
    let broken = Scene::new(json!({"PreToolUse": [{"matcher": "(", "hooks": hook("all")}]}));
    assert!(broken.runner.problems()[0].starts_with("hooks.PreToolUse: the matcher `(` can't be read"));
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_side_by_side_and_their_answers_are_one() {
    // Each waits for the other, so that one after the other would never end.
    let meet = |mine: &str, other: &str, say: &str| {
        let decision =
            json!({"hookSpecificOutput": {"permissionDecision": say, "permissionDecisionReason": mine}});
        json!({"command": format!("mkfifo {mine} 2>/dev/null; mkfifo {other} 2>/dev/null; echo here >{other} & read x <{mine}; wait; echo '{decision}'")})
    };
    let scene = Scene::new(json!({"PreToolUse": [
        {"hooks": [meet("a", "b", "ask"), meet("b", "a", "deny")]},
        {"hooks": [{"command": "echo '{\"decision\": \"approve\"}'"}]},
    ]}));
    assert_eq!(scene.run(&bash()).await.say, Some(HookSay::Deny("b".to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_in_the_working_folder_with_the_project_s_folder_in_their_environment() {
    let scene = Scene::one(
        "UserPromptSubmit",
        "pwd; echo \"$CLAUDE_PROJECT_DIR $SWITCHRAIL_PROJECT_DIR $# $0\"; . \"$CLAUDE_PROJECT_DIR/hook.sh\"",
    );
    let folder = scene.session.workspace.join("sub");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(scene.session.workspace.join("hook.sh"), "echo sourced").unwrap();
    scene.session.set_cwd(&folder);
    let event = HookEvent::UserPromptSubmit { prompt: String::new() };
    let said = scene.run(&event).await.context.join("");
    assert_eq!(scene.plain(&said), "{workspace}/sub\n{workspace} {workspace} 0 sh\nsourced");
    // A working folder that is gone is no reason to leave hooks out.
    std::fs::remove_dir(&folder).unwrap();
    let said = scene.run(&event).await.context.join("");
    assert_eq!(scene.plain(&said), "{workspace}\n{workspace} {workspace} 0 sh\nsourced");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_python_hook_works_as_it_is() {
    let script = r#"
import json, sys
data = json.load(sys.stdin)
command = data["tool_input"]["command"]
if data["tool_name"] == "Bash" and "rm -rf" in command:
    print("no deletions here", file=sys.stderr)
    sys.exit(2)
print(json.dumps({"hookSpecificOutput": {"hookEventName": data["hook_event_name"], "updatedInput": {"command": "nice " + command}}}))
"#;
    let scene = Scene::one("PreToolUse", "python3 \"$CLAUDE_PROJECT_DIR\"/check.py");
    std::fs::write(scene.session.workspace.join("check.py"), script).unwrap();
    let run = |command: &str| HookEvent::PreToolUse(call("bash", json!({"command": command})));
    let refused = scene.run(&run("rm -rf /")).await;
    if brief(&refused).contains("python3: not found")
        || brief(&refused).contains("python3: command not found")
    {
        // On a developer's machine the test is skipped.
        assert!(!on_ci(), "python3 is missing");
        return;
    }
    assert_eq!(brief(&refused), r#"Deny("no deletions here")"#);
    assert_eq!(brief(&scene.run(&run("ls")).await), r#"input {"command":"nice ls"}"#);
}

#[expect(clippy::disallowed_methods, reason = "the tests read their own environment")]
fn on_ci() -> bool {
    std::env::var_os("CI").is_some()
}
