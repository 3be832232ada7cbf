//! A session of thousands of turns goes on.

use rail_journal::{
    Opened, Partial, Record, Running, Said, SessionId, UnixMillis, VERSION, Writer, session_folder,
};
use rail_model::{CallId, CallKind, Message, Part, PartBody, Request, Role, ToolCall, ToolResult};
use rail_testkit::{Models, Turn, text};
use serde_json::json;

use super::{TaskBed, assert_valid};

const SUMMARY: &str =
    "## Task\nCount.\n\n## Decisions\nNone.\n\n## Files touched\nNone.\n\n## Open items\nThe rest.\n";

/// A turn as the agent writes it: the user's words, a call, its result, and an answer.
fn turn(number: u64) -> Vec<Record> {
    let step = number * 2 + 1;
    let said = |step, role, parts| Said { step, message: Message::new(role, parts) };
    let id = CallId::Given(format!("call_{number}"));
    let arguments = json!({"command": format!("echo {number}")}).to_string();
    let call = ToolCall { id: id.clone(), name: "bash".to_owned(), arguments, kind: CallKind::Function };
    let result = ToolResult {
        id: id.clone(),
        name: Some("bash".to_owned()),
        content: vec![Part::text(format!("{number}\n"))],
        is_error: None,
        kind: CallKind::Function,
    };
    vec![
        Record::Message(said(step, Role::User, vec![Part::text(format!("question {number}"))])),
        Record::Partial(Partial { step, text: "I look.".to_owned(), ..Partial::default() }),
        Record::Message(said(
            step,
            Role::Assistant,
            vec![Part::text("I look."), Part::new(PartBody::ToolCall(call))],
        )),
        Record::Running(Running { step, calls: vec![id.as_str().to_owned()] }),
        Record::Results(said(step, Role::Tool, vec![Part::new(PartBody::ToolResult(result))])),
        Record::Message(said(step + 1, Role::Assistant, vec![Part::text(format!("It is {number}."))])),
    ]
}

/// A home with such a session, on this model.
fn bed(models: Models, window: u64, turns: u64) -> TaskBed {
    let bed = TaskBed::on(models, window);
    let cwd = bed.home.path("work").canonicalize().unwrap();
    let id = SessionId::mint(UnixMillis(1_700_000_000_000)).unwrap();
    let folder = session_folder(&bed.home.path("state/switchrail/sessions"), &cwd, &id);
    let opened =
        Opened { version: VERSION, id, cwd, model: "anthropic,m".to_owned(), parent: None, agent_of: None };
    let mut writer = Writer::create(&folder, UnixMillis(1_700_000_000_000), opened).unwrap();
    for (number, at) in (0..turns).zip(1_700_000_000_001..) {
        for record in turn(number) {
            writer.append(UnixMillis(at), record).unwrap();
        }
    }
    writer.sync().unwrap();
    bed
}

/// The request that the session goes on with.
fn goes_on(bed: &TaskBed, turns: u64) -> Request {
    let result = bed.task(&["What was the last?", "-c"], "");
    assert_eq!(result["result"], "I remember.");
    let request = bed.requests().pop().unwrap();
    assert_valid(&request);
    let messages = format!("{:?}", request.messages);
    let last = turns - 1;
    for words in [&format!("question {last}"), &format!("It is {last}."), "What was the last?"] {
        assert!(messages.contains(words), "{words}");
    }
    assert!(bed.home.said(&["sessions", "verify"], "").contains("proved"));
    request
}

#[test]
fn a_session_of_ten_thousand_turns_with_calls_goes_on() {
    let models = Models::start(vec![Turn::reply(vec![text("I remember.")])]).unwrap();
    // All of it fits.
    let request = goes_on(&bed(models, 2_000_000, 10_000), 10_000);
    assert_eq!(request.messages.len(), 40_001);
}

#[test]
fn a_long_session_that_does_not_fit_is_summarised_first() {
    let answer = |request: &Request| {
        let words = if request.tools.is_empty() { SUMMARY } else { "I remember." };
        Turn::reply(vec![text(words)])
    };
    let bed = bed(Models::answering(answer).unwrap(), 40_000, 2_000);
    let request = goes_on(&bed, 2_000);
    assert!(rail_route::estimate(&request).total() <= 40_000);
    assert!(format!("{:?}", request.messages).contains("Open items"));
}
