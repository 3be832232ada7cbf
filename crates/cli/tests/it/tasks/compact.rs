//! A window that is full, and a conversation that is to be shorter.

use std::sync::atomic::{AtomicUsize, Ordering};

use rail_model::{Request, Usage};
use rail_testkit::{Models, Turn, call, text};
use serde_json::json;

use super::{TaskBed, assert_valid};

const SUMMARY: &str = "## Task\nRead files.\n\n## Decisions\nNone.\n\n## Files touched\n- `a.txt`: read\n\n## Open items\nThe rest.\n";
const WINDOW: u64 = 16_000;

/// Whether a request asks for a summary: it has no tools.
fn is_summary(request: &Request) -> bool {
    request.tools.is_empty()
}

/// A model that thinks aloud and looks on until it has answered so often, and counts as we do.
fn reader(answers: usize) -> Models {
    let taken = AtomicUsize::new(0);
    let usage = |request: &Request| Usage {
        input: Some(rail_route::estimate(request).total()),
        output: Some(50),
        ..Usage::default()
    };
    let answer = move |request: &Request| {
        if is_summary(request) {
            // What is to be kept above all has a part of its own.
            let kept = format!("{:?}", request.messages).contains("keep the names");
            return Turn::reply(vec![text(if kept {
                format!("{SUMMARY}\n## To keep\nThe names.\n")
            } else {
                SUMMARY.to_owned()
            })]);
        }
        let turn = taken.fetch_add(1, Ordering::SeqCst);
        if turn >= answers {
            return Turn::reply(vec![text("All read.")]);
        }
        let said = format!("Piece {turn}: {}", "I look on and on. ".repeat(300));
        Turn::reply(vec![text(said), call("bash", json!({"command": format!("seq {turn}0 {turn}4")}))])
            .usage(usage(request))
    };
    Models::answering(answer).unwrap()
}

#[test]
fn a_full_window_is_summarised_while_a_task_goes_on() {
    let bed = TaskBed::on(reader(24), WINDOW);
    assert_eq!(bed.task(&["Read it all."], "")["result"], "All read.");
    let requests = bed.requests();
    assert!(requests.iter().filter(|request| is_summary(request)).count() >= 2);
    for request in &requests {
        let tokens = rail_route::estimate(request).total();
        assert!(tokens <= WINDOW, "{tokens}");
        if !is_summary(request) {
            assert_valid(request);
            assert!(format!("{:?}", request.messages).contains("Read it all."), "{request:#?}");
        }
    }
}

#[test]
fn a_conversation_is_made_shorter_when_somebody_says_so() {
    let bed = TaskBed::on(reader(8), 200_000);
    bed.task(&["Read it all."], "");
    let before = bed.requests();
    let result = bed.task(&["/compact keep the names", "-c"], "");
    assert!(result["result"].as_str().unwrap().starts_with("made shorter: "), "{result}");
    let summaries = bed.requests().split_off(before.len());
    assert!(!summaries.is_empty() && summaries.iter().all(is_summary), "{summaries:#?}");
    assert!(format!("{:?}", summaries[0].messages).contains("keep the names"), "{summaries:#?}");
    bed.task(&["And then?", "-c"], "");
    let after = bed.requests().pop().unwrap();
    assert_valid(&after);
    let (before, after) = (before.last().unwrap(), format!("{:?}", after.messages));
    assert!(after.contains("Open items") && after.contains("And then?"), "{after}");
    assert!(after.len() * 2 < format!("{:?}", before.messages).len(), "{after}");
}
