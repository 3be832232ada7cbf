//! Memory files and modes in a real session: what changes is appended, and the head of all requests stays as it is.

use rail_proto::{Command, Mode, SessionEvent};
use rail_testkit::{Turn, call, text};
use serde_json::json;

use crate::loop_bed::{Bed, assert_valid, texts};

fn says(words: &str) -> Turn {
    Turn::reply(vec![text(words)])
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_is_told_and_the_system_prompt_stays() {
    let bed = Bed::new(vec![
        // A file is overwritten only by somebody who has read it.
        Turn::reply(vec![
            call("read_file", json!({"file_path": "deep/down/x.txt"})),
            call("read_file", json!({"file_path": "AGENTS.md"})),
        ]),
        Turn::reply(vec![call("write_file", json!({"file_path": "AGENTS.md", "content": "Rule two.\n"}))]),
        says("Done."),
        says("Planned."),
        says("Seen."),
    ]);
    bed.write("AGENTS.md", "Rule one.\n");
    bed.write("deep/down/AGENTS.md", "Rule of the deep.\n");
    bed.write("deep/down/x.txt", "x\n");
    let mut talk = bed.open();
    talk.ask("Go.").await;
    let requests = bed.requests();
    let said = |at: usize| texts(&requests[at]).join("\n");
    assert!(!said(0).contains("Rule of the deep.") && said(1).contains("Rule of the deep."), "{}", said(1));
    let read = |event: &SessionEvent, end: &str| matches!(event, SessionEvent::Memory(memory) if memory.path.ends_with(end));
    assert!(talk.seen.iter().any(|event| read(event, "deep/down/AGENTS.md")));
    assert!(talk.results().iter().all(|(success, _)| *success), "{:#?}", talk.results());
    assert!(said(2).contains("Rule two."), "{}", said(2));
    assert!(talk.seen.iter().any(|event| read(event, "work/AGENTS.md")));
    talk.send(Command::SetMode(Mode::Plan));
    talk.ask("Plan.").await;
    assert!(texts(&bed.last()).join("\n").contains("mode is now `plan`"));
    // Somebody else writes it between two tasks.
    bed.write("AGENTS.md", "Rule three.\n");
    talk.ask("Look.").await;
    assert!(texts(&bed.last()).join("\n").contains("Rule three."), "{:#?}", texts(&bed.last()));
    talk.end().await;
    let requests = bed.requests();
    for request in &requests {
        assert_valid(request);
        assert_eq!((&request.system, &request.tools), (&requests[0].system, &requests[0].tools));
    }
    assert!(requests[0].system[0].as_text().unwrap().contains("Rule one."));
}
