//! Whatever a server does costs an error of the call that was made, and nothing else.

use std::sync::Arc;
use std::time::Duration;

use rail_mcp::{Host, Offers, Sample, Sampled, ServerState, State};
use rail_tool::{BoxFuture, End, ToolEvent};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::bed::{Bed, Quiet, call, hasty, hostile, stdio};

const TEXT: &str = "mcp__good__echo";

/// A server in a mode beside one that behaves: whatever the first does, the second answers, and nothing is left of either.
async fn beside(mode: &str, check: impl AsyncFnOnce(&Bed)) {
    let bed = Bed::new(vec![hasty(hostile(mode), 1_500, 700), hostile("good")]);
    check(&bed).await;
    bed.ready("good").await;
    assert_eq!(bed.says(TEXT, &json!({"text": "still here"})).await, "ok: still here");
    bed.end().await;
}

fn is_retrying(state: &ServerState) -> bool {
    matches!(state.state, State::Retrying { .. })
}

fn why(state: &ServerState) -> &str {
    match &state.state {
        State::Retrying { why, .. } | State::Failed { why } => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_at_its_start() {
    beside("hang-start", async |bed| {
        let state = bed.until("hang-start", is_retrying).await;
        assert_eq!(why(&state), "it was not ready within 1.5 s; its last words: waiting for the moon");
        let asked = bed.hub.read_resource("hang-start", "a:b").await.unwrap_err();
        assert!(asked.starts_with("the MCP server `hang-start` can't be asked: it is"), "{asked}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_reads_nothing() {
    beside("deaf", async |bed| {
        assert_eq!(why(&bed.until("deaf", is_retrying).await), "it was not ready within 1.5 s");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_in_a_call() {
    let host = Arc::new(Quiet::default());
    let bed = Bed::with(vec![hasty(hostile("hang-call"), 20_000, 300)], Arc::clone(&host) as _, |_| {});
    bed.ready("hang-call").await;
    insta::assert_snapshot!(bed.says("mcp__hang-call__echo", &json!({})).await, @"");
    // The server hears of it.
    let told = async || {
        let patience = tokio::time::timeout(Duration::from_secs(20), async {
            loop {
                let logged = std::mem::take(&mut *host.0.lock().unwrap());
                if !logged.is_empty() {
                    return logged;
                }
                tokio::task::yield_now().await;
            }
        });
        patience.await.unwrap()
    };
    assert_eq!(told().await, ["hang-call info: cancelled: the time is over"]);
    let (executor, mut events) = bed.executor();
    let cancel = CancellationToken::new();
    let calls = vec![call("mcp__hang-call__echo", &json!({}))];
    let (outcomes, ()) = tokio::join!(executor.run(calls, &cancel), async {
        while !matches!(events.recv().await, Some(ToolEvent::Start { .. })) {}
        cancel.cancel();
    });
    assert_eq!(outcomes[0].end, End::Cancelled);
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_floods() {
    beside("flood", async |bed| {
        bed.ready("flood").await;
        assert_eq!(bed.says("mcp__flood__echo", &json!({"text": "after all"})).await, "ok: after all");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_complains_without_end() {
    beside("stderr", async |bed| {
        bed.ready("stderr").await;
        assert_eq!(bed.says("mcp__stderr__echo", &json!({"text": "done"})).await, "ok: done");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_in_a_call_is_started_again() {
    beside("die-call", async |bed| {
        bed.ready("die-call").await;
        insta::assert_snapshot!(bed.says("mcp__die-call__echo", &json!({})).await, @"");
        bed.until("die-call", |state| !matches!(state.state, State::Ready { .. })).await;
        bed.ready("die-call").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_at_once_is_given_up_until_it_is_asked_for() {
    beside("die", async |bed| {
        let failed = |state: &ServerState| matches!(state.state, State::Failed { .. });
        let state = bed.until("die", failed).await;
        assert_eq!(
            why(&state),
            "it died at once, 5 times: it ended with exit code 1; its last words: no configuration found"
        );
        bed.hub.reconnect("die").unwrap();
        bed.until("die", |state| !failed(state)).await;
        bed.until("die", failed).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_there() {
    let bed = Bed::new(vec![stdio("gone", "no-such-program-here", &[])]);
    let state = bed.until("gone", |state| matches!(state.state, State::Failed { .. })).await;
    let folder = bed.folder.path().display().to_string();
    insta::assert_snapshot!(why(&state).replace(&folder, "{folder}"), @"");
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_change_while_the_server_runs() {
    beside("change", async |bed| {
        bed.ready("change").await;
        assert_eq!(bed.says("mcp__change__echo", &json!({"text": "more"})).await, "ok: more");
        let state = bed.until("change", |state| state.tools == 2).await;
        assert_eq!(state.state, State::Ready { tools: 2, prompts: 0, resources: 0 });
        assert_eq!(bed.says("mcp__change__more", &json!({"text": "even more"})).await, "ok: even more");
        bed.until("change", |state| state.tools == 3).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_lies_about_types() {
    beside("liar", async |bed| {
        let state = bed.ready("liar").await;
        insta::assert_snapshot!(state.notes.join("\n"), @"");
        let mut said = Vec::new();
        for tool in bed.hub.tools().iter().filter(|tool| tool.card().name.starts_with("mcp__liar")) {
            let name = tool.card().name.to_owned();
            let says = bed.says(&name, &json!({"n": {"any": "thing"}, "unknown": 1})).await;
            said.push(format!("{name} {}\n  {says}", tool.schema()));
        }
        insta::assert_snapshot!(said.join("\n"), @"");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_without_end_are_cut() {
    for (mode, tools) in [("endless", 100), ("circle", 1), ("crowd", 1_000), ("no-list", 0)] {
        beside(mode, async |bed| {
            let state = bed.ready(mode).await;
            assert_eq!(state.tools, tools, "{mode}");
            insta::assert_snapshot!(format!("notes_of_{mode}"), state.notes.join("\n"));
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_too_long_to_be_declared() {
    beside("fat", async |bed| {
        let state = bed.ready("fat").await;
        assert_eq!((state.tools, state.notes.len()), (2, 1), "{:?}", state.notes);
        assert!(state.notes[0].ends_with("is longer than 65536: the tool `fat` takes any arguments"));
        let fat = bed.hub.tools().into_iter().find(|tool| tool.card().name == "mcp__fat__fat").unwrap();
        assert_eq!(fat.schema(), json!({"type": "object", "properties": {}}));
        assert_eq!(fat.card().prompt.chars().count(), 4_001);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_are_no_messages() {
    beside("garbage", async |bed| {
        let state = bed.ready("garbage").await;
        insta::assert_snapshot!(state.notes.join("\n"), @"");
        assert_eq!(bed.says("mcp__garbage__echo", &json!({"text": "fine"})).await, "ok: fine");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_fifty_megabytes() {
    let bed = Bed::new(vec![hostile("long"), hostile("good")]);
    bed.ready("long").await;
    insta::assert_snapshot!(bed.says("mcp__long__echo", &json!({})).await, @"");
    bed.ready("good").await;
    assert_eq!(bed.says(TEXT, &json!({"text": "still here"})).await, "ok: still here");
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_for_nobody_and_answers_that_come_twice() {
    for mode in ["wrong-id", "twice"] {
        beside(mode, async |bed| {
            bed.ready(mode).await;
            let tool = format!("mcp__{mode}__echo");
            for text in ["first", "second"] {
                assert_eq!(bed.says(&tool, &json!({"text": text})).await, format!("ok: {text}"));
            }
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn handshakes_that_fail() {
    for (mode, expected) in [
        ("old", "it speaks the version `1999-01-01` of the protocol, which is not known here"),
        ("refuse", "it refused the handshake: not today"),
        ("wrong-hello", "its answer to the handshake has the id of another request"),
    ] {
        beside(mode, async |bed| {
            assert_eq!(why(&bed.until(mode, is_retrying).await), expected);
        })
        .await;
    }
}

/// A model that never answers: what was asked first stays open.
struct Slow(CancellationToken);

impl Host for Slow {
    fn offers(&self) -> Offers {
        Offers { sampling: true, ..Offers::default() }
    }

    fn sample<'a>(&'a self, _: &'a str, _: Sample) -> BoxFuture<'a, Result<Sampled, String>> {
        Box::pin(async {
            self.0.cancelled().await;
            Err("too late".to_owned())
        })
    }

    fn log(&self, _: &str, _: &str, _: &str) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_a_thousand_times() {
    let gate = CancellationToken::new();
    let bed = Bed::with(vec![hostile("asks"), hostile("good")], Arc::new(Slow(gate.clone())), |_| {});
    bed.ready("asks").await;
    let asked = json!({"text": "x"});
    let calls = async {
        bed.ready("good").await;
        assert_eq!(bed.says(TEXT, &json!({"text": "meanwhile"})).await, "ok: meanwhile");
        gate.cancel();
    };
    let (said, ()) = tokio::join!(bed.says("mcp__asks__echo", &asked), calls);
    assert_eq!(said, "ok: asked 1000 times, some were refused");
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_hub_ends_its_servers() {
    let bed = Bed::new(vec![hostile("good"), hostile("hang-start")]);
    bed.ready("good").await;
    // Tools that somebody still has keep no server alive.
    let tools = bed.hub.tools();
    let Bed { hub, folder } = bed;
    drop(hub);
    let own = folder.path().canonicalize().unwrap();
    let patience = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
            let left =
                all.filter(|one| std::fs::read_link(one.path().join("cwd")).is_ok_and(|cwd| cwd == own));
            if left.count() == 0 {
                return;
            }
            tokio::task::yield_now().await;
        }
    });
    patience.await.unwrap();
    drop(tools);
}
