//! A window that is full, and a conversation that is to be shorter.

use rail_model::{Purpose, Request, Usage};
use rail_proto::{Command, NoteKind, Reason, SessionEvent};
use rail_testkit::{Models, Turn, call, text};
use serde_json::json;

use crate::loop_bed::{Bed, assert_valid, texts};

const SUMMARY: &str = "## Task\nRead files.\n\n## Decisions\nNone.\n\n## Files touched\n- `a.txt`: read\n\n## Open items\nThe rest.\n";

/// Whether a request asks for a summary: it has no tools.
fn is_summary(request: &Request) -> bool {
    request.tools.is_empty()
}

/// A model that thinks aloud and looks on until it has answered so often, and writes this as a summary.
fn reader(answers: usize, summary: &'static str) -> Models {
    let taken = std::sync::atomic::AtomicUsize::new(0);
    Models::answering(move |request| {
        if is_summary(request) {
            return Turn::reply(vec![text(summary)]);
        }
        let turn = taken.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if turn >= answers {
            return Turn::reply(vec![text("All read.")]);
        }
        let said = format!("Piece {turn}: {}", "I look on and on. ".repeat(300));
        Turn::reply(vec![text(said), call("bash", json!({"command": format!("seq {turn}0 {turn}4")}))])
            // A model that counts as we do.
            .usage(Usage {
                input: Some(rail_route::estimate(request).total()),
                output: Some(50),
                ..Usage::default()
            })
    })
    .unwrap()
}

fn compacted(seen: &[SessionEvent]) -> Vec<rail_proto::Compacted> {
    let all = seen.iter().filter_map(|event| {
        if let SessionEvent::Compacted(done) = event { Some(done.clone()) } else { None }
    });
    all.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_window_is_summarised_as_often_as_needed() {
    let mut bed = Bed::on(reader(24, SUMMARY));
    bed.window = (16_000, 1_000);
    let mut talk = bed.open();
    let done = talk.ask("Read it all.").await;
    assert_eq!((done.reason, done.text.as_str()), (Reason::Answered, "All read."), "{done:?}");
    let seen = talk.end().await;
    let summaries = compacted(&seen).iter().filter(|done| done.by.is_some()).count();
    assert!(summaries >= 2, "{:#?}", compacted(&seen));
    for request in bed.requests() {
        let tokens = rail_route::estimate(&request).total();
        assert!(tokens <= 16_000, "{tokens}");
        if !is_summary(&request) {
            assert_valid(&request);
            assert!(texts(&request).iter().any(|text| text == "Read it all."), "{:#?}", texts(&request));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_good_summary_the_oldest_are_cut() {
    for bad in ["", "I would rather not."] {
        let mut bed = Bed::on(reader(24, bad));
        bed.window = (16_000, 1_000);
        let mut talk = bed.open();
        let done = talk.ask("Read it all.").await;
        assert_eq!((done.reason, done.text.as_str()), (Reason::Answered, "All read."), "{done:?}");
        let seen = talk.end().await;
        assert!(compacted(&seen).iter().any(|done| done.by.is_none()), "{:#?}", compacted(&seen));
        let told = |event: &SessionEvent| matches!(event, SessionEvent::Note { kind: NoteKind::Context, text } if text.contains("no summary"));
        assert!(seen.iter().any(told));
        for request in bed.requests().iter().filter(|request| !is_summary(request)) {
            assert_valid(request);
            assert!(rail_route::estimate(request).total() <= 16_000);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_user_has_it_made_shorter_and_goes_on() {
    let bed = Bed::on(reader(4, SUMMARY));
    let mut talk = bed.open();
    assert_eq!(talk.ask("Read it all.").await.text, "All read.");
    assert_eq!(talk.ask("And again.").await.text, "All read.");
    talk.send(Command::Compact { keep: None });
    let done = talk
        .until(|event| if let SessionEvent::Compacted(done) = event { Some(done.clone()) } else { None })
        .await;
    assert!(done.asked_for && done.after < done.before && done.by.is_some(), "{done:?}");
    assert_eq!(talk.ask("What now?").await.text, "All read.");
    let folder = bed.session();
    talk.end().await;
    let last = bed.last();
    assert_valid(&last);
    let said = texts(&last).join("\n");
    assert!(
        said.contains("The rest.") && said.contains("Read it all.") && said.contains("What now?"),
        "{said}"
    );
    assert!(!said.contains("Piece 0"), "{said}");
    let asked = bed.requests();
    assert!(asked.iter().all(|request| request.purpose == Purpose::default() || is_summary(request)));
    // The session that goes on goes on with the short one.
    let mut talk = bed.resume(&folder);
    assert_eq!(talk.ask("Still there?").await.text, "All read.");
    talk.end().await;
    assert!(texts(&bed.last()).join("\n").starts_with(&said));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_summary_that_is_interrupted_changes_nothing() {
    let long = "Words. ".repeat(500);
    let bed = Bed::new(vec![
        Turn::reply(vec![text(long.clone())]),
        Turn::reply(vec![text(long)]),
        Turn::reply(vec![text("Short.")]),
        Turn::reply(vec![text("Short.")]),
        Turn::reply(vec![text("Short.")]),
        Turn::reply(vec![text("Short.")]),
        Turn::stall(vec![]).reached("summary"),
        Turn::reply(vec![text("Right.")]),
    ]);
    let mut talk = bed.open();
    for number in 0..6 {
        talk.ask(&format!("Say {number}.")).await;
    }
    talk.send(Command::Compact { keep: Some("the numbers".to_owned()) });
    talk.sees(|event| matches!(event, SessionEvent::Compacting)).await;
    bed.models.wait_for("summary");
    talk.send(Command::Interrupt);
    talk.sees(|event| matches!(event, SessionEvent::Note { kind: NoteKind::Context, text } if text.contains("interrupted"))).await;
    assert_eq!(talk.ask("Go on.").await.text, "Right.");
    talk.end().await;
    assert_valid(&bed.last());
    assert_eq!(bed.last().messages.len(), 13);
}
