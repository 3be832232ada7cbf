//! Hooks in a real session: what they deny, change, hold and add.

use rail_proto::{Finish, Reason, SessionEvent};
use rail_testkit::{Turn, call, text};
use serde_json::json;

use crate::loop_bed::{Bed, assert_valid, texts};

fn hook(event: &str, matcher: &str, command: &str) -> String {
    format!(
        "[[hooks.{event}]]\nmatcher = \"{matcher}\"\nhooks = [{{ type = \"command\", command = '''{command}''', timeout = 20 }}]\n"
    )
}

fn run(command: &str) -> Turn {
    Turn::reply(vec![call("bash", json!({"command": command}))])
}

fn says(words: &str) -> Turn {
    Turn::reply(vec![text(words)])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_denies_a_call_and_changes_another() {
    let deny = "grep -q forbidden && { echo 'not that' >&2; exit 2; } || exit 0";
    let change = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"echo changed > out.txt"}}}'"#;
    let mut bed = Bed::new(vec![
        run("echo forbidden > out.txt"),
        says("No."),
        run("echo plain > out.txt"),
        says("Yes."),
    ]);
    bed.config = hook("PreToolUse", "Bash", deny);
    let mut talk = bed.open();
    assert_eq!(talk.ask("Go.").await.text, "No.");
    assert!(
        talk.seen
            .iter()
            .any(|event| matches!(event, SessionEvent::ToolEnd(end) if end.end == Finish::Hooked)),
        "{:#?}",
        talk.seen
    );
    assert!(talk.results()[0].1.contains("not that"), "{:?}", talk.results());
    assert!(!bed.work().join("out.txt").exists());
    let folder = bed.session();
    talk.end().await;
    bed.config = hook("PreToolUse", "Bash", change);
    let mut talk = bed.resume(&folder);
    assert_eq!(talk.ask("Go on.").await.text, "Yes.");
    talk.end().await;
    assert_eq!(bed.read("out.txt"), "changed\n");
    bed.requests().iter().for_each(assert_valid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_hook_holds_the_task_once() {
    let command = r#"grep -q '"stop_hook_active":true' && exit 0; echo 'run the tests first' >&2; exit 2"#;
    let mut bed = Bed::new(vec![says("Done."), says("Tested."), says("Second."), says("Second tested.")]);
    bed.config = hook("Stop", "", command);
    let mut talk = bed.open();
    assert_eq!(talk.ask("Go.").await.text, "Tested.");
    let said = texts(&bed.last());
    assert!(said.last().unwrap().contains("run the tests first"), "{said:?}");
    // A new task is held anew.
    assert_eq!(talk.ask("Once more.").await.text, "Second tested.");
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_blocks_words_and_adds_to_others() {
    let command = "grep -q secret && { echo 'no secrets' >&2; exit 2; }; echo 'The build is green.'; exit 0";
    let mut bed = Bed::new(vec![says("Good.")]);
    bed.config =
        hook("UserPromptSubmit", "", command) + &hook("SessionStart", "", "echo 'Today is cake day.'");
    let mut talk = bed.open();
    let done = talk.ask("My secret is x.").await;
    assert_eq!(done.reason, Reason::Refused);
    assert!(done.text.contains("no secrets"), "{}", done.text);
    assert_eq!(talk.ask("How is it?").await.text, "Good.");
    talk.end().await;
    let said = texts(&bed.last()).join("\n");
    assert!(!said.contains("secret"), "{said}");
    assert!(said.contains("Today is cake day.") && said.contains("The build is green."), "{said}");
}

/// A window that fills up is made shorter by itself only where no hook objects; what must go goes all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_hook_hears_of_a_summary_and_may_keep_it_from_being_made() {
    let piece = |at: usize| {
        Turn::reply(vec![
            text("I look on and on. ".repeat(300)),
            call("bash", json!({"command": format!("seq {at}0 {at}4")})),
        ])
    };
    let mut script: Vec<Turn> = (0..24).map(piece).collect();
    script.push(says("All read."));
    let mut bed = Bed::new(script);
    bed.window = (16_000, 1_000);
    bed.config = hook("PreCompact", "auto", "cat >> asked.jsonl; echo 'I need it whole' >&2; exit 2");
    let mut talk = bed.open();
    assert_eq!(talk.ask("Read it all.").await.text, "All read.");
    let seen = talk.end().await;
    let told = |event: &SessionEvent| matches!(event, SessionEvent::Note { text, .. } if text.contains("I need it whole") && text.contains("no summary"));
    assert!(seen.iter().any(told), "{seen:#?}");
    assert!(!seen.iter().any(|event| matches!(event, SessionEvent::Compacting)));
    assert!(bed.requests().iter().all(|request| !request.tools.is_empty()), "nobody was asked for a summary");
    let asked = bed.read("asked.jsonl");
    assert!(
        asked.contains(r#""hook_event_name":"PreCompact""#) && asked.contains(r#""trigger":"auto""#),
        "{asked}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_hook_that_never_lets_go_does_not_hold_for_ever() {
    let mut bed = Bed::new(vec![says("Done.").repeat()]);
    bed.config = hook("Stop", "", "echo 'not yet' >&2; exit 2");
    let mut talk = bed.open();
    let done = talk.ask("Go.").await;
    assert_eq!(done.reason, Reason::Failed, "{done:?}");
    assert!(done.text.contains("same answer") && done.turns < 10, "{done:?}");
    talk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_hear_that_the_user_is_waited_for_and_that_a_summary_was_made() {
    const SUMMARY: &str =
        "## Task\nTo look.\n\n## Decisions\nNone.\n\n## Files touched\n- none\n\n## Open items\nNone.\n";
    let long = says(&"Words and more words. ".repeat(200));
    let mut script = vec![run("touch x"), long.clone(), long];
    script.extend((0..4).map(|_| says("Short.")));
    script.extend([says(SUMMARY), says(SUMMARY), says("On.")]);
    let mut bed = Bed::new(script);
    bed.mode = rail_permit::Mode::Default;
    bed.config = hook("Notification", "permission_prompt", "cat >> waits.jsonl")
        + &hook("SessionStart", "compact", "echo 'The build is green.'");
    let mut talk = bed.open();
    talk.answer = Some(rail_proto::Answer::Once);
    for number in 0..6 {
        talk.ask(&format!("Say {number}.")).await;
    }
    talk.send(rail_proto::Command::Compact { keep: None });
    talk.sees(|event| matches!(event, SessionEvent::Compacted(_))).await;
    // The hook runs beside everything else: once it has, what it said is in the journal.
    let journal = bed.session().join("journal.jsonl");
    for _ in 0..600 {
        if std::fs::read_to_string(&journal).unwrap().contains("The build is green.") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(talk.ask("And now?").await.text, "On.");
    talk.end().await;
    assert!(texts(&bed.last()).join("\n").contains("The build is green."), "{:#?}", texts(&bed.last()));
    let waits = bed.read("waits.jsonl");
    assert!(
        waits.contains(r#""notification_type":"permission_prompt""#) && waits.contains("bash"),
        "{waits}"
    );
}
