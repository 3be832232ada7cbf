//! Commands in the background: their output, their input, their end.

use std::time::Duration;

use rail_tool::{Confine, Outcome, ShellState};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bash::{alive, gone, no_login};
use crate::scratch::{Scratch, without_times};

fn scratch() -> Scratch {
    Scratch::with(no_login)
}

async fn says(scratch: &Scratch, tool: &str, input: Value) -> String {
    let outcome: Outcome = scratch.call(tool, &input, &CancellationToken::new()).await;
    without_times(&outcome.text())
}

async fn start(scratch: &Scratch, command: &str) -> String {
    says(scratch, "bash", json!({ "command": command, "run_in_background": true })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_program_gets_input_and_only_news_are_told() {
    let scratch = scratch();
    assert_eq!(
        start(&scratch, "read x; echo got $x; read y; echo and $y; exit 4").await,
        "It runs in the background as `bash_1`. Read its output with `bash_output` and `bash_id: \"bash_1\"`; end it with `kill_bash`."
    );
    assert_eq!(
        says(&scratch, "bash_output", json!({ "bash_id": "bash_1" })).await,
        "[`bash_1` is running, no new output]"
    );
    let first = json!({ "bash_id": "bash_1", "input": "this\n", "wait": 60_000 });
    assert_eq!(says(&scratch, "bash_output", first).await, "got this\n[`bash_1` is running]");
    let second = json!({ "bash_id": "1", "input": "that\n", "wait": 60_000 });
    let said = says(&scratch, "bash_output", second).await;
    assert_eq!(said, "and that\n[`bash_1` has ended: exit code 4 in {ms} ms]");
    let over = says(&scratch, "bash_output", json!({ "bash_id": "bash_1" })).await;
    assert_eq!(
        over,
        "there is no command `bash_1` in the background; one that ended is forgotten when its end was read. There are none."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn input_is_closed_and_refused_after_it() {
    let scratch = scratch();
    start(&scratch, "cat; sleep 1000").await;
    let closed = json!({ "bash_id": "bash_1", "input": "all\n", "close_input": true, "wait": 60_000 });
    assert_eq!(says(&scratch, "bash_output", closed).await, "all\n[`bash_1` is running]");
    let more = says(&scratch, "bash_output", json!({ "bash_id": "bash_1", "input": "more" })).await;
    assert_eq!(
        more,
        "`bash_1` got no input: it takes no input: that was closed, or it was started without. Read its output with `bash_output` without `input`, or start it again with `bash` and `run_in_background`"
    );
    assert!(says(&scratch, "kill_bash", json!({ "shell_id": "bash_1" })).await.contains("killed by SIGTERM"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_looks_at_all_that_memory_holds_and_says_what_it_does_not() {
    let scratch = scratch();
    scratch.gate("gate");
    let noise = |lines: u32| format!("yes noise | head -n {lines}");
    let command = format!(
        "{}; echo ERROR early; {}; echo ERROR late; echo >gate; read x",
        noise(10_000),
        noise(600_000)
    );
    start(&scratch, &command).await;
    says(&scratch, "bash", json!({ "command": "cat gate" })).await;
    let input = json!({ "bash_id": "bash_1", "filter": "ERROR", "wait": 60_000 });
    let said = says(&scratch, "bash_output", input).await;
    assert!(said.starts_with("ERROR early\n\n[about "), "{said}");
    assert!(said.ends_with("]\n\nERROR late\n[`bash_1` is running]"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_shows_lines_that_fit() {
    let scratch = scratch();
    start(&scratch, "echo an error; echo a line; echo ERROR; read x").await;
    let input = json!({ "bash_id": "bash_1", "filter": "(?i)error", "wait": 60_000 });
    assert_eq!(says(&scratch, "bash_output", input).await, "an error\nERROR\n[`bash_1` is running]");
    let none = json!({ "bash_id": "bash_1", "filter": "error", "input": "x\n", "wait": 60_000 });
    let said = says(&scratch, "bash_output", none).await;
    assert!(said.ends_with("in {ms} ms, no new output]"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_command_ends_with_all_it_started() {
    let scratch = scratch();
    start(&scratch, "trap '' TERM; (setsid sh -c 'echo $$; exec sleep 1000') & wait; sleep 1000").await;
    let said = says(&scratch, "bash_output", json!({ "bash_id": "bash_1", "wait": 60_000 })).await;
    let pid = said.lines().next().unwrap().to_owned();
    assert!(alive(&pid), "{said}");
    let said = says(&scratch, "kill_bash", json!({ "shell_id": "bash_1" })).await;
    assert_eq!(said, "[`bash_1` has ended: killed by SIGKILL in {ms} ms, no new output]");
    assert!(gone(&pid));
    start(&scratch, "sleep 1000").await;
    let said = says(&scratch, "kill_bash", json!({ "shell_id": "x" })).await;
    assert_eq!(
        said,
        "there is no command `x` in the background; one that ended is forgotten when its end was read. There are: `bash_2` (running: `sleep 1000`)."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_over_its_time_can_go_on() {
    let scratch = scratch();
    let input = json!({ "command": "echo one; sleep 1000", "timeout": 1_000, "on_timeout": "background" });
    assert_eq!(
        says(&scratch, "bash", input).await,
        "one\n[still running after 1000 ms; it goes on in the background as `bash_1`: read what it prints with `bash_output` and `bash_id: \"bash_1\"`, end it with `kill_bash`]"
    );
    assert_eq!(
        says(&scratch, "bash_output", json!({ "bash_id": "bash_1" })).await,
        "[`bash_1` is running, no new output]"
    );
    assert_eq!(
        says(&scratch, "kill_bash", json!({ "shell_id": "bash_1" })).await,
        "[`bash_1` has ended: killed by SIGTERM in {ms} ms, no new output]"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_run_at_once_but_not_too_many() {
    let scratch = scratch();
    for _ in 0..32 {
        start(&scratch, "read x").await;
    }
    let said = start(&scratch, "read x").await;
    assert!(said.starts_with("32 commands run in the background already, and no more can; end one with `kill_bash` first. There are: `bash_1` (running: `read x`), "), "{said}");
    let ended = json!({ "bash_id": "bash_7", "close_input": true, "wait": 60_000 });
    assert!(says(&scratch, "bash_output", ended).await.contains("has ended"));
    assert!(start(&scratch, "read x").await.contains("`bash_33`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_outside_the_sandbox_gets_no_input_from_inside() {
    let scratch = Scratch::with(|session| {
        no_login(session);
        session.confine = Confine::Workspace;
    });
    let shell = json!({ "command": "bash", "run_in_background": true, "dangerouslyDisableSandbox": true });
    says(&scratch, "bash", shell).await;
    let inside = json!({ "bash_id": "bash_1", "input": "touch ran; echo ran\n" });
    assert_eq!(
        says(&scratch, "bash_output", inside).await,
        "`bash_1` runs outside the sandbox, so it got no input; to give it some, call again with `dangerouslyDisableSandbox: true`, which asks the user"
    );
    let outside = json!({ "bash_id": "bash_1", "input": "echo only this\n", "dangerouslyDisableSandbox": true, "wait": 60_000 });
    assert_eq!(says(&scratch, "bash_output", outside).await, "only this\n[`bash_1` is running]");
    assert!(!scratch.path("ran").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_left_its_session_goes_on_after_its_command_was_read() {
    let scratch = scratch();
    start(&scratch, "setsid sleep 1000 & echo $!").await;
    let ended = json!({ "bash_id": "bash_1", "wait": 60_000 });
    let mut said = says(&scratch, "bash_output", ended.clone()).await;
    let pid = said.lines().next().unwrap().to_owned();
    while said.contains("is running") {
        said = says(&scratch, "bash_output", ended.clone()).await;
    }
    assert!(said.contains("it left something running"), "{said}");
    assert!(alive(&pid));
    drop(scratch);
    assert!(gone(&pid));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_session_ends_all() {
    let scratch = scratch();
    start(&scratch, "echo $$; sleep 1000").await;
    let said = says(&scratch, "bash_output", json!({ "bash_id": "bash_1", "wait": 60_000 })).await;
    let pid = said.lines().next().unwrap().to_owned();
    assert!(alive(&pid));
    drop(scratch);
    assert!(gone(&pid));
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_end_in_order_when_a_session_does() {
    let scratch = scratch();
    start(&scratch, "trap 'echo bye >said; exit' TERM; echo ready; while :; do read <> <(:); done").await;
    says(&scratch, "bash_output", json!({ "bash_id": "bash_1", "wait": 60_000 })).await;
    rail_tools::end_commands(&scratch.session, Duration::from_secs(10)).await;
    assert_eq!(scratch.read("said"), "bye\n");
    let said = says(&scratch, "bash_output", json!({ "bash_id": "bash_1", "wait": 60_000 })).await;
    assert_eq!(said, "[`bash_1` has ended: done in {ms} ms, no new output]");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_watches_is_told_of_begin_and_end_at_once_and_of_output_once_a_second() {
    let scratch = scratch();
    let mut watch = rail_tools::watch_background(&scratch.session);
    start(&scratch, "read x; echo $x; read y; exit 3").await;
    let began = std::time::Instant::now();
    let [shell] = watch.next().await.try_into().unwrap();
    assert_eq!((shell.id.as_str(), shell.state, shell.printed), ("bash_1", ShellState::Running, 0));
    assert_eq!(shell.command, "read x; echo $x; read y; exit 3");
    says(&scratch, "bash_output", json!({ "bash_id": "bash_1", "input": "four\n", "wait": 60_000 })).await;
    let [shell] = watch.next().await.try_into().unwrap();
    assert_eq!((shell.state, shell.printed), (ShellState::Running, 5));
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    // Its end is read, so that it is forgotten; who watches still hears of it.
    says(&scratch, "bash_output", json!({ "bash_id": "bash_1", "input": "\n", "wait": 60_000 })).await;
    let [shell] = watch.next().await.try_into().unwrap();
    assert_eq!((shell.state, shell.printed), (ShellState::Exited { code: 3 }, 5));
    assert_eq!(rail_tools::background(&scratch.session), [shell]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_kills_is_told_as_killed() {
    let scratch = scratch();
    for command in ["cat", "cat", "kill -9 $$", "cat"] {
        start(&scratch, command).await;
    }
    says(&scratch, "kill_bash", json!({ "shell_id": "bash_1" })).await;
    rail_tools::kill_background(&scratch.session, "bash_2").await;
    says(&scratch, "bash_output", json!({ "bash_id": "bash_3", "wait": 60_000 })).await;
    // Somebody who did not kill it learns that it has ended.
    let said = says(&scratch, "bash_output", json!({ "bash_id": "bash_2" })).await;
    assert!(said.contains("`bash_2` has ended: killed by SIGTERM"), "{said}");
    let states = || rail_tools::background(&scratch.session).into_iter().map(|shell| shell.state);
    let killed = ShellState::Killed;
    let signalled = ShellState::Signalled { signal: 9 };
    assert_eq!(states().collect::<Vec<_>>(), [killed, killed, signalled, ShellState::Running]);
    rail_tools::end_commands(&scratch.session, Duration::ZERO).await;
    assert_eq!(states().collect::<Vec<_>>(), [killed, killed, signalled, killed]);
}
