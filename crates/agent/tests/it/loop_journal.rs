//! Sessions that go on: cut off anywhere, or very long.

use std::fs;
use std::path::{Path, PathBuf};

use rail_journal::{Cause, Compacted, Opened, Record, Said, SessionId, UnixMillis, VERSION, Writer};
use rail_model::{Message, Part, Request, Role};
use rail_proto::{Reason, SessionEvent};
use rail_testkit::{Models, Turn, call, text};
use rail_wire::TargetSpec;
use serde_json::json;

use crate::loop_bed::{Bed, PROTOCOLS, assert_valid, texts};

/// A copy of a session whose journal ends after so many bytes.
fn cut(bed: &Bed, session: &Path, bytes: usize) -> PathBuf {
    let folder = bed.root().join("cuts").join(bytes.to_string()).join(session.file_name().unwrap());
    fs::create_dir_all(&folder).unwrap();
    let whole = fs::read(session.join("journal.jsonl")).unwrap();
    fs::write(folder.join("journal.jsonl"), &whole[..bytes]).unwrap();
    folder
}

/// The request is valid in every protocol, as its server would read it.
fn assert_valid_everywhere(request: &Request) {
    assert_valid(request);
    for protocol in PROTOCOLS.map(|name| rail_wire::find(name).unwrap()) {
        let call = protocol.outbound.encode_request(request, &TargetSpec::new("m")).call;
        let read = protocol.inbound.decode_request(&call).unwrap();
        assert_valid(&read);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_ends_anywhere_goes_on_with_a_valid_conversation() {
    let run = |command: &str| call("bash", json!({"command": command}));
    let append = "echo ran >> ran.txt";
    let bed = Bed::new(vec![
        Turn::cut(vec![text("I think that")]),
        Turn::reply(vec![text("I look."), run(append), run("cat ran.txt")]),
        Turn::reply(vec![call("write_file", json!({"file_path": "a.txt", "content": "a\n"}))]),
        Turn::reply(vec![text("Done.")]),
        Turn::reply(vec![text("Gone on.")]).repeat(),
    ]);
    let mut talk = bed.open();
    assert_eq!(talk.ask("Begin.").await.text, "Done.");
    let session = bed.session();
    talk.end().await;
    assert_eq!(bed.read("ran.txt"), "ran\n");

    let journal = fs::read(session.join("journal.jsonl")).unwrap();
    let mut ends: Vec<usize> = Vec::new();
    let mut begin = 0;
    for (at, _) in journal.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        ends.extend([begin + (at - begin) / 2, at, at + 1]);
        begin = at + 1;
    }
    // A session has begun when its first line is whole.
    let first = journal.iter().position(|byte| *byte == b'\n').unwrap();
    ends.retain(|end| *end > first);
    assert!(ends.len() > 60, "{}", ends.len());
    for end in ends {
        let folder = cut(&bed, &session, end);
        let mut talk = bed.resume(&folder);
        let done = talk.ask("Go on.").await;
        assert_eq!(
            (done.reason, done.text.as_str()),
            (Reason::Answered, "Gone on."),
            "{end}: {:#?}",
            talk.seen
        );
        talk.end().await;
        let request = bed.last();
        assert_valid_everywhere(&request);
        assert!(texts(&request).last().unwrap().ends_with("Go on."));
        assert!(rail_journal::verify(&folder).unwrap().trouble.is_none());
    }
    assert_eq!(bed.read("ran.txt"), "ran\n", "nothing runs twice");
}

/// A session of so many turns, with a summary after each so many of them.
fn long(bed: &Bed, turns: u64, every: u64) -> PathBuf {
    let at = UnixMillis(1_767_225_600_000);
    let id = SessionId::mint(at).unwrap();
    let folder = rail_journal::session_folder(&bed.root().join("state/sessions"), &bed.work(), &id);
    let opened = Opened {
        version: VERSION,
        id,
        cwd: bed.work(),
        model: "anthropic,m".to_owned(),
        parent: None,
        agent_of: None,
    };
    let mut writer = Writer::create(&folder, at, opened).unwrap();
    let prompt =
        rail_journal::Prompt { system: vec![Part::text("Be kind.")], ..rail_journal::Prompt::default() };
    writer.append(at, Record::Prompt(prompt)).unwrap();
    for turn in 1..=turns {
        let said = |role, text: String| {
            Record::Message(Said { step: turn, message: Message::new(role, vec![Part::text(text)]) })
        };
        writer
            .append(at, said(Role::User, format!("Question {turn}: {}", "what of it? ".repeat(8))))
            .unwrap();
        writer
            .append(at, said(Role::Assistant, format!("Answer {turn}: {}", "that of it. ".repeat(16))))
            .unwrap();
        if turn % every == 0 {
            let window = vec![Message::new(Role::User, vec![Part::text(format!("Summary up to {turn}."))])];
            writer.append(at, Record::Compacted(Compacted { window, cause: Cause::Full, by: None })).unwrap();
        }
    }
    writer.sync().unwrap();
    folder
}

const SUMMARY: &str = "## Task\nQuestions.\n\n## Decisions\nNone.\n\n## Files touched\n- none\n\n## Open items\nThe next one.\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_ten_thousand_turns_goes_on_and_reads_only_its_window() {
    let bed = Bed::new(vec![Turn::reply(vec![text("Gone on.")])]);
    let folder = long(&bed, 10_000, 300);
    let whole = fs::metadata(folder.join("journal.jsonl")).unwrap().len();
    let seen = rail_journal::view(&folder).unwrap();
    assert!(seen.read * 20 < whole, "{} of {whole} bytes were read", seen.read);
    let mut talk = bed.resume(&folder);
    assert_eq!(talk.ask("Go on.").await.text, "Gone on.");
    talk.end().await;
    let request = bed.last();
    assert_valid_everywhere(&request);
    let said = texts(&request);
    assert_eq!((said[0].as_str(), said.len()), ("Summary up to 9900.", 202));
    assert!(said[1].starts_with("Question 9901: ") && said[200].starts_with("Answer 10000: "));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_never_was_made_shorter_is_before_the_first_request() {
    let models = Models::answering(|request: &Request| {
        let summary = request.tools.is_empty() && request.system.is_empty();
        Turn::reply(vec![text(if summary { SUMMARY } else { "Gone on." })])
    })
    .unwrap();
    let mut bed = Bed::on(models);
    bed.window = (32_000, 4_000);
    let folder = long(&bed, 2_000, 10_000);
    let mut talk = bed.resume(&folder);
    let done = talk.ask("Go on.").await;
    assert_eq!(done.text, "Gone on.", "{done:?}");
    assert!(talk.seen.iter().any(|event| matches!(event, SessionEvent::Compacted(_))));
    talk.end().await;
    for request in bed.requests() {
        let tokens = rail_route::estimate(&request).total();
        assert!(tokens < 28_000, "{tokens}");
    }
    assert_valid_everywhere(&bed.last());
}
