//! A window that is full, and a conversation that is to be shorter.

use rail_agent::machine::{Bounds, Summaries};
use rail_model::{Request, Usage};
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

/// Summaries are of the purpose `background`: the user's rule sends them to another target, which reads little, and is given no more.
#[tokio::test(flavor = "multi_thread")]
async fn a_small_model_in_the_background_writes_the_summary() {
    let clerk = Models::start(vec![Turn::reply(vec![text(SUMMARY)]).repeat()]).unwrap();
    let address = clerk.base_url(rail_wire::find("openai-chat").unwrap().id);
    let mut bed = Bed::on(reader(40, "This would be no summary."));
    bed.window = (32_000, 1_000);
    bed.config = format!(
        "clerk = \"clerk,c\"\n[[router.rules]]\nname = \"clerk\"\npurpose = \"background\"\n\
         [providers.clerk]\nprotocol = \"openai-chat\"\nkey = \"none\"\nbase_url = \"{address}\"\n\
         models = {{ c = {{ window = 9000, max_output = 1000 }} }}\n"
    );
    bed.model = Some("");
    let mut talk = bed.open();
    assert_eq!(talk.ask("Read it all.").await.text, "All read.");
    let seen = talk.end().await;
    let by: Vec<_> = compacted(&seen).into_iter().filter_map(|done| done.by).collect();
    assert!(
        !by.is_empty() && by.iter().all(|by| by == "clerk,c"),
        "{by:?} {:#?}",
        seen.iter()
            .filter(|event| matches!(event, SessionEvent::Note { .. } | SessionEvent::Compacted(_)))
            .collect::<Vec<_>>()
    );
    assert!(bed.requests().iter().all(|request| !is_summary(request)));
    for asked in clerk.requests() {
        let tokens = rail_route::estimate(asked.request().unwrap()).total();
        assert!(tokens <= 8_000, "{tokens}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_user_wants_no_summaries_the_oldest_are_cut() {
    let mut bed = Bed::on(reader(24, SUMMARY));
    bed.window = (16_000, 1_000);
    bed.bounds = Bounds { summaries: Summaries::Asked, ..Bounds::default() };
    let mut talk = bed.open();
    assert_eq!(talk.ask("Read it all.").await.text, "All read.");
    assert!(compacted(&talk.seen).iter().any(|done| done.by.is_none()));
    assert!(bed.requests().iter().all(|request| !is_summary(request)));
    // Asked for, one is made all the same.
    talk.send(Command::Compact { keep: None });
    talk.sees(|event| matches!(event, SessionEvent::Compacted(done) if done.by.is_some())).await;
    talk.end().await;
}
